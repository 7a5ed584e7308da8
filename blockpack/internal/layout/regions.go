package layout

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/blockpack/internal/ranges"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// Region is a range of bytes of a file with one meaning.
type Region struct {
	Offset, Size int64
	Name         string
	Kind         RegionKind
	Block        int // of those in a block, else -1
	Column       int // of stats and data: the number in the head of the block, else -1
	head         *BlockHead
}

// RegionKind is the structure of a region.
type RegionKind uint8

// The structures.
const (
	RegionUnused      RegionKind = iota // no structure refers to the bytes
	RegionBlockHead                     // [BlockHead]
	RegionStats                         // [ColumnStats]
	RegionData                          // of a column, by package column
	RegionTraceTable                    // [TraceTable]
	RegionBlock                         // a block that cannot be read, or is none of spans
	RegionHeader                        // [Header]
	RegionBlockIndex                    // [Metadata.Blocks]
	RegionRanges                        // [ranges.Index]
	RegionColumnIndex                   // [ColumnIndex]
	RegionTraceIndex                    // [TraceIndex]
	RegionTimeIndex                     // an index of later files, which is ignored
	RegionCompact                       // [CompactIndex]
	RegionSummary                       // what is said of whole traces, a block as bytes
	RegionFooter                        // [Footer]
)

// Regions gives the regions of a file in order, which together are all its bytes. A region within another one, as in
// damaged files, follows it. divide says which blocks are divided: for that, their heads are read.
func (f *File) Regions(ctx context.Context, divide func(block int) bool) ([]Region, error) {
	h, m := f.Header, f.Metadata
	l := regions{file: f}
	for i := range m.Blocks {
		if err := l.block(ctx, i, divide(i)); err != nil {
			return nil, err
		}
	}
	l.add(f.Footer.HeaderOffset, HeaderSize, RegionHeader, "file header")
	for i, name := range []string{"block index", "range index", "column index", "trace index"} {
		l.add(m.Sections[i], m.Sections[i+1]-m.Sections[i], RegionBlockIndex+RegionKind(i), name)
	}
	if end := h.MetadataOffset + h.MetadataLength; end > m.Sections[4] {
		l.add(m.Sections[4], end-m.Sections[4], RegionTimeIndex, "time index")
	}
	for _, kind := range ranges.SectionNames {
		sections, err := m.Ranges.Sections(kind.Column)
		if err != nil {
			return nil, err
		}
		for _, s := range sections {
			l.add(s.Offset, s.Length, RegionSummary, kind.Name)
		}
	}
	if f.Footer.CompactLength > 0 {
		l.add(f.Footer.CompactOffset, f.Footer.CompactLength, RegionCompact, "compact index")
	}
	l.add(f.Size-FooterSize, FooterSize, RegionFooter, "footer")
	return l.whole(), nil
}

type regions struct {
	file *File
	list []Region
}

func (l *regions) add(offset, size int64, kind RegionKind, name string) {
	l.list = append(l.list, Region{Offset: offset, Size: size, Name: name, Kind: kind, Block: -1, Column: -1})
}

// block adds the regions of a block.
func (l *regions) block(ctx context.Context, i int, divide bool) error {
	b := &l.file.Metadata.Blocks[i]
	name := fmt.Sprintf("block %d", i)
	var h *BlockHead
	if divide && b.HasSpans() {
		var err error
		if h, err = l.file.BlockHead(ctx, i); err != nil && (ctx.Err() != nil || !fault.Is(err)) {
			return err
		}
	}
	if h == nil {
		l.add(b.Offset, b.Length, RegionBlock, name)
		l.list[len(l.list)-1].Block = i
		return nil
	}
	start := len(l.list)
	l.add(b.Offset, h.Size, RegionBlockHead, name+", head")
	for k := range h.Columns {
		c := &h.Columns[k]
		text := name + ", " + fields.Quote([]byte(c.Name))
		if c.StatsLength > 0 {
			l.add(b.Offset+c.StatsOffset, c.StatsLength, RegionStats, text+", stats")
			l.list[len(l.list)-1].Column = k
		}
		if c.Length > 0 {
			l.add(b.Offset+c.Offset, c.Length, RegionData, text)
			l.list[len(l.list)-1].Column = k
		}
	}
	if at, n := h.TraceTable(); n > 0 {
		l.add(b.Offset+at, n, RegionTraceTable, name+", trace table")
	}
	for k := range l.list[start:] {
		l.list[start+k].Block, l.list[start+k].head = i, h
	}
	return nil
}

// whole gives the regions in order, with those of unused bytes between them.
func (l *regions) whole() []Region {
	slices.SortStableFunc(l.list, func(a, b Region) int { return cmp.Compare(a.Offset, b.Offset) })
	var out []Region
	end := int64(0)
	unused := func(to int64) {
		if to > end {
			out = append(out, Region{Offset: end, Size: to - end, Name: "unused", Block: -1, Column: -1})
		}
	}
	for _, r := range l.list {
		if r.Size == 0 {
			continue
		}
		unused(r.Offset)
		out = append(out, r)
		end = max(end, r.Offset+r.Size)
	}
	unused(l.file.Size)
	return out
}

// BlockHead reads the head of a block.
func (f *File) BlockHead(ctx context.Context, block int) (*BlockHead, error) {
	b := &f.Metadata.Blocks[block]
	h, _, err := ReadBlockHead(b, 4<<10, func(n int64) ([]byte, error) { return storage.ReadRange(ctx, f.r, b.Offset, n) })
	return h, fault.Of(fault.InBlock(err, block, b.Offset), f.r.Name())
}

// Read gives the bytes of a region.
func (f *File) Read(ctx context.Context, r Region) ([]byte, error) {
	return storage.ReadRange(ctx, f.r, r.Offset, r.Size)
}

// ReadBlock gives bytes of a block, from an offset in it.
func (f *File) ReadBlock(ctx context.Context, block int, offset, n int64) ([]byte, error) {
	return storage.ReadRange(ctx, f.r, f.Metadata.Blocks[block].Offset+offset, n)
}

// ColumnName is the name of the column that the region belongs to, if it belongs to one.
func (r Region) ColumnName() (name string, ok bool) {
	if r.Column < 0 {
		return "", false
	}
	return r.head.Columns[r.Column].Name, true
}

// Parts lists the fields of a region, up to a number. After bytes that are no such structure it gives those in front
// of them.
func (f *File) Parts(r Region, data []byte, limit int) []fields.Part {
	m := f.Metadata
	p := &fields.Parts{Limit: limit}
	c := &cursor{fields.Cursor{Data: data, Base: r.Offset, Parts: p}}
	switch r.Kind {
	case RegionData:
		return column.Parts(data, r.head.Columns[r.Column].Type, r.head.Spans, limit)
	case RegionBlockHead:
		c.blockHead(m.Blocks[r.Block].Length)
	case RegionSummary:
		if head := c.blockHead(r.Size); head != nil {
			for _, col := range head.Columns {
				c.Take(col.Name, int(col.Length))
				c.Note(int(col.Length), col.Name, "")
			}
		}
	case RegionStats:
		c.columnStats(r.head.Columns[r.Column].Type)
	case RegionTraceTable:
		_, _ = parseTraceTable(data, r.head, p)
	case RegionHeader:
		_, _ = parseHeader(data, r.Offset, f.Size, p)
	case RegionBlockIndex:
		c.blockIndex(f.Header.Version, m.Variant, f.dataEnd(f.Header))
	case RegionRanges:
		ranges.Parse(&c.Cursor, len(m.Blocks), m.Variant.BucketsFlag)
	case RegionColumnIndex:
		c.columnIndex(len(m.Blocks))
	case RegionTraceIndex:
		c.traceIndex(len(m.Blocks))
	case RegionCompact:
		_, _ = parseCompact(c, f.Size)
	case RegionFooter:
		_, _ = parseFooter(data, f.Size, p)
	}
	return p.List
}
