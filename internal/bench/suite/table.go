package suite

import (
	"context"

	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// ReadTable answers a query by a file in a format that filters by itself, as RNTuples and Blockpack files.
func ReadTable(ctx context.Context, f provider.Format, path string, q Query, out *Outcome) error {
	t, err := table.OpenWith(ctx, table.OpenOptions{Format: f.Name, Formats: []provider.Format{f}}, path)
	if err != nil {
		return err
	}
	defer t.Close()
	where, err := q.filter()
	if err != nil {
		return err
	}
	o := table.ScanOptions{Columns: q.Columns, Filter: where, BatchRows: BatchRows, Reuse: q.Reuse}
	if q.Count {
		out.Rows, err = t.Count(ctx, o)
		return err
	}
	rows := t.Scan(ctx, o)
	if q.Take != nil {
		rows = t.Take(ctx, table.TakeOptions{Rows: q.Take, Columns: q.Columns})
	}
	for b, err := range rows {
		if err != nil {
			return err
		}
		out.Batch(b)
	}
	return nil
}
