package shard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"path"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
)

// prices is a batch with the columns item and price.
func prices() arrow.RecordBatch {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "item", Type: arrow.BinaryTypes.String},
		{Name: "price", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	b.Field(0).(*array.StringBuilder).AppendValues([]string{"apple", "pear", "plum"}, nil)
	b.Field(1).(*array.Float64Builder).AppendValues([]float64{1.5, 0, 2.25}, []bool{true, false, true})
	return b.NewRecordBatch()
}

// write writes a shard of prices. The location mem:// of the examples is memory; programs use paths.
func write(ctx context.Context, location string, o shard.WriterOptions) {
	batch := prices()
	defer batch.Release()
	w, err := shard.Create(ctx, location, batch.Schema(), o)
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Write(ctx, batch); err != nil {
		log.Fatal(w.Abort(ctx), err)
	}
	if err := w.Close(ctx); err != nil {
		log.Fatal(err)
	}
}

func ExampleCreate() {
	ctx := context.Background()
	batch := prices()
	defer batch.Release()

	w, err := shard.Create(ctx, "mem://example/create.amudai.shard", batch.Schema(), shard.WriterOptions{
		Properties: []shard.Property{{Name: "source", Value: "market"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Abort(ctx) // does nothing after Close
	for range 2 {
		if err := w.Write(ctx, batch); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.Rows(), "rows")
	// Output: 6 rows
}

func ExampleOpen() {
	ctx := context.Background()
	write(ctx, "mem://example/open.amudai.shard", shard.WriterOptions{})

	s, err := shard.Open(ctx, "mem://example/open.amudai.shard", shard.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	columns, err := s.ArrowSchema(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.NumRows(), "rows")
	for _, f := range columns.Fields() {
		fmt.Println(f.Name, f.Type)
	}
	// Output:
	// 3 rows
	// item utf8
	// price float64
}

func ExampleShard_Scan() {
	ctx := context.Background()
	write(ctx, "mem://example/scan.amudai.shard", shard.WriterOptions{})

	s, err := shard.Open(ctx, "mem://example/scan.amudai.shard", shard.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for batch, err := range s.Scan(ctx, shard.ScanOptions{Columns: []string{"price"}}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.NumRows(), "rows:", batch.Column(0))
	}
	// Output: 3 rows: [1.5 (null) 2.25]
}

func ExampleShard_Scan_filter() {
	ctx := context.Background()
	write(ctx, "mem://example/filter.amudai.shard", shard.WriterOptions{})

	s, err := shard.Open(ctx, "mem://example/filter.amudai.shard", shard.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	cheap, err := filter.Parse("price < 2 or item starts with 'pe'")
	if err != nil {
		log.Fatal(err)
	}
	for batch, err := range s.Scan(ctx, shard.ScanOptions{Columns: []string{"item"}, Filter: cheap}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Column(0))
	}
	// Output: ["apple" "pear"]
}

func ExampleShard_Count() {
	ctx := context.Background()
	write(ctx, "mem://example/count.amudai.shard", shard.WriterOptions{})

	s, err := shard.Open(ctx, "mem://example/count.amudai.shard", shard.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	n, err := s.Count(ctx, filter.IsNull(filter.Col("price")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n, "without a price")
	// Output: 1 without a price
}

func ExampleShard_Take() {
	ctx := context.Background()
	write(ctx, "mem://example/take.amudai.shard", shard.WriterOptions{})

	s, err := shard.Open(ctx, "mem://example/take.amudai.shard", shard.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	batch, err := s.Take(ctx, []int64{2, 0, 2}, shard.TakeOptions{Columns: []string{"item"}})
	if err != nil {
		log.Fatal(err)
	}
	defer batch.Release()
	fmt.Println(batch.Column(0))
	// Output: ["plum" "apple" "plum"]
}

func ExampleShard_Lookup() {
	ctx := context.Background()
	write(ctx, "mem://example/lookup.amudai.shard", shard.WriterOptions{
		Indexes: []shard.IndexDefinition{{Type: shard.HashIndex, Columns: []string{"item"}}},
	})

	s, err := shard.Open(ctx, "mem://example/lookup.amudai.shard", shard.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues([]string{"plum", "cherry", "apple"}, nil)
	keys := b.NewStringArray()
	defer keys.Release()
	for found, err := range s.Lookup(ctx, "item", keys, shard.ScanOptions{Columns: []string{"price"}}) {
		if err != nil {
			log.Fatal(err)
		}
		for i, key := range found.Keys {
			fmt.Println(keys.Value(key), "is in row", found.Rows[i], "and costs", found.Column(0).ValueStr(i))
		}
	}
	// Output:
	// apple is in row 0 and costs 1.5
	// plum is in row 2 and costs 2.25
}

func ExampleShard_Reader() {
	ctx := context.Background()
	write(ctx, "mem://example/reader.amudai.shard", shard.WriterOptions{})

	s, err := shard.Open(ctx, "mem://example/reader.amudai.shard", shard.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	r, err := s.Reader(ctx, shard.ScanOptions{Rows: []shard.RowRange{{From: 1, To: 3}}})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Release()
	for r.Next() {
		fmt.Println(r.RecordBatch().Column(0))
	}
	if err := r.Err(); err != nil {
		log.Fatal(err)
	}
	// Output: ["pear" "plum"]
}

func ExampleVerify() {
	ctx := context.Background()
	write(ctx, "mem://example/verify.amudai.shard", shard.WriterOptions{})

	report, err := shard.Verify(ctx, "mem://example/verify.amudai.shard", shard.OpenOptions{}, provider.VerifyOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.OK(), report.Number("value"), "values")
	for _, p := range report.Problems {
		fmt.Println(p)
	}
	// Output: true 6 values
}

func ExampleNewWriter() {
	ctx := context.Background()
	batch := prices()
	defer batch.Release()

	var out bytes.Buffer
	w, err := shard.NewWriter(ctx, &out, batch.Schema(), shard.WriterOptions{})
	if err != nil {
		log.Fatal(err)
	}
	if err := w.Write(ctx, batch); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", out.Bytes()[:4])
	// Output: amud
}

func ExampleOpenReaderAt() {
	ctx := context.Background()
	batch := prices()
	defer batch.Release()
	var out bytes.Buffer
	w, err := shard.NewWriter(ctx, &out, batch.Schema(), shard.WriterOptions{})
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(w.Write(ctx, batch), w.Close(ctx)); err != nil {
		log.Fatal(err)
	}

	s, err := shard.OpenReaderAt(ctx, bytes.NewReader(out.Bytes()), int64(out.Len()), shard.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	fmt.Println(s.NumRows(), "rows")
	// Output: 3 rows
}

func ExampleImport() {
	ctx := context.Background()
	batch := prices()
	defer batch.Release()
	store, err := storage.ForLocation("mem://")
	if err != nil {
		log.Fatal(err)
	}
	out, err := store.Create(ctx, "mem://example/prices.parquet", storage.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	sink, err := parquet.New(parquet.Options{}).Create(ctx, out, batch.Schema(), provider.WriteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(sink.Write(ctx, batch), sink.Close(ctx)); err != nil {
		log.Fatal(err)
	}

	// The import of package table/parquet has the reader of the file.
	location := "mem://example/import.amudai.shard"
	if err := shard.Import(ctx, location, []string{"mem://example/prices.parquet"}, shard.ImportOptions{}); err != nil {
		log.Fatal(err)
	}
	s, err := shard.Open(ctx, location, shard.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for b, err := range s.Scan(ctx, shard.ScanOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(b.Column(0))
	}
	// Output: ["apple" "pear" "plum"]
}

// A shard moves to another folder, where it becomes one file, and what is left behind is removed.
func ExampleRelocate() {
	ctx := context.Background()
	for _, name := range []string{"fruit", "other"} {
		write(ctx, "mem://hot/"+name+".amudai.shard", shard.WriterOptions{Layout: shard.TwoLevel})
	}
	single := shard.SingleFile
	files, err := shard.Relocate(ctx, "mem://hot/fruit.amudai.shard", "mem://cold/fruit.amudai.shard", shard.RelocateOptions{Layout: &single, Move: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range files {
		fmt.Println(path.Ext(f.From), f.How, f.Removed) // the other shard has the same stripe
	}

	// The other shard goes, and leaves its stripe.
	store, err := storage.ForLocation("mem://hot/")
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Remove(ctx, "mem://hot/other.amudai.shard"); err != nil {
		log.Fatal(err)
	}
	found, err := shard.Collect(ctx, "mem://hot/", shard.CollectOptions{OlderThan: time.Nanosecond, Remove: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(found.Needed), "needed,", found.Removed, "removed")
	// Output:
	// .shard rewritten true
	// .stripe rewritten false
	// 0 needed, 1 removed
}
