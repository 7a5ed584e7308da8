package shard

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/stripe"
)

// Strings is how a scan or Take lays out texts: columns, and parts of nested ones, of the
// types string, large_string and string_view, and dictionaries of these.
type Strings uint8

// The layouts. The zero value is the default.
const (
	StringsAsKept     Strings = iota // by the type of the column
	StringsPlain                     // string
	StringsLarge                     // large_string
	StringsView                      // string_view
	StringsDictionary                // dictionary<int32, string>: fast where they are stored like that, slow elsewhere
)

// String is the name of the layout.
func (s Strings) String() string {
	switch s {
	case StringsAsKept:
		return "as kept"
	case StringsPlain:
		return "string"
	case StringsLarge:
		return "large_string"
	case StringsView:
		return "string_view"
	case StringsDictionary:
		return "dictionary"
	}
	return fmt.Sprintf("Strings(%d)", uint8(s))
}

func (s Strings) check(option string) error {
	if s > StringsDictionary {
		return fmt.Errorf("%s is unknown: %v", option, s)
	}
	return nil
}

// of is a projection with texts laid out like this.
func (s Strings) of(p *projection) *projection {
	if s == StringsAsKept {
		return p
	}
	out := &projection{columns: make([]arrowmap.Column, len(p.columns))}
	fields := make([]arrow.Field, len(p.columns))
	for i, c := range p.columns {
		out.columns[i], _ = s.column(c)
		fields[i] = out.columns[i].Arrow
	}
	meta := p.schema.Metadata()
	out.schema = arrow.NewSchema(fields, &meta)
	return out
}

// column is a column with its texts, and those inside of it, laid out like this;
// changed tells whether there are any.
func (s Strings) column(c arrowmap.Column) (out arrowmap.Column, changed bool) {
	switch c.Plain.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return s.text(c)
	}
	if len(c.Wraps) > 0 || len(c.Children) == 0 {
		return c, false
	}
	out = c
	out.Children = make([]arrowmap.Column, len(c.Children))
	kids := make([]arrow.DataType, len(c.Children))
	for i, child := range c.Children {
		kid, ok := s.column(child)
		out.Children[i], kids[i] = kid, kid.Arrow.Type
		changed = changed || ok
	}
	if !changed {
		return c, false
	}
	out.Plain = stripe.WithChildren(c.Plain, kids)
	out.Arrow.Type = out.Plain
	return out, true
}

// text is a column of texts laid out like this, unless it is more than these and a
// dictionary.
func (s Strings) text(c arrowmap.Column) (out arrowmap.Column, changed bool) {
	if len(c.Wraps) > 1 || len(c.Wraps) == 1 && c.Wraps[0].ID() != arrow.DICTIONARY {
		return c, false
	}
	before := c.Arrow.Type
	c.Wraps = nil
	switch s {
	case StringsLarge:
		c.Plain = arrow.BinaryTypes.LargeString
	case StringsView:
		c.Plain = arrow.BinaryTypes.StringView
	default:
		c.Plain = arrow.BinaryTypes.String
	}
	c.Arrow.Type = c.Plain
	if s == StringsDictionary {
		c.Arrow.Type = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: c.Plain}
		c.Wraps = []arrow.DataType{c.Arrow.Type}
	}
	return c, !arrow.TypeEqual(before, c.Arrow.Type)
}
