package compute

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/numbers"
	"github.com/amudai/amudai-go/internal/text"
)

// call binds a function.
func (b *binder) call(n *ast.Node) (*expr, error) {
	if err := n.CheckCall(); err != nil {
		return nil, err
	}
	switch n.Name {
	case "any", "all":
		return b.quantified(n)
	case "if":
		return b.cases(n, n.Args)
	}
	args, err := b.arguments(n)
	if err != nil {
		return nil, err
	}
	x := args[0]
	switch n.Name {
	case "coalesce":
		return b.coalesce(n, args)
	case "concat":
		return b.concat(n, args)
	case "date":
		return b.dateOf(n, x)
	case "date_trunc":
		return b.truncate(n, x, args[1])
	case "hour", "minute", "second":
		return b.clockPart(n, x)
	case "epoch":
		return b.epoch(n, x)
	case "lower", "upper":
		return b.changeCase(n, x)
	case "length", "len":
		return b.length(n, x)
	case "substr", "substring":
		return b.substr(n, args)
	case "abs", "round", "floor", "ceil":
		return b.rounding(n, args)
	}
	return b.datePart(n, x)
}

// cases binds case and if: pairs of a condition and a value, and maybe a value otherwise.
func (b *binder) cases(n *ast.Node, args []*ast.Node) (*expr, error) {
	var when, then []*expr
	for len(args) > 1 {
		c, err := b.bind(args[0])
		if err == nil {
			c, err = b.typed(c, booleans)
		}
		if err != nil {
			return nil, err
		}
		if c.dt.ID() != arrow.BOOL {
			return nil, fail(args[0], "%s is of type %s: a condition is true or false", ast.Shorten(args[0].String()), text.Type(c.dt))
		}
		when = append(when, c)
		v, err := b.bind(args[1])
		if err != nil {
			return nil, err
		}
		then, args = append(then, v), args[2:]
	}
	other := &expr{node: n, lit: &ast.Node{Op: ast.OpLiteral}, dt: arrow.Null, constant: true, column: -1}
	if len(args) == 1 {
		var err error
		if other, err = b.bind(args[0]); err != nil {
			return nil, err
		}
	}
	then, dt, err := b.alike(n, append(then, other))
	if err != nil {
		return nil, err
	}
	out := function(n, dt, append(then, when...), func(e *env) (arrow.Array, error) {
		from := make([]int, e.rows) // of then
		left := bitmap.All(e.rows)
		pick := newPicker(e, dt, from)
		defer pick.release()
		for i, c := range when {
			taken, err := pick.truth(left, c)
			if err != nil {
				return nil, err
			}
			for row := range e.rows {
				if taken.At(row) {
					from[row] = i + 1
				}
			}
			left = minus(left, taken)
			if err := pick.add(taken, then[i]); err != nil {
				return nil, err
			}
		}
		for row := range e.rows {
			if left.At(row) {
				from[row] = len(when) + 1
			}
		}
		if err := pick.add(left, then[len(when)]); err != nil {
			return nil, err
		}
		return pick.result()
	})
	out.strict = false
	return out, nil
}

// coalesce binds the first value that is not null.
func (b *binder) coalesce(n *ast.Node, args []*expr) (*expr, error) {
	args, dt, err := b.alike(n, args)
	if err != nil {
		return nil, err
	}
	out := function(n, dt, args, func(e *env) (arrow.Array, error) {
		from := make([]int, e.rows)
		left := bitmap.All(e.rows)
		pick := newPicker(e, dt, from)
		defer pick.release()
		for i, a := range args {
			if err := pick.add(left, a); err != nil {
				return nil, err
			}
			arr := pick.arrays[i]
			for row := range e.rows {
				if left.At(row) && arr.IsValid(row) {
					from[row] = i + 1
				}
			}
			left = minus(left, validity(arr))
		}
		return pick.result()
	})
	out.strict = false
	return out, nil
}

func validity(arr arrow.Array) bitmap.Bits {
	if arrowutil.NullN(arr) == 0 {
		return bitmap.All(arr.Len())
	}
	return arrowutil.Validity(arr)
}

// minus are the bits of a that are not set in b.
func minus(a, b bitmap.Bits) bitmap.Bits {
	out := make([]byte, (a.Len+7)/8)
	for i := 0; i < a.Len; i += 64 {
		bitmap.PutWord(out, i, a.Word(i)&^b.Word(i), min(64, a.Len-i))
	}
	return bitmap.Bits{Data: out, Len: a.Len}
}

// picker makes an array of values of several arrays.
type picker struct {
	e      *env
	dt     arrow.DataType
	from   []int // the array, counted from 1, of each row; 0 for null
	arrays []arrow.Array
}

func newPicker(e *env, dt arrow.DataType, from []int) *picker {
	return &picker{e: e, dt: dt, from: from}
}

func (p *picker) release() { arrowutil.ReleaseAll(p.arrays) }

// add evaluates the values for some rows.
func (p *picker) add(rows bitmap.Bits, x *expr) error {
	arr, err := p.e.among(rows).full(x)
	if err == nil {
		p.arrays = append(p.arrays, arr)
	}
	return err
}

// truth are the rows among some for which a condition is true.
func (p *picker) truth(rows bitmap.Bits, x *expr) (bitmap.Bits, error) {
	arr, err := p.e.among(rows).full(x)
	if err != nil {
		return rows, err
	}
	defer arr.Release()
	out := make([]byte, (p.e.rows+7)/8)
	a := arr.(*array.Boolean)
	for i := range p.e.rows {
		if rows.At(i) && a.IsValid(i) && a.Value(i) {
			out[i>>3] |= 1 << (i & 7)
		}
	}
	return bitmap.Bits{Data: out, Len: p.e.rows}, nil
}

// result takes the value of each row from its array.
func (p *picker) result() (arrow.Array, error) {
	if isNull(p.dt) {
		return array.NewNull(p.e.rows), nil
	}
	starts := make([]int, len(p.arrays))
	total := 0
	for i, arr := range p.arrays {
		starts[i] = total
		total += arr.Len()
	}
	indices := make([]int64, p.e.rows)
	for row, k := range p.from {
		indices[row] = -1
		if k > 0 {
			indices[row] = int64(starts[k-1] + row)
		}
	}
	all, err := array.Concatenate(p.arrays, p.e.mem)
	if err != nil {
		return nil, err
	}
	defer all.Release()
	return arrowutil.Take(p.e.mem, all, indices)
}

// alike gives values a common type: that of numbers, or the same type.
func (b *binder) alike(n *ast.Node, args []*expr) ([]*expr, arrow.DataType, error) {
	dt := arrow.DataType(arrow.Null)
	mixed := false
	for _, a := range args { // literals other than numbers adapt
		next := a.dt
		if a.lit != nil {
			continue
		}
		switch {
		case isNull(dt), arrow.TypeEqual(dt, next):
			dt = next
		case isNull(next):
		case isNumber(dt) && isNumber(next):
			dt, mixed = common(dt, next), true
		case isText(dt) && isText(next):
			dt = utf8s
		default:
			return nil, nil, fail(a.node, "%s is of type %s, and a value before it of type %s", ast.Shorten(a.node.String()), text.Type(next), text.Type(dt))
		}
	}
	for _, a := range args {
		if a.lit == nil || a.lit.Lit.Kind == ast.LitNull {
			continue
		}
		own := literalType(a.lit.Lit)
		switch {
		case isNull(dt):
			dt = own
		case isNumber(dt) && isNumber(own):
			dt, mixed = common(dt, own), true
		case isText(dt):
			dt = utf8s
		}
	}
	if !castable(dt) && !hasBytes(dt) && !isNull(dt) {
		return nil, nil, fail(n, "values of type %s are not chosen from", text.Type(dt))
	}
	if mixed {
		dt = plainNumber(dt)
	} else if isText(dt) {
		dt = utf8s
	}
	for i, a := range args {
		var err error
		switch {
		case a.lit != nil:
			args[i], err = b.typed(a, dt)
		case isNull(a.dt):
			args[i], err = b.typed(&expr{node: a.node, lit: &ast.Node{Op: ast.OpLiteral}}, dt)
		case mixed:
			args[i], err = b.widened(a, dt)
		case isText(dt):
			args[i] = plainText(a)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return args, dt, nil
}

// plainText gives strings of any layout 32-bit offsets.
func plainText(x *expr) *expr {
	return texts(x.node, []*expr{x}, func(arrays []arrow.Array) func([]byte, int) []byte {
		at := arrowutil.BytesOf(arrays[0])
		return func(dst []byte, row int) []byte { return append(dst, at(row)...) }
	})
}

// rounding binds abs, round, floor and ceil. Integers stay as they are, decimals get no digits behind the point.
func (b *binder) rounding(n *ast.Node, args []*expr) (*expr, error) {
	x, err := b.number(n, args[0], int64s)
	if err != nil {
		return nil, err
	}
	digits := int64(0)
	if len(args) > 1 {
		lit := args[1].lit
		if lit == nil || lit.Lit.Kind != ast.LitNumber || !lit.Lit.Whole() || !lit.Lit.Rat().Num().IsInt64() {
			return nil, fail(args[1].node, "expected a number of digits, found %s", ast.Shorten(args[1].node.String()))
		}
		digits = max(min(lit.Lit.Rat().Num().Int64(), 400), -400)
	}
	switch {
	case isFloat(x.dt):
		return roundFloats(n, toFloats(n, x), digits), nil
	case isDecimal(x.dt):
		return b.roundDecimals(n, x, digits)
	}
	if x, err = b.widened(x, plainNumber(x.dt)); err != nil {
		return nil, err
	}
	switch {
	case n.Name == "abs" && isSigned(x.dt):
		return checked(n, x, int64s, func(v int64) (int64, bool) { return max(v, -v), v != math.MinInt64 },
			func(v int64) string { return "abs(-9223372036854775808) is out of the range of an int64" }), nil
	case n.Name != "round" || digits >= 0:
		return unary(n, x, x.dt, func(dst, a []int64) { copy(dst, a) }), nil
	}
	return b.roundIntegers(n, x, digits)
}

// roundIntegers rounds to tens, hundreds and so on.
func (b *binder) roundIntegers(n *ast.Node, x *expr, digits int64) (*expr, error) {
	dt := x.dt
	wide, err := b.widened(x, decimalType(38, 0))
	if err != nil {
		return nil, err
	}
	rounded := checked(n, wide, wide.dt, func(v int128) (int128, bool) { return numbers.RoundAt(v, -digits) }, func(v int128) string { return "" })
	return b.castNumber(n, rounded, dt)
}

func roundFloats(n *ast.Node, x *expr, digits int64) *expr {
	one := map[string]func(float64) float64{"abs": math.Abs, "round": math.Round, "floor": math.Floor, "ceil": math.Ceil}[n.Name]
	if n.Name == "round" && digits != 0 {
		power := math.Pow10(int(max(digits, -digits)))
		one = func(v float64) float64 {
			var r float64
			if digits > 0 {
				r = math.Round(v*power) / power
			} else {
				r = math.Round(v/power) * power
			}
			if math.IsInf(r, 0) || r != r {
				if digits > 0 {
					return v
				}
				return 0
			}
			return r
		}
	}
	return unary(n, x, float64s, func(dst, a []float64) {
		for i, v := range a {
			dst[i] = one(v)
		}
	})
}

// roundDecimals rounds away from zero for round. floor and ceil round down and up.
func (b *binder) roundDecimals(n *ast.Node, x *expr, digits int64) (*expr, error) {
	precision, scale := decimalOf(x.dt)
	wide := toDecimals(n, x, decimalType(precision, scale))
	if n.Name == "abs" {
		return unary(n, wide, wide.dt, func(dst, a []int128) {
			for i, v := range a {
				dst[i] = v.Abs()
			}
		}), nil
	}
	keep := int32(max(min(digits, int64(scale)), 0)) // digits behind the point
	if scale <= 0 && digits >= int64(scale) || n.Name == "round" && digits >= int64(scale) {
		return unary(n, wide, wide.dt, func(dst, a []int128) { copy(dst, a) }), nil
	}
	dt := decimalType(max(precision-scale+keep+1, 1), keep)
	down := decimal128.FromI64(1)
	return checked(n, wide, dt, func(v int128) (int128, bool) {
		if n.Name == "round" && digits < 0 {
			r, _ := numbers.Rescale(v, int32(max(digits, -39))-scale)
			return numbers.Rescale(r, int32(min(-digits, 39)))
		}
		if n.Name == "round" {
			return numbers.Rescale(v, keep-scale)
		}
		q, r := v.Div(decimal128.GetScaleMultiplier(int(scale)))
		switch {
		case n.Name == "floor" && r.Sign() < 0:
			q = q.Sub(down)
		case n.Name == "ceil" && r.Sign() > 0:
			q = q.Add(down)
		}
		return q, true
	}, func(v int128) string { return outOfRange(v.ToString(scale), text.Type(dt)) }), nil
}
