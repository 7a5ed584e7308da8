package filter

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/valueset"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
)

// same reports whether two trees are equal except for positions.
func same(a, b *ast.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Op != b.Op || a.Name != b.Name || a.Fold != b.Fold || a.Path != b.Path || a.Lit != b.Lit || len(a.Args) != len(b.Args) {
		return false
	}
	for i := range a.Args {
		if !same(a.Args[i], b.Args[i]) {
			return false
		}
	}
	return true
}

func TestText(t *testing.T) {
	for _, c := range []struct{ text, want string }{ // want "": the text itself
		{"origin = 'SFO' and delay > 300 and date >= '2001-01-05'", ""},
		{"a = 1 or b = 2 and not c = 3", ""},
		{"(a = 1 or b = 2) and not (c = 3 and d = 4)", ""},
		{"((a = 1)) AND ((b = 2) AND c = 3)", "a = 1 and b = 2 and c = 3"},
		{"a==1 && b!=2 or !c", "a = 1 and b <> 2 or not c"},
		{"a in (1,2 , 'x',null)", "a in (1, 2, 'x', null)"},
		{"a not in ()", ""},
		{"not a in (1)", "a not in (1)"},
		{"not not a in (1)", "not a not in (1)"},
		{"a between 1 and 2 and b", ""},
		{"a not between -1.5 and +2e3", "a not between -1.5 and 2e3"},
		{"a is not null and b is nan or c is not nan", ""},
		{"is_null(a) or isnan(b)", "a is null or b is nan"},
		{"starts_with(a, 'x') and iends_with(b, 'y') and ilike(c, '%')", "a starts with 'x' and b iends with 'y' and c ilike '%'"},
		{"a istarts with 'x' and a not ends with 'y' and a icontains 'z'", ""},
		{"a ~ 'x' and a !~ 'y' and a ~* 'z' and a !~* 'z'", "a matches 'x' and a not matches 'y' and a imatches 'z' and a not imatches 'z'"},
		{"a equals 'x' and b iequals 'y'", ""},
		{"300 < delay", ""},
		{"(a) = 1", "a = 1"},
		{"a.b.c = 1", ""},
		{`"a.b".c = 1`, ""},
		{`a\.b.c = 1`, `"a.b".c = 1`},
		{"`US Gross` > 1", `"US Gross" > 1`},
		{`"say ""hi""" = 1`, ""},
		{`"" = 1 and "and" = 2 and größe = 3`, ""},
		{`"a\b" = 1`, ""},
		{"a = 'it''s'", ""},
		{`a = 'back\slash'`, ""},
		{`a = e'tab\tquote\'\x00\u00e9'`, `a = e'tab\x09quote\'\x00é'`},
		{"a = x'00fF'", "a = x'00ff'"},
		{"a = 0xff and b = 0b101", "a = 255 and b = 5"},
		{"a = date '2001-01-05' and date = '2001-01-05' and b > timestamp'2001-01-05 10:00'", "a = '2001-01-05' and date = '2001-01-05' and b > '2001-01-05 10:00'"},
		{"contains = 'x' and starts contains 'y'", ""},
		{"true or FALSE or null", "true or false or null"},
		{"year(date) = 2013 and year = 3 and any > 1", ""},
		{"a + b * -2 - -c / (d - 1) % 7 // e > 1 + 1", ""},
		{"(a + b) + c = a + (b + c) and -(-1) < -(-a)", "a + b + c = a + (b + c) and -(-1) < -(-a)"},
		{"-x::int64 = (-x)::date and (a + 1)::decimal(10, 2) > 3", ""},
		{"cast(a + b as timestamp[us, Europe/Berlin]) > 3", "(a + b)::timestamp[us, Europe/Berlin] > 3"},
		{"a::list<struct<\"b c\": int8>>[1] is null and a::fixed_size_list<int8>[3] is null", ""},
		{"attrs['k'] = 'v' and a[1][-2] = 3", "attrs['k'] = 'v' and a[1][-2] = 3"},
		{"CASE when a > 1 and b THEN 'x' when c then lower(d) else null END = 'x'", "case when a > 1 and b then 'x' when c then lower(d) else null end = 'x'"},
		{"a[1].b.c = 1 and x::int8 = 3", "a[1]['b']['c'] = 1 and x::int8 = 3"},
		{"a::int8 < 1 and b::timestamp > c::date and d::utf8[1] is null", ""},
		{"case = 1 and then = 2", ""},
		{"any(tags = 'x') and not all(items.price > 5 or items.price is null)", ""},
		{"if(a > 1, b, c) in (1, x + 1) and coalesce(a, b) between x and y * 2", ""},
		{"(a > 1) is null and (a = 1) = (b = 2)", ""},
		{"contains(lower(a), 'x') and substr(a, 2, 3) not like 'x%'", "lower(a) contains 'x' and substr(a, 2, 3) not like 'x%'"},
		{" \n\t", ""},
	} {
		e, err := Parse(c.text)
		require.NoError(t, err, c.text)
		want := c.want
		if want == "" {
			want = strings.TrimSpace(c.text)
		}
		require.Equal(t, want, e.String())
		again, err := Parse(e.String())
		require.NoError(t, err, e.String())
		require.True(t, same(e.n, again.n), "%s", c.text)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		text    string
		pos     int
		message string
	}{
		{"a = ", 4, "expected a column or a value, found the end, at character 5"},
		{"a = 1 || b = 2", 6, "there is no operator ||: conditions are joined by or, texts by concat(a, b)"},
		{"(a || b) = 'x'", 3, "texts by concat(a, b)"},
		{"US Gross > 1", 3, `found "Gross": is "US Gross" meant, in quotes because of its spaces?`},
		{"b = 1 and not my  long col is null", 18, `is "my  long col" meant`},
		{`"a" b = 1`, 4, `expected and, or, or the end, found "b"`},
		{"a = 1 b", 6, `expected and, or, or the end, found "b"`},
		{"a = 'x", 4, "unterminated string"},
		{"größe = 'x", 10, "unterminated string, at character 9"},
		{`a = "x`, 4, "unterminated name"},
		{"a # 1", 2, "unexpected character '#'"},
		{"a = 12x", 4, `"12x" is not a number`},
		{"a = 1.2.3", 4, "is not a number"},
		{"a = 1e99999", 4, "exponent of 1e99999 is out of range"},
		{"a = 0xzz", 4, "not an integer"},
		{"a = x'0'", 4, "pairs of hexadecimal digits"},
		{`a = e'\q'`, 6, "unknown escape"},
		{"a in 1", 5, `expected (, found "1"`},
		{"a in (1", 7, "expected ), found the end"},
		{"a between 1 or 2", 12, `expected and, found "or"`},
		{"a is 1", 5, "null or nan"},
		{"a not 1", 6, "in, between, like or another operator"},
		{"(a = 1", 6, "expected ), found the end"},
		{"a starts 'x'", 9, "expected with"},
		{"nothing(a, 1)", 0, "unknown function nothing"},
		{"and", 0, "a column or a value"},
		{"a > 1 and yeer(b) = 3", 10, "unknown function yeer: is year meant?"},
		{"year() = 1", 0, "year needs 1 argument"},
		{"if(a, b) = 1", 0, "if needs 3 arguments"},
		{"substr(a) = 1", 0, "substr needs 2 or 3 arguments"},
		{"contains(a) = 1", 0, "contains needs 2 arguments"},
		{"cast(a int64) = 1", 7, "expected as"},
		{"a:: = 1", 4, "expected a type"},
		{"a::list<int8 = 1", 3, "the type list<int8 = 1 does not end"},
		{"a[1 = 1", 7, "expected ]"},
		{"case when a = 1", 15, "expected then"},
		{"case when a then 1", 18, "expected end"},
		{strings.Repeat("-", 200) + "a", 101, "nest deeper than 100"},
		{strings.Repeat("abs(", 200), 400, "nest deeper than 100"},
		{strings.Repeat("a+", 20000) + "a", 20001, "more than 10000 operations"},
		{"a = - 'x'", 6, "expected a number"},
		{"a. = 1", 2, "expected a name after the dot"},
		{"d > 2001-01-05", 8, "dates need quotes: '2001-01-05'"},
		{strings.Repeat("(", 200), 101, "nest deeper than 100"},
		{strings.Repeat("not ", 200), 404, "nest deeper than 100"},
		{strings.Repeat("a", MaxText+1), -1, "text of 1048577 bytes"},
	} {
		_, err := Parse(c.text)
		var bad *Error
		require.ErrorAs(t, err, &bad, "%.50s", c.text)
		require.Equal(t, c.pos, bad.Pos, "%.50s: %s", c.text, err)
		require.ErrorContains(t, err, c.message)
	}
}

func TestBindErrors(t *testing.T) {
	person := arrow.StructOf(arrow.Field{Name: "age", Type: arrow.PrimitiveTypes.Int8})
	s := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: arrow.BinaryTypes.String},
		{Name: "d", Type: arrow.FixedWidthTypes.Date32}, {Name: "p", Type: person},
		{Name: "l", Type: arrow.ListOf(person)}, {Name: "b", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "twice", Type: arrow.PrimitiveTypes.Int8}, {Name: "twice", Type: arrow.PrimitiveTypes.Int8},
		{Name: "z", Type: &arrow.TimestampType{Unit: arrow.Second, TimeZone: "Nowhere/Town"}},
		{Name: "i", Type: arrow.FixedWidthTypes.MonthInterval}, {Name: "t", Type: arrow.FixedWidthTypes.Time32s},
		{Name: "w", Type: arrow.FixedWidthTypes.Duration_s}, {Name: "m", Type: arrow.PrimitiveTypes.Int8},
	}, nil)
	for _, c := range []struct {
		text    string
		pos     int
		message string
	}{
		{"s = 'x' and delya > 3", 12, "there is no column \"delya\""},
		{"N = 3", 0, "there is no column \"N\": is n meant?"},
		{"n > 1 and twcie = 3", 10, "there is no column \"twcie\": is twice meant? (at character 11)"},
		{"n = 1 and s = SFO", 14, "there is no column \"SFO\": a text stands in single quotes, at character 15"},
		{"n > 1 and p.agee = 3", 10, "there is no column \"p.agee\": is age meant?"},
		{`"twice#3" = 3`, 0, "there is no column \"twice#3\""},
		{"p.name = 3", 0, "there is no column \"p.name\""},
		{"l.age = 3", 0, "l is of type list<"},
		{"s.x = 3", 0, "only fields of structs and unions have names"},
		{"s = 12345", 4, "s: 12345 is no value of type utf8: write it in quotes"},
		{"n = 'many'", 4, "n: 'many' is no value of type int64: write a number"},
		{"n = true", 4, "write a number"},
		{"n = x'00'", 4, "write a number"},
		{"b = 1", 4, "write true or false"},
		{"d > 3", 4, "write a date: '2001-12-31'"},
		{"d > 'tomorrow'", 4, `"tomorrow" is no date`},
		{"d > '2001-02-30'", 4, "there is no 2001-02-30"},
		{"d > '2001-02-03 25:00'", 4, "is no date"},
		{"z > '2001-02-03'", 4, `time zone "Nowhere/Town" is not known here`},
		{"z > '2001-02-03 10:00+1'", 4, "no offset from UTC"},
		{"t > 'noon'", 4, "no time of day"},
		{"w > 'long'", 4, "no duration"},
		{"w > '1h30'", 4, "no duration"},
		{"p = 3", 4, "only asked whether they are null"},
		{"l in (1)", 0, "only asked whether they are null"},
		{"i = null", 0, "only asked whether they are null"},
		{"p = p", 0, "only asked whether they are null"},
		{"n", 0, "only a column of booleans alone is a condition"},
		{"'x'", 0, "'x' alone is no condition"},
		{"1 = 1", 4, "expected a column, found 1"},
		{"n in (s)", 6, "n is of type int64 and s of type utf8: these are not compared"},
		{"n between s and 3", 0, "n is of type int64 and s of type utf8"},
		{"n = s", 0, "n is of type int64 and s of type utf8: these are not compared"},
		{"n contains 'x'", 0, "contains is for strings and byte strings"},
		{"s contains 3", 11, "expected a string, found 3"},
		{"s matches '('", 10, "regular expression"},
		{"year(n) = 3", 5, "n is of type int64, and year takes dates and timestamps"},
		{"n > 1 and s + 1 > 3", 10, "s is of type utf8, and + takes numbers"},
		{"n + 'x' > 3", 4, "+ takes numbers, not 'x'"},
		{"lower(n) = 'x'", 6, "n is of type int64, and lower takes strings"},
		{"length(yeer) = 3", 7, "there is no column \"yeer\""},
		{"year(d)", 0, "year(d) is of type int64: a condition is true or false"},
		{"year(z) > 3", 5, `the time zone "Nowhere/Town" of z is not known here`},
		{"date_trunc('fortnight', d) = '2001-01-01'", 11, "'fortnight' is no unit"},
		{"n::int = 1", 0, "int"},
		{"any(n = 1)", 0, "any needs a list, and there is none in n"},
		{"any(l.age > 1 and l.agee < 3)", 18, "there is no column \"l.agee\": is age meant?"},
		{"if(n, 1, 2) = 1", 3, "n is of type int64: a condition is true or false"},
		{"if(b, n, s) = 1", 9, "s is of type utf8, and a value before it of type int64"},
		{"n[1] = 1", 0, "only lists and maps have elements"},
		{"l[1].agee = 1", 5, "l[1] has no field agee: is age meant?"},
		{"substr(s, 'x') = 'x'", 10, "substr takes numbers"},
		{"regexp_replace(s, '(', '') = 'x'", 18, "missing closing )"},
		{"regexp_replace(s, s, '') = 'x'", 18, "are texts in single quotes"},
		{"d - 1.5 > '2001-01-01'", 0, "there is no difference of date32 and decimal128(2, 1)"},
	} {
		e, err := Parse(c.text)
		require.NoError(t, err, c.text)
		_, err = Bind(e, s)
		var bad *Error
		require.ErrorAs(t, err, &bad, c.text)
		require.ErrorContains(t, err, c.message, c.text)
		require.Equal(t, c.text, bad.Text)
		if !strings.Contains(c.text, " = 1") {
			require.Equal(t, c.pos, bad.Pos, "%s: %s", c.text, err)
		}
	}
	// An error in a part of an expression names its position in the text.
	part, err := Parse("s = 'x' and delay > 3")
	require.NoError(t, err)
	for _, e := range []Expr{part, And(IsNull(Col("b")), part), Not(And(part, part))} {
		_, err = Bind(e, s)
		require.EqualError(t, err, "there is no column \"delay\", at character 13")
	}
	_, err = Bind(And(part, Eq(Col("none"), 1)), s)
	require.ErrorContains(t, err, "character 13")
	_, err = Bind(Eq(Col("none"), 1), s)
	require.EqualError(t, err, "there is no column \"none\"")
	_, err = Bind(Eq(Call("yeer", Col("d")), 1), s)
	require.EqualError(t, err, "unknown function yeer: is year meant?")
	_, err = Bind(Eq(Call("year"), 1), s)
	require.EqualError(t, err, "year needs 1 argument")
	_, err = Bind(Eq(Col("n"), struct{}{}), s)
	require.EqualError(t, err, "n: no literal is made of a Go value of type struct {}")
	_, err = Bind(Eq(Col("n"), big.NewRat(1, 3)), s)
	require.ErrorContains(t, err, "is no decimal number")
	b, err := predicate.BindText("p.age > 3 and n > 1 and n > 2 and (m = 1 or true)", s)
	require.NoError(t, err)
	require.Equal(t, []string{"p.age", "n"}, b.Columns())
	e, err := Parse("p.age > 3 and n > 1 and n > 2 and (m = 1 or true)")
	require.NoError(t, err)
	require.Equal(t, []string{"p.age", "n", "m"}, e.Columns())
	require.Empty(t, Expr{}.Columns())
	require.Equal(t, []int{3, 0}, b.Column(0).Index)
	require.Equal(t, valueset.Ints{{Lo: 3, Hi: math.MaxInt64}}, b.Root().Nodes[1].Test)
}

func parsed(text string) Expr {
	e, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return e
}

func TestConstructors(t *testing.T) {
	x := Col("x")
	for want, e := range map[string]Expr{
		"":                                Expr{},
		"x = 1":                           And(Expr{}, Eq(x, int8(1)), Expr{}),
		"x = 1.0 and x <> 0.1":            And(Eq(x, 1.0), Ne(x, float32(0.1))),
		"x = 'NaN' or true":               Or(Eq(x, math.NaN()), Expr{}),
		"x = 1e+22":                       Eq(x, 1e22),
		"false":                           Or(),
		"x < 'a' and x <= x'62' and true": And(Lt(x, "a"), Le(x, []byte("b")), Lit(true)),
		"x > '2001-01-05T10:00:00.5Z'":    Gt(x, time.Date(2001, 1, 5, 11, 0, 0, 5e8, time.FixedZone("", 3600))),
		"x >= '1h30m0s'":                  Ge(x, 90*time.Minute),
		"x = '00010203-0405-0607-0809-0a0b0c0d0e0f'":                        Eq(x, [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}),
		"x in (1, null, 2.5)":                                               In(x, 1, nil, big.NewRat(5, 2)),
		"x between 1 and 340282366920938463463374607431768211456":           Between(x, 1, new(big.Int).Lsh(big.NewInt(1), 128)),
		"x not between 1 and 2":                                             Not(Between(x, 1, 2)),
		"not (x = 1 and x = 2)":                                             Not(And(Eq(x, 1), Eq(x, 2))),
		"year(x) = 2013 and any(x = 'y') and x::int8 = 3":                   And(Eq(Call("Year", x), 2013), Call("any", Eq(x, "y")), parsed("x::int8 = 3")),
		"a.\"b.c\" is null and x is nan":                                    And(IsNull(Col(`a.b\.c`)), IsNaN(x)),
		"x = '2001-01-05'":                                                  Eq(x, arrow.Date32FromTime(time.Date(2001, 1, 5, 0, 0, 0, 0, time.UTC))),
		"x starts with 'a' and x iends with 'b'":                            And(StartsWith(x, "a"), EndsWithFold(x, "b")),
		"x ends with 'a' and x istarts with 'b'":                            And(EndsWith(x, "a"), StartsWithFold(x, "b")),
		"x contains 'a' and x icontains 'b' and x like 'c' and x ilike 'd'": And(Contains(x, "a"), ContainsFold(x, "b"), Like(x, "c"), ILike(x, "d")),
		"x matches 'a' and x imatches 'b' and x iequals 'c' and true = x":   And(Matches(x, "a"), MatchesFold(x, "b"), EqualFold(x, "c"), Eq(Lit(true), x)),
	} {
		require.Equal(t, want, e.String())
		again, err := Parse(want)
		require.NoError(t, err)
		require.Equal(t, want, again.String())
		require.Equal(t, want == "", e.IsZero())
	}
}

// Any text is an error, or an expression whose text parses to the same expression. Binding it to any schema succeeds
// or returns an error.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"a = 1 and not (b in ('x', null) or c like '%y')", `"q".b between -1.5e3 and x'00'`, "a ~* e'\\x41'", "year(a) + b * -c / 2 > case when d then e::int8 else f[1].g end", "any(a = 1 and not contains(b, 'x')) or if(c, d % 3, len(e)) = round(f, 2)", "2001 < d", "a starts with '2001-01-05 10:00:00.5Z'", "'nan' = f", "a.b is not null"} {
		f.Add(text)
	}
	var fields []arrow.Field
	for i, dt := range arrowgen.Types() {
		fields = append(fields, arrow.Field{Name: string(rune('a'+i%26)) + strings.Repeat("x", i/26), Type: dt})
	}
	s := arrow.NewSchema(fields, nil)
	g := arrowgen.New(1)
	g.Nulls = 0.2
	batch := g.Batch(s, 20)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			var bad *Error
			require.True(t, errors.As(err, &bad))
			require.NotEmpty(t, err.Error())
			require.LessOrEqual(t, bad.Pos, len(text))
			return
		}
		again, err := Parse(e.String())
		require.NoError(t, err, "%q → %q", text, e.String())
		require.True(t, same(e.n, again.n), "%q → %q", text, e.String())
		b, err := Bind(e, s)
		if err == nil {
			b.p.Prune(nil)
			if _, err := b.Select(batch); err != nil { // a value is too large
				require.ErrorAs(t, err, new(*Error), "%q", text)
			}
			return
		}
		require.IsType(t, &Error{}, err)
	})
}
