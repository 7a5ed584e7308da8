package shardtable

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"slices"
	"strings"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/source"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/shard/internal/index"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/storage"
)

// Index is an index of the shard, or of a stripe.
type Index struct {
	Descriptor *shardpb.IndexDescriptor
	Kind       index.Kind // nil if this version does not know it
	Stripe     int        // whose index it is, or fault.None for one of the shard
	Rows       rowset.Range

	file   *shardfile.File
	failed func(error) // of Options.IndexError
	opened parallel.Once[opened]
}

// opened is an index, or the error of its damage.
type opened struct {
	index index.Index
	err   error
}

// Open opens the index, once.
func (x *Index) Open(ctx context.Context) (index.Index, error) {
	o, err := x.opened.Get(ctx, func() (opened, error) {
		i, err := x.open(ctx)
		if isDamage(err) {
			return opened{err: err}, nil
		}
		return opened{index: i}, err
	})
	return o.index, cmp.Or(o.err, err)
}

func (x *Index) open(ctx context.Context) (index.Index, error) {
	if x.Kind == nil {
		return nil, fault.Unsupportedf("index of the type %q", x.Descriptor.GetIndexType())
	}
	var artifacts []storage.ByteRange
	for _, a := range x.Descriptor.GetArtifacts() {
		r, err := x.file.IndexArtifact(ctx, x.Stripe, a.GetDataRef())
		if err != nil {
			return nil, err
		}
		artifacts = append(artifacts, r)
	}
	opened, err := x.Kind.Open(ctx, x.Descriptor, artifacts, x.Rows.Len())
	if err == nil {
		err = index.CheckIdentity(x.Descriptor, opened)
	}
	if err != nil {
		return nil, x.in(err, artifacts)
	}
	return opened, nil
}

// Files are the URLs of the files that only the index is in. Those that cannot be opened are left out.
func (x *Index) Files(ctx context.Context) (urls []string) {
	for _, a := range x.Descriptor.GetArtifacts() {
		r, err := x.file.IndexArtifact(ctx, x.Stripe, a.GetDataRef())
		if err != nil {
			continue
		}
		if url := shardfile.URLOf(r.Reader); strings.HasSuffix(url, shardwriter.IndexSuffix) && !slices.Contains(urls, url) {
			urls = append(urls, url)
		}
	}
	return urls
}

// in adds the artifact to an error, if there is one.
func (x *Index) in(err error, artifacts []storage.ByteRange) error {
	if len(artifacts) == 1 {
		err = fault.Of(err, artifacts[0].Reader.Name())
	}
	return fault.In(err, x.Descriptor.GetIndexType(), -1)
}

// indexList is the indexes of a shard or stripe.
type indexList = parallel.Once[[]*Index]

// Indexes returns the indexes of the whole shard, those of unknown types too.
func (t *Table) Indexes(ctx context.Context) ([]*Index, error) {
	return t.indexes.Get(ctx, func() ([]*Index, error) {
		m, err := t.file.Indexes(ctx)
		return t.describe(m, fault.None, rowset.Range{To: t.NumRows()}), err
	})
}

func (t *Table) describe(m *shardpb.IndexCollection, stripe int, rows rowset.Range) (all []*Index) {
	for _, d := range m.GetIndexDescriptors() {
		all = append(all, &Index{Descriptor: d, Kind: index.ByType(d.GetIndexType()), Stripe: stripe, Rows: rows, file: t.file, failed: t.o.IndexError})
	}
	return all
}

// StripeIndexes returns the indexes of a stripe, those of unknown types too.
func (t *Table) StripeIndexes(ctx context.Context, stripe int) ([]*Index, error) {
	return t.stripeIndexes[stripe].Get(ctx, func() ([]*Index, error) {
		s := t.file.Stripe(stripe)
		m, err := s.Indexes(ctx)
		return t.describe(m, stripe, rowset.Range{From: s.Position(), To: s.Position() + s.Rows()}), err
	})
}

// AllIndexes yields the indexes of the whole shard, then those of each stripe. An error ends it.
func (t *Table) AllIndexes(ctx context.Context) iter.Seq2[*Index, error] {
	return func(yield func(*Index, error) bool) {
		all, err := t.Indexes(ctx)
		for i := 0; ; i++ {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, x := range all {
				if !yield(x, nil) {
					return
				}
			}
			if i == t.NumStripes() {
				return
			}
			all, err = t.StripeIndexes(ctx, i)
		}
	}
}

// Indexes implements [table.Stripe].
func (s tableStripe) Indexes(ctx context.Context, columns []table.FilterColumn, own bool) ([]source.Index, error) {
	all, err := s.table.usable(s.table.StripeIndexes(ctx, s.Index()))
	if err != nil {
		return nil, err
	}
	out := s.table.having(nil, all, columns, 0)
	if own {
		return out, nil
	}
	all, err = s.table.usable(s.table.Indexes(ctx))
	return s.table.having(out, all, columns, s.Position()), err
}

// IndexesOfAll implements [table.Indexed].
func (t *Table) IndexesOfAll(ctx context.Context, columns []table.FilterColumn) ([]source.Index, error) {
	all, err := t.usable(t.Indexes(ctx))
	return t.having(nil, all, columns, 0), err
}

// having appends those indexes that have some of the columns of a filter. first is their row that is the first of the stripe.
func (t *Table) having(out []source.Index, all []*Index, columns []table.FilterColumn, first int64) []source.Index {
	for _, x := range all {
		if x.Kind == nil {
			continue
		}
		for i, f := range x.Descriptor.GetIndexedFields() {
			if parts := columnsIn(f.SchemaIds, columns); parts != nil {
				out = append(out, &fieldIndex{Index: x, table: t, field: i, parts: parts, columns: columns, first: first})
			}
		}
	}
	return out
}

// columnsIn returns, for each column of a field, the columns of a filter that are it or lie in it. It returns nil if there is none for one of them.
func columnsIn(ids []uint32, columns []table.FilterColumn) [][]int {
	parts := make([][]int, len(ids))
	for i, id := range ids {
		for k, column := range columns {
			if slices.ContainsFunc(column.Path, func(c *table.Column) bool { return c.ID == id }) {
				parts[i] = append(parts[i], k)
			}
		}
		if parts[i] == nil {
			return nil
		}
	}
	return parts
}

// usable reports a list of indexes that is damaged, and is as if there were none.
func (t *Table) usable(all []*Index, err error) ([]*Index, error) {
	if !isDamage(err) {
		return all, err
	}
	if t.o.IndexError != nil {
		t.o.IndexError(err)
	}
	return nil, nil
}

// isDamage reports whether an error is about what is stored, and will come again.
func isDamage(err error) bool { return fault.Is(err) || errors.Is(err, fs.ErrNotExist) }

// fieldIndex is a field of an index as a source of a stripe.
type fieldIndex struct {
	*Index
	table   *Table
	field   int
	parts   [][]int              // for each column of the field, columns of the filter that are it or lie in it
	columns []table.FilterColumn // of the filter
	first   int64                // row of the index that is the first of the stripe

	// The last condition that it was asked about: the part that it may know about, the columns of that, and what it costs.
	about  *predicate.Node
	part   index.Condition
	of     []int
	whole  bool
	values int64
}

func (x *fieldIndex) Name() string { return x.Descriptor.GetIndexType() }

// condition returns the part of a condition that the field may know about, and its columns in the filter. whole reports whether that is all
// of the condition.
func (x *fieldIndex) condition(n *predicate.Node) (c index.Condition, columns []int, whole bool) {
	leaves := n.Nodes
	if n.Kind == predicate.NodeLeaf {
		leaves = []*predicate.Node{n}
	}
	c.Field = x.field
	if len(x.parts) == 1 {
		for _, k := range leaves {
			if k.Kind == predicate.NodeLeaf && slices.Contains(x.parts[0], k.Column) {
				columns = append(columns, k.Column)
				c.Parts = append(c.Parts, partOf(x.columns[k.Column], k.Test))
			}
		}
		if n.Kind != predicate.NodeLeaf && len(c.Parts) < 2 {
			return c, nil, false
		}
		slices.Sort(columns)
		return c, slices.Compact(columns), len(c.Parts) == len(leaves)
	}
	if n.Kind == predicate.NodeLeaf {
		return c, nil, false
	}
	for _, among := range x.parts {
		i := slices.IndexFunc(leaves, func(k *predicate.Node) bool { return k.Kind == predicate.NodeLeaf && slices.Contains(among, k.Column) })
		if i < 0 {
			return c, nil, false
		}
		columns = append(columns, leaves[i].Column)
		c.Parts = append(c.Parts, partOf(x.columns[leaves[i].Column], leaves[i].Test))
	}
	return c, columns, len(c.Parts) == len(leaves)
}

func partOf(c table.FilterColumn, test predicate.Test) index.Part {
	p := index.Part{Inside: len(c.Inside), Type: c.Type, Test: test}
	for _, node := range c.Path {
		p.Path = append(p.Path, node.Arrow.Name)
	}
	p.Path = append(p.Path, c.Inside...)
	return p
}

func (x *fieldIndex) Cost(n *predicate.Node) (values int64, columns []int) {
	if x.about != n {
		ok := false
		if x.part, x.of, x.whole = x.condition(n); x.of != nil {
			o, _ := x.opened.Known()
			x.values, ok = x.Kind.Cost(x.Descriptor, o.index, &x.part)
		}
		if x.about = n; !ok {
			x.of = nil
		}
	}
	return x.values, x.of
}

func (x *fieldIndex) Ask(ctx context.Context, n *predicate.Node, among rowset.Set) (source.Answer, error) {
	opened, err := x.Open(ctx)
	var maybe, sure rowset.Set
	if err == nil {
		_, columns := x.Cost(n)
		c := x.part
		if text, ok := n.Test.(*predicate.Text); ok && text.Not {
			facts, err := x.table.Facts(ctx, x.columns[columns[0]].Path) // which the scan reads, too, and which may be damaged
			c.NoNulls = err == nil && facts.NoNulls
		}
		if maybe, sure, err = opened.Ask(ctx, c, among.Shift(x.first)); !x.whole {
			sure = rowset.Set{}
		}
	}
	if err != nil && ctx.Err() == nil && x.failed != nil {
		x.failed(err)
	}
	return source.Answer{Maybe: maybe.Shift(-x.first), True: sure.Shift(-x.first)}, err
}
