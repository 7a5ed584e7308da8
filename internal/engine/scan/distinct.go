package scan

import (
	"context"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
)

// Distinct returns arrays that together have each value of a column at least once. Those of a stripe are its dictionary or, if it
// has none, the column itself. An array is valid until the next step of the loop.
func Distinct(ctx context.Context, t table.Table, path string) iter.Seq2[arrow.Array, error] {
	return func(yield func(arrow.Array, error) bool) {
		p, err := t.Project(ctx, []string{path})
		if err != nil {
			yield(nil, err)
			return
		}
		for i := range t.NumStripes() {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			visible, err := t.Stripe(i).Visible(ctx)
			var values arrow.Array
			if err == nil && visible == nil { // only hidden rows may have some of the entries
				values, err = entries(ctx, t, t.Stripe(i), &p.Columns[0])
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !distinctOf(ctx, t, i, path, values, yield) {
				return
			}
		}
	}
}

// distinctOf yields a dictionary, or the column if it is nil. The result is false if the loop has ended.
func distinctOf(ctx context.Context, t table.Table, stripe int, path string, dictionary arrow.Array, yield func(arrow.Array, error) bool) bool {
	if dictionary != nil {
		defer dictionary.Release()
		return yield(dictionary, nil)
	}
	for b, err := range Scan(ctx, t, Options{Columns: []string{path}, Stripes: []int{stripe}}) {
		if err != nil {
			yield(nil, err)
			return false
		}
		if !yield(b.Column(0), nil) {
			return false
		}
	}
	return true
}

// entries is the dictionary of a column in its Arrow type, or nil. The caller releases it.
func entries(ctx context.Context, t table.Table, s table.Stripe, c *table.Column) (values arrow.Array, err error) {
	defer fault.Recover(&err)
	r, err := s.Open(ctx, c, false, func() (storage.Prefetched, error) { return nil, nil })
	if err != nil {
		return nil, err
	}
	d, ok := r.(table.DictionaryReader)
	if !ok {
		return nil, nil
	}
	values, err = d.Entries(ctx)
	if err != nil || values == nil {
		return nil, err
	}
	if _, same := t.PhysicalType(c); same {
		values.Retain()
		return values, nil
	}
	return t.Logical(memory.DefaultAllocator, values, c)
}
