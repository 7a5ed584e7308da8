package compute

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
	"github.com/amudai/amudai-go/internal/engine/predicate"
)

// expr is a bound expression.
type expr struct {
	node *ast.Node
	dt   arrow.DataType // of the arrays, which are plain
	// eval returns an array of as many values as the environment has rows, or of one value for a constant. The caller releases it.
	eval     func(e *env) (arrow.Array, error)
	err      error     // a mistake; the type is null then
	lit      *ast.Node // a literal, whose type its context decides
	constant bool
	column   int  // of a plain column, else -1
	strict   bool // null where a column is

	arg   *ast.Node // see [predicate.Value]
	least func(y *big.Int) *big.Int
}

// env is what an expression is evaluated on.
type env struct {
	mem     memory.Allocator
	columns []arrow.Array
	rows    int
	only    bitmap.Bits // rows whose errors count
}

// array is the value of an expression for all rows, or the only value of a constant.
func (e *env) array(x *expr) (arrow.Array, error) {
	if x.constant {
		e = &env{mem: e.mem, rows: 1, only: bitmap.All(min(e.rows, 1))}
	}
	return x.eval(e)
}

// full is the value of an expression for all rows.
func (e *env) full(x *expr) (arrow.Array, error) {
	arr, err := e.array(x)
	if err != nil || !x.constant || e.rows == 1 {
		return arr, err
	}
	defer arr.Release()
	if arrowutil.NullN(arr) > 0 {
		indices := make([]int64, e.rows)
		for i := range indices {
			indices[i] = -1
		}
		return arrowutil.Take(e.mem, arr, indices)
	}
	return arrowutil.Repeat(e.mem, arr, e.rows)
}

// among restricts the environment to some of its rows.
func (e *env) among(rows bitmap.Bits) *env {
	only := make([]byte, predicate.BitmapLen(e.rows))
	for i := 0; i < e.rows; i += 64 {
		bitmap.PutWord(only, i, e.only.Word(i)&rows.Word(i), min(64, e.rows-i))
	}
	return &env{mem: e.mem, columns: e.columns, rows: e.rows, only: bitmap.Bits{Data: only, Len: e.rows}}
}

// valid is the validity of rows in which none of the arrays is null, nil if that is all, and the number of the others.
func (e *env) valid(arrays ...arrow.Array) (*memory.Buffer, int) {
	var all []bitmap.Bits
	for _, arr := range arrays {
		switch {
		case arrowutil.NullN(arr) == 0:
		case arr.Len() == 1 && e.rows != 1:
			return arrowutil.NewZeroBuffer(e.mem, (e.rows+7)/8), e.rows
		default:
			all = append(all, arrowutil.Validity(arr))
		}
	}
	if len(all) == 0 {
		return nil, 0
	}
	out := arrowutil.NewZeroBuffer(e.mem, (e.rows+7)/8)
	for i := 0; i < e.rows; i += 64 {
		w := ^uint64(0)
		for _, v := range all {
			w &= v.Word(i)
		}
		bitmap.PutWord(out.Bytes(), i, w, min(64, e.rows-i))
	}
	return out, bitmap.Bits{Data: out.Bytes(), Len: e.rows}.Nulls()
}

// mistake is an expression that is none.
func mistake(err error) *expr { return &expr{err: err, dt: arrow.Null, column: -1} }

func fail(n *ast.Node, format string, args ...any) error {
	return &ast.Error{Text: n.Text, Pos: n.Pos, Message: fmt.Sprintf(format, args...)}
}

// refuse is the mistake of an expression, or one that it had before.
func (x *expr) refuse(format string, args ...any) *expr {
	if x.err != nil {
		return x
	}
	return mistake(fail(x.node, format, args...))
}

// lazy is an expression of arguments that eval may evaluate. It is strict if all of these are.
func lazy(n *ast.Node, dt arrow.DataType, args []*expr, eval func(e *env) (arrow.Array, error)) *expr {
	x := &expr{node: n, dt: dt, eval: eval, column: -1, constant: true, strict: true}
	for _, a := range args {
		if a.err != nil {
			return a
		}
		x.constant = x.constant && a.constant
		x.strict = x.strict && a.strict
	}
	return x
}

// function is an expression of the values of arguments. That of a constant is one value.
func function(n *ast.Node, dt arrow.DataType, args []*expr, eval func(e *env, in []arrow.Array) (arrow.Array, error)) *expr {
	return lazy(n, dt, args, func(e *env) (arrow.Array, error) { return e.apply(args, (*env).array, eval) })
}

// ofRows is a function of arguments with a value for each row, constants too.
func ofRows(n *ast.Node, dt arrow.DataType, args []*expr, eval func(e *env, in []arrow.Array) (arrow.Array, error)) *expr {
	return lazy(n, dt, args, func(e *env) (arrow.Array, error) { return e.apply(args, (*env).full, eval) })
}

func (e *env) apply(args []*expr, value func(*env, *expr) (arrow.Array, error), eval func(e *env, in []arrow.Array) (arrow.Array, error)) (arrow.Array, error) {
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

// result is an array of numbers in the making, null where an argument is.
type result[T any] struct {
	*env
	values []T
	data   *memory.Buffer
	valid  *memory.Buffer
	nulls  int
}

func newResult[T any](e *env, in []arrow.Array) *result[T] {
	var t T
	r := &result[T]{env: e, data: arrowutil.NewBuffer(e.mem, e.rows*int(unsafe.Sizeof(t)))}
	r.values = arrowutil.As[T](r.data.Bytes())
	r.valid, r.nulls = e.valid(in...)
	return r
}

// array is the array.
func (r *result[T]) array(dt arrow.DataType) arrow.Array {
	return arrowutil.Make(dt, r.rows, []*memory.Buffer{r.valid, r.data}, nil, r.nulls)
}

// drop releases the array. It returns the error.
func (r *result[T]) drop(err error) (arrow.Array, error) {
	r.data.Release()
	if r.valid != nil {
		r.valid.Release()
	}
	return nil, err
}

// counts reports whether a row is not null, and its errors count.
func (r *result[T]) counts(i int) bool { return r.only.At(i) && isSet(r.valid, i) }

// isSet reports whether a bit of a bitmap is set; without one all are.
func isSet(bits *memory.Buffer, i int) bool { return bits == nil || bits.Bytes()[i>>3]>>(i&7)&1 != 0 }

// unary is a function of one value that always has a value.
func unary[T, R any](n *ast.Node, x *expr, dt arrow.DataType, loop func(dst []R, a []T)) *expr {
	return function(n, dt, []*expr{x}, func(e *env, in []arrow.Array) (arrow.Array, error) {
		out := newResult[R](e, in)
		if e.rows > 0 {
			loop(out.values, arrowutil.Values[T](in[0]))
		}
		return out.array(dt), nil
	})
}

// checked is unary for functions that fail for some values.
func checked[T, R any](n *ast.Node, x *expr, dt arrow.DataType, one func(v T) (R, bool), why func(v T) string) *expr {
	return perBatch(n, x, dt, func() func(v T) (R, bool) { return one }, why)
}

// perBatch is checked with a function that is made anew for each evaluation, because it remembers.
func perBatch[T, R any](n *ast.Node, x *expr, dt arrow.DataType, begin func() func(v T) (R, bool), why func(v T) string) *expr {
	return function(n, dt, []*expr{x}, func(e *env, in []arrow.Array) (arrow.Array, error) {
		out, one := newResult[R](e, in), begin()
		for i, v := range arrowutil.Values[T](in[0]) {
			r, ok := one(v)
			if out.values[i] = r; !ok && out.counts(i) {
				return out.drop(fail(n, "%s", why(v)))
			}
		}
		return out.array(dt), nil
	})
}

// chunk is the number of values that a loop works on at a time.
const chunk = 1024

// binary is a function of two values of the same type. fails says why it has no value, or "".
func binary[T comparable](n *ast.Node, dt arrow.DataType, x, y *expr, loop numbers.Loop[T], fails func(x, y T) string) *expr {
	return function(n, dt, []*expr{x, y}, func(e *env, in []arrow.Array) (arrow.Array, error) {
		a, b := operandOf[T](e, in[0]), operandOf[T](e, in[1])
		out := newResult[T](e, in)
		ok := true
		for from := 0; from < e.rows; from += chunk {
			to := min(from+chunk, e.rows)
			ok = loop(out.values[from:to], a.part(from, to), b.part(from, to)) && ok
		}
		if n.Op == ast.OpDiv || n.Op == ast.OpIntDiv || n.Op == ast.OpMod {
			divided(out, b)
		}
		for i := 0; i < e.rows && !ok; i++ {
			if why := fails(a.at(i), b.at(i)); why != "" && out.counts(i) {
				return out.drop(fail(n, "%s", why))
			}
		}
		return out.array(dt), nil
	})
}

// divided makes the rows null that divide by zero.
func divided[T comparable](r *result[T], by operand[T]) {
	var zero T
	if by.constant && r.rows > 0 && by.v[0] != zero {
		return
	}
	for i := range r.rows {
		if by.at(i) != zero {
			continue
		}
		if r.valid == nil {
			r.valid = arrowutil.NewBuffer(r.mem, (r.rows+7)/8)
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

// operand is the values of an operand, of which a constant has one.
type operand[T any] struct {
	v        []T
	constant bool
}

// operandOf is an operand. A constant is repeated to the length of a part.
func operandOf[T any](e *env, arr arrow.Array) operand[T] {
	o := operand[T]{v: arrowutil.Values[T](arr)}
	if len(o.v) == 1 && e.rows != 1 {
		o.v, o.constant = slices.Repeat(o.v, min(e.rows, chunk)), true
	}
	return o
}

func (o *operand[T]) part(from, to int) []T {
	if o.constant {
		return o.v[:to-from]
	}
	return o.v[from:to]
}

func (o *operand[T]) at(i int) T {
	if o.constant {
		return o.v[0]
	}
	return o.v[i]
}

// name is the text of an expression in messages.
func (x *expr) name() string { return ast.Shorten(x.node.String()) }
