package ast

import "strings"

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
func ParseValues(text string) ([]*Node, error) { return parseValues(text, false) }

// ParseKeys parses values as [ParseValues] does, which may have names: "origin, year(date) as y".
func ParseKeys(text string) ([]*Node, error) { return parseValues(text, true) }

func parseValues(text string, named bool) (out []*Node, err error) {
	err = parse(text, func(p *parser) {
		for more := true; more; more = p.accept(",") {
			n := p.or()
			if named && p.accept("as") {
				n.Alias = p.alias()
			}
			out = append(out, n)
		}
		p.end("a comma or the end")
	})
	if err != nil {
		return nil, err
	}
	for _, n := range out {
		n.from(text)
	}
	return out, nil
}

// ParseCalls parses calls of aggregate functions separated by commas: "count(), avg(delay) as mean, count(distinct x)".
// Blank text has none. The names of the functions are not checked. The error is an [*Error].
func ParseCalls(text string) (out []Call, err error) {
	err = parse(text, func(p *parser) {
		for more := true; more; more = p.accept(",") {
			out = append(out, p.aggregate())
		}
		p.end("a comma, as, filter, or the end")
	})
	if err != nil {
		return nil, err
	}
	for _, c := range out {
		for _, a := range c.Args {
			a.from(text)
		}
		if c.Where != nil {
			c.Where.from(text)
		}
	}
	return out, nil
}

// aggregate parses one call.
func (p *parser) aggregate() Call {
	c := Call{Name: p.tok.word, Pos: p.tok.pos}
	if c.Name == "" || reserved[c.Name] || !p.callAhead() {
		p.expected("a function such as count() or avg(x)")
	}
	p.advance()
	p.arguments(&c)
	if c.Name == "count_distinct" { // here, so that all who read calls see that it is distinct
		c.Name, c.Distinct = "count", true
	}
	if p.isWord("filter") {
		p.require("filter", "(", "where")
		c.Where = p.or()
		p.require(")")
	}
	if p.err != nil {
		return c
	}
	c.Text = p.text[c.Pos : p.last.pos+1] // up to the closing parenthesis
	if p.accept("as") {
		c.Alias = p.alias()
	}
	return c
}

// alias parses the name after as.
func (p *parser) alias() (name string) {
	switch {
	case p.tok.kind == tokName && len(p.tok.names) == 1:
		name = p.tok.names[0]
	case p.tok.kind == tokLiteral && p.tok.lit.Kind == LitString:
		name = p.tok.lit.Text
	default:
		p.expected("a name")
	}
	p.advance()
	return name
}

// arguments parses what is in the parentheses of a call.
func (p *parser) arguments(c *Call) {
	p.require("(")
	if p.isWord("distinct") && !p.callAhead() && !strings.HasPrefix(p.ahead(), ")") {
		c.Distinct = true
		p.advance()
	}
	if !(!c.Distinct && p.accept("*")) && !p.isWord(")") {
		for more := true; more; more = p.accept(",") {
			c.Args = append(c.Args, p.or())
		}
	}
	p.require(")")
}
