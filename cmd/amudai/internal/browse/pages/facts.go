package pages

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/cmd/amudai/internal/complete"
	"github.com/amudai/amudai-go/internal/engine/profile"
)

// SampleRows is the number of rows that facts and completions are of.
const SampleRows = 100_000

// Describe describes the values of columns in the first rows of a view.
func Describe(ctx context.Context, v *View, paths []string) (*profile.Profile, error) {
	var p *profile.Profiler
	rows := int64(0)
	err := v.walk(ctx, paths, 0, func(b arrow.RecordBatch, _ int64) (bool, error) {
		if p == nil {
			p = profile.New(b.Schema(), profile.Options{})
		}
		part := b.NewSlice(0, min(b.NumRows(), SampleRows-rows))
		defer part.Release()
		rows += part.NumRows()
		return rows >= SampleRows, p.Add(ctx, part)
	})
	if p == nil || err != nil {
		return &profile.Profile{}, err
	}
	return p.Result(), nil
}

// Frequent are the values of a column in the first rows, as conditions write them, the most frequent ones first.
func Frequent(ctx context.Context, v *View, path string) ([]string, error) {
	counts := complete.Counts{}
	err := v.walk(ctx, []string{path}, 0, func(b arrow.RecordBatch, first int64) (bool, error) {
		return !counts.AddColumn(b) || first+b.NumRows() >= SampleRows, ctx.Err()
	})
	return counts.Values(), err
}
