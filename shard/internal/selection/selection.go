// Package selection finds rows of a table by conditions, by their numbers, and by keys that another table has.
package selection

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
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
)

// Rows says which rows of a table are meant: those that meet all of the conditions. The zero value means all rows.
type Rows struct {
	// Where is a condition that is true for them.
	Where filter.Expr
	// Ranges have their numbers, in any order. Nil means all rows.
	Ranges []rowset.Range
	// Keys has rows whose columns are columns of the table, by path and with the same types. A row of the table is meant if its values of these columns are those of
	// a row of Keys. Nothing is equal to null. All distinct keys are held in memory. Keys is read once, and each batch before the next step.
	Keys iter.Seq2[arrow.RecordBatch, error]

	keys *keySet // once they are read
}

// Of are the rows of a table that are meant. It may be called again, for a later version of the table.
func (r *Rows) Of(ctx context.Context, t table.Table) (rowset.Set, error) {
	if r.Keys != nil && r.keys == nil {
		var err error
		if r.keys, err = keysOf(ctx, r.Keys); err != nil {
			return rowset.Set{}, err
		}
	}
	return r.of(ctx, t, r.keys)
}

func (r *Rows) of(ctx context.Context, t table.Table, keys *keySet) (rowset.Set, error) {
	o := scan.Options{Columns: []string{}, Filter: r.Where.Node()}
	chosen := rowset.All(t.NumRows())
	if r.Ranges != nil {
		chosen = rowset.Of(r.Ranges...)
		if in := chosen.Bounds(); !chosen.Empty() && (in.From < 0 || in.To > t.NumRows()) {
			return chosen, fmt.Errorf("rows %d to %d are not all among the %d of the table", in.From, in.To-1, t.NumRows())
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
		found := rowset.Of(b.RowRanges()...)
		if keys != nil {
			bits, err := keys.find(b)
			if err != nil {
				return chosen, err
			}
			found = found.Select(bits)
		}
		ranges = slices.AppendSeq(ranges, found.Ranges())
	}
	return rowset.Of(ranges...), nil
}

// Marked are the deleted records of each stripe of a shard after a change of those that there are by the rows that are meant, nil if the change changes nothing; and
// the number of records that it marks or does not mark any more.
func (r *Rows) Marked(ctx context.Context, t *shardtable.Table, change func(already, rows rowset.Set) rowset.Set) (changed []*rowset.Set, n int64, err error) {
	chosen, err := r.Of(ctx, table.WithHidden(t))
	if err != nil {
		return nil, 0, err
	}
	changed = make([]*rowset.Set, t.NumStripes())
	for i := range changed {
		already, err := t.Deleted(ctx, i)
		if err != nil {
			return nil, 0, err
		}
		first := t.Stripe(i).Position()
		now := change(already, chosen.Clip(first, first+t.Stripe(i).Rows()).Shift(-first))
		if by := now.Len() - already.Len(); by != 0 {
			changed[i] = &now
			n += max(by, -by)
		}
	}
	return changed, n, nil
}

// Stripes are the stripes of a shard that have rows, all of which are meant.
func (r *Rows) Stripes(ctx context.Context, t *shardtable.Table) ([]int, error) {
	chosen, err := r.Of(ctx, t)
	if err != nil {
		return nil, err
	}
	all := []int{}
	for i := range t.NumStripes() {
		deleted, err := t.Deleted(ctx, i)
		if err != nil {
			return nil, err
		}
		first, rows := t.Stripe(i).Position(), t.Stripe(i).Rows()
		if n := chosen.Clip(first, first+rows).Len(); n > 0 && n == rows-deleted.Len() {
			all = append(all, i)
		}
	}
	return all, nil
}

// keySet are the keys of rows of some columns.
type keySet struct {
	columns []string
	schema  *arrow.Schema
	encoder *order.Encoder
	keys    order.KeySet
}

// keysOf reads keys.
func keysOf(ctx context.Context, batches iter.Seq2[arrow.RecordBatch, error]) (*keySet, error) {
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

// find is a bitmap of the rows of a batch of the table whose keys are in the set.
func (s *keySet) find(b scan.Batch) ([]byte, error) {
	for i, f := range b.Schema().Fields() {
		if want := s.schema.Field(i); !arrow.TypeEqual(f.Type, want.Type) {
			return nil, fmt.Errorf("column %q of the keys is %v, that of the table %v", want.Name, want.Type, f.Type)
		}
	}
	encoded := s.encoder.Encode(b.Columns(), int(b.NumRows()))
	bits := make([]byte, (b.NumRows()+7)/8)
	for i := range int(b.NumRows()) {
		if _, ok := s.keys.Find(encoded.Key(i)); ok {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return bits, nil
}
