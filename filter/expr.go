package filter

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/format/schema"
)

// Expr is a condition on rows, or a part of one: a column or a literal. It is
// made by the functions of this package or by [Parse], never changes, and may be
// used by many goroutines. The zero value is no condition: every row meets it.
// Nothing is checked before [Bind].
type Expr struct{ n *node }

// IsZero tells whether the expression is no condition.
func (e Expr) IsZero() bool { return e.n == nil }

type op uint8

const (
	opColumn op = iota
	opLiteral
	opAnd
	opOr
	opNot
	opEq
	opNe
	opLt
	opLe
	opGt
	opGe
	opIn      // a column and literals
	opBetween // a column and two literals
	opIsNull
	opIsNaN
	opEquals // all from here on: a column and a string
	opStarts
	opEnds
	opContains
	opLike
	opMatches
)

// node is one operation of an expression.
type node struct {
	op   op
	fold bool   // case-insensitive
	text string // that it was read from, "" if there is none
	pos  int    // where it is in the text, -1 if there is none
	args []*node
	path string // of a column, in its canonical form
	lit  literal
}

func make1(o op, args ...*node) Expr { return Expr{&node{op: o, pos: -1, args: args}} }

// operand is a value as part of an expression: an Expr itself, or a literal.
func operand(v any) *node {
	if e, ok := v.(Expr); ok {
		return e.node()
	}
	return Lit(v).n
}

// node is the operation, that of an empty condition being the literal true.
func (e Expr) node() *node {
	if e.n == nil {
		return &node{op: opLiteral, lit: literal{kind: litBool, text: "true"}, pos: -1}
	}
	return e.n
}

// Col is a column by its path: names separated by dots, "a.b" being the field b
// of the struct a; a dot or backslash that belongs to a name has a backslash
// before it ([schema.JoinPath]).
func Col(path string) Expr {
	return Expr{&node{op: opColumn, pos: -1, path: canonicalPath(schema.SplitPath(path))}}
}

func canonicalPath(names []string) string {
	escaped := make([]string, len(names))
	for i, name := range names {
		escaped[i] = schema.Escape(name)
	}
	return strings.Join(escaped, ".")
}

// Eq tells whether a equals b. Here and in all that follows one of the two is a
// column, the other one too or a literal, which may be given as a Go value
// (see [Lit]). Null equals nothing: use [IsNull].
func Eq(a Expr, b any) Expr { return make1(opEq, a.node(), operand(b)) }

// Ne tells whether a differs from b.
func Ne(a Expr, b any) Expr { return make1(opNe, a.node(), operand(b)) }

// Lt tells whether a is less than b.
func Lt(a Expr, b any) Expr { return make1(opLt, a.node(), operand(b)) }

// Le tells whether a is at most b.
func Le(a Expr, b any) Expr { return make1(opLe, a.node(), operand(b)) }

// Gt tells whether a is greater than b.
func Gt(a Expr, b any) Expr { return make1(opGt, a.node(), operand(b)) }

// Ge tells whether a is at least b.
func Ge(a Expr, b any) Expr { return make1(opGe, a.node(), operand(b)) }

// In tells whether a column equals one of the values.
func In(a Expr, values ...any) Expr {
	args := []*node{a.node()}
	for _, v := range values {
		args = append(args, operand(v))
	}
	return make1(opIn, args...)
}

// Between tells whether a column is at least lo and at most hi.
func Between(a Expr, lo, hi any) Expr { return make1(opBetween, a.node(), operand(lo), operand(hi)) }

// IsNull tells whether a column has no value. It is never unknown itself.
func IsNull(a Expr) Expr { return make1(opIsNull, a.node()) }

// IsNaN tells whether a column of floats is not a number.
func IsNaN(a Expr) Expr { return make1(opIsNaN, a.node()) }

// And is met where all conditions are. Empty ones do not count.
func And(conditions ...Expr) Expr { return join(opAnd, conditions) }

// Or is met where any of the conditions is; by no row if there are none.
func Or(conditions ...Expr) Expr {
	if len(conditions) == 0 {
		return Lit(false)
	}
	return join(opOr, conditions)
}

// join flattens operations of the same kind, so that the text form, in which
// they need no parentheses, gives the same expression again.
func join(o op, conditions []Expr) Expr {
	var args []*node
	for _, c := range conditions {
		switch {
		case c.n == nil && o == opAnd:
		case c.n != nil && c.n.op == o:
			args = append(args, c.n.args...)
		default:
			args = append(args, c.node())
		}
	}
	switch len(args) {
	case 0:
		return Expr{}
	case 1:
		return Expr{args[0]}
	}
	return make1(o, args...)
}

// Not is met where a condition is known not to be met.
func Not(condition Expr) Expr { return make1(opNot, condition.node()) }

// StartsWith tells whether a column of strings or bytes begins with prefix.
func StartsWith(a Expr, prefix string) Expr { return make1(opStarts, a.node(), Lit(prefix).n) }

// EndsWith tells whether it ends with suffix.
func EndsWith(a Expr, suffix string) Expr { return make1(opEnds, a.node(), Lit(suffix).n) }

// Contains tells whether part is anywhere in it.
func Contains(a Expr, part string) Expr { return make1(opContains, a.node(), Lit(part).n) }

// Like tells whether all of it fits a pattern of SQL: % stands for anything, _
// for one character, and a backslash takes the meaning from what follows.
func Like(a Expr, pattern string) Expr { return make1(opLike, a.node(), Lit(pattern).n) }

// Matches tells whether a regular expression in the syntax of package regexp
// matches some part of it.
func Matches(a Expr, expression string) Expr { return make1(opMatches, a.node(), Lit(expression).n) }

// EqualFold is Eq that ignores case, by Unicode's simple case folding.
func EqualFold(a Expr, s string) Expr { return folded(opEquals, a, s) }

// StartsWithFold is StartsWith that ignores case.
func StartsWithFold(a Expr, prefix string) Expr { return folded(opStarts, a, prefix) }

// EndsWithFold is EndsWith that ignores case.
func EndsWithFold(a Expr, suffix string) Expr { return folded(opEnds, a, suffix) }

// ContainsFold is Contains that ignores case.
func ContainsFold(a Expr, part string) Expr { return folded(opContains, a, part) }

// ILike is Like that ignores case.
func ILike(a Expr, pattern string) Expr { return folded(opLike, a, pattern) }

// MatchesFold is Matches that ignores case.
func MatchesFold(a Expr, expression string) Expr { return folded(opMatches, a, expression) }

func folded(o op, a Expr, s string) Expr {
	e := make1(o, a.node(), Lit(s).n)
	e.n.fold = true
	return e
}

// Columns are the paths of all columns in the expression, each once, in the order
// of the text. [Bound.Columns] leaves out those that do not matter.
func (e Expr) Columns() []string {
	var paths []string
	seen := map[string]bool{}
	var visit func(n *node)
	visit = func(n *node) {
		if n.op == opColumn && !seen[n.path] {
			seen[n.path] = true
			paths = append(paths, n.path)
		}
		for _, a := range n.args {
			visit(a)
		}
	}
	if e.n != nil {
		visit(e.n)
	}
	return paths
}

// String is the expression as text, which [Parse] turns into the same
// expression; "" for none.
func (e Expr) String() string {
	if e.n == nil {
		return ""
	}
	return string(e.n.append(nil))
}

// words are the operators that compare a column and something.
var words = map[op]string{
	opEq: "=", opNe: "<>", opLt: "<", opLe: "<=", opGt: ">", opGe: ">=", opIn: "in", opBetween: "between", opIsNull: "is null",
	opIsNaN: "is nan", opEquals: "equals", opStarts: "starts with", opEnds: "ends with", opContains: "contains", opLike: "like", opMatches: "matches",
}

// binds is how tightly an operation holds its operands together.
func (o op) binds() int {
	switch o {
	case opOr:
		return 1
	case opAnd:
		return 2
	case opNot:
		return 3
	case opColumn, opLiteral:
		return 5
	}
	return 4
}

func (n *node) append(b []byte) []byte {
	switch n.op {
	case opColumn:
		return appendPath(b, n.path)
	case opLiteral:
		return n.lit.append(b)
	case opAnd, opOr:
		for i, a := range n.args {
			if i > 0 {
				b = append(b, map[op]string{opAnd: " and ", opOr: " or "}[n.op]...)
			}
			b = a.appendWithin(b, n.op.binds()+1)
		}
		return b
	case opNot:
		if inner := n.args[0]; inner.op.binds() == 4 && inner.op > opGe {
			return inner.appendPredicate(b, "not ")
		}
		return n.args[0].appendWithin(append(b, "not "...), n.op.binds())
	}
	return n.appendPredicate(b, "")
}

// appendWithin puts parentheses around what binds less tightly than its place wants.
func (n *node) appendWithin(b []byte, binds int) []byte {
	if n.op.binds() >= binds {
		return n.append(b)
	}
	return append(n.append(append(b, '(')), ')')
}

func (n *node) appendPredicate(b []byte, not string) []byte {
	b = append(n.args[0].appendWithin(b, 5), ' ')
	word := words[n.op]
	if what, ok := strings.CutPrefix(word, "is "); ok {
		return append(append(append(b, "is "...), not...), what...)
	}
	b = append(b, not...)
	if n.fold {
		b = append(b, 'i')
	}
	b = append(append(b, word...), ' ')
	switch n.op {
	case opIn:
		b = append(b, '(')
		for i, a := range n.args[1:] {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = a.appendWithin(b, 5)
		}
		return append(b, ')')
	case opBetween:
		b = append(n.args[1].appendWithin(b, 5), " and "...)
		return n.args[2].appendWithin(b, 5)
	}
	return n.args[1].appendWithin(b, 5)
}

// appendPath writes the names of a path, in quotes where they need them.
func appendPath(b []byte, path string) []byte {
	for i, name := range schema.SplitPath(path) {
		if i > 0 {
			b = append(b, '.')
		}
		if plainName(name) {
			b = append(b, name...)
		} else {
			b = append(append(append(b, '"'), strings.ReplaceAll(name, `"`, `""`)...), '"')
		}
	}
	return b
}

// plainName tells whether a name needs no quotes.
func plainName(name string) bool {
	for i, r := range name {
		if !nameRune(r) || i == 0 && unicode.IsDigit(r) {
			return false
		}
	}
	return name != "" && !reserved[strings.ToLower(name)]
}

// nameRune tells whether a character may be in a name without quotes.
func nameRune(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// reserved are the words that no unquoted name can be.
var reserved = map[string]bool{
	"and": true, "or": true, "not": true, "in": true, "is": true, "between": true, "like": true, "ilike": true,
	"null": true, "true": true, "false": true,
}

// Error tells what is wrong with an expression, and where.
type Error struct {
	Text    string // that Parse has read, "" if the part that is wrong was made in Go
	Pos     int    // offset in bytes from the beginning of Text, -1 if not known
	Message string
}

func (e *Error) Error() string {
	if e.Text == "" || e.Pos < 0 || e.Pos > len(e.Text) {
		return "filter: " + e.Message
	}
	format := "filter: %s, at character %d"
	if strings.HasSuffix(e.Message, "?") {
		format = "filter: %s (at character %d)"
	}
	return fmt.Sprintf(format, e.Message, 1+utf8.RuneCountInString(e.Text[:e.Pos]))
}
