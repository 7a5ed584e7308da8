package filtertest

import (
	"fmt"
	"math/big"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
)

// computed makes a condition on a value that is computed from a column, and its oracle. ok is false if the values of the column are too
// large for it.
func (g *Gen) computed(c *column) (e filter.Expr, o Oracle, ok bool) {
	name := filter.Col(c.path).String()
	expression, value := "", func(v any) any { return nil }
	switch c.kind {
	case "time":
		expression, value = g.timePart(c, name)
	case "number":
		expression, value = g.arithmetic(c, name)
	case "text":
		expression, value = g.textValue(name)
	case "bool":
		expression = fmt.Sprintf("if(%s, 1, case when not %s then 2 end)", name, name)
		value = func(v any) any { return big.NewRat(map[bool]int64{true: 1, false: 2}[v.(bool)], 1) }
	}
	if expression == "" {
		return e, nil, false
	}
	values := make([]any, len(c.values))
	for i, v := range c.values {
		if v != nil {
			values[i] = value(v)
		}
	}
	made := &column{path: expression, kind: "number", dt: arrow.PrimitiveTypes.Int64, values: values}
	if strings.HasPrefix(expression, "lower(") || strings.HasPrefix(expression, "substr(") {
		made.kind, made.dt = "text", arrow.BinaryTypes.String
	}
	if g.Rand.IntN(8) == 0 {
		return parsed(expression + " is null"), func(row int) Truth { return truth(values[row] == nil) }, true
	}
	op := g.Rand.IntN(6)
	lit, oracle := g.comparison(made, op)
	return parsed(fmt.Sprintf("%s %s %s", expression, []string{"=", "<>", "<", "<=", ">", ">="}[op], lit)), oracle, true
}

func parsed(text string) filter.Expr {
	e, err := filter.Parse(text)
	if err != nil {
		panic(err)
	}
	return e
}

// timePart is a part of a date or timestamp in its time zone.
func (g *Gen) timePart(c *column, name string) (string, func(v any) any) {
	location := time.UTC
	if t, ok := c.dt.(*arrow.TimestampType); ok && t.TimeZone != "" {
		var err error
		if location, err = time.LoadLocation(t.TimeZone); err != nil {
			return "", nil
		}
	}
	for _, v := range c.values {
		if v != nil && v.(*big.Rat).Num().BitLen() > 85 { // a million years
			return "", nil
		}
	}
	parts := []struct {
		name string
		of   func(t time.Time) int
	}{
		{"year", time.Time.Year}, {"quarter", func(t time.Time) int { return (int(t.Month()) + 2) / 3 }}, {"month", func(t time.Time) int { return int(t.Month()) }},
		{"day", time.Time.Day}, {"dayofweek", func(t time.Time) int { return int(t.Weekday()) }}, {"dayofyear", time.Time.YearDay},
		{"week", func(t time.Time) int { _, w := t.ISOWeek(); return w }}, {"hour", time.Time.Hour}, {"minute", time.Time.Minute}, {"second", time.Time.Second},
	}
	part := parts[g.Rand.IntN(len(parts))]
	if g.Rand.IntN(3) == 0 {
		part = parts[0]
	}
	return fmt.Sprintf("%s(%s)", part.name, name), func(v any) any {
		seconds := floor(new(big.Rat).Quo(v.(*big.Rat), big.NewRat(1e9, 1)))
		return big.NewRat(int64(part.of(time.Unix(seconds.Int64(), 0).In(location))), 1)
	}
}

// arithmetic is an operation of integers with a small number.
func (g *Gen) arithmetic(c *column, name string) (string, func(v any) any) {
	if !arrow.IsInteger(c.dt.ID()) {
		return "", nil
	}
	k := big.NewInt(1 + g.Rand.Int64N(20))
	ops := []struct {
		form string
		of   func(z, x, y *big.Int) *big.Int
	}{
		{"%s + %v", (*big.Int).Add}, {"%s - %v", (*big.Int).Sub}, {"%s * %v", (*big.Int).Mul}, {"%s // %v", (*big.Int).Quo}, {"%s %% %v", (*big.Int).Rem},
		{"%[2]v + %[1]s", (*big.Int).Add}, {"%[2]v - %[1]s", func(z, x, y *big.Int) *big.Int { return z.Sub(y, x) }},
	}
	op := ops[g.Rand.IntN(len(ops))]
	value := func(v any) any { return new(big.Rat).SetInt(op.of(new(big.Int), v.(*big.Rat).Num(), k)) }
	for _, v := range c.values {
		if v == nil {
			continue
		}
		if n := value(v).(*big.Rat).Num(); c.dt.ID() == arrow.UINT64 && !n.IsUint64() || c.dt.ID() != arrow.UINT64 && !n.IsInt64() {
			return "", nil
		}
	}
	return fmt.Sprintf(op.form, name, k), value
}

// textValue is a string made of a string, or its length.
func (g *Gen) textValue(name string) (string, func(v any) any) {
	switch g.Rand.IntN(3) {
	case 0:
		return fmt.Sprintf("lower(%s)", name), func(v any) any { return strings.ToLower(v.(string)) }
	case 1:
		return fmt.Sprintf("length(%s)", name), func(v any) any { return big.NewRat(int64(utf8.RuneCountInString(v.(string))), 1) }
	}
	from, n := 1+g.Rand.IntN(4), g.Rand.IntN(5)
	return fmt.Sprintf("substr(%s, %d, %d)", name, from, n), func(v any) any {
		r := []rune(v.(string))
		at := min(from-1, len(r))
		return string(r[at:min(at+n, len(r))])
	}
}
