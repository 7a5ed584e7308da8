package inspect

import (
	"context"
	"maps"
	"slices"
	"strings"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/table/provider"
)

// summary is a schema node in several stripes.
type summary struct {
	node
	field     *shardpb.FieldDescriptor // of the shard; may be nil
	values    distinctSet
	bytes     int64
	encodings []share
	varies    bool // not constant in every stripe
}

// sizes lists the columns of the selected stripes: the statistics of the shard, stored sizes and encodings.
func (in *inspector) sizes(ctx context.Context) error {
	in.Lists = nil
	list, columns := make([]*summary, len(in.nodes)), int64(0)
	for i, n := range in.nodes {
		f, err := in.file.FieldDescriptor(ctx, n.ID())
		if err != nil {
			return err
		}
		list[i] = &summary{node: n, field: f}
	}
	ahead, err := in.readAhead(ctx, blocks.Whole)
	if err != nil {
		return err
	}
	defer in.file.Hold(nil)
	for i := range in.stripes() {
		for k, s := range list {
			c, err := in.aheadColumn(ctx, ahead, i, k)
			if err != nil {
				return err
			}
			s.add(&c)
			columns += c.bytes
		}
	}
	in.AddFact("rows", in.file.Rows())
	if n := in.file.Directory().GetDeletedRecordCount(); n > 0 {
		in.AddFact("deleted rows", n) // whose values count here
	}
	in.AddFact("bytes", in.total)
	in.AddFact("column bytes", columns)
	if len(in.o.Columns) == 0 && len(in.o.Groups) == 0 {
		in.AddFact("other bytes", in.total-columns)
	}
	in.summaries(list)
	return nil
}

// add adds a stripe. Buffers without blocks have the name of their kind in place of an encoding.
func (s *summary) add(c *column) {
	s.bytes += c.bytes
	s.values.merge(&c.values)
	s.varies = s.varies || !c.constant()
	for _, b := range c.buffers {
		name := ""
		if kind := b.stored.GetKind(); kind != shardpb.BufferKind_DATA && kind != shardpb.BufferKind_OFFSETS {
			name = strings.ToLower(strings.ReplaceAll(b.kind, "_", " "))
		}
		if name != "" || len(b.encodings) == 0 {
			s.encodings = addShare(s.encodings, share{encoding: name, bytes: b.bytes})
			continue
		}
		for _, e := range b.encodings {
			s.encodings = addShare(s.encodings, e)
		}
	}
	sortShares(s.encodings)
}

// summaries lists columns. With a detail, their statistics of single types, too.
func (in *inspector) summaries(list []*summary) {
	names := []string{"column", "type", "nulls", "distinct", "stored nulls", "stored distinct", "min", "max", "bytes", "share", "bits per value", "encodings"}
	details := make([]map[string]any, len(list))
	if in.o.Detail > 0 {
		more := map[string]bool{}
		for i, s := range list {
			details[i] = detailsOf(s.field)
			for name := range details[i] {
				more[name] = true
			}
		}
		names = append(names, slices.Sorted(maps.Keys(more))...)
	}
	add := in.AddList("columns", names...)
	for i, s := range list {
		row := s.cells(in.total, in.file.Directory().GetDeletedRecordCount() > 0)
		for _, name := range names[len(row):] {
			row = append(row, details[i][name])
		}
		add(row...)
	}
}

// cells are those of a list. deleted are rows of the shard.
func (s *summary) cells(total int64, deleted bool) []any {
	f, d, nulls := s.field, distinct{}, any(nil)
	if f != nil {
		d, nulls = distinctOf(f), known(f.NullCount)
	}
	if exact, ok := s.values.count(); ok {
		d = exact
	}
	var encodings []provider.Fact
	for _, e := range s.encodings {
		encodings = append(encodings, provider.Fact{Name: e.encoding, Value: e.bytes})
	}
	if !s.varies && f.GetPositionCount() > 0 {
		encodings = []provider.Fact{{Name: "constant", Value: s.bytes}}
	}
	row := append([]any{s.path, s.arrowType()}, valueCells(s.Node, f, nulls, d, deleted)...)
	return append(row, s.bytes, provider.ShareOf(s.bytes, total), bitsPerValue(s.bytes, f.GetPositionCount()), encodings)
}

// arrowType is the Arrow type of the node without its children, or the stored type if there is no Arrow type.
func (s *summary) arrowType() string {
	col, err := arrowmap.ColumnOf(s.Node, arrowmap.ReadOptions{})
	if err != nil {
		return storedType(s.Node)
	}
	name := text.Type(col.Arrow.Type)
	if s.NumChildren() > 0 {
		name, _, _ = strings.Cut(name, "<")
	}
	return name
}

// detailsOf are the statistics that not all columns have.
func detailsOf(f *shardpb.FieldDescriptor) map[string]any {
	if f == nil {
		return nil
	}
	d := map[string]any{"positions": f.GetPositionCount(), "raw bytes": f.GetRawDataSize()}
	optional := func(name string, v *uint64) {
		if v != nil {
			d[name] = *v
		}
	}
	optional("dictionary size", f.DictionarySize)
	if b := f.GetMembershipFilters().GetSbbf(); b != nil {
		d["bloom filter bytes"], d["bloom filter values"] = len(b.GetData()), b.GetNumValues()
	}
	switch t := f.GetTypeSpecific().(type) {
	case *shardpb.FieldDescriptor_StringStats:
		d["min bytes"], d["max bytes"] = t.StringStats.GetMinSize(), t.StringStats.GetMaxSize()
		optional("min non-empty bytes", t.StringStats.MinNonEmptySize)
		optional("ascii values", t.StringStats.AsciiCount)
	case *shardpb.FieldDescriptor_BinaryStats:
		d["min bytes"], d["max bytes"] = t.BinaryStats.GetMinLength(), t.BinaryStats.GetMaxLength()
		optional("min non-empty bytes", t.BinaryStats.MinNonEmptyLength)
	case *shardpb.FieldDescriptor_ListStats:
		d["min items"], d["max items"] = t.ListStats.GetMinLength(), t.ListStats.GetMaxLength()
		optional("min non-empty items", t.ListStats.MinNonEmptyLength)
	case *shardpb.FieldDescriptor_BooleanStats:
		d["true"], d["false"] = t.BooleanStats.GetTrueCount(), t.BooleanStats.GetFalseCount()
	case *shardpb.FieldDescriptor_DecimalStats:
		x := t.DecimalStats
		d["zero"], d["positive"], d["negative"], d["nan"] = x.GetZeroCount(), x.GetPositiveCount(), x.GetNegativeCount(), x.GetNanCount()
	case *shardpb.FieldDescriptor_FloatingStats:
		x := t.FloatingStats
		d["zero"], d["positive"], d["negative"], d["nan"] = x.GetZeroCount(), x.GetPositiveCount(), x.GetNegativeCount(), x.GetNanCount()
		d["inf"], d["negative inf"] = x.GetPositiveInfinityCount(), x.GetNegativeInfinityCount()
	}
	return d
}
