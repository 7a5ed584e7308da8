package profile

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/engine/profile"
	"github.com/amudai/amudai-go/internal/text"
)

// Finding is something odd about a column, or worth to know.
type Finding struct {
	Code   string `json:"code"`             // stable; docs/command-line.md lists them
	Text   string `json:"text"`             // a sentence without its full stop
	Action string `json:"action,omitempty"` // a flag or command that acts on it
}

// findings returns what is odd about a column.
func findings(c *profile.Column, csv bool) []Finding {
	f := finder{c: c, csv: csv, values: c.Count - c.Nulls}
	if c.Count == 0 || c.Class == profile.Struct {
		return nil
	}
	f.nulls()
	if f.values > 0 {
		f.distinct()
		f.texts()
		f.numbers()
		f.placeholders()
		f.order()
		f.digits()
	}
	return f.list
}

type finder struct {
	c      *profile.Column
	csv    bool  // the input is CSV, so that its flags apply
	values int64 // that are not null
	list   []Finding
}

func (f *finder) add(code, action, format string, args ...any) {
	f.list = append(f.list, Finding{Code: code, Text: fmt.Sprintf(format, args...), Action: action})
}

// name is the column in a condition.
func (f *finder) name() string { return filter.Col(f.c.Path).String() }

// where is a flag that selects rows. A text that the shell would change is quoted.
func (f *finder) where(condition string) string {
	if f.c.Items {
		return ""
	}
	return "--where " + shellQuote(f.name()+" "+condition)
}

func shellQuote(s string) string {
	if strings.ContainsAny(s, `"$`+"`\\!") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return `"` + s + `"`
}

func literal(s string) string { return filter.Lit(s).String() }

// schema is a flag that changes the type of the column.
func (f *finder) schema(dt string) string {
	if f.c.Depth > 0 {
		return ""
	}
	return "--schema " + shellQuote(text.Name(f.c.Name)+":"+dt)
}

func (f *finder) nulls() {
	c := f.c
	switch {
	case c.Nulls == c.Count:
		f.add("all_null", "", "every value is null")
	case c.Nulls*20 >= c.Count*19:
		f.add("nearly_all_null", f.where("is not null"), "%s of %s are null", percent(c.Nulls, c.Count), terminal.Plural(c.Count, f.unit()))
	}
}

func (f *finder) unit() string {
	if f.c.Items {
		return "item"
	}
	return "row"
}

func (f *finder) distinct() {
	c := f.c
	repeated := f.values - c.Distinct
	switch {
	case c.Distinct == 1 && c.DistinctExact && f.values > 1:
		value := ""
		if c.Min != nil {
			value = ": " + shown(c, *c.Min)
		}
		f.add("constant", "", "every value is the same%s", value)
	case c.Distinct < 0 || f.values < 10 || c.Class == profile.Bool:
	case c.Distinct == f.values && c.DistinctExact && c.Nulls == 0 && !f.isMeasure():
		f.add("unique", "amudai diff --key "+shellQuote(c.Path), "every value is different: a key?")
	case c.Class == profile.Text && repeated*100 <= f.values && f.values >= 100:
		about := ""
		if !c.DistinctExact {
			about = "about "
		}
		f.add("nearly_unique", "amudai top --by "+shellQuote(f.name()), "nearly every value is different: %s%s of %s", about, terminal.Count(c.Distinct), terminal.Count(f.values))
	}
}

// isMeasure reports whether values are measured rather than given, so that their being different says nothing.
func (f *finder) isMeasure() bool {
	plain, _ := extension.Unwrap(f.c.Type)
	return arrow.IsFloating(plain.ID()) || arrow.IsDecimal(plain.ID()) || f.c.Items
}

// exactDigits are those of the decimals that a profile describes exactly.
const exactDigits = 18

func (f *finder) digits() {
	plain, _ := extension.Unwrap(f.c.Type)
	if d, ok := plain.(arrow.DecimalType); ok && d.GetPrecision() > exactDigits {
		name := f.name()
		f.add("rounded", "amudai agg IN "+shellQuote("min("+name+"), max("+name+")"), "decimals of up to %d digits are described as floats: bounds and values are rounded to 16 digits", d.GetPrecision())
	}
}

func (f *finder) order() {
	if f.c.Order == profile.NoOrder || f.values < 100 || f.c.Items {
		return
	}
	action := ""
	if f.c.Min != nil && f.c.Max != nil {
		action = f.where(fmt.Sprintf("between %s and %s", f.literal(*f.c.Min), f.literal(*f.c.Max)))
	}
	f.add("sorted", action, "%s: ranges of it read few rows of a shard or of Parquet", f.c.Order)
}

// literal is a value as a condition has it.
func (f *finder) literal(v profile.Value) string {
	if f.c.Class == profile.Number {
		return v.Text
	}
	return literal(v.Text)
}

func (f *finder) numbers() {
	n := f.c.Numbers
	if n == nil {
		return
	}
	if n.NaNs > 0 {
		f.add("nan", f.where("is nan"), "%s not a number", are(n.NaNs))
	}
	if n.Infinite > 0 {
		f.add("infinite", "", "%s infinite, and left out of the mean and the deviation", are(n.Infinite))
	}
	plain, _ := extension.Unwrap(f.c.Type)
	c := f.c
	switch {
	case c.Class != profile.Number:
	case c.Distinct == 2 && c.DistinctExact && c.Min != nil && c.Min.Text == "0" && c.Max.Text == "1":
		f.add("boolean_as_number", f.schema("bool"), "0 and 1 are the only values")
	case arrow.IsFloating(plain.ID()) && !n.Fractions && n.NaNs == 0 && n.Infinite == 0 && c.Min.Float > -1<<53 && c.Max.Float < 1<<53 && f.values > 1:
		f.add("integers_as_floats", f.schema("int64"), "every value is an integer")
	}
	if c.Class == profile.Number && n.Zeros*10 >= f.values*9 && n.Zeros < f.values {
		f.add("mostly_zero", f.where("<> 0"), "%s of the values are zero", percent(n.Zeros, f.values))
	}
}

// some is a number of values with the verb behind it: "1 value is", "2 values are".
func some(n int64, one, several string) string {
	if n == 1 {
		return "1 value " + one
	}
	return terminal.Count(n) + " values " + several
}

func are(n int64) string { return some(n, "is", "are") }

// placeholders finds frequent values at the ends of the range that stand for missing ones.
func (f *finder) placeholders() {
	c := f.c
	if c.Top == nil || c.Numbers == nil || len(c.Numbers.Quantiles) == 0 || c.Distinct < 3 {
		return
	}
	for _, v := range c.Top.Values {
		odd := false
		switch c.Class {
		case profile.Number:
			odd = isFiller(v.Text) && f.isFar(v.Value)
		case profile.Time:
			odd = isFillerTime(v.Text) && (v.Text == c.Min.Text || v.Text == c.Max.Text)
		}
		if odd && v.Count > 1 {
			f.add("filler", f.where("<> "+f.literal(v.Value)), "%s occurs %s and is far from the others: does it stand for null?", v.Text, times(v.Count))
		}
	}
}

// isFiller reports whether a number is one that people write for a missing one.
func isFiller(s string) bool {
	digits := strings.TrimSuffix(strings.TrimPrefix(s, "-"), ".0")
	if len(digits) >= 2 && strings.Trim(digits, "9") == "" {
		return true
	}
	return s == "-1" || s == "-1.0" || s == "2147483647" || s == "-2147483648" || s == "9223372036854775807" || s == "-9223372036854775808"
}

// isFar reports whether a value is the least or greatest, and further from the next quartile than all of the values between the quartiles.
func (f *finder) isFar(v profile.Value) bool {
	q := f.c.Numbers.Quantiles
	low, high := q[1].Float, q[3].Float
	reach := 2 * (high - low)
	switch v.Text {
	case f.c.Min.Text:
		return v.Float < low-reach
	case f.c.Max.Text:
		return v.Float > high+reach
	}
	return false
}

func isFillerTime(s string) bool {
	for _, p := range []string{"1970-01-01", "1900-01-01", "1899-12-30", "1899-12-31", "1904-01-01", "0001-01-01", "1000-01-01", "1753-01-01", "9999-12-31", "2999-12-31", "2099-12-31", "1999-12-31"} {
		if rest, ok := strings.CutPrefix(s, p); ok && strings.Trim(rest, "T0:.Z ") == "" {
			return true
		}
	}
	return false
}

func times(n int64) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return terminal.Count(n) + " times"
}

// percent is a share without the space and digits that a sentence does not need.
func percent(part, whole int64) string {
	return strings.Replace(terminal.Percent(float64(part), float64(whole)), " ", "\u00a0", 1)
}

// shown is a value in a sentence: a text has quotes, and is short.
func shown(c *profile.Column, v profile.Value) string {
	if c.Class == profile.Text {
		return quoted(v.Text)
	}
	return v.Text
}

func quoted(s string) string { return `"` + terminal.Clip(terminal.Printable(s), 32) + `"` }
