package read

import (
	"context"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/projection"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet/internal/chunk"
	"github.com/amudai/amudai-go/table/parquet/internal/convert"
)

// Table is a File as a table of the engine.
type Table struct {
	*File
	columns  *arrow.Schema // of the file, with dictionaries
	nodes    []node
	tops     []table.Column
	assemble sync.Mutex // arrow-go's readers are made by one goroutine at a time
	made     table.Projections
}

// node is a node of the Arrow schema: a top-level column, or a part of one.
type node struct {
	top    int
	steps  []int // from the top-level column on, as [projection.Part] counts children
	field  arrow.Field
	column *table.Column
}

const cachedChunks = 8192

// Table returns the file as a table. With dictionaries, top-level columns of strings come as codes, where all chunks store
// some codes.
func (f *File) Table(dictionaries bool) *Table {
	t := &Table{File: f, columns: f.schema, made: table.NewProjections(), tops: make([]table.Column, len(f.read))}
	fields := f.schema.Fields()
	for i := range fields {
		if dictionaries && f.hasCodes(i) {
			s, _ := f.scalarOf(i)
			fields[i].Type = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: s.Storage}
		}
		t.tops[i] = t.columnOf(fields[i], i, nil)
	}
	meta := f.schema.Metadata()
	t.columns = arrow.NewSchema(fields, &meta)
	return t
}

// hasCodes reports whether a top-level column of strings is stored as codes, or begins with them, by the footer.
func (f *File) hasCodes(top int) bool {
	s, ok := f.scalarOf(top)
	if !ok || !s.IsText() {
		return false
	}
	field := f.schema.Field(top)
	if d, isDictionary := field.Type.(*arrow.DictionaryType); isDictionary {
		field.Type = d.ValueType
	}
	if !arrow.TypeEqual(field.Type, s.Storage) {
		return false
	}
	for g := range f.groups {
		c, err := f.source.Chunk(f.meta(), g, f.arrow.Manifest.Fields[top].ColIndex)
		if err != nil || c.Rows > 0 && !c.HasCodes() {
			return false
		}
	}
	return true
}

// columnOf makes the column of a node, and those of the nodes below it.
func (t *Table) columnOf(field arrow.Field, top int, steps []int) table.Column {
	id := len(t.nodes)
	t.nodes = append(t.nodes, node{top: top, steps: steps, field: field})
	c := table.Column{ID: uint32(id)}
	setType(&c, field)
	for i, child := range kinds.Fields(c.Plain) {
		c.Children = append(c.Children, t.columnOf(child, top, append(slices.Clone(steps), i)))
	}
	t.nodes[id].column = &c
	return c
}

// setType sets the Arrow type of a column.
func setType(c *table.Column, field arrow.Field) {
	c.Arrow, c.Wraps, c.Plain = field, nil, field.Type
	for inner := kinds.Inner(c.Plain); inner != nil; inner = kinds.Inner(c.Plain) {
		c.Wraps, c.Plain = append(c.Wraps, c.Plain), inner
	}
}

// prune returns a part of a column.
func prune(c table.Column, part *projection.Part) table.Column {
	if part.Whole() {
		return c
	}
	field := c.Arrow
	field.Type = part.Type(field.Type)
	out := table.Column{ID: c.ID}
	setType(&out, field)
	for i, child := range c.Children {
		_, isMap := c.Plain.(*arrow.MapType)
		if isMap || slices.Contains(part.Children(len(c.Children)), i) {
			out.Children = append(out.Children, prune(child, part.Child(i)))
		}
	}
	return out
}

// partOf is the part of a top-level column that a column has, as [prune] or the engine made it.
func (t *Table) partOf(c *table.Column) *projection.Part {
	var paths [][]int
	var add func(c *table.Column)
	add = func(c *table.Column) {
		n := &t.nodes[c.ID]
		if t.isWhole(c) {
			paths = append(paths, n.steps)
			return
		}
		for i := range c.Children {
			add(&c.Children[i])
		}
	}
	add(c)
	return projection.PartOf(paths)
}

func (t *Table) isWhole(c *table.Column) bool {
	full := t.nodes[c.ID].column
	if len(full.Children) != len(c.Children) {
		return false
	}
	for i := range c.Children {
		if !t.isWhole(&c.Children[i]) {
			return false
		}
	}
	return true
}

// NumStripes implements [table.Table].
func (t *Table) NumStripes() int { return len(t.groups) }

// Stripe implements [table.Table].
func (t *Table) Stripe(i int) table.Stripe { return stripe{table: t, group: i} }

// StoredBytes implements [table.Table].
func (t *Table) StoredBytes() int64 { return t.size }

// NumNodes implements [table.Table].
func (t *Table) NumNodes() int { return len(t.nodes) }

// Latency implements [table.Table].
func (t *Table) Latency() storage.Latency { return t.reader.Capabilities().Latency }

// Project implements [table.Table].
func (t *Table) Project(_ context.Context, paths []string) (*table.Projection, error) {
	return t.made.Get(paths, func() (*table.Projection, error) {
		return table.ProjectFields(t.columns, paths, func(i int, part *projection.Part) table.Column { return prune(t.tops[i], part) })
	})
}

// ProjectTops implements [table.Table].
func (t *Table) ProjectTops(ctx context.Context, paths []string) (*table.Projection, error) {
	return table.ProjectTops(ctx, t, paths, table.UniqueIn(t.columns))
}

// Facts implements [table.Table]: row groups are asked instead.
func (t *Table) Facts(context.Context, []*table.Column) (predicate.Facts, error) {
	return predicate.Facts{}, nil
}

// PhysicalType implements [table.Table].
func (t *Table) PhysicalType(c *table.Column) (dt arrow.DataType, same bool) {
	return c.Plain, len(c.Wraps) == 0
}

// Logical implements [table.Table].
func (t *Table) Logical(mem memory.Allocator, physical arrow.Array, c *table.Column) (arrow.Array, error) {
	if arrow.TypeEqual(physical.DataType(), c.Arrow.Type) {
		physical.Retain()
		return physical, nil
	}
	return convert.Restore(mem, physical, c.Arrow.Type)
}

// PrefetchStripes implements [table.Table]: the footer has all metadata.
func (t *Table) PrefetchStripes(context.Context, []int) error { return nil }

// NewCounters implements [table.Table].
func (t *Table) NewCounters() table.Counters { return chunk.NewCounters() }

// Requests implements [table.Table].
func (t *Table) Requests() table.Requests { return t.reader.Requests() }

// chunkKey identifies a column chunk.
type chunkKey struct{ group, leaf int }

// chunk returns a column chunk, whose layout is kept.
func (t *Table) chunk(group, leaf int) (*chunk.Chunk, error) {
	key := chunkKey{group, leaf}
	if c, ok := t.chunks.Get(key); ok {
		return c, nil
	}
	c, err := t.source.Chunk(t.meta(), group, leaf)
	if err != nil {
		return nil, err
	}
	t.chunks.Put(key, c, 1)
	return c, nil
}

// leafOf follows a path of fields within structs to a leaf. ok is false if it leads to another node, or through lists.
func (t *Table) leafOf(path []*table.Column) (l leaf, ok bool) {
	last := &t.nodes[path[len(path)-1].ID]
	field := t.arrow.Manifest.Fields[last.top]
	l = leaf{read: t.read[last.top].Type, shape: t.shapes[last.top].Type}
	for _, i := range last.steps {
		read, isRead := l.read.(*arrow.StructType)
		shape, isShape := l.shape.(*arrow.StructType)
		if !isRead || !isShape || i >= read.NumFields() || read.NumFields() != shape.NumFields() || read.NumFields() != len(field.Children) {
			return l, false
		}
		l.read, l.shape, field = read.Field(i).Type, shape.Field(i).Type, field.Children[i]
	}
	if !field.IsLeaf() || t.meta().Schema.Column(field.ColIndex).MaxRepetitionLevel() > 0 {
		return l, false
	}
	l.index, l.restore = field.ColIndex, path[len(path)-1].Plain
	return l, true
}
