// Package compute gives value expressions a meaning: year(date), price * 2, any(tags = 'x'). It binds them to a schema ([Bind]) and
// evaluates them on record batches ([Value.Eval]). [Condition] binds conditions with such operands for package predicate, which knows
// those of columns and literals.
//
// An expression becomes a tree of functions on plain arrays (expr). Integers are computed as int64 or uint64, floats as float64, decimals
// as decimal128. An array of a constant has a single value. A function works on all rows and reports a failure of any; only then each
// row is looked at, because the failure may be one of a row that is null, or that a condition has excluded.
package compute

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// Value is a value expression bound to a schema. It does not change and may be used by many goroutines.
type Value struct {
	root    *expr
	columns []predicate.Column
	paths   []string
}

// Bind checks an expression against a schema. The error is an [*ast.Error] with the position of the mistake.
func Bind(n *ast.Node, s *arrow.Schema) (*Value, error) {
	b := &binder{schema: s}
	root, err := b.bind(n)
	if err == nil && root.lit != nil {
		root, err = b.typed(root, literalType(root.lit.Lit))
	}
	if err != nil {
		return nil, err
	}
	return &Value{root: root, columns: b.columns, paths: paths(n, s)}, nil
}

// Condition is [predicate.Bind] for conditions with any operands.
func Condition(n *ast.Node, s *arrow.Schema) (*predicate.Bound, error) {
	return predicate.BindWith(n, s, false, bindValue)
}

func bindValue(n *ast.Node, s *arrow.Schema) (predicate.Value, error) { return Bind(n, s) }

// paths are the paths of the columns of an expression, each once. A path into JSON texts becomes that of their column.
func paths(n *ast.Node, s *arrow.Schema) []string {
	out := []string{}
	for _, path := range n.Columns() {
		c, err := predicate.Resolve(&ast.Node{Op: ast.OpColumn, Path: path}, s)
		if err == nil && len(c.Inside) > 0 {
			names := schema.SplitPath(path)
			path = ast.PathOf(names[:len(names)-len(c.Inside)])
		}
		if !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// Type is the type of the values. That of a plain column is the type of the column; of other expressions it has no dictionaries.
func (v *Value) Type() arrow.DataType {
	if c := v.column(); c != nil {
		return c.Type
	}
	return v.root.dt
}

// column is the column that the expression is, or nil.
func (v *Value) column() *predicate.Column {
	if v.root.column < 0 || v.columns[v.root.column].Inside != nil {
		return nil
	}
	return &v.columns[v.root.column]
}

// Column reports whether the expression is just a column, and its path. A value numbers.Within JSON texts is none.
func (v *Value) Column() (path string, ok bool) {
	c := v.column()
	if c == nil {
		return "", false
	}
	return c.Path, true
}

// Columns are the paths of the columns that the expression needs, each once: those of a projection for it.
func (v *Value) Columns() []string { return v.paths }

// Inputs implements [predicate.Value].
func (v *Value) Inputs() []predicate.Column { return v.columns }

// Monotone implements [predicate.Value].
func (v *Value) Monotone() (arg *ast.Node, least func(y *big.Int) *big.Int, ok bool) {
	return v.root.arg, v.root.least, v.root.least != nil
}

// Eval returns the values of the expression for the rows of a batch with the schema given to [Bind]. A plain column
// comes back as it is, dictionaries and runs included. The caller releases the array. The error is an [*ast.Error] if a value cannot be
// computed, such as a sum that is too large.
func (v *Value) Eval(mem memory.Allocator, batch arrow.RecordBatch) (arrow.Array, error) {
	if c := v.column(); c != nil {
		return c.Of(batch)
	}
	inputs := make([]arrow.Array, len(v.columns))
	for i, c := range v.columns {
		arr, err := c.Of(batch)
		if err != nil {
			return nil, err
		}
		defer arr.Release()
		inputs[i] = arr
	}
	return v.Compute(mem, inputs, int(batch.NumRows()), nil)
}

// Compute implements [predicate.Value].
func (v *Value) Compute(mem memory.Allocator, inputs []arrow.Array, rows int, only []byte) (arrow.Array, error) {
	if len(inputs) == 1 && v.root.strict {
		if out, err := v.ofDictionary(mem, inputs[0]); out != nil || err != nil {
			return out, err
		}
	}
	e := &env{mem: mem, columns: inputs, rows: rows, only: bitmap.All(rows)}
	if only != nil {
		e.only = bitmap.Bits{Data: only, Len: rows}
	}
	return e.full(v.root)
}

// ofDictionary computes the value of each entry of a dictionary instead of each row. It returns nil if that does not pay, or if it fails:
// the entry may be one of no row.
func (v *Value) ofDictionary(mem memory.Allocator, arr arrow.Array) (arrow.Array, error) {
	d, ok := arrowutil.Storage(arr).(*array.Dictionary)
	if !ok || d.Dictionary().Len() > d.Len() {
		return nil, nil
	}
	entries := d.Dictionary().Len()
	e := &env{mem: mem, columns: []arrow.Array{d.Dictionary()}, rows: entries, only: bitmap.All(entries)}
	values, err := e.full(v.root)
	if err != nil {
		return nil, nil
	}
	defer values.Release()
	indices := make([]int64, d.Len())
	for i := range indices {
		indices[i] = -1
		if d.IsValid(i) {
			indices[i] = int64(d.GetValueIndex(i))
		}
	}
	return arrowutil.Take(mem, values, indices)
}

// expr is a bound expression.
type expr struct {
	node *ast.Node
	dt   arrow.DataType // of the arrays, which are plain
	// eval returns an array of as many values as the environment has rows, or of one value for a constant. The caller releases it.
	eval     func(e *env) (arrow.Array, error)
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

// counts reports whether the row is not null, and its errors count.
func (e *env) counts(valid *memory.Buffer, i int) bool {
	return e.only.At(i) && (valid == nil || valid.Bytes()[i>>3]>>(i&7)&1 != 0)
}

func fail(n *ast.Node, format string, args ...any) error {
	return &ast.Error{Text: n.Text, Pos: n.Pos, Message: fmt.Sprintf(format, args...)}
}
