package layout

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/fields"
)

// TestBlockHead appends random heads and reads them with any beginning of the block.
func TestBlockHead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "columns")
		columns := make([]BlockColumn, n)
		stats := make([][]byte, n)
		size := int64(0)
		for i := range columns {
			columns[i] = BlockColumn{
				Name:   rapid.StringN(0, 200, 500).Draw(t, "name"),
				Type:   column.Type(rapid.IntRange(0, 5).Draw(t, "type")),
				Length: rapid.Int64Range(0, 50).Draw(t, "length"),
			}
			stats[i] = make([]byte, rapid.IntRange(0, 9).Draw(t, "stats"))
			size += columns[i].Length
		}
		spans := rapid.IntRange(0, MaxSpans).Draw(t, "spans")
		data, err := AppendBlockHead(nil, spans, columns, stats)
		require.NoError(t, err)
		length := int64(len(data)) + size
		end := int64(len(data))
		data = append(data, make([]byte, size)...)
		given := rapid.Int64Range(0, length).Draw(t, "given")
		for rounds := 0; ; rounds++ {
			h, need, err := ParseBlockHead(data[:given], 1000, length)
			require.NoError(t, err)
			if h == nil {
				require.Greater(t, need, given)
				require.Less(t, rounds, 60)
				given = need
				continue
			}
			require.Equal(t, spans, h.Spans)
			require.True(t, slices.Equal(columns, h.Columns))
			require.LessOrEqual(t, h.StatsEnd(), end)
			for i, c := range columns {
				k := h.Column(c.Name, c.Type)
				require.LessOrEqual(t, k, i)
				require.Equal(t, c.Name, h.Columns[k].Name)
			}
			require.Equal(t, -1, h.Column("no such column", column.String))
			return
		}
	})
}

// TestBlockHeadLimits refuses heads that no reader takes.
func TestBlockHeadLimits(t *testing.T) {
	_, err := AppendBlockHead(nil, MaxSpans+1, nil, nil)
	require.ErrorContains(t, err, "limit")
	_, err = AppendBlockHead(nil, 1, []BlockColumn{{Name: strings.Repeat("x", column.MaxNameLen+1)}}, [][]byte{nil})
	require.ErrorContains(t, err, "limit")
	_, err = AppendBlockHead(nil, 1, []BlockColumn{{Length: MaxBlockBytes}}, [][]byte{nil})
	require.ErrorContains(t, err, "limit")
	_, err = AppendBlockHead(nil, 1, make([]BlockColumn, MaxColumns+1), make([][]byte, MaxColumns+1))
	require.ErrorContains(t, err, "limit")

	head, err := AppendBlockHead(nil, 5, []BlockColumn{{Name: "a", Length: 2}}, [][]byte{{0}})
	require.NoError(t, err)
	block := append(head, 2, 1)
	for name, c := range map[string]struct {
		at    int
		bytes []byte
		text  string
	}{
		"magic":       {0, []byte{1}, "magic"},
		"version":     {4, []byte{12}, "it is 12, but this program knows only 10 and 11 (block head/version, offset 104)"},
		"spans":       {8, []byte{0x41, 0x42, 0x0f}, "1000001 is more than the limit of 1000000 (block head/span count, offset 108)"},
		"columns":     {12, []byte{0x11, 0x27}, "column count"},
		"more":        {12, []byte{2}, "2 in"},
		"traces":      {16, []byte{0x41, 0x42, 0x0f}, "trace count"},
		"table":       {20, []byte{0xff}, "trace table length"},
		"name":        {24, []byte{0xff, 0xff}, "block head/column 0/name"},
		"type":        {27, []byte{12}, "12 is no type of columns (block head/column 0/type, offset 127)"},
		"data":        {28, []byte{0xff}, "column 0/data"},
		"data length": {36, []byte{3}, "column 0/data"},
		"data 64":     {35, []byte{0xff}, "column 0/data"},
		"stats":       {44, []byte{0xff}, "column 0/stats"},
	} {
		b := slices.Clone(block)
		copy(b[c.at:], c.bytes)
		_, _, err := ParseBlockHead(b, 100, int64(len(b)))
		require.ErrorContains(t, err, c.text, name)
	}
}

// TestStats reads and writes the stats of columns of all types.
func TestStats(t *testing.T) {
	f := math.Float64bits
	for _, c := range []struct {
		t      column.Type
		lo, hi column.Value
		known  bool
	}{
		{column.String, text("a"), text("b"), true},
		{column.RangeString, text("b"), text("a"), false},
		{column.Bytes, column.Value{Type: column.Bytes, Data: []byte{}}, column.Value{Type: column.Bytes, Data: []byte{1}}, true},
		{column.RangeInt64, column.Value{Type: column.Int64, Bits: 1 << 63}, column.Value{Type: column.Int64, Bits: 1}, true},
		{column.Uint64, column.Value{Type: column.Uint64, Bits: 1 << 63}, column.Value{Type: column.Uint64, Bits: 1}, false},
		{column.Float64, column.Value{Type: column.Float64, Bits: f(-1)}, column.Value{Type: column.Float64, Bits: f(1)}, true},
		{column.Float64, column.Value{Type: column.Float64, Bits: f(0)}, column.Value{Type: column.Float64, Bits: f(math.Copysign(0, -1))}, true},
		{column.Float64, column.Value{Type: column.Float64, Bits: f(math.NaN())}, column.Value{Type: column.Float64, Bits: f(1)}, false},
		{column.Bool, column.Value{Type: column.Bool, Bits: 0}, column.Value{Type: column.Bool, Bits: 1}, true},
	} {
		data := AppendColumnStats(nil, ColumnStats{Known: true, Min: c.lo, Max: c.hi})
		s, err := ParseColumnStats(data, c.t)
		require.NoError(t, err)
		require.Equal(t, ColumnStats{Known: c.known, Min: c.lo, Max: c.hi}, s)
		for n := range len(data) {
			_, err := ParseColumnStats(data[:n], c.t)
			require.Equal(t, n > 0, err != nil)
		}
		_, err = ParseColumnStats(append(data, 0), c.t)
		require.Error(t, err)
	}
	require.Equal(t, []byte{0}, AppendColumnStats(nil, ColumnStats{Empty: true}))
	require.Empty(t, AppendColumnStats(nil, ColumnStats{}))
	s, err := ParseColumnStats([]byte{0}, column.String)
	require.NoError(t, err)
	require.True(t, s.Empty)
	_, err = ParseColumnStats([]byte{2}, column.String)
	require.Error(t, err)
	s, err = ParseColumnStats([]byte{1, 0, 7}, column.Bool)
	require.NoError(t, err)
	require.Equal(t, uint64(1), s.Max.Bits, "any other byte is true")
}

func appendTraceTable(traces int, columns []TraceTableColumn) []byte {
	dst := binary.LittleEndian.AppendUint32(nil, uint32(traces))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(columns)))
	for _, c := range columns {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(len(c.Name)))
		dst = append(dst, c.Name...)
		dst = append(dst, byte(c.Type))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(c.Data)))
		dst = append(dst, c.Data...)
	}
	return dst
}

// TestTraceTableOfColumns reads a table as specified, and gives each row the values of its trace.
func TestTraceTableOfColumns(t *testing.T) {
	columns := []TraceTableColumn{{Name: "resource.a", Type: column.Int64, Data: []byte{1, 2, 3}}, {Name: "trace:id", Type: column.Bytes, Data: []byte{4}}}
	data := appendTraceTable(3, columns)
	h := &BlockHead{Spans: 6, Traces: 3, TraceTableLength: int64(len(data)), Length: int64(len(data)) + 500}
	table, err := ParseTraceTable(data, h)
	require.NoError(t, err)
	require.Nil(t, table.Traces)
	require.Len(t, table.Columns, 2)
	require.Equal(t, columns[0].Data, table.Columns[0].Data)
	require.Equal(t, int64(500+8+2+10+1+4), table.Columns[0].Offset)
	for n := range len(data) {
		_, err := ParseTraceTable(data[:n], h)
		require.Error(t, err)
	}
	data[0] = 4
	_, err = ParseTraceTable(data, h)
	require.ErrorContains(t, err, "trace table/trace count")

	index := &column.Column{Name: "trace.index", Type: column.Uint64, Rows: 6, Present: []byte{0b101111}, Values: column.Values{Numbers: []uint64{2, 0, 0, 1, 2}}}
	rows, err := TraceOfRow(h, index, nil)
	require.NoError(t, err)
	require.Equal(t, []uint32{2, 0, 0, 1, noTrace, 2}, rows)
	ids := &column.Column{Name: "trace:id", Type: column.Bytes, Rows: 6, Codes: []uint32{1, 0, 0, 1, 1, 2}, Values: column.Values{Offsets: []uint32{0, 1, 2, 3}, Data: []byte("abc")}}
	byID, err := TraceOfRow(h, nil, ids)
	require.NoError(t, err)
	require.Equal(t, []uint32{0, 1, 1, 0, 0, 2}, byID)
	_, err = TraceOfRow(h, nil, nil)
	require.Error(t, err)
	index.Values.Numbers[0] = 3
	_, err = TraceOfRow(h, index, nil)
	require.ErrorContains(t, err, "row 0 is of trace 3, there are 3")
	_, err = TraceOfRow(&BlockHead{Spans: 5, Traces: 3}, index, nil)
	require.Error(t, err)

	for _, coded := range []bool{false, true} {
		c := &column.Column{Name: "resource.a", Type: column.Int64, Rows: 3, Present: []byte{0b101}, Values: column.Values{Numbers: []uint64{10, 12}}}
		if coded {
			c.Codes = []uint32{0, 1}
		}
		out := Expand(c, rows)
		require.Equal(t, 6, out.Rows)
		require.Equal(t, []byte{0b100111}, out.Present)
		require.Equal(t, []uint32{1, 0, 0, 1}, out.Codes)
		require.Equal(t, c.Values, out.Values)
	}
}

// TestTraceTables tells the two kinds apart.
func TestTraceTables(t *testing.T) {
	row := func(id byte, rows ...uint16) []byte {
		b := make([]byte, 16)
		b[0] = id
		b = binary.LittleEndian.AppendUint16(b, uint16(len(rows)))
		for _, r := range rows {
			b = binary.LittleEndian.AppendUint16(b, r)
		}
		return b
	}
	data := append(row(1, 0, 2), row(2, 1)...)
	h := &BlockHead{Spans: 3, Traces: 2, Length: int64(len(data))}
	table, err := ParseTraceTable(data, h)
	require.NoError(t, err)
	require.Len(t, table.Traces, 2)
	require.Equal(t, "0, 2", table.Traces[0].Rows.String())
	for _, spans := range []int{2, 4} {
		_, err := ParseTraceTable(data, &BlockHead{Spans: spans, Traces: 2, Length: int64(len(data))})
		require.Error(t, err, "rows of another block")
	}
}

// TestTraceIndexBuilder builds random indexes, and finds what is in them.
func TestTraceIndexBuilder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := &TraceIndexBuilder{}
		want := map[TraceID]map[int][]int{}
		blocks := rapid.IntRange(1, 10).Draw(t, "blocks")
		for block := range blocks {
			for row := range rapid.IntRange(0, 20).Draw(t, "rows") {
				id := TraceID{0: byte(rapid.IntRange(0, 3).Draw(t, "id")), 15: byte(rapid.IntRange(0, 3).Draw(t, "id"))}
				b.Add(block, row, id)
				if want[id] == nil {
					want[id] = map[int][]int{}
				}
				want[id][block] = append(want[id][block], row)
			}
		}
		data, err := b.Append(nil)
		require.NoError(t, err)
		compact, err := AppendCompact(nil, make([]Block, blocks), b)
		require.NoError(t, err)
		c := &cursor{fields.Cursor{Data: data}}
		x := c.traceIndex(blocks)
		require.NoError(t, c.Err)
		require.Zero(t, c.Left())
		y, err := ParseCompact(compact, 0, 1<<20)
		require.NoError(t, err)
		for _, x := range []*TraceIndex{x, y.Traces} {
			require.Equal(t, len(want), x.Len())
			require.Equal(t, len(want), len(b.ids))
			for id, lists := range want {
				got := x.Lookup(nil, id)
				require.Len(t, got, len(lists))
				last := -1
				for _, tb := range got {
					require.Greater(t, tb.Block, last)
					last = tb.Block
					var rows []int
					for i := range tb.Rows.Len() {
						rows = append(rows, tb.Rows.At(i))
					}
					require.Equal(t, lists[tb.Block], rows)
				}
			}
			got := x.Lookup(nil, TraceID{9})
			require.Empty(t, got)
		}
	})
}

// TestTraceIndexOrder reads indexes in any order, with traces and blocks twice.
func TestTraceIndexOrder(t *testing.T) {
	var data []byte
	u16 := func(list ...uint16) {
		for _, n := range list {
			data = binary.LittleEndian.AppendUint16(data, n)
		}
	}
	data = append(data, TraceVersion, 3, 0, 0, 0)
	data = append(data, append([]byte{2}, make([]byte, 15)...)...)
	u16(2, 1, 2, 7, 3, 0, 1, 9) // rows 7, 3 of block 1; 9 of block 0
	data = append(data, append([]byte{1}, make([]byte, 15)...)...)
	u16(0)
	data = append(data, append([]byte{2}, make([]byte, 15)...)...)
	u16(1, 1, 2, 3, 5) // rows 3, 5 of block 1
	c := &cursor{fields.Cursor{Data: data}}
	x := c.traceIndex(2)
	require.NoError(t, c.Err)
	got := x.Lookup([]TraceBlock{{Block: 9}}, TraceID{2})
	require.Len(t, got, 3)
	require.Equal(t, 9, got[0].Block)
	require.Equal(t, "0: 9", fmt.Sprint(got[1].Block, ": ", got[1].Rows)[:4])
	require.Equal(t, "3, 5, 7", got[2].Rows.String())
	got = x.Lookup(nil, TraceID{1})
	require.Empty(t, got)

	c = &cursor{fields.Cursor{Data: data}}
	require.Nil(t, c.traceIndex(1))
	require.ErrorContains(t, c.Err, "trace index/trace 0/block id")

	b := &TraceIndexBuilder{}
	b.Add(0, MaxIndexed, TraceID{})
	_, err := b.Append(nil)
	require.ErrorContains(t, err, "limit")
}

func BenchmarkTraceLookup(b *testing.B) {
	builder := &TraceIndexBuilder{}
	id := func(n int) (id TraceID) {
		binary.LittleEndian.PutUint64(id[:], uint64(n)*0x9E3779B97F4A7C15)
		return id
	}
	const traces, spans = 27_000, 37
	for row := range traces * spans {
		builder.Add(row/8000, row%8000, id(row%traces))
	}
	data, err := AppendCompact(nil, make([]Block, 1+traces*spans/8000), builder)
	require.NoError(b, err)
	b.Run("first", func(b *testing.B) {
		for range b.N {
			x, err := ParseCompact(data, 0, 1<<40)
			require.NoError(b, err)
			if len(x.Traces.Lookup(nil, id(5))) == 0 {
				b.Fatal("not found")
			}
		}
	})
	b.Run("next", func(b *testing.B) {
		x, err := ParseCompact(data, 0, 1<<40)
		require.NoError(b, err)
		var dst []TraceBlock
		b.ReportAllocs()
		for i := range b.N {
			if dst = x.Traces.Lookup(dst[:0], id(i%traces)); len(dst) == 0 {
				b.Fatal("not found")
			}
		}
	})
}
