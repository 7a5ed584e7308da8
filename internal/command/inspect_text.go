package command

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// text prints what was collected.
func (in *inspector) text(info *shardInfo) error {
	in.overview(info)
	for i := range info.StripeList {
		if err := in.stripeText(info, &info.StripeList[i]); err != nil {
			return err
		}
	}
	return nil
}

// fact prints a name and a value, aligned.
func (in *inspector) fact(name, format string, args ...any) {
	fmt.Fprintf(in.Stdout, "%s %s\n", in.paint(dim, fmt.Sprintf("%-12s", name)), printable(fmt.Sprintf(format, args...)))
}

func (in *inspector) overview(info *shardInfo) {
	in.fact("shard", "%s", info.Location)
	if info.RawBytes > 0 {
		in.fact("size", "%s (%s raw, %s)", size(info.Bytes), size(info.RawBytes), percent(float64(info.Bytes), float64(info.RawBytes)))
	} else {
		in.fact("size", "%s", size(info.Bytes))
	}
	in.fact("rows", "%s in %s", count(info.Rows), plural(info.Stripes, "stripe"))
	if info.Rows > 0 {
		in.fact("per row", "%s bytes", strconv.FormatFloat(float64(info.Bytes)/float64(info.Rows), 'f', 2, 64))
	}
	if info.Deleted > 0 {
		in.fact("deleted", "%s", plural(info.Deleted, "row"))
	}
	nodes := ""
	if int(info.Nodes) != info.Columns {
		nodes = ", " + plural(uint64(info.Nodes), "schema node")
	}
	in.fact("columns", "%s%s", count(info.Columns), nodes)
	in.fact("layout", "%s", info.Layout)
	for _, f := range info.Files[1:] {
		in.fact("", "%s, %s", f.Name, size(f.Bytes))
	}
	if info.Created != "" {
		in.fact("created", "%s", info.Created)
	}
	for _, name := range slices.Sorted(maps.Keys(info.Properties)) {
		v := info.Properties[name]
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
	fmt.Fprintf(in.Stdout, "\n%s rows %s–%s, %s\n\n", in.paint(bold, fmt.Sprintf("stripe %d", st.Index)),
		count(st.Position), count(st.Position+st.Rows), size(st.Bytes))
	if in.flags.verbose == 1 {
		return in.columnTable(info, st)
	}
	for i := range st.Columns {
		if err := in.columnText(info, &st.Columns[i]); err != nil {
			return err
		}
	}
	return nil
}

// columnTable is one line for each schema node.
func (in *inspector) columnTable(info *shardInfo, st *stripeInfo) error {
	g := newGrid(">id", "column", "type", ">nulls", ">distinct", "min", "max", ">bytes", ">share")
	for i := range st.Columns {
		c := &st.Columns[i]
		lo, hi := rangeText(c)
		g.add(strconv.Itoa(int(c.ID)), strings.Repeat("  ", c.depth)+printable(c.name), c.Type, nullsText(c), distinctText(c),
			cut(lo, 24), cut(hi, 24), count(c.Bytes), percent(float64(c.Bytes), float64(info.Bytes)))
	}
	return in.print(in.Stdout, g)
}

func rangeText(c *columnInfo) (lo, hi string) {
	if c.isConstant {
		v := printable(valueText(c.field.GetConstantValue(), c.node))
		return v, v
	}
	r := c.field.GetRangeStats()
	if r == nil {
		return "", ""
	}
	return printable(valueText(r.GetMinValue(), c.node)), printable(valueText(r.GetMaxValue(), c.node))
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
	return count(*c.Nulls)
}

func distinctText(c *columnInfo) string {
	if c.field.GetDictionarySize() > 0 {
		return count(c.field.GetDictionarySize())
	}
	if c.Distinct == nil {
		return ""
	}
	sign := ""
	if c.field.GetCardinality().GetIsEstimate() {
		sign = "≈"
	}
	return sign + count(*c.Distinct)
}

// columnText lists the buffers of a node, and their blocks.
func (in *inspector) columnText(info *shardInfo, c *columnInfo) error {
	indent := strings.Repeat("  ", c.depth+1)
	what := ""
	switch {
	case c.Missing:
		what = ", missing: all null"
	case c.isConstant:
		what = ", constant " + printable(valueText(c.field.GetConstantValue(), c.node))
	}
	fmt.Fprintf(in.Stdout, "%s%s %s, id %d, %s%s\n", indent, in.paint(bold, printable(c.name)), c.Type, c.ID, plural(c.Positions, "position"), what)
	for i := range c.Buffers {
		b := &c.Buffers[i]
		if err := in.bufferText(info, indent+"  ", b); err != nil {
			return err
		}
	}
	return nil
}

func (in *inspector) bufferText(info *shardInfo, indent string, b *bufferInfo) error {
	parts := []string{fmt.Sprintf("%s %s", size(b.Bytes), in.paint(dim, "("+percent(float64(b.Bytes), float64(info.Bytes))+")"))}
	if b.Blocks > 0 {
		parts = append(parts, plural(b.Blocks, "block"))
	}
	if b.MapBytes > 0 {
		parts = append(parts, "map "+size(b.MapBytes))
	}
	parts = append(parts, fmt.Sprintf("at %d", b.Start))
	if b.File != "" {
		parts = append(parts, "in "+printable(b.File))
	}
	if b.Blocks > 0 && !b.Checksums {
		parts = append(parts, "no checksums")
	}
	fmt.Fprintf(in.Stdout, "%s%s: %s\n", indent, in.paint(cyan, b.Kind), strings.Join(parts, ", "))
	for _, e := range b.Encodings {
		fmt.Fprintf(in.Stdout, "%s  %-16s %s, %s, %s (%s)\n", indent, e.Encoding, plural(e.Blocks, "block"), plural(e.Values, "value"),
			size(e.Bytes), bitsText(e.Bytes, e.Values))
	}
	if b.Error != "" {
		fmt.Fprintf(in.Stdout, "%s  %s\n", indent, in.paint(red, "! "+b.Error))
	}
	if len(b.List) == 0 {
		return nil
	}
	g := newGrid(">block", ">first", ">values", ">offset", ">bytes", ">presence", "tree")
	for _, k := range b.List {
		tree := k.Tree
		if k.Error != "" {
			tree += in.paint(red, " ! "+printable(k.Error))
		}
		g.add(strconv.Itoa(k.Index), count(k.First), count(k.Values), strconv.FormatInt(k.Offset, 10), count(k.Bytes), count(k.Presence), tree)
	}
	return in.printIndented(g, indent+"  ")
}

// bitsText is bits per value.
func bitsText(bytes, values int64) string {
	if values == 0 {
		return "–"
	}
	return strconv.FormatFloat(8*float64(bytes)/float64(values), 'f', 2, 64) + " bits/value"
}

// printIndented prints a table behind an indent.
func (in *inspector) printIndented(g *grid, indent string) error {
	var b strings.Builder
	if err := in.print(&b, g); err != nil {
		return err
	}
	for _, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		if _, err := fmt.Fprintln(in.Stdout, indent+line); err != nil {
			return err
		}
	}
	return nil
}
