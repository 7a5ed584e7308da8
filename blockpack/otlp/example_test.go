package otlp_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/blockpack/otlp"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/table/provider"
)

// The names of spans that failed, in a file of the OpenTelemetry collector.
func Example() {
	ctx := context.Background()
	f, err := os.Open("../../testdata/traces/shop.otlp.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		log.Fatal(err)
	}
	in := provider.Input{Name: f.Name(), Reader: f, At: f, Size: info.Size(), Closer: f}
	src, err := otlp.NewJSON(otlp.FormatOptions{}).Open(ctx, in, provider.ReadOptions{
		Columns: []string{"resource.service.name", "span:name", "span:status_message"},
		Filter:  filter.Eq(filter.Col("span:status"), 2),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer src.Close()
	batch, err := src.Next(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer batch.Release()
	service, name, message := batch.Column(0).(*array.String), batch.Column(1).(*array.String), batch.Column(2).(*array.String)
	for i := range int(batch.NumRows()) {
		fmt.Printf("%s %s: %s\n", service.Value(i), name.Value(i), message.Value(i))
	}
	// Output:
	// payment POST /charge: declined
	// payment authorize: insufficient funds
	// payment authorize: insufficient funds
	// frontend POST /checkout: payment failed
	// frontend POST: 502 Bad Gateway
	// stock UPDATE stock: deadlock detected
}
