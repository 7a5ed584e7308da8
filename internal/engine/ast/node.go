// Package ast holds conditions on rows as trees that are not bound to a schema. It parses and prints their text,
// and has their literals. Package filter is the public API of these trees, package predicate evaluates them.
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
	OpIn      // a value and those of a list
	OpBetween // a value and two bounds
	OpIsNull
	OpIsNaN
	OpEquals // this and all up to OpHasAll: a value and a string, but for the last two
	OpStarts
	OpEnds
	OpContains
	OpLike
	OpMatches
	OpHas
	OpHasPrefix
	OpHasPhrase
	OpHasFuzzy
	OpHasAny // a column and strings
	OpHasAll // a column and strings
	OpNeg    // this and all later operations are values
	OpAdd
	OpSub
	OpMul
	OpDiv    // of floats
	OpIntDiv // of whole numbers, towards zero
	OpMod
	OpCast  // a value, and the type Name
	OpIndex // an element of a list or a map
	OpCase  // conditions and values in turn, and at the end the value otherwise, if there is one
	OpCall  // the function Name
)

// IsText reports whether an operation looks into a string.
func (o Op) IsText() bool { return o >= OpEquals && o <= OpHasAll }

// IsValue reports whether an operation is a value other than a column or a literal.
func (o Op) IsValue() bool { return o >= OpNeg }

// Node is one operation of an expression. It is immutable and may be shared.
type Node struct {
	Op   Op
	Fold bool   // case-insensitive
	Text string // the parsed text, "" for a node made in Go
	Pos  int    // offset in Text, -1 for a node made in Go
	Args []*Node
	Path string // canonical path of a column
	Name string // of a function in lower case, or the text of a type
	Lit  Literal

	Alias string // the name after as, of a root that ParseKeys returns
}

// PathOf joins names to a canonical path, with special characters escaped.
func PathOf(names []string) string {
	escaped := make([]string, len(names))
	for i, name := range names {
		escaped[i] = schema.Escape(name)
	}
	return strings.Join(escaped, ".")
}

// True is the condition that is true for every row.
func True() *Node {
	return &Node{Op: OpLiteral, Lit: Literal{Kind: LitBool, Text: "true"}, Pos: -1}
}

// New returns an operation that is made in Go instead of parsed.
func New(o Op, args ...*Node) *Node { return &Node{Op: o, Pos: -1, Args: args} }

// Join returns the conjunction or disjunction of conditions. Operations of the same kind are flattened, because
// their text has no parentheses and must parse to the same expression. Nil means no condition: a conjunction
// ignores it, and a conjunction of nothing else is nil.
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

// Columns returns the paths of the columns in the expression, each once, in the order of the text.
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

// String returns the text of the expression, which [Parse] turns into the same expression. It is "" for nil.
func (n *Node) String() string {
	if n == nil {
		return ""
	}
	return string(n.append(nil))
}

// Words are the operators between operands.
var Words = map[Op]string{
	OpEq: "=", OpNe: "<>", OpLt: "<", OpLe: "<=", OpGt: ">", OpGe: ">=", OpIn: "in", OpBetween: "between", OpIsNull: "is null",
	OpIsNaN: "is nan", OpEquals: "equals", OpStarts: "starts with", OpEnds: "ends with", OpContains: "contains", OpLike: "like", OpMatches: "matches",
	OpHas: "has", OpHasPrefix: "has_prefix", OpHasPhrase: "has_phrase", OpHasFuzzy: "has_fuzzy", OpHasAny: "has_any", OpHasAll: "has_all",
	OpAdd: "+", OpSub: "-", OpMul: "*", OpDiv: "/", OpIntDiv: "//", OpMod: "%",
}

// Levels of precedence, the weakest first.
const (
	bindsOr = 1 + iota
	bindsAnd
	bindsNot
	bindsPredicate
	bindsSum
	bindsProduct
	bindsSign
	bindsPostfix
	bindsAll
)

// binds is the precedence of an operation.
func (n *Node) binds() int {
	switch n.Op {
	case OpOr:
		return bindsOr
	case OpAnd:
		return bindsAnd
	case OpNot:
		return bindsNot
	case OpAdd, OpSub:
		return bindsSum
	case OpMul, OpDiv, OpIntDiv, OpMod:
		return bindsProduct
	case OpNeg:
		return bindsSign
	case OpCast, OpIndex:
		return bindsPostfix
	case OpColumn, OpLiteral, OpCall, OpCase:
		return bindsAll
	}
	return bindsPredicate
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
			b = a.appendWithin(b, n.binds()+1)
		}
		return b
	case OpNot:
		if inner := n.Args[0]; inner.binds() == bindsPredicate && inner.Op > OpGe {
			return inner.appendPredicate(b, "not ")
		}
		return n.Args[0].appendWithin(append(b, "not "...), n.binds())
	}
	if n.Op.IsValue() {
		return n.appendValue(b)
	}
	return n.appendPredicate(b, "")
}

// appendWithin adds parentheses around an operation of lower precedence than its context.
func (n *Node) appendWithin(b []byte, binds int) []byte {
	if n.binds() >= binds {
		return n.append(b)
	}
	return append(n.append(append(b, '(')), ')')
}

func (n *Node) appendValue(b []byte) []byte {
	switch n.Op {
	case OpNeg:
		if a := n.Args[0]; a.Op == OpLiteral || a.Op == OpNeg { // -1 is a literal
			return append(a.append(append(b, "-("...)), ')')
		}
		return n.Args[0].appendWithin(append(b, '-'), bindsSign)
	case OpCast:
		return append(append(n.Args[0].appendWithin(b, bindsPostfix), "::"...), n.Name...)
	case OpIndex:
		b = append(n.Args[0].appendWithin(b, bindsPostfix), '[')
		return append(n.Args[1].append(b), ']')
	case OpCase:
		return n.appendCase(b)
	case OpCall:
		return append(appendList(append(append(b, n.Name...), '('), n.Args, bindsOr), ')')
	}
	b = append(n.Args[0].appendWithin(b, n.binds()), ' ')
	b = append(append(b, Words[n.Op]...), ' ')
	return n.Args[1].appendWithin(b, n.binds()+1)
}

func (n *Node) appendCase(b []byte) []byte {
	b = append(b, "case"...)
	args := n.Args
	for ; len(args) > 1; args = args[2:] {
		b = args[0].append(append(b, " when "...))
		b = args[1].append(append(b, " then "...))
	}
	if len(args) == 1 {
		b = args[0].append(append(b, " else "...))
	}
	return append(b, " end"...)
}

// appendList writes operands with commas between them.
func appendList(b []byte, args []*Node, binds int) []byte {
	for i, a := range args {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = a.appendWithin(b, binds)
	}
	return b
}

func (n *Node) appendPredicate(b []byte, not string) []byte {
	b = append(n.Args[0].appendWithin(b, bindsSum), ' ')
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
	case OpIn, OpHasAny, OpHasAll:
		return append(appendList(append(b, '('), n.Args[1:], bindsSum), ')')
	case OpBetween:
		b = append(n.Args[1].appendWithin(b, bindsSum), " and "...)
		return n.Args[2].appendWithin(b, bindsSum)
	}
	return n.Args[1].appendWithin(b, bindsSum)
}

// appendPath writes the names of a path, with quotes where needed.
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

// plainName reports whether a name can be written without quotes.
func plainName(name string) bool {
	for i, r := range name {
		if !nameRune(r) || i == 0 && unicode.IsDigit(r) {
			return false
		}
	}
	return name != "" && !reserved[strings.ToLower(name)]
}

// nameRune reports whether a character may occur in a name without quotes.
func nameRune(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// reserved are the words that need quotes as names.
var reserved = map[string]bool{
	"and": true, "or": true, "not": true, "in": true, "is": true, "between": true, "like": true, "ilike": true,
	"null": true, "true": true, "false": true,
}

// Error describes an error in an expression.
type Error struct {
	Text    string // the text given to Parse, "" for an error in a part made in Go
	Pos     int    // offset in bytes from the beginning of Text, -1 if unknown
	Message string
}

func (e *Error) Error() string {
	if e.Text == "" || e.Pos < 0 || e.Pos > len(e.Text) {
		return e.Message
	}
	format := "%s, at character %d"
	if strings.HasSuffix(e.Message, "?") {
		format = "%s (at character %d)"
	}
	return fmt.Sprintf(format, e.Message, 1+utf8.RuneCountInString(e.Text[:e.Pos]))
}
