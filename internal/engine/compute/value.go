// Package compute gives value expressions a meaning: year(date), price * 2, any(tags = 'x'). It binds them to a schema ([Bind]) and
// evaluates them on record batches ([Value.Eval]). [Condition] binds conditions with such operands for package predicate, which knows
// those of columns and literals.
//
// An expression becomes a tree of functions on plain arrays (package expr). Integers are computed as int64 or uint64, floats as float64, decimals
// as decimal128. An array of a constant has a single value. A function works on all rows and reports a failure of any; only then each
// row is looked at, because the failure may be one of a row that is null, or that a condition has excluded.
//
// An expression with a mistake is bound, too: it has the error, and so does whatever is made of it.
package compute

import (
	"math/big"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/expr"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// Value is a value expression bound to a schema. It may be used by many goroutines.
type Value struct {
	root    *expr.Expr
	columns []predicate.Column
	paths   []string
	last    atomic.Pointer[ofEntries]
}

// ofEntries are the values for the entries of the dictionary that came last. Most batches have the same one.
type ofEntries struct {
	dictionary arrow.ArrayData // the reference keeps its address from another one
	values     arrow.Array     // nil if some entry, which may be one of no row, has no value
}

// Bind checks an expression against a schema. The error is an [*ast.Error] with the position of the mistake.
func Bind(n *ast.Node, s *arrow.Schema) (*Value, error) {
	b := &binder{schema: s}
	root := natural(b.bind(n))
	if root.Err != nil {
		return nil, root.Err
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
	return v.root.Type
}

// column is the column that the expression is, or nil.
func (v *Value) column() *predicate.Column {
	if v.root.Column < 0 || v.columns[v.root.Column].Inside != nil {
		return nil
	}
	return &v.columns[v.root.Column]
}

// Column reports whether the expression is just a column, and its path. A value within JSON texts is none.
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
	return v.root.Arg, v.root.Least, v.root.Least != nil
}

// Eval returns the values of the expression for the rows of a batch with the schema given to [Bind]. A plain column
// comes back as it is, dictionaries and runs included. The caller releases the array. The error is an [*ast.Error] if a value cannot be
// computed, such as a sum that is too large.
func (v *Value) Eval(mem memory.Allocator, batch arrow.RecordBatch) (arrow.Array, error) {
	return v.eval(mem, batch, (*expr.Env).Full)
}

// Narrow is [Value.Eval], but decimals of 128 bits may come with 64.
func (v *Value) Narrow(mem memory.Allocator, batch arrow.RecordBatch) (arrow.Array, error) {
	return v.eval(mem, batch, (*expr.Env).FullNarrow)
}

// Coded is [Value.Eval], but values may come as a dictionary, the same for several batches.
func (v *Value) Coded(mem memory.Allocator, batch arrow.RecordBatch) (arrow.Array, error) {
	if v.column() != nil || len(v.columns) != 1 || !v.root.Strict {
		return v.Eval(mem, batch)
	}
	arr, err := v.columns[0].Of(batch)
	if err != nil {
		return nil, err
	}
	defer arr.Release()
	d, values := v.ofDictionary(arr)
	if values == nil {
		return v.compute(mem, []arrow.Array{arr}, int(batch.NumRows()), nil, (*expr.Env).Full)
	}
	return array.NewDictionaryArray(&arrow.DictionaryType{IndexType: d.Indices().DataType(), ValueType: values.DataType()}, d.Indices(), values), nil
}

func (v *Value) eval(mem memory.Allocator, batch arrow.RecordBatch, root func(*expr.Env, *expr.Expr) (arrow.Array, error)) (arrow.Array, error) {
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
	return v.compute(mem, inputs, int(batch.NumRows()), nil, root)
}

// Compute implements [predicate.Value].
func (v *Value) Compute(mem memory.Allocator, inputs []arrow.Array, rows int, only []byte) (arrow.Array, error) {
	return v.compute(mem, inputs, rows, only, (*expr.Env).Full)
}

func (v *Value) compute(mem memory.Allocator, inputs []arrow.Array, rows int, only []byte, root func(*expr.Env, *expr.Expr) (arrow.Array, error)) (arrow.Array, error) {
	if len(inputs) == 1 && v.root.Strict {
		if d, values := v.ofDictionary(inputs[0]); values != nil {
			return arrowutil.TakeCoded(mem, d, values)
		}
	}
	e := &expr.Env{Mem: mem, Columns: inputs, Rows: rows, Only: bitmap.All(rows)}
	if only != nil {
		e.Only = bitmap.Bits{Data: only, Len: rows}
	}
	return root(e, v.root)
}

// ofDictionary computes the value of each entry of a dictionary instead of each row. The values are nil if that does not pay, or if one of
// them cannot be computed. They remain those of v.
func (v *Value) ofDictionary(arr arrow.Array) (*array.Dictionary, arrow.Array) {
	d, ok := arrowutil.Storage(arr).(*array.Dictionary)
	if !ok || d.Dictionary().Len() > dictionaryRows*d.Len() {
		return nil, nil
	}
	entries := d.Dictionary()
	last := v.last.Load()
	if last == nil || last.dictionary != entries.Data() {
		e := &expr.Env{Mem: memory.DefaultAllocator, Columns: []arrow.Array{entries}, Rows: entries.Len(), Only: bitmap.All(entries.Len())}
		values, err := e.Full(v.root)
		if err != nil {
			values = nil
		}
		last = &ofEntries{entries.Data(), values}
		v.last.Store(last)
	}
	return d, last.values
}

// dictionaryRows is how many entries a dictionary may have for each row of a batch: others will share it.
const dictionaryRows = 8
