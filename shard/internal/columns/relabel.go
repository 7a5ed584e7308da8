package columns

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text/cast"
	"github.com/amudai/amudai-go/shard/internal/indexing"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

// relabel gives a stored column a wider type under which its values are stored as they are, so that none is written anew: texts with long offsets or without a
// dictionary, times of a finer unit that are ticks, decimals of more digits. It reports whether that is so.
func (p *Plan) relabel(ctx context.Context, c *root.Column, to arrow.DataType) (bool, error) {
	from, err := p.typeOf(ctx, c.ID)
	if err != nil || from == nil {
		return false, err
	}
	if wide, _, err := cast.Common([]arrow.DataType{to, from.Arrow.Type}, true); err != nil || !arrow.TypeEqual(wide, to) {
		return false, nil
	}
	_, columns, err := arrowmap.FromArrow(arrow.NewSchema([]arrow.Field{arrowmap.Retyped(from.Arrow, to)}, nil), arrowmap.Options{Features: p.o.Encoding.Features})
	if err != nil || !storedAlike(from, &columns[0], true) {
		return false, err
	}
	for i := range p.root.Stripes {
		d, err := p.root.Stripes[i].Of.Descriptor(ctx, c.ID)
		if err != nil || stripe.ParquetEncoding(d) != nil {
			return false, err
		}
	}
	named := c.Field
	*c = relabelled(from, &columns[0])
	c.Field, c.Aliases = arrowmap.Named(c.Field, named.Name, arrowmap.ArrowName(&named)), named.Aliases
	return true, nil
}

// typeOf is a stored column as it is read; nil if it is hidden.
func (p *Plan) typeOf(ctx context.Context, id uint32) (*table.Column, error) {
	path, err := indexing.PathOf(p.stored, id)
	if err != nil {
		return nil, err
	}
	read, err := p.table.Project(ctx, []string{path})
	if err != nil {
		return nil, err
	}
	_, c := WayTo(read.Columns, id)
	return c, nil
}

// storedAlike reports whether the values of a column are stored as those of one with a wider type. A struct may lack fields, and with structs, below which there is a
// value for each row, a column of nulls may become any other.
func storedAlike(from, to *table.Column, structs bool) bool {
	a, b := &from.Stored, &to.Stored
	switch {
	case from.Plain.ID() == arrow.NULL:
		return structs
	case a.Type != b.Type || a.Signed != b.Signed || a.FixedSize != b.FixedSize || labelOf(a) != labelOf(b) || from.Rule != to.Rule:
		return false
	case from.Rule == arrowmap.Ticks || from.Rule == arrowmap.Span || a.Type == schema.String || a.Type == schema.Binary:
		return true
	case from.Rule == arrowmap.Decimal:
		return from.Scale == to.Scale
	case a.Type != schema.Struct && len(from.Children) != len(to.Children):
		return false
	case from.Rule != arrowmap.Same || len(from.Children) == 0:
		return arrow.TypeEqual(from.Plain, to.Plain)
	}
	structs = structs && a.Type == schema.Struct
	for i := range to.Children {
		if child := part(from, to, i); child != nil && !storedAlike(child, &to.Children[i], structs) {
			return false
		}
	}
	return true
}

// part is the part of a column that is part i of the wider one: the field of a struct with its name, nil if there is none, or the part at the same place.
func part(from, to *table.Column, i int) *table.Column {
	if from.Stored.Type != schema.Struct {
		return &from.Children[i]
	}
	k := slices.IndexFunc(from.Children, func(c table.Column) bool { return c.Stored.Name == to.Children[i].Stored.Name })
	if k < 0 {
		return nil
	}
	return &from.Children[k]
}

func labelOf(f *schema.Field) string {
	if label := f.Label(); label != arrowmap.AnnotationLabel {
		return label
	}
	return ""
}

// relabelled is a column with a wider type; from is nil for one that is not stored.
func relabelled(from, to *table.Column) root.Column {
	c := root.Column{Field: to.Stored, ID: root.Missing, Built: root.Missing}
	if from != nil && from.Plain.ID() != arrow.NULL {
		c.ID = from.ID
	}
	for i := range to.Children {
		var child *table.Column
		if c.ID != root.Missing {
			child = part(from, to, i)
		}
		c.Children = append(c.Children, relabelled(child, &to.Children[i]))
	}
	return c
}
