// Package inspect prints the structure of files, statistics and sizes of the columns of shards, and reports of checks, as text and JSON.
package inspect

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

// structure prints the structure of a shard, at its level of detail.
func structure(out terminal.Screen, info *shard.Structure, detail int) {
	p := page{out, info}
	for _, f := range overview(info) {
		p.fact(f.Name, "%s", f.Value)
	}
	for i := range info.StripeList {
		p.stripe(&info.StripeList[i], detail)
	}
}

// page prints the structure of a shard.
type page struct {
	out  terminal.Screen
	info *shard.Structure
}

// fact prints a name and a value, aligned.
func (p *page) fact(name, format string, args ...any) {
	p.out.Printf("%s %s\n", p.out.Paint(terminal.Dim, fmt.Sprintf("%-12s", name)), terminal.Format(format, args...))
}

// overview are the facts of a shard. A fact without a name continues the one before.
func overview(info *shard.Structure) (list []provider.Fact) {
	fact := func(name, format string, args ...any) {
		list = append(list, provider.Fact{Name: name, Value: fmt.Sprintf(format, args...)})
	}
	fact("shard", "%s", info.Location)
	if info.RawBytes > 0 {
		fact("size", "%s (%s raw, %s)", terminal.Size(info.Bytes), terminal.Size(info.RawBytes), terminal.Percent(float64(info.Bytes), float64(info.RawBytes)))
	} else {
		fact("size", "%s", terminal.Size(info.Bytes))
	}
	fact("rows", "%s in %s", terminal.Count(info.Rows), terminal.Plural(info.Stripes, "stripe"))
	if info.Rows > 0 {
		fact("per row", "%s bytes", strconv.FormatFloat(float64(info.Bytes)/float64(info.Rows), 'f', 2, 64))
	}
	if info.Deleted > 0 {
		fact("deleted", "%s", terminal.Plural(info.Deleted, "row"))
	}
	nodes := ""
	if int(info.Nodes) != info.Columns {
		nodes = ", " + terminal.Plural(uint64(info.Nodes), "schema node")
	}
	fact("columns", "%s%s", terminal.Count(info.Columns), nodes)
	fact("layout", "%s", info.Layout)
	for _, f := range info.Files[1:] {
		fact("", "%s, %s", f.Name, terminal.Size(f.Bytes))
	}
	switch name := info.Properties[shard.PropertyEdition]; name {
	case edition.E2026.String():
		fact("edition", "%s: the Rust implementation cannot read it (--edition reference)", name)
	case edition.Reference.String():
		fact("edition", "%s: all implementations read it", name)
	}
	if info.Created != "" {
		fact("created", "%s", info.Created)
	}
	for _, name := range slices.Sorted(maps.Keys(info.Properties)) {
		v := info.Properties[name]
		if name == shard.PropertyEdition {
			continue
		}
		if text, ok := v.(string); ok && name == "ARROW:schema" {
			v = fmt.Sprintf("%d characters", len(text))
		}
		fact("property", "%s = %v", name, v)
	}
	for _, u := range info.Unknown {
		fact("unknown", "%s", u)
	}
	for _, i := range info.Indexes {
		fact("index", "%s", i)
	}
	return list
}

func (p *page) stripe(st *shard.StripeStructure, detail int) {
	p.out.Printf("\n%s rows %s–%s, %s\n\n", p.out.Paint(terminal.Bold, fmt.Sprintf("stripe %d", st.Index)),
		terminal.Count(st.Position), terminal.Count(st.Position+st.Rows), terminal.Size(st.Bytes))
	if detail == 1 {
		p.columns(st)
		return
	}
	for i := range st.Columns {
		p.column(&st.Columns[i])
	}
}

// columns prints one line for each schema node.
func (p *page) columns(st *shard.StripeStructure) {
	t := terminal.NewTable().Numbers("id").Text("column", "type").Numbers("nulls", "distinct").Text("min", "max").Numbers("bytes", "share").Optional("share")
	t.Narrowest = narrowest
	for i := range st.Columns {
		c := &st.Columns[i]
		t.Row(strconv.Itoa(int(c.ID)), strings.Repeat("  ", c.Depth)+c.Name, c.Type, nullsText(c), distinctText(c.Distinct),
			terminal.Clip(terminal.Printable(c.Min), 24), terminal.Clip(terminal.Printable(c.Max), 24), terminal.Count(c.Bytes), terminal.Percent(float64(c.Bytes), float64(p.info.Bytes)))
	}
	p.out.TableOr(t, "", "-vv shows all of each column")
}

// narrowest is the width to which names, types and values are cut on a narrow screen.
const narrowest = 10

func nullsText(c *shard.ColumnStructure) string {
	switch {
	case c.Missing:
		return "all"
	case c.Nulls == nil:
		return "?"
	case *c.Nulls == c.Positions && c.Positions > 0:
		return "all"
	}
	return terminal.Count(*c.Nulls)
}

// column lists the buffers of a node, and their blocks.
func (p *page) column(c *shard.ColumnStructure) {
	indent := strings.Repeat("  ", c.Depth+1)
	what := ""
	switch {
	case c.Missing:
		what = ", missing: all null"
	case c.IsConstant:
		what = ", constant " + c.Min
	}
	p.out.Printf("%s%s %s, id %d, %s%s\n", indent, p.out.Paint(terminal.Bold, c.Name), c.Type, c.ID, terminal.Plural(c.Positions, "position"), what)
	for i := range c.Buffers {
		p.buffer(indent+"  ", &c.Buffers[i])
	}
}

// bufferFacts are the properties of a buffer beside its size.
func bufferFacts(b *shard.BufferStructure) string {
	var parts []string
	if b.Blocks > 0 {
		parts = append(parts, terminal.Plural(b.Blocks, "block"))
	}
	if b.MapBytes > 0 {
		parts = append(parts, "map "+terminal.Size(b.MapBytes))
	}
	parts = append(parts, fmt.Sprintf("at %d", b.Start))
	if b.File != "" {
		parts = append(parts, "in "+b.File)
	}
	if b.Blocks > 0 && !b.Checksums {
		parts = append(parts, "no checksums")
	}
	return strings.Join(parts, ", ")
}

func (p *page) buffer(indent string, b *shard.BufferStructure) {
	p.out.Printf("%s%s: %s %s, %s\n", indent, p.out.Paint(terminal.Cyan, b.Kind), terminal.Size(b.Bytes),
		p.out.Paint(terminal.Dim, "("+terminal.Percent(float64(b.Bytes), float64(p.info.Bytes))+")"), bufferFacts(b))
	for _, e := range b.Encodings {
		p.out.Printf("%s  %-16s %s, %s, %s (%s)\n", indent, e.Encoding, terminal.Plural(e.Blocks, "block"), terminal.Plural(e.Values, "value"),
			terminal.Size(e.Bytes), bitsText(e.Bytes, e.Values))
	}
	if b.Error != "" {
		p.out.Printf("%s  %s\n", indent, p.out.Paint(terminal.Red, "! "+b.Error))
	}
	if len(b.List) == 0 {
		return
	}
	t := terminal.NewTable().Numbers("block", "first", "values", "offset", "bytes", "presence").Text("tree")
	t.Narrowest = 40
	for _, k := range b.List {
		tree := terminal.Format("%s", k.Tree)
		if k.Error != "" {
			tree = terminal.Format("%s%s", tree, p.out.Paint(terminal.Red, " ! "+k.Error))
		}
		t.Row(strconv.Itoa(k.Index), terminal.Count(k.First), terminal.Count(k.Values), strconv.FormatInt(k.Offset, 10), terminal.Count(k.Bytes), terminal.Count(k.Presence), tree)
	}
	p.out.TableOr(t, indent+"  ", "--json shows all")
}

// bitsText formats bits per value.
func bitsText(bytes, values int64) string {
	if values == 0 {
		return "–"
	}
	return strconv.FormatFloat(8*float64(bytes)/float64(values), 'f', 2, 64) + " bits/value"
}

// distinctText formats a number of distinct values for people. ≈ marks an estimate.
func distinctText(d shard.DistinctCount) string {
	switch {
	case d.Distinct == nil:
		return ""
	case d.Estimate:
		return "≈" + terminal.Count(*d.Distinct)
	}
	return terminal.Count(*d.Distinct)
}

// storedNodes prints the schema tree of a shard with its stored types.
func storedNodes(out terminal.Screen, list []shard.StoredNode) {
	t := terminal.NewTable().Numbers("id").Text("column", "stored type", "extended type")
	for _, n := range list {
		t.Row(strconv.Itoa(int(n.ID)), strings.Repeat("  ", n.Depth)+n.Name, n.Type, n.Extended)
	}
	out.Table(t, "")
}
