// Package complete proposes how a condition, or a list of columns, that someone types may go on.
package complete

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text/values"
)

// Bash is the script for bash. That of Cobra proposes nothing within quotes, where conditions are, and needs functions of another package.
//
//go:embed amudai.bash
var Bash string

// What the words of a condition may be.
var (
	textOperators  = []string{"=", "<>", "contains", "starts with", "ends with", "like", "matches", "icontains", "istarts with", "iends with", "ilike", "iequals", "in (", "is null", "is not null", "<", "<=", ">", ">="}
	valueOperators = []string{"=", "<>", "<", "<=", ">", ">=", "between", "in (", "is null", "is not null"}
	listOperators  = []string{"is null", "is not null"}
	connectives    = []string{"and", "or"}
)

const (
	mostNames   = 20_000
	mostDepth   = 8 // of structs
	mostOffered = 100
)

// Columns are the columns that may be named: those of a schema, and fields of structs.
type Columns struct {
	paths  []string
	names  []string // as conditions write them
	types  []arrow.DataType
	byName map[string]int
}

// Of lists the columns of a schema.
func Of(s *arrow.Schema) *Columns {
	c := &Columns{byName: map[string]int{}}
	c.add("", s.Fields(), 0)
	return c
}

func (c *Columns) add(prefix string, fields []arrow.Field, depth int) {
	names := arrowmap.UniqueNames(fields)
	for i, f := range fields {
		if len(c.paths) >= mostNames {
			return
		}
		path := prefix + schema.Escape(names[i])
		name := filter.Col(path).String()
		if _, known := c.byName[name]; !known {
			c.byName[name] = len(c.paths)
		}
		c.paths, c.names, c.types = append(c.paths, path), append(c.names, name), append(c.types, f.Type)
		if t, ok := f.Type.(*arrow.StructType); ok && depth < mostDepth {
			c.add(path+".", t.Fields(), depth+1)
		}
	}
}

// List completes the last path of a list with commas, as flags take it. Paths that the list has already are left out. With
// signed, a path may have a minus before it. The results are whole lists.
func (c *Columns) List(typed string, signed bool) []string {
	i := strings.LastIndexByte(typed, ',') + 1
	head, last := typed[:i], typed[i:]
	if signed && strings.HasPrefix(last, "-") {
		head, last = head+"-", last[1:]
	}
	have := strings.Split(typed[:i], ",")
	var out []string
	for _, p := range c.paths {
		if strings.HasPrefix(p, last) && !slices.Contains(have, p) {
			out = append(out, head+p)
		}
	}
	return out
}

// Condition proposes words that replace text[from:]. values returns values of the column at a path as conditions
// write them, those to be proposed first at the beginning.
func (c *Columns) Condition(text []rune, values func(path string) []string) (from int, words []string) {
	s := slotAt(text)
	switch s.want {
	case wantColumn:
		if words = c.names; s.word != "" {
			words = append(slices.Clone(words), "not")
		}
	case wantOperator:
		words = c.operators(s.column)
	case wantValue:
		if i, ok := c.byName[s.column]; ok {
			words = values(c.paths[i])
		}
	case wantConnective:
		words = connectives
	}
	return s.from, matching(words, s.word)
}

// operators are those that suit a column.
func (c *Columns) operators(name string) []string {
	i, ok := c.byName[name]
	if !ok {
		return valueOperators
	}
	plain, _ := extension.Unwrap(c.types[i])
	switch plain.(type) {
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType, *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType:
		return textOperators
	case *arrow.BooleanType:
		return append(slices.Clone(connectives), "= true", "= false", "is null", "is not null")
	case *arrow.Float16Type, *arrow.Float32Type, *arrow.Float64Type:
		return append(slices.Clone(valueOperators), "is nan", "is not nan")
	}
	if kinds.Of(plain) != kinds.Leaf {
		return listOperators
	}
	return valueOperators
}

const (
	mostValues  = 10_000 // different ones that are counted
	shortValues = 60     // bytes of a value that is proposed
)

// Counts counts the values of a column, as conditions write them.
type Counts map[string]int

// Add counts the values of an array. It reports whether there is room for more different ones.
func (c Counts) Add(a arrow.Array) bool {
	t, _ := extension.Unwrap(a.DataType())
	if _, nested := t.(arrow.NestedType); nested {
		return false
	}
	id := t.ID()
	bare := arrow.IsInteger(id) || arrow.IsFloating(id) || arrow.IsDecimal(id) || id == arrow.BOOL
	text := values.Text(a)
	var buf []byte
	for i := range a.Len() {
		if values.IsNull(a, i) {
			continue
		}
		if buf = text(buf[:0], i); len(buf) > shortValues || terminal.Printable(string(buf)) != string(buf) {
			continue
		}
		s := string(buf)
		if !bare || strings.ContainsAny(s, "NI") { // NaN and Inf are texts
			s = "'" + strings.ReplaceAll(s, "'", "''") + "'"
		}
		if _, known := c[s]; known || len(c) < mostValues {
			c[s]++
		}
	}
	return len(c) < mostValues
}

// AddColumn is Add for a batch with the single column at a path, which may lie within structs.
func (c Counts) AddColumn(b arrow.RecordBatch) bool {
	if b.NumCols() != 1 {
		return false
	}
	a := b.Column(0)
	for s, ok := a.(*array.Struct); ok && s.NumField() == 1; s, ok = a.(*array.Struct) {
		a = s.Field(0)
	}
	return c.Add(a)
}

// Values are the values, the most frequent ones first.
func (c Counts) Values() []string {
	list := slices.Collect(maps.Keys(c))
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(c[b], c[a]), cmp.Compare(a, b)) })
	return list
}

// matching are the candidates that go on from a word, with regard to case if any does.
func matching(all []string, word string) []string {
	var exact, folded, inside []string
	lower := strings.ToLower(word)
	for _, c := range all {
		bare := strings.Trim(strings.ToLower(c), `'"`)
		switch {
		case c == word:
		case strings.HasPrefix(c, word):
			exact = append(exact, c)
		case strings.HasPrefix(strings.ToLower(c), lower) || strings.HasPrefix(bare, lower):
			folded = append(folded, c)
		case len(lower) > 1 && strings.Contains(bare, strings.Trim(lower, `'"`)):
			inside = append(inside, c)
		}
		if len(exact) >= mostOffered {
			break
		}
	}
	list := append(append(exact, folded...), inside...)
	return list[:min(len(list), mostOffered)]
}

// slot is what a condition needs at the cursor.
type slot struct {
	from   int    // of the word that is being written
	word   string // its beginning, up to the cursor
	want   slotKind
	column string // of operators and values: the name, as written
}

type slotKind int

const (
	wantColumn slotKind = iota
	wantOperator
	wantValue
	wantConnective
)

// symbolsOf are the characters of operators.
const symbolsOf = "=<>!~*"

// slotAt finds what the condition needs at the end of text.
func slotAt(text []rune) slot {
	s := slot{}
	list := false // within the parentheses of in
	for i := 0; i <= len(text); {
		for i < len(text) && unicode.IsSpace(text[i]) {
			i++
		}
		s.from = i
		end := wordEnd(text, i)
		s.word = string(text[i:end])
		if end == len(text) {
			if s.want == wantOperator && i == end || !strings.HasSuffix(s.word, "(") && s.word != "," {
				break
			}
		}
		lower := strings.ToLower(s.word)
		switch {
		case s.word == "(":
		case s.word == ")":
			list = false
			s.want = wantConnective
		case s.word == ",":
			if list {
				s.want = wantValue
			}
		case lower == "and" && s.want == wantConnective && s.column != "" && strings.HasPrefix(s.column, "\x00"):
			s.column, s.want = s.column[1:], wantValue // between 1 and 2
		case lower == "and" || lower == "or" || lower == "not" && s.want == wantColumn:
			s.want = wantColumn
		case s.want == wantColumn:
			s.column, s.want = s.word, wantOperator
		case s.want == wantOperator:
			switch lower {
			case "in":
				list, s.want = true, wantValue
			case "between":
				s.column, s.want = "\x00"+s.column, wantValue
			case "is":
				s.want = wantOperator
			case "null", "nan":
				s.want = wantConnective
			case "not", "starts", "ends", "istarts", "iends":
			default:
				s.want = wantValue
			}
		case s.want == wantValue:
			s.want = wantConnective
		default:
			s.want = wantConnective
		}
		i = end
		if i == len(text) {
			s.from, s.word = i, ""
			break
		}
	}
	s.column = strings.TrimPrefix(s.column, "\x00")
	return s
}

// wordEnd is the end of the word that begins at i: a name, a text in quotes, an operator or another character.
func wordEnd(text []rune, i int) int {
	if i >= len(text) {
		return len(text)
	}
	switch c := text[i]; {
	case c == '\'' || c == '"' || c == '`':
		for i++; i < len(text); i++ {
			if text[i] == c {
				if i+1 < len(text) && text[i+1] == c {
					i++
					continue
				}
				i++
				if i < len(text) && text[i] == '.' && c != '\'' {
					return wordEnd(text, i+1)
				}
				return i
			}
		}
		return i
	case strings.ContainsRune(symbolsOf, c):
		for i < len(text) && strings.ContainsRune(symbolsOf, text[i]) {
			i++
		}
		return i
	case c == '(' || c == ')' || c == ',':
		return i + 1
	}
	for i++; i < len(text) && !unicode.IsSpace(text[i]) && !strings.ContainsRune(symbolsOf+"(),'", text[i]); i++ {
	}
	return i
}

// Common is the beginning that all of some words have.
func Common(words []string) string {
	c := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, c) {
			_, n := utf8.DecodeLastRuneInString(c)
			c = c[:len(c)-n]
		}
	}
	return c
}
