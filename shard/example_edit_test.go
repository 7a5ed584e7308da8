package shard_test

import (
	"context"
	"fmt"
	"log"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/shard"
)

func ExampleEdit() {
	ctx := context.Background()
	location := "mem://example/edit.amudai.shard"
	write(ctx, location, shard.WriterOptions{})

	report, err := shard.Edit(ctx, location, shard.EditOptions{},
		shard.AddColumn("gross", "price * 1.25"),
		shard.RenameColumn("item", "fruit"),
		shard.CastColumn("price", arrow.PrimitiveTypes.Float32),
		shard.OrderColumns("fruit", "gross"),
		shard.SetColumnProperty("gross", "comment", "with taxes"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("new values:", report.Written > 0)

	s, err := shard.Open(ctx, location, shard.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for batch, err := range s.Scan(ctx, shard.ScanOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		for i, c := range batch.Columns() {
			fmt.Println(batch.ColumnName(i), c)
		}
	}
	// Output:
	// new values: true
	// fruit ["apple" "pear" "plum"]
	// gross [1.875 (null) 2.8125]
	// price [1.5 (null) 2.25]
}
