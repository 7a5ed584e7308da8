package parquet_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
)

// A batch is written as Parquet, and one of its columns is read. Types that Parquet lacks, such as a duration, come
// back by the stored Arrow schema.
func Example() {
	ctx := context.Background()
	fields := []arrow.Field{{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "ride", Type: arrow.FixedWidthTypes.Duration_s, Nullable: true}}
	schema := arrow.NewSchema(fields, nil)
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(`[{"city":"Oslo","ride":60},{"city":"Rome","ride":null}]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer batch.Release()

	var out buffer // an Output in memory; storage.Writer is one for files
	sink, err := parquet.New(parquet.Options{}).Create(ctx, &out, schema, provider.WriteOptions{})
	if err == nil {
		err = sink.Write(ctx, batch)
	}
	if err == nil {
		err = sink.Close(ctx)
	}
	if err != nil {
		fmt.Println(err)
		return
	}

	r := bytes.NewReader(out.Bytes())
	src, err := parquet.New(parquet.Options{}).Open(ctx, provider.Input{Name: "rides.parquet", Reader: r, At: r, Size: r.Size()},
		provider.ReadOptions{Columns: []string{"ride"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer src.Close()
	for {
		b, err := src.Next(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		if b == nil {
			break
		}
		fmt.Println(b.Schema().Field(0).Type, b.Column(0))
		b.Release()
	}
	// Output: duration[s] [60 (null)]
}
