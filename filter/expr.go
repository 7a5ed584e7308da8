package filter

import (
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// Expr is a condition on rows, or a part of one: a column or a literal. It is
// made by the functions of this package or by [Parse], never changes, and may be
// used by many goroutines. The zero value is no condition: every row meets it.
// Nothing is checked before [Bind].
type Expr struct{ n *ast.Node }

// IsZero tells whether the expression is no condition.
func (e Expr) IsZero() bool { return e.n == nil }

func operation(o ast.Op, args ...*ast.Node) Expr { return Expr{ast.New(o, args...)} }

// operand is a value as part of an expression: an Expr itself, or a literal.
func operand(v any) *ast.Node {
	if e, ok := v.(Expr); ok {
		return e.node()
	}
	return Lit(v).n
}

// node is the tree, that of an empty condition being true.
func (e Expr) node() *ast.Node {
	if e.n == nil {
		return ast.True()
	}
	return e.n
}

// Node is the tree of the expression, nil for none. It is for packages of this module.
func (e Expr) Node() *ast.Node { return e.n }

// Col is a column by its path: names separated by dots, "a.b" being the field b
// of the struct a; a dot or backslash that belongs to a name has a backslash
// before it ([schema.JoinPath]).
func Col(path string) Expr {
	return Expr{&ast.Node{Op: ast.OpColumn, Pos: -1, Path: ast.PathOf(schema.SplitPath(path))}}
}

// Eq tells whether a equals b. Here and in all that follows one of the two is a
// column, the other one too or a literal, which may be given as a Go value
// (see [Lit]). Null equals nothing: use [IsNull].
func Eq(a Expr, b any) Expr { return operation(ast.OpEq, a.node(), operand(b)) }

// Ne tells whether a differs from b.
func Ne(a Expr, b any) Expr { return operation(ast.OpNe, a.node(), operand(b)) }

// Lt tells whether a is less than b.
func Lt(a Expr, b any) Expr { return operation(ast.OpLt, a.node(), operand(b)) }

// Le tells whether a is at most b.
func Le(a Expr, b any) Expr { return operation(ast.OpLe, a.node(), operand(b)) }

// Gt tells whether a is greater than b.
func Gt(a Expr, b any) Expr { return operation(ast.OpGt, a.node(), operand(b)) }

// Ge tells whether a is at least b.
func Ge(a Expr, b any) Expr { return operation(ast.OpGe, a.node(), operand(b)) }

// In tells whether a column equals one of the values.
func In(a Expr, values ...any) Expr {
	args := []*ast.Node{a.node()}
	for _, v := range values {
		args = append(args, operand(v))
	}
	return operation(ast.OpIn, args...)
}

// Between tells whether a column is at least lo and at most hi.
func Between(a Expr, lo, hi any) Expr {
	return operation(ast.OpBetween, a.node(), operand(lo), operand(hi))
}

// IsNull tells whether a column has no value. It is never unknown itself.
func IsNull(a Expr) Expr { return operation(ast.OpIsNull, a.node()) }

// IsNaN tells whether a column of floats is not a number.
func IsNaN(a Expr) Expr { return operation(ast.OpIsNaN, a.node()) }

// And is met where all conditions are. Empty ones do not count.
func And(conditions ...Expr) Expr { return join(ast.OpAnd, conditions) }

// Or is met where any of the conditions is; by no row if there are none.
func Or(conditions ...Expr) Expr {
	if len(conditions) == 0 {
		return Lit(false)
	}
	return join(ast.OpOr, conditions)
}

func join(o ast.Op, conditions []Expr) Expr {
	nodes := make([]*ast.Node, len(conditions))
	for i, c := range conditions {
		nodes[i] = c.n
	}
	return Expr{ast.Join(o, nodes)}
}

// Not is met where a condition is known not to be met.
func Not(condition Expr) Expr { return operation(ast.OpNot, condition.node()) }

// StartsWith tells whether a column of strings or bytes begins with prefix.
func StartsWith(a Expr, prefix string) Expr { return operation(ast.OpStarts, a.node(), Lit(prefix).n) }

// EndsWith tells whether it ends with suffix.
func EndsWith(a Expr, suffix string) Expr { return operation(ast.OpEnds, a.node(), Lit(suffix).n) }

// Contains tells whether part is anywhere in it.
func Contains(a Expr, part string) Expr { return operation(ast.OpContains, a.node(), Lit(part).n) }

// Like tells whether all of it fits a pattern of SQL: % stands for anything, _
// for one character, and a backslash takes the meaning from what follows.
func Like(a Expr, pattern string) Expr { return operation(ast.OpLike, a.node(), Lit(pattern).n) }

// Matches tells whether a regular expression in the syntax of package regexp
// matches some part of it.
func Matches(a Expr, expression string) Expr {
	return operation(ast.OpMatches, a.node(), Lit(expression).n)
}

// EqualFold is Eq that ignores case, by Unicode's simple case folding.
func EqualFold(a Expr, s string) Expr { return folded(ast.OpEquals, a, s) }

// StartsWithFold is StartsWith that ignores case.
func StartsWithFold(a Expr, prefix string) Expr { return folded(ast.OpStarts, a, prefix) }

// EndsWithFold is EndsWith that ignores case.
func EndsWithFold(a Expr, suffix string) Expr { return folded(ast.OpEnds, a, suffix) }

// ContainsFold is Contains that ignores case.
func ContainsFold(a Expr, part string) Expr { return folded(ast.OpContains, a, part) }

// ILike is Like that ignores case.
func ILike(a Expr, pattern string) Expr { return folded(ast.OpLike, a, pattern) }

// MatchesFold is Matches that ignores case.
func MatchesFold(a Expr, expression string) Expr { return folded(ast.OpMatches, a, expression) }

func folded(o ast.Op, a Expr, s string) Expr {
	e := operation(o, a.node(), Lit(s).n)
	e.n.Fold = true
	return e
}

// Columns are the paths of all columns in the expression, each once, in the order
// of the text. [Bound.Columns] leaves out those that do not matter.
func (e Expr) Columns() []string { return e.n.Columns() }

// String is the expression as text, which [Parse] turns into the same
// expression; "" for none.
func (e Expr) String() string { return e.n.String() }
