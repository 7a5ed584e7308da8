package profile

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/engine/profile"
	"github.com/amudai/amudai-go/internal/text/textkind"
)

// texts finds what is odd about texts.
func (f *finder) texts() {
	t := f.c.Texts
	if t == nil || extension.IsJSON(f.c.Type) {
		return
	}
	if kind, typed := f.mostly(); typed != "" {
		f.keptAsText(kind, typed)
	} else {
		f.nullWords()
	}
	f.spellings()
	if t.Edges > 0 {
		f.add("blanks_around", f.ofCSV("--trim"), "%s with blanks, such as %s", some(t.Edges, "begins or ends", "begin or end"), at(*t.EdgeExample))
	}
	if t.Blank > 0 {
		f.add("blank", f.ofCSV("--trim"), "%s of blanks only", some(t.Blank, "consists", "consist"))
	}
	if t.Empty > 0 && t.Empty < f.values {
		f.add("empty", f.where("<> ''"), "%s empty", are(t.Empty))
	}
	if m := t.MixedCase; m != nil {
		f.add("mixed_case", f.where(fmt.Sprintf("in (%s, %s)", literal(m[0]), literal(m[1]))), "%s and %s differ only in case or blanks", quoted(m[0]), quoted(m[1]))
	}
}

// ofCSV is a flag for CSV, if the input is that.
func (f *finder) ofCSV(flag string) string {
	if !f.csv {
		return ""
	}
	return flag
}

// at is an example with the number of its row.
func at(e profile.Example) string {
	if e.Row < 0 {
		return quoted(e.Text)
	}
	return fmt.Sprintf("%s in row %s", quoted(e.Text), terminal.Count(e.Row+1))
}

// counts are the numbers of texts by what they may be converted to.
type counts struct{ numbers, floats, bools, times, words, missing int64 }

func (f *finder) counts() (n counts) {
	for _, k := range f.c.Texts.Kinds {
		switch {
		case k.Kind.Number():
			n.numbers += k.Count
			if k.Kind == textkind.Float || k.Kind == textkind.Grouped || k.Kind == textkind.Unit {
				n.floats += k.Count
			}
		case k.Kind == textkind.Bool:
			n.bools += k.Count
		case k.Kind == textkind.Time:
			n.times += k.Count
		case k.Kind == textkind.Other:
			n.words += k.Count
		default:
			n.missing += k.Count
		}
	}
	return n
}

// mostly returns what nine of ten texts are, and the type for them, or "".
func (f *finder) mostly() (kind, typed string) {
	n := f.counts()
	whole := n.numbers + n.bools + n.times + n.words
	switch {
	case whole == 0:
	case n.numbers*10 >= whole*9 && n.floats == 0:
		return "numbers", "int64"
	case n.numbers*10 >= whole*9:
		return "numbers", "float64"
	case n.bools*10 >= whole*9:
		return "booleans", "bool"
	case n.times*10 >= whole*9:
		return "times", cmp.Or(f.timeType(), "text")
	}
	return "", ""
}

// timeType is the type for most times.
func (f *finder) timeType() string {
	if len(f.c.Texts.Shapes) == 0 {
		return ""
	}
	switch s := f.c.Texts.Shapes[0].Shape; {
	case !strings.HasPrefix(s, "yyyy-mm-dd") && !strings.HasPrefix(s, "hh"):
		return "" // --schema reads ISO 8601 only
	case !strings.Contains(s, "hh"):
		return "date32"
	case strings.Contains(s, "y") && (strings.Contains(s, "Z") || strings.Contains(s, "+")):
		return "timestamp[us,UTC]"
	case strings.Contains(s, "y"):
		return "timestamp[us]"
	}
	return "time64[us]"
}

// keptAsText tells why numbers, booleans or times are kept as text: the texts that are none.
func (f *finder) keptAsText(kind, typed string) {
	n := f.counts()
	of := map[string]int64{"numbers": n.numbers, "booleans": n.bools, "times": n.times}[kind]
	code := map[string]string{"numbers": "numbers_as_text", "booleans": "booleans_as_text", "times": "times_as_text"}[kind]
	text := fmt.Sprintf("%s kept as text", kind)
	if of < f.values {
		text = fmt.Sprintf("%s of %s are %s kept as text", terminal.Count(of), terminal.Plural(f.values, "value"), kind)
	}
	var reasons []string
	action := ""
	for _, k := range f.c.Texts.Kinds {
		why, flag := f.reason(k, kind)
		if why == "" {
			continue
		}
		if reasons = append(reasons, why); action == "" {
			action = flag
		}
	}
	if len(reasons) > 0 {
		text += ": " + strings.Join(reasons, "; ")
	}
	if code == "booleans_as_text" && f.csv {
		action = f.boolFlags()
	} else if action == "" && (len(reasons) == 0 || code == "numbers_as_text" && typed == "int64" && f.kindCount(textkind.LeadingZero) > 0) {
		if action = f.schema(typed); typed == "text" || kind == "times" && len(f.c.Texts.Shapes) > 1 {
			action = ""
		}
	}
	f.add(code, action, "%s", text)
}

// boolFlags are the flags of CSV for the spellings of booleans, "" if these are the usual ones.
func (f *finder) boolFlags() string {
	var flags []string
	for _, k := range f.c.Texts.Kinds {
		if k.Kind != textkind.Bool {
			continue
		}
		for _, v := range k.Top {
			switch strings.ToLower(v.Text) {
			case "yes", "y", "t", "on":
				flags = append(flags, "--true "+v.Text)
			case "no", "n", "f", "off":
				flags = append(flags, "--false "+v.Text)
			}
		}
	}
	return strings.Join(flags, " ")
}

func (f *finder) kindCount(kind textkind.Kind) int64 {
	for _, k := range f.c.Texts.Kinds {
		if k.Kind == kind {
			return k.Count
		}
	}
	return 0
}

// reason says why texts of a kind keep a column of other texts from having their type, and the flag that changes it.
func (f *finder) reason(k profile.OfKind, mostly string) (why, flag string) {
	numbers := mostly == "numbers"
	switch {
	case k.Kind == textkind.Placeholder:
		top := k.Top
		if len(top) == 0 {
			return at(k.First) + " is none", f.null(k.First.Text)
		}
		return fmt.Sprintf("%s (%s) looks like null", at(profile.Example{Text: top[0].Text, Row: f.rowOf(k, top[0].Text)}), times(top[0].Count)), f.null(top[0].Text)
	case k.Kind == textkind.Empty, k.Kind == textkind.Blank:
		return "", ""
	case k.Kind == textkind.LeadingZero && numbers:
		return fmt.Sprintf("%s leading zeros, such as %s, which a number loses", some(k.Count, "has", "have"), at(k.First)), ""
	case k.Kind == textkind.Grouped && numbers:
		return fmt.Sprintf("%s separators of digits, such as %s", some(k.Count, "has", "have"), at(k.First)), f.grouped(k)
	case k.Kind == textkind.Unit && numbers:
		return fmt.Sprintf("%s a unit, such as %s", some(k.Count, "has", "have"), at(k.First)), ""
	case numbers && k.Kind.Number(), mostly == "booleans" && k.Kind == textkind.Bool, mostly == "times" && k.Kind == textkind.Time:
		return "", ""
	}
	return fmt.Sprintf("%s none, such as %s", are(k.Count), at(k.First)), ""
}

// rowOf is the first row of a text, if that is the first of its kind.
func (f *finder) rowOf(k profile.OfKind, text string) int64 {
	if k.First.Text == text {
		return k.First.Row
	}
	return -1
}

// null is the flag, or the condition, for a text that means null.
func (f *finder) null(text string) string {
	if f.csv {
		if strings.ContainsAny(text, " '\"$`\\!*?<>|&;()#") {
			return "--null " + shellQuote(text)
		}
		return "--null " + text
	}
	return f.where("<> " + literal(text))
}

// grouped is the flag for numbers with separators.
func (f *finder) grouped(k profile.OfKind) string {
	s := k.First.Text
	last := strings.LastIndexAny(s, ".,")
	switch {
	case last < 0:
		return ""
	case s[last] == ',' && strings.Contains(s, "."):
		return f.ofCSV("--decimal , --thousands .")
	case s[last] == ',' && len(s)-last-1 != 3:
		return f.ofCSV("--decimal ,")
	case s[last] == ',' || strings.Contains(s, ","):
		return f.ofCSV("--thousands ,")
	}
	return f.ofCSV("--thousands .")
}

// nullWords finds texts that look like null among words.
func (f *finder) nullWords() {
	for _, k := range f.c.Texts.Kinds {
		if k.Kind != textkind.Placeholder || len(k.Top) == 0 || k.Count == f.values {
			continue
		}
		var list []string
		for _, v := range k.Top[:min(len(k.Top), 3)] {
			list = append(list, fmt.Sprintf("%s (%s)", quoted(v.Text), times(v.Count)))
		}
		f.add("placeholder", f.null(k.Top[0].Text), "%s: %s like null", strings.Join(list, ", "), map[bool]string{true: "looks", false: "look"}[len(list) == 1])
	}
}

// spellings finds times of several spellings or zones.
func (f *finder) spellings() {
	var list []string
	total, times := int64(0), f.c.Texts.Shapes
	for _, s := range times {
		total += s.Count
		list = append(list, fmt.Sprintf("%s (%s, %s)", s.Shape, terminal.Count(s.Count), at(*s.First)))
	}
	if len(list) < 2 || total*2 < f.values {
		return
	}
	if len(list) > 4 {
		list = append(list[:4], fmt.Sprintf("and %s more", terminal.Count(len(times)-4)))
	}
	f.add("mixed_times", f.dates(), "times in %s: %s", terminal.Plural(len(times), "spelling"), strings.Join(list, ", "))
}

// dates is the flag for dates of one order, "" if none reads them all.
func (f *finder) dates() string {
	order := ""
	for _, s := range f.c.Texts.Shapes {
		of := ""
		switch {
		case strings.HasPrefix(s.Shape, "dd") && !strings.Contains(s.Shape, "mon"):
			of = "dmy"
		case strings.HasPrefix(s.Shape, "mm"):
			of = "mdy"
		case strings.HasPrefix(s.Shape, "nn"):
			continue
		default:
			return ""
		}
		if order != "" && order != of {
			return ""
		}
		order = of
	}
	if order == "" {
		return ""
	}
	return f.ofCSV("--dates " + order)
}
