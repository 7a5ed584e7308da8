package shard_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/amudai/amudai-go/shard"
)

// Order is a row. Tags have the names of columns.
type Order struct {
	ID      int64     `arrow:"id"`
	Shipped time.Time `arrow:"shipped,date32"`
	Items   []Item    `arrow:"items"`
	Note    *string   `arrow:"note"` // nil is null
}

// Item is a part of a row.
type Item struct {
	Name  string  `arrow:"name"`
	Price float64 `arrow:"price"`
}

var orders = []Order{
	{ID: 1, Shipped: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Items: []Item{{"apple", 0.5}, {"pear", 0.75}}},
	{ID: 2, Shipped: time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC), Items: []Item{{"plum", 0.25}}},
}

// Structs are written as rows; the columns follow from their type.
func ExampleWriterOf() {
	ctx := context.Background()
	w, err := shard.CreateOf[Order](ctx, "mem://example/orders.amudai.shard", shard.WriterOptions{Overwrite: true})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Abort(ctx) // does nothing after Close
	if err := w.Write(ctx, orders...); err != nil {
		log.Fatal(err)
	}
	if err := w.Write(ctx, Order{ID: 3, Shipped: orders[1].Shipped}); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.Rows(), "rows of", w.Schema().NumFields(), "columns")
	// Output:
	// 3 rows of 4 columns
}
