package inspect

import (
	"context"
	"slices"
	"sort"
	"strings"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
)

// Summary describes a schema node in all stripes. The names of its fields in JSON are those of amudai stats --json.
type Summary struct {
	ID        uint32  `json:"id"`
	Path      string  `json:"path"`
	Type      string  `json:"type"`
	Positions uint64  `json:"positions"`
	Nulls     *uint64 `json:"nulls,omitempty"`
	Distinct
	Min       any            `json:"min,omitempty"`
	Max       any            `json:"max,omitempty"`
	RawBytes  uint64         `json:"raw_bytes,omitempty"`
	Bytes     int64          `json:"bytes"`
	Encodings []Share        `json:"encodings,omitempty"`
	Details   map[string]any `json:"details,omitempty"`

	Depth            int    `json:"-"` // of the node in the schema, from 0
	Name             string `json:"-"` // of the node, "(item)" for that of lists
	MinText, MaxText string `json:"-"` // bounds of the values as text, "" if there are none
	Varies           bool   `json:"-"` // not constant in every stripe

	values distinctSet
}

// Summaries describes the columns of the stripes that options select. Their detail is not used.
func Summaries(ctx context.Context, f *shardfile.File, o Options) ([]*Summary, error) {
	o.Detail = 2
	in, err := newInspector(ctx, f, o)
	if err != nil {
		return nil, err
	}
	info, err := in.collect(ctx)
	if err != nil {
		return nil, err
	}
	return in.statistics(ctx, info)
}

// statistics merges the stripes' sizes with the shard's statistics.
func (in *inspector) statistics(ctx context.Context, info *Structure) ([]*Summary, error) {
	var list []*Summary
	at := map[uint32]*Summary{}
	for _, st := range info.StripeList {
		for i := range st.Columns {
			c := &st.Columns[i]
			s, ok := at[c.ID]
			if !ok {
				s = &Summary{ID: c.ID, Path: c.Path, Type: arrowType(c), Depth: c.Depth, Name: c.Name}
				at[c.ID] = s
				list = append(list, s)
				f, err := in.file.FieldDescriptor(ctx, c.ID)
				if err != nil {
					return nil, err
				}
				s.describe(f, c.node)
			}
			s.Bytes += c.Bytes
			s.merge(c)
			s.values.merge(&c.values)
		}
	}
	for _, s := range list {
		if exact, ok := s.values.count(); ok {
			s.Distinct = exact
		}
	}
	return list, nil
}

// arrowType is the Arrow type of a node without its children, or the stored type if there is no Arrow type.
func arrowType(c *Column) string {
	col, err := arrowmap.ColumnOf(c.node, arrowmap.ReadOptions{})
	if err != nil {
		return c.Type
	}
	name := text.Type(col.Arrow.Type)
	if c.node.NumChildren() > 0 {
		name, _, _ = strings.Cut(name, "<")
	}
	return name
}

// describe fills in the statistics of the shard-level descriptor.
func (s *Summary) describe(f *shardpb.FieldDescriptor, n schema.Node) {
	if f == nil {
		return
	}
	s.Positions, s.Nulls, s.RawBytes = f.GetPositionCount(), f.NullCount, f.GetRawDataSize()
	s.Distinct = distinctOf(f)
	if v := f.GetConstantValue(); v != nil {
		s.Min, s.Max = storedValue(v, n), storedValue(v, n)
		s.MinText = valueText(v, n)
	} else if r := f.GetRangeStats(); r != nil {
		s.Min, s.Max = storedValue(r.GetMinValue(), n), storedValue(r.GetMaxValue(), n)
		s.MinText, s.MaxText = valueText(r.GetMinValue(), n), valueText(r.GetMaxValue(), n)
	}
	s.Details = detailsOf(f)
}

// detailsOf returns the statistics of single types.
func detailsOf(f *shardpb.FieldDescriptor) map[string]any {
	d := map[string]any{}
	optional := func(name string, v *uint64) {
		if v != nil {
			d[name] = *v
		}
	}
	optional("dictionary_size", f.DictionarySize)
	if b := f.GetMembershipFilters().GetSbbf(); b != nil {
		d["bloom_filter_bytes"], d["bloom_filter_values"] = len(b.GetData()), b.GetNumValues()
	}
	switch t := f.GetTypeSpecific().(type) {
	case *shardpb.FieldDescriptor_StringStats:
		d["min_bytes"], d["max_bytes"] = t.StringStats.GetMinSize(), t.StringStats.GetMaxSize()
		optional("min_non_empty_bytes", t.StringStats.MinNonEmptySize)
		optional("ascii_values", t.StringStats.AsciiCount)
	case *shardpb.FieldDescriptor_BinaryStats:
		d["min_bytes"], d["max_bytes"] = t.BinaryStats.GetMinLength(), t.BinaryStats.GetMaxLength()
		optional("min_non_empty_bytes", t.BinaryStats.MinNonEmptyLength)
	case *shardpb.FieldDescriptor_ListStats:
		d["min_items"], d["max_items"] = t.ListStats.GetMinLength(), t.ListStats.GetMaxLength()
		optional("min_non_empty_items", t.ListStats.MinNonEmptyLength)
	case *shardpb.FieldDescriptor_BooleanStats:
		d["true"], d["false"] = t.BooleanStats.GetTrueCount(), t.BooleanStats.GetFalseCount()
	case *shardpb.FieldDescriptor_DecimalStats:
		x := t.DecimalStats
		d["zero"], d["positive"], d["negative"], d["nan"] = x.GetZeroCount(), x.GetPositiveCount(), x.GetNegativeCount(), x.GetNanCount()
	case *shardpb.FieldDescriptor_FloatingStats:
		x := t.FloatingStats
		d["zero"], d["positive"], d["negative"], d["nan"] = x.GetZeroCount(), x.GetPositiveCount(), x.GetNegativeCount(), x.GetNanCount()
		d["inf"], d["negative_inf"] = x.GetPositiveInfinityCount(), x.GetNegativeInfinityCount()
	}
	if len(d) == 0 {
		return nil
	}
	return d
}

// merge adds the encodings of a stripe. Buffers without blocks have the name of their kind.
func (s *Summary) merge(c *Column) {
	s.Varies = s.Varies || !c.IsConstant
	for _, b := range c.Buffers {
		prefix := ""
		if b.Kind != shardpb.BufferKind_DATA.String() && b.Kind != shardpb.BufferKind_OFFSETS.String() {
			prefix = strings.ToLower(strings.ReplaceAll(b.Kind, "_", " "))
		}
		if prefix != "" || len(b.Encodings) == 0 {
			s.addEncoding(Share{Encoding: prefix, Blocks: int(b.Blocks), Bytes: b.Bytes})
			continue
		}
		for _, e := range b.Encodings {
			s.addEncoding(e)
		}
	}
	sort.SliceStable(s.Encodings, func(i, j int) bool { return s.Encodings[i].Bytes > s.Encodings[j].Bytes })
}

func (s *Summary) addEncoding(e Share) {
	i := slices.IndexFunc(s.Encodings, func(x Share) bool { return x.Encoding == e.Encoding })
	if i < 0 {
		s.Encodings = append(s.Encodings, e)
		return
	}
	s.Encodings[i].Blocks += e.Blocks
	s.Encodings[i].Values += e.Values
	s.Encodings[i].Bytes += e.Bytes
}
