package table

import (
	"context"
	"slices"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// VisibleRows returns those of some ranges of rows of a table that are visible. It returns the ranges themselves if none of their rows is hidden.
func VisibleRows(ctx context.Context, t Table, ranges []rowset.Range) ([]rowset.Range, error) {
	out, hidden := make([]rowset.Range, 0, len(ranges)), false
	add := func(from, to int64) {
		if k := len(out) - 1; k >= 0 && out[k].To == from {
			out[k].To = to
		} else {
			out = append(out, rowset.Range{From: from, To: to})
		}
	}
	err := eachVisible(ctx, t, ranges, func(part rowset.Range, first int64, visible *rowset.Set) {
		if visible == nil {
			add(part.From, part.To)
			return
		}
		hidden = true
		out = slices.Grow(out, visible.NumRanges())
		for v := range visible.Ranges() {
			add(first+v.From, first+v.To)
		}
	})
	if !hidden {
		return ranges, err
	}
	return out, err
}

// CountVisible is the number of visible rows in some ranges of rows of a table.
func CountVisible(ctx context.Context, t Table, ranges []rowset.Range) (n int64, err error) {
	err = eachVisible(ctx, t, ranges, func(part rowset.Range, _ int64, visible *rowset.Set) {
		if visible == nil {
			n += part.Len()
		} else {
			n += visible.Len()
		}
	})
	return n, err
}

// eachVisible calls f with the parts of some ranges of rows that lie in one stripe. visible are the visible rows of a part, counted from the first row of the
// stripe; it is nil if all are.
func eachVisible(ctx context.Context, t Table, ranges []rowset.Range, f func(part rowset.Range, first int64, visible *rowset.Set)) error {
	var first, end int64 // rows of the stripe that was asked last
	var visible *rowset.Set
	for _, r := range ranges {
		for r.From < r.To {
			if r.From < first || r.From >= end {
				st := t.Stripe(StripeOf(t, r.From))
				var err error
				if visible, err = st.Visible(ctx); err != nil {
					return fault.InStripe(err, st.Index())
				}
				first, end = st.Position(), st.Position()+st.Rows()
			}
			part := rowset.Range{From: r.From, To: min(r.To, end)}
			r.From = part.To
			if visible == nil {
				f(part, first, nil)
				continue
			}
			of := visible.Clip(part.From-first, part.To-first)
			f(part, first, &of)
		}
	}
	return nil
}

// WithHidden is a table with all rows visible, for those who look at what is stored.
func WithHidden(t Table) Table { return withHidden{t} }

type withHidden struct{ Table }

func (t withHidden) Stripe(i int) Stripe { return wholeStripe{t.Table.Stripe(i)} }

type wholeStripe struct{ Stripe }

func (wholeStripe) Visible(context.Context) (*rowset.Set, error) { return nil, nil }
