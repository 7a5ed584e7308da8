package read

import (
	"context"
	"math"

	"github.com/amudai/amudai-go/internal/engine/source"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
)

// stripe is a row group as a [table.Stripe].
type stripe struct {
	table *Table
	group int
}

func (s stripe) Index() int      { return s.group }
func (s stripe) Position() int64 { return s.table.groups[s.group].first }
func (s stripe) Rows() int64     { return s.table.groups[s.group].rows }

// PrefetchMetadata implements [table.Stripe]: the footer has it all.
func (s stripe) PrefetchMetadata(context.Context, []table.Column) error { return nil }

// Metadata implements [table.Stripe].
func (s stripe) Metadata(ctx context.Context, path []*table.Column) (source.Metadata, error) {
	m := source.Metadata{Direct: len(path) == 1}
	l, ok := s.table.leafOf(path)
	if !ok {
		return m, nil
	}
	m.Facts = s.table.facts(s.group, &l)
	c, err := s.table.chunk(s.group, l.index)
	if err != nil {
		return m, s.table.placeIn(err, s.group, path[0].Arrow.Name)
	}
	m.Bloom = c.bloom(ctx, l.restore)
	if _, flat := s.table.scalarOf(s.table.nodes[path[0].ID].top); flat && m.Direct && c.isCoded() {
		m.DictionaryEntries = min(s.Rows(), max(c.dictionaryBytes()/4, 1))
	}
	return m, nil
}

// dictionaryBytes are the stored bytes of the dictionary. It has probably fewer entries than a quarter of them.
func (c *chunk) dictionaryBytes() int64 { return max(c.meta.DataPageOffset()-c.from, 0) }

// RawRowBytes implements [table.Stripe].
func (s stripe) RawRowBytes() (bytes int64, known bool) { return 0, false }

// ValueBytes implements [table.Stripe].
func (s stripe) ValueBytes(_ context.Context, c *table.Column) int64 {
	total := int64(0)
	for _, leaf := range s.leaves(c) {
		chunk := s.table.meta().RowGroups[s.group].Columns[leaf].MetaData
		size := chunk.TotalUncompressedSize
		if stats := chunk.SizeStatistics; stats != nil && stats.UnencodedByteArrayDataBytes != nil {
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
			c, err := s.table.chunk(s.group, leaf)
			if err != nil {
				return nil, s.table.placeIn(err, s.group, columns[i].Arrow.Name)
			}
			if parts == table.AllValues {
				add(c.from, c.end-c.from)
			} else if c.meta.HasDictionaryPage() {
				add(c.from, c.dictionaryBytes())
			}
			if at := c.meta.GetOffsetIndexLocation(); at != nil {
				add(at.Offset, int64(at.Length))
			}
			if at := c.meta.GetColumnIndexLocation(); at != nil && parts != table.ToOpen {
				add(at.Offset, int64(at.Length))
			}
		}
	}
	return ranges, nil
}

// Open implements [table.Stripe].
func (s stripe) Open(ctx context.Context, c *table.Column, keep bool, prefetched func() (storage.Prefetched, error)) (table.ColumnReader, error) {
	top := s.table.nodes[c.ID].top
	scalar, flat := s.table.scalarOf(top)
	if !flat || s.encrypted(s.table.arrow.Manifest.Fields[top].ColIndex) {
		return &assembled{stripe: s, column: s.table.readColumn(c), plain: c.Plain, name: c.Arrow.Name}, nil
	}
	chunk, err := s.table.chunk(s.group, s.table.arrow.Manifest.Fields[top].ColIndex)
	if err != nil {
		return nil, s.table.placeIn(err, s.group, c.Arrow.Name)
	}
	r := &flatReader{chunk: chunk, scalar: scalar, column: s.table.readColumn(c), plain: c.Plain, keep: keep}
	if chunk.meta.GetOffsetIndexLocation() == nil {
		return r, nil
	}
	if r.ahead, err = prefetched(); err != nil {
		return nil, err
	}
	_, err = chunk.layout(ctx, r.ahead)
	return r, chunk.place(err)
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
	chunk, err := s.table.chunk(s.group, l.index)
	if err != nil {
		return nil, s.table.placeIn(err, s.group, c.Arrow.Name)
	}
	pages, err := chunk.bounds(ctx, &l, have)
	return pages, chunk.place(err)
}

// Indexes implements [table.Stripe]: there are none.
func (s stripe) Indexes(context.Context, []table.FilterColumn, bool) ([]source.Index, error) {
	return nil, nil
}
