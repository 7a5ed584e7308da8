package shardtable

import (
	"context"
	"slices"

	"github.com/amudai/amudai-go/internal/engine/ranking"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/shard/internal/index"
)

// Rankings implements [table.Ranked]. The columns are in indexes of the shard, or all of them in those of each stripe.
func (t *Table) Rankings(ctx context.Context, columns []table.FilterColumn) ([]table.Ranking, error) {
	all, err := t.usable(t.Indexes(ctx))
	if err != nil {
		return nil, err
	}
	found, err := rankedColumns(ctx, all, columns)
	if err != nil {
		return nil, err
	}
	if found != nil {
		return []table.Ranking{{Rows: rowset.Range{To: t.NumRows()}, Columns: found}}, nil
	}
	var parts []table.Ranking
	for i := range t.NumStripes() {
		if all, err = t.usable(t.StripeIndexes(ctx, i)); err != nil {
			return nil, err
		}
		if found, err = rankedColumns(ctx, all, columns); err != nil || found == nil {
			return nil, err
		}
		from := t.Stripe(i).Position()
		parts = append(parts, table.Ranking{Rows: rowset.Range{From: from, To: from + t.Stripe(i).Rows()}, Columns: found})
	}
	return parts, nil
}

// rankedColumns finds columns in indexes with frequencies; nil if one is in none. A damaged index is as if it were not there.
func rankedColumns(ctx context.Context, all []*Index, columns []table.FilterColumn) ([]ranking.Column, error) {
	found := make([]ranking.Column, len(columns))
	for _, x := range all {
		if x.Kind == nil || !index.HasScores(x.Descriptor) {
			continue
		}
		for field, f := range x.Descriptor.GetIndexedFields() {
			for i, c := range columns {
				if found[i] != nil || len(c.Inside) > 0 || columnsIn(f.SchemaIds, columns[i:i+1]) == nil {
					continue
				}
				opened, err := x.Open(ctx)
				if isDamage(err) {
					if x.failed != nil {
						x.failed(err)
					}
					continue
				}
				if err != nil {
					return nil, err
				}
				if r, ok := opened.(index.Ranked); ok {
					found[i] = r.Column(field)
				}
			}
		}
	}
	if slices.Contains(found, nil) {
		return nil, nil
	}
	return found, nil
}
