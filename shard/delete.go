package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
)

// Rows says which rows of a shard are meant: those that meet all of the conditions. The zero value means all rows.
type Rows struct {
	// Where is a condition that is true for them.
	Where filter.Expr
	// Ranges have their numbers, in any order. Nil means all rows.
	Ranges []RowRange
	// Keys has rows whose columns are columns of the shard, by path and with the same types. A row of the shard is meant if its values of these columns are those of
	// a row of Keys. Nothing is equal to null. All distinct keys are held in memory. Keys is read once, and each batch before the next step.
	Keys iter.Seq2[arrow.RecordBatch, error]
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
	keys, err := keysOf(ctx, rows.Keys)
	if err != nil {
		return 0, err
	}
	err = replace(ctx, location, o, func(s *Shard, r root.Root) (root.Root, error) {
		n = 0
		all := s.table.WithDeleted()
		chosen, err := rows.of(ctx, all, keys)
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
	return n, err
}

// of are the rows of a table that are meant.
func (r *Rows) of(ctx context.Context, t *shardtable.Table, keys *keySet) (rowset.Set, error) {
	o := scan.Options{Columns: []string{}, Filter: r.Where.Node()}
	chosen := rowset.All(t.NumRows())
	if r.Ranges != nil {
		chosen = rowset.Of(r.Ranges...)
		if in := chosen.Bounds(); !chosen.Empty() && (in.From < 0 || in.To > t.NumRows()) {
			return chosen, fmt.Errorf("rows %d to %d are not all among the %d of the shard", in.From, in.To-1, t.NumRows())
		}
		o.Rows = slices.Collect(chosen.Ranges())
	}
	if r.Where.IsZero() && keys == nil || chosen.Empty() || keys != nil && keys.keys.Len() == 0 {
		if keys != nil {
			chosen = rowset.Set{}
		}
		return chosen, nil
	}
	if keys != nil {
		o.Columns = keys.columns
	}
	var ranges []rowset.Range
	for b, err := range scan.Scan(ctx, t, o) {
		if err != nil {
			return chosen, err
		}
		if keys == nil {
			ranges = append(ranges, b.RowRanges()...)
			continue
		}
		at, err := keys.find(b)
		if err != nil {
			return chosen, err
		}
		in := b.RowRanges()
		for _, i := range at {
			row := rowset.Row(in, i)
			ranges = append(ranges, rowset.Range{From: row, To: row + 1})
		}
	}
	return rowset.Of(ranges...), nil
}

// keySet are the keys of rows of some columns.
type keySet struct {
	columns []string
	schema  *arrow.Schema
	encoder *order.Encoder
	keys    order.KeySet
}

// keysOf reads keys; nil has none.
func keysOf(ctx context.Context, batches iter.Seq2[arrow.RecordBatch, error]) (*keySet, error) {
	if batches == nil {
		return nil, nil
	}
	s := &keySet{}
	for b, err := range batches {
		if err = cmp.Or(err, ctx.Err()); err == nil {
			err = s.add(b)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *keySet) add(b arrow.RecordBatch) (err error) {
	switch {
	case s.schema == nil:
		s.schema = b.Schema()
		var types []order.Key
		for _, f := range s.schema.Fields() {
			s.columns, types = append(s.columns, f.Name), append(types, order.Key{Type: f.Type})
		}
		if s.encoder, err = order.NewEncoder(types); err == nil && len(types) == 0 {
			err = errors.New("Rows.Keys has no columns")
		}
	case !s.schema.Equal(b.Schema()):
		err = errors.New("batches of Rows.Keys have several schemas")
	}
	if err == nil {
		err = arrowutil.CheckBatch(b)
	}
	if err != nil {
		return err
	}
	encoded := s.encoder.Encode(b.Columns(), int(b.NumRows()))
	for i := range int(b.NumRows()) {
		if !slices.ContainsFunc(b.Columns(), func(c arrow.Array) bool { return c.IsNull(i) }) {
			s.keys.Add(encoded.Key(i))
		}
	}
	return nil
}

// find are the rows of a batch of the shard whose keys are in the set.
func (s *keySet) find(b scan.Batch) (rows []int64, err error) {
	for i, f := range b.Schema().Fields() {
		if want := s.schema.Field(i); !arrow.TypeEqual(f.Type, want.Type) {
			return nil, fmt.Errorf("column %q of the keys is %v, that of the shard %v", want.Name, want.Type, f.Type)
		}
	}
	encoded := s.encoder.Encode(b.Columns(), int(b.NumRows()))
	for i := range int(b.NumRows()) {
		if _, ok := s.keys.Find(encoded.Key(i)); ok {
			rows = append(rows, int64(i))
		}
	}
	return rows, nil
}
