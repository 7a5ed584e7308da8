package scan

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/source"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/engine/valueset"
	"github.com/amudai/amudai-go/storage"
)

// stripeFilter is a filter in one stripe: what its sources know of rows for each condition,
// and the columns to look at for the rest.
type stripeFilter struct {
	bound   *boundFilter
	stripe  table.Stripe
	columns []stripeColumn
	bytes   func() (storage.Prefetched, error) // reads once what opening the columns takes

	known map[*predicate.Node]*source.Answer    // by node, what is known of all rows
	order map[*predicate.Node][]*predicate.Node // of and and or: what costs least first
	codes *source.Dictionary                    // nil if it was not asked
	only  []onlyEntry

	maybe rowset.Set // rows that the filter may be true for
	sure  rowset.Set // those among them that it is true for
	steps []StepExplanation
}

// stripeColumn is a column of a filter in a stripe. It is opened at most once.
type stripeColumn struct {
	*filterColumn
	direct bool // no struct on the way is null: the column alone tells
	mu     sync.Mutex
	opened table.ColumnReader
}

// toOpen is the column to open.
func (c *stripeColumn) toOpen() *table.Column {
	if c.direct {
		return c.leaf()
	}
	return &c.top
}

// onlyEntry is the one entry of a dictionary that a column of the filter has in all rows
// for which that is true.
type onlyEntry struct{ column, entry int }

// newStripeFilter asks the sources one after the other, until nothing is left to look for.
func newStripeFilter(ctx context.Context, st *stripeScan) (*stripeFilter, error) {
	bound := st.scan.filter
	f := &stripeFilter{
		bound: bound, stripe: st.stripe, columns: make([]stripeColumn, len(bound.columns)),
		known: map[*predicate.Node]*source.Answer{}, order: map[*predicate.Node][]*predicate.Node{},
		maybe: rowset.All(st.stripe.Rows()),
	}
	for i := range f.columns {
		f.columns[i].filterColumn = &bound.columns[i]
	}
	f.rank(bound.expr.Root())
	f.bytes = sync.OnceValues(func() (storage.Prefetched, error) {
		columns := make([]table.Column, len(f.columns))
		for i := range columns {
			columns[i] = *f.columns[i].toOpen()
		}
		return st.prefetchToOpen(ctx, columns, table.ToFilter)
	})
	disable := st.scan.o.Disable
	if disable&source.Statistics == 0 {
		v, err := bound.tableVerdict(ctx, st.scan.table)
		if err != nil || v != predicate.Some {
			f.decide(v)
			f.trace(source.Statistics, "of the shard")
			return f, err
		}
	}
	if err := st.scan.prefetchStripes(ctx, st.index); err != nil {
		return nil, err
	}
	columns, err := f.load(ctx)
	if err != nil {
		return nil, err
	}
	return f, f.ask(ctx, source.All(columns, disable))
}

// decide takes a verdict on all rows.
func (f *stripeFilter) decide(v predicate.Verdict) {
	switch v {
	case predicate.None:
		f.maybe, f.sure = rowset.Set{}, rowset.Set{}
	case predicate.All:
		f.sure = f.maybe
	}
}

// load reads the metadata of the filter's columns, and gives them to sources.
func (f *stripeFilter) load(ctx context.Context) (*source.Stripe, error) {
	tops := make([]table.Column, len(f.columns))
	for i := range f.columns {
		tops[i] = f.columns[i].top
	}
	if err := f.stripe.PrefetchMetadata(ctx, tops); err != nil {
		return nil, err
	}
	out := &source.Stripe{
		Rows: f.stripe.Rows(), Columns: make([]source.Column, len(f.columns)), Facts: make([]predicate.Facts, len(f.columns)),
	}
	for i := range f.columns {
		meta, err := f.stripe.Metadata(ctx, f.columns[i].path)
		if err != nil {
			return nil, err
		}
		f.columns[i].direct = meta.Direct
		out.Columns[i] = source.Column{
			Path: f.bound.expr.Column(i).Path, Metadata: meta,
			Entries: func(ctx context.Context) (arrow.Array, error) { return f.entries(ctx, i) },
			Pages:   func(ctx context.Context) (*source.Pages, error) { return f.pages(ctx, i) },
		}
	}
	return out, nil
}

// entries reads the dictionary of a column.
func (f *stripeFilter) entries(ctx context.Context, i int) (arrow.Array, error) {
	r, err := f.reader(ctx, i)
	if err != nil {
		return nil, err
	}
	d, ok := r.(table.DictionaryReader)
	if !ok {
		return nil, nil
	}
	return d.Entries(ctx)
}

// pages reads the range index of a column.
func (f *stripeFilter) pages(ctx context.Context, i int) (*source.Pages, error) {
	have, err := f.bytes()
	if err != nil {
		return nil, err
	}
	return f.stripe.Pages(ctx, f.columns[i].leaf(), have)
}

// reader opens a column of the filter, so that its arrays are those to evaluate if it is
// direct.
func (f *stripeFilter) reader(ctx context.Context, i int) (table.ColumnReader, error) {
	c := &f.columns[i]
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opened != nil {
		return c.opened, nil
	}
	r, err := f.stripe.Open(ctx, c.toOpen(), true, f.bytes)
	if err == nil {
		c.opened = r
	}
	return r, err
}

// ask asks sources, until no row is unknown.
func (f *stripeFilter) ask(ctx context.Context, sources []source.Source) error {
	root := f.bound.expr.Root()
	f.learn(root)
	for _, src := range sources {
		if err := f.askNode(ctx, src, root, rowset.All(f.stripe.Rows())); err != nil {
			return err
		}
		f.learn(root)
		f.maybe, f.sure = f.known[root].Maybe, f.known[root].True
		if d, ok := src.(*source.Dictionary); ok {
			f.codes = d
			f.findOnly(root)
		}
		decided := f.unknown().Empty()
		if note := src.Note(); note != "" || decided {
			f.trace(src.Kind(), note)
		}
		if decided {
			break
		}
	}
	return nil
}

// askNode asks a source about the leaves of a node, for rows that matter to the filter.
func (f *stripeFilter) askNode(ctx context.Context, src source.Source, n *predicate.Node, among rowset.Set) error {
	if among.Empty() {
		return nil
	}
	switch n.Kind {
	case predicate.NodeNever, predicate.NodeAlways:
		return nil
	case predicate.NodeAnd, predicate.NodeOr:
		for _, k := range f.order[n] {
			if err := f.askNode(ctx, src, k, among); err != nil {
				return err
			}
			f.learn(k)
			if known := f.known[k]; n.Kind == predicate.NodeAnd {
				among = among.And(known.Maybe)
			} else if !known.True.Empty() {
				among = among.And(known.True.Not(f.stripe.Rows()))
			}
		}
		return nil
	}
	return f.askLeaf(ctx, src, n, among)
}

// askLeaf asks a source about the rows that are unknown for a condition, unless looking at
// the values of a column costs less than the answer.
func (f *stripeFilter) askLeaf(ctx context.Context, src source.Source, n *predicate.Node, among rowset.Set) error {
	cost, ok := src.Cost(n)
	if !ok || src.Kind() != source.Statistics && cost > max(f.stripe.Rows()/2, 1) {
		return nil
	}
	known := f.known[n]
	among = among.And(known.Maybe)
	if !known.True.Empty() {
		among = among.And(known.True.Not(f.stripe.Rows()))
	}
	if among.Empty() {
		return nil
	}
	answer, err := src.Ask(ctx, n, among)
	if err != nil {
		return err
	}
	if answer.Maybe.Len() < among.Len() {
		excluded := among.And(answer.Maybe.Not(f.stripe.Rows()))
		known.Maybe = known.Maybe.And(excluded.Not(f.stripe.Rows()))
	}
	known.True = known.True.Or(answer.True)
	return nil
}

// learn combines what is known of the leaves of a node.
func (f *stripeFilter) learn(n *predicate.Node) {
	known := f.known[n]
	if known == nil {
		known = &source.Answer{Maybe: rowset.All(f.stripe.Rows())}
		f.known[n] = known
		switch n.Kind {
		case predicate.NodeNever:
			known.Maybe = rowset.Set{}
		case predicate.NodeAlways:
			known.True = known.Maybe
		}
	}
	if n.Kind != predicate.NodeAnd && n.Kind != predicate.NodeOr {
		return
	}
	for i, k := range n.Nodes {
		f.learn(k)
		switch kid := f.known[k]; {
		case i == 0:
			*known = *kid
		case n.Kind == predicate.NodeAnd:
			known.Maybe, known.True = known.Maybe.And(kid.Maybe), known.True.And(kid.True)
		default:
			known.Maybe, known.True = known.Maybe.Or(kid.Maybe), known.True.Or(kid.True)
		}
	}
}

// findOnly looks at what must be true of all rows: a leaf, or those of an and.
func (f *stripeFilter) findOnly(n *predicate.Node) {
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

// unknown are the rows whose values tell.
func (f *stripeFilter) unknown() rowset.Set {
	if f.sure.Empty() {
		return f.maybe
	}
	return f.maybe.And(f.sure.Not(f.stripe.Rows()))
}

// countOpened counts the columns of the filter that were opened.
func (f *stripeFilter) countOpened(stats *runStats) {
	if stats == nil {
		return
	}
	for i := range f.columns {
		c := &f.columns[i]
		c.mu.Lock()
		if c.opened != nil {
			stats.open(f.stripe.Index(), c.top.ID, c.opened)
		}
		c.mu.Unlock()
	}
}

// rank finds in which order to evaluate the nodes of an and or or.
func (f *stripeFilter) rank(n *predicate.Node) int {
	if n.Kind != predicate.NodeAnd && n.Kind != predicate.NodeOr {
		return leafRank(n)
	}
	ranks := map[*predicate.Node]int{}
	most := 0
	for _, k := range n.Nodes {
		ranks[k] = f.rank(k)
		most = max(most, ranks[k])
	}
	list := slices.Clone(n.Nodes)
	slices.SortStableFunc(list, func(a, b *predicate.Node) int { return cmp.Compare(ranks[a], ranks[b]) })
	f.order[n] = list
	return most
}

// leafRank is how much a leaf costs, compared with others.
func leafRank(n *predicate.Node) int {
	switch n.Test.(type) {
	case predicate.Nulls, valueset.Bools, valueset.Ints, valueset.Uints, valueset.Floats:
		return 0
	case valueset.Decimals:
		return 1
	case valueset.Bytes:
		return 2
	case *predicate.Text:
		return 4
	}
	return 3
}
