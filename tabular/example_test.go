package tabular_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/tabular"
)

// stdout is an output that cannot be taken back.
type stdout struct{ io.Writer }

func (stdout) Publish(context.Context) error { return nil }
func (stdout) Abort() error                  { return nil }

// Read CSV, whose types are inferred, and write it as JSON lines.
func Example() {
	ctx := context.Background()
	text := "zip,city,founded\n00501,Holtsville,\n10001,New York,1624-05-20\n"
	src, err := tabular.CSV.Open(ctx, tabular.Input{Name: "cities.csv", Reader: strings.NewReader(text), Size: int64(len(text))},
		tabular.ReadOptions{Notice: func(s string) { fmt.Println(s) }})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer src.Close()
	fmt.Print(tabular.SchemaText(src.Schema()))
	sink, err := tabular.JSONLines.Create(ctx, stdout{os.Stdout}, src.Schema(), tabular.WriteOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for {
		batch, err := src.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err, sink.Abort())
			return
		}
		err = sink.Write(ctx, batch)
		batch.Release()
		if err != nil {
			fmt.Println(err, sink.Abort())
			return
		}
	}
	if err := sink.Close(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// column "zip" is kept as text: it has numbers with leading zeros ("00501") and integers ("10001")
	// zip: utf8
	// city: utf8
	// founded: date32
	// {"zip":"00501","city":"Holtsville","founded":null}
	// {"zip":"10001","city":"New York","founded":"1624-05-20"}
}

// A schema as text fixes the types of columns.
func ExampleParseSchema() {
	fields, err := tabular.ParseSchema(`zip: int32 not null, "first, last": list<utf8>, when: timestamp[ms, UTC]`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(tabular.SchemaText(arrow.NewSchema(fields, nil)))
	// Output:
	// zip: int32 not null
	// "first, last": list<utf8>
	// when: timestamp[ms, UTC]
}

// Formats are found by extension, or by the first bytes of a file.
func ExampleFormats_ByPath() {
	f, ok := tabular.All().ByPath("data/events.ndjson")
	fmt.Println(f.Title, ok)
	fmt.Println(tabular.Sniff([]byte("PAR1\x15\x04")))
	// Output:
	// JSON lines true
	// parquet
}
