package filtertest

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/searchtest"
)

// Gen makes random conditions on the columns of a batch. Literals are mostly values of the columns, or near them,
// so that some rows match. It is not safe for concurrent use.
type Gen struct {
	Rand *rand.Rand
	// Computed makes conditions on computed values, too, which only package compute binds.
	Computed bool
	columns  []column
}

// New makes a generator. It does not keep the batch.
func New(seed uint64, batch arrow.RecordBatch) *Gen {
	return &Gen{Rand: rand.New(rand.NewPCG(seed, 2)), columns: columnsOf(batch)}
}

// Oracle is the truth of a condition for a row of the batch.
type Oracle func(row int) Truth

// Rows are the rows among the first n for which a condition is true.
func (o Oracle) Rows(n int) []int64 {
	out := []int64{}
	for row := range n {
		if o(row) == True {
			out = append(out, int64(row))
		}
	}
	return out
}

// Condition makes a condition and its oracle.
func (g *Gen) Condition() (filter.Expr, Oracle) { return g.condition(3) }

func (g *Gen) condition(depth int) (filter.Expr, Oracle) {
	if depth == 0 || g.Rand.IntN(3) == 0 {
		return g.leaf(&g.columns[g.Rand.IntN(len(g.columns))])
	}
	if g.Rand.IntN(4) == 0 {
		e, o := g.condition(depth - 1)
		return filter.Not(e), func(row int) Truth { return o(row).not() }
	}
	n := 2 + g.Rand.IntN(3)
	exprs, oracles := make([]filter.Expr, n), make([]Oracle, n)
	for i := range n {
		exprs[i], oracles[i] = g.condition(depth - 1)
	}
	if g.Rand.IntN(2) == 0 {
		return filter.And(exprs...), func(row int) Truth { return all(oracles, row) }
	}
	return filter.Or(exprs...), func(row int) Truth {
		negated := make([]Oracle, n)
		for i, o := range oracles {
			negated[i] = func(row int) Truth { return o(row).not() }
		}
		return all(negated, row).not()
	}
}

// all is true if all conditions are, false if any is false, else unknown.
func all(oracles []Oracle, row int) Truth {
	out := True
	for _, o := range oracles {
		switch o(row) {
		case False:
			return False
		case Unknown:
			out = Unknown
		}
	}
	return out
}

// where applies a test to values that are not null.
func (c *column) where(test func(v any) Truth) Oracle {
	return func(row int) Truth {
		if c.values[row] == nil {
			return Unknown
		}
		return test(c.values[row])
	}
}

func (g *Gen) leaf(c *column) (filter.Expr, Oracle) {
	if g.Computed && g.Rand.IntN(3) == 0 {
		if e, o, ok := g.computed(c); ok {
			return e, o
		}
	}
	col := filter.Col(c.path)
	kinds := 9
	if c.kind == "other" {
		kinds = 1
	} else if c.kind == "text" || c.kind == "bytes" {
		kinds = 12
	}
	switch k := g.Rand.IntN(kinds); k {
	case 0:
		return filter.IsNull(col), func(row int) Truth { return truth(c.values[row] == nil) }
	case 1:
		return g.in(c)
	case 2:
		lo, oLo := g.comparison(c, 5)
		hi, oHi := g.comparison(c, 3)
		return filter.Between(col, lo, hi), func(row int) Truth { return all([]Oracle{oLo, oHi}, row) }
	case 3:
		return filter.IsNaN(col), c.where(func(v any) Truth { f, ok := v.(float64); return truth(ok && f != f) })
	case 4:
		return g.pair(c)
	case 5, 6, 7, 8:
		o := g.Rand.IntN(6)
		lit, oracle := g.comparison(c, o)
		build := []func(filter.Expr, any) filter.Expr{filter.Eq, filter.Ne, filter.Lt, filter.Le, filter.Gt, filter.Ge}[o]
		if g.Rand.IntN(5) == 0 { // the literal on the left
			build = []func(filter.Expr, any) filter.Expr{filter.Eq, filter.Ne, filter.Gt, filter.Ge, filter.Lt, filter.Le}[o]
			return build(lit, col), oracle
		}
		return build(col, lit), oracle
	}
	return g.text(c)
}

// holds reports whether an operator is true for the outcome of a comparison. The operators are = <> < <= > >=.
func holds(o, order int, comparable bool) Truth {
	if !comparable {
		return truth(o == 1)
	}
	return truth([]bool{order == 0, order != 0, order < 0, order <= 0, order > 0, order >= 0}[o])
}

// comparison makes a comparison of a column with a literal, and its oracle.
func (g *Gen) comparison(c *column, o int) (filter.Expr, Oracle) {
	lit, v := g.literal(c)
	if v == nil {
		return lit, func(int) Truth { return Unknown }
	}
	return lit, c.where(func(x any) Truth {
		order, ok := compare(x, v)
		return holds(o, order, ok)
	})
}

func (g *Gen) in(c *column) (filter.Expr, Oracle) {
	n := []int{0, 1, 2, 5, 30}[g.Rand.IntN(5)]
	values, oracles := make([]any, n), make([]Oracle, n)
	for i := range n {
		lit, o := g.comparison(c, 0)
		values[i], oracles[i] = lit, func(row int) Truth { return o(row).not() }
	}
	return filter.In(filter.Col(c.path), values...), func(row int) Truth {
		if n == 0 && c.values[row] == nil {
			return Unknown
		}
		return all(oracles, row).not()
	}
}

// pair compares two columns of the same type, maybe the same column.
func (g *Gen) pair(c *column) (filter.Expr, Oracle) {
	other := c
	for range 5 {
		if d := &g.columns[g.Rand.IntN(len(g.columns))]; d.kind == c.kind && arrow.TypeEqual(d.dt, c.dt) {
			other = d
		}
	}
	o := g.Rand.IntN(6)
	build := []func(filter.Expr, any) filter.Expr{filter.Eq, filter.Ne, filter.Lt, filter.Le, filter.Gt, filter.Ge}[o]
	return build(filter.Col(c.path), filter.Col(other.path)), func(row int) Truth {
		if c.values[row] == nil || other.values[row] == nil {
			return Unknown
		}
		order, ok := compare(c.values[row], other.values[row])
		return holds(o, order, ok)
	}
}

// sample is a value of a column, nil if it has none.
func (g *Gen) sample(c *column) any {
	for range 10 {
		if len(c.values) > 0 {
			if v := c.values[g.Rand.IntN(len(c.values))]; v != nil {
				return v
			}
		}
	}
	return nil
}

// literal makes a literal for a column: nil for null.
func (g *Gen) literal(c *column) (filter.Expr, any) {
	if g.Rand.IntN(20) == 0 {
		return filter.Lit(nil), nil
	}
	v := g.sample(c)
	switch c.kind {
	case "bool":
		b := g.Rand.IntN(2) == 0
		return filter.Lit(b), b
	case "text", "bytes", "uuid":
		s, _ := v.(string)
		if c.kind == "uuid" {
			s += strings.Repeat("\x07", 16-len(s))
			return filter.Lit([16]byte([]byte(s))), s
		}
		switch g.Rand.IntN(5) {
		case 0:
			s = s[:g.Rand.IntN(len(s)+1)]
		case 1:
			s += "\x00"
		}
		if g.Rand.IntN(4) == 0 {
			return filter.Lit([]byte(s)), s
		}
		return filter.Lit(s), s
	case "float":
		return g.float(c, v)
	}
	n, ok := v.(*big.Rat)
	if !ok {
		n = new(big.Rat)
	}
	return g.number(c, n)
}

// float makes a float of the column's width, or a whole number.
func (g *Gen) float(c *column, v any) (filter.Expr, any) {
	f, _ := v.(float64)
	if g.Rand.IntN(3) == 0 {
		n := big.NewInt(g.Rand.Int64N(1 << 40))
		if !math.IsNaN(f) && math.Abs(f) < 1e18 {
			n.SetInt64(int64(f) + g.Rand.Int64N(3) - 1)
		}
		return filter.Lit(n), new(big.Rat).SetInt(n)
	}
	if c.dt.ID() == arrow.FLOAT64 {
		return filter.Lit(f), f
	}
	return filter.Lit(float32(f)), f
}

// number makes a number or time that is a value of the column, or adjacent to one.
func (g *Gen) number(c *column, n *big.Rat) (filter.Expr, any) {
	n = new(big.Rat).Set(n)
	switch g.Rand.IntN(5) {
	case 0:
		n.Add(n, big.NewRat(1, 2))
	case 1:
		n.Sub(n, big.NewRat(1, 1000))
	case 2:
		if c.kind == "number" {
			n.Mul(n, big.NewRat(1_000_000_007, 1))
		}
	}
	switch c.kind {
	case "time":
		nanos := floor(n)
		n.SetInt(nanos)
		seconds, rest := new(big.Int).DivMod(nanos, big.NewInt(1e9), new(big.Int))
		t := time.Unix(seconds.Int64(), rest.Int64())
		if y := t.UTC().Year(); y < 1 || y > 9999 {
			t = time.Unix(0, 0)
			n.SetInt64(0)
		}
		if g.Rand.IntN(2) == 0 {
			return filter.Lit(t), n
		}
		return filter.Lit(t.In(time.FixedZone("", 5400)).Format("2006-01-02 15:04:05.999999999-07:00")), n
	case "clock":
		n.SetInt(floor(n))
		day := big.NewRat(86_400e9, 1)
		if n.Sign() < 0 || n.Cmp(day) >= 0 {
			n.SetInt64(5)
		}
		return filter.Lit(time.Unix(0, n.Num().Int64()).UTC().Format("15:04:05.999999999")), n
	case "span":
		n.SetInt(floor(n))
		if g.Rand.IntN(2) == 0 && n.Num().IsInt64() {
			return filter.Lit(time.Duration(n.Num().Int64())), n
		}
		seconds, rest := new(big.Int).QuoRem(n.Num(), big.NewInt(1e9), new(big.Int))
		sign := ""
		if n.Sign() < 0 {
			sign = "-"
		}
		return filter.Lit(fmt.Sprintf("%s%ds %dns", sign, seconds.Abs(seconds), rest.Abs(rest))), n
	}
	return filter.Lit(n), n
}

func floor(r *big.Rat) *big.Int {
	return new(big.Int).Div(r.Num(), r.Denom())
}

// text makes a condition on a part of a value.
func (g *Gen) text(c *column) (filter.Expr, Oracle) {
	col := filter.Col(c.path)
	s, _ := g.sample(c).(string)
	from := g.Rand.IntN(len(s) + 1)
	to := from + g.Rand.IntN(len(s)-from+1)
	valid := c.kind == "text"
	if valid { // cut between characters
		for !utf8.RuneStart((s + "x")[from]) {
			from--
		}
		for !utf8.RuneStart((s + "x")[to]) {
			to++
		}
	}
	part := s[from:to]
	switch k := g.Rand.IntN(14); {
	case k == 0:
		return filter.StartsWith(col, s[:to]), c.texts(func(v string) bool { return strings.HasPrefix(v, s[:to]) })
	case k == 1:
		return filter.EndsWith(col, s[from:]), c.texts(func(v string) bool { return strings.HasSuffix(v, s[from:]) })
	case k == 2 || !valid:
		return filter.Contains(col, part), c.texts(func(v string) bool { return strings.Contains(v, part) })
	case k == 3:
		return filter.EqualFold(col, upper(s)), c.texts(func(v string) bool { return strings.EqualFold(v, s) })
	case k == 4:
		return filter.StartsWithFold(col, upper(s[:to])), c.pattern("(?is)^" + regexp.QuoteMeta(s[:to]))
	case k == 5:
		return filter.EndsWithFold(col, upper(s[from:])), c.pattern("(?is)" + regexp.QuoteMeta(s[from:]) + "$")
	case k == 6:
		return filter.ContainsFold(col, upper(part)), c.pattern("(?is)" + regexp.QuoteMeta(part))
	case k <= 8:
		pattern, meaning := searchtest.Like(g.Rand, s)
		if k == 7 {
			return filter.Like(col, pattern), c.pattern("(?s)^" + meaning + "$")
		}
		return filter.ILike(col, upper(pattern)), c.pattern("(?is)^" + meaning + "$")
	case k <= 10:
		return g.words(c, upper(part), s)
	}
	expression := g.regex(part)
	if g.Rand.IntN(3) == 0 {
		return filter.MatchesFold(col, expression), c.pattern("(?i)" + expression)
	}
	return filter.Matches(col, expression), c.pattern(expression)
}

// words makes a condition on the words of a value.
func (g *Gen) words(c *column, part, other string) (filter.Expr, Oracle) {
	col := filter.Col(c.path)
	first, second := searchtest.Has(part, false).True, searchtest.Has(other, false).True
	switch g.Rand.IntN(6) {
	case 4:
		if words := searchtest.Words(other); len(words) > 0 && len(searchtest.Upper(words[0])) <= 40 {
			distance := 1 + g.Rand.IntN(2)
			return filter.HasFuzzy(col, words[0], distance), c.texts(searchtest.HasFuzzy(words[0], distance).True)
		}
		fallthrough
	case 0:
		return filter.Has(col, part), c.texts(first)
	case 1:
		return filter.HasPrefix(col, part), c.texts(searchtest.Has(part, true).True)
	case 2:
		return filter.HasPhrase(col, part), c.texts(searchtest.HasPhrase(part).True)
	case 3:
		return filter.HasAny(col, part, other), c.texts(func(v string) bool { return first(v) || second(v) })
	}
	return filter.HasAll(col, part, other), c.texts(func(v string) bool { return first(v) && second(v) })
}

// upper changes the case of letters that have only two forms.
func upper(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || r == 'ö' {
			return r - 32
		}
		return r
	}, s)
}

func (c *column) texts(test func(string) bool) Oracle {
	return c.where(func(v any) Truth { return truth(test(v.(string))) })
}

func (c *column) pattern(expression string) Oracle {
	return c.texts(regexp.MustCompile(expression).MatchString)
}

func (g *Gen) regex(part string) string {
	quoted := regexp.QuoteMeta(part)
	forms := []string{"%s", "^%s", "%s$", "^%s$", "^%s.*[0-9]", "(%s)+", "%s|x", "[a-z]%s", "(?:%s)?[0-9]$", ".*%s"}
	return fmt.Sprintf(forms[g.Rand.IntN(len(forms))], quoted)
}
