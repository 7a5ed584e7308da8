package profile

import (
	"fmt"
	"math"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/engine/profile"
)

// page is what the page shows. All texts are printable; markup escapes them.
type page struct {
	Name       string
	Rows       string
	Columns    string
	Size       string // "" if not known
	Bytes      string // about those of the treemap
	Wide, Tall *treemap
	List       []card
	Findings   int
}

// card is a column.
type card struct {
	ID       string
	Path     string
	Name     string
	Indent   int
	Type     string
	Class    profile.Class
	Nulls    string
	NullPart float64
	Distinct string
	Size     string
	Facts    []pageFact
	Ends     [2]string
	Bars     []pageBar
	Shape    string // of the bars, in words
	Note     string // below the bars
	TopTitle string
	Top      []pageTop
	Findings []pageFinding
}

type pageFact struct{ Name, Value string }

type pageFinding struct{ Text, Action string }

type pageBar struct {
	X, Y, W, H float64
	Title      string
}

type pageTop struct {
	Value, Full, Count, Share string
	Width                     float64
}

// barsWidth and barsHeight are the units of the drawing of a histogram.
const (
	barsWidth  = 400
	barsHeight = 90
)

// HTML is a page without scripts that needs no other files.
func HTML(r *Report) []byte {
	p := r.Profile
	v := page{Name: terminal.Printable(r.Name), Rows: terminal.Plural(p.Rows, "row"), Columns: terminal.Plural(topColumns(p), "column")}
	if r.Bytes.Total > 0 {
		v.Size = terminal.Size(r.Bytes.Total)
	}
	columns := r.Bytes.Columns
	if v.Bytes = "Stored bytes of each column"; r.Bytes.Estimated {
		v.Bytes = "Estimated bytes of the values in memory"
		columns = estimated(p)
	}
	v.Wide, v.Tall = treemapOf(columns, 1100, 360), treemapOf(columns, 360, 420)
	for i, c := range p.Columns {
		k := cardOf(r, c)
		k.ID = fmt.Sprintf("c%d", i)
		v.Findings += len(k.Findings)
		v.List = append(v.List, k)
	}
	var m markup
	m.page(&v)
	return m.Bytes()
}

// estimated are the bytes of values in memory, by column.
func estimated(p *profile.Profile) []ColumnBytes {
	out, _ := estimatedParts(p.Columns, 0)
	return out
}

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

func cardOf(r *Report, c *profile.Column) card {
	b := printer{p: r.Profile, csv: r.CSV, width: 1 << 20}
	k := card{Path: terminal.Printable(c.Path), Name: terminal.Printable(c.Name), Indent: c.Depth, Type: terminal.Printable(typeName(c)), Class: c.Class,
		Nulls: nullsText(c), Distinct: distinctText(c)}
	if c.Count > 0 {
		k.NullPart = round(100 * float64(c.Nulls) / float64(c.Count))
	}
	if n, ok := r.bytesOf(c); ok {
		k.Size = terminal.Size(n)
	}
	for _, list := range [][]fact{b.counts(c), b.bounds(c), b.moments(c), b.lengthFacts(c)} {
		for _, f := range list {
			if f.name == "≈" {
				f.name = "quantiles"
			}
			k.Facts = append(k.Facts, pageFact{f.name, terminal.Clip(terminal.Printable(f.value), 80)})
		}
	}
	if c.Order != profile.NoOrder {
		k.Facts = append(k.Facts, pageFact{"order", c.Order.String()})
	}
	if c.Histogram != nil {
		k.histogram(c, c.Histogram)
	}
	k.top(c)
	for _, f := range findings(r.Profile, c, r.CSV) {
		k.Findings = append(k.Findings, pageFinding{terminal.Printable(f.Text), terminal.Printable(f.Action)})
	}
	return k
}

func (k *card) histogram(c *profile.Column, h *profile.Histogram) {
	most, largest := int64(1), 0
	for i, b := range h.Bins {
		if b.Count > most {
			most, largest = b.Count, i
		}
	}
	about := ""
	if !h.Exact {
		about = "≈"
	}
	width := barsWidth / float64(len(h.Bins))
	for i, b := range h.Bins {
		height := float64(b.Count) / float64(most) * barsHeight
		if b.Count > 0 {
			height = max(height, 1)
		}
		k.Bars = append(k.Bars, pageBar{
			X: math.Round(float64(i)*width*100) / 100, Y: math.Round((barsHeight-height)*100) / 100,
			W: math.Round(max(width-min(1.5, width/4), 0.2)*100) / 100, H: math.Round(height*100) / 100,
			Title: fmt.Sprintf("%s – %s: %s%s", edge(c, b.From), edge(c, b.To), about, terminal.Count(b.Count)),
		})
	}
	first, last := h.Bins[0].From, h.Bins[len(h.Bins)-1].To
	k.Ends = [2]string{edge(c, first), edge(c, last)}
	k.Shape = fmt.Sprintf("Histogram from %s to %s in %s; most values, %s%s, are from %s to %s", edge(c, first), edge(c, last), terminal.Plural(len(h.Bins), "range"),
		about, terminal.Count(most), edge(c, h.Bins[largest].From), edge(c, h.Bins[largest].To))
	if h.Below > 0 {
		k.Note = terminal.Count(h.Below) + " below"
	}
	if h.Above > 0 {
		if k.Note != "" {
			k.Note += ", "
		}
		k.Note += terminal.Count(h.Above) + " above"
	}
}

func (k *card) top(c *profile.Column) {
	values := c.Count - c.Nulls
	if c.Top == nil || len(c.Top.Values) == 0 || c.Top.Values[0].Count <= c.Top.Error || c.Top.Values[0].Count <= 1 && c.Distinct > 1 {
		return
	}
	about := ""
	if k.TopTitle = "Frequent values"; c.Top.All {
		k.TopTitle = "Values"
	}
	if c.Top.Error > 0 {
		about = "≈"
	}
	for _, v := range c.Top.Values {
		full := terminal.Printable(v.Text)
		k.Top = append(k.Top, pageTop{Value: terminal.Clip(full, 60), Full: terminal.Clip(full, 400), Count: about + terminal.Count(v.Count),
			Share: terminal.Percent(float64(v.Count), float64(values)), Width: round(100 * float64(v.Count) / float64(c.Top.Values[0].Count))})
		if k.Top[len(k.Top)-1].Value == "" {
			k.Top[len(k.Top)-1].Value = "(empty)"
		}
	}
}
