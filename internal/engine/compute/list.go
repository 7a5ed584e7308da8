package compute

import (
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/elements"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/expr"
	"github.com/amudai/amudai-go/internal/engine/jsonvalues"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
)

// isList reports whether values of a type have elements.
func isList(dt arrow.DataType) bool {
	return kinds.Of(kinds.Unwrapped(dt)) == kinds.List
}

// elementwise is a condition on the elements of a list, or of lists whose elements stand side by side. Within it, the path of a list names
// an element.
type elementwise struct {
	n       *ast.Node
	lists   []*expr.Expr // none for arrays within JSON texts
	yes, no *predicate.Bound
	inputs  []elementInput // of yes, then of no
	json    int            // the column of JSON texts
	prefix  []string       // the names that all paths into the texts begin with
}

// elementInput is a column of the condition: a part of the elements, or a column of the rows.
type elementInput struct {
	column predicate.Column
	part   []int // within an element; nil for a column of the rows
	list   int   // of the element
	json   bool  // within the elements of an array in JSON
	row    int   // the column of the rows
}

// listAt follows a path to the first list on it. ok is false if there is none.
func listAt(s *arrow.Schema, path string) (at string, dt arrow.DataType, ok bool) {
	names := schema.SplitPath(path)
	for k := range names {
		at = ast.PathOf(names[:k+1])
		c, err := predicate.Resolve(&ast.Node{Op: ast.OpColumn, Path: at}, s)
		if err != nil || c.Inside != nil {
			return "", nil, false
		}
		if plain, _ := extension.Unwrap(c.Type); isList(plain) {
			return at, plain, true
		}
	}
	return "", nil, false
}

// replaced is a schema in which a field has another type.
func replaced(fields []arrow.Field, index []int, dt arrow.DataType) []arrow.Field {
	out := slices.Clone(fields)
	f := &out[index[0]]
	if len(index) == 1 {
		f.Type = dt
		return out
	}
	plain, _ := extension.Unwrap(f.Type)
	f.Type = kinds.With(plain, replaced(kinds.Fields(plain), index[1:], dt))
	return out
}

// elements binds a condition on elements.
func (b *binder) elements(n, condition *ast.Node) (*elementwise, error) {
	e, inner, err := b.within(n, condition)
	if err != nil {
		return nil, err
	}
	if len(e.lists) == 0 {
		return b.elementsOfJSON(n, condition)
	}
	return e, e.bind(condition, inner, func(c predicate.Column) elementInput { return b.elementInput(e, c) })
}

// within finds the lists on the paths of a condition or a value, and the schema that it has for their elements.
func (b *binder) within(n, of *ast.Node) (*elementwise, *arrow.Schema, error) {
	e, fields, paths := &elementwise{n: n}, b.schema.Fields(), []string{}
	for _, p := range of.Columns() {
		path, dt, ok := listAt(b.schema, p)
		if !ok || slices.Contains(paths, path) {
			continue
		}
		list := b.column(&ast.Node{Op: ast.OpColumn, Path: path, Text: n.Text, Pos: n.Pos})
		if list.Err != nil {
			return nil, nil, list.Err
		}
		e.lists, paths = append(e.lists, list), append(paths, path)
		fields = replaced(fields, b.columns[list.Column].Index, dt.(arrow.ListLikeType).Elem())
	}
	return e, arrow.NewSchema(fields, nil), nil
}

// elementInput is where a column of a condition on elements comes from.
func (b *binder) elementInput(e *elementwise, c predicate.Column) elementInput {
	for k, list := range e.lists {
		at := b.columns[list.Column].Index
		if len(c.Index) >= len(at) && slices.Equal(c.Index[:len(at)], at) {
			return elementInput{column: c, part: append([]int{}, c.Index[len(at):]...), list: k}
		}
	}
	return elementInput{column: c, row: b.input(c)}
}

// elementsOfJSON binds a condition on the elements of arrays within JSON texts: the first array on the path that all paths have in common.
func (b *binder) elementsOfJSON(n, condition *ast.Node) (*elementwise, error) {
	e := &elementwise{n: n, json: -1}
	var base predicate.Column
	for _, p := range condition.Columns() {
		c, err := predicate.Resolve(&ast.Node{Op: ast.OpColumn, Path: p, Text: n.Text, Pos: n.Pos}, b.schema)
		switch {
		case err != nil:
			return nil, err
		case c.Inside == nil:
		case e.json < 0:
			names := schema.SplitPath(p)
			whole := ast.PathOf(names[:len(names)-len(c.Inside)])
			if base, err = predicate.Resolve(&ast.Node{Op: ast.OpColumn, Path: whole, Text: n.Text, Pos: n.Pos}, b.schema); err != nil {
				return nil, err
			}
			e.json, e.prefix = b.input(base), c.Inside
		case !slices.Equal(base.Index, c.Index):
			return nil, expr.Fail(n, "%s asks for elements of one array, not of several columns", operator(n))
		default:
			k := 0
			for k < min(len(e.prefix), len(c.Inside)) && e.prefix[k] == c.Inside[k] {
				k++
			}
			e.prefix = e.prefix[:k]
		}
	}
	if e.json < 0 {
		names := strings.Join(condition.Columns(), ", ")
		return nil, expr.Fail(n, "%s needs a list, and there is none in %s", operator(n), ast.Shorten(names))
	}
	return e, e.bind(condition, b.schema, func(c predicate.Column) elementInput {
		if c.Inside != nil && slices.Equal(c.Index, base.Index) {
			return elementInput{column: c, json: true}
		}
		return elementInput{column: c, row: b.input(c)}
	})
}

func (x *elementwise) bind(condition *ast.Node, s *arrow.Schema, input func(c predicate.Column) elementInput) (err error) {
	if x.yes, x.no, err = bothWays(condition, s); err != nil {
		return err
	}
	for _, p := range []*predicate.Bound{x.yes, x.no} {
		for i := range p.NumColumns() {
			x.inputs = append(x.inputs, input(*p.Column(i)))
		}
	}
	return nil
}

// found is what a condition is for the elements of the rows.
type found struct {
	elements.Rows
	yes, no []byte        // elements
	inputs  []arrow.Array // of the condition or value
	only    bitmap.Bits   // elements of rows that count
}

func (f *found) release() {
	f.Release()
	arrowutil.ReleaseAll(f.inputs)
}

// eval evaluates the condition for all elements.
func (x *elementwise) eval(e *expr.Env) (*found, error) {
	f, err := x.open(e)
	if err != nil {
		return nil, err
	}
	k := x.yes.NumColumns()
	if f.yes, err = x.yes.EvalOnly(f.inputs[:k], f.only.Len, f.only); err == nil {
		f.no, err = x.no.EvalOnly(f.inputs[k:], f.only.Len, f.only)
	}
	if err != nil {
		f.release()
		return nil, err
	}
	return f, nil
}

// open finds the elements of the rows, and the inputs for them.
func (x *elementwise) open(e *expr.Env) (f *found, err error) {
	f = &found{Rows: elements.Rows{N: e.Rows}}
	defer func() {
		if err != nil {
			f.release()
		}
	}()
	var json *jsonvalues.Arrays
	if len(x.lists) == 0 {
		if json, err = jsonvalues.FindArrays(e.Columns[x.json], x.prefix); err != nil {
			return f, err
		}
		f.Bounds = func(row int) (int, int) { return json.Ends[row], json.Ends[row+1] }
		f.Valid = bitmap.Bits{Data: json.Valid, Len: e.Rows}
	}
	for k, list := range x.lists {
		arr, err := e.Full(list)
		if err != nil {
			return f, err
		}
		misfit, err := f.Add(e.Mem, arr.(array.ListLike), e.Only)
		arr.Release()
		if misfit != nil {
			err = expr.Fail(x.n, "%s looks at elements side by side, and a row has %d of %s, but %d of %s", operator(x.n), misfit.First, x.lists[0].Name(), misfit.Other, x.lists[k].Name())
		}
		if err != nil {
			return f, err
		}
	}
	rows := f.Of()
	only := make([]byte, predicate.BitmapLen(len(rows)))
	for i, row := range rows {
		if row >= 0 && e.Only.At(int(row)) {
			only[i>>3] |= 1 << (i & 7)
		}
	}
	f.only = bitmap.Bits{Data: only, Len: len(rows)}
	f.inputs = make([]arrow.Array, len(x.inputs))
	for i, in := range x.inputs {
		switch {
		case in.json:
			f.inputs[i] = in.column.Elements(json, len(x.prefix))
		case in.part != nil:
			f.inputs[i], err = in.column.Part(f.Values[in.list], in.part)
		default:
			f.inputs[i], err = arrowutil.Take(e.Mem, e.Columns[in.row], rows)
		}
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

// quantified binds any(condition) and all(condition). Of an empty list any is false and all is true.
func (b *binder) quantified(n *ast.Node) *expr.Expr {
	x, err := b.elements(n, n.Args[0])
	if err != nil {
		return expr.Mistake(err)
	}
	if n.Name == "all" {
		return x.reduced(func(yes, no, unknown bool) (isTrue, isFalse bool) { return !no && !unknown, no })
	}
	return x.reduced(func(yes, no, unknown bool) (isTrue, isFalse bool) { return yes, !yes && !unknown })
}

// contains binds the question whether an element is equal to a value; elements that are null are not. For a map it asks for a key.
func (b *binder) contains(n *ast.Node, list *expr.Expr) *expr.Expr {
	if list.Column < 0 {
		return expr.Mistake(expr.Fail(n.Args[0], "contains looks into columns of lists, not into %s", ast.Shorten(n.Args[0].String())))
	}
	path := n.Args[0].Path
	if list.Type.ID() == arrow.MAP {
		path = ast.PathOf(append(schema.SplitPath(path), "key"))
	}
	x, err := b.equal(n, path)
	if err != nil {
		return expr.Mistake(err)
	}
	out := x.reduced(func(yes, no, unknown bool) (isTrue, isFalse bool) { return yes, !yes })
	value := b.bind(n.Args[1])
	if value.Lit != nil && value.Lit.Lit.Kind != ast.LitNull {
		return out
	}
	// null where the value is
	return expr.OfRows(n, booleans, []*expr.Expr{natural(value), out}, func(e *expr.Env, in []arrow.Array) (arrow.Array, error) {
		return arrowutil.Mask(e.Mem, in[1], arrowutil.Validity(in[0]))
	})
}

// equal binds the condition that the elements at a path are equal to the second argument.
func (b *binder) equal(n *ast.Node, path string) (*elementwise, error) {
	element := &ast.Node{Op: ast.OpColumn, Text: n.Text, Pos: n.Pos, Path: path}
	return b.elements(n, &ast.Node{Op: ast.OpEq, Text: n.Text, Pos: n.Pos, Args: []*ast.Node{element, n.Args[1]}})
}

// reduced is a boolean made of what a condition is for the elements of a row. It is null where there is no list.
func (x *elementwise) reduced(truth func(yes, no, unknown bool) (isTrue, isFalse bool)) *expr.Expr {
	return &expr.Expr{Node: x.n, Type: booleans, Column: -1, Eval: func(e *expr.Env) (arrow.Array, error) {
		f, err := x.eval(e)
		if err != nil {
			return nil, err
		}
		defer f.release()
		n := predicate.BitmapLen(e.Rows)
		isTrue, isFalse := make([]byte, n), make([]byte, n)
		for row := range e.Rows {
			if !f.Valid.At(row) {
				continue
			}
			lo, hi := f.Bounds(row)
			yes, no, unknown := false, false, false
			for i := lo; i < hi; i++ {
				y, o := f.yes[i>>3]>>(i&7)&1 != 0, f.no[i>>3]>>(i&7)&1 != 0
				yes, no, unknown = yes || y, no || o, unknown || !y && !o
			}
			t, o := truth(yes, no, unknown)
			if t {
				isTrue[row>>3] |= 1 << (row & 7)
			} else if o {
				isFalse[row>>3] |= 1 << (row & 7)
			}
		}
		return truths(e, isTrue, isFalse), nil
	}}
}

// index binds an element of a list by its position, which counts from 1, or with a negative one from the end; or the value of a map by its
// key. Without such an element it is null.
func (b *binder) index(n *ast.Node) *expr.Expr {
	x, at := b.bind(n.Args[0]), n.Args[1]
	if x.Column >= 0 && (b.columns[x.Column].Inside != nil || extension.IsJSON(b.columns[x.Column].Type)) && at.Op == ast.OpLiteral && at.Lit.Kind == ast.LitString {
		return b.column(&ast.Node{Op: ast.OpColumn, Text: n.Text, Pos: n.Pos, Path: ast.PathOf(append(schema.SplitPath(n.Args[0].Path), at.Lit.Text))})
	}
	if x.Err != nil {
		return x
	}
	switch parts := kinds.Fields(x.Type); kinds.Of(x.Type) {
	case kinds.List:
		if len(parts) == 2 {
			return b.mapValue(n, x, parts[1].Type)
		}
		return b.listItem(n, x, parts[0].Type)
	case kinds.Record:
		return field(n, x, x.Type.(*arrow.StructType))
	}
	return expr.Mistake(expr.Fail(n, "%s is of type %s, and only lists and maps have elements", ast.Shorten(n.Args[0].String()), text.Type(x.Type)))
}

// field binds a field of a struct.
func field(n *ast.Node, x *expr.Expr, t *arrow.StructType) *expr.Expr {
	name := n.Args[1]
	if name.Op != ast.OpLiteral || name.Lit.Kind != ast.LitString {
		return expr.Mistake(expr.Fail(name, "expected the name of a field, found %s", ast.Shorten(name.String())))
	}
	k := slices.IndexFunc(t.Fields(), func(f arrow.Field) bool { return f.Name == name.Lit.Text })
	if k < 0 {
		return expr.Mistake(expr.Fail(name, "%s has no field %s%s", ast.Shorten(n.Args[0].String()), ast.Shorten(name.Lit.Text), text.Suggest(name.Lit.Text, text.Names(t))))
	}
	return expr.OfRows(n, plainType(t.Field(k).Type), []*expr.Expr{x}, func(e *expr.Env, in []arrow.Array) (arrow.Array, error) {
		field, err := predicate.Child(in[0], []int{k})
		if err != nil {
			return nil, err
		}
		defer field.Release()
		return arrowutil.Plain(e.Mem, field)
	})
}

func (b *binder) listItem(n *ast.Node, x *expr.Expr, item arrow.DataType) *expr.Expr {
	if lit := n.Args[1]; lit.Op == ast.OpLiteral && lit.Lit.Kind == ast.LitNumber && lit.Lit.Rat().Sign() == 0 {
		return expr.Mistake(expr.Fail(lit, "lists count from 1: the first element is %s[1]", ast.Shorten(n.Args[0].String())))
	}
	at := b.position(n, b.bind(n.Args[1]))
	return expr.OfRows(n, plainType(item), []*expr.Expr{x, at}, func(e *expr.Env, in []arrow.Array) (arrow.Array, error) {
		l, p := in[0].(array.ListLike), arrowutil.Values[int64](in[1])
		return pick(e, l.ListValues(), func(row int) int64 {
			lo, hi := l.ValueOffsets(row)
			switch {
			case l.IsNull(row) || in[1].IsNull(row) || p[row] > hi-lo || p[row] < lo-hi || p[row] == 0:
				return -1
			case p[row] > 0:
				return lo + p[row] - 1
			}
			return hi + p[row]
		})
	})
}

// pick takes for each row the value at an index, or null at -1.
func pick(e *expr.Env, values arrow.Array, at func(row int) int64) (arrow.Array, error) {
	indices := make([]int64, e.Rows)
	for row := range indices {
		indices[row] = at(row)
	}
	taken, err := arrowutil.Take(e.Mem, values, indices)
	if err != nil {
		return nil, err
	}
	defer taken.Release()
	return arrowutil.Plain(e.Mem, taken)
}

func (b *binder) mapValue(n *ast.Node, x *expr.Expr, value arrow.DataType) *expr.Expr {
	if x.Column < 0 {
		return expr.Mistake(expr.Fail(n.Args[0], "only columns of maps are asked for a key, not %s", ast.Shorten(n.Args[0].String())))
	}
	keys, err := b.equal(n, ast.PathOf(append(schema.SplitPath(n.Args[0].Path), "key")))
	if err != nil {
		return expr.Mistake(err)
	}
	return &expr.Expr{Node: n, Type: plainType(value), Column: -1, Eval: func(e *expr.Env) (arrow.Array, error) {
		f, err := keys.eval(e)
		if err != nil {
			return nil, err
		}
		defer f.release()
		return pick(e, f.Values[0].(*array.Struct).Field(1), func(row int) int64 {
			if !f.Valid.At(row) {
				return -1
			}
			lo, hi := f.Bounds(row)
			for i := lo; i < hi; i++ {
				if f.yes[i>>3]>>(i&7)&1 != 0 {
					return int64(i)
				}
			}
			return -1
		})
	}}
}
