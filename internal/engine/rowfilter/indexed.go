package rowfilter

import (
	"context"

	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/source"
	"github.com/amudai/amudai-go/internal/engine/table"
)

// Indexed asks the indexes of the whole table, once. The result is as if the table were one stripe, and nil if there are none for the columns of the filter.
func (f *Filter) Indexed(ctx context.Context) (*Stripe, error) {
	t, ok := f.of.(table.Indexed)
	if !ok {
		return nil, nil
	}
	return f.byIndexes.Get(ctx, func() (*Stripe, error) { return f.askIndexes(ctx, t) })
}

func (f *Filter) askIndexes(ctx context.Context, t table.Indexed) (*Stripe, error) {
	if v, err := f.tableVerdict(ctx); err != nil || v != predicate.Some {
		return nil, err
	}
	indexes, err := t.IndexesOfAll(ctx, f.TableColumns())
	if err != nil || len(indexes) == 0 {
		return nil, err
	}
	of := &source.Stripe{Rows: f.of.NumRows(), Path: f.path, Indexes: indexes}
	all := f.newStripe(of.Rows)
	return all, all.ask(ctx, source.All(of, ^source.Indexes))
}

// TableColumns are the columns of the filter as the table knows them.
func (f *Filter) TableColumns() []table.FilterColumn {
	columns := make([]table.FilterColumn, len(f.columns))
	for i := range columns {
		c := &f.columns[i]
		columns[i] = table.FilterColumn{Path: c.path, Inside: c.Inside, Type: c.Type}
	}
	return columns
}

// Excludes reports whether the indexes of the whole table were asked, and leave no row of a stripe.
func (f *Filter) Excludes(st table.Stripe) bool {
	all, _ := f.byIndexes.Known()
	return all != nil && all.Maybe.Clip(st.Position(), st.Position()+st.Rows()).Empty()
}

// FewRows is the number of rows of a table that are read without asking further sources about them, which takes longer.
const FewRows = 16

// take takes what the indexes of the table tell about the rows of the stripe. It reports whether nothing else is to be asked.
func (f *Stripe) take(all *Stripe) bool {
	from := f.stripe.Position()
	cut := func(rows rowset.Set) rowset.Set { return rows.Clip(from, from+f.rows).Shift(-from) }
	for n, known := range all.known {
		f.known[n] = source.Answer{Maybe: cut(known.Maybe), True: cut(known.True)}
	}
	f.Maybe = cut(all.Maybe)
	if f.Sure = f.Maybe; !all.Decided() {
		f.Sure = cut(all.Sure)
	}
	for _, step := range all.Steps {
		f.trace(step.Source, step.Note)
	}
	if all.Maybe.Len() > FewRows {
		return f.Decided()
	}
	for i := range f.columns {
		c := &f.columns[i]
		c.direct = len(c.path) == 1 && c.Inside == nil
	}
	return true
}
