package csv

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/table/text/internal/records"
)

// nullSpellings are the spellings of null that are recognized. The first ones mean nothing else, the others are also
// values of text: NA is Namibia.
var nullSpellings = []string{
	"NULL", "null", "Null", "N/A", "n/a", "#N/A", `\N`, "<NA>", "<null>",
	"NA", "na", "None", "none", "nil", "#NA", "NaT", "-", "--", "?", ".", "..",
}

const sureSpellings = 9 // of nullSpellings

// nullSpelling returns the index of a spelling of null.
func nullSpelling(b []byte) (int, bool) {
	if len(b) == 0 || len(b) > 6 {
		return 0, false
	}
	switch b[0] {
	case 'N', 'n', '#', '\\', '<', '-', '?', '.':
		for i, s := range nullSpellings {
			if string(b) == s {
				return i, true
			}
		}
	}
	return 0, false
}

// guess collects what the values of a column may be.
type guess struct {
	records.Guess
	nulls    []int // number of each of nullSpellings; nil: none
	dates    dates
	forms    []int    // number of texts in each of proposedForms; nil: none
	notation notation // of numbers
	spaced   int      // texts that are something else without the spaces around them
	first    [3]string
}

// Examples of a guess.
const (
	firstDate = iota
	firstNumber
	firstSpaced
)

// dates collects the texts that are dates in other notations than ISO 8601.
type dates struct {
	n, clocks, short int
	orders           text.DateOrders // possible for all
	digits           int             // most digits of a fraction of a second
}

// add adds a value that is not null. buf is for scratch.
func (g *guess) add(c cell, o *Options, buf *[]byte) {
	b := c.text
	if k, ok := nullSpelling(b); ok && !c.quoted {
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
	}
}

// look looks at a text in which the common grammar finds nothing, as long as all texts before it, of which there are
// some, were of the same kind.
func (g *guess) look(b []byte, before int) {
	if g.dates.n == before {
		g.addDate(b)
	}
	if g.spaced == before {
		g.addSpaced(b)
	}
	if before == 0 || g.forms != nil {
		g.addForms(b, before)
	}
}

func (g *guess) addDate(b []byte) {
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

func (g *guess) addSpaced(b []byte) {
	t := bytes.Trim(b, " \t")
	if len(t) == len(b) || len(t) == 0 || len(t) > 40 || classOf(t) != classValue || !text.IsNumber(t) {
		return
	}
	if g.spaced++; g.spaced == 1 {
		g.first[firstSpaced] = string(b)
	}
}

func (g *guess) addForms(b []byte, before int) {
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

// autoNull reports whether a field is a spelling of null, in columns of text or of other types.
func autoNull(b []byte, isText bool) bool {
	k, ok := nullSpelling(b)
	return ok && (!isText || k < sureSpellings)
}

// resolved is the type of a column.
type resolved struct {
	t     arrow.DataType
	order text.DateOrders // of dates; 0: ISO 8601

	notation *notation // of floats in the sample; nil: any is read
}

// resolve returns the type that holds every value, and adds notices about others that options would allow.
func (g *guess) resolve(name string, o *Options, say *findings) resolved {
	var own findings
	r := g.typed(name, o, &own)
	found := g.nullFlags(r.t == nil)
	switch {
	case found == "" || o.AutoNulls:
	case r.t != nil:
		say.add(finding{nullsFound, found}, name, text.Type(r.t))
		return resolved{t: arrow.BinaryTypes.String}
	default:
		say.add(finding{textNullsFound, found}, name, "")
	}
	say.merge(&own)
	if r.t == nil {
		r.t = arrow.BinaryTypes.String
	}
	return r
}

// nullFlags are the flags that read the spellings of null in a column as such.
func (g *guess) nullFlags(isText bool) string {
	var flags []string
	for k, n := range g.nulls {
		if n > 0 && (!isText || k < sureSpellings) {
			flags = append(flags, "--null "+records.ShellQuote(nullSpellings[k]))
		}
	}
	return strings.Join(flags, " ")
}

// typed returns the type without regard to spellings of null; none for text.
func (g *guess) typed(name string, o *Options, say *findings) (r resolved) {
	t, notice, ok := g.Resolve()
	switch {
	case ok && t.ID() == arrow.FLOAT64 && o.numbers().usual():
		return g.typedFloats(name, t, say)
	case ok:
		if notice != "" {
			say.plain("column %q: %s", name, notice)
		}
		return resolved{t: t}
	case g.OnlyText() && g.dates.n == g.Texts():
		return g.typedDates(name, o, say)
	case g.Texts() > 0 && g.OnlyNumbers() && g.spaced == g.Texts():
		say.add(finding{spacesFound, ""}, name, g.first[firstSpaced])
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

// typedFloats decides whether floats are text, as versions are.
func (g *guess) typedFloats(name string, t arrow.DataType, say *findings) resolved {
	n := &g.notation
	if example, ok := n.mayBeText(); ok {
		say.add(finding{versionsFound, ""}, name, example)
		return resolved{}
	}
	if n.zero != "" {
		say.add(finding{zerosFound, ""}, name, n.zero)
	}
	return resolved{t: t, notation: n}
}

// typedDates decides the order of dates.
func (g *guess) typedDates(name string, o *Options, say *findings) resolved {
	ds := g.dates
	orders := ds.orders & o.orders()
	if o.Dates == DatesNone {
		return resolved{}
	}
	t := arrow.DataType(arrow.FixedWidthTypes.Date32)
	switch {
	case ds.clocks == 0:
	case ds.clocks < ds.n:
		say.plain("column %q is kept as text: it has dates with and without a time of day (%q)", name, g.first[firstDate])
		return resolved{}
	case ds.digits > 6:
		t = &arrow.TimestampType{Unit: arrow.Nanosecond}
	default:
		t = &arrow.TimestampType{Unit: arrow.Microsecond}
	}
	switch {
	case orders == 0:
		say.plain("column %q is kept as text: its dates (%q) are not all in one order%s", name, g.first[firstDate], o.orderFlag())
		return resolved{}
	case o.Dates == DatesAuto && (ds.short > 0 || orders&(orders-1) != 0):
		say.add(finding{datesOpen, orderFlags(orders)}, name, g.first[firstDate])
		return resolved{}
	}
	order := orders & -orders
	if o.Dates == DatesAuto {
		say.add(finding{datesTaken, order.String()}, name, g.first[firstDate])
	}
	return resolved{t: t, order: order}
}

// order is the order of the dates of a column whose type the caller gives.
func (g *guess) order(o *Options) text.DateOrders {
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

// findingKind is a reason for a notice about several columns.
type findingKind uint8

const (
	nullsFound findingKind = iota
	textNullsFound
	datesTaken
	datesOpen
	formFound
	spacesFound
	versionsFound
	zerosFound
)

// finding is a reason for a notice, with its flag or order.
type finding struct {
	kind   findingKind
	detail string
}

// findings collects notices about columns: a line for all columns with the same finding.
type findings struct {
	order   []finding
	columns map[finding][]string
	example map[finding]string
	texts   []string
}

func (f *findings) plain(format string, args ...any) {
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}

func (f *findings) add(x finding, column, example string) {
	if f.columns == nil {
		f.columns, f.example = map[finding][]string{}, map[finding]string{}
	}
	if len(f.columns[x]) == 0 {
		f.order = append(f.order, x)
		f.example[x] = example
	}
	f.columns[x] = append(f.columns[x], column)
}

// merge adds the findings about one column.
func (f *findings) merge(g *findings) {
	for _, x := range g.order {
		f.add(x, g.columns[x][0], g.example[x])
	}
	f.texts = append(f.texts, g.texts...)
}

// give passes the notices on.
func (f *findings) give(say *records.Notices) {
	for _, x := range f.order {
		names, example := f.columns[x], f.example[x]
		list := columnList(names)
		one := len(names) == 1
		pick := func(singular, plural string) string {
			if one {
				return singular
			}
			return plural
		}
		switch x.kind {
		case nullsFound:
			say.Add("%s %s kept as text: %s makes %s %s (--null auto takes such spellings)", list, pick("is", "are"), x.detail, pick("it", "the first"), example)
		case textNullsFound:
			say.Add("%s %s spellings of null, which stay text: %s reads them as null", list, pick("has", "have"), x.detail)
		case datesTaken:
			say.Add("%s %s dates as %s (%q): --dates none keeps them as text", list, pick("has", "have"), x.detail, example)
		case datesOpen:
			say.Add("%s %s kept as text: the order of dates such as %q is not certain: %s reads them", list, pick("is", "are"), example, x.detail)
		case formFound:
			say.Add("%s %s kept as text: %s reads numbers such as %q", list, pick("is", "are"), x.detail, example)
		case versionsFound:
			say.Add("%s %s kept as text: %q may be a version or a name as well as a number: --schema %s reads numbers", list, pick("is", "are"), example, records.ShellQuote(text.Name(names[0])+":float64"))
		case zerosFound:
			say.Add("%s %s read as numbers, without zeros at the end (%q): --schema %s keeps them", list, pick("is", "are"), example, records.ShellQuote(text.Name(names[0])+":utf8"))
		case spacesFound:
			say.Add("%s %s kept as text: --trim removes the spaces around numbers such as %q", list, pick("is", "are"), example)
		}
	}
	for _, t := range f.texts {
		say.Add("%s", t)
	}
	say.End()
}

// columnList names the first columns of a list.
func columnList(names []string) string {
	if len(names) == 1 {
		return fmt.Sprintf("column %q", names[0])
	}
	const most = 4
	quoted := make([]string, min(len(names), most))
	for i := range quoted {
		quoted[i] = fmt.Sprintf("%q", names[i])
	}
	if len(names) > most {
		return fmt.Sprintf("columns %s and %d more", strings.Join(quoted, ", "), len(names)-most)
	}
	return "columns " + strings.Join(quoted[:len(quoted)-1], ", ") + " and " + quoted[len(quoted)-1]
}
