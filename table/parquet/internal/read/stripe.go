package read

import (
	"context"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/engine/source"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/parquet/internal/chunk"
)

// stripe is a row group as a [table.Stripe]. The footer has all metadata.
type stripe struct {
	table.PlainStripe
	table *Table
	group int
}

func (s stripe) Index() int      { return s.group }
func (s stripe) Position() int64 { return s.table.groups[s.group].first }
func (s stripe) Rows() int64     { return s.table.groups[s.group].rows }

func (s stripe) Metadata(ctx context.Context, path []*table.Column) (source.Metadata, error) {
	m := source.Metadata{Direct: len(path) == 1}
	l, ok := s.table.leafOf(path)
	if !ok {
		return m, nil
	}
	m.Facts = s.table.facts(s.group, &l)
	c, err := s.chunk(l.index, path[0])
	if err != nil {
		return m, err
	}
	m.Bloom = bloom(ctx, c, l.restore)
	if _, flat := s.table.scalarOf(s.table.nodes[path[0].ID].top); flat && m.Direct && (c.IsCoded() || c.HasCodes() && c.IsSmall()) {
		m.DictionaryEntries, m.Mixed = min(s.Rows(), max(dictionaryBytes(c)/4, 1)), !c.IsCoded()
	}
	return m, nil
}

// chunk is a column chunk of a column.
func (s stripe) chunk(leaf int, of *table.Column) (*chunk.Chunk, error) {
	c, err := s.table.chunk(s.group, leaf)
	return c, s.table.source.PlaceIn(err, s.group, of.Arrow.Name)
}

// dictionaryBytes are the stored bytes of the dictionary. It has probably fewer entries than a quarter of them.
func dictionaryBytes(c *chunk.Chunk) int64 { return max(c.Meta.DataPageOffset()-c.From, 0) }

func (s stripe) ValueBytes(_ context.Context, c *table.Column) int64 {
	total := int64(0)
	for _, leaf := range s.leaves(c) {
		meta := s.table.meta().RowGroups[s.group].Columns[leaf].MetaData
		size := meta.TotalUncompressedSize
		if stats := meta.SizeStatistics; stats != nil && stats.UnencodedByteArrayDataBytes != nil {
			size = max(size, *stats.UnencodedByteArrayDataBytes)
		}
		total += max(size, 0)
	}
	return min(total/max(s.Rows(), 1), math.MaxInt32)
}

// leaves are the leaves that are read for a column.
func (s stripe) leaves(c *table.Column) []int {
	read := s.table.readColumn(c)
	return read.leaves
}

// readColumn tells how a column of the engine is read.
func (t *Table) readColumn(c *table.Column) column {
	return t.File.columnOf(t.nodes[c.ID].top, t.partOf(c), c.Arrow.Type)
}

// RangesToOpen implements [table.Stripe]: indexes of pages and dictionaries of flat columns.
func (s stripe) RangesToOpen(_ context.Context, columns []table.Column, parts table.Parts, limit int64) (ranges []storage.ByteRange, err error) {
	add := func(from, size int64) {
		if from >= 0 && size > 0 && size <= limit && from <= s.table.size && size <= s.table.size-from {
			ranges = append(ranges, storage.ByteRange{Reader: s.table.reader, Offset: from, Size: size})
		}
	}
	for i := range columns {
		for _, leaf := range s.leaves(&columns[i]) {
			c, err := s.chunk(leaf, &columns[i])
			if err != nil {
				return nil, err
			}
			if parts == table.AllValues {
				add(c.From, c.End-c.From)
			} else if c.Meta.HasDictionaryPage() {
				add(c.From, dictionaryBytes(c))
			}
			if at := c.Meta.GetOffsetIndexLocation(); at != nil {
				add(at.Offset, int64(at.Length))
			}
			if at := c.Meta.GetColumnIndexLocation(); at != nil && parts != table.ToOpen {
				add(at.Offset, int64(at.Length))
			}
		}
	}
	return ranges, nil
}

func (s stripe) Open(ctx context.Context, c *table.Column, keep bool, prefetched func() (storage.Prefetched, error)) (table.ColumnReader, error) {
	top := s.table.nodes[c.ID].top
	scalar, flat := s.table.scalarOf(top)
	if !flat || s.encrypted(s.table.arrow.Manifest.Fields[top].ColIndex) {
		return &assembled{stripe: s, column: s.table.readColumn(c), plain: c.Plain, name: c.Arrow.Name}, nil
	}
	part, err := s.chunk(s.table.arrow.Manifest.Fields[top].ColIndex, c)
	if err != nil {
		return nil, err
	}
	column := s.table.readColumn(c)
	o := chunk.ReaderOptions{Type: column.restored, Plain: c.Plain, Keep: keep}
	o.Restore = func(mem memory.Allocator, stored arrow.Array, to arrow.DataType) (arrow.Array, error) {
		return column.as(to).restore(mem, stored)
	}
	if part.Meta.GetOffsetIndexLocation() != nil {
		if o.Ahead, err = prefetched(); err != nil {
			return nil, err
		}
		if _, err = part.Layout(ctx, o.Ahead); err != nil {
			return nil, part.Place(err)
		}
	}
	return chunk.NewReader(part, scalar, o), nil
}

func (s stripe) encrypted(leaf int) bool {
	return s.table.meta().RowGroups[s.group].Columns[leaf].CryptoMetadata != nil
}

// Pages implements [table.Stripe]: the column index.
func (s stripe) Pages(ctx context.Context, c *table.Column, have storage.Prefetched) (*source.Pages, error) {
	n := &s.table.nodes[c.ID]
	if _, flat := s.table.scalarOf(n.top); !flat || len(n.steps) > 0 {
		return nil, nil
	}
	l, ok := s.table.leafOf([]*table.Column{c})
	if !ok {
		return nil, nil
	}
	part, err := s.chunk(l.index, c)
	if err != nil {
		return nil, err
	}
	pages, err := s.table.pageBounds(ctx, part, &l, have)
	return pages, part.Place(err)
}
