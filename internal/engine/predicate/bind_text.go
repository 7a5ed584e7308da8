package predicate

import (
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/jsonvalues"
	"github.com/amudai/amudai-go/internal/engine/pattern"
	"github.com/amudai/amudai-go/internal/engine/valueset"
)

// text binds a test that looks into byte strings. It becomes a set of values if these lie in an interval, as those do
// that begin with a text.
func (b *binder) text(n *ast.Node, negate bool) (draft, error) {
	if n.Op == ast.OpHasAny || n.Op == ast.OpHasAll {
		return b.hasSeveral(n, negate)
	}
	col, err := b.column(n.Args[0], jsonvalues.String)
	if err != nil {
		return draft{}, err
	}
	d, lit := b.columns[col].domain, n.Args[1]
	switch {
	case n.Op == ast.OpContains && !n.Fold && d.HasElements() && b.values != nil:
		return b.compareValues(n, negate)
	case !d.IsText():
		return draft{}, fail(n, "%s is of type %s: %s is for strings and byte strings", n.Args[0].Path, d.Name, ast.Words[n.Op])
	case lit.Op != ast.OpLiteral || lit.Lit.Kind != ast.LitString && lit.Lit.Kind != ast.LitBytes && lit.Lit.Kind != ast.LitNull:
		return draft{}, fail(lit, "expected a string, found %s", ast.Shorten(lit.String()))
	case lit.Lit.Kind == ast.LitNull:
		return draft{kind: NodeNever}, nil
	}
	p, err := patternOf(n.Op, lit.Lit.Text, n.Fold)
	if err != nil {
		return draft{}, fail(lit, "%s", err)
	}
	if p.Any() {
		return b.leaf(col, d.All(), negate), nil
	}
	if value, ok := p.Constant(); ok {
		return b.leaf(col, valueset.Constant(value), negate), nil
	}
	if prefix, ok := p.PrefixOnly(); ok {
		return b.leaf(col, valueset.Prefix(prefix), negate), nil
	}
	return draft{kind: NodeLeaf, col: col, test: &Text{p, negate}}, nil
}

// hasSeveral binds a condition about several terms as one about each.
func (b *binder) hasSeveral(n *ast.Node, negate bool) (draft, error) {
	each := make([]*ast.Node, len(n.Args)-1)
	for i := range each {
		each[i] = &ast.Node{Op: ast.OpHas, Text: n.Text, Pos: n.Pos, Args: []*ast.Node{n.Args[0], n.Args[i+1]}}
	}
	all := ast.OpOr
	if n.Op == ast.OpHasAll {
		all = ast.OpAnd
	}
	switch len(each) {
	case 0:
		return draft{}, fail(n, "%s needs a string", ast.Words[n.Op])
	case 1:
		return b.text(each[0], negate)
	}
	return b.condition(&ast.Node{Op: all, Text: n.Text, Pos: n.Pos, Args: each}, negate)
}

func patternOf(o ast.Op, text string, fold bool) (*pattern.Pattern, error) {
	switch o {
	case ast.OpEquals:
		return pattern.Equal(text, fold), nil
	case ast.OpStarts:
		return pattern.StartsWith(text, fold), nil
	case ast.OpEnds:
		return pattern.EndsWith(text, fold), nil
	case ast.OpLike:
		return pattern.Like(text, fold), nil
	case ast.OpMatches:
		return pattern.Regexp(text, fold)
	case ast.OpHas, ast.OpHasPrefix:
		return pattern.Term(text, o == ast.OpHasPrefix), nil
	case ast.OpHasPhrase:
		return pattern.Phrase(text), nil
	case ast.OpHasFuzzy:
		return pattern.Fuzzy(text)
	}
	return pattern.Contains(text, fold), nil
}
