package blockpack_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/column/encode"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/read"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/scan"
)

// stringsOf is a column of strings or bytes. Empty ones are null.
func stringsOf(name string, t column.Type, values ...string) *column.Column {
	c := &column.Column{Name: name, Type: t, Rows: len(values), Present: make([]byte, (len(values)+7)/8)}
	c.Values.Offsets = []uint32{0}
	for i, v := range values {
		if v == "" {
			continue
		}
		c.Present[i/8] |= 1 << (i % 8)
		c.Values.Data = append(c.Values.Data, v...)
		c.Values.Offsets = append(c.Values.Offsets, uint32(len(c.Values.Data)))
	}
	return c
}

func encoded(t testing.TB, c *column.Column) []byte {
	t.Helper()
	data, _, err := new(encode.Encoder).Append(nil, c)
	require.NoError(t, err)
	return data
}

// blockOf makes a block of columns, and of columns of a trace table.
func blockOf(t testing.TB, spans int, columns []*column.Column, traces int, table []*column.Column) []byte {
	t.Helper()
	var metadata []layout.BlockColumn
	var data []byte
	for _, c := range columns {
		b := encoded(t, c)
		metadata = append(metadata, layout.BlockColumn{Name: c.Name, Type: c.Type, Length: int64(len(b))})
		data = append(data, b...)
	}
	for _, c := range table {
		metadata = append(metadata, layout.BlockColumn{Name: c.Name, Type: c.Type})
	}
	block, err := layout.AppendBlockHead(nil, spans, metadata, make([][]byte, len(metadata)))
	require.NoError(t, err)
	block = append(block, data...)
	if traces == 0 {
		return block
	}
	at := len(block)
	block = binary.LittleEndian.AppendUint32(block, uint32(traces))
	block = binary.LittleEndian.AppendUint32(block, uint32(len(table)))
	for _, c := range table {
		b := encoded(t, c)
		block = binary.LittleEndian.AppendUint16(block, uint16(len(c.Name)))
		block = append(append(block, c.Name...), byte(c.Type))
		block = append(binary.LittleEndian.AppendUint32(block, uint32(len(b))), b...)
	}
	binary.LittleEndian.PutUint32(block[16:], uint32(traces))
	binary.LittleEndian.PutUint32(block[20:], uint32(len(block)-at))
	return block
}

// fileOf makes a file of blocks without a range index and a column index. traceIndex is that of the metadata.
func fileOf(t testing.TB, spans []int, kinds []byte, blocks [][]byte, traceIndex []byte) []byte {
	t.Helper()
	var file []byte
	var index []layout.Block
	for i, b := range blocks {
		index = append(index, layout.Block{Offset: int64(len(file)), Length: int64(len(b)), Spans: spans[i], MaxTrace: layout.TraceID{0xff}})
		file = append(file, b...)
	}
	metadata := layout.AppendBlockIndex(nil, index)
	for i, k := range kinds {
		metadata[4+i*102+16] = k
	}
	metadata = append(metadata, 0, 0, 0, 0)                                                   // range index
	metadata = layout.AppendColumnIndex(metadata, make([][]layout.ColumnExtent, len(blocks))) // without extents
	metadata = append(metadata, traceIndex...)
	f := layout.Footer{HeaderOffset: int64(len(file))}
	h := layout.Header{Version: layout.Version11, MetadataOffset: f.HeaderOffset + layout.HeaderSize, MetadataLength: int64(len(metadata))}
	return layout.AppendFooter(append(layout.AppendHeader(file, h), metadata...), f)
}

func id16(k byte) string { return string(slices.Repeat([]byte{k}, 16)) }

var noTraceIndex = []byte{1, 0, 0, 0, 0}

// Columns of a trace table have the value of the trace in each of its spans: by the column trace.index or, without it, by the order
// of ids.
func TestTraceTables(t *testing.T) {
	ids := stringsOf("trace:id", column.Bytes, id16(1), id16(2), id16(1), id16(3))
	table := []*column.Column{stringsOf("resource.service.name", column.String, "one", "", "three")}
	index := &column.Column{Name: "trace.index", Type: column.Uint64, Rows: 4, Values: column.Values{Numbers: []uint64{0, 1, 0, 2}}}
	for _, columns := range [][]*column.Column{{ids}, {index, ids}} {
		block := blockOf(t, 4, columns, 3, table)
		f := openFile(t, fileOf(t, []int{4}, nil, [][]byte{block}, noTraceIndex), read.Options{})
		var got []string
		for _, r := range scanRows(t, f, scan.Options{}) {
			got = append(got, r["resource.service.name string"])
		}
		require.Equal(t, []string{`string "one"`, "", `string "one"`, `string "three"`}, got)
		name := filter.Col(`resource\.service\.name`)
		require.Equal(t, []int64{0, 2}, matches(t, f, scan.Options{Filter: filter.Eq(name, "one").Node()}))
		require.Equal(t, []int64{1}, matches(t, f, scan.Options{Filter: filter.IsNull(name).Node()}))
		require.Len(t, traceRows(t, f, [][]byte{[]byte(id16(1))}), 2)
		r := verifyBytes(t, fileOf(t, []int{4}, nil, [][]byte{block}, noTraceIndex))
		require.Empty(t, r.Problems)
	}
}

// Without a trace index, or with one of blocks only, traces are found in the blocks. Blocks of other kinds have no rows.
func TestTraceIndexes(t *testing.T) {
	var blocks [][]byte
	for k := range 3 {
		names := stringsOf("span:name", column.String, fmt.Sprint("a", k), fmt.Sprint("b", k))
		blocks = append(blocks, blockOf(t, 2, []*column.Column{names, stringsOf("trace:id", column.Bytes, id16(byte(k)), id16(7))}, 0, nil))
	}
	version2 := []byte{2, 4, 0, 0, 0}
	for k := range 3 {
		version2 = append(append(version2, id16(byte(k))...), 1, 0, byte(k), 0)
	}
	version2 = append(append(version2, id16(7)...), 2, 0, 0, 0, 2, 0)
	for name, traceIndex := range map[string][]byte{"none": noTraceIndex, "of blocks": version2} {
		t.Run(name, func(t *testing.T) {
			f := openFile(t, fileOf(t, []int{2, 2, 2}, []byte{0, 1, 0}, blocks, traceIndex), read.Options{})
			require.Len(t, scanRows(t, f, scan.Options{}), 4)
			var names []string
			for _, r := range traceRows(t, f, [][]byte{[]byte(id16(7))}) {
				names = append(names, r["span:name string"])
			}
			require.Equal(t, []string{`string "b0"`, `string "b2"`}, names)
			require.Equal(t, []int64{1, 3}, matches(t, f, scan.Options{Filter: filter.Eq(filter.Col("trace:id"), []byte(id16(7))).Node()}))
			b, err := f.take(t.Context(), []int64{3, 0})
			require.NoError(t, err)
			require.Equal(t, `string "b2"`, rowsOfBatch(t, b)[0]["span:name string"])
			b.Release()
		})
	}
}

// FuzzRead opens, scans and asks any bytes: an error, or rows.
func FuzzRead(f *testing.F) {
	ids := stringsOf("trace:id", column.Bytes, id16(1), id16(2), id16(1), id16(3))
	table := []*column.Column{stringsOf("resource.service.name", column.String, "one", "", "three")}
	f.Add(fileOf(f, []int{4}, nil, [][]byte{blockOf(f, 4, []*column.Column{ids}, 3, table)}, noTraceIndex))
	f.Add(write(f, nil, blockpack.WriterOptions{}))
	f.Fuzz(func(t *testing.T, file []byte) {
		if _, _, err := readAll(t, file, [][]byte{[]byte(id16(1))}); err == nil {
			damaged(t, file)
		}
	})
}
