package compute_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rowOf is a row of two lists of the same length, or of null in the place of one.
type rowOf struct {
	a, b []*int // nil elements are null
	null string // the list that is null
}

func (r rowOf) list(name string, l []*int) string {
	if r.null == name {
		return "null"
	}
	texts := []string{}
	for _, v := range l {
		if v == nil {
			texts = append(texts, "null")
		} else {
			texts = append(texts, strconv.Itoa(*v))
		}
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// reduced is the value of an expression that a function of the elements of a row stands for: that of nothing is absent.
func (r rowOf) reduced(of func(a, b *int) *int, join func(all []int) string) string {
	var all []int
	for i := range r.a {
		if v := of(r.a[i], r.b[i]); v != nil {
			all = append(all, *v)
		}
	}
	return join(all)
}

// Functions of elements agree with loops over them; lists side by side count as one list of pairs.
func TestElements(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	var rows []rowOf
	var lines []string
	for range 300 {
		row := rowOf{null: []string{"", "", "", "", "a", "b"}[r.IntN(6)]}
		for range r.IntN(5) {
			pair := [2]*int{}
			for k := range pair {
				if r.IntN(8) > 0 {
					v := r.IntN(9) - 4
					pair[k] = &v
				}
			}
			row.a, row.b = append(row.a, pair[0]), append(row.b, pair[1])
		}
		rows = append(rows, row)
		lines = append(lines, fmt.Sprintf(`{"a": %s, "b": %s, "n": 1}`, row.list("a", row.a), row.list("b", row.b)))
	}
	a := func(a, _ *int) *int { return a }
	both := func(f func(a, b int) int) func(a, b *int) *int {
		return func(a, b *int) *int {
			if a == nil || b == nil {
				return nil
			}
			v := f(*a, *b)
			return &v
		}
	}
	number := func(least int, f func(all []int) int) func([]int) string {
		return func(all []int) string {
			if len(all) < least {
				return "null"
			}
			return strconv.Itoa(f(all))
		}
	}
	sum := func(all []int) (n int) {
		for _, v := range all {
			n += v
		}
		return n
	}
	extreme := func(sign int) func(all []int) int {
		return func(all []int) int {
			best := all[0]
			for _, v := range all {
				if sign*v > sign*best {
					best = v
				}
			}
			return best
		}
	}
	isTrue := func(b bool) int { return map[bool]int{true: 1}[b] }
	batch := batchOf(t, "a: list<int32>, b: list<int16>, n: int8", strings.Join(lines, "\n"))
	for expression, c := range map[string]struct {
		one  bool // only the list a matters
		want func(r rowOf) string
	}{
		"count(a)": {true, func(r rowOf) string { return r.reduced(a, number(0, func(all []int) int { return len(all) })) }},
		"sum(a)":   {true, func(r rowOf) string { return r.reduced(a, number(0, sum)) }},
		"min(a)":   {true, func(r rowOf) string { return r.reduced(a, number(1, extreme(-1))) }},
		"max(a)":   {true, func(r rowOf) string { return r.reduced(a, number(1, extreme(1))) }},
		"count(a > n and b < 2)": {false, func(r rowOf) string {
			return r.reduced(both(func(a, b int) int { return isTrue(a > 1 && b < 2) }), number(0, sum))
		}},
		"sum(a * b)": {false, func(r rowOf) string { return r.reduced(both(func(a, b int) int { return a * b }), number(0, sum)) }},
		"max(a - b + n)": {false, func(r rowOf) string {
			return r.reduced(both(func(a, b int) int { return a - b + 1 }), number(1, extreme(1)))
		}},
	} {
		got, err := eval(t, expression, batch)
		require.NoError(t, err, expression)
		_, cells, _ := strings.Cut(got, " ")
		for i, cell := range strings.Fields(cells) {
			want := c.want(rows[i])
			if rows[i].null == "a" || rows[i].null == "b" && !c.one {
				want = "null"
			}
			require.Equal(t, want, cell, "%s of %s", expression, lines[i])
		}
	}
}

func TestElementsErrors(t *testing.T) {
	batch := batchOf(t, "a: list<int64>, b: list<float64>, s: list<utf8>, n: int64, m: list<list<int8>>", `
		{"a": [9223372036854775807, 1], "b": [1.5], "s": ["x"], "n": 1, "m": [[1, 2], [], [3]]}
		{"a": [], "b": [], "s": [], "n": 2, "m": null}`)
	for expression, want := range map[string]string{
		"a[0]":               "lists count from 1: the first element is a[1], at character 3",
		"sum(a)":             "sum of the elements of a row is out of the range of int64, at character 1",
		"any(a > 1 and b>1)": "any looks at elements side by side, and a row has 2 of a, but 1 of b, at character 1",
		"max(s)":             "s is of type utf8, and max takes numbers, at character 5",
		"sum(n)":             "sum needs a list, and there is none in n, at character 1",
	} {
		_, err := eval(t, expression, batch)
		require.EqualError(t, err, want, expression)
	}
	for expression, want := range map[string]string{
		"if(n = 2, sum(a), 0)":                  "int64 0 0", // the error is that of a row that does not count
		"if(n = 2, any(a > 1 and b > 1), null)": "bool null false",
		"avg(b)":                                "float64 1.5 null",
		"sum(sum(m))":                           "int64 6 null",
		"max(count(m > 1))":                     "int64 1 null",
	} {
		got, err := eval(t, expression, batch)
		require.NoError(t, err, expression)
		require.Equal(t, want, got, expression)
	}
	got, err := eval(t, "max(b)", batchOf(t, "b: list<float32>", `{"b": [1.5, "NaN", 2]}
		{"b": [-1.5, -2]}`))
	require.NoError(t, err)
	require.Equal(t, `float64 "NaN" -1.5`, got, "NaN is greater than all numbers")
}
