package predicate

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/jsonvalues"
	"github.com/amudai/amudai-go/internal/engine/valueset"
)

// comparison is a comparison of two columns. It is true where both have values, and the one is less than the other, equal
// or greater, or one of them is NaN, as the fields say.
type comparison struct{ less, equal, greater, nan bool }

var comparisonOf = map[ast.Op]comparison{
	ast.OpEq: {equal: true}, ast.OpNe: {less: true, greater: true, nan: true},
	ast.OpLt: {less: true}, ast.OpLe: {less: true, equal: true}, ast.OpGt: {greater: true}, ast.OpGe: {greater: true, equal: true},
}

func (c comparison) not() comparison { return comparison{!c.less, !c.equal, !c.greater, !c.nan} }

// holds reports whether the comparison is true for values in an order.
func (c comparison) holds(order int) bool {
	return order < 0 && c.less || order == 0 && c.equal || order > 0 && c.greater
}

// compareColumns binds a comparison of two columns. Those of different types, and other operands, are compared by the package that
// computes values.
func (b *binder) compareColumns(n *ast.Node, negate bool) (draft, error) {
	if n.Args[0].Op != ast.OpColumn || n.Args[1].Op != ast.OpColumn {
		if b.values == nil {
			return draft{}, fail(n, "%s and %s: only columns and values are compared", ast.Shorten(n.Args[0].String()), ast.Shorten(n.Args[1].String()))
		}
		return b.compareValues(n, negate)
	}
	d := draft{kind: NodeCompare, compare: comparisonOf[n.Op]}
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
	var order func(i int) (order int, nan bool)
	valid := [2]bitmap.Bits{}
	var plain [2]arrow.Array
	for i, arr := range []arrow.Array{a, b} {
		p, err := arrowutil.Plain(memory.DefaultAllocator, arr)
		if err != nil {
			return fmt.Errorf("filter: %w", err)
		}
		defer p.Release()
		plain[i], valid[i] = p, arrowutil.Validity(p)
	}
	if order = orderOf(plain[0], plain[1], n.domain.IsBool()); order == nil {
		return fmt.Errorf("filter: arrays of types %s and %s are not compared", a.DataType(), b.DataType())
	}
	clear(dst)
	for i := range e.rows {
		if !valid[0].At(i) || !valid[1].At(i) {
			continue
		}
		o, nan := order(i)
		if nan && n.compare.nan || !nan && n.compare.holds(o) {
			dst[i>>3] |= 1 << (i & 7)
		}
	}
	return nil
}

// orderOf compares the values of two plain arrays of the same type. With bools, numbers other than 0 are all true.
func orderOf(a, b arrow.Array, bools bool) func(i int) (order int, nan bool) {
	if x, ok := valuesOf(a); ok {
		y, ok := valuesOf(b)
		if !ok {
			return nil
		}
		return func(i int) (int, bool) { return bytes.Compare(x.value(i), y.value(i)), false }
	}
	if a.DataType().ID() != b.DataType().ID() {
		return nil
	}
	switch a.DataType().ID() {
	case arrow.BOOL:
		x, y := a.(*array.Boolean), b.(*array.Boolean)
		return func(i int) (int, bool) { return boolToInt(x.Value(i)) - boolToInt(y.Value(i)), false }
	case arrow.INT8:
		x, y := arrowutil.Values[int8](a), arrowutil.Values[int8](b)
		if bools {
			return func(i int) (int, bool) { return boolToInt(x[i] != 0) - boolToInt(y[i] != 0), false }
		}
		return orderedValues[int8](a, b)
	case arrow.INT16:
		return orderedValues[int16](a, b)
	case arrow.INT32, arrow.DATE32, arrow.TIME32, arrow.DECIMAL32:
		return orderedValues[int32](a, b)
	case arrow.INT64, arrow.DATE64, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION, arrow.DECIMAL64:
		return orderedValues[int64](a, b)
	case arrow.UINT8:
		return orderedValues[uint8](a, b)
	case arrow.UINT16:
		return orderedValues[uint16](a, b)
	case arrow.UINT32:
		return orderedValues[uint32](a, b)
	case arrow.UINT64:
		return orderedValues[uint64](a, b)
	case arrow.FLOAT32:
		return orderedValues[float32](a, b)
	case arrow.FLOAT64:
		return orderedValues[float64](a, b)
	case arrow.FLOAT16:
		x, y := arrowutil.Values[float16.Num](a), arrowutil.Values[float16.Num](b)
		return func(i int) (int, bool) { return compareOrdered(x[i].Float32(), y[i].Float32()) }
	case arrow.DECIMAL128:
		x, y := arrowutil.Values[[2]uint64](a), arrowutil.Values[[2]uint64](b)
		return func(i int) (int, bool) { return wide(x[i]).Compare(wide(y[i])), false }
	case arrow.DECIMAL256:
		x, y := arrowutil.Values[[4]uint64](a), arrowutil.Values[[4]uint64](b)
		return func(i int) (int, bool) { return valueset.Int256(x[i]).Compare(y[i]), false }
	}
	return nil
}

func orderedValues[T cmp.Ordered](a, b arrow.Array) func(i int) (int, bool) {
	x, y := arrowutil.Values[T](a), arrowutil.Values[T](b)
	return func(i int) (int, bool) { return compareOrdered(x[i], y[i]) }
}

func compareOrdered[T cmp.Ordered](x, y T) (order int, nan bool) {
	switch {
	case x < y:
		return -1, false
	case x > y:
		return 1, false
	}
	return 0, x != y
}

// wide extends a number of 128 bits to 256.
func wide(v [2]uint64) valueset.Int256 {
	sign := uint64(int64(v[1]) >> 63)
	return valueset.Int256{v[0], v[1], sign, sign}
}

// value is value i.
func (v *byteValues) value(i int) []byte {
	switch {
	case v.off32 != nil:
		return v.data[v.off32[i]:v.off32[i+1]]
	case v.off64 != nil:
		return v.data[v.off64[i]:v.off64[i+1]]
	case v.at != nil:
		return v.at(i)
	}
	return v.data[i*v.width : (i+1)*v.width]
}
