package browse

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	tea "charm.land/bubbletea/v2"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/command/terminal"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text/values"
)

// What the words of a condition may be.
var (
	textOperators  = []string{"=", "<>", "contains", "starts with", "ends with", "like", "matches", "icontains", "istarts with", "iends with", "ilike", "iequals", "in (", "is null", "is not null", "<", "<=", ">", ">="}
	valueOperators = []string{"=", "<>", "<", "<=", ">", ">=", "between", "in (", "is null", "is not null"}
	listOperators  = []string{"is null", "is not null"}
	connectives    = []string{"and", "or"}
)

const (
	sampleRows  = 100_000 // rows that values are completed from
	mostValues  = 10_000  // different ones
	shortValues = 60      // bytes of a value that can be completed
	mostOffered = 100
)

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

// nameInFilter is the path of a column as a condition writes it.
func nameInFilter(path string) string { return filter.Col(path).String() }

// offer finds the completions of the word before the cursor.
func (p *prompt) offer(m *model) {
	s := slotAt(p.text[:p.at])
	p.from = s.from
	p.offered = nil
	var all []string
	switch s.want {
	case wantColumn:
		all = slices.Clone(m.columnNames())
		if s.word != "" {
			all = append(all, "not")
		}
	case wantOperator:
		all = m.operators(s.column)
	case wantValue:
		all = m.rows.valuesOf(s.column)
	case wantConnective:
		all = connectives
	}
	p.offered = matching(all, s.word)
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

// columnNames are the names of columns, and of fields of structs, as conditions write them.
func (m *model) columnNames() []string {
	if m.names != nil {
		return m.names
	}
	m.names = []string{}
	for _, f := range m.fields {
		m.addNames(f.path, f.arrow, 0)
	}
	return m.names
}

const mostNames = 20_000

func (m *model) addNames(path string, t arrow.DataType, depth int) {
	if len(m.names) > mostNames {
		return
	}
	m.names = append(m.names, nameInFilter(path))
	if s, ok := t.(*arrow.StructType); ok && depth < 8 {
		for _, f := range s.Fields() {
			m.addNames(path+"."+schema.Escape(f.Name), f.Type, depth+1)
		}
	}
}

// typeOf is the type of the column of a name, and its path; nil if there is none.
func (m *model) typeOf(name string) (arrow.DataType, string) {
	for _, f := range m.fields {
		if nameInFilter(f.path) == name {
			return f.arrow, f.path
		}
		if s, ok := f.arrow.(*arrow.StructType); ok && strings.HasPrefix(name, nameInFilter(f.path)+".") {
			return fieldOf(s, f.path, name, 0)
		}
	}
	return nil, ""
}

func fieldOf(s *arrow.StructType, path, name string, depth int) (arrow.DataType, string) {
	for _, f := range s.Fields() {
		below := path + "." + schema.Escape(f.Name)
		written := nameInFilter(below)
		if written == name {
			return f.Type, below
		}
		if child, ok := f.Type.(*arrow.StructType); ok && depth < 8 && strings.HasPrefix(name, written+".") {
			return fieldOf(child, below, name, depth+1)
		}
	}
	return nil, ""
}

// operators are those that suit a column.
func (m *model) operators(name string) []string {
	t, _ := m.typeOf(name)
	if t == nil {
		return valueOperators
	}
	switch t = plainType(t); t.(type) {
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType, *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType:
		return textOperators
	case *arrow.BooleanType:
		return append(slices.Clone(connectives), "= true", "= false", "is null", "is not null")
	case arrow.NestedType:
		return listOperators
	}
	if arrow.IsFloating(t.ID()) {
		return append(slices.Clone(valueOperators), "is nan", "is not nan")
	}
	return valueOperators
}

// valuesOf are frequent values of a column, as conditions write them, as far as they are known.
func (g *grid) valuesOf(name string) []string {
	_, path := g.m.typeOf(name)
	if path == "" {
		return nil
	}
	if _, asked := g.samples[path]; !asked {
		g.samples[path] = nil
		g.unsampled = append(g.unsampled, path)
	}
	return g.samples[path]
}

// sample reads values of the columns that completion asked for.
func (g *grid) sample() tea.Cmd {
	if len(g.unsampled) == 0 {
		return nil
	}
	path := g.unsampled[0]
	g.unsampled = g.unsampled[1:]
	v := newView(&g.m.table, filter.Expr{})
	return g.m.run(g.m.ctx, func(ctx context.Context) result {
		list, err := frequent(ctx, v, path)
		return func(m *model) tea.Cmd {
			m.fail(err)
			m.rows.samples[path] = list
			if m.prompt != nil && m.prompt.kind == wherePrompt && m.prompt.choice < 0 {
				m.prompt.offer(m)
			}
			return m.rows.sample()
		}
	})
}

// frequent are the values of a column in the first rows, the most frequent ones first.
func frequent(ctx context.Context, v *view, path string) ([]string, error) {
	counts := map[string]int{}
	err := v.walk(ctx, []string{path}, 0, func(b arrow.RecordBatch, first int64) (bool, error) {
		if b.NumCols() == 1 {
			a := b.Column(0)
			for s, ok := a.(interface{ NumField() int }); ok && s.NumField() == 1; s, ok = a.(interface{ NumField() int }) {
				f, isStruct := a.(interface{ Field(int) arrow.Array })
				if !isStruct {
					break
				}
				a = f.Field(0)
			}
			countValues(counts, a)
		}
		return first+b.NumRows() >= sampleRows || len(counts) >= mostValues, ctx.Err()
	})
	list := slices.Collect(maps.Keys(counts))
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	return list, err
}

// countValues counts the values of an array, as conditions write them.
func countValues(counts map[string]int, a arrow.Array) {
	if _, nested := plainType(a.DataType()).(arrow.NestedType); nested {
		return
	}
	id := plainType(a.DataType()).ID()
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
		if !bare || strings.ContainsAny(s, "NI") {
			s = "'" + strings.ReplaceAll(s, "'", "''") + "'"
		}
		if _, known := counts[s]; known || len(counts) < mostValues {
			counts[s]++
		}
	}
}

// complete inserts what all completions have in common, or one after the other.
func (p *prompt) complete(m *model, forward bool) {
	if p.kind != wherePrompt || len(p.offered) == 0 {
		return
	}
	n := len(p.offered)
	switch {
	case n == 1:
		p.replace(p.offered[0] + " ")
		p.offer(m)
		return
	case p.choice < 0:
		if c := common(p.offered); len([]rune(c)) > p.at-p.from {
			p.replace(c)
			return
		}
		p.choice = 0
		if !forward {
			p.choice = n - 1
		}
	case forward:
		p.choice = (p.choice + 1) % n
	default:
		p.choice = (p.choice + n - 1) % n
	}
	p.replace(p.offered[p.choice])
}

// replace puts another word before the cursor.
func (p *prompt) replace(word string) {
	if strings.HasSuffix(word, "( ") {
		word = strings.TrimSuffix(word, " ")
	}
	p.text = slices.Replace(p.text, p.from, p.at, []rune(word)...)
	p.at = p.from + len([]rune(word))
}

// common is the longest beginning of all words.
func common(words []string) string {
	c := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, c) {
			_, n := utf8.DecodeLastRuneInString(c)
			c = c[:len(c)-n]
		}
	}
	return c
}

// offers is the line of the completions.
func (p *prompt) offers(m *model) string {
	if p.kind != wherePrompt {
		return paint(dim, m.clip(map[promptKind]string{
			searchPrompt:  "a text in the columns of text; capital letters make a difference if it has any",
			rowPrompt:     "the number of a row, from 1",
			commandPrompt: "NUMBER goes to a row, w FILE writes the rows, q leaves",
		}[p.kind], m.width))
	}
	first := max(p.choice-2, 0)
	line, room := "", m.width
	for i := first; i < len(p.offered) && room > 3; i++ {
		word := m.clip(terminal.Printable(p.offered[i]), room-1)
		room -= m.method.StringWidth(word) + 2
		style := dim
		if i == p.choice {
			style = reverse
		}
		line += paint(style, word) + "  "
	}
	return strings.TrimRight(line, " ")
}
