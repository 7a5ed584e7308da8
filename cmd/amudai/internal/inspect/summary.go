package inspect

import (
	"maps"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/shard"
)

// Summaries prints one line for each column.
func Summaries(out terminal.Screen, rows, bytes int64, list []*shard.ColumnSummary) {
	t := terminal.NewTable().Text("column", "type").Numbers("nulls", "distinct").Text("min", "max").Numbers("bytes", "bits/value").
		Text("encodings").Numbers("share").Text("of the file").Optional("of the file", "bits/value")
	t.Narrowest = narrowest
	for _, s := range list {
		t.Row(strings.Repeat("  ", s.Depth)+s.Name, s.Type, summaryNulls(s), distinctText(s.Distinct), terminal.Clip(terminal.Printable(s.MinText), 24), terminal.Clip(terminal.Printable(s.MaxText), 24),
			terminal.Count(s.Bytes), summaryBits(s), encodingNames(s), terminal.Percent(float64(s.Bytes), float64(bytes)), terminal.Bar(float64(s.Bytes), float64(bytes), 16))
	}
	out.TableOr(t, "", "--details shows all")
	columns := int64(0)
	for _, s := range list {
		columns += s.Bytes
	}
	out.Printf("\n%s, %s; %s in columns, %s of metadata and padding\n", terminal.Plural(rows, "row"), terminal.Size(bytes), terminal.Size(columns), terminal.Size(bytes-columns))
}

func summaryNulls(s *shard.ColumnSummary) string {
	switch {
	case s.Nulls == nil:
		return "?"
	case *s.Nulls == s.Positions && s.Positions > 0:
		return "all"
	}
	return terminal.Count(*s.Nulls)
}

func summaryBits(s *shard.ColumnSummary) string {
	text, _, _ := strings.Cut(bitsText(s.Bytes, int64(s.Positions)), " ")
	return text
}

// encodingNames lists the main encodings.
func encodingNames(s *shard.ColumnSummary) string {
	if !s.Varies && s.Positions > 0 {
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

// SummaryDetails prints every statistic, one per line.
func SummaryDetails(out terminal.Screen, list []*shard.ColumnSummary) {
	p := page{out: out}
	for _, s := range list {
		out.Printf("%s %s\n", out.Paint(terminal.Bold, s.Path), s.Type)
		p.fact("  positions", "%s", terminal.Count(s.Positions))
		p.fact("  nulls", "%s", summaryNulls(s))
		if d := distinctText(s.Distinct); d != "" {
			p.fact("  distinct", "%s", d)
		}
		if s.MinText != "" {
			p.fact("  min", "%s", s.MinText)
		}
		if s.MaxText != "" {
			p.fact("  max", "%s", s.MaxText)
		}
		p.fact("  bytes", "%s (%s raw)", terminal.Count(s.Bytes), terminal.Count(s.RawBytes))
		for _, name := range slices.Sorted(maps.Keys(s.Details)) {
			p.fact("  "+strings.ReplaceAll(name, "_", " "), "%v", s.Details[name])
		}
	}
}
