package layout

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/blockpack/internal/ranges"
)

// rewrite gives a file with other metadata in place of those of a file of the reference, in the order that the
// specification has: the header first.
func rewrite(t testing.TB, data []byte, version uint8, metadata []byte) []byte {
	t.Helper()
	m := metadataOf(t, data)
	last := m.Blocks[len(m.Blocks)-1]
	end := last.Offset + last.Length
	out := append([]byte{}, data[:end]...)
	out = AppendHeader(out, Header{Version: version, MetadataOffset: end + HeaderSize, MetadataLength: int64(len(metadata))})
	out = append(out, metadata...)
	return AppendFooter(out, Footer{HeaderOffset: end})
}

func metadataOf(t testing.TB, data []byte) *Metadata { return metadata(t, data) }

// oldBlockIndex appends a block index in another variant.
func oldBlockIndex(blocks []Block, version uint8, v Variant) []byte {
	dst := binary.LittleEndian.AppendUint32(nil, uint32(len(blocks)))
	for _, b := range blocks {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(b.Offset))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(b.Length))
		if version >= Version11 {
			dst = append(dst, b.Kind)
		}
		dst = binary.LittleEndian.AppendUint32(dst, uint32(b.Spans))
		dst = binary.LittleEndian.AppendUint64(dst, b.MinStart)
		dst = binary.LittleEndian.AppendUint64(dst, b.MaxStart)
		dst = append(dst, b.MinTrace[:]...)
		dst = append(dst, b.MaxTrace[:]...)
		if !v.NoNames {
			dst = append(dst, b.Names[:]...)
		}
		if !v.NoValueStats {
			dst = append(dst, 0)
		}
	}
	return dst
}

// withFlags is a range index whose columns have a flag behind the type.
func withFlags(t testing.TB, data []byte, blocks int) []byte {
	c := fields.Cursor{Data: data}
	x := ranges.Parse(&c, blocks, false)
	require.NoError(t, c.Err)
	out := bytes.Clone(data[:4])
	pos := 4
	for col := range x.All() {
		_, _, size := col.Sizes()
		head := 2 + len(col.Name) + 1
		out = append(out, data[pos:pos+head]...)
		out = append(out, 1)
		out = append(out, data[pos+head:pos+int(size)]...)
		pos += int(size)
	}
	require.Equal(t, len(data), pos)
	return out
}

// traceIndex2 is a trace index without rows.
func traceIndex2(t testing.TB, x *TraceIndex) []byte {
	dst := binary.LittleEndian.AppendUint32([]byte{TraceVersion2}, uint32(x.Len()))
	all := x.All()
	for id, list := range all {
		dst = append(dst, id[:]...)
		dst = binary.LittleEndian.AppendUint16(dst, uint16(len(list)))
		for _, b := range list {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(b.Block))
		}
	}
	return dst
}

// TestVariants reads files as other writers made them under the same version, and of version 10.
func TestVariants(t *testing.T) {
	data := reference(t, "ref_kinds")
	m := metadata(t, data)
	ranges, columns, traces := data[m.Sections[1]:m.Sections[2]], data[m.Sections[2]:m.Sections[3]], data[m.Sections[3]:m.Sections[4]]
	none := make([]byte, 4*len(m.Blocks))
	flags := withFlags(t, ranges, len(m.Blocks))
	rowless := traceIndex2(t, m.Traces)
	for name, c := range map[string]struct {
		version uint8
		variant Variant
		parts   [][]byte
	}{
		"11":           {11, Variant{}, [][]byte{ranges, columns, traces}},
		"10":           {10, Variant{}, [][]byte{ranges, columns, traces}},
		"2026-02-27":   {11, Variant{NoValueStats: true}, [][]byte{ranges, none, traces}},
		"2026-03-07":   {11, Variant{NoValueStats: true, NoNames: true}, [][]byte{ranges, none, rowless}},
		"10 bare":      {10, Variant{NoValueStats: true, NoNames: true}, [][]byte{ranges, none, traces}},
		"time index":   {11, Variant{NoValueStats: true}, [][]byte{ranges, none, traces, {0xed, 0xfe, 0x11, 0xc0, 1, 2, 3}}},
		"flags":        {11, Variant{BucketsFlag: true}, [][]byte{flags, columns, traces}},
		"flags, no vs": {11, Variant{NoValueStats: true, BucketsFlag: true}, [][]byte{flags, columns, traces}},
	} {
		t.Run(name, func(t *testing.T) {
			section := oldBlockIndex(m.Blocks, c.version, c.variant)
			for _, p := range c.parts {
				section = append(section, p...)
			}
			file := rewrite(t, data, c.version, section)
			f := open(t, file, 0)
			h := f.Header
			require.Equal(t, c.version, h.Version)
			got := f.Metadata
			require.Equal(t, c.variant, got.Variant)
			require.Len(t, got.Blocks, len(m.Blocks))
			for i, b := range m.Blocks {
				if c.variant.NoNames {
					b.Names = NameBloom{}
				}
				require.Equal(t, b, got.Blocks[i])
				require.True(t, got.MayHaveColumn(i, "any"))
				extents, err := got.Columns.Block(i)
				require.NoError(t, err)
				_, ok := got.Columns.Column(i, "trace:id")
				require.Equal(t, len(extents) > 0, ok)
			}
			require.Equal(t, m.Traces.Len(), got.Traces.Len())
			all := m.Traces.All()
			for id, list := range all {
				found := got.Traces.Lookup(nil, id)
				if got.Traces.HasRows() {
					require.Equal(t, list, found)
				} else {
					require.Len(t, found, len(list))
					require.Nil(t, found[0].Rows)
				}
			}
			regions, err := f.Regions(t.Context(), func(int) bool { return true })
			require.NoError(t, err)
			end := int64(0)
			for _, r := range regions {
				require.Equal(t, end, r.Offset)
				end += r.Size
				if r.Kind != RegionData && r.Kind != RegionTimeIndex {
					bytes, err := f.Read(t.Context(), r)
					require.NoError(t, err)
					parts := f.Parts(r, bytes, 1<<20)
					checkParts(t, r.Name, parts, len(bytes))
				}
			}
			require.Equal(t, int64(len(file)), end)
		})
	}
}

// TestAmbiguous reads metadata that parse in two variants.
func TestAmbiguous(t *testing.T) {
	// With value stats, of which the block has 0, all numbers behind it are a byte farther on. It has 256 columns or 1. In
	// the second reading, the name of the second column is a trace index of 156 traces.
	meta := oldBlockIndex([]Block{{Length: 4, Spans: 1}}, Version11, Variant{NoValueStats: true})
	meta = append(meta, 0, 0, 0, 0) // no ranges
	const nameLength, traces = 0x103, 156
	meta = binary.LittleEndian.AppendUint32(meta, 256)
	meta = append(meta, make([]byte, 10)...)
	meta = binary.LittleEndian.AppendUint16(meta, nameLength)
	name := make([]byte, nameLength)
	name[0] = traces
	meta = append(meta, name...)
	meta = append(meta, make([]byte, 8+254*10)...)
	meta = append(meta, TraceVersion, 0, 0, 0, 0)

	h := Header{Version: Version11, MetadataOffset: 4 + HeaderSize, MetadataLength: int64(len(meta))}
	all, err := parseVariants(meta, h, 4)
	require.NoError(t, err)
	require.Len(t, all, 2)
	for _, magic := range []uint32{Magic, 0} { // neither, in a damaged file
		data := binary.LittleEndian.AppendUint32(nil, magic)
		data = append(AppendHeader(data, h), meta...)
		got := metadata(t, AppendFooter(data, Footer{HeaderOffset: 4}))
		require.Equal(t, Variant{}, got.Variant)
		require.Equal(t, traces, got.Traces.Len())
	}

	// What tells variants of several blocks apart.
	m := &Metadata{Blocks: []Block{{Offset: 1}, {Offset: 2}}}
	f := &File{r: reader(t, []byte{0, 0xa1, 0xfe, 0x11, 0xc0, 0})}
	for i, want := range []bool{false, true, false} { // a block without bytes, a right one, and a wrong one behind it
		ok, err := f.haveMagic(t.Context(), m.Blocks[:max(i, 1)])
		require.NoError(t, err)
		require.Equal(t, want, ok)
		m.Blocks[0].Length, m.Blocks[1].Length = 4, 4
	}
}

func text(s string) column.Value { return column.Value{Type: column.String, Data: []byte(s)} }

// appendValueStats are the bounds of columns of type String, Int64, Float64 or Bool as stored.
func appendValueStats(stats []ValueStats) ValueStatsList {
	dst := ValueStatsList{byte(len(stats))}
	for _, s := range stats {
		dst = append(append(dst, byte(len(s.Name)), 0), s.Name...)
		if !s.Known {
			dst = append(dst, 0)
			continue
		}
		dst = append(dst, byte(slices.Index(valueStatsTypes[1:], s.Min.Type)+1))
		dst = s.Max.Append(s.Min.Append(dst))
	}
	return dst
}

// TestValueStats writes and reads the value stats of blocks.
func TestValueStats(t *testing.T) {
	num := func(typ column.Type, n uint64) column.Value { return column.Value{Type: typ, Bits: n} }
	stats := []ValueStats{
		{Name: "a", Known: true, Min: text("x"), Max: text("y")},
		{Name: "b", Known: true, Min: num(column.Int64, 1<<63), Max: num(column.Int64, 5)},
		{Name: "c", Known: true, Min: num(column.Float64, 0), Max: num(column.Float64, 0)},
		{Name: "d", Known: true, Min: num(column.Bool, 0), Max: num(column.Bool, 1)},
	}
	list := appendValueStats(append(stats, ValueStats{Name: "e"}))
	blocks := []Block{{Length: 7, Values: list}, {Offset: 7, Length: 3}}
	data := AppendBlockIndex(nil, blocks)
	c := &cursor{fields.Cursor{Data: data}}
	require.Equal(t, blocks, c.blockIndex(Version11, Variant{}, 10))
	require.NoError(t, c.Err)
	require.Zero(t, c.Left())
	var got []ValueStats
	for s := range blocks[0].Values.All() {
		got = append(got, s)
	}
	require.Equal(t, append(stats, ValueStats{}), got)
	for range blocks[1].Values.All() {
		t.Fatal("stats of nothing")
	}
	c = &cursor{fields.Cursor{Data: []byte{1, 1, 0, 'a', 3, 1, 0, 0, 0, 0, 0, 0xf8, 0x7f, 1, 0, 0, 0, 0, 0, 0xf8, 0x7f}}}
	nan := c.valueStats()
	require.NoError(t, c.Err)
	for s := range nan.All() {
		require.False(t, s.Known)
	}
}

// TestBlockBounds checks what blocks may have.
func TestBlockBounds(t *testing.T) {
	b := Block{}
	require.True(t, b.MayStart(5, 6), "zeros are no bounds")
	require.True(t, b.MayHaveTrace(TraceID{5}))
	b = Block{MinStart: 10, MaxStart: 20, MinTrace: TraceID{1}, MaxTrace: TraceID{2}}
	for _, c := range []struct {
		from, to uint64
		want     bool
	}{{0, 9, false}, {0, 10, true}, {20, 30, true}, {21, 30, false}, {15, 15, true}} {
		require.Equal(t, c.want, b.MayStart(c.from, c.to))
	}
	require.True(t, b.MayHaveTrace(TraceID{1}))
	require.True(t, b.MayHaveTrace(TraceID{2}))
	require.False(t, b.MayHaveTrace(TraceID{2, 1}))
	require.False(t, b.MayHaveTrace(TraceID{0, 1}))
}
