package layout

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"sync/atomic"

	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/blockpack/internal/ranges"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Variant is one of the layouts of metadata. Versions do not tell them apart.
type Variant struct {
	NoValueStats bool // entries of the block index have no value stats, as from 2026-02-27 on
	NoNames      bool // nor a Bloom filter of names, as from 2026-03-07 on
	BucketsFlag  bool // columns of the range index have a byte behind their type, as in the diagram of the specification
}

// variants are tried in this order.
var variants = []Variant{
	{},
	{NoValueStats: true},
	{NoValueStats: true, NoNames: true},
}

func (v Variant) String() string {
	s := "value stats"
	if v.NoValueStats {
		s = "no value stats"
	}
	if v.NoNames {
		s = "no value stats, no names"
	}
	if v.BucketsFlag {
		s += ", flags of buckets"
	}
	return s
}

// Metadata is the metadata of a file: four structures without gaps.
//
//	┃ block index ┃ range index ┃ column index ┃ trace index ┃
//
// Files of 2026-03 may have another index behind them, which begins with 0xC011FEED and is ignored.
type Metadata struct {
	Variant Variant
	Blocks  []Block
	Ranges  *ranges.Index
	Columns *ColumnIndex
	Traces  *TraceIndex
	// TracesComplete is false if the trace index cannot refer to all blocks and rows, or is damaged: a trace is then to be looked
	// for in all blocks that [Block.MayHaveTrace] says.
	TracesComplete bool
	TracesSound    bool // the trace index has a checksum, and it is right
	// Sections are the offsets in the file of the four structures, and of the end of the last.
	Sections [5]int64

	bloom atomic.Uint32 // bloomHashes of the file
}

// FirstRows are the rows with which the blocks begin, and the number of all rows. Blocks of other kinds than spans have none.
func (m *Metadata) FirstRows() []int64 {
	rows := make([]int64, len(m.Blocks)+1)
	for i := range m.Blocks {
		if rows[i+1] = rows[i]; m.Blocks[i].HasSpans() {
			rows[i+1] += int64(m.Blocks[i].Spans)
		}
	}
	return rows
}

// TraceSum is the checksum of a trace index.
func TraceSum(index []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(index, castagnoli))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const timeIndexMagic = 0xC011FEED

// parseVariants gives all ways to read the metadata of a file with header h whose blocks end before dataEnd, the usual one first.
func parseVariants(data []byte, h Header, dataEnd int64) (all []*Metadata, err error) {
	for _, v := range variants {
		m, verr := parseVariant(data, h, dataEnd, v)
		if verr != nil {
			v.BucketsFlag = true
			var ferr error
			if m, ferr = parseVariant(data, h, dataEnd, v); ferr != nil {
				err = cmp.Or(err, verr)
				continue
			}
		}
		all = append(all, m)
		if len(m.Blocks) == 0 {
			break // the variants are the same
		}
	}
	if len(all) == 0 {
		return nil, fault.In(err, "metadata", h.MetadataOffset)
	}
	return all, nil
}

func parseVariant(data []byte, h Header, dataEnd int64, v Variant) (*Metadata, error) {
	c := &cursor{fields.Cursor{Data: data, Base: h.MetadataOffset}}
	m := &Metadata{Variant: v}
	m.Sections[0] = c.Offset()
	m.Blocks = c.blockIndex(h.Version, v, dataEnd)
	m.Sections[1] = c.Offset()
	m.Ranges = ranges.Parse(&c.Cursor, len(m.Blocks), v.BucketsFlag)
	m.Sections[2] = c.Offset()
	m.Columns = c.columnIndex(len(m.Blocks))
	m.Sections[3] = c.Offset()
	m.Traces = c.traceIndex(len(m.Blocks))
	m.Sections[4] = c.Offset()
	if c.Err == nil && c.Left() > 0 && (c.Left() < 4 || binary.LittleEndian.Uint32(data[c.Pos:]) != timeIndexMagic) {
		c.Fail("", fault.Corruptf("%d bytes behind the trace index", c.Left()))
	}
	if c.Err != nil {
		return nil, c.Err
	}
	sum := m.Ranges.Sum() // "" in older files and those of other writers: the index is not read for it
	m.TracesSound = sum != "" && sum == TraceSum(data[m.Sections[3]-m.Sections[0]:m.Sections[4]-m.Sections[0]])
	m.TracesComplete = (m.TracesSound || sum == "") && len(m.Blocks) <= MaxIndexed && !slices.ContainsFunc(m.Blocks, func(b Block) bool { return b.Spans > MaxIndexed })
	if m.Ranges.Mark() != "" {
		m.bloom.Store(uint32(bloomMurmur))
	}
	return m, nil
}
