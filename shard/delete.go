package shard

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
)

// Rows says which rows of a shard are meant: those that match a condition, and those with some numbers. The zero value means all rows.
type Rows struct {
	Where   filter.Expr // rows for which it is true; the zero value means all rows
	Numbers []int64     // only those of these rows, in any order; nil means all rows
}

// Delete marks rows of a shard as deleted, and returns how many were not before. No question shows them any more: scans, takes, counts, aggregates, searches,
// statistics. The other rows keep their numbers, and the bytes of deleted ones stay in the shard, until [Compact] writes their stripes anew. A new root is
// published that has a bitmap for each stripe with deleted rows, and refers to the same data (see [AddIndex]). [Undelete] takes a delete back.
//
// A shard of [EditionReference] is refused, as its readers refuse deleted rows.
func Delete(ctx context.Context, location string, o EditOptions, rows Rows) (deleted int64, err error) {
	return mark(ctx, location, o, rows, func(already, rows rowset.Set) rowset.Set { return already.Or(rows) })
}

// Undelete brings deleted rows back, and returns how many.
func Undelete(ctx context.Context, location string, o EditOptions, rows Rows) (restored int64, err error) {
	return mark(ctx, location, o, rows, rowset.Set.Minus)
}

// mark changes which rows are deleted, and returns the number of rows that are now and were not, or the other way round.
func mark(ctx context.Context, location string, o EditOptions, rows Rows, change func(already, rows rowset.Set) rowset.Set) (n int64, err error) {
	err = replace(ctx, location, o, func(s *Shard, r root.Root) (root.Root, error) {
		n = 0
		all := s.table.WithDeleted()
		chosen, err := rows.of(ctx, all)
		if err != nil {
			return r, err
		}
		changed := make([]*rowset.Set, s.NumStripes())
		for i := range changed {
			already, err := s.table.Deleted(ctx, i)
			if err != nil {
				return r, err
			}
			first := s.file.Stripe(i).Position()
			now := change(already, chosen.Clip(first, first+s.file.Stripe(i).Rows()).Shift(-first))
			if by := now.Len() - already.Len(); by != 0 {
				changed[i] = &now
				n += max(by, -by)
			}
		}
		if n == 0 {
			return r, errNoChange
		}
		return r.WithDeleted(changed)
	})
	if errors.Is(err, errNoChange) {
		err = nil
	}
	return n, err
}

// errNoChange ends a change of a shard that would be none.
var errNoChange = errors.New("nothing changes")

// of are the rows of a table that are meant.
func (r *Rows) of(ctx context.Context, t *shardtable.Table) (rowset.Set, error) {
	o := scan.Options{Columns: []string{}, Filter: r.Where.Node()}
	if r.Numbers != nil {
		sorted := slices.Clone(r.Numbers)
		slices.Sort(sorted)
		if k := len(sorted); k > 0 && (sorted[0] < 0 || sorted[k-1] >= t.NumRows()) {
			return rowset.Set{}, fmt.Errorf("rows %d to %d are not all among the %d of the shard", sorted[0], sorted[k-1], t.NumRows())
		}
		set := rowset.FromRows(sorted)
		if r.Where.IsZero() {
			return set, nil
		}
		o.Rows = slices.Collect(set.Ranges())
	}
	if r.Where.IsZero() {
		return rowset.All(t.NumRows()), nil
	}
	var ranges []rowset.Range
	for b, err := range scan.Scan(ctx, t, o) {
		if err != nil {
			return rowset.Set{}, err
		}
		ranges = append(ranges, b.RowRanges()...)
	}
	return rowset.Of(ranges...), nil
}
