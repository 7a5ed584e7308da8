package predicate

import (
	"bytes"
	"cmp"
	"fmt"
	"math/bits"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/jsonvalues"
	"github.com/amudai/amudai-go/internal/engine/valueset"
)

// Comparison tells for which orders of two values a comparison is true: less, equal, greater, and that of NaN.
type Comparison [4]bool

// Unordered is the order of two values of which one is NaN. Others are -1, 0 and 1.
const Unordered = 2

// Comparisons are the comparisons by operation.
var Comparisons = map[ast.Op]Comparison{
	ast.OpEq: {1: true}, ast.OpNe: {0: true, 2: true, 3: true},
	ast.OpLt: {0: true}, ast.OpLe: {0: true, 1: true}, ast.OpGt: {2: true}, ast.OpGe: {1: true, 2: true},
}

// Holds reports whether the comparison is true for an order.
func (c Comparison) Holds(order int) bool { return c[(order+1)&3] }

func (c Comparison) not() Comparison { return Comparison{!c[0], !c[1], !c[2], !c[3]} }

// compareColumns binds a comparison of two columns. Those of different types, and other operands, are compared by the package that
// computes values.
func (b *binder) compareColumns(n *ast.Node, negate bool) (draft, error) {
	if n.Args[0].Op != ast.OpColumn || n.Args[1].Op != ast.OpColumn {
		if b.values == nil {
			return draft{}, fail(n, "%s and %s: only columns and values are compared", ast.Shorten(n.Args[0].String()), ast.Shorten(n.Args[1].String()))
		}
		return b.compareValues(n, negate)
	}
	d := draft{kind: NodeCompare, compare: Comparisons[n.Op]}
	var err error
	if d.col, err = b.column(n.Args[0], jsonvalues.Any); err != nil {
		return d, err
	}
	if d.other, err = b.column(n.Args[1], jsonvalues.Any); err != nil {
		if bad, ok := err.(*ast.Error); ok && !strings.HasSuffix(bad.Message, "?") {
			bad.Message += ": a text stands in single quotes"
		}
		return d, err
	}
	if err := b.comparable(d.col, n.Args[0]); err != nil {
		return d, err
	}
	for i, c := range []int{d.col, d.other} {
		if b.columns[c].Inside != nil {
			return d, fail(n.Args[i], "%s is within JSON: it is only compared with values", n.Args[i].Path)
		}
	}
	x, y := b.columns[d.col].domain, b.columns[d.other].domain
	if !x.Equal(y) && b.values != nil {
		return b.compareValues(n, negate)
	}
	if !x.Equal(y) {
		return d, fail(n, "%s is of type %s and %s of type %s: only columns of the same type are compared", n.Args[0].Path, x.Name, n.Args[1].Path, y.Name)
	}
	if negate {
		d.compare = d.compare.not()
	}
	return d, nil
}

// compareValues asks whether a comparison that is computed is true, or whether it is false.
func (b *binder) compareValues(n *ast.Node, negate bool) (draft, error) {
	col, err := b.computed(n)
	if err != nil {
		return draft{}, err
	}
	set, err := b.columns[col].domain.Compare(ast.OpEq, ast.Literal{Kind: ast.LitBool, Text: "true"})
	if err != nil {
		return draft{}, fail(n, "%s", err)
	}
	return b.leaf(col, set, negate), nil
}

// compare compares the values of two arrays, one row after the other.
func (e *evaluator) compare(n *Node, a, b arrow.Array, dst []byte) error {
	var plain [2]arrow.Array
	for i, arr := range []arrow.Array{a, b} {
		p, err := arrowutil.Plain(memory.DefaultAllocator, arr)
		if err != nil {
			return fmt.Errorf("filter: %w", err)
		}
		defer p.Release()
		plain[i] = p
	}
	if !n.compare.Arrays(plain[0], plain[1], n.domain.IsBool(), dst) {
		return fmt.Errorf("filter: arrays of types %s and %s are not compared", a.DataType(), b.DataType())
	}
	andBits(dst, arrowutil.Validity(plain[0]))
	andBits(dst, arrowutil.Validity(plain[1]))
	return nil
}

// Arrays sets the bits of the rows for which the comparison of two plain arrays of the same type is true, those of rows with a null to
// anything. Texts and byte strings may be of any layout. With bools, numbers other than 0 are all true. The result is false if these are not compared.
func (c Comparison) Arrays(x, y arrow.Array, bools bool, dst []byte) bool {
	var ints [2][]int64
	var floats [2][]float64
	switch id := x.DataType().ID(); {
	case id != y.DataType().ID() || bools:
	case id == arrow.INT32 || id == arrow.DATE32:
		return compareNumbers(c, arrowutil.Values[int32](x), arrowutil.Values[int32](y), dst)
	case id == arrow.UINT64:
		return compareNumbers(c, arrowutil.Values[uint64](x), arrowutil.Values[uint64](y), dst)
	case id == arrow.DECIMAL128:
		return compareWith(c, arrowutil.Values[[2]uint64](x), arrowutil.Values[[2]uint64](y), dst, equal128, less128, lessOrEqual128)
	default:
		if v, ok := arrowutil.Int64s(x, &ints[0]); ok {
			w, _ := arrowutil.Int64s(y, &ints[1])
			return compareNumbers(c, v, w, dst)
		}
		if v, ok := arrowutil.Float64s(x, &floats[0]); ok {
			w, _ := arrowutil.Float64s(y, &floats[1])
			return compareNumbers(c, v, w, dst)
		}
	}
	order := orderOf(x, y, bools)
	if order != nil {
		c.Each(dst, x.Len(), order)
	}
	return order != nil
}

// Each is [Comparison.Arrays] for rows whose order a function tells.
func (c Comparison) Each(dst []byte, rows int, order func(i int) int) {
	for i := range len(dst) / 8 {
		w := uint64(0)
		for k := 64 * i; k < min(64*i+64, rows); k++ {
			w |= uint64(bitmap.Bit(c.Holds(order(k)))) << (k & 63)
		}
		putWord(dst, i, w)
	}
}

func compareNumbers[T cmp.Ordered](c Comparison, x, y []T, dst []byte) bool {
	return compareWith(c, x, y, dst, equal[T], less[T], lessOrEqual[T])
}

// pairs finds those of up to 64 pairs of values for which a comparison is true.
type pairs[T any] func(x, y []T) uint64

// compareWith compares by that function which finds what the comparison is true for, or what it is not true for.
func compareWith[T any](c Comparison, x, y []T, dst []byte, equal, less, lessOrEqual pairs[T]) bool {
	flip := uint64(0)
	if c[3] { // the others are false for NaN
		c, flip = c.not(), ^uint64(0)
	}
	if c[2] { // y < x
		x, y, c[0] = y, x, true
	}
	word := equal
	switch {
	case c[0] && c[1]:
		word = lessOrEqual
	case c[0]:
		word = less
	}
	for i := range len(dst) / 8 {
		to := min(64*i+64, len(x))
		putWord(dst, i, (word(x[64*i:to], y[64*i:to])^flip)&(^uint64(0)>>(64*i+64-to)))
	}
	return true
}

func equal[T cmp.Ordered](x, y []T) (w uint64) {
	for i, v := range x[:len(y)] {
		w |= uint64(bitmap.Bit(v == y[i])) << (i & 63)
	}
	return w
}

func less[T cmp.Ordered](x, y []T) (w uint64) {
	for i, v := range x[:len(y)] {
		w |= uint64(bitmap.Bit(v < y[i])) << (i & 63)
	}
	return w
}

func lessOrEqual[T cmp.Ordered](x, y []T) (w uint64) {
	for i, v := range x[:len(y)] {
		w |= uint64(bitmap.Bit(v <= y[i])) << (i & 63)
	}
	return w
}

func equal128(x, y [][2]uint64) (w uint64) {
	for i, v := range x[:len(y)] {
		w |= uint64(bitmap.Bit((v[0]^y[i][0])|(v[1]^y[i][1]) == 0)) << (i & 63)
	}
	return w
}

func less128(x, y [][2]uint64) (w uint64) {
	const sign = 1 << 63
	for i, v := range x[:len(y)] {
		_, borrow := bits.Sub64(v[0], y[i][0], 0)
		_, borrow = bits.Sub64(v[1]^sign, y[i][1]^sign, borrow)
		w |= borrow << (i & 63)
	}
	return w
}

func lessOrEqual128(x, y [][2]uint64) uint64 { return ^less128(y, x) }

// orderOf compares the values of two plain arrays of the same type, texts and byte strings of any layout. It is nil if these are not compared.
// With bools, numbers other than 0 are all true.
func orderOf(a, b arrow.Array, bools bool) func(i int) int {
	if x, y := arrowutil.BytesOf(a), arrowutil.BytesOf(b); x != nil && y != nil {
		return func(i int) int { return bytes.Compare(x(i), y(i)) }
	}
	id := a.DataType().ID()
	if id != b.DataType().ID() {
		return nil
	}
	if x, y := arrowutil.Integers(a), arrowutil.Integers(b); bools && x != nil {
		return func(i int) int { return bitmap.Bit(x(i) != 0) - bitmap.Bit(y(i) != 0) }
	}
	switch id {
	case arrow.BOOL:
		x, y := a.(*array.Boolean), b.(*array.Boolean)
		return func(i int) int { return bitmap.Bit(x.Value(i)) - bitmap.Bit(y.Value(i)) }
	case arrow.DECIMAL256:
		x, y := arrowutil.Values[[4]uint64](a), arrowutil.Values[[4]uint64](b)
		return func(i int) int { return valueset.Int256(x[i]).Compare(y[i]) }
	}
	return nil
}

// wide extends a number of 128 bits to 256.
func wide(v [2]uint64) valueset.Int256 {
	sign := uint64(int64(v[1]) >> 63)
	return valueset.Int256{v[0], v[1], sign, sign}
}
