package inspect

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/amudai/amudai-go/internal/command/terminal"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/shardfile"
)

// text prints the description.
func (in *inspector) text(info *shardInfo) error {
	in.overview(info)
	for i := range info.StripeList {
		if err := in.stripeText(info, &info.StripeList[i]); err != nil {
			return err
		}
	}
	return nil
}

// factWidth is the width of the names of facts.
const factWidth = 12

// fact prints a name and a value, aligned.
func (in *inspector) fact(name, format string, args ...any) {
	in.out.Printf("%s %s\n", in.out.Paint(terminal.Dim, fmt.Sprintf("%-*s", factWidth, name)), terminal.Format(format, args...))
}

func (in *inspector) overview(info *shardInfo) {
	in.fact("shard", "%s", info.Location)
	if info.RawBytes > 0 {
		in.fact("size", "%s (%s raw, %s)", terminal.Size(info.Bytes), terminal.Size(info.RawBytes), terminal.Percent(float64(info.Bytes), float64(info.RawBytes)))
	} else {
		in.fact("size", "%s", terminal.Size(info.Bytes))
	}
	in.fact("rows", "%s in %s", terminal.Count(info.Rows), terminal.Plural(info.Stripes, "stripe"))
	if info.Rows > 0 {
		in.fact("per row", "%s bytes", strconv.FormatFloat(float64(info.Bytes)/float64(info.Rows), 'f', 2, 64))
	}
	if info.Deleted > 0 {
		in.fact("deleted", "%s", terminal.Plural(info.Deleted, "row"))
	}
	nodes := ""
	if int(info.Nodes) != info.Columns {
		nodes = ", " + terminal.Plural(uint64(info.Nodes), "schema node")
	}
	in.fact("columns", "%s%s", terminal.Count(info.Columns), nodes)
	in.fact("layout", "%s", info.Layout)
	for _, f := range info.Files[1:] {
		in.fact("", "%s, %s", f.Name, terminal.Size(f.Bytes))
	}
	switch name := info.Properties[shardfile.PropertyEdition]; name {
	case edition.E2026.String():
		in.fact("edition", "%s: the Rust implementation cannot read it (--edition reference)", name)
	case edition.Reference.String():
		in.fact("edition", "%s: all implementations read it", name)
	}
	if info.Created != "" {
		in.fact("created", "%s", info.Created)
	}
	for _, name := range slices.Sorted(maps.Keys(info.Properties)) {
		v := info.Properties[name]
		if name == shardfile.PropertyEdition {
			continue
		}
		if text, ok := v.(string); ok && name == "ARROW:schema" {
			v = fmt.Sprintf("%d characters", len(text))
		}
		in.fact("property", "%s = %v", name, v)
	}
	for _, u := range info.Unknown {
		in.fact("unknown", "%s", u)
	}
	for _, i := range info.Indexes {
		in.fact("index", "%s", i)
	}
}

func (in *inspector) stripeText(info *shardInfo, st *stripeInfo) error {
	in.out.Printf("\n%s rows %s–%s, %s\n\n", in.out.Paint(terminal.Bold, fmt.Sprintf("stripe %d", st.Index)),
		terminal.Count(st.Position), terminal.Count(st.Position+st.Rows), terminal.Size(st.Bytes))
	if in.flags.Verbose == 1 {
		return in.columnTable(info, st)
	}
	for i := range st.Columns {
		if err := in.columnText(info, &st.Columns[i]); err != nil {
			return err
		}
	}
	return nil
}

// columnTable prints one line for each schema node.
func (in *inspector) columnTable(info *shardInfo, st *stripeInfo) error {
	t := terminal.NewTable().Numbers("id").Text("column", "type").Numbers("nulls", "distinct").Text("min", "max").Numbers("bytes", "share").Optional("share")
	t.Narrowest = narrowest
	for i := range st.Columns {
		c := &st.Columns[i]
		lo, hi := rangeText(c)
		t.Row(strconv.Itoa(int(c.ID)), strings.Repeat("  ", c.depth)+c.name, c.Type, nullsText(c), c.distinct.text(),
			terminal.Clip(terminal.Printable(lo), 24), terminal.Clip(terminal.Printable(hi), 24), terminal.Count(c.Bytes), terminal.Percent(float64(c.Bytes), float64(info.Bytes)))
	}
	return in.table(t, "", "-vv shows all of each column")
}

// narrowest is the width to which names, types and values are cut on a narrow screen.
const narrowest = 10

// table prints a table. If columns did not fit on the screen, it prints hint.
func (in *inspector) table(t *terminal.Table, indent, hint string) error {
	hidden, err := in.out.Table(t, indent)
	if err == nil && hidden > 0 {
		err = in.out.Printf("%s%s\n", indent, in.out.Paint(terminal.Dim, "… and "+terminal.Plural(hidden, "more column")+": "+hint))
	}
	return err
}

func rangeText(c *columnInfo) (lo, hi string) {
	if c.isConstant {
		v := valueText(c.field.GetConstantValue(), c.node)
		return v, v
	}
	r := c.field.GetRangeStats()
	if r == nil {
		return "", ""
	}
	return valueText(r.GetMinValue(), c.node), valueText(r.GetMaxValue(), c.node)
}

func nullsText(c *columnInfo) string {
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

// columnText lists the buffers of a node, and their blocks.
func (in *inspector) columnText(info *shardInfo, c *columnInfo) error {
	indent := strings.Repeat("  ", c.depth+1)
	what := ""
	switch {
	case c.Missing:
		what = ", missing: all null"
	case c.isConstant:
		what = ", constant " + valueText(c.field.GetConstantValue(), c.node)
	}
	in.out.Printf("%s%s %s, id %d, %s%s\n", indent, in.out.Paint(terminal.Bold, c.name), c.Type, c.ID, terminal.Plural(c.Positions, "position"), what)
	for i := range c.Buffers {
		b := &c.Buffers[i]
		if err := in.bufferText(info, indent+"  ", b); err != nil {
			return err
		}
	}
	return nil
}

// bufferFacts are the properties of a buffer beside its size.
func bufferFacts(b *bufferInfo) string {
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

func (in *inspector) bufferText(info *shardInfo, indent string, b *bufferInfo) error {
	in.out.Printf("%s%s: %s %s, %s\n", indent, in.out.Paint(terminal.Cyan, b.Kind), terminal.Size(b.Bytes),
		in.out.Paint(terminal.Dim, "("+terminal.Percent(float64(b.Bytes), float64(info.Bytes))+")"), bufferFacts(b))
	for _, e := range b.Encodings {
		in.out.Printf("%s  %-16s %s, %s, %s (%s)\n", indent, e.Encoding, terminal.Plural(e.Blocks, "block"), terminal.Plural(e.Values, "value"),
			terminal.Size(e.Bytes), bitsText(e.Bytes, e.Values))
	}
	if b.Error != "" {
		in.out.Printf("%s  %s\n", indent, in.out.Paint(terminal.Red, "! "+b.Error))
	}
	if len(b.List) == 0 {
		return nil
	}
	t := terminal.NewTable().Numbers("block", "first", "values", "offset", "bytes", "presence").Text("tree")
	t.Narrowest = 40
	for _, k := range b.List {
		tree := terminal.Format("%s", k.Tree)
		if k.Error != "" {
			tree = terminal.Format("%s%s", tree, in.out.Paint(terminal.Red, " ! "+k.Error))
		}
		t.Row(strconv.Itoa(k.Index), terminal.Count(k.First), terminal.Count(k.Values), strconv.FormatInt(k.Offset, 10), terminal.Count(k.Bytes), terminal.Count(k.Presence), tree)
	}
	return in.table(t, indent+"  ", "--json shows all")
}

// bitsText formats bits per value.
func bitsText(bytes, values int64) string {
	if values == 0 {
		return "–"
	}
	return strconv.FormatFloat(8*float64(bytes)/float64(values), 'f', 2, 64) + " bits/value"
}
