package browse

import (
	"bytes"
	"cmp"
	"context"
	"math/big"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/text/values"
)

// mostDistinct is the number of different values of a sample that are counted.
const mostDistinct = 10_000

// sampleFacts are the facts of columns in the first rows of a view.
func sampleFacts(ctx context.Context, v *view, paths []string) ([]*facts, error) {
	tallies := make([]*tally, len(paths))
	for i := range tallies {
		tallies[i] = &tally{seen: map[string]bool{}}
	}
	rows := int64(0)
	err := v.walk(ctx, paths, 0, func(b arrow.RecordBatch, _ int64) (bool, error) {
		n := min(b.NumRows(), sampleRows-rows)
		rows += n
		for k, c := range b.Columns() {
			tallies[k].add(c, int(n))
			if err := ctx.Err(); err != nil {
				return false, err
			}
		}
		return rows >= sampleRows, nil
	})
	list := make([]*facts, len(paths))
	for i, t := range tallies {
		list[i] = t.facts(rows)
	}
	return list, err
}

// tally counts values of a column.
type tally struct {
	nulls    int64
	seen     map[string]bool
	min, max bound
}

// bound is the smallest or largest value so far.
type bound struct {
	value any
	text  string
}

// add counts the first n values of an array.
func (t *tally) add(a arrow.Array, n int) {
	text := textOf(a)
	plain, _ := extension.Unwrap(a.DataType())
	_, nested := plain.(arrow.NestedType)
	key := keyOf(a)
	var buf []byte
	for i := range n {
		if values.IsNull(a, i) {
			t.nulls++
			continue
		}
		if !nested && len(t.seen) <= mostDistinct {
			if buf = text(buf[:0], i); !t.seen[string(buf)] {
				t.seen[string(buf)] = true
			}
		}
		if key == nil {
			continue
		}
		k := key(i)
		if k == nil {
			continue
		}
		if t.min.value == nil || compare(k, t.min.value) < 0 {
			t.min = bound{own(k), short(a, i)}
		}
		if t.max.value == nil || compare(k, t.max.value) > 0 {
			t.max = bound{own(k), short(a, i)}
		}
	}
}

func (t *tally) facts(rows int64) *facts {
	f := &facts{nulls: terminal.Count(t.nulls), min: t.min.text, max: t.max.text, rows: rows}
	switch n := len(t.seen); {
	case n > mostDistinct:
		f.distinct = "> " + terminal.Count(mostDistinct)
	case n > 0:
		f.distinct = terminal.Count(n)
	}
	return f
}

// keyOf returns a function for values as comparable ones: int64, uint64, float64, *big.Int, string or []byte. It is nil for types without an
// order, and returns nil for NaN.
func keyOf(a arrow.Array) func(i int) any {
	switch a := a.(type) {
	case array.StringLike:
		return func(i int) any { return a.Value(i) }
	case *array.Dictionary:
		if key := keyOf(a.Dictionary()); key != nil {
			return func(i int) any { return key(a.GetValueIndex(i)) }
		}
		return nil
	case *array.Boolean:
		return func(i int) any {
			if a.Value(i) {
				return int64(1)
			}
			return int64(0)
		}
	case *array.Decimal128:
		return func(i int) any { return a.Value(i).BigInt() }
	case *array.Decimal256:
		return func(i int) any { return a.Value(i).BigInt() }
	case *array.Uint64:
		return func(i int) any { return a.Value(i) }
	}
	if float := arrowutil.Floats(a); float != nil {
		return func(i int) any { return number(float(i)) }
	}
	if value := arrowutil.BytesOf(a); value != nil {
		return func(i int) any { return value(i) }
	}
	if integer := arrowutil.Integers(a); integer != nil {
		return func(i int) any { return integer(i) }
	}
	return nil
}

func number(v float64) any {
	if v != v {
		return nil
	}
	return v
}

// own is a value that does not share the memory of an array.
func own(v any) any {
	switch v := v.(type) {
	case string:
		return strings.Clone(v)
	case []byte:
		return bytes.Clone(v)
	}
	return v
}

// compare compares two values of keyOf.
func compare(a, b any) int {
	switch a := a.(type) {
	case int64:
		return cmp.Compare(a, b.(int64))
	case uint64:
		return cmp.Compare(a, b.(uint64))
	case float64:
		return cmp.Compare(a, b.(float64))
	case string:
		return cmp.Compare(a, b.(string))
	case *big.Int:
		return a.Cmp(b.(*big.Int))
	case []byte:
		return bytes.Compare(a, b.([]byte))
	}
	return 0
}
