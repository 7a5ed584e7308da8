// Package expr has bound expressions: trees of functions on arrays, and the loops that evaluate them.
package expr

import (
	"fmt"
	"math/big"
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/numbers"
)

// Expr is a bound expression.
type Expr struct {
	Node *ast.Node
	Type arrow.DataType // of the arrays, which are plain
	// Eval returns an array of as many values as the environment has rows, or of one value for a constant. The caller releases it.
	Eval func(e *Env) (arrow.Array, error)
	// Narrow is Eval, or the same decimals with 64 in place of 128 bits if they fit. It is nil where Eval is not slower.
	Narrow func(e *Env) (arrow.Array, error)
	// True is the bitmap of the rows for which a condition is true, those that do not count set to anything. It is nil where Eval is not slower.
	True     func(e *Env) ([]byte, error)
	Err      error     // a mistake; the type is null then
	Lit      *ast.Node // a literal, whose type its context decides
	Constant bool
	Column   int  // of a plain column, else -1
	Strict   bool // null where a column is

	Arg   *ast.Node // see [predicate.Value]
	Least func(y *big.Int) *big.Int
}

// Env is what an expression is evaluated on.
type Env struct {
	Mem     memory.Allocator
	Columns []arrow.Array
	Rows    int
	Only    bitmap.Bits // rows whose errors count
}

// Value is the value of an expression for all rows, or the only value of a constant.
func (e *Env) Value(x *Expr) (arrow.Array, error) { return x.Eval(e.of(x)) }

// of is the environment of an expression: one row for a constant.
func (e *Env) of(x *Expr) *Env {
	if x.Constant {
		return &Env{Mem: e.Mem, Rows: 1, Only: bitmap.All(min(e.Rows, 1))}
	}
	return e
}

// Narrow is [Env.Value] with decimals of 64 in place of 128 bits if these fit and cost nothing.
func (e *Env) Narrow(x *Expr) (arrow.Array, error) {
	if x.Narrow != nil {
		return x.Narrow(e.of(x))
	}
	arr, err := e.Value(x)
	if err != nil || !x.Constant || arr.DataType().ID() != arrow.DECIMAL128 {
		return arr, err
	}
	if narrow := arrowutil.Narrow(e.Mem, arr); narrow != nil {
		arr.Release()
		return narrow, nil
	}
	return arr, nil
}

// Full is the value of an expression for all rows.
func (e *Env) Full(x *Expr) (arrow.Array, error) {
	arr, err := e.Value(x)
	if err != nil || !x.Constant || e.Rows == 1 {
		return arr, err
	}
	defer arr.Release()
	if arrowutil.NullN(arr) > 0 {
		indices := make([]int64, e.Rows)
		for i := range indices {
			indices[i] = -1
		}
		return arrowutil.Take(e.Mem, arr, indices)
	}
	return arrowutil.Repeat(e.Mem, arr, e.Rows)
}

// FullNarrow is [Env.Full] for what [Env.Narrow] gives.
func (e *Env) FullNarrow(x *Expr) (arrow.Array, error) {
	if x.Constant {
		return e.Full(x)
	}
	return e.Narrow(x)
}

// Among restricts the environment to some of its rows.
func (e *Env) Among(rows bitmap.Bits) *Env {
	return &Env{Mem: e.Mem, Columns: e.Columns, Rows: e.Rows, Only: common(e.Only, rows)}
}

// Valid is the validity of rows in which none of the arrays is null, nil if that is all, and the number of the others.
func (e *Env) Valid(arrays ...arrow.Array) (*memory.Buffer, int) {
	var all []bitmap.Bits
	for _, arr := range arrays {
		switch {
		case arrowutil.NullN(arr) == 0:
		case arr.Len() == 1 && e.Rows != 1:
			return arrowutil.NewZeroBuffer(e.Mem, (e.Rows+7)/8), e.Rows
		default:
			all = append(all, arrowutil.Validity(arr))
		}
	}
	if len(all) == 0 {
		return nil, 0
	}
	out := eachWord(e.Rows, func(i int) uint64 {
		w := ^uint64(0)
		for _, v := range all {
			w &= v.Word(i)
		}
		return w
	})
	return memory.NewBufferBytes(out.Data), out.Nulls()
}

// Mistake is an expression that is none.
func Mistake(err error) *Expr { return &Expr{Err: err, Type: arrow.Null, Column: -1} }

// Fail is the error of a mistake in a node.
func Fail(n *ast.Node, format string, args ...any) error {
	return &ast.Error{Text: n.Text, Pos: n.Pos, Message: fmt.Sprintf(format, args...)}
}

// Refuse is the mistake of an expression, or one that it had before.
func (x *Expr) Refuse(format string, args ...any) *Expr {
	if x.Err != nil {
		return x
	}
	return Mistake(Fail(x.Node, format, args...))
}

// Lazy is an expression of arguments, which eval evaluates as far as it needs them. It is strict if all of these are.
func Lazy(n *ast.Node, dt arrow.DataType, args []*Expr, eval func(e *Env) (arrow.Array, error)) *Expr {
	x := &Expr{Node: n, Type: dt, Eval: eval, Column: -1, Constant: true, Strict: true}
	for _, a := range args {
		if a.Err != nil {
			return a
		}
		x.Constant = x.Constant && a.Constant
		x.Strict = x.Strict && a.Strict
	}
	return x
}

// Function is an expression of the values of arguments. That of a constant is one value.
func Function(n *ast.Node, dt arrow.DataType, args []*Expr, eval func(e *Env, in []arrow.Array) (arrow.Array, error)) *Expr {
	return Lazy(n, dt, args, func(e *Env) (arrow.Array, error) { return e.apply(args, (*Env).Value, eval) })
}

// OfRows is [Function] for functions of arguments with a value for each row, constants too.
func OfRows(n *ast.Node, dt arrow.DataType, args []*Expr, eval func(e *Env, in []arrow.Array) (arrow.Array, error)) *Expr {
	return Lazy(n, dt, args, func(e *Env) (arrow.Array, error) { return e.apply(args, (*Env).Full, eval) })
}

// OfNarrow is [OfRows] for functions that take decimals of 64 in place of 128 bits, too.
func OfNarrow(n *ast.Node, dt arrow.DataType, args []*Expr, eval func(e *Env, in []arrow.Array) (arrow.Array, error)) *Expr {
	return Lazy(n, dt, args, func(e *Env) (arrow.Array, error) { return e.apply(args, (*Env).FullNarrow, eval) })
}

func (e *Env) apply(args []*Expr, value func(*Env, *Expr) (arrow.Array, error), eval func(e *Env, in []arrow.Array) (arrow.Array, error)) (arrow.Array, error) {
	in := make([]arrow.Array, len(args))
	defer arrowutil.ReleaseAll(in)
	for i, a := range args {
		var err error
		if in[i], err = value(e, a); err != nil {
			return nil, err
		}
	}
	return eval(e, in)
}

// Result is an array of numbers in the making, null where an argument is.
type Result[T any] struct {
	*Env
	Values []T
	data   *memory.Buffer
	valid  *memory.Buffer
	nulls  int
}

// NewResult makes the array of a function of arrays.
func NewResult[T any](e *Env, in []arrow.Array) *Result[T] {
	var t T
	r := &Result[T]{Env: e, data: arrowutil.NewBuffer(e.Mem, e.Rows*int(unsafe.Sizeof(t)))}
	r.Values = arrowutil.As[T](r.data.Bytes())
	r.valid, r.nulls = e.Valid(in...)
	return r
}

// Array is the array.
func (r *Result[T]) Array(dt arrow.DataType) arrow.Array {
	return arrowutil.Make(dt, r.Rows, []*memory.Buffer{r.valid, r.data}, nil, r.nulls)
}

// Drop releases the array. It returns the error.
func (r *Result[T]) Drop(err error) (arrow.Array, error) {
	r.data.Release()
	if r.valid != nil {
		r.valid.Release()
	}
	return nil, err
}

// Counts reports whether a row is not null, and its errors count.
func (r *Result[T]) Counts(i int) bool { return r.Only.At(i) && IsSet(r.valid, i) }

// IsSet reports whether a bit of a bitmap is set; without one all are.
func IsSet(bits *memory.Buffer, i int) bool { return bits == nil || bits.Bytes()[i>>3]>>(i&7)&1 != 0 }

// Unary is a function of one value that always has a value.
func Unary[T, R any](n *ast.Node, x *Expr, dt arrow.DataType, loop func(dst []R, a []T)) *Expr {
	return Function(n, dt, []*Expr{x}, func(e *Env, in []arrow.Array) (arrow.Array, error) {
		out := NewResult[R](e, in)
		if e.Rows > 0 {
			loop(out.Values, arrowutil.Values[T](in[0]))
		}
		return out.Array(dt), nil
	})
}

// Checked is [Unary] for functions that fail for some values.
func Checked[T, R any](n *ast.Node, x *Expr, dt arrow.DataType, one func(v T) (R, bool), why func(v T) string) *Expr {
	return PerBatch(n, x, dt, func() func(v T) (R, bool) { return one }, why)
}

// PerBatch is [Checked] with a function that is made anew for each evaluation, because it remembers.
func PerBatch[T, R any](n *ast.Node, x *Expr, dt arrow.DataType, begin func() func(v T) (R, bool), why func(v T) string) *Expr {
	return Function(n, dt, []*Expr{x}, func(e *Env, in []arrow.Array) (arrow.Array, error) {
		out, one := NewResult[R](e, in), begin()
		for i, v := range arrowutil.Values[T](in[0]) {
			r, ok := one(v)
			if out.Values[i] = r; !ok && out.Counts(i) {
				return out.Drop(Fail(n, "%s", why(v)))
			}
		}
		return out.Array(dt), nil
	})
}

// chunk is the number of values that a loop works on at a time.
const chunk = 1024

// Binary is a function of two values of the same type. fails says why it has no value, or "".
func Binary[T comparable](n *ast.Node, dt arrow.DataType, x, y *Expr, loop numbers.Loop[T], fails func(x, y T) string) *Expr {
	return Function(n, dt, []*Expr{x, y}, binary(n, dt, loop, fails))
}

func binary[T comparable](n *ast.Node, dt arrow.DataType, loop numbers.Loop[T], fails func(x, y T) string) func(e *Env, in []arrow.Array) (arrow.Array, error) {
	return func(e *Env, in []arrow.Array) (arrow.Array, error) {
		a, b := OperandOf[T](e, in[0]), OperandOf[T](e, in[1])
		out := NewResult[T](e, in)
		ok := true
		for from := 0; from < e.Rows; from += chunk {
			to := min(from+chunk, e.Rows)
			ok = loop(out.Values[from:to], a.part(from, to), b.part(from, to)) && ok
		}
		if n.Op == ast.OpDiv || n.Op == ast.OpIntDiv || n.Op == ast.OpMod {
			divided(out, b)
		}
		for i := 0; i < e.Rows && !ok; i++ {
			if why := fails(a.At(i), b.At(i)); why != "" && out.Counts(i) {
				return out.Drop(Fail(n, "%s", why))
			}
		}
		return out.Array(dt), nil
	}
}

// Decimals is [Binary] for decimals of 128 bits, which are computed with 64 bits where values and results fit.
func Decimals(n *ast.Node, dt *arrow.Decimal128Type, x, y *Expr, loop numbers.Loop[numbers.Int128], fails func(x, y numbers.Int128) string) *Expr {
	args, wide := []*Expr{x, y}, binary(n, dt, loop, fails)
	eval := func(e *Env, in []arrow.Array) (arrow.Array, error) {
		if out := narrow(e, n.Op, dt, in); out != nil {
			return out, nil
		}
		Widen(e, in, dt)
		return wide(e, in)
	}
	return Narrowing(n, dt, args, func(e *Env) (arrow.Array, error) { return e.apply(args, (*Env).Narrow, eval) })
}

// narrow computes sums, differences and products of decimals with 64 bits. It returns nil if values or results need more.
func narrow(e *Env, o ast.Op, dt *arrow.Decimal128Type, in []arrow.Array) arrow.Array {
	if o == ast.OpMod {
		return nil
	}
	out, a, b := NewResult[int64](e, in), lower(e, in[0]), lower(e, in[1])
	for from := 0; from < e.Rows; from += chunk {
		to := min(from+chunk, e.Rows)
		x, y := a(from, to), b(from, to)
		if x == nil || y == nil || !numbers.Int64Loops[o](out.Values[from:to], x, y) {
			_, _ = out.Drop(nil)
			return nil
		}
	}
	return out.Array(&arrow.Decimal64Type{Precision: dt.Precision, Scale: dt.Scale})
}

// lower gives parts of decimals as numbers of 64 bits, nil if some need more.
func lower(e *Env, arr arrow.Array) func(from, to int) []int64 {
	if arr.DataType().ID() == arrow.DECIMAL64 {
		o := OperandOf[int64](e, arr)
		return o.part
	}
	o, buf := OperandOf[numbers.Int128](e, arr), make([]int64, chunk)
	return func(from, to int) []int64 {
		if !arrowutil.Lower(buf, o.part(from, to)) {
			return nil
		}
		return buf[:to-from]
	}
}

// Widen replaces decimals of 64 bits by those of a type of 128 bits.
func Widen(e *Env, in []arrow.Array, dt arrow.DataType) {
	for i, arr := range in {
		in[i] = arrowutil.Widen(e.Mem, arr, dt)
		arr.Release()
	}
}

// Narrowing is [Lazy] for decimals of 128 bits that eval may give 64.
func Narrowing(n *ast.Node, dt arrow.DataType, args []*Expr, eval func(e *Env) (arrow.Array, error)) *Expr {
	x := Lazy(n, dt, args, func(e *Env) (arrow.Array, error) {
		arr, err := eval(e)
		if err != nil {
			return nil, err
		}
		defer arr.Release()
		return arrowutil.Widen(e.Mem, arr, dt), nil
	})
	if x.Err == nil {
		x.Narrow = eval
	}
	return x
}

// divided makes the rows null that divide by zero.
func divided[T comparable](r *Result[T], by Operand[T]) {
	var zero T
	if by.constant && r.Rows > 0 && by.v[0] != zero {
		return
	}
	for i := range r.Rows {
		if by.At(i) != zero {
			continue
		}
		if r.valid == nil {
			r.valid = arrowutil.NewBuffer(r.Mem, (r.Rows+7)/8)
			for k := range r.valid.Bytes() {
				r.valid.Bytes()[k] = 0xff
			}
		}
		if b := &r.valid.Bytes()[i>>3]; *b>>(i&7)&1 != 0 {
			*b &^= 1 << (i & 7)
			r.nulls++
		}
	}
}

// Operand is the values of an operand, of which a constant has one.
type Operand[T any] struct {
	v        []T
	constant bool
}

// OperandOf is an operand. A constant is repeated to the length of a part.
func OperandOf[T any](e *Env, arr arrow.Array) Operand[T] {
	o := Operand[T]{v: arrowutil.Values[T](arr)}
	if len(o.v) == 1 && e.Rows != 1 {
		o.v, o.constant = slices.Repeat(o.v, min(e.Rows, chunk)), true
	}
	return o
}

func (o *Operand[T]) part(from, to int) []T {
	if o.constant {
		return o.v[:to-from]
	}
	return o.v[from:to]
}

// At is the value of a row.
func (o *Operand[T]) At(i int) T {
	if o.constant {
		return o.v[0]
	}
	return o.v[i]
}

// Name is the text of an expression in messages.
func (x *Expr) Name() string { return ast.Shorten(x.Node.String()) }
