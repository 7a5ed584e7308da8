package shard

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/index/numrange"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/shardfile"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/stripe/read"
)

// Sources are what a scan knows rows by without reading values.
type Sources uint8

// The sources, in the order in which they are asked: by what they cost.
const (
	Statistics   Sources = 1 << iota // of the shard, the stripe, and constants
	BloomFilters                     // of byte strings in a stripe
	Dictionaries                     // value dictionaries: a filter is evaluated once an entry
	RangeIndexes                     // bounds of every 256 rows
)

// String is the name of a single source.
func (s Sources) String() string {
	switch s {
	case Statistics:
		return "statistics"
	case BloomFilters:
		return "Bloom filters"
	case Dictionaries:
		return "value dictionary"
	case RangeIndexes:
		return "range index"
	}
	return "several sources"
}

// stripeFilter is a filter in one stripe: which rows it may be true for, and how to
// find out.
type stripeFilter struct {
	shard   *Shard
	pred    *predicate
	stripe  *shardfile.Stripe
	disable Sources

	columns []stripeColumn
	bytes   func() (storage.Prefetched, error) // reads once what opening the columns takes
	facts   []filter.Facts
	leaves  map[*filter.Node]*leafCodes
	only    []onlyEntry
	order   map[*filter.Node][]*filter.Node // of and and or: what costs least first

	maybe rowset.Set // rows that the filter may be true for
	sure  rowset.Set // those among them that it is true for
	steps []StepExplanation
}

// stripeColumn is a column of a filter in a stripe.
type stripeColumn struct {
	*predicateColumn
	descriptor *shardpb.FieldDescriptor
	direct     bool // no struct on the way is null: the column alone tells
	mu         sync.Mutex
	reader     *read.Column
}

// read is the column to open.
func (c *stripeColumn) read() *arrowmap.Column {
	if c.direct {
		return c.leaf()
	}
	return &c.top
}

// leafCodes tells for each entry of a value dictionary whether a leaf wants it.
type leafCodes struct {
	keep    []byte
	verdict filter.Verdict
}

// onlyEntry is the one entry of a dictionary that a column of the filter has in all
// rows for which that is true.
type onlyEntry struct{ column, entry int }

// newStripeFilter asks the sources one after the other, until nothing is left to
// look for.
func newStripeFilter(ctx context.Context, st *openStripe) (*stripeFilter, error) {
	pred := st.sc.filter
	f := &stripeFilter{shard: st.sc.shard, pred: pred, stripe: st.stripe, disable: st.sc.o.Disable, leaves: map[*filter.Node]*leafCodes{}}
	f.bytes = sync.OnceValues(func() (storage.Prefetched, error) {
		columns := make([]arrowmap.Column, len(f.columns))
		for i := range columns {
			columns[i] = *f.columns[i].read()
		}
		return st.fetchToOpen(ctx, columns, read.ToFilter)
	})
	f.facts = make([]filter.Facts, len(pred.columns))
	f.columns = make([]stripeColumn, len(pred.columns))
	for i := range pred.columns {
		f.columns[i].predicateColumn = &pred.columns[i]
	}
	f.maybe = rowset.All(f.stripe.Rows())
	f.rank(pred.bound.Root())
	if done, err := f.askShard(ctx); done || err != nil {
		return f, err
	}
	if err := st.sc.readLists(ctx, st.index); err != nil {
		return nil, err
	}
	for _, step := range []struct {
		source Sources
		ask    func(context.Context) (note string, err error)
	}{{Statistics, f.askStatistics}, {BloomFilters, f.askBloom}, {Dictionaries, f.askDictionaries}, {RangeIndexes, f.askPages}} {
		note := ""
		if step.source == Statistics || f.disable&step.source == 0 {
			var err error
			if note, err = step.ask(ctx); err != nil {
				return nil, err
			}
		}
		done := f.decided()
		if note != "" || done {
			f.trace(step.source, note)
		}
		if done {
			break
		}
	}
	return f, nil
}

// askShard tells whether the statistics of the shard leave nothing to look for.
func (f *stripeFilter) askShard(ctx context.Context) (done bool, err error) {
	if f.disable&Statistics != 0 {
		return false, nil
	}
	v, err := f.pred.askShard(ctx, f.shard)
	if done = err == nil && f.settles(v); done {
		f.trace(Statistics, "of the shard")
	}
	return done, err
}

// decided tells whether nothing is left to look for.
func (f *stripeFilter) decided() bool {
	return f.settles(f.verdict(f.pred.bound.Root(), f.facts)) || f.maybe.Empty()
}

// settles takes a verdict on all rows, and tells whether it leaves nothing to look for.
func (f *stripeFilter) settles(v filter.Verdict) bool {
	switch v {
	case filter.None:
		f.maybe, f.sure = rowset.Set{}, rowset.Set{}
	case filter.All:
		f.sure = f.maybe
	default:
		return false
	}
	return true
}

// verdict is what is known of a node: by the facts, and for leaves by the entries of
// a dictionary.
func (f *stripeFilter) verdict(n *filter.Node, facts []filter.Facts) filter.Verdict {
	decides, verdict := filter.None, filter.All
	switch n.Kind {
	case filter.NodeOr:
		decides, verdict = filter.All, filter.None
	case filter.NodeAnd:
	default:
		if c := f.leaves[n]; c != nil && c.verdict != filter.Some {
			return c.verdict
		}
		return n.Prune(facts)
	}
	for _, k := range n.Nodes {
		switch v := f.verdict(k, facts); v {
		case decides:
			return v
		case filter.Some:
			verdict = filter.Some
		}
	}
	return verdict
}

// askStatistics reads the descriptors of the columns; without the source it takes
// from them only how the columns are stored.
func (f *stripeFilter) askStatistics(ctx context.Context) (note string, err error) {
	var ids []uint32
	for i := range f.columns {
		ids = appendIDs(ids, &f.columns[i].top)
	}
	if err := f.stripe.Prefetch(ctx, ids); err != nil {
		return "", err
	}
	for i := range f.columns {
		c := &f.columns[i]
		nodes := make([]*shardpb.FieldDescriptor, len(c.nodes))
		c.direct = true
		for k, n := range c.nodes {
			d, err := f.stripe.Descriptor(ctx, n.ID)
			if err != nil {
				return "", err
			}
			nodes[k] = d.GetField()
			if k < len(c.nodes)-1 {
				nulls, known := nullsOf(nodes[k])
				c.direct = c.direct && nodes[k] != nil && known && nulls == 0
			}
		}
		c.descriptor = nodes[len(nodes)-1]
		if f.disable&Statistics == 0 {
			f.facts[i] = factsOf(c.leaf(), nodes)
		}
	}
	if f.disable&Statistics != 0 {
		return "", nil
	}
	return "of the stripe", nil
}

func (f *stripeFilter) askBloom(context.Context) (note string, err error) {
	for i := range f.columns {
		c := &f.columns[i]
		if f.facts[i].MayHold = bloomOf(c.leaf(), c.descriptor); f.facts[i].MayHold != nil {
			note = "of byte strings"
		}
	}
	return note, nil
}

// askDictionaries evaluates leaves once for each entry of a value dictionary.
func (f *stripeFilter) askDictionaries(ctx context.Context) (note string, err error) {
	var leaves []*filter.Node
	var visit func(n *filter.Node)
	visit = func(n *filter.Node) {
		if n.Kind == filter.NodeLeaf && f.verdict(n, f.facts) == filter.Some {
			leaves = append(leaves, n)
		}
		for _, k := range n.Nodes {
			visit(k)
		}
	}
	visit(f.pred.bound.Root())
	for _, n := range leaves {
		c := &f.columns[n.Column]
		if !c.direct || c.descriptor.GetDictionarySize() == 0 || int64(c.descriptor.GetDictionarySize()) > f.stripe.Rows()/2 {
			continue
		}
		codes, err := f.codes(ctx, n)
		if err != nil {
			return "", err
		}
		f.leaves[n] = codes
	}
	f.findOnly(f.pred.bound.Root())
	return f.kept(leaves), nil
}

// findOnly looks at what must be true of all rows: a leaf, or those of an and.
func (f *stripeFilter) findOnly(n *filter.Node) {
	if c := f.leaves[n]; c != nil && len(f.columns[n.Column].nodes) == 1 {
		if first := bytes.IndexByte(c.keep, 1); first >= 0 && bytes.IndexByte(c.keep[first+1:], 1) < 0 {
			f.only = append(f.only, onlyEntry{n.Column, first})
		}
	}
	if n.Kind == filter.NodeAnd {
		for _, k := range n.Nodes {
			f.findOnly(k)
		}
	}
}

// codes evaluates a leaf on the entries of its column's dictionary, nil if there is
// none after all.
func (f *stripeFilter) codes(ctx context.Context, n *filter.Node) (*leafCodes, error) {
	r, err := f.reader(ctx, n.Column)
	if err != nil {
		return nil, err
	}
	entries, err := r.Entries(ctx)
	if entries == nil || err != nil {
		return nil, err
	}
	columns := make([]arrow.Array, len(f.columns))
	columns[n.Column] = entries
	bits, err := n.Eval(nil, columns, entries.Len())
	if err != nil {
		return nil, err
	}
	c := &leafCodes{keep: make([]byte, entries.Len())}
	kept := 0
	for i := range c.keep {
		c.keep[i] = bits[i/8] >> (i % 8) & 1
		kept += int(c.keep[i])
	}
	switch kept {
	case 0:
		c.verdict = filter.None
	case len(c.keep):
		c.verdict = filter.All
	}
	return c, nil
}

// reader opens a column of the filter, so that its arrays are those to evaluate if
// it is direct.
func (f *stripeFilter) reader(ctx context.Context, i int) (*read.Column, error) {
	c := &f.columns[i]
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reader != nil {
		return c.reader, nil
	}
	var err error
	c.reader, err = f.shard.openColumn(ctx, f.stripe.Index(), c.read(), true, f.bytes)
	return c.reader, err
}

// unsure are the rows whose values tell.
func (f *stripeFilter) unsure() rowset.Set {
	if f.sure.Empty() {
		return f.maybe
	}
	return f.maybe.And(f.sure.Not(f.stripe.Rows()))
}

// opened notes which columns of the filter were opened.
func (f *stripeFilter) opened(stats *scanStats) {
	if stats == nil {
		return
	}
	for i := range f.columns {
		c := &f.columns[i]
		c.mu.Lock()
		if c.reader != nil {
			stats.open(f.stripe.Index(), c.top.ID, c.reader)
		}
		c.mu.Unlock()
	}
}

// askPages holds the filter against the bounds of every numrange.BlockLen rows.
func (f *stripeFilter) askPages(ctx context.Context) (note string, err error) {
	pages := make([]*pageFacts, len(f.columns))
	some := false
	opened, err := f.bytes()
	if err != nil {
		return "", err
	}
	for i := range f.columns {
		p, err := read.OpenPages(ctx, f.stripe, *f.columns[i].leaf(), opened)
		if err != nil {
			return "", err
		}
		if p != nil {
			pages[i], some = newPageFacts(p, f.columns[i].direct), true
		}
	}
	if !some {
		return "", nil
	}
	rows := f.stripe.Rows()
	facts := slices.Clone(f.facts)
	verdict := func(k int64) (page rowset.Range, v filter.Verdict) {
		page = rowset.Range{From: k * numrange.BlockLen, To: min((k+1)*numrange.BlockLen, rows)}
		for i, p := range pages {
			if p != nil {
				p.put(&facts[i], &f.facts[i], int(k), int(page.Len()))
			}
		}
		return page, f.verdict(f.pred.bound.Root(), facts)
	}
	n := (rows + numrange.BlockLen - 1) / numrange.BlockLen
	if step := n/sampledPages | 1; step > 1 && decidesNothing(n, step, verdict) {
		return fmt.Sprintf("bounds of every %d rows, which decide nothing for one in %d", numrange.BlockLen, step), nil
	}
	var maybe, sure []rowset.Range
	for k := range n {
		switch page, v := verdict(k); v {
		case filter.Some:
			maybe = append(maybe, page)
		case filter.All:
			maybe = append(maybe, page)
			sure = append(sure, page)
		}
	}
	f.maybe, f.sure = rowset.Of(maybe...), rowset.Of(sure...)
	return fmt.Sprintf("bounds of every %d rows", numrange.BlockLen), nil
}

// sampledPages is about how many pages of a stripe are looked at first: where all of
// those leave open whether a row is wanted, hardly any other does not.
const sampledPages = 256

// decidesNothing tells that of n pages one in step excludes no row, nor chooses one.
func decidesNothing(n, step int64, verdict func(k int64) (rowset.Range, filter.Verdict)) bool {
	for k := int64(0); k < n; k += step {
		if _, v := verdict(k); v != filter.Some {
			return false
		}
	}
	return true
}

// pageFacts are the facts of the pages of a column.
type pageFacts struct {
	n       int // pages
	lo, hi  func(page int) filter.Limit
	invalid []uint16
	direct  bool
}

func newPageFacts(p *read.Pages, direct bool) *pageFacts {
	f := &pageFacts{lo: limitsOf(p.Lo), hi: limitsOf(p.Hi), invalid: p.Invalid, direct: direct}
	if f.lo != nil && f.hi != nil {
		f.n = p.Lo.Len()
	}
	return f
}

// put narrows the facts of a stripe down to page k of n rows.
func (p *pageFacts) put(page, whole *filter.Facts, k, n int) {
	*page = *whole
	if k >= p.n {
		return
	}
	page.Min, page.Max = p.lo(k), p.hi(k)
	invalid := 0
	if p.invalid != nil {
		invalid = int(p.invalid[k])
	}
	if invalid == 0 {
		page.NoNulls = page.NoNulls || p.direct
		page.NoNaNs = true
	}
	page.NoValues = page.NoValues || invalid == n
}

// rank finds in which order to evaluate the nodes of an and or or.
func (f *stripeFilter) rank(n *filter.Node) int {
	if n.Kind != filter.NodeAnd && n.Kind != filter.NodeOr {
		return leafRank(n)
	}
	ranks := map[*filter.Node]int{}
	most := 0
	for _, k := range n.Nodes {
		ranks[k] = f.rank(k)
		most = max(most, ranks[k])
	}
	list := slices.Clone(n.Nodes)
	slices.SortStableFunc(list, func(a, b *filter.Node) int { return cmp.Compare(ranks[a], ranks[b]) })
	if f.order == nil {
		f.order = map[*filter.Node][]*filter.Node{}
	}
	f.order[n] = list
	return most
}

// leafRank is how much a leaf costs, compared with others.
func leafRank(n *filter.Node) int {
	switch n.Test.(type) {
	case filter.Nulls, filter.Bools, filter.Ints, filter.Uints, filter.Floats:
		return 0
	case filter.Decimals:
		return 1
	case filter.Bytes:
		return 2
	case *filter.Text:
		return 4
	}
	return 3
}
