package predicate

import (
	"fmt"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"regexp"
	"regexp/syntax"
)

// text binds a test that looks into byte strings, as a set of values if it is
// one: those that begin with a text are a range.
func (b *binder) text(n *ast.Node, negate bool) (draft, error) {
	col, err := b.column(n.Args[0])
	if err != nil {
		return draft{}, err
	}
	d, lit := b.columns[col].d, n.Args[1]
	switch {
	case !d.isText():
		return draft{}, fail(n, "%s is of type %s: %s is for strings and byte strings", n.Args[0].Path, d.name, ast.Words[n.Op])
	case lit.Op != ast.OpLiteral || lit.Lit.Kind != ast.LitString && lit.Lit.Kind != ast.LitBytes && lit.Lit.Kind != ast.LitNull:
		return draft{}, fail(lit, "%s where a string should be", ast.Shorten(lit.String()))
	case lit.Lit.Kind == ast.LitNull:
		return draft{kind: NodeNever}, nil
	}
	t, err := textOf(n.Op, lit.Lit.Text, n.Fold)
	if err != nil {
		return draft{}, fail(lit, "%s", err)
	}
	if set, ok := t.set(d); ok {
		return b.leaf(col, set, negate), nil
	}
	t.Not = negate
	return draft{kind: NodeLeaf, col: col, test: t}, nil
}

func textOf(o ast.Op, s string, fold bool) (*Text, error) {
	if o == ast.OpMatches {
		return regexOf(s, fold)
	}
	if fold {
		s = string(appendFolded(nil, []byte(s)))
	}
	t := &Text{fold: fold}
	switch o {
	case ast.OpLike:
		t.pattern = like(s)
	default:
		t.pattern = pattern{begins: o == ast.OpStarts || o == ast.OpEquals, ends: o == ast.OpEnds || o == ast.OpEquals}
		if s != "" {
			t.pattern.segments = []segment{{{text: []byte(s)}}}
		} else if o != ast.OpEquals {
			t.pattern = pattern{}
		}
	}
	t.learn()
	return t, nil
}

func regexOf(s string, fold bool) (*Text, error) {
	if fold {
		s = "(?i:" + s + ")"
	}
	re, err := syntax.Parse(s, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("regular expression: %w", err)
	}
	re = re.Simplify()
	if p, ok := literalRegex(re); ok {
		t := &Text{pattern: p}
		t.learn()
		return t, nil
	}
	t := &Text{}
	if t.regex, err = regexp.Compile(s); err != nil {
		return nil, fmt.Errorf("regular expression: %w", err)
	}
	t.known(re)
	return t, nil
}

// learn finds prefix and parts of a pattern. What ignores case has none.
func (t *Text) learn() {
	if t.fold {
		return
	}
	for i, s := range t.pattern.segments {
		for k, p := range s {
			if len(p.text) == 0 {
				continue
			}
			if i == 0 && k == 0 && t.pattern.begins {
				t.Prefix = p.text
			}
			t.Parts = append(t.Parts, p.text)
		}
	}
}

// set is the values that meet the test, if they are an interval.
func (t *Text) set(d *domain) (valueSet, bool) {
	if t.regex != nil {
		return valueSet{}, false
	}
	p := &t.pattern
	if len(p.segments) == 0 && !(p.begins && p.ends) {
		return valueSet{spans: []span{d.whole}}, true
	}
	if t.fold {
		return valueSet{}, false
	}
	if s, ok := p.exact(); ok {
		return valueSet{spans: []span{{point{s: s}, point{s: s + "\x00"}}}}, true
	}
	if p.begins && !p.ends && len(p.segments) == 1 {
		if s, ok := p.segments[0].literal(); ok {
			return valueSet{spans: []span{{point{s: string(s)}, successor(string(s))}}}, true
		}
	}
	return valueSet{}, false
}
