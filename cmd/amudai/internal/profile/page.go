package profile

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
)

//go:embed page.css
var pageStyle string

// markup is HTML in the making. The page has no template: the packages of templates find methods by name, which keeps all exported
// methods of all packages in the program, a sixth of its size.
type markup struct{ bytes.Buffer }

// add writes a format with values, in which the characters of markup are escaped. Attributes have double quotes.
func (m *markup) add(format string, values ...any) {
	for i, v := range values {
		if s, ok := v.(string); ok {
			values[i] = html.EscapeString(s)
		}
	}
	fmt.Fprintf(m, format, values...)
}

// page writes the whole page.
func (m *markup) page(v *page) {
	m.add(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>%s: profile</title>
<style>
`, v.Name)
	m.WriteString(pageStyle)
	m.add(`</style>
</head>
<body>
<a class="skip" href="#columns">Skip to the columns</a>
<header>
<h1>%s</h1>
<p class="dim">%s, %s`, v.Name, v.Rows, v.Columns)
	if v.Size != "" {
		m.add(", %s", v.Size)
	}
	m.add("</p>\n</header>\n<main>\n")
	m.overview(v.List)
	if v.Wide != nil {
		m.add("<h2 id=\"bytes\">%s</h2>\n", v.Bytes)
		m.treemap(v.Wide, "wide")
	}
	if v.Tall != nil {
		m.treemap(v.Tall, "tall")
	}
	m.add("<h2 id=\"columns\">Columns</h2>\n<div class=\"cards\">\n")
	for i := range v.List {
		m.card(&v.List[i])
	}
	m.add("</div>\n</main>\n</body>\n</html>\n")
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
			c.Indent, c.ID, c.Name, c.Type)
		m.add(`<td class="n">%s</td><td class="n">%s</td><td class="n">%s</td><td>`, c.Nulls, c.Distinct, c.Size)
		switch {
		case len(c.Bars) > 0:
			m.add(`<svg class="spark" viewBox="0 0 %d %d" preserveAspectRatio="none" aria-hidden="true">`, barsWidth, barsHeight)
			for _, b := range c.Bars {
				m.add(`<rect class="bar" x="%v" y="%v" width="%v" height="%v"/>`, b.X, b.Y, b.W, b.H)
			}
			m.add("</svg>")
		case len(c.Top) > 0:
			m.add(`<span class="dim">%s %s</span>`, c.Top[0].Value, c.Top[0].Share)
		}
		m.add(`</td><td class="n">`)
		if n := len(c.Findings); n > 0 {
			m.add("%d", n)
		}
		m.add("</td></tr>\n")
	}
	m.add("</tbody>\n</table>\n</div>\n")
}

// card writes the section of a column.
func (m *markup) card(c *card) {
	m.add("<section class=\"card\" id=\"%s\" aria-labelledby=\"%sh\">\n<h3 id=\"%sh\">%s</h3>\n<div class=\"type\">%s", c.ID, c.ID, c.ID, c.Path, c.Type)
	if c.Size != "" {
		m.add(" · %s", c.Size)
	}
	m.add("</div>\n")
	if len(c.Bars) > 0 {
		m.add(`<svg class="bars" viewBox="0 0 %d %d" preserveAspectRatio="none" role="img" aria-label="%s">`, barsWidth, barsHeight, c.Shape)
		for _, b := range c.Bars {
			m.add(`<rect class="bar" x="%v" y="%v" width="%v" height="%v"><title>%s</title></rect>`, b.X, b.Y, b.W, b.H, b.Title)
		}
		m.add("</svg>\n<div class=\"ends\" aria-hidden=\"true\"><span>%s</span>", c.Ends[0])
		if c.Note != "" {
			m.add("<span>%s</span>", c.Note)
		}
		m.add("<span>%s</span></div>\n", c.Ends[1])
	}
	if len(c.Facts) > 0 {
		m.add("<dl>")
		for _, f := range c.Facts {
			m.add("<dt>%s</dt><dd>%s</dd>", f.Name, f.Value)
		}
		m.add("</dl>\n")
	}
	if len(c.Top) > 0 {
		m.add("<h4>%s</h4>\n<table class=\"values\" aria-label=\"%s of %s\"><tbody>\n", c.TopTitle, c.TopTitle, c.Path)
		for _, t := range c.Top {
			m.add(`<tr><td style="--w: %v%%" title="%s">%s</td><td class="n">%s</td><td class="n dim">%s</td></tr>`+"\n",
				t.Width, t.Full, t.Value, t.Count, t.Share)
		}
		m.add("</tbody></table>\n")
	}
	if len(c.Findings) > 0 {
		m.add(`<ul class="odd" aria-label="Findings about %s">`, c.Path)
		for _, f := range c.Findings {
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
