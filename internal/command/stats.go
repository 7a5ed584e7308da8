package command

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
)

// columnStats sums up one schema node over all stripes; the fields are those of --json.
type columnStats struct {
	ID        uint32          `json:"id"`
	Path      string          `json:"path"`
	Type      string          `json:"type"`
	Positions uint64          `json:"positions"`
	Nulls     *uint64         `json:"nulls,omitempty"`
	Distinct  *uint64         `json:"distinct,omitempty"`
	Estimate  bool            `json:"distinct_is_estimate,omitempty"`
	Min       any             `json:"min,omitempty"`
	Max       any             `json:"max,omitempty"`
	RawBytes  uint64          `json:"raw_bytes,omitempty"`
	Bytes     int64           `json:"bytes"`
	Encodings []encodingShare `json:"encodings,omitempty"`
	Details   map[string]any  `json:"details,omitempty"`

	depth    int
	name     string
	min, max string
	constant bool
}

func (a *app) stats() *cobra.Command {
	var columns []string
	asJSON, details := false, false
	cmd := &cobra.Command{
		Use:   "stats SHARD",
		Short: "Show statistics and sizes of the columns",
		Long: `stats shows for each column its type, nulls, distinct values, range, bytes, bits per value,
encodings, and its share of the file. Counts and ranges come from the shard's statistics; amudai
verify checks those against the data. `,
		Args: wants(1, 1, "one shard"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runStats(cmd.Context(), args[0], columns, asJSON, details)
		},
	}
	cmd.Flags().StringSliceVar(&columns, "columns", nil, "only these columns and what is inside them, by path")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&details, "details", false, "all statistics, one a line")
	return cmd
}

func (a *app) runStats(ctx context.Context, location string, columns []string, asJSON, details bool) error {
	s, err := openShard(ctx, location, a.types)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, c := range columns {
		if _, err := s.Schema().Path(c); err != nil {
			return withHint(err, "amudai schema --stored lists the columns")
		}
	}
	in := inspector{app: a, shard: s, flags: inspectFlags{verbose: 2, columns: columns}}
	info, err := in.collect(ctx)
	if err != nil {
		return err
	}
	list, err := in.statistics(ctx, info)
	if err != nil {
		return err
	}
	switch {
	case asJSON:
		e := json.NewEncoder(a.Stdout)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(list)
	case details:
		return in.detailText(list)
	}
	return in.statsText(info, list)
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
				f, err := in.shard.File().FieldDescriptor(ctx, c.ID)
				if err != nil {
					return nil, err
				}
				s.describe(f, c.node)
			}
			s.Bytes += c.Bytes
			s.merge(c)
		}
	}
	return list, nil
}

// arrowType is the Arrow type of a node, without what its children say; the
// stored type if no Arrow type corresponds to it.
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

// describe takes what the shard-level descriptor tells.
func (s *columnStats) describe(f *shardpb.FieldDescriptor, n schema.Node) {
	if f == nil {
		return
	}
	s.Positions, s.Nulls, s.RawBytes = f.GetPositionCount(), f.NullCount, f.GetRawDataSize()
	if c := f.GetCardinality(); c != nil {
		s.Distinct, s.Estimate = c.Count, c.GetIsEstimate()
	}
	if v := f.GetConstantValue(); v != nil {
		s.constant = true
		s.Min, s.Max = storedValue(v, n), storedValue(v, n)
		s.min, s.max = valueText(v, n), ""
	} else if r := f.GetRangeStats(); r != nil {
		s.Min, s.Max = storedValue(r.GetMinValue(), n), storedValue(r.GetMaxValue(), n)
		s.min, s.max = valueText(r.GetMinValue(), n), valueText(r.GetMaxValue(), n)
	}
	s.Details = detailsOf(f)
}

// detailsOf are the statistics that only some types have.
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

// merge adds the encodings of one stripe; what has no blocks goes by the kind of the buffer.
func (s *columnStats) merge(c *columnInfo) {
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

// statsText is one line for each column.
func (in *inspector) statsText(info *shardInfo, list []*columnStats) error {
	g := newGrid("column", "type", ">nulls", ">distinct", "min", "max", ">bytes", ">bits/value", "encodings", ">share", "of the file")
	for _, s := range list {
		g.add(strings.Repeat("  ", s.depth)+printable(s.name), s.Type, s.nullsText(), s.distinctText(), cut(printable(s.min), 24), cut(printable(s.max), 24),
			count(s.Bytes), s.bits(), s.encodingsText(), percent(float64(s.Bytes), float64(info.Bytes)), bar(float64(s.Bytes), float64(info.Bytes), 16))
	}
	if err := in.print(in.Stdout, g); err != nil {
		return err
	}
	columns := int64(0)
	for _, s := range list {
		columns += s.Bytes
	}
	_, err := fmt.Fprintf(in.Stdout, "\n%s, %s; %s in columns, %s of metadata and padding\n", plural(info.Rows, "row"), size(info.Bytes), size(columns), size(info.Bytes-columns))
	return err
}

func (s *columnStats) nullsText() string {
	switch {
	case s.Nulls == nil:
		return "?"
	case *s.Nulls == s.Positions && s.Positions > 0:
		return "all"
	}
	return count(*s.Nulls)
}

func (s *columnStats) distinctText() string {
	switch {
	case s.constant:
		return "1"
	case s.Distinct == nil:
		return ""
	case s.Estimate:
		return "≈" + count(*s.Distinct)
	}
	return count(*s.Distinct)
}

func (s *columnStats) bits() string {
	text, _, _ := strings.Cut(bitsText(s.Bytes, int64(s.Positions)), " ")
	return text
}

// encodingsText names the encodings that matter.
func (s *columnStats) encodingsText() string {
	if s.constant && s.Bytes == 0 {
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

// detailText is every statistic, one a line.
func (in *inspector) detailText(list []*columnStats) error {
	for _, s := range list {
		fmt.Fprintf(in.Stdout, "%s %s\n", in.paint(bold, printable(s.Path)), s.Type)
		in.fact("  positions", "%s", count(s.Positions))
		in.fact("  nulls", "%s", s.nullsText())
		if d := s.distinctText(); d != "" {
			in.fact("  distinct", "%s", d)
		}
		if s.min != "" {
			in.fact("  min", "%s", s.min)
		}
		if s.max != "" {
			in.fact("  max", "%s", s.max)
		}
		in.fact("  bytes", "%s (%s raw)", count(s.Bytes), count(s.RawBytes))
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
