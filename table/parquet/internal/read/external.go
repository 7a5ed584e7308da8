package read

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/external"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet/internal/chunk"
)

// OpenExternal opens a file for shards, see [external.Open].
func OpenExternal(ctx context.Context, r storage.Reader, as *arrow.Schema) (external.File, error) {
	f, err := openFile(ctx, r, nil, as)
	if err != nil {
		return nil, err
	}
	return f.Table(false), nil
}

// Checksum implements [external.File].
func (f *File) Checksum() uint64 { return f.checksum }

// Leaves implements [external.File].
func (f *File) Leaves() int { return f.meta().Schema.NumColumns() }

// Leaf implements [external.File].
func (t *Table) Leaf(c *table.Column) int {
	n := &t.nodes[c.ID]
	field := t.arrow.Manifest.Fields[n.top]
	for _, i := range n.steps {
		if field.Field.Type.ID() == arrow.MAP && len(field.Children) == 1 {
			field = field.Children[0]
		}
		if i >= len(field.Children) {
			break
		}
		field = field.Children[i]
	}
	return slices.Concat(appendLeaves(nil, field), []int{0})[0]
}

// Chunk implements [external.File].
func (t *Table) Chunk(group, leaf int) (out external.Chunk, err error) {
	c, err := t.chunk(group, leaf)
	if err != nil {
		return out, err
	}
	meta := t.meta().RowGroups[group].Columns[leaf].MetaData
	out = external.Chunk{Type: int32(c.Column.PhysicalType()), Element: t.elements[leaf], Values: meta.NumValues}
	if _, is96 := t.units[leaf]; is96 {
		out.Type = int96Type
	}
	out.Pages = external.Range{Start: c.Meta.DataPageOffset(), End: c.From + c.Meta.TotalCompressedSize()}
	if c.From < out.Pages.Start {
		out.Dictionary = external.Range{Start: c.From, End: out.Pages.Start}
	}
	for _, s := range meta.EncodingStats {
		if chunk.IsData(int64(s.PageType)) {
			out.PageCount += int64(s.Count)
		}
	}
	return out, nil
}

// int96Type is the type INT96 in the footer.
const int96Type = 3

// Recorded implements [external.File].
func (t *Table) Recorded(group int, path []*table.Column) external.Recorded {
	out := external.Recorded{Nulls: -1}
	l, ok := t.leafOf(path)
	if !ok {
		return out
	}
	out.Nulls, _ = t.nulls(group, l.index)
	if b := t.bounds(group, &l); b.exact && b.low != nil && b.high != nil && !isZero(b.low) && !isZero(b.high) {
		out.Low, out.High = b.low, b.high
	}
	return out
}

// unitsOf takes the units of INT96 leaves from a schema with the same columns, and returns the paths of those columns that have other names there.
func (f *File) unitsOf(as *arrow.Schema) (renamed []string) {
	for i, field := range f.schema.Fields() {
		var types []arrow.DataType
		if all := as.FieldIndices(field.Name); len(all) == 1 {
			types = leafTypes(nil, as.Field(all[0]).Type)
		}
		leaves := appendLeaves(nil, f.arrow.Manifest.Fields[i])
		for k, leaf := range leaves {
			if _, is96 := f.units[leaf]; !is96 {
				continue
			}
			if len(types) == len(leaves) {
				if t, ok := types[k].(*arrow.TimestampType); ok {
					f.units[leaf] = t.Unit
					continue
				}
			}
			renamed = append(renamed, schema.Escape(field.Name))
		}
	}
	return renamed
}

// leafTypes appends the types of the leaves of a type.
func leafTypes(types []arrow.DataType, t arrow.DataType) []arrow.DataType {
	fields := kinds.Fields(t)
	if len(fields) == 0 {
		return append(types, t)
	}
	for _, f := range fields {
		types = leafTypes(types, f.Type)
	}
	return types
}
