package provider_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text"
)

// stdout is an output whose bytes cannot be taken back.
type stdout struct{}

func (stdout) Write(_ context.Context, p []byte) error {
	_, err := os.Stdout.Write(p)
	return err
}

func (stdout) Publish(context.Context) error { return nil }
func (stdout) Abort(context.Context) error   { return nil }

// CSV, whose types are inferred, is read and written as JSON lines.
func Example() {
	ctx := context.Background()
	cities := "zip,city,founded\n00501,Holtsville,\n10001,New York,1624-05-20\n"
	src, err := text.CSV(text.CSVOptions{}).Open(ctx, provider.Input{Name: "cities.csv", Reader: strings.NewReader(cities), Size: int64(len(cities))},
		provider.ReadOptions{Notice: func(s string) { fmt.Println(s) }})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer src.Close()
	for _, f := range src.Schema().Fields() {
		fmt.Println(f.Name, f.Type)
	}
	sink, err := text.JSONLines(text.JSONOptions{}).Create(ctx, stdout{}, src.Schema(), provider.WriteOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for {
		batch, err := src.Next(ctx)
		if err != nil {
			fmt.Println(err, sink.Abort(ctx))
			return
		}
		if batch == nil {
			break
		}
		err = sink.Write(ctx, batch)
		batch.Release()
		if err != nil {
			fmt.Println(err, sink.Abort(ctx))
			return
		}
	}
	if err := sink.Close(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// column "zip" is kept as text: it has numbers with leading zeros ("00501") and integers ("10001")
	// zip utf8
	// city utf8
	// founded date32
	// {"zip":"00501","city":"Holtsville","founded":null}
	// {"zip":"10001","city":"New York","founded":"1624-05-20"}
}

// Formats are found by extension, or by the first bytes of a file.
func ExampleFormats_ByPath() {
	f, ok := provider.Registered().ByPath("data/events.ndjson")
	fmt.Println(f.Title, ok)
	f, ok = provider.Registered().Sniff([]byte("ARROW1\x00\x00"))
	fmt.Println(f.Title, ok)
	// Output:
	// JSON lines true
	// Arrow IPC file true
}
