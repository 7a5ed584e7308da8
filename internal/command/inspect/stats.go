package inspect

import (
	"context"
	"slices"
	"sort"
	"strings"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/command/terminal"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/format/shardfile"
	"github.com/amudai/amudai-go/internal/text"
)

// columnStats summarizes a schema node over all stripes. Its fields are those of --json.
type columnStats struct {
	ID        uint32  `json:"id"`
	Path      string  `json:"path"`
	Type      string  `json:"type"`
	Positions uint64  `json:"positions"`
	Nulls     *uint64 `json:"nulls,omitempty"`
	distinct
	Min       any             `json:"min,omitempty"`
	Max       any             `json:"max,omitempty"`
	RawBytes  uint64          `json:"raw_bytes,omitempty"`
	Bytes     int64           `json:"bytes"`
	Encodings []encodingShare `json:"encodings,omitempty"`
	Details   map[string]any  `json:"details,omitempty"`

	depth    int
	name     string
	min, max string
	varies   bool // not constant in every stripe
	values   distinctSet
}

// StatsOptions select statistics.
type StatsOptions struct {
	Columns []string // by path, with their children; empty: all
	JSON    bool
	Details bool // all statistics, one per line
}

// Stats shows statistics and sizes of the columns of a shard.
func Stats(ctx context.Context, out terminal.Screen, f *shardfile.File, o StatsOptions) error {
	return inspect(ctx, out, f, Options{Verbose: 2, Columns: o.Columns}, func(in *inspector) error {
		info, err := in.collect(ctx)
		if err != nil {
			return err
		}
		list, err := in.statistics(ctx, info)
		if err != nil {
			return err
		}
		switch {
		case o.JSON:
			return terminal.JSON(out.Out, list)
		case o.Details:
			return in.detailText(list)
		}
		return in.statsText(info, list)
	})
}

// statistics merges the stripes' sizes with the shard's statistics.
func (in *inspector) statistics(ctx context.Context, info *shardInfo) ([]*columnStats, error) {
	var list []*columnStats
	at := map[uint32]*columnStats{}
	for _, st := range info.StripeList {
		for i := range st.Columns {
			c := &st.Columns[i]
			s, ok := at[c.ID]
			if !ok {
				s = &columnStats{ID: c.ID, Path: c.Path, Type: arrowType(c), depth: c.depth, name: c.name}
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
			s.distinct = exact
		}
	}
	return list, nil
}

// arrowType is the Arrow type of a node without its children, or the stored type if there is no Arrow type.
func arrowType(c *columnInfo) string {
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
func (s *columnStats) describe(f *shardpb.FieldDescriptor, n schema.Node) {
	if f == nil {
		return
	}
	s.Positions, s.Nulls, s.RawBytes = f.GetPositionCount(), f.NullCount, f.GetRawDataSize()
	s.distinct = distinctOf(f)
	if v := f.GetConstantValue(); v != nil {
		s.Min, s.Max = storedValue(v, n), storedValue(v, n)
		s.min, s.max = valueText(v, n), ""
	} else if r := f.GetRangeStats(); r != nil {
		s.Min, s.Max = storedValue(r.GetMinValue(), n), storedValue(r.GetMaxValue(), n)
		s.min, s.max = valueText(r.GetMinValue(), n), valueText(r.GetMaxValue(), n)
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
func (s *columnStats) merge(c *columnInfo) {
	s.varies = s.varies || !c.isConstant
	for _, b := range c.Buffers {
		prefix := ""
		if b.Kind != shardpb.BufferKind_DATA.String() && b.Kind != shardpb.BufferKind_OFFSETS.String() {
			prefix = strings.ToLower(strings.ReplaceAll(b.Kind, "_", " "))
		}
		if prefix != "" || len(b.Encodings) == 0 {
			s.addEncoding(encodingShare{Encoding: prefix, Blocks: int(b.Blocks), Bytes: b.Bytes})
			continue
		}
		for _, e := range b.Encodings {
			s.addEncoding(e)
		}
	}
	sort.SliceStable(s.Encodings, func(i, j int) bool { return s.Encodings[i].Bytes > s.Encodings[j].Bytes })
}

func (s *columnStats) addEncoding(e encodingShare) {
	i := slices.IndexFunc(s.Encodings, func(x encodingShare) bool { return x.Encoding == e.Encoding })
	if i < 0 {
		s.Encodings = append(s.Encodings, e)
		return
	}
	s.Encodings[i].Blocks += e.Blocks
	s.Encodings[i].Values += e.Values
	s.Encodings[i].Bytes += e.Bytes
}

// statsText prints one line for each column.
func (in *inspector) statsText(info *shardInfo, list []*columnStats) error {
	t := terminal.NewTable().Text("column", "type").Numbers("nulls", "distinct").Text("min", "max").Numbers("bytes", "bits/value").
		Text("encodings").Numbers("share").Text("of the file").Optional("of the file", "bits/value")
	t.Narrowest = narrowest
	for _, s := range list {
		t.Row(strings.Repeat("  ", s.depth)+s.name, s.Type, s.nullsText(), s.distinct.text(), terminal.Clip(terminal.Printable(s.min), 24), terminal.Clip(terminal.Printable(s.max), 24),
			terminal.Count(s.Bytes), s.bits(), s.encodingsText(), terminal.Percent(float64(s.Bytes), float64(info.Bytes)), terminal.Bar(float64(s.Bytes), float64(info.Bytes), 16))
	}
	if err := in.table(t, "", "--details shows all"); err != nil {
		return err
	}
	columns := int64(0)
	for _, s := range list {
		columns += s.Bytes
	}
	return in.out.Printf("\n%s, %s; %s in columns, %s of metadata and padding\n", terminal.Plural(info.Rows, "row"), terminal.Size(info.Bytes), terminal.Size(columns), terminal.Size(info.Bytes-columns))
}

func (s *columnStats) nullsText() string {
	switch {
	case s.Nulls == nil:
		return "?"
	case *s.Nulls == s.Positions && s.Positions > 0:
		return "all"
	}
	return terminal.Count(*s.Nulls)
}

func (s *columnStats) bits() string {
	text, _, _ := strings.Cut(bitsText(s.Bytes, int64(s.Positions)), " ")
	return text
}

// encodingsText lists the main encodings.
func (s *columnStats) encodingsText() string {
	if !s.varies && s.Positions > 0 {

		return "constant"
	}
	var names []string
	for _, e := range s.Encodings {
		if len(names) == 3 {
			names = append(names, "…")
			break
		}
		if e.Bytes*50 >= s.Bytes || len(names) == 0 {
			names = append(names, e.Encoding)
		}
	}
	return strings.Join(names, ", ")
}

// detailText prints every statistic, one per line.
func (in *inspector) detailText(list []*columnStats) error {
	for _, s := range list {
		in.out.Printf("%s %s\n", in.out.Paint(terminal.Bold, s.Path), s.Type)
		in.fact("  positions", "%s", terminal.Count(s.Positions))
		in.fact("  nulls", "%s", s.nullsText())
		if d := s.distinct.text(); d != "" {
			in.fact("  distinct", "%s", d)
		}
		if s.min != "" {
			in.fact("  min", "%s", s.min)
		}
		if s.max != "" {
			in.fact("  max", "%s", s.max)
		}
		in.fact("  bytes", "%s (%s raw)", terminal.Count(s.Bytes), terminal.Count(s.RawBytes))
		names := make([]string, 0, len(s.Details))
		for name := range s.Details {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			in.fact("  "+strings.ReplaceAll(name, "_", " "), "%v", s.Details[name])
		}
	}
	return nil
}

// ColumnSize is the stored size of a schema node without those below it.
type ColumnSize struct {
	Path      string
	Depth     int
	Bytes     int64
	Encodings map[string]int64 // bytes by encoding or kind of buffer
}

// Sizes returns the stored sizes of all schema nodes of a shard, in the order of its schema.
func Sizes(ctx context.Context, f *shardfile.File) (list []ColumnSize, err error) {
	err = inspect(ctx, terminal.Screen{}, f, Options{Verbose: 2}, func(in *inspector) error {
		info, err := in.collect(ctx)
		if err != nil {
			return err
		}
		nodes, err := in.statistics(ctx, info)
		for _, s := range nodes {
			size := ColumnSize{Path: s.Path, Depth: s.depth, Bytes: s.Bytes, Encodings: map[string]int64{}}
			for _, e := range s.Encodings {
				size.Encodings[e.Encoding] += e.Bytes
			}
			list = append(list, size)
		}
		return err
	})
	return list, err
}
