// Package ast holds conditions on rows as trees, before they are bound to a schema: their text form, parsed and printed,
// and their literals. Package filter is its face for users, package predicate gives trees a meaning.
package ast

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amudai/amudai-go/internal/format/schema"
)

// Op is the kind of a [Node].
type Op uint8

// The operations.
const (
	OpColumn Op = iota
	OpLiteral
	OpAnd
	OpOr
	OpNot
	OpEq
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe
	OpIn      // a column and literals
	OpBetween // a column and two literals
	OpIsNull
	OpIsNaN
	OpEquals // all from here on: a column and a string
	OpStarts
	OpEnds
	OpContains
	OpLike
	OpMatches
)

// Node is one operation of an expression. It never changes once it is made, and may be shared.
type Node struct {
	Op   Op
	Fold bool   // case-insensitive
	Text string // that it was read from, "" if there is none
	Pos  int    // where it is in the text, -1 if there is none
	Args []*Node
	Path string // of a column, in its canonical form
	Lit  Literal
}

// PathOf joins names to a path in its canonical form: what is special in a name is escaped.
func PathOf(names []string) string {
	escaped := make([]string, len(names))
	for i, name := range names {
		escaped[i] = schema.Escape(name)
	}
	return strings.Join(escaped, ".")
}

// True is the condition that every row meets.
func True() *Node {
	return &Node{Op: OpLiteral, Lit: Literal{Kind: LitBool, Text: "true"}, Pos: -1}
}

// New is an operation that was made in Go, not read from text.
func New(o Op, args ...*Node) *Node { return &Node{Op: o, Pos: -1, Args: args} }

// Join is the conjunction or disjunction of conditions. Operations of the same kind are flattened: their text needs no
// parentheses, and must give the same expression again. Nil is no condition, and does not count in a conjunction; the
// result is nil if nothing is left.
func Join(o Op, conditions []*Node) *Node {
	var args []*Node
	for _, n := range conditions {
		switch {
		case n == nil && o == OpAnd:
		case n == nil:
			args = append(args, True())
		case n.Op == o:
			args = append(args, n.Args...)
		default:
			args = append(args, n)
		}
	}
	switch len(args) {
	case 0:
		return nil
	case 1:
		return args[0]
	}
	return New(o, args...)
}

// Columns lists the paths of all columns in the expression, each once, in the order of the text.
func (n *Node) Columns() []string {
	var paths []string
	var visit func(n *Node)
	visit = func(n *Node) {
		if n.Op == OpColumn && !slices.Contains(paths, n.Path) {
			paths = append(paths, n.Path)
		}
		for _, a := range n.Args {
			visit(a)
		}
	}
	if n != nil {
		visit(n)
	}
	return paths
}

// String is the expression as text, which [Parse] turns into the same expression; "" for nil.
func (n *Node) String() string {
	if n == nil {
		return ""
	}
	return string(n.append(nil))
}

// Words are the operators that compare a column and something.
var Words = map[Op]string{
	OpEq: "=", OpNe: "<>", OpLt: "<", OpLe: "<=", OpGt: ">", OpGe: ">=", OpIn: "in", OpBetween: "between", OpIsNull: "is null",
	OpIsNaN: "is nan", OpEquals: "equals", OpStarts: "starts with", OpEnds: "ends with", OpContains: "contains", OpLike: "like", OpMatches: "matches",
}

// binds is how tightly an operation holds its operands together.
func (o Op) binds() int {
	switch o {
	case OpOr:
		return 1
	case OpAnd:
		return 2
	case OpNot:
		return 3
	case OpColumn, OpLiteral:
		return 5
	}
	return 4
}

func (n *Node) append(b []byte) []byte {
	switch n.Op {
	case OpColumn:
		return appendPath(b, n.Path)
	case OpLiteral:
		return n.Lit.append(b)
	case OpAnd, OpOr:
		for i, a := range n.Args {
			if i > 0 {
				b = append(b, map[Op]string{OpAnd: " and ", OpOr: " or "}[n.Op]...)
			}
			b = a.appendWithin(b, n.Op.binds()+1)
		}
		return b
	case OpNot:
		if inner := n.Args[0]; inner.Op.binds() == 4 && inner.Op > OpGe {
			return inner.appendPredicate(b, "not ")
		}
		return n.Args[0].appendWithin(append(b, "not "...), n.Op.binds())
	}
	return n.appendPredicate(b, "")
}

// appendWithin puts parentheses around what binds less tightly than its place wants.
func (n *Node) appendWithin(b []byte, binds int) []byte {
	if n.Op.binds() >= binds {
		return n.append(b)
	}
	return append(n.append(append(b, '(')), ')')
}

func (n *Node) appendPredicate(b []byte, not string) []byte {
	b = append(n.Args[0].appendWithin(b, 5), ' ')
	word := Words[n.Op]
	if what, ok := strings.CutPrefix(word, "is "); ok {
		return append(append(append(b, "is "...), not...), what...)
	}
	b = append(b, not...)
	if n.Fold {
		b = append(b, 'i')
	}
	b = append(append(b, word...), ' ')
	switch n.Op {
	case OpIn:
		b = append(b, '(')
		for i, a := range n.Args[1:] {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = a.appendWithin(b, 5)
		}
		return append(b, ')')
	case OpBetween:
		b = append(n.Args[1].appendWithin(b, 5), " and "...)
		return n.Args[2].appendWithin(b, 5)
	}
	return n.Args[1].appendWithin(b, 5)
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

// reserved are the Words that no unquoted name can be.
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
