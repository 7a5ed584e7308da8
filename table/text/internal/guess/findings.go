package guess

import (
	"fmt"
	"strings"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/table/text/internal/records"
)

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
	unitsFound
)

// finding is a reason for a notice, with its flag or order.
type finding struct {
	kind   findingKind
	detail string
}

// Findings collects notices about columns: a line for all columns with the same finding.
type Findings struct {
	order   []finding
	columns map[finding][]string
	example map[finding]string
	texts   []string
}

func (f *Findings) plain(format string, args ...any) {
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}

func (f *Findings) add(x finding, column, example string) {
	if f.columns == nil {
		f.columns, f.example = map[finding][]string{}, map[finding]string{}
	}
	if len(f.columns[x]) == 0 {
		f.order = append(f.order, x)
		f.example[x] = example
	}
	f.columns[x] = append(f.columns[x], column)
}

// merge adds the Findings about one column.
func (f *Findings) merge(g *Findings) {
	for _, x := range g.order {
		f.add(x, g.columns[x][0], g.example[x])
	}
	f.texts = append(f.texts, g.texts...)
}

// Give passes the notices on.
func (f *Findings) Give(say *records.Notices) {
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
		case unitsFound:
			say.Add("%s %s kept as text: %s such as %q have a sign that numbers lack", list, pick("is", "are"), x.detail, example)
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
