package table

import (
	"context"
	"math"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// StripeRows are ranges of rows of a table, cut into sets of rows of one stripe each, in the order of the ranges.
type StripeRows struct {
	Table Table
	Rows  []rowset.Range // left
	from  int64          // of the first of them
}

// Next is the next part: ascending rows of a stripe, counted in it. It reports false after the last one.
func (p *StripeRows) Next() (stripe int, rows rowset.Set, more bool) {
	var ranges []rowset.Range
	first, end := int64(0), int64(math.MaxInt64) // rows of the stripe
	for len(p.Rows) > 0 {
		r := p.Rows[0]
		switch r.From = max(r.From, p.from); {
		case r.From >= r.To:
			p.Rows, p.from = p.Rows[1:], 0
			continue
		case ranges == nil:
			stripe = StripeOf(p.Table, r.From)
			st := p.Table.Stripe(stripe)
			first, end = st.Position(), st.Position()+st.Rows()
		case r.From < first+ranges[len(ranges)-1].To || r.From >= end:
			return stripe, rowset.Of(ranges...), true
		}
		p.from = min(r.To, end)
		ranges = append(ranges, rowset.Range{From: r.From - first, To: p.from - first})
	}
	return stripe, rowset.Of(ranges...), len(ranges) > 0
}

// CountVisible is the number of visible rows among some rows of a table.
func CountVisible(ctx context.Context, t Table, rows rowset.Set) (n int64, err error) {
	if rows.Empty() {
		return 0, nil
	}
	for i := StripeOf(t, rows.Bounds().From); i <= StripeOf(t, rows.Bounds().To-1); i++ {
		st := t.Stripe(i)
		here := rows.Clip(st.Position(), st.Position()+st.Rows())
		if here.Empty() {
			continue
		}
		visible, err := st.Visible(ctx)
		if err != nil {
			return n, fault.InStripe(err, i)
		}
		if visible != nil {
			here = here.Shift(-st.Position()).And(*visible)
		}
		n += here.Len()
	}
	return n, nil
}

// WithHidden is a table with all rows visible, for those who look at what is stored.
func WithHidden(t Table) Table { return withHidden{t} }

type withHidden struct{ Table }

func (t withHidden) Stripe(i int) Stripe { return wholeStripe{t.Table.Stripe(i)} }

type wholeStripe struct{ Stripe }

func (wholeStripe) Visible(context.Context) (*rowset.Set, error) { return nil, nil }
