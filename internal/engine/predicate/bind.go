// Package predicate gives conditions on rows a meaning: it binds them to a schema, evaluates them on Arrow arrays
// ([Bound.Eval]), and holds them against facts to know without values which rows they can be true for ([Bound.Prune]).
//
// [Bind] turns a tree of package ast into one of and, or and leaves ([Node]). A leaf asks
// one thing of one column ([Test]): that its value lies in intervals, that a text
// fits, that it is null. Negation is gone: not (a or b) is not a and not b, and
// the negation of a leaf asks for all other values. So one bit a row is enough
// while evaluating, and a verdict of [Node.Prune] holds for each part of a
// condition. Leaves for values of the same column are made one.
package predicate

import (
	"fmt"
	"iter"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
)

// Bound is an expression made ready for the columns of one schema: types are
// checked, literals are converted, and what can be known without data is known.
// It does not change and may be used by many goroutines.
type Bound struct {
	root    *Node
	columns []Column
}

// Column is a column that an expression looks at.
type Column struct {
	Path  string         // as [Col] takes it
	Index []int          // the position of the field in the schema, then those in the structs
	Type  arrow.DataType // of the values
	d     *domain
}

// NodeKind is the kind of a node.
type NodeKind uint8

// The kinds of nodes. Negations are within the leaves.
const (
	NodeNever   NodeKind = iota // true for no row
	NodeAlways                  // true for every row
	NodeAnd                     // true where all of Nodes are
	NodeOr                      // true where any of Nodes is
	NodeLeaf                    // true where the value of Column meets Test
	NodeCompare                 // true where the value of Column compares to that of Other
)

// Node is a node of a bound expression. A node tells only for which rows it is
// true, not whether it is false or unknown for the others: as no node negates
// another one, nothing depends on that.
type Node struct {
	Kind   NodeKind
	Nodes  []*Node
	Column int // of a leaf or comparison: an index for [Bound.Column]
	Other  int // of a comparison
	Test   Test

	compare comparison
	plan    *bytesPlan     // of a test on byte strings
	dt      arrow.DataType // of Column, without wrappers
	boolean bool           // bytes that are booleans
}

// Bind checks an expression against a schema and converts its literals to the
// types of the columns that they are compared with. The error is an [*ast.Error].
func Bind(e *ast.Node, s *arrow.Schema) (*Bound, error) {
	b := &binder{schema: s, byPath: map[string]int{}}
	if e == nil {
		return &Bound{root: &Node{Kind: NodeAlways}}, nil
	}
	d, err := b.condition(e, false)
	if err != nil {
		return nil, err
	}
	return b.finish(d), nil
}

// BindText is [ast.Parse] and [Bind] in one.
func BindText(text string, s *arrow.Schema) (*Bound, error) {
	e, err := ast.Parse(text)
	if err != nil {
		return nil, err
	}
	return Bind(e, s)
}

// Columns are the paths of all columns that the expression looks at, those that
// a projection needs. Nodes refer to them by their index.
func (b *Bound) Columns() []string {
	paths := make([]string, len(b.columns))
	for i, c := range b.columns {
		paths[i] = c.Path
	}
	return paths
}

// Column is the column of an index.
func (b *Bound) Column(i int) Column { return b.columns[i] }

// Root is the whole expression.
func (b *Bound) Root() *Node { return b.root }

type binder struct {
	schema  *arrow.Schema
	columns []Column
	byPath  map[string]int
}

// draft is a node whose values are sets still, so that leaves of the same column
// can be made one.
type draft struct {
	kind NodeKind
	kids []draft
	col  int
	set  *valueSet // of a leaf; if nil it has a test
	test Test

	other   int
	compare comparison
}

func fail(n *ast.Node, format string, args ...any) error {
	return &ast.Error{Text: n.Text, Pos: n.Pos, Message: fmt.Sprintf(format, args...)}
}

// condition binds a condition, or its negation.
func (b *binder) condition(n *ast.Node, negate bool) (draft, error) {
	switch n.Op {
	case ast.OpNot:
		return b.condition(n.Args[0], !negate)
	case ast.OpAnd, ast.OpOr:
		kids := make([]draft, len(n.Args))
		for i, a := range n.Args {
			var err error
			if kids[i], err = b.condition(a, negate); err != nil {
				return draft{}, err
			}
		}
		return b.combine((n.Op == ast.OpAnd) != negate, kids), nil
	case ast.OpLiteral:
		switch {
		case n.Lit.Kind == ast.LitNull:
			return draft{kind: NodeNever}, nil
		case n.Lit.Kind == ast.LitBool && (n.Lit.Text == "true") != negate:
			return draft{kind: NodeAlways}, nil
		case n.Lit.Kind == ast.LitBool:
			return draft{kind: NodeNever}, nil
		}
		return draft{}, fail(n, "%s alone is no condition", n.Lit.Describe())
	case ast.OpColumn:
		if d, err := b.domain(n); err != nil {
			return draft{}, err
		} else if d.family != famBool && d.family != famBool8 {
			return draft{}, fail(n, "%s is of type %s: only a column of booleans alone is a condition", n.Path, d.name)
		}
		truth := &ast.Node{Op: ast.OpLiteral, Text: n.Text, Pos: n.Pos, Lit: ast.Literal{Kind: ast.LitBool, Text: "true"}}
		return b.comparison(&ast.Node{Op: ast.OpEq, Text: n.Text, Pos: n.Pos, Args: []*ast.Node{n, truth}}, negate)
	case ast.OpIsNull, ast.OpIsNaN:
		return b.is(n, negate)
	case ast.OpIn:
		return b.in(n, negate)
	case ast.OpBetween:
		return b.between(n, negate)
	}
	if n.Op >= ast.OpEquals {
		return b.text(n, negate)
	}
	return b.comparison(n, negate)
}

// column finds the column that an operand names.
func (b *binder) column(n *ast.Node) (int, error) {
	if n.Op != ast.OpColumn {
		return 0, fail(n, "%s where a column should be", ast.Shorten(n.String()))
	}
	if i, ok := b.byPath[n.Path]; ok {
		return i, nil
	}
	c, err := resolve(b.schema, n.Path)
	if err != nil {
		return 0, fail(n, "%s", err)
	}
	b.byPath[n.Path] = len(b.columns)
	b.columns = append(b.columns, c)
	return len(b.columns) - 1, nil
}

func (b *binder) domain(n *ast.Node) (*domain, error) {
	i, err := b.column(n)
	if err != nil {
		return nil, err
	}
	return b.columns[i].d, nil
}

// resolve follows a path through structs. Of several fields of one name the path names the
// first; others, and those without a name, have the unique names of arrowmap.UniqueNames.
func resolve(s *arrow.Schema, path string) (Column, error) {
	fields := s.Fields()
	c := Column{Path: path}
	at := ""
	for _, name := range schema.SplitPath(path) {
		if fields == nil {
			return c, fmt.Errorf("%s is of type %s: only fields of structs have names", at, c.Type)
		}
		at = schema.JoinPath(at, name)
		i := indexOf(fields, name)
		if i < 0 {
			return c, fmt.Errorf("there is no column %s%s", ast.Shorten(at), text.Suggest(name, namesOf(fields)))
		}
		c.Index, c.Type = append(c.Index, i), fields[i].Type
		fields = nil
		dt := c.Type
		for ext, ok := dt.(arrow.ExtensionType); ok; ext, ok = dt.(arrow.ExtensionType) {
			dt = ext.StorageType()
		}
		if st, ok := dt.(*arrow.StructType); ok {
			fields = st.Fields()
		}
	}
	c.d = domainOf(c.Type)
	return c, nil
}

// indexOf finds a field by its name or unique name; -1 if there is none.
func indexOf(fields []arrow.Field, name string) int {
	if i := slices.IndexFunc(fields, func(f arrow.Field) bool { return f.Name == name }); i >= 0 {
		return i
	}
	return slices.Index(arrowmap.UniqueNames(fields), name)
}

func namesOf(fields []arrow.Field) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range fields {
			if !yield(fields[i].Name) {
				return
			}
		}
	}
}

// leaf is the values of a column, or the others.
func (b *binder) leaf(col int, set valueSet, negate bool) draft {
	d := b.columns[col].d
	if negate {
		set = set.not(d.whole)
	}
	set.nan = set.nan && d.family == famFloat
	if set.empty() {
		return draft{kind: NodeNever}
	}
	return draft{kind: NodeLeaf, col: col, set: &set}
}

func (b *binder) is(n *ast.Node, negate bool) (draft, error) {
	col, err := b.column(n.Args[0])
	if err != nil {
		return draft{}, err
	}
	d := b.columns[col].d
	switch {
	case n.Op == ast.OpIsNaN:
		return b.leaf(col, valueSet{nan: d.family == famFloat}, negate), nil
	case negate && d.family != famNone: // any value
		return b.leaf(col, valueSet{[]span{d.whole}, true}, false), nil
	}
	return draft{kind: NodeLeaf, col: col, test: Nulls{Not: negate}}, nil
}

// comparison binds = <> < <= > >=.
func (b *binder) comparison(n *ast.Node, negate bool) (draft, error) {
	left, right, o := n.Args[0], n.Args[1], n.Op
	if left.Op == ast.OpLiteral {
		left, right, o = right, left, mirrored[o]
	}
	if right.Op == ast.OpColumn && left.Op == ast.OpColumn {
		return b.columns2(n, negate)
	}
	col, err := b.column(left)
	if err != nil {
		return draft{}, err
	}
	if right.Op != ast.OpLiteral {
		return draft{}, fail(right, "%s where a value should be", ast.Shorten(right.String()))
	}
	if right.Lit.Kind == ast.LitNull {
		return draft{kind: NodeNever}, b.comparable(col, left)
	}
	set, err := b.ordered(col, o, right)
	if err != nil {
		return draft{}, err
	}
	return b.leaf(col, set, negate), nil
}

// comparable tells of columns whose values have no order.
func (b *binder) comparable(col int, n *ast.Node) error {
	if d := b.columns[col].d; d.family == famNone {
		return fail(n, "columns of type %s are only asked whether they are null", d.name)
	}
	return nil
}

var mirrored = map[ast.Op]ast.Op{ast.OpEq: ast.OpEq, ast.OpNe: ast.OpNe, ast.OpLt: ast.OpGt, ast.OpLe: ast.OpGe, ast.OpGt: ast.OpLt, ast.OpGe: ast.OpLe}

// ordered is the values that compare so to a literal.
func (b *binder) ordered(col int, o ast.Op, lit *ast.Node) (valueSet, error) {
	d := b.columns[col].d
	p, err := d.place(lit.Lit)
	if err != nil {
		return valueSet{}, fail(lit, "%s: %s", b.columns[col].Path, err)
	}
	if p.nan {
		if o == ast.OpNe {
			return valueSet{[]span{d.whole}, true}, nil
		}
		return valueSet{}, nil
	}
	lo, hi := d.whole.lo, d.whole.hi
	switch o {
	case ast.OpEq, ast.OpNe:
		lo, hi = p.at, p.after
	case ast.OpLt:
		hi = p.at
	case ast.OpLe:
		hi = p.after
	case ast.OpGt:
		lo = p.after
	case ast.OpGe:
		lo = p.at
	}
	set := newSet([]span{{lo, hi}}, false)
	if o == ast.OpNe {
		set = set.not(d.whole)
	}
	return set, nil
}

// in is a union. A null among the values is equal to nothing, and makes it
// unknown whether a value is not among them.
func (b *binder) in(n *ast.Node, negate bool) (draft, error) {
	col, err := b.column(n.Args[0])
	if err != nil {
		return draft{}, err
	}
	if err := b.comparable(col, n.Args[0]); err != nil {
		return draft{}, err
	}
	var spans []span
	null := false
	for _, v := range n.Args[1:] {
		if v.Op != ast.OpLiteral {
			return draft{}, fail(v, "%s where a value should be", ast.Shorten(v.String()))
		}
		if v.Lit.Kind == ast.LitNull {
			null = true
			continue
		}
		set, err := b.ordered(col, ast.OpEq, v)
		if err != nil {
			return draft{}, err
		}
		spans = append(spans, set.spans...)
	}
	if null && negate {
		return draft{kind: NodeNever}, nil
	}
	return b.leaf(col, newSet(spans, false), negate), nil
}

func (b *binder) between(n *ast.Node, negate bool) (draft, error) {
	lo, err := b.comparison(&ast.Node{Op: ast.OpGe, Text: n.Text, Pos: n.Pos, Args: n.Args[:2]}, negate)
	if err != nil {
		return draft{}, err
	}
	hi, err := b.comparison(&ast.Node{Op: ast.OpLe, Text: n.Text, Pos: n.Pos, Args: []*ast.Node{n.Args[0], n.Args[2]}}, negate)
	if err != nil {
		return draft{}, err
	}
	return b.combine(!negate, []draft{lo, hi}), nil
}
