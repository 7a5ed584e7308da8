package scan_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
)

// failing is a table whose columns cannot be opened: the first one last.
type failing struct {
	table.Table
	open func(column string) error
}

func (f failing) Stripe(i int) table.Stripe { return failingStripe{f.Table.Stripe(i), f} }

type failingStripe struct {
	table.Stripe
	of failing
}

func (s failingStripe) Open(_ context.Context, c *table.Column, _ bool, _ func() (storage.Prefetched, error)) (table.ColumnReader, error) {
	return nil, s.of.open(c.Arrow.Name)
}

// The error of a scan is that of the first column that cannot be read, also if another one fails before it.
func TestErrorOfFirstColumn(t *testing.T) {
	rows := openRows(t, 100, 100)
	first := errors.New("first")
	for range 50 {
		failed := make(chan struct{})
		once := sync.OnceFunc(func() { close(failed) })
		f := failing{rows, func(column string) error {
			if column != "row" {
				defer once()
				return errors.New("another")
			}
			<-failed
			return first
		}}
		for _, err := range scan.Scan(t.Context(), f, scan.Options{Parallelism: 2}) {
			require.ErrorIs(t, err, first)
		}
	}
}
