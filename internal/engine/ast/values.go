package ast

import (
	"fmt"
	"strings"
)

// Call is a call of an aggregate function: count(distinct x) filter (where y > 1) as n.
type Call struct {
	Name     string // in lower case
	Distinct bool
	Args     []*Node // value expressions; none for count() and count(*)
	Where    *Node   // the condition of filter (where …), nil for none
	Alias    string  // the name after as, "" for none
	Text     string  // the text of the call, without its alias
	Pos      int     // offset of the call in the text given to ParseCalls
}

// ParseValues parses value expressions separated by commas: "origin, year(date)". Blank text has none. The error is an
// [*Error].
func ParseValues(text string) ([]*Node, error) {
	var out []*Node
	err := parseList(text, "a comma or the end", func(p *parser) error {
		n, err := p.or()
		if err != nil {
			return err
		}
		n.from(text)
		out = append(out, n)
		return nil
	})
	return out, err
}

// ParseCalls parses calls of aggregate functions separated by commas: "count(), avg(delay) as mean, count(distinct x)".
// Blank text has none. The names of the functions are not checked. The error is an [*Error].
func ParseCalls(text string) ([]Call, error) {
	var out []Call
	err := parseList(text, "a comma, as, filter, or the end", func(p *parser) error {
		c, err := p.aggregate()
		if err != nil {
			return err
		}
		for _, a := range c.Args {
			a.from(text)
		}
		if c.Where != nil {
			c.Where.from(text)
		}
		out = append(out, c)
		return nil
	})
	return out, err
}

// parseList parses items separated by commas.
func parseList(text, after string, item func(p *parser) error) error {
	if len(text) > MaxText {
		return &Error{Pos: -1, Message: fmt.Sprintf("text of %d bytes, more than %d", len(text), MaxText)}
	}
	p := &parser{lexer: lexer{text: text}}
	if err := p.advance(); err != nil || p.tok.kind == tokEnd {
		return err
	}
	for {
		if err := item(p); err != nil {
			return err
		}
		if more, err := p.accept(","); err != nil {
			return err
		} else if !more {
			break
		}
	}
	if p.tok.kind != tokEnd {
		return p.expected(after)
	}
	return nil
}

// aggregate parses one call.
func (p *parser) aggregate() (Call, error) {
	c := Call{Name: p.tok.word, Pos: p.tok.pos}
	if c.Name == "" || reserved[c.Name] || !p.callAhead() {
		return c, p.expected("a function such as count() or avg(x)")
	}
	if err := p.advance(); err != nil {
		return c, err
	}
	end, err := p.arguments(&c)
	if err != nil {
		return c, err
	}
	if p.isWord("filter") {
		if end, err = p.where(&c); err != nil {
			return c, err
		}
	}
	c.Text = p.text[c.Pos:end]
	if ok, err := p.accept("as"); err != nil || !ok {
		return c, err
	}
	switch {
	case p.tok.kind == tokName && len(p.tok.names) == 1:
		c.Alias = p.tok.names[0]
	case p.tok.kind == tokLiteral && p.tok.lit.Kind == LitString:
		c.Alias = p.tok.lit.Text
	default:
		return c, p.expected("a name")
	}
	return c, p.advance()
}

// arguments parses what is in the parentheses of a call. It returns the end of the call in the text.
func (p *parser) arguments(c *Call) (end int, err error) {
	if err := p.require("("); err != nil {
		return 0, err
	}
	if p.isWord("distinct") && !p.callAhead() && !strings.HasPrefix(p.ahead(), ")") {
		c.Distinct = true
		if err := p.advance(); err != nil {
			return 0, err
		}
	}
	if p.isWord("*") && !c.Distinct {
		if err := p.advance(); err != nil {
			return 0, err
		}
	} else if !p.isWord(")") {
		for {
			a, err := p.or()
			if err != nil {
				return 0, err
			}
			c.Args = append(c.Args, a)
			if more, err := p.accept(","); err != nil {
				return 0, err
			} else if !more {
				break
			}
		}
	}
	return p.close()
}

// where parses filter (where condition).
func (p *parser) where(c *Call) (end int, err error) {
	for _, word := range []string{"filter", "(", "where"} {
		if err := p.require(word); err != nil {
			return 0, err
		}
	}
	if c.Where, err = p.or(); err != nil {
		return 0, err
	}
	return p.close()
}

// close skips a closing parenthesis, and returns the offset behind it.
func (p *parser) close() (end int, err error) {
	end = p.tok.pos + 1
	return end, p.require(")")
}
