// Package tree reads TTrees, the tables of ROOT before RNTuple.
//
// A tree is an object in a ROOT file: streamer information describes the classes of its metadata, among them the branches, which are its columns.
// The values of some consecutive entries of a branch are a basket, a record of its own:
//
//	TTree ── branch ── key │ values of the entries │ number of offsets, offsets      a record for each basket, packed
//	           └── branch ── …
//
// Entries without offsets are all of one size. Numbers are big-endian.
package tree

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/source"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/projection"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/storage"
)

// Options are those of [Open]. The zero value is the default.
type Options struct {
	Binary     bool  // strings are read as binary
	CacheBytes int64 // of unpacked baskets that batches share; default 64 MiB
}

// Table is a tree as a [table.Table]. It may be used by many goroutines at once.
type Table struct {
	file    *rootfile.File
	name    string
	entries int64
	tops    []*field
	fields  []*field
	arrow   *arrow.Schema
	stripes []int64 // first entries, and the number of entries
	baskets *lru.Cache[basketKey, *basket]
	skipped []Skipped
}

// Open reads the metadata of a tree.
func Open(ctx context.Context, file *rootfile.File, object rootfile.Object, o Options) (_ *Table, err error) {
	t := &Table{file: file, name: object.Path(), baskets: lru.New[basketKey, *basket](cmp.Or(o.CacheBytes, 64<<20))}
	defer func() { err = t.located(err) }()
	defer fault.Recover(&err)
	key, info, err := file.StreamerInfo(ctx)
	if err != nil {
		return nil, err
	}
	all, err := parseClasses(info, key.HeaderSize)
	if err != nil {
		return nil, fault.In(err, "streamer info", key.Offset)
	}
	payload, err := file.Payload(ctx, object.Key)
	if err != nil {
		return nil, err
	}
	r := newReader(payload, object.Key.HeaderSize, all)
	tree, _ := r.value(object.Key.Class).(*classObject)
	if r.err != nil {
		return nil, r.err
	}
	if t.entries = tree.int("fEntries"); t.entries < 0 {
		return nil, fault.Corruptf("%d entries", t.entries)
	}
	b := builder{tree: r, o: o, entries: t.entries, visited: map[*classObject]bool{}}
	if t.tops, err = b.fields(tree.objects("fBranches"), ""); err != nil {
		return nil, err
	}
	t.skipped = b.skipped
	if t.tops, err = t.readable(ctx, t.tops); err != nil {
		return nil, err
	}
	fs := make([]arrow.Field, len(t.tops))
	for i, f := range t.tops {
		t.number(f)
		fs[i] = f.Field
	}
	meta := arrow.NewMetadata([]string{"ttree.name", "ttree.title"}, []string{tree.text("fName"), strings.ToValidUTF8(tree.text("fTitle"), "?")})
	t.arrow = arrow.NewSchema(fs, &meta)
	t.divide()
	return t, nil
}

// readable leaves out branches of whole objects whose first basket has something else: classes may have streamers of their own, which a file does not
// describe. A basket that is damaged is left to those who read it.
func (t *Table) readable(ctx context.Context, all []*field) (kept []*field, err error) {
	for _, f := range all {
		if f.kind == split {
			if f.kids, err = t.readable(ctx, f.kids); err != nil {
				return nil, err
			}
			f.Type = structOf(f.kids)
		} else if f.perhaps && len(f.branch.baskets) > 0 {
			b, err := t.basket(ctx, f.branch, 0, &table.ReadOptions{})
			if err != nil && !fault.Is(err) {
				return nil, err
			}
			if err == nil {
				if err := decode(f, 0, b); err != nil {
					t.skipped = append(t.skipped, Skipped{f.branch.name, fmt.Sprintf("objects that are not stored as their class is described (%v)", err)})
					continue
				}
			}
		}
		kept = append(kept, f)
	}
	return kept, nil
}

func (t *Table) located(err error) error {
	return fault.Of(fault.In(err, fmt.Sprintf("tree %q", t.name), -1), t.file.Name())
}

// number gives numbers to a field and those below it.
func (t *Table) number(f *field) {
	f.id = uint32(len(t.fields))
	t.fields = append(t.fields, f)
	for _, k := range f.kids {
		t.number(k)
	}
}

// branches are those of a field.
func (f *field) branches(c *table.Column, all []*branch) []*branch {
	if f.branch != nil {
		return append(all, f.branch)
	}
	for _, k := range f.kids {
		if c == nil {
			all = k.branches(nil, all)
		} else if i := slices.IndexFunc(c.Children, func(c table.Column) bool { return c.ID == k.id }); i >= 0 {
			all = k.branches(&c.Children[i], all)
		}
	}
	return all
}

// divide makes stripes: they end where baskets of all branches do.
func (t *Table) divide() {
	ends := map[int64]int{}
	var all []*branch
	for _, f := range t.tops {
		all = f.branches(nil, all)
	}
	for _, br := range all {
		for i, b := range br.baskets {
			if b.first > 0 && b.first < b.last && (i == 0 || br.baskets[i-1].first < b.first) {
				ends[b.first]++
			}
		}
	}
	t.stripes = []int64{0}
	for end, n := range ends {
		if n == len(all) {
			t.stripes = append(t.stripes, end)
		}
	}
	if slices.Sort(t.stripes); t.entries > 0 {
		t.stripes = append(t.stripes, t.entries)
	}
}

// Skipped are the branches that are left out.
func (t *Table) Skipped() []Skipped { return t.skipped }

// Prepare has as many entries decoded at a time as memory allows, up to a stripe: a basket that is wanted in part is unpacked as a whole.
func (t *Table) Prepare(ctx context.Context, o scan.Options) (scan.Options, error) {
	p, err := t.Project(ctx, o.Columns)
	if err != nil {
		return o, err
	}
	filter, err := t.ProjectTops(ctx, o.Filter.Columns())
	if err != nil {
		return o, err
	}
	perRow := int64(1)
	for _, columns := range [][]table.Column{p.Columns, filter.Columns} {
		for i := range columns {
			perRow += t.valueBytes(&columns[i])
		}
	}
	o.MemoryLimit = cmp.Or(o.MemoryLimit, defaultMemory)
	longest := int64(0)
	for i := range t.NumStripes() {
		longest = max(longest, t.Stripe(i).Rows())
	}
	o.DecodeRows = max(min(longest, o.MemoryLimit/4/perRow), 1)
	o.DecodeBytes = o.DecodeRows * perRow
	return o, nil
}

// Check decodes all baskets, and calls done with the error of each, or nil. An error of done ends it.
func (t *Table) Check(ctx context.Context, done func(err error) error) error {
	for _, f := range t.fields {
		if f.branch == nil {
			continue
		}
		for i := range f.branch.baskets {
			b, err := t.basket(ctx, f.branch, i, &table.ReadOptions{})
			if err == nil {
				err = decode(f, i, b)
			}
			if err := done(t.located(err)); err != nil {
				return err
			}
		}
	}
	return nil
}

// decode decodes all entries of a basket, to find out whether that is possible.
func decode(f *field, i int, b *basket) (err error) {
	defer fault.Recover(&err)
	at := f.branch.baskets[i]
	if at.first == at.last {
		return nil
	}
	return f.branch.in(newValues(f).entries(b, 0, int(at.last-at.first)), i)
}

const defaultMemory = 512 << 20

// NumRows implements [table.Table].
func (t *Table) NumRows() int64 { return t.entries }

// NumStripes implements [table.Table].
func (t *Table) NumStripes() int { return len(t.stripes) - 1 }

// Stripe implements [table.Table].
func (t *Table) Stripe(i int) table.Stripe { return stripe{table: t, index: i} }

// StoredBytes implements [table.Table].
func (t *Table) StoredBytes() int64 { return t.file.Size() }

// NumNodes implements [table.Table].
func (t *Table) NumNodes() int { return len(t.fields) }

// Latency implements [table.Table].
func (t *Table) Latency() storage.Latency { return t.file.Reader().Capabilities().Latency }

// Project implements [table.Table].
func (t *Table) Project(_ context.Context, paths []string) (*table.Projection, error) {
	return table.ProjectFields(t.arrow, paths, func(i int, part *projection.Part) table.Column { return t.tops[i].column(part) })
}

// column is the part of a field that is wanted.
func (f *field) column(p *projection.Part) table.Column {
	c := table.Column{Arrow: f.Field, ID: f.id}
	c.Arrow.Type = p.Type(f.Type)
	c.Plain = c.Arrow.Type
	if f.kind == parts || f.kind == split {
		shown := f.shown(nil)
		for _, i := range p.Children(len(shown)) {
			c.Children = append(c.Children, shown[i].column(p.Child(i)))
		}
	} else if len(f.kids) > 0 {
		c.Children = []table.Column{f.kids[0].column(p.Child(0))}
	}
	return c
}

// shown are the children of a field, those of base classes in their place.
func (f *field) shown(all []*field) []*field {
	for _, k := range f.kids {
		if k.hidden {
			all = k.shown(all)
		} else {
			all = append(all, k)
		}
	}
	return all
}

// ProjectTops implements [table.Table].
func (t *Table) ProjectTops(ctx context.Context, paths []string) (*table.Projection, error) {
	return table.ProjectTops(ctx, t, paths, table.UniqueIn(t.arrow))
}

// Facts implements [table.Table]: a tree has no statistics, and no nulls.
func (t *Table) Facts(context.Context, []*table.Column) (predicate.Facts, error) {
	return predicate.Facts{NoNulls: true}, nil
}

// PhysicalType implements [table.Table].
func (t *Table) PhysicalType(c *table.Column) (arrow.DataType, bool) { return c.Arrow.Type, true }

// Logical implements [table.Table].
func (t *Table) Logical(_ memory.Allocator, physical arrow.Array, _ *table.Column) (arrow.Array, error) {
	physical.Retain()
	return physical, nil
}

// PrefetchStripes implements [table.Table]: Open has read all places.
func (t *Table) PrefetchStripes(context.Context, []int) error { return nil }

// NewCounters implements [table.Table].
func (t *Table) NewCounters() table.Counters { return table.NewBlockCounters[basketKey]() }

// Requests implements [table.Table].
func (t *Table) Requests() table.Requests {
	if c, ok := t.file.Source().(*table.Counted); ok {
		return c.Requests()
	}
	return table.Requests{}
}

// valueBytes estimates the bytes of an entry of a column: twice those that are stored.
func (t *Table) valueBytes(c *table.Column) int64 {
	n := int64(0)
	for _, br := range t.fields[c.ID].branches(c, nil) {
		for _, b := range br.baskets {
			n += min(b.size, math.MaxInt64/2-n)
		}
	}
	return 2*n/max(t.entries, 1) + 8
}

// stripe is a [table.Stripe].
type stripe struct {
	table.PlainStripe
	table *Table
	index int
}

func (s stripe) Index() int      { return s.index }
func (s stripe) Position() int64 { return s.table.stripes[s.index] }
func (s stripe) Rows() int64     { return s.table.stripes[s.index+1] - s.Position() }

func (s stripe) Metadata(context.Context, []*table.Column) (source.Metadata, error) {
	return source.Metadata{Facts: predicate.Facts{NoNulls: true}, Direct: true}, nil
}

func (s stripe) ValueBytes(_ context.Context, c *table.Column) int64 { return s.table.valueBytes(c) }

// RangesToOpen implements [table.Stripe]: opening a column reads nothing.
func (s stripe) RangesToOpen(_ context.Context, columns []table.Column, parts table.Parts, limit int64) (ranges []storage.ByteRange, err error) {
	if parts != table.AllValues {
		return nil, nil
	}
	for i := range columns {
		c := columnReader{s, &columns[i]}
		ranges = append(ranges, c.AppendRanges(nil, rowset.All(s.Rows()))...)
	}
	return slices.DeleteFunc(ranges, func(r storage.ByteRange) bool { return r.Size > limit }), nil
}

func (s stripe) Open(_ context.Context, c *table.Column, _ bool, _ func() (storage.Prefetched, error)) (table.ColumnReader, error) {
	return &columnReader{s, c}, nil
}

// columnReader is a column in a stripe.
type columnReader struct {
	stripe stripe
	column *table.Column
}

func (r *columnReader) ReadPhysical(ctx context.Context, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	return r.Read(ctx, rows, o)
}

func (r *columnReader) Read(ctx context.Context, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	t := r.stripe.table
	own := *o
	if missing := own.Prefetched.Missing(r.AppendRanges(nil, rows)); len(missing) > 1 {
		more, err := storage.Prefetch(ctx, missing, storage.DefaultCoalesce(t.Latency()))
		if err != nil {
			return nil, t.located(err)
		}
		own.Prefetched = append(slices.Clip(own.Prefetched), more...)
	}
	data, err := r.data(ctx, t.fields[r.column.ID], r.column, rows, &own)
	if err != nil {
		return nil, t.located(err)
	}
	defer data.Release()
	return array.MakeFromData(data), nil
}

// data are the rows of a field, with the children that a column has.
func (r *columnReader) data(ctx context.Context, f *field, c *table.Column, rows rowset.Set, o *table.ReadOptions) (_ arrow.ArrayData, err error) {
	if f.kind == split {
		var kids []arrow.ArrayData
		defer func() {
			for _, k := range kids {
				k.Release()
			}
		}()
		for i := range c.Children {
			kid, err := r.data(ctx, r.stripe.table.fields[c.Children[i].ID], &c.Children[i], rows, o)
			if err != nil {
				return nil, err
			}
			kids = append(kids, kid)
		}
		return array.NewData(c.Arrow.Type, int(rows.Len()), []*memory.Buffer{nil}, kids, 0, 0), nil
	}
	defer fault.Recover(&err)
	v := newValues(f)
	br := f.branch
	for at := range rows.Ranges() {
		at.From, at.To = at.From+r.stripe.Position(), at.To+r.stripe.Position()
		from, to := br.of(at)
		for i := from; i < to; i++ {
			b, err := r.stripe.table.basket(ctx, br, i, o)
			if err != nil {
				return nil, err
			}
			first, last := br.baskets[i].first, br.baskets[i].last
			if first == last {
				continue
			}
			if err := v.entries(b, int(max(at.From, first)-first), int(min(at.To, last)-first)); err != nil {
				return nil, br.in(err, i)
			}
			if o.MaxArrayBytes > 0 && v.bytes() > o.MaxArrayBytes {
				return nil, fault.ErrBatchTooLarge
			}
		}
	}
	return v.array(c), nil
}

// AppendRanges implements [table.ColumnReader].
func (r *columnReader) AppendRanges(dst []storage.ByteRange, rows rowset.Set) []storage.ByteRange {
	t := r.stripe.table
	for _, br := range t.fields[r.column.ID].branches(r.column, nil) {
		next := 0
		for at := range rows.Ranges() {
			from, to := br.of(rowset.Range{From: at.From + r.stripe.Position(), To: at.To + r.stripe.Position()})
			for i := max(from, next); i < to; i++ {
				b := br.baskets[i]
				if b.object == nil && storage.CheckRange(b.offset, b.size, t.file.Size()) == nil && !t.baskets.Has(basketKey{br, i}) {
					dst = append(dst, storage.ByteRange{Reader: t.file.Reader(), Offset: b.offset, Size: b.size})
				}
			}
			next = max(next, to)
		}
	}
	return dst
}

func (r *columnReader) Blocks() (n int64) {
	all := rowset.Range{From: r.stripe.Position(), To: r.stripe.Position() + r.stripe.Rows()}
	for _, br := range r.stripe.table.fields[r.column.ID].branches(r.column, nil) {
		from, to := br.of(all)
		n += int64(to - from)
	}
	return n
}
