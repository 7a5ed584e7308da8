package table

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
)

// StringLayout is the Arrow layout of strings in the result of a scan or a take. It applies to columns, and parts
// of nested columns, of the types string, large_string and string_view, and to dictionaries of these types.
type StringLayout uint8

// The layouts. The zero value is the default.
const (
	StringsAsRecorded StringLayout = iota // the type of the column
	StringsPlain                          // string
	StringsLarge                          // large_string
	StringsView                           // string_view
	StringsDictionary                     // dictionary<int32, string>: fast for columns stored with a dictionary, slow for others
)

// String is the name of the layout.
func (s StringLayout) String() string {
	switch s {
	case StringsAsRecorded:
		return "as recorded"
	case StringsPlain:
		return "string"
	case StringsLarge:
		return "large_string"
	case StringsView:
		return "string_view"
	case StringsDictionary:
		return "dictionary"
	}
	return fmt.Sprintf("StringLayout(%d)", uint8(s))
}

// Check returns an error for an unknown layout. option is the name of the option in the error.
func (s StringLayout) Check(option string) error {
	if s > StringsDictionary {
		return fmt.Errorf("%s  is unknown: %v", option, s)
	}
	return nil
}

// Apply returns a copy of a projection whose strings have the layout.
func (s StringLayout) Apply(p *Projection) *Projection {
	if s == StringsAsRecorded {
		return p
	}
	return apply(p, func(c Column) Column {
		c, _ = s.column(c)
		return c
	})
}

// WithDictionaries returns a copy of a projection in which the strings of the columns with some names have the layout
// [StringsDictionary].
func WithDictionaries(p *Projection, names []string) *Projection {
	if len(names) == 0 {
		return p
	}
	return apply(p, func(c Column) Column {
		if slices.Contains(names, c.Arrow.Name) {
			c, _ = StringsDictionary.column(c)
		}
		return c
	})
}

// WithDecimals64 returns a copy of a projection in which the columns with some names that are decimal128 of at most 18 digits are
// decimal64 ([arrowutil.Decimal64]).
func WithDecimals64(p *Projection, names []string) *Projection {
	if len(names) == 0 {
		return p
	}
	return apply(p, func(c Column) Column {
		if len(c.Wraps) == 0 && c.Rule == arrowmap.Decimal && slices.Contains(names, c.Arrow.Name) {
			c.Arrow = arrowutil.Decimal64(c.Arrow)
			c.Plain = c.Arrow.Type
		}
		return c
	})
}

// apply replaces the columns of a projection.
func apply(p *Projection, replace func(Column) Column) *Projection {
	out := &Projection{Columns: make([]Column, len(p.Columns))}
	fields := make([]arrow.Field, len(p.Columns))
	for i, c := range p.Columns {
		out.Columns[i] = replace(c)
		fields[i] = out.Columns[i].Arrow
	}
	meta := p.Schema.Metadata()
	out.Schema = arrow.NewSchema(fields, &meta)
	return out
}

// column returns a column whose strings have the layout. changed reports whether its type has changed.
func (s StringLayout) column(c Column) (out Column, changed bool) {
	if kinds.IsText(c.Plain) {
		return s.text(c)
	}
	if len(c.Wraps) > 0 || len(c.Children) == 0 {
		return c, false
	}
	out = c
	out.Children = make([]Column, len(c.Children))
	kids := make([]arrow.DataType, len(c.Children))
	for i, child := range c.Children {
		kid, ok := s.column(child)
		out.Children[i], kids[i] = kid, kid.Arrow.Type
		changed = changed || ok
	}
	if !changed {
		return c, false
	}
	out.Plain = kinds.WithTypes(c.Plain, kids)
	out.Arrow.Type = out.Plain
	return out, true
}

// text returns a column of strings in the layout. Strings within runs or extension types keep their type.
func (s StringLayout) text(c Column) (out Column, changed bool) {
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
