package profile

import (
	"fmt"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/engine/profile"
)

// Plot prints a histogram of a column, or bars of its frequent values.
func Plot(out terminal.Screen, r *Report, path string, ascii bool) error {
	c := plotted(r.Profile, path)
	if c == nil {
		return usage.Errorf("", "--plot %s: it has no values that can be plotted; name one of its parts", path)
	}
	b := &printer{out: out, width: blockWidth, ascii: ascii}
	if out.Width > 0 {
		b.width = max(out.Width, 30)
	}
	values := c.Count - c.Nulls
	b.out.Printf("%s  %s  %s", out.Paint(terminal.Bold, c.Path), out.Paint(terminal.Dim, typeName(c)), terminal.Plural(values, "value"))
	if c.Nulls > 0 {
		b.out.Printf(", %s", terminal.Plural(c.Nulls, "null"))
	}
	b.out.Printf("\n\n")
	switch {
	case c.Histogram != nil:
		b.histogram(c, c.Histogram)
	case c.Top != nil && len(c.Top.Values) > 0:
		b.topBars(c)
	}
	b.facts(b.bounds(c))
	b.facts(b.moments(c))
	return nil
}

// plotted is the column at a path, or the only part of it that has values.
func plotted(p *profile.Profile, path string) *profile.Column {
	var leaves []*profile.Column
	for _, c := range p.Columns {
		if c.Top != nil || c.Histogram != nil {
			leaves = append(leaves, c)
		}
		if c.Path == path && (c.Top != nil || c.Histogram != nil) {
			return c
		}
	}
	if len(leaves) == 1 {
		return leaves[0]
	}
	return nil
}

// row is a line of a plot: a label, a count, and a bar.
type row struct {
	label string
	count int64
}

// rows prints bars with their labels and counts.
func (b *printer) rows(list []row, right bool, about string, total int64) {
	widest, counts, most := 0, 0, int64(1)
	for _, r := range list {
		widest = max(widest, terminal.Width(r.label))
		counts = max(counts, terminal.Width(about+terminal.Count(r.count)))
		most = max(most, r.count)
	}
	widest = min(widest, max(b.width/2-4, 10))
	for _, r := range list {
		bar := bars(r.count, most, max(b.width-widest-counts-15, 4), b.ascii)
		share := terminal.Pad(terminal.Percent(float64(r.count), float64(total)), 7, true)
		b.out.Printf("  %s %s %s  %s\n", terminal.Pad(terminal.Clip(r.label, widest), widest, right), terminal.Pad(about+terminal.Count(r.count), counts, true), share, b.out.Paint(terminal.Cyan, bar))
	}
}

// plotRows is the number of lines of a plot, so that it fits an 80x24 terminal with what is around it.
const plotRows = 17

func (b *printer) histogram(c *profile.Column, h *profile.Histogram) {
	per := (len(h.Bins) + plotRows - 1) / plotRows
	var list []row
	if h.Below > 0 {
		list = append(list, row{"< " + edge(c, h.Bins[0].From), h.Below})
	}
	for i := 0; i < len(h.Bins); i += per {
		r := row{label: edge(c, h.Bins[i].From)}
		for _, bin := range h.Bins[i:min(i+per, len(h.Bins))] {
			r.count += bin.Count
		}
		list = append(list, r)
	}
	if h.Above > 0 {
		list = append(list, row{"> " + edge(c, h.Bins[len(h.Bins)-1].To), h.Above})
	}
	b.rows(list, c.Class == profile.Number, about(!h.Exact), c.Count-c.Nulls)
	if len(h.Bins) > 1 {
		b.out.Printf("  %s\n\n", b.out.Paint(terminal.Dim, "up to the number of the next line"))
	}
}

// edge is the limit of a range.
func edge(c *profile.Column, v profile.Value) string {
	if c.Class == profile.Number {
		return number(v)
	}
	return shortTime(v.Text)
}

func (b *printer) topBars(c *profile.Column) {
	values := c.Count - c.Nulls
	var list []row
	rest := values
	for _, v := range c.Top.Values {
		list = append(list, row{terminal.Printable(shown(c, v.Value)), v.Count})
		rest -= v.Count
	}
	b.rows(list, false, about(c.Top.Error > 0), values)
	if rest > 0 {
		b.out.Printf("  %s\n", b.out.Paint(terminal.Dim, fmt.Sprintf("%s of other values (%s)", terminal.Count(rest), terminal.Percent(float64(rest), float64(values)))))
	}
	b.out.Printf("\n")
}
