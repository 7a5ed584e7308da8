package stripe_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrowgen"
	"github.com/amudai/amudai-go/stripe"
)

// Every Arrow type comes back as itself, with the same values.
func TestEveryType(t *testing.T) {
	for _, dt := range arrowgen.Types() {
		t.Run(dt.String(), func(t *testing.T) {
			s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: dt, Nullable: true}}, nil)
			for seed := range uint64(6) {
				g := arrowgen.New(seed)
				g.Nulls = []float64{0, 0.1, 0.9, 1, 0.003, 0.5}[seed]
				var batches []arrow.RecordBatch
				for _, n := range []int{0, 1, 700, 3000} {
					batches = append(batches, g.Batch(s, n))
				}
				check(t, s, batches, stripe.Options{})
			}
		})
	}
}

// The same holds under every profile and edition.
func TestEveryOption(t *testing.T) {
	var fields []arrow.Field
	for i, dt := range arrowgen.Types() {
		fields = append(fields, arrow.Field{Name: fmt.Sprint(i), Type: dt, Nullable: true})
	}
	s := arrow.NewSchema(fields, nil)
	everyOption(t, func(t *testing.T, o stripe.Options) {
		g := arrowgen.New(11)
		check(t, s, []arrow.RecordBatch{g.Batch(s, 1), g.Batch(s, 900), g.Batch(s, 2100)}, o)
	})
}
