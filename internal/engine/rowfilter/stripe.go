package rowfilter

import (
	"context"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/source"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
)

// Stripe is a filter in one stripe: the rows decided by sources, and the columns to read for the others. Several
// goroutines may use it.
type Stripe struct {
	Maybe rowset.Set // rows for which the filter may be true
	Sure  rowset.Set // rows of Maybe for which it is true
	Steps []Step     // the sources that were asked, in order

	bound   *Filter
	stripe  table.Stripe
	rows    int64
	columns []stripeColumn
	bytes   func() (storage.Prefetched, error) // reads the bytes for opening the columns, once

	known []source.Answer    // by node
	codes *source.Dictionary // nil if it was not asked
	only  []onlyEntry

	finding *table.Finding // nil: nothing is remembered
}

// Step is the effect of one source on the rows of a stripe.
type Step struct {
	Source source.Kinds
	Left   int64  // rows for which the filter may be true
	Sure   int64  // rows among them for which it is true
	Ranges int    // number of ranges of the rows left
	Note   string // remark on the source
}

// Options are the options of [Filter.Stripe].
type Options struct {
	Disable source.Kinds // sources that are not asked
	// PrefetchMetadata is called before the metadata of columns is read, PrefetchToOpen once before columns are opened.
	PrefetchMetadata func(ctx context.Context) error
	PrefetchToOpen   func(ctx context.Context, columns []table.Column) (storage.Prefetched, error)
}

// stripeColumn is a column of a filter in a stripe. It is opened at most once.
type stripeColumn struct {
	*filterColumn
	direct bool // no struct on the path is null, so that the column alone has the values
	opened parallel.Once[table.ColumnReader]
}

// toOpen returns the column to open.
func (c *stripeColumn) toOpen() *table.Column {
	if c.direct {
		return c.leaf()
	}
	return &c.top
}

// onlyEntry is the single dictionary entry of a column in all rows that the filter is true for.
type onlyEntry struct{ column, entry int }

// Stripe asks the sources of a stripe one after the other, until all rows are decided, unless these are known from earlier questions.
func (f *Filter) Stripe(ctx context.Context, st table.Stripe, o Options) (*Stripe, error) {
	s, err := f.askedStripe(ctx, st, o)
	if err != nil {
		return nil, err
	}
	if s.Maybe = s.Maybe.Listed(); s.Decided() { // once, for all columns
		s.Sure = s.Maybe
	}
	s.Sure = s.Sure.Listed()
	return s, nil
}

func (f *Filter) askedStripe(ctx context.Context, st table.Stripe, o Options) (*Stripe, error) {
	s := f.newStripe(st.Rows())
	s.stripe = st
	s.bytes = sync.OnceValues(func() (storage.Prefetched, error) {
		columns := make([]table.Column, len(s.columns))
		for i := range columns {
			columns[i] = *s.columns[i].toOpen()
		}
		return o.PrefetchToOpen(ctx, columns)
	})
	few, _ := f.byIndexes.Known() // which are found again sooner than remembered
	if t, ok := f.of.(table.Remembering); ok && !f.traced && o.Disable == 0 && (few == nil || few.Maybe.Len() > FewRows) {
		if s.finding = t.Finding(f.node.String(), st.Index()); s.finding != nil {
			if found := s.finding.Found(); found != nil {
				s.Maybe, s.Sure = *found, *found
				return s, nil
			}
		}
	}
	if err := s.look(ctx, o); err != nil || s.finding == nil {
		return s, err
	}
	all := rowset.All(s.rows)
	s.finding.Add(all.Minus(s.Maybe).Or(s.Sure), s.Sure)
	if visible, err := st.Visible(ctx); visible != nil {
		s.finding.Add(all.Minus(*visible), rowset.Set{})
	} else if err != nil {
		return nil, err
	}
	return s, nil
}

// look asks the sources.
func (f *Stripe) look(ctx context.Context, o Options) error {
	if o.Disable&source.Statistics == 0 {
		v, err := f.bound.tableVerdict(ctx)
		if err != nil || v != predicate.Some {
			f.decide(v)
			f.trace(source.Statistics, "of the whole table")
			return err
		}
	}
	own := false                       // only the indexes of the stripe itself are yet to be asked
	if o.Disable&source.Indexes == 0 { // first, so that nothing is read of stripes that they exclude
		all, err := f.bound.Indexed(ctx)
		if err != nil {
			return err
		}
		if own = all != nil; own && f.take(all) {
			return nil
		}
	}
	if err := o.PrefetchMetadata(ctx); err != nil {
		return err
	}
	columns, err := f.load(ctx, own)
	if err != nil {
		return err
	}
	return f.ask(ctx, source.All(columns, o.Disable))
}

// newStripe is a filter in some rows that nothing is known about.
func (f *Filter) newStripe(rows int64) *Stripe {
	s := &Stripe{
		bound: f, rows: rows, columns: make([]stripeColumn, len(f.columns)), known: make([]source.Answer, f.expr.NumNodes()), Maybe: rowset.All(rows),
	}
	for i := range s.columns {
		s.columns[i].filterColumn = &f.columns[i]
	}
	for i := range s.known {
		s.known[i].Maybe = s.Maybe
	}
	return s
}

// decide applies a verdict to all rows.
func (f *Stripe) decide(v predicate.Verdict) {
	switch v {
	case predicate.None:
		f.Maybe, f.Sure = rowset.Set{}, rowset.Set{}
	case predicate.All:
		f.Sure = f.Maybe
	}
}

// load reads the metadata of the filter's columns for the sources. With own the indexes of the whole table are left out.
func (f *Stripe) load(ctx context.Context, own bool) (*source.Stripe, error) {
	tops := make([]table.Column, len(f.columns))
	for i := range f.columns {
		tops[i] = f.columns[i].top
	}
	if err := f.stripe.PrefetchMetadata(ctx, tops); err != nil {
		return nil, err
	}
	out := &source.Stripe{
		Rows: f.rows, Path: f.bound.path, Columns: make([]source.Column, len(f.columns)), Facts: make([]predicate.Facts, len(f.columns)),
	}
	for i := range f.columns {
		var meta source.Metadata
		if f.columns[i].Inside == nil {
			var err error
			if meta, err = f.stripe.Metadata(ctx, f.columns[i].path); err != nil {
				return nil, err
			}
			f.columns[i].direct = meta.Direct
		}
		c := &out.Columns[i]
		*c = source.Column{Pages: func(context.Context) (*source.Pages, error) { return nil, nil }}
		if f.columns[i].Derived() {
			continue
		}
		c.Metadata = meta
		c.Entries = func(ctx context.Context) (arrow.Array, error) { return f.entries(ctx, i, meta.Mixed) }
		if !meta.Apart {
			c.Pages = func(ctx context.Context) (*source.Pages, error) { return f.pages(ctx, i) }
		}
	}
	var err error
	out.Indexes, err = f.stripe.Indexes(ctx, f.bound.TableColumns(), own)
	return out, err
}

// entries reads the dictionary of a column, or of some of its rows.
func (f *Stripe) entries(ctx context.Context, i int, mixed bool) (arrow.Array, error) {
	r, err := f.Column(ctx, i)
	if err != nil {
		return nil, err
	}
	if m, ok := r.(table.MixedReader); ok && mixed {
		return m.SomeEntries(ctx)
	}
	d, ok := r.(table.DictionaryReader)
	if !ok {
		return nil, nil
	}
	return d.Entries(ctx)
}

// pages reads the range index of a column.
func (f *Stripe) pages(ctx context.Context, i int) (*source.Pages, error) {
	have, err := f.bytes()
	if err != nil {
		return nil, err
	}
	return f.stripe.Pages(ctx, f.columns[i].leaf(), have)
}

// NumColumns is the number of columns of the filter.
func (f *Stripe) NumColumns() int { return len(f.columns) }

// Prefetched returns the bytes that were read to open the columns.
func (f *Stripe) Prefetched() (storage.Prefetched, error) { return f.bytes() }

// Column opens column i of the filter. If that column is not direct, it opens the top-level column that contains
// it.
func (f *Stripe) Column(ctx context.Context, i int) (table.ColumnReader, error) {
	c := &f.columns[i]
	return c.opened.Get(ctx, func() (table.ColumnReader, error) { return f.stripe.Open(ctx, c.toOpen(), true, f.bytes) })
}

// ask asks sources until all rows are decided.
func (f *Stripe) ask(ctx context.Context, sources []source.Source) error {
	root := f.bound.expr.Root()
	f.learn(root)
	for _, src := range sources {
		if err := f.askNode(ctx, src, root, f.Maybe); err != nil {
			return err
		}
		f.learn(root)
		f.Maybe, f.Sure = f.known[root.ID].Maybe, f.known[root.ID].True
		if d, ok := src.(*source.Dictionary); ok {
			f.codes = d
			f.findOnly(root)
		}
		decided := f.Decided()
		if f.bound.traced {
			if note := src.Note(); note != "" || decided {
				f.trace(src.Kind(), note)
			}
		}
		if decided {
			break
		}
	}
	return nil
}

// askNode asks a source about the leaves of a node, for the rows that affect the result.
func (f *Stripe) askNode(ctx context.Context, src source.Source, n *predicate.Node, among rowset.Set) error {
	if among.Empty() {
		return nil
	}
	switch n.Kind {
	case predicate.NodeNever, predicate.NodeAlways:
		return nil
	case predicate.NodeAnd, predicate.NodeOr:
		if n.Kind == predicate.NodeAnd && src.Kind() == source.Indexes {
			if err := f.askOne(ctx, src, n, among); err != nil {
				return err
			}
			known := &f.known[n.ID]
			among = among.And(known.Maybe).Minus(known.True)
		}
		for _, k := range n.Nodes {
			if err := f.askNode(ctx, src, k, among); err != nil {
				return err
			}
			f.learn(k)
			if known := &f.known[k.ID]; n.Kind == predicate.NodeAnd {
				among = among.And(known.Maybe)
			} else if src.Kind() != source.Indexes { // which reads a list as fast with the other rows
				among = among.Minus(known.True)
			}
		}
		return nil
	}
	return f.askOne(ctx, src, n, among)
}

// askOne asks a source about the undecided rows of a condition, unless reading the values is cheaper.
func (f *Stripe) askOne(ctx context.Context, src source.Source, n *predicate.Node, among rowset.Set) error {
	cost, ok := src.Cost(n)
	if !ok || src.Kind() != source.Statistics && cost > max(f.rows/2, 1) {
		return nil
	}
	known := &f.known[n.ID]
	among = among.And(known.Maybe).Minus(known.True)
	if among.Empty() || src.Kind() != source.Statistics && cost > rowCost*among.Len() {
		return nil
	}
	answer, err := src.Ask(ctx, n, among)
	if err != nil {
		return err
	}
	switch {
	case answer.Maybe.Len() == among.Len():
	case among.Len() == known.Maybe.Len():
		known.Maybe = answer.Maybe
	default:
		known.Maybe = known.Maybe.Minus(among.Minus(answer.Maybe))
	}
	known.True = known.True.Or(answer.True)
	return nil
}

// rowCost is about how many values are examined to read a single row.
const rowCost = 1024

// learn combines the answers for a node and its leaves.
func (f *Stripe) learn(n *predicate.Node) {
	known := &f.known[n.ID]
	switch n.Kind {
	case predicate.NodeNever:
		known.Maybe = rowset.Set{}
		return
	case predicate.NodeAlways:
		known.True = known.Maybe
		return
	case predicate.NodeAnd, predicate.NodeOr:
	default:
		return
	}
	var kids source.Answer
	for i, k := range n.Nodes {
		f.learn(k)
		switch kid := f.known[k.ID]; {
		case i == 0:
			kids = kid
		case n.Kind == predicate.NodeAnd:
			kids = combined(kids, kid, rowset.Set.And)
		default:
			kids = combined(kids, kid, rowset.Set.Or)
		}
	}
	known.Maybe = known.Maybe.And(kids.Maybe)
	if kids.Decided() {
		known.True = known.Maybe
	} else {
		known.True = known.True.Or(kids.True)
	}
}

// combined combines two answers; those that are decided once.
func combined(a, b source.Answer, op func(a, b rowset.Set) rowset.Set) source.Answer {
	all := source.Answer{Maybe: op(a.Maybe, b.Maybe)}
	if all.True = all.Maybe; !a.Decided() || !b.Decided() {
		all.True = op(a.True, b.True)
	}
	return all
}

// findOnly finds conditions that must be true in all rows and that allow a single dictionary entry.
func (f *Stripe) findOnly(n *predicate.Node) {
	if c := f.codes.Codes(n); c != nil && len(f.columns[n.Column].path) == 1 {
		if entry, ok := c.Only(); ok {
			f.only = append(f.only, onlyEntry{n.Column, entry})
		}
	}
	if n.Kind == predicate.NodeAnd {
		for _, k := range n.Nodes {
			f.findOnly(k)
		}
	}
}

// Decided reports whether no values are to be examined.
func (f *Stripe) Decided() bool { return f.Sure.Len() == f.Maybe.Len() }

// EachOpened calls yield with the schema id and the reader of each open column of the filter.
func (f *Stripe) EachOpened(yield func(id uint32, r table.ColumnReader)) {
	for i := range f.columns {
		c := &f.columns[i]
		if r, ok := c.opened.Known(); ok {
			yield(c.top.ID, r)
		}
	}
}

// trace records the effect of a source, if that is wanted.
func (f *Stripe) trace(kind source.Kinds, note string) {
	if !f.bound.traced {
		return
	}
	f.Steps = append(f.Steps, Step{kind, f.Maybe.Len(), f.Sure.Len(), f.Maybe.NumRanges(), note})
}
