package shard_test

import (
	"context"
	"fmt"
	"log"

	"github.com/apache/arrow-go/v18/arrow/array/arreflect"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/shard"
)

// Order is a row. The tags are those of arrow-go's package arreflect. It has no time.Time, because
// arreflect of arrow-go 18.8 turns one into an empty struct; store times as integers.
type Order struct {
	ID    int64    `arrow:"id"`
	Items []string `arrow:"items"`
	Price float64  `arrow:"price"`
	Note  *string  `arrow:"note"` // nil is null
}

// Package arreflect of arrow-go converts Go structs to record batches and back.
func Example_structs() {
	ctx := context.Background()
	orders := []Order{
		{ID: 1, Items: []string{"apple", "pear"}, Price: 1.25},
		{ID: 2, Items: []string{"plum"}, Price: 3},
	}
	batch, err := arreflect.RecordFromSlice(orders, memory.DefaultAllocator)
	if err != nil {
		log.Fatal(err)
	}
	defer batch.Release()
	const location = "mem://example/structs.amudai.shard"
	w, err := shard.Create(ctx, location, batch.Schema(), shard.WriterOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Abort(ctx)
	if err := w.Write(ctx, batch); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(ctx); err != nil {
		log.Fatal(err)
	}

	s, err := shard.Open(ctx, location, shard.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for batch, err := range s.Scan(ctx, shard.ScanOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		rows, err := arreflect.RecordToSlice[Order](batch)
		if err != nil {
			log.Fatal(err)
		}
		for _, o := range rows {
			fmt.Println(o.ID, o.Items, o.Price, o.Note == nil)
		}
	}
	// Output:
	// 1 [apple pear] 1.25 true
	// 2 [plum] 3 true
}
