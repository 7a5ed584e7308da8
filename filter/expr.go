package filter

import (
	"fmt"
	"strings"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// Expr is a condition on rows, or an operand of one: a column or a literal. The functions of this
// package and [Parse] make expressions. An Expr is immutable, and may be used by many goroutines at
// once. The zero value is the empty condition, which every row meets. [Bind], or the scan that uses
// the expression, checks it.
type Expr struct{ n *ast.Node }

// IsZero reports whether the expression is the empty condition.
func (e Expr) IsZero() bool { return e.n == nil }

func operation(o ast.Op, args ...*ast.Node) Expr { return Expr{ast.New(o, args...)} }

// operand is the node of an Expr, or of a literal with the Go value v.
func operand(v any) *ast.Node {
	if e, ok := v.(Expr); ok {
		return e.node()
	}
	return Lit(v).n
}

// node is the tree of the expression. That of the empty condition is true.
func (e Expr) node() *ast.Node {
	if e.n == nil {
		return ast.True()
	}
	return e.n
}

// Node is one operation of an expression. Its operations and literals have names inside this module only.
//
//	type Node struct {
//		Op   Op      // the operation
//		Fold bool    // case-insensitive
//		Text string  // the parsed text, "" for a node made in Go
//		Pos  int     // offset in Text, -1 for a node made in Go
//		Args []*Node // operands
//		Path string  // of a column
//		Name string  // of a function in lower case, or the text of a type
//		Lit  Literal // value of a literal
//
//		Alias string // the name after as, of a key of groups
//	}
type Node = ast.Node

// Node is the syntax tree of the expression, nil for the empty condition.
func (e Expr) Node() *Node { return e.n }

// Col is the column with the given path. A path is a name, or names separated by dots: "a.b" is the
// field b of the struct a. A dot or backslash inside a name has a backslash before it.
func Col(path string) Expr {
	return Expr{&ast.Node{Op: ast.OpColumn, Pos: -1, Path: ast.PathOf(schema.SplitPath(path))}}
}

// Call is the value of a function, such as Call("year", Col("date")), or Call("any", Eq(Col("tags"), "x")). The
// arguments are expressions or Go values (see [Lit]). docs/filters.md lists the functions; [Bind] refuses others.
func Call(name string, args ...any) Expr {
	nodes := make([]*ast.Node, len(args))
	for i, a := range args {
		nodes[i] = operand(a)
	}
	e := operation(ast.OpCall, nodes...)
	e.n.Name = strings.ToLower(name)
	return e
}

// Eq is the condition a = b. For all comparisons, at least one of a and b is no literal, and b may be
// an Expr or a Go value (see [Lit]). A comparison with null is unknown; use [IsNull] to find nulls.
func Eq(a Expr, b any) Expr { return operation(ast.OpEq, a.node(), operand(b)) }

// Ne is the condition a <> b.
func Ne(a Expr, b any) Expr { return operation(ast.OpNe, a.node(), operand(b)) }

// Lt is the condition a < b.
func Lt(a Expr, b any) Expr { return operation(ast.OpLt, a.node(), operand(b)) }

// Le is the condition a <= b.
func Le(a Expr, b any) Expr { return operation(ast.OpLe, a.node(), operand(b)) }

// Gt is the condition a > b.
func Gt(a Expr, b any) Expr { return operation(ast.OpGt, a.node(), operand(b)) }

// Ge is the condition a >= b.
func Ge(a Expr, b any) Expr { return operation(ast.OpGe, a.node(), operand(b)) }

// In is the condition that a column equals one of the values.
func In(a Expr, values ...any) Expr {
	args := []*ast.Node{a.node()}
	for _, v := range values {
		args = append(args, operand(v))
	}
	return operation(ast.OpIn, args...)
}

// Between is the condition lo <= a and a <= hi.
func Between(a Expr, lo, hi any) Expr {
	return operation(ast.OpBetween, a.node(), operand(lo), operand(hi))
}

// IsNull is the condition that a column is null. It is true or false, never unknown.
func IsNull(a Expr) Expr { return operation(ast.OpIsNull, a.node()) }

// IsNaN is the condition that the value of a column of floats is NaN.
func IsNaN(a Expr) Expr { return operation(ast.OpIsNaN, a.node()) }

// And is the conjunction of the conditions. Empty conditions are left out; without any other one the
// result is empty, too.
func And(conditions ...Expr) Expr { return join(ast.OpAnd, conditions) }

// Or is the disjunction of the conditions. Without arguments it is false.
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

// Not is the negation of a condition. It is true for the rows for which the condition is false, and
// not for those for which it is unknown.
func Not(condition Expr) Expr { return operation(ast.OpNot, condition.node()) }

// StartsWith is the condition that a column of strings or byte strings begins with prefix.
func StartsWith(a Expr, prefix string) Expr { return operation(ast.OpStarts, a.node(), Lit(prefix).n) }

// EndsWith is the condition that a column of strings or byte strings ends with suffix.
func EndsWith(a Expr, suffix string) Expr { return operation(ast.OpEnds, a.node(), Lit(suffix).n) }

// Contains is the condition that a column of strings or byte strings contains part.
func Contains(a Expr, part string) Expr { return operation(ast.OpContains, a.node(), Lit(part).n) }

// Like is the condition that the whole value of a column of strings or byte strings matches an SQL
// pattern. In it, % matches any text, _ matches one character, and a backslash makes the next
// character literal.
func Like(a Expr, pattern string) Expr { return operation(ast.OpLike, a.node(), Lit(pattern).n) }

// Matches is the condition that a regular expression matches a part of the value of a column of
// strings or byte strings. The syntax is that of package regexp.
func Matches(a Expr, expression string) Expr {
	return operation(ast.OpMatches, a.node(), Lit(expression).n)
}

// Has is the condition that a column of strings contains a text that begins and ends where words do: "10.1.2.3" or
// "failed", but not the "fail" of "failed". A word is a run of letters and digits; case does not matter. A term index answers
// it without a look at the column.
func Has(a Expr, text string) Expr { return operation(ast.OpHas, a.node(), Lit(text).n) }

// HasPrefix is [Has] for a text whose last word may go on.
func HasPrefix(a Expr, text string) Expr { return operation(ast.OpHasPrefix, a.node(), Lit(text).n) }

// HasPhrase is the condition that a column of strings has the words of a text one behind the other, whatever stands between
// them.
func HasPhrase(a Expr, text string) Expr { return operation(ast.OpHasPhrase, a.node(), Lit(text).n) }

// HasFuzzy is the condition that a column of strings has a word at a distance of at most 1 or 2 from one: so many characters are inserted, deleted or replaced, or
// change places with their neighbour, and both words have more characters than that. Binding fails for other distances, and for what is not a single word.
func HasFuzzy(a Expr, word string, distance int) Expr {
	return operation(ast.OpHasFuzzy, a.node(), Lit(fmt.Sprintf("%s~%d", word, distance)).n)
}

// HasAny is [Has] for any of several texts, HasAll for all of them.
func HasAny(a Expr, texts ...string) Expr { return hasSeveral(ast.OpHasAny, a, texts) }

// HasAll is described with [HasAny].
func HasAll(a Expr, texts ...string) Expr { return hasSeveral(ast.OpHasAll, a, texts) }

func hasSeveral(o ast.Op, a Expr, texts []string) Expr {
	args := []*ast.Node{a.node()}
	for _, t := range texts {
		args = append(args, Lit(t).n)
	}
	return operation(o, args...)
}

// EqualFold is [Eq] without regard to case, by Unicode's simple case folding.
func EqualFold(a Expr, s string) Expr { return folded(ast.OpEquals, a, s) }

// StartsWithFold is [StartsWith] without regard to case.
func StartsWithFold(a Expr, prefix string) Expr { return folded(ast.OpStarts, a, prefix) }

// EndsWithFold is [EndsWith] without regard to case.
func EndsWithFold(a Expr, suffix string) Expr { return folded(ast.OpEnds, a, suffix) }

// ContainsFold is [Contains] without regard to case.
func ContainsFold(a Expr, part string) Expr { return folded(ast.OpContains, a, part) }

// ILike is [Like] without regard to case.
func ILike(a Expr, pattern string) Expr { return folded(ast.OpLike, a, pattern) }

// MatchesFold is [Matches] without regard to case.
func MatchesFold(a Expr, expression string) Expr { return folded(ast.OpMatches, a, expression) }

func folded(o ast.Op, a Expr, s string) Expr {
	e := operation(o, a.node(), Lit(s).n)
	e.n.Fold = true
	return e
}

// Columns are the paths of all columns in the expression, each once, in the order of their first
// appearance. [Bound.Columns] leaves out columns that cannot change the result.
func (e Expr) Columns() []string { return e.n.Columns() }

// String is the text of the expression, which [Parse] turns into an equal one. It is "" for the
// empty condition.
func (e Expr) String() string { return e.n.String() }
