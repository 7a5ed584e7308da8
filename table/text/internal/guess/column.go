// Package guess finds what the texts in the columns of CSV may be: types, notations of numbers and dates, spellings of null. It makes the
// notices about what is not certain.
package guess

import (
	"bytes"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/textkind"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/table/text/internal/records"
)

// Column collects what the values of a column may be.
type Column struct {
	records.Guess
	nulls    []int // number of each of nullSpellings; nil: none
	dates    dates
	forms    []int    // number of texts in each of proposedForms; nil: none
	notation notation // of numbers
	spaced   int      // texts that are something else without the spaces around them
	units    int      // texts that are numbers with a sign of percent or of a currency
	percents int      // of these
	epochs   epochs   // of integers
	first    [4]string
}

// Examples of a Column.
const (
	firstDate = iota
	firstNumber
	firstSpaced
	firstUnit
)

// dates collects the texts that are dates in other notations than ISO 8601.
type dates struct {
	n, clocks, short int
	orders           text.DateOrders // possible for all
	digits           int             // most digits of a fraction of a second
}

// Add adds a value that is not empty. buf is for scratch.
func (g *Column) Add(b []byte, quoted bool, o *Options, buf *[]byte) {
	if k, ok := nullSpelling(b); ok && !quoted {
		if g.nulls == nil {
			g.nulls = make([]int, len(nullSpellings))
		}
		g.nulls[k]++
		return
	}
	if f := o.numbers(); !f.usual() {
		var ok bool
		if *buf, ok = f.rewrite((*buf)[:0], b); ok {
			g.Guess.Add(*buf)
			return
		}
		if text.IsNumber(b) {
			g.AddText(b)
			return
		}
	}
	if len(o.True)+len(o.False) > 0 {
		b = o.boolean(b)
	}
	if before := g.Texts(); g.Guess.Add(b) {
		g.look(b, before)
	} else if bytes.ContainsAny(b, ".eE") {
		g.notation.add(b)
	} else {
		g.epochs.add(b)
	}
}

// Empty reports whether the sample has no value.
func (g *Column) Empty(o *Options) bool { return g.Guess.Empty() && (g.nulls == nil || o.AutoNulls) }

// look looks at a text in which the common grammar finds nothing, as long as all texts before it, of which there are
// some, were of the same kind.
func (g *Column) look(b []byte, before int) {
	if g.dates.n == before {
		g.addDate(b)
	}
	if g.spaced == before {
		g.addSpaced(b)
	}
	if before == 0 || g.forms != nil {
		g.addForms(b, before)
	}
	if g.units == before && textkind.Of(b) == textkind.Unit {
		if g.units++; g.units == 1 {
			g.first[firstUnit] = string(b)
		}
		if bytes.IndexByte(b, '%') >= 0 {
			g.percents++
		}
	}
}

func (g *Column) addDate(b []byte) {
	d, ok := text.ParseLooseDate(b)
	if !ok {
		return
	}
	ds := &g.dates
	if ds.n++; ds.n == 1 {
		g.first[firstDate], ds.orders = string(b), d.Orders()
	}
	ds.orders &= d.Orders()
	if d.Clock {
		ds.clocks++
	}
	if d.ShortYear {
		ds.short++
	}
	ds.digits = max(ds.digits, d.Digits)
}

func (g *Column) addSpaced(b []byte) {
	t := bytes.Trim(b, " \t")
	if len(t) == len(b) || len(t) == 0 || len(t) > 40 || ClassOf(t) != Value || !text.IsNumber(t) {
		return
	}
	if g.spaced++; g.spaced == 1 {
		g.first[firstSpaced] = string(b)
	}
}

func (g *Column) addForms(b []byte, before int) {
	if len(b) > 40 || b[0]-'0' > 9 && b[0] != '-' && b[0] != ',' {
		g.forms = nil
		return
	}
	if g.forms == nil {
		g.forms = make([]int, len(proposedForms))
		g.first[firstNumber] = string(b)
	}
	alive := false
	for i, f := range proposedForms {
		if g.forms[i] != before {
			continue
		}
		if _, ok := f.rewrite(nil, b); ok {
			g.forms[i]++
			alive = true
		}
	}
	if !alive {
		g.forms = nil
	}
}

// Resolved is the type of a column.
type Resolved struct {
	Type arrow.DataType
	// Order is that of dates; 0: ISO 8601.
	Order text.DateOrders

	notation *notation // of floats in the sample; nil: any is read
}

// Setter reads the notations of the options and of the sample, before the setter of a column of a type.
func (r Resolved) Setter(set values.Setter, t arrow.DataType, o *Options) values.Setter {
	if r.notation != nil {
		set = r.notation.wrap(set, t)
	}
	return o.setter(set, t, r.Order)
}

// Resolve returns the type that holds every value, and adds notices about others that options would allow.
func (g *Column) Resolve(name string, o *Options, say *Findings) Resolved {
	var own Findings
	r := g.typed(name, o, &own)
	found := g.nullFlags(r.Type == nil)
	switch {
	case found == "" || o.AutoNulls:
	case r.Type != nil:
		say.add(finding{nullsFound, found}, name, text.Type(r.Type))
		return Resolved{Type: arrow.BinaryTypes.String}
	default:
		say.add(finding{textNullsFound, found}, name, "")
	}
	say.merge(&own)
	if r.Type == nil {
		r.Type = arrow.BinaryTypes.String
	}
	return r
}

// nullFlags are the flags that read the spellings of null in a column as such.
func (g *Column) nullFlags(isText bool) string {
	var flags []string
	for k, n := range g.nulls {
		if n > 0 && (!isText || k < sureSpellings) {
			flags = append(flags, "--null "+records.ShellQuote(nullSpellings[k]))
		}
	}
	return strings.Join(flags, " ")
}

// typed returns the type without regard to spellings of null; none for text.
func (g *Column) typed(name string, o *Options, say *Findings) (r Resolved) {
	t, notice, ok := g.Guess.Resolve()
	switch {
	case ok && t.ID() == arrow.FLOAT64 && o.numbers().usual():
		return g.typedFloats(name, t, say)
	case ok:
		if notice != "" {
			say.plain("column %q: %s", name, notice)
		}
		if example, ok := g.epochs.look(name); ok && t.ID() == arrow.INT64 {
			say.plain("column %q is read as integers: %s", name, example)
		}
		return Resolved{Type: t}
	case g.OnlyText() && g.dates.n == g.Texts():
		return g.typedDates(name, o, say)
	case g.Texts() > 0 && g.OnlyNumbers() && g.spaced == g.Texts():
		say.add(finding{spacesFound, ""}, name, g.first[firstSpaced])
		return r
	case g.Texts() > 0 && g.OnlyNumbers() && g.units == g.Texts():
		say.add(finding{unitsFound, g.unit()}, name, g.first[firstUnit])
		return r
	case g.Texts() > 0 && g.OnlyNumbers() && g.forms != nil:
		var flags []string
		for i, n := range g.forms[:2] {
			if n == g.Texts() {
				flags = append(flags, proposedForms[i].flags())
			}
		}
		if len(flags) == 0 {
			flags = []string{pointGroups.flags()}
		}
		say.add(finding{formFound, strings.Join(flags, " or ")}, name, g.first[firstNumber])
		return r
	}
	if notice != "" {
		say.plain("column %q is kept as text: it has %s", name, notice)
	}
	return r
}

// unit names what the texts with a unit are.
func (g *Column) unit() string {
	switch g.percents {
	case 0:
		return "amounts of money"
	case g.units:
		return "percentages"
	}
	return "percentages and amounts of money"
}

// typedFloats decides whether floats are text, as versions are.
func (g *Column) typedFloats(name string, t arrow.DataType, say *Findings) Resolved {
	n := &g.notation
	if example, ok := n.mayBeText(); ok {
		say.add(finding{versionsFound, ""}, name, example)
		return Resolved{}
	}
	if n.zero != "" {
		say.add(finding{zerosFound, ""}, name, n.zero)
	}
	return Resolved{Type: t, notation: n}
}

// typedDates decides the order of dates.
func (g *Column) typedDates(name string, o *Options, say *Findings) Resolved {
	ds := g.dates
	orders := ds.orders & o.orders()
	if o.Dates == DatesNone {
		return Resolved{}
	}
	t := arrow.DataType(arrow.FixedWidthTypes.Date32)
	switch {
	case ds.clocks == 0:
	case ds.clocks < ds.n:
		say.plain("column %q is kept as text: it has dates with and without a time of day (%q)", name, g.first[firstDate])
		return Resolved{}
	case ds.digits > 6:
		t = &arrow.TimestampType{Unit: arrow.Nanosecond}
	default:
		t = &arrow.TimestampType{Unit: arrow.Microsecond}
	}
	switch {
	case orders == 0:
		say.plain("column %q is kept as text: its dates (%q) are not all in one order%s", name, g.first[firstDate], o.orderFlag())
		return Resolved{}
	case o.Dates == DatesAuto && (ds.short > 0 || orders&(orders-1) != 0):
		say.add(finding{datesOpen, orderFlags(orders)}, name, g.first[firstDate])
		return Resolved{}
	}
	order := orders & -orders
	if o.Dates == DatesAuto {
		say.add(finding{datesTaken, order.String()}, name, g.first[firstDate])
	}
	return Resolved{Type: t, Order: order}
}

// Order is the order of the dates of a column whose type the caller gives.
func (g *Column) Order(o *Options) text.DateOrders {
	orders := g.dates.orders & o.orders()
	if g.dates.n == 0 || o.Dates == DatesAuto && (g.dates.short > 0 || orders&(orders-1) != 0) {
		return 0
	}
	return orders & -orders
}

func (o *Options) orderFlag() string {
	if o.Dates == DatesAuto {
		return ""
	}
	return ", that of --dates"
}

func orderFlags(orders text.DateOrders) string {
	var flags []string
	for i, name := range []string{"dmy", "mdy", "ymd"} {
		if orders&(1<<i) != 0 {
			flags = append(flags, "--dates "+name)
		}
	}
	return strings.Join(flags, " or ")
}
