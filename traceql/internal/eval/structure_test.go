package eval_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/traceql/internal/eval"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/spans"
)

// Parents in a tree of a test, besides the numbers of spans.
const (
	root   = -1
	absent = -2 // a parent that is not among the spans
)

// relation is the definition of the structural operators: whether span r on the right is in a relation to span l on the left.
func relation(parent []int, symbol string, l, r int) bool {
	switch symbol {
	case ">":
		return parent[r] == l
	case ">>":
		for i, steps := parent[r], 0; i >= 0 && steps < len(parent); i, steps = parent[i], steps+1 {
			if i == l {
				return true
			}
		}
		return false
	case "<":
		return relation(parent, ">", r, l)
	case "<<":
		return relation(parent, ">>", r, l)
	}
	return l != r && parent[l] == parent[r] && parent[r] != root
}

// naive evaluates an operator by its definition.
func naive(parent []int, op string, left, right int) (found []int) {
	in := func(set, i int) bool { return set>>i&1 != 0 }
	if op == "&&" && (left == 0 || right == 0) {
		return nil
	}
	for i := range parent {
		some := func(set int, related func(other int) bool) bool {
			return slices.ContainsFunc(numbers(len(parent)), func(other int) bool { return in(set, other) && related(other) })
		}
		symbol := op
		if op[0] == '!' || op[0] == '&' {
			symbol = op[1:]
		}
		isRight := in(right, i) && some(left, func(l int) bool { return relation(parent, symbol, l, i) })
		isLeft := in(left, i) && some(right, func(r int) bool { return relation(parent, symbol, i, r) })
		var yes bool
		switch {
		case op == "&&" || op == "||":
			yes = in(left, i) || in(right, i)
		case op[0] == '!':
			yes = in(right, i) && !isRight
		case op[0] == '&':
			yes = isLeft || isRight
		default:
			yes = isRight
		}
		if yes {
			found = append(found, i)
		}
	}
	return found
}

func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

var operators = []string{
	"&&", "||", ">", ">>", "<", "<<", "~", "!>", "!>>", "!<", "!<<", "!~", "&>", "&>>", "&<", "&<<", "&~",
}

// traceOf is a trace of spans with these parents; verdicts tell which of them meet the two conditions of a query.
func traceOf(parent []int, left, right int) *eval.Trace {
	ids, parents := make([][]byte, len(parent)), make([][]byte, len(parent))
	for i, p := range parent {
		ids[i] = []byte{byte(i + 1)}
		switch {
		case p >= 0:
			parents[i] = []byte{byte(p + 1)}
		case p == absent:
			parents[i] = []byte{100}
		}
	}
	return newTrace(ids, parents, spans.Verdict{Bits: []byte{byte(left)}, Exact: true}, spans.Verdict{Bits: []byte{byte(right)}, Exact: true})
}

// newTrace is a trace of spans with some ids, which begin one after the other.
func newTrace(ids, parents [][]byte, verdicts ...spans.Verdict) *eval.Trace {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: spans.TraceID, Type: arrow.BinaryTypes.Binary}, {Name: spans.SpanID, Type: arrow.BinaryTypes.Binary},
		{Name: spans.ParentID, Type: arrow.BinaryTypes.Binary, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range ids {
		b.Field(0).(*array.BinaryBuilder).Append([]byte("trace"))
		b.Field(1).(*array.BinaryBuilder).Append(ids[i])
		if parents[i] == nil {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.BinaryBuilder).Append(parents[i])
		}
	}
	s, err := spans.NewSchema(schema)
	if err != nil {
		panic(err)
	}
	batch, err := spans.NewBatch(s, b.NewRecordBatch(), []int{0, 1, 2})
	if err != nil {
		panic(err)
	}
	batch.Verdicts = verdicts
	list := make([]eval.Span, len(ids))
	for i := range list {
		list[i] = eval.Span{Batch: batch, Row: int32(i), Start: int64(i + 1)}
	}
	return new(eval.Program).NewTrace(list, new(eval.Scratch))
}

// All trees of up to four spans, with circles and missing parents, and all subsets on both sides. Trees of four spans are
// complete only in a sweep.
func TestStructuralOperators(t *testing.T) {
	programs := map[string]*eval.Program{}
	for _, op := range operators {
		q, err := lang.Parse("{ .a } " + op + " { .b }")
		if err != nil {
			t.Fatal(err)
		}
		programs[op] = eval.NewProgram(q)
	}
	trees := 0
	for n := 1; n <= 4; n++ {
		parent := slices.Repeat([]int{absent}, n)
		for number := 0; ; number++ {
			if n < 4 || number%sweep.Step(13) == 0 {
				trees++
				checkTree(t, programs, parent)
			}
			i := 0
			for ; i < n; i++ { // the next tree
				if parent[i]++; parent[i] < n {
					break
				}
				parent[i] = absent
			}
			if i == n || t.Failed() {
				break
			}
		}
	}
	t.Logf("%d trees", trees)
}

func checkTree(t *testing.T, programs map[string]*eval.Program, parent []int) {
	for left := range 1 << len(parent) {
		for right := range 1 << len(parent) {
			traces := []*eval.Trace{traceOf(parent, left, right)}
			if places := placesOf(parent); places != nil { // the spans that match, by their places
				matching := traceOf(parent, left, right)
				matching.Spans[0].Batch.Places, matching.Summary = places, &eval.Summary{Spans: len(parent)}
				matching.Spans = slices.DeleteFunc(matching.Spans, func(s eval.Span) bool { return (left|right)>>s.Row&1 == 0 })
				traces = append(traces, matching)
			}
			for k, trace := range traces {
				for _, op := range operators {
					sets, err := programs[op].Run(trace, eval.NewWork(t.Context(), 1<<20))
					if err != nil {
						t.Fatal(err)
					}
					var got []int
					if len(sets) > 0 {
						for _, i := range sets[0].Spans {
							got = append(got, int(trace.Spans[i].Row))
						}
					}
					if want := naive(parent, op, left, right); !slices.Equal(got, want) {
						t.Fatalf("parents %v: %s %s %s is %v, not %v (%d)", parent, bits(left), op, bits(right), got, want, k)
					}
				}
			}
		}
	}
}

// placesOf are the places of spans with these parents; nil if some parents are a circle. The missing parent has a place, too.
func placesOf(parent []int) []spans.Place {
	list, n := make([]spans.Place, len(parent)), uint32(0)
	var below func(p int, number uint32)
	below = func(p int, number uint32) {
		for i := range parent {
			if parent[i] == p {
				n++
				list[i] = spans.Place{Left: n, Parent: number}
				below(i, n)
				list[i].Right = n
			}
		}
	}
	below(root, 0)
	n++
	below(absent, n)
	if slices.ContainsFunc(list, func(p spans.Place) bool { return p.Left == 0 }) {
		return nil
	}
	return list
}

func bits(set int) string { return fmt.Sprintf("%04b", set) }

// A few answers written by hand:
//
//	0 ─┬─ 1 ─┬─ 2
//	   │     └─ 3
//	   └─ 4
//	5, whose parent is missing
func TestStructureByHand(t *testing.T) {
	parent := []int{root, 0, 1, 1, 0, absent}
	set := func(spans ...int) (bits int) {
		for _, i := range spans {
			bits |= 1 << i
		}
		return bits
	}
	all := set(0, 1, 2, 3, 4, 5)
	for _, c := range []struct {
		left  int
		op    string
		right int
		want  []int
	}{
		{set(0), ">", all, []int{1, 4}},
		{set(0), ">>", all, []int{1, 2, 3, 4}},
		{set(2), "<", all, []int{1}},
		{set(2), "<<", all, []int{0, 1}},
		{set(2), "~", all, []int{3}},
		{set(2, 3), "~", all, []int{2, 3}},
		{set(0), "~", all, nil},
		{set(5), "~", all, nil},
		{set(0), "!>", all, []int{0, 2, 3, 5}},
		{set(0), "!>>", all, []int{0, 5}},
		{all, "!<", all, []int{2, 3, 4, 5}},
		{set(2), "!<<", all, []int{2, 3, 4, 5}},
		{set(1), "!~", all, []int{0, 1, 2, 3, 5}},
		{set(0, 2), "&>", set(1, 3, 4), []int{0, 1, 4}},
		{set(0, 1, 4), "&>>", set(3), []int{0, 1, 3}},
		{set(3, 5), "&<", set(1, 4), []int{1, 3}},
		{set(3, 4, 5), "&<<", set(0), []int{0, 3, 4}},
		{set(2, 4), "&~", set(3, 5), []int{2, 3}},
		{0, "!>", all, []int{0, 1, 2, 3, 4, 5}},
		{0, "&&", all, nil},
		{0, "||", set(3), []int{3}},
	} {
		q, err := lang.Parse("{ .a } " + c.op + " { .b }")
		if err != nil {
			t.Fatal(err)
		}
		sets, err := eval.NewProgram(q).Run(traceOf(parent, c.left, c.right), eval.NewWork(t.Context(), 1<<20))
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		if len(sets) > 0 {
			got = sets[0].Spans
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%06b %s %06b is %v, not %v", c.left, c.op, c.right, got, c.want)
		}
	}
}
