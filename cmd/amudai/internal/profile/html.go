package profile

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"math"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/engine/profile"
)

//go:embed page.css
var pageStyle string

// markup is HTML in the making. The page has no template: the packages of templates find methods by name, which keeps all exported
// methods of all packages in the program, a sixth of its size.
type markup struct {
	bytes.Buffer
	r *Report
}

// add writes a format with values. Texts are made printable, and the characters of markup in them are escaped. Attributes have double quotes.
func (m *markup) add(format string, values ...any) {
	for i, v := range values {
		if s, ok := v.(string); ok {
			values[i] = html.EscapeString(terminal.Printable(s))
		}
	}
	fmt.Fprintf(m, format, values...)
}

// card is a column on the page.
type card struct {
	*profile.Column
	id       string
	size     string // "" if it is not known
	bars     []bar
	top      []profile.TopValue
	findings []Finding
}

// bar is a range of a histogram in its drawing.
type bar struct {
	x, y, w, h float64
	title      string
}

// barsWidth and barsHeight are the units of the drawing of a histogram.
const (
	barsWidth  = 400
	barsHeight = 90
)

// HTML is a page without scripts that needs no other files.
func HTML(r *Report) []byte {
	m := markup{r: r}
	cards := make([]card, len(r.Profile.Columns))
	for i, c := range r.Profile.Columns {
		cards[i] = card{Column: c, id: fmt.Sprintf("c%d", i), bars: barsOf(c), top: topOf(c), findings: findings(c, r.CSV)}
		if n, ok := r.bytesOf(c); ok {
			cards[i].size = terminal.Size(n)
		}
	}
	m.add(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>%s: profile</title>
<style>
`, r.Name)
	m.WriteString(pageStyle)
	m.add(`</style>
</head>
<body>
<a class="skip" href="#columns">Skip to the columns</a>
<header>
<h1>%s</h1>
<p class="dim">%s, %s`, r.Name, terminal.Plural(r.Profile.Rows, "row"), terminal.Plural(topColumns(r.Profile), "column"))
	if r.Bytes.Total > 0 {
		m.add(", %s", terminal.Size(r.Bytes.Total))
	}
	m.add("</p>\n</header>\n<main>\n")
	m.overview(cards)
	columns, title := r.Bytes.Columns, "Stored bytes of each column"
	if r.Bytes.Estimated {
		columns, _ = estimatedParts(r.Profile.Columns, 0)
		title = "Estimated bytes of the values in memory"
	}
	if t := treemapOf(columns, 1100, 360); t != nil {
		m.add("<h2 id=\"bytes\">%s</h2>\n", title)
		m.treemap(t, "wide")
		m.treemap(treemapOf(columns, 360, 420), "tall")
	}
	m.add("<h2 id=\"columns\">Columns</h2>\n<div class=\"cards\">\n")
	for i := range cards {
		m.card(&cards[i])
	}
	m.add("</div>\n</main>\n</body>\n</html>\n")
	return m.Bytes()
}

// estimatedParts are the bytes of values in memory, by column.
func estimatedParts(list []*profile.Column, depth int) (out []ColumnBytes, used int) {
	for used < len(list) && list[used].Depth >= depth {
		c := list[used]
		parts, n := estimatedParts(list[used+1:], depth+1)
		b := ColumnBytes{Path: c.Path, Bytes: c.Bytes + sum(parts), Parts: parts}
		out = append(out, b)
		used += 1 + n
	}
	return out, used
}

// overview writes the table of all columns.
func (m *markup) overview(list []card) {
	m.add(`<h2 id="overview">Overview</h2>
<div class="scroll" tabindex="0" role="region" aria-labelledby="overview">
<table class="overview">
<thead><tr><th scope="col">column</th><th scope="col">type</th><th scope="col" class="n">nulls</th><th scope="col" class="n">distinct</th><th scope="col" class="n">bytes</th><th scope="col">values</th><th scope="col" class="n">findings</th></tr></thead>
<tbody>
`)
	for _, c := range list {
		m.add(`<tr><th scope="row" style="padding-left: calc(12px + %d * 18px)"><a href="#%s">%s</a></th><td class="type dim">%s</td>`,
			c.Depth, c.id, c.Name, typeName(c.Column))
		m.add(`<td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td>`, nullsText(c.Column), distinctText(c.Column), c.size)
		switch {
		case len(c.bars) > 0:
			m.add(`<svg class="spark" viewBox="0 0 %d %d" preserveAspectRatio="none" aria-hidden="true">`, barsWidth, barsHeight)
			for _, b := range c.bars {
				m.add(`<rect class="bar" x="%v" y="%v" width="%v" height="%v"/>`, b.x, b.y, b.w, b.h)
			}
			m.add("</svg>")
		case len(c.top) > 0:
			m.add(`<span class="dim">%s %s</span>`, topText(c.top[0]), terminal.Percent(float64(c.top[0].Count), float64(c.Count-c.Nulls)))
		}
		m.add(`</td><td class="n">`)
		if n := len(c.findings); n > 0 {
			m.add("%d", n)
		}
		m.add("</td></tr>\n")
	}
	m.add("</tbody>\n</table>\n</div>\n")
}

// card writes the section of a column.
func (m *markup) card(c *card) {
	m.add("<section class=\"card\" id=\"%s\" aria-labelledby=\"%sh\">\n<h3 id=\"%sh\">%s</h3>\n<div class=\"type\">%s", c.id, c.id, c.id, c.Path, typeName(c.Column))
	if c.size != "" {
		m.add(" · %s", c.size)
	}
	m.add("</div>\n")
	if len(c.bars) > 0 {
		m.histogram(c)
	}
	m.facts(c.Column)
	if len(c.top) > 0 {
		m.topValues(c)
	}
	if len(c.findings) > 0 {
		m.add(`<ul class="odd" aria-label="Findings about %s">`, c.Path)
		for _, f := range c.findings {
			m.add("<li>%s", f.Text)
			if f.Action != "" {
				m.add(" <code>%s</code>", f.Action)
			}
			m.add("</li>")
		}
		m.add("</ul>\n")
	}
	m.add("</section>\n")
}

func (m *markup) facts(c *profile.Column) {
	b := printer{width: 1 << 20}
	list := append(b.counts(c), b.bounds(c)...)
	list = append(append(list, b.moments(c)...), b.lengthFacts(c)...)
	if c.Order != profile.NoOrder {
		list = append(list, fact{"order", c.Order.String()})
	}
	if len(list) == 0 {
		return
	}
	m.add("<dl>")
	for _, f := range list {
		if f.name == "≈" {
			f.name = "quantiles"
		}
		m.add("<dt>%s</dt><dd>%s</dd>", f.name, terminal.Clip(terminal.Printable(f.value), 80))
	}
	m.add("</dl>\n")
}

// barsOf draws a histogram.
func barsOf(c *profile.Column) (list []bar) {
	if c.Histogram == nil {
		return nil
	}
	bins := c.Histogram.Bins
	most := max(largestBin(bins).Count, 1)
	width := barsWidth / float64(len(bins))
	hundredths := func(v float64) float64 { return math.Round(v*100) / 100 }
	for i, b := range bins {
		height := float64(b.Count) / float64(most) * barsHeight
		if b.Count > 0 {
			height = max(height, 1)
		}
		list = append(list, bar{
			hundredths(float64(i) * width), hundredths(barsHeight - height), hundredths(max(width-min(1.5, width/4), 0.2)), hundredths(height),
			fmt.Sprintf("%s – %s: %s%s", edge(c, b.From), edge(c, b.To), about(!c.Histogram.Exact), terminal.Count(b.Count)),
		})
	}
	return list
}

// largestBin is the first range with more than one value that has most of them, or the first.
func largestBin(bins []profile.Bin) profile.Bin {
	largest, most := bins[0], int64(1)
	for _, b := range bins {
		if b.Count > most {
			largest, most = b, b.Count
		}
	}
	return largest
}

// histogram writes the drawing of a histogram, with a description of its shape in words.
func (m *markup) histogram(c *card) {
	h := c.Histogram
	largest := largestBin(h.Bins)
	first, last := edge(c.Column, h.Bins[0].From), edge(c.Column, h.Bins[len(h.Bins)-1].To)
	shape := fmt.Sprintf("Histogram from %s to %s in %s; most values, %s%s, are from %s to %s", first, last, terminal.Plural(len(h.Bins), "range"),
		about(!h.Exact), terminal.Count(max(largest.Count, 1)), edge(c.Column, largest.From), edge(c.Column, largest.To))
	m.add(`<svg class="bars" viewBox="0 0 %d %d" preserveAspectRatio="none" role="img" aria-label="%s">`, barsWidth, barsHeight, shape)
	for _, b := range c.bars {
		m.add(`<rect class="bar" x="%v" y="%v" width="%v" height="%v"><title>%s</title></rect>`, b.x, b.y, b.w, b.h, b.title)
	}
	m.add("</svg>\n<div class=\"ends\" aria-hidden=\"true\"><span>%s</span>", first)
	switch below, above := terminal.Count(h.Below)+" below", terminal.Count(h.Above)+" above"; {
	case h.Below > 0 && h.Above > 0:
		m.add("<span>%s, %s</span>", below, above)
	case h.Below > 0:
		m.add("<span>%s</span>", below)
	case h.Above > 0:
		m.add("<span>%s</span>", above)
	}
	m.add("<span>%s</span></div>\n", last)
}

// topOf are the frequent values, if they say something.
func topOf(c *profile.Column) []profile.TopValue {
	if c.Top == nil || len(c.Top.Values) == 0 || c.Top.Values[0].Count <= c.Top.Error || c.Top.Values[0].Count <= 1 && c.Distinct > 1 {
		return nil
	}
	return c.Top.Values
}

func topText(v profile.TopValue) string {
	if v.Text == "" {
		return "(empty)"
	}
	return terminal.Clip(terminal.Printable(v.Text), 60)
}

func (m *markup) topValues(c *card) {
	title := "Frequent values"
	if c.Top.All {
		title = "Values"
	}
	m.add("<h4>%s</h4>\n<table class=\"values\" aria-label=\"%s of %s\"><tbody>\n", title, title, c.Path)
	for _, v := range c.top {
		m.add(`<tr><td style="--w: %v%%" title="%s">%s</td><td class="n">%s</td><td class="n dim">%s</td></tr>`+"\n",
			round(100*float64(v.Count)/float64(c.top[0].Count)), terminal.Clip(terminal.Printable(v.Text), 400), topText(v),
			about(c.Top.Error > 0)+terminal.Count(v.Count), terminal.Percent(float64(v.Count), float64(c.Count-c.Nulls)))
	}
	m.add("</tbody></table>\n")
}

// treemap writes a drawing of bytes.
func (m *markup) treemap(t *treemap, class string) {
	m.add(`<svg class="map %s" viewBox="0 0 %v %v" role="img" aria-label="Treemap of bytes by column; the table above has the numbers">`,
		class, t.W, t.H)
	for _, r := range t.Tiles {
		color := fmt.Sprintf("f%d", r.Color)
		if r.Inner {
			color = "inner"
		}
		m.add(`<g><title>%s: %s, %s</title><rect class="%s" x="%v" y="%v" width="%v" height="%v" rx="2"/>`,
			r.Name, r.Size, r.Share, color, r.X, r.Y, r.W, r.H)
		if r.Label != "" {
			m.add(`<text x="%v" y="%v">%s</text>`, r.LabelX, r.LabelY, r.Label)
		}
		m.add("</g>\n")
	}
	m.add("</svg>\n")
}
