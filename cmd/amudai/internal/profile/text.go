// Package profile shows profiles of tables, as made by package engine/profile: as text on a terminal, as JSON, as a page of HTML, and
// as plots of single columns.
package profile

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/engine/profile"
	"github.com/amudai/amudai-go/internal/text"
)

// Report is a profile with the facts of its input.
type Report struct {
	Name    string // of the input, for people
	Profile *profile.Profile
	Bytes   Bytes
	CSV     bool // the input is CSV, whose flags are then proposed
}

// Bytes are the bytes of columns: stored ones, or if Estimated is set, estimates of the values in memory.
type Bytes struct {
	Estimated bool
	Total     int64 // of the inputs; 0: not known
	Columns   []ColumnBytes
}

// ColumnBytes are the bytes of a column with its parts.
type ColumnBytes struct {
	Path  string
	Bytes int64
	Parts []ColumnBytes // of a nested column, or kinds of buffers and encodings
}

const (
	narrowest  = 8  // columns of a table
	blockWidth = 80 // of blocks in a pipe
	mostWidth  = 110
)

// printSummary prints a line for each column.
func printSummary(out terminal.Screen, r *Report) {
	t := terminal.NewTable().Text("column", "type").Numbers("nulls", "distinct").Text("min", "max").Numbers("bytes").Optional("bytes")
	t.Narrowest = narrowest
	estimates := false
	for _, c := range r.Profile.Columns {
		least, most := "", ""
		if c.Min != nil {
			least, most = clip(shown(c, *c.Min)), clip(shown(c, *c.Max))
		}
		bytes := ""
		if b, ok := r.bytesOf(c); ok {
			bytes = terminal.Count(b)
		}
		estimates = estimates || c.Distinct >= 0 && !c.DistinctExact
		t.Row(strings.Repeat("  ", c.Depth)+c.Name, typeName(c), nullsText(c), distinctText(c), least, most, bytes)
	}
	hidden := out.Table(t, "")
	notes := terminal.Plural(r.Profile.Rows, "row")
	if estimates {
		notes += "; ≈ marks estimates"
	}
	if hidden > 0 {
		notes += fmt.Sprintf("; %s left out, --json shows all", terminal.Plural(hidden, "column"))
	}
	if r.Bytes.Estimated && len(r.Profile.Columns) > 0 {
		notes += "; bytes in memory"
	}
	out.Printf("\n%s\n", notes+"; --profile shows more")
}

// bytesOf are the bytes of a column of the table, or of a part of it if these are known.
func (r *Report) bytesOf(c *profile.Column) (int64, bool) {
	if r.Bytes.Estimated {
		return c.Bytes, c.Class != profile.Struct
	}
	return findBytes(r.Bytes.Columns, c.Path)
}

func findBytes(list []ColumnBytes, path string) (int64, bool) {
	for _, b := range list {
		if b.Path == path {
			return b.Bytes, true
		}
		if n, ok := findBytes(b.Parts, path); ok && strings.HasPrefix(path, b.Path+".") {
			return n, true
		}
	}
	return 0, false
}

func clip(s string) string { return terminal.Clip(s, 26) }

// typeName is the type of a column; those of its parts have lines of their own.
func typeName(c *profile.Column) string {
	name := text.Type(c.Type)
	switch c.Class {
	case profile.Struct, profile.List, profile.Map:
		plain, _ := extension.Unwrap(c.Type)
		name, _, _ = strings.Cut(text.Type(plain), "<")
	}
	return name
}

func nullsText(c *profile.Column) string {
	if c.Nulls == c.Count && c.Count > 0 {
		return "all"
	}
	return terminal.Count(c.Nulls)
}

func distinctText(c *profile.Column) string {
	switch {
	case c.Distinct < 0:
		return ""
	case !c.DistinctExact:
		return "≈" + terminal.Count(c.Distinct)
	}
	return terminal.Count(c.Distinct)
}

// printer prints blocks.
type printer struct {
	out   terminal.Screen
	width int
	ascii bool // no block characters, for dumb terminals
	csv   bool
}

// printBlocks prints a block for each column.
func printBlocks(out terminal.Screen, r *Report, ascii bool) {
	width := blockWidth
	if out.Width > 0 {
		width = max(min(out.Width, mostWidth), 40)
	}
	b := &printer{out: out, width: width, ascii: ascii, csv: r.CSV}
	b.out.Printf("%s  %s, %s\n", out.Paint(terminal.Bold, r.Name), terminal.Plural(r.Profile.Rows, "row"), terminal.Plural(topColumns(r.Profile), "column"))
	for _, c := range r.Profile.Columns {
		b.column(c)
	}
}

func topColumns(p *profile.Profile) (n int) {
	for _, c := range p.Columns {
		if c.Depth == 0 {
			n++
		}
	}
	return n
}

func (b *printer) column(c *profile.Column) {
	const barWidth = 24
	title, dt := terminal.Printable(c.Path), terminal.Printable(typeName(c))
	bar := ""
	if c.Histogram != nil {
		bar = b.spark(c.Histogram, barWidth)
	}
	room := b.width - 2 - terminal.Width(bar)
	title = terminal.Clip(title, max(room-4-terminal.Width(dt), room/2))
	dt = terminal.Clip(dt, max(room-terminal.Width(title)-2, 4))
	gap := max(b.width-terminal.Width(title)-terminal.Width(dt)-2-terminal.Width(bar), 1)
	if bar == "" {
		gap = 0
	}
	b.out.Printf("\n%s  %s%s%s\n", b.out.Paint(terminal.Bold, title), b.out.Paint(terminal.Dim, dt), strings.Repeat(" ", gap), b.out.Paint(terminal.Cyan, bar))
	b.facts(b.counts(c))
	b.facts(b.bounds(c))
	b.facts(b.moments(c))
	b.facts(b.lengthFacts(c))
	b.top(c)
	for _, f := range findings(c, b.csv) {
		b.finding(f)
	}
}

// fact is a name with a value, which stay together.
type fact struct{ name, value string }

// facts prints facts, as many as fit into a line.
func (b *printer) facts(list []fact) {
	var line strings.Builder
	at := 0
	for _, f := range list {
		if f.value == "" {
			continue
		}
		value := terminal.Clip(terminal.Printable(f.value), b.width-6)
		n := terminal.Width(f.name) + 1 + terminal.Width(value)
		if at > 0 && at+3+n > b.width {
			b.out.Printf("%s\n", terminal.Format("%s", line.String()))
			line.Reset()
			at = 0
		}
		if at == 0 {
			line.WriteString("  ")
			at = 2
		} else {
			line.WriteString("   ")
			at += 3
		}
		line.WriteString(f.name + " " + value)
		at += n
	}
	if at > 0 {
		b.out.Printf("%s\n", line.String())
	}
}

func share(n, of int64) string {
	return fmt.Sprintf("%s (%s)", terminal.Count(n), terminal.Percent(float64(n), float64(of)))
}

func (b *printer) counts(c *profile.Column) []fact {
	var list []fact
	add := func(name, value string) { list = append(list, fact{name, value}) }
	values := c.Count - c.Nulls
	if c.Items {
		add("items", terminal.Count(c.Count))
	}
	if c.Nulls == 0 {
		add("nulls", "0")
	} else {
		add("nulls", share(c.Nulls, c.Count))
	}
	if c.Distinct >= 0 && c.Class != profile.Bool {
		add("distinct", distinctText(c))
	}
	some := func(name string, n int64) {
		if n > 0 {
			add(name, share(n, values))
		}
	}
	if n := c.Numbers; n != nil && c.Class != profile.Time {
		some("zero", n.Zeros)
		some("negative", n.Negatives)
		some("nan", n.NaNs)
		some("infinite", n.Infinite)
	}
	if t := c.Texts; t != nil {
		some("empty", t.Empty)
		some("blank", t.Blank)
	}
	if x := c.Bools; x != nil && values > 0 {
		add("true", share(x.True, values))
		add("false", share(x.False, values))
	}
	return list
}

func (b *printer) bounds(c *profile.Column) []fact {
	if c.Min == nil || c.Class == profile.Bool {
		return nil
	}
	value := func(v profile.Value) string {
		if c.Class == profile.Text || c.Class == profile.Binary {
			return terminal.Clip(terminal.Printable(shown(c, v)), 32)
		}
		return number(v)
	}
	list := []fact{{"min", value(*c.Min)}}
	if c.Numbers != nil && c.Distinct > 1 {
		for i, q := range c.Numbers.Quantiles {
			list = append(list, fact{fmt.Sprintf("p%d", int(math.Round(100*profile.Shares[i]))), about(c.Numbers.RankError > 0) + value(q)})
		}
	}
	return append(list, fact{"max", value(*c.Max)})
}

func (b *printer) moments(c *profile.Column) []fact {
	n := c.Numbers
	if n == nil || n.Mean == nil || c.Distinct <= 1 {
		return nil
	}
	mean := *n.Mean
	if mean.Number {
		mean.Text = profile.FormatFloat(mean.Float)
	}
	list := []fact{{"mean", number(mean)}}
	if n.Deviation != nil && c.Class == profile.Number {
		list = append(list, fact{"deviation", number(profile.Value{Text: profile.FormatFloat(*n.Deviation), Float: *n.Deviation, Number: true})})
	}
	if n.RankError > 0 {
		list = append(list, fact{"≈", "ranks within " + strconv.FormatFloat(100*n.RankError, 'f', 1, 64) + " %"})
	}
	return list
}

// number is a number with separators of thousands.
func number(v profile.Value) string {
	whole, rest := v.Text, ""
	if i := strings.IndexAny(whole, ".e"); i >= 0 {
		whole, rest = whole[:i], whole[i:]
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || !v.Number || n > -10000 && n < 10000 || strings.Contains(rest, "e") {
		return v.Text
	}
	return terminal.Count(n) + rest
}

// lengthFacts are those of texts, byte strings, lists and maps.
func (b *printer) lengthFacts(c *profile.Column) []fact {
	l := c.Lengths
	if l == nil {
		return nil
	}
	unit := map[profile.Class]string{profile.Text: "characters", profile.Binary: "bytes"}[c.Class]
	name := "length"
	if unit == "" {
		name, unit = "items", ""
	}
	value := terminal.Count(l.Min)
	if l.Min != l.Max {
		value = fmt.Sprintf("%s … %s, mean %s", terminal.Count(l.Min), terminal.Count(l.Max), profile.FormatFloat(math.Round(l.Mean*100)/100))
	}
	list := []fact{{name, strings.TrimSpace(value + " " + unit)}}
	if c.Class == profile.List || c.Class == profile.Map {
		list = append(list, fact{"empty", terminal.Count(l.Empty)})
	}
	return list
}

// spark draws a histogram in a line.
func (b *printer) spark(h *profile.Histogram, width int) string {
	counts := make([]float64, len(h.Bins))
	for i, bin := range h.Bins {
		counts[i] = float64(bin.Count)
	}
	per := (len(counts) + width - 1) / width
	for i := 0; i < len(counts); i += per {
		n := 0.0
		for _, c := range counts[i:min(i+per, len(counts))] {
			n += c
		}
		counts[i/per] = n
	}
	return terminal.Spark(counts[:(len(counts)+per-1)/per], b.ascii)
}

const topLines = 5

// top prints frequent values: with bars, or those of numbers in a line.
func (b *printer) top(c *profile.Column) {
	values := c.Count - c.Nulls
	if c.Top == nil || c.Class == profile.Bool || len(c.Top.Values) == 0 || c.Distinct == 1 {
		return
	}
	first := c.Top.Values[0]
	if first.Count+c.Top.Error <= 1 || first.Count <= c.Top.Error || c.Numbers != nil && !c.Top.All && (first.Count+c.Top.Error)*200 < values {
		return
	}
	about := about(c.Top.Error > 0)
	if c.Numbers != nil {
		var list []string
		for _, v := range c.Top.Values[:min(len(c.Top.Values), topLines)] {
			list = append(list, fmt.Sprintf("%s %s%s", number(v.Value), about, terminal.Percent(float64(v.Count), float64(values))))
		}
		b.facts([]fact{{"top", strings.Join(list, ", ")}})
		return
	}
	name, widest, counts := "top", 0, 0
	lines := c.Top.Values[:min(len(c.Top.Values), topLines)]
	for _, v := range lines {
		widest = max(widest, min(terminal.Width(shown(c, v.Value)), b.width-34))
		counts = max(counts, len(terminal.Count(v.Count))+len([]rune(about)))
	}
	for _, v := range lines {
		value := terminal.Clip(terminal.Printable(shown(c, v.Value)), widest)
		bar := bars(v.Count, first.Count, min(max(b.width-widest-counts-20, 4), 24), b.ascii)
		b.out.Printf("  %s %s  %s %s  %s\n", name, terminal.Pad(value, widest, false), terminal.Pad(about+terminal.Count(v.Count), counts, true),
			terminal.Pad(terminal.Percent(float64(v.Count), float64(values)), 7, true), b.out.Paint(terminal.Cyan, bar))
		name = "   "
	}
}

// about marks an estimate.
func about(estimate bool) string {
	if estimate {
		return "≈"
	}
	return ""
}

// bars draws a part of the most in some columns. A part that is too small for the drawing has the smallest bar.
func bars(n, most int64, width int, ascii bool) string {
	if ascii {
		return strings.Repeat("#", int(math.Round(float64(n)/float64(max(most, 1))*float64(width))))
	}
	bar := terminal.Bar(float64(n), float64(most), width)
	if bar == "" && n > 0 {
		bar = "▏"
	}
	return bar
}

// finding prints a sentence, and what to do on a line of its own if it does not fit.
func (b *printer) finding(f Finding) {
	mark := "▸"
	if b.ascii {
		mark = ">"
	}
	lines := terminal.Wrap(terminal.Printable(f.Text), b.width-4)
	for i, l := range lines {
		lead := mark
		if i > 0 {
			lead = " "
		}
		b.out.Printf("  %s %s", b.out.Paint(terminal.Yellow, lead), l)
		if f.Action != "" && i == len(lines)-1 {
			if terminal.Width(l)+6+terminal.Width(f.Action) > b.width {
				b.out.Printf("\n  ")
			}
			b.out.Printf("  %s", b.out.Paint(terminal.Green, terminal.Printable(f.Action)))
		}
		b.out.Printf("\n")
	}
}

// shortTime is a time without a time of day at midnight and without seconds that are zero.
func shortTime(s string) string {
	zone := ""
	if rest, ok := strings.CutSuffix(s, "Z"); ok {
		s, zone = rest, "Z"
	}
	if date, ok := strings.CutSuffix(s, "T00:00:00"); ok {
		return date
	}
	if strings.Contains(s, "T") {
		s = strings.TrimSuffix(s, ":00") + zone
	}
	return s
}
