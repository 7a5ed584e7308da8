// Package predicate gives conditions on rows a meaning. It binds them to a schema ([Bind]), evaluates them on Arrow arrays
// ([Bound.Eval]), and holds them against facts such as least and greatest values, which may decide a condition without a
// look at any value ([Bound.Prune]).
//
// Bind turns a tree of package ast into a tree of and, or and leaves ([Node]). A leaf asks one question about one column
// ([Test]): whether the value is in a set (package valueset), whether a text matches a pattern (package pattern), or
// whether the value is null. There is no negation: not (a or b) becomes not a and not b, and the negation of a leaf asks
// for all other values. One bit a row is therefore enough in evaluation, and a verdict of [Node.Prune] holds for each part
// of a condition. Leaves that ask for values of the same column become one.
package predicate

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/jsonvalues"
	"github.com/amudai/amudai-go/internal/engine/valueset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
)

// Bound is an expression bound to the columns of one schema: types are checked, literals are converted, and parts that
// depend on no data are evaluated. It does not change and may be used by many goroutines.
type Bound struct {
	root    *Node
	nodes   int
	columns []Column
}

// Value is an operand that is computed from columns. It does not change and may be used by many goroutines.
type Value interface {
	Type() arrow.DataType
	// Inputs are the columns that it is computed from.
	Inputs() []Column
	// Compute returns the values for some rows of the inputs, which have the form for [Bound.Eval]. Of rows whose bit in only is
	// clear the values are arbitrary, and no reason for an error; nil stands for all rows. The caller releases the array.
	Compute(mem memory.Allocator, inputs []arrow.Array, rows int, only []byte) (arrow.Array, error)
	// Monotone reports whether the value is a function of arg that has a value wherever arg has one, and that never falls as arg
	// rises. least is the least value of arg, as Arrow arrays have it, for which the function is not below y.
	Monotone() (arg *ast.Node, least func(y *big.Int) *big.Int, ok bool)
}

// BindValue binds an operand that is neither a column nor a literal. The error is an [*ast.Error].
type BindValue func(n *ast.Node, s *arrow.Schema) (Value, error)

// Column is a column that an expression looks at.
type Column struct {
	Path   string         // as [Col] takes it
	Index  []int          // the position of the field in the schema, then those in the structs
	Type   arrow.DataType // of the values
	Inside []string       // names within the JSON texts of the field; nil if the field itself has the values
	// Lengths tells that the values are the lengths of those of the field, see [arrowutil.Lengths].
	Lengths bool
	// Measured tells that the field has lengths instead of values, see [arrowutil.LengthsOf].
	Measured bool

	kind   jsonvalues.Kind // of values within JSON texts
	domain *valueset.Domain
	value  Value // an operand that is no column
}

// Same reports whether two columns of a schema have the same values.
func (c Column) Same(o Column) bool {
	return slices.Equal(c.Index, o.Index) && slices.Equal(c.Inside, o.Inside) && (c.Inside == nil || c.kind == o.kind) && c.Lengths == o.Lengths
}

// Derived reports whether the values are not those of the field, but made of them.
func (c Column) Derived() bool { return c.Inside != nil || c.Lengths }

// NodeKind is the kind of a node.
type NodeKind uint8

// The kinds of nodes.
const (
	NodeNever   NodeKind = iota // true for no row
	NodeAlways                  // true for every row
	NodeAnd                     // true where all of Nodes are
	NodeOr                      // true where any of Nodes is
	NodeLeaf                    // true where the value of Column meets Test
	NodeCompare                 // true where the value of Column compares to that of Other
	NodeValue                   // true where a value that is computed from columns meets Test
)

// Node is a node of a bound expression. It is true for some rows. Whether it is false or null for the others makes no
// difference, because no node negates another one.
type Node struct {
	Kind   NodeKind
	ID     int // below [Bound.NumNodes]
	Nodes  []*Node
	Column int // of a leaf or comparison: an index for [Bound.Column]
	Other  int // of a comparison
	Test   Test

	compare  Comparison
	plan     *bytesPlan       // of a test on byte strings
	domain   *valueset.Domain // of Column or the value
	value    Value
	inputs   []int // of the value: indices for [Bound.Column]
	computes bool  // there is a value in the node or below
}

// Bind checks an expression against a schema and converts its literals to the
// types of the columns that they are compared with. The error is an [*ast.Error]. Operands are columns and literals; package
// compute binds expressions with other ones.
func Bind(e *ast.Node, s *arrow.Schema) (*Bound, error) { return BindWith(e, s, false, nil) }

// BindWith is Bind for expressions with computed operands, which values binds. With negate it binds the negation: the rows for which
// the expression is false.
func BindWith(e *ast.Node, s *arrow.Schema, negate bool, values BindValue) (*Bound, error) {
	b := &binder{schema: s, values: values}
	if e == nil {
		return &Bound{root: &Node{Kind: NodeAlways}, nodes: 1}, nil
	}
	d, err := b.condition(e, negate)
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

// Columns are the paths of all columns that the expression looks at, which a projection for it needs. Nodes refer to them
// by their index. A value within JSON texts has the path of their column.
func (b *Bound) Columns() []string {
	paths := make([]string, len(b.columns))
	for i, c := range b.columns {
		paths[i] = c.Path
		if n := len(c.Inside); n > 0 {
			names := schema.SplitPath(c.Path)
			paths[i] = ""
			for _, name := range names[:len(names)-n] {
				paths[i] = schema.JoinPath(paths[i], name)
			}
		}
	}
	return paths
}

// NumColumns is the number of columns that the expression looks at.
func (b *Bound) NumColumns() int { return len(b.columns) }

// Column is the column with an index in [Bound.Columns]. It is not to be changed.
func (b *Bound) Column(i int) *Column { return &b.columns[i] }

// NumNodes is the number of nodes.
func (b *Bound) NumNodes() int { return b.nodes }

// Root is the whole expression.
func (b *Bound) Root() *Node { return b.root }

type binder struct {
	schema  *arrow.Schema
	columns []Column
	values  BindValue // nil if there are no computed operands
}

// draft is a node whose values are still a set, so that leaves of the same column can be combined.
type draft struct {
	kind NodeKind
	kids []draft
	col  int
	set  *valueset.Set // of a leaf; if nil, the leaf has a test
	test Test

	other   int
	compare Comparison
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
		return b.truth(n, negate, "only a column of booleans alone is a condition")
	case ast.OpIsNull, ast.OpIsNaN:
		return b.is(n, negate)
	case ast.OpIn:
		return b.in(n, negate)
	case ast.OpBetween:
		return b.between(n, negate)
	}
	switch {
	case n.Op.IsValue():
		return b.truth(n, negate, "a condition is true or false")
	case n.Op.IsText():
		return b.text(n, negate)
	}
	return b.comparison(n, negate)
}

// truth asks whether a boolean is true. hint is for values of other types.
func (b *binder) truth(n *ast.Node, negate bool, hint string) (draft, error) {
	col, err := b.column(n, jsonvalues.Bool)
	if err != nil {
		return draft{}, err
	}
	if d := b.columns[col].domain; !d.IsBool() {
		return draft{}, fail(n, "%s is of type %s: %s", ast.Shorten(n.String()), d.Name, hint)
	}
	truth := &ast.Node{Op: ast.OpLiteral, Text: n.Text, Pos: n.Pos, Lit: ast.Literal{Kind: ast.LitBool, Text: "true"}}
	return b.comparison(&ast.Node{Op: ast.OpEq, Text: n.Text, Pos: n.Pos, Args: []*ast.Node{n, truth}}, negate)
}

// computed adds an operand that is no column to the columns.
func (b *binder) computed(n *ast.Node) (int, error) {
	text := n.String()
	if i := slices.IndexFunc(b.columns, func(o Column) bool { return o.Path == text && o.value != nil }); i >= 0 {
		return i, nil
	}
	v, err := b.values(n, b.schema)
	if err != nil {
		return 0, err
	}
	c := Column{Path: text, Type: v.Type(), domain: valueset.DomainOf(v.Type()), value: v}
	b.columns = append(b.columns, c)
	return len(b.columns) - 1, nil
}

// column finds the column that an operand names. Within JSON texts it has values of a kind.
func (b *binder) column(n *ast.Node, kind jsonvalues.Kind) (int, error) {
	if n.Op != ast.OpColumn && n.Op != ast.OpLiteral && b.values != nil {
		return b.computed(n)
	}
	if n.Op != ast.OpColumn {
		return 0, fail(n, "expected a column, found %s", ast.Shorten(n.String()))
	}
	if i := slices.IndexFunc(b.columns, func(o Column) bool { return o.Path == n.Path && o.value == nil && (o.Inside == nil || o.kind == kind) }); i >= 0 {
		return i, nil // a column itself has one kind of values
	}
	c, err := resolve(b.schema, n.Path)
	if err != nil {
		return 0, fail(n, "%s", err)
	}
	if c.Inside != nil {
		c.kind, c.domain = kind, kind.Domain()
		c.Type = c.domain.Type
	}
	b.columns = append(b.columns, c)
	return len(b.columns) - 1, nil
}

// Resolve finds the column of a schema that a node names. A value within JSON texts is a text.
func Resolve(n *ast.Node, s *arrow.Schema) (Column, error) {
	if n.Op != ast.OpColumn {
		return Column{}, fail(n, "expected a column, found %s", ast.Shorten(n.String()))
	}
	c, err := resolve(s, n.Path)
	if err != nil {
		return c, fail(n, "%s", err)
	}
	if c.Inside != nil {
		c.kind, c.domain = jsonvalues.Text, jsonvalues.Text.Domain()
		c.Type = c.domain.Type
	}
	return c, nil
}

// resolve follows a path through structs and unions. Of several fields with the same name, the path leads to the first. The others,
// and fields without a name, have the unique names of arrowmap.UniqueNames.
func resolve(s *arrow.Schema, path string) (Column, error) {
	fields := s.Fields()
	c := Column{Path: path}
	at := ""
	names := schema.SplitPath(path)
	for k, name := range names {
		if fields == nil && extension.IsJSON(c.Type) {
			c.Inside = names[k:]
			return c, nil
		}
		if fields == nil {
			return c, fmt.Errorf("%s is of type %s: only fields of structs and unions have names", at, c.Type)
		}
		at = schema.JoinPath(at, name)
		i := indexOf(fields, name)
		if i < 0 {
			return c, fmt.Errorf("%w %q%s", schema.ErrNoField, ast.Shorten(at), text.Suggest(name, text.Names(arrow.NewSchema(fields, nil))))
		}
		c.Index, c.Type, c.Measured = append(c.Index, i), fields[i].Type, arrowutil.AreLengths(fields[i])
		fields = nil
		if t := kinds.Storage(c.Type); kinds.HasNames(t) {
			fields = kinds.Fields(t)
		}
	}
	c.domain = valueset.DomainOf(c.Type)
	return c, nil
}

// indexOf finds a field by its name or unique name; -1 if there is none.
func indexOf(fields []arrow.Field, name string) int {
	if i := slices.IndexFunc(fields, func(f arrow.Field) bool { return f.Name == name }); i >= 0 {
		return i
	}
	return slices.Index(arrowmap.UniqueNames(fields), name)
}

// leaf asks for the values of a column in a set, or for all others. A set of the values of a function that never falls becomes one of
// its arguments.
func (b *binder) leaf(col int, set valueset.Set, negate bool) draft {
	if negate {
		set = b.columns[col].domain.Not(set)
	}
	for b.columns[col].value != nil {
		arg, least, ok := b.columns[col].value.Monotone()
		if !ok {
			break
		}
		to, err := b.column(arg, jsonvalues.Any)
		if err != nil { // the value is bound, and so is its argument
			break
		}
		set = b.columns[to].domain.Preimage(set, b.columns[col].domain, least)
		col = to
	}
	if set.Empty() {
		return draft{kind: NodeNever}
	}
	return draft{kind: NodeLeaf, col: col, set: &set}
}

// is binds is null and is nan.
func (b *binder) is(n *ast.Node, negate bool) (draft, error) {
	col, err := b.column(n.Args[0], jsonvalues.Any)
	if err != nil {
		return draft{}, err
	}
	d := b.columns[col].domain
	switch {
	case n.Op == ast.OpIsNaN:
		return b.leaf(col, d.NaN(), negate), nil
	case negate && d.IsOrdered():
		return b.leaf(col, d.All(), false), nil
	}
	return draft{kind: NodeLeaf, col: col, test: Nulls{Not: negate}}, nil
}

// comparison binds = <> < <= > >=.
func (b *binder) comparison(n *ast.Node, negate bool) (draft, error) {
	left, right, o := n.Args[0], n.Args[1], n.Op
	if left.Op == ast.OpLiteral {
		left, right, o = right, left, mirrored[o]
	}
	if right.Op != ast.OpLiteral && left.Op != ast.OpLiteral {
		return b.compareColumns(n, negate)
	}
	col, err := b.column(left, jsonvalues.KindOf(right.Lit))
	if err != nil {
		return draft{}, err
	}
	if right.Lit.Kind == ast.LitNull {
		return draft{kind: NodeNever}, b.comparable(col, left)
	}
	set, err := b.compare(col, o, right)
	if err != nil {
		return draft{}, err
	}
	return b.leaf(col, set, negate), nil
}

// comparable refuses columns whose values have no order.
func (b *binder) comparable(col int, n *ast.Node) error {
	if d := b.columns[col].domain; !d.IsOrdered() {
		return fail(n, "columns of type %s are only asked whether they are null", d.Name)
	}
	return nil
}

var mirrored = map[ast.Op]ast.Op{ast.OpEq: ast.OpEq, ast.OpNe: ast.OpNe, ast.OpLt: ast.OpGt, ast.OpLe: ast.OpGe, ast.OpGt: ast.OpLt, ast.OpGe: ast.OpLe}

// compare is the set of the values of a column that compare to a literal in some way.
func (b *binder) compare(col int, o ast.Op, lit *ast.Node) (valueset.Set, error) {
	set, err := b.columns[col].domain.Compare(o, lit.Lit)
	if err != nil {
		return set, fail(lit, "%s: %s", b.columns[col].Path, err)
	}
	return set, nil
}

// in binds a list of values. No value is equal to a null in the list. It also makes it unknown of every other value
// whether it is not in the list.
func (b *binder) in(n *ast.Node, negate bool) (draft, error) {
	kind := jsonvalues.Any
	for _, v := range n.Args[1:] {
		if v.Op != ast.OpLiteral {
			return b.inValues(n, negate)
		}
		if v.Lit.Kind != ast.LitNull {
			kind = jsonvalues.KindOf(v.Lit)
		}
	}
	col, err := b.column(n.Args[0], kind)
	if err != nil {
		return draft{}, err
	}
	if err := b.comparable(col, n.Args[0]); err != nil {
		return draft{}, err
	}
	var sets []valueset.Set
	null := false
	for _, v := range n.Args[1:] {
		if v.Lit.Kind == ast.LitNull {
			null = true
			continue
		}
		set, err := b.compare(col, ast.OpEq, v)
		if err != nil {
			return draft{}, err
		}
		sets = append(sets, set)
	}
	if null && negate {
		return draft{kind: NodeNever}, nil
	}
	return b.leaf(col, valueset.Union(sets...), negate), nil
}

// inValues binds a list with other values than literals.
func (b *binder) inValues(n *ast.Node, negate bool) (draft, error) {
	equal := make([]*ast.Node, len(n.Args)-1)
	for i, v := range n.Args[1:] {
		equal[i] = &ast.Node{Op: ast.OpEq, Text: n.Text, Pos: v.Pos, Args: []*ast.Node{n.Args[0], v}}
	}
	if len(equal) == 1 {
		return b.comparison(equal[0], negate)
	}
	return b.condition(&ast.Node{Op: ast.OpOr, Text: n.Text, Pos: n.Pos, Args: equal}, negate)
}

// between binds x between a and b as x >= a and x <= b.
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
