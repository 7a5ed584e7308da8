package parquet

import (
	"context"

	"github.com/amudai/amudai-go/internal/format/projection"
	"github.com/amudai/amudai-go/internal/tablefile"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet/internal/read"
	"github.com/amudai/amudai-go/table/provider"
)

// statistics implements [provider.Format.Statistics], by the footer alone.
func statistics(ctx context.Context, in provider.Input, columns []string) (out *provider.Statistics, err error) {
	if tablefile.IsPipe(in) {
		return nil, nil
	}
	err = tablefile.WithReader(ctx, in, "", func(r storage.Reader) error {
		opened := columns
		if columns == nil {
			opened = []string{}
		}
		f, err := read.Open(ctx, r, opened)
		if err != nil {
			return err
		}
		if columns == nil {
			columns = projection.Paths(f.Schema().Fields())
		}
		t := f.Table(false)
		out = &provider.Statistics{Rows: f.NumRows(), Columns: make([]provider.ColumnStatistics, len(columns))}
		for i, path := range columns {
			if out.Columns[i], err = t.Summary(ctx, path); err != nil {
				return f.Place(err)
			}
		}
		return nil
	})
	return out, err
}
