package layout

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/storage"
)

// reference gives a file of the reference implementation.
func reference(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testdata.Shared(t), "golden", "blockpack", name+".blockpack"))
	require.NoError(t, err)
	return data
}

var references = []string{"ref_empty", "ref_kinds", "ref_probe"}

// open opens a file in memory.
func open(t testing.TB, data []byte, tail int) *File {
	t.Helper()
	f, err := Open(t.Context(), reader(t, data), tail)
	require.NoError(t, err)
	return f
}

func reader(t testing.TB, data []byte) storage.Reader {
	t.Helper()
	m := storage.NewMemory()
	w, err := m.Create(t.Context(), "mem://file", storage.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), data))
	require.NoError(t, w.Publish(t.Context()))
	r, err := m.Open(t.Context(), "mem://file")
	require.NoError(t, err)
	return r
}

func metadata(t testing.TB, data []byte) *Metadata {
	t.Helper()
	return open(t, data, 0).Metadata
}

// TestReferenceBytes parses the files of the reference and appends what was parsed: the bytes are the same.
func TestReferenceBytes(t *testing.T) {
	for _, name := range references {
		t.Run(name, func(t *testing.T) {
			data := reference(t, name)
			f := open(t, data, 0)
			h := f.Header
			m := f.Metadata
			require.Equal(t, Variant{}, m.Variant)
			require.Equal(t, data[len(data)-FooterSize:], AppendFooter(nil, f.Footer))
			require.Equal(t, data[f.Footer.HeaderOffset:][:HeaderSize], AppendHeader(nil, h))
			section := func(i int) []byte { return data[m.Sections[i]:m.Sections[i+1]] }
			require.Equal(t, section(0), AppendBlockIndex(nil, m.Blocks))
			require.Equal(t, section(2), appendColumnIndex(t, m))
			traces := traceBuilder(t, m.Traces)
			index, err := traces.Append(nil)
			require.NoError(t, err)
			require.Equal(t, section(3), index)
			compact, err := AppendCompact(nil, m.Blocks, traces)
			require.NoError(t, err)
			require.Equal(t, data[f.Footer.CompactOffset:][:f.Footer.CompactLength], compact)
		})
	}
}

func appendColumnIndex(t testing.TB, m *Metadata) []byte {
	var extents [][]ColumnExtent
	for i := range m.Blocks {
		list, err := m.Columns.Block(i)
		require.NoError(t, err)
		extents = append(extents, list)
	}
	return AppendColumnIndex([]byte{}, extents)
}

// traceBuilder is a builder with the rows of an index.
func traceBuilder(t testing.TB, x *TraceIndex) *TraceIndexBuilder {
	type row struct {
		id  TraceID
		row int
	}
	blocks := map[int][]row{}
	all := x.All()
	for id, list := range all {
		for _, b := range list {
			for i := range b.Rows.Len() {
				blocks[b.Block] = append(blocks[b.Block], row{id, b.Rows.At(i)})
			}
		}
	}
	b := &TraceIndexBuilder{}
	for i := range len(blocks) {
		for _, r := range blocks[i] {
			b.Add(i, r.row, r.id)
		}
	}
	return b
}

// TestEmptyFile writes the file without blocks that the reference writes.
func TestEmptyFile(t *testing.T) {
	traces := &TraceIndexBuilder{}
	data := AppendBlockIndex(nil, nil)
	data = append(data, 0, 0, 0, 0)
	data = AppendColumnIndex(data, nil)
	data, err := traces.Append(data)
	require.NoError(t, err)
	n := int64(len(data))
	data = AppendHeader(data, Header{Version: Version11, MetadataLength: n})
	at := int64(len(data))
	data, err = AppendCompact(data, nil, traces)
	require.NoError(t, err)
	data = AppendFooter(data, Footer{HeaderOffset: n, CompactOffset: at, CompactLength: int64(len(data)) - at})
	want := "00000000000000000100000000" + "a1fe11c00b00000000000000000d00000000000000" + "dec11dc001000000000100000000" + "03000d0000000000000022000000000000000e000000"
	require.Equal(t, want, hex.EncodeToString(data))

	m := metadata(t, data)
	require.Empty(t, m.Blocks)
	require.True(t, m.TracesComplete)
	rows := m.Traces.Lookup(nil, TraceID{})
	require.Empty(t, rows)
}

// TestHeaderAtZero reads an empty file in the specified order, whose header is at offset 0.
func TestHeaderAtZero(t *testing.T) {
	data := AppendHeader(nil, Header{Version: Version11, MetadataOffset: HeaderSize, MetadataLength: 13})
	data = append(data, make([]byte, 8)...)
	data = append(data, TraceVersion, 0, 0, 0, 0)
	data = AppendFooter(data, Footer{})
	f := open(t, data, 0)
	m := f.Metadata
	require.Empty(t, m.Blocks)
	compact, err := f.Compact(t.Context())
	require.NoError(t, err)
	require.Nil(t, compact)
}

// TestReferenceBlocks reads the heads, stats, extents and trace tables of all blocks, which agree with the indexes.
func TestReferenceBlocks(t *testing.T) {
	for _, name := range references {
		t.Run(name, func(t *testing.T) {
			data := reference(t, name)
			f := open(t, data, 0)
			m := f.Metadata
			for i := range m.Blocks {
				b := &m.Blocks[i]
				h, err := f.BlockHead(t.Context(), i)
				require.NoError(t, err)
				require.Equal(t, b.Spans, h.Spans)
				block := data[b.Offset:][:b.Length]
				extents, err := m.Columns.Block(i)
				require.NoError(t, err)
				require.Len(t, extents, len(h.Columns))
				var names []string
				for k, c := range h.Columns {
					require.Equal(t, ColumnExtent{c.Name, uint32(c.Offset), uint32(c.Length)}, extents[k])
					one, ok := m.Columns.Column(i, c.Name)
					require.True(t, ok)
					require.Equal(t, c.Name, one.Name)
					s, err := ParseColumnStats(block[c.StatsOffset:][:c.StatsLength], c.Type)
					require.NoError(t, err)
					require.True(t, s.Known || s.Empty, c.Name)
					require.Equal(t, block[c.StatsOffset:][:c.StatsLength], AppendColumnStats(nil, s))
					names = append(names, c.Name)
				}
				require.LessOrEqual(t, h.StatsEnd(), h.Columns[0].Offset)
				checkNames(t, m, i, names)
				checkTraceTable(t, m, i, h, block)
			}
		})
	}
}

func checkNames(t *testing.T, m *Metadata, block int, names []string) {
	require.True(t, m.MayHaveColumn(block, "no such column"), "hash functions are not known yet")
	m.Calibrate(block, names)
	require.Equal(t, uint32(bloomMurmur), m.bloom.Load())
	for _, name := range names {
		require.True(t, m.MayHaveColumn(block, name))
	}
	absent := 0
	for i := range 100 {
		if !m.MayHaveColumn(block, fmt.Sprint("absent", i)) {
			absent++
		}
	}
	require.Greater(t, absent, 50)
	m.bloom.Store(0)
}

// checkTraceTable holds the trace table of a block to the trace index.
func checkTraceTable(t *testing.T, m *Metadata, block int, h *BlockHead, data []byte) {
	at, n := h.TraceTable()
	require.Equal(t, int64(len(data)), at+n)
	table, err := ParseTraceTable(data[at:], h)
	require.NoError(t, err)
	require.Len(t, table.Traces, h.Traces)
	for _, row := range table.Traces {
		require.True(t, m.Blocks[block].MayHaveTrace(row.ID))
		list := m.Traces.Lookup(nil, row.ID)
		found := false
		for _, b := range list {
			if b.Block == block {
				require.Equal(t, row.Rows.sorted(), b.Rows)
				found = true
			}
		}
		require.True(t, found)
	}
}

// TestReferenceTraces finds each trace by the trace index and by the compact index, and no other.
func TestReferenceTraces(t *testing.T) {
	for _, name := range references {
		f := open(t, reference(t, name), 0)
		m := f.Metadata
		compact, err := f.Compact(t.Context())
		require.NoError(t, err)
		require.Equal(t, len(m.Blocks), compact.Blocks())
		for i, b := range m.Blocks {
			at, n := compact.Block(i)
			require.Equal(t, b.Offset, at)
			require.Equal(t, b.Length, n)
		}
		require.Equal(t, m.Traces.Len(), compact.Traces.Len())
		all := m.Traces.All()
		for id, list := range all {
			got := compact.Traces.Lookup(nil, id)
			require.Equal(t, list, got)
			id[15]++
			id[0]++
			got = compact.Traces.Lookup(nil, id)
			require.Empty(t, got)
		}
	}
}

// TestReferenceRegions accounts for each byte of the files, and for each byte of the structures.
func TestReferenceRegions(t *testing.T) {
	ctx := context.Background()
	for _, name := range references {
		t.Run(name, func(t *testing.T) {
			data := reference(t, name)
			f := open(t, data, 0)
			list, err := f.Regions(ctx, func(int) bool { return true })
			require.NoError(t, err)
			end := int64(0)
			for _, r := range list {
				require.Equal(t, end, r.Offset, r.Name)
				require.NotEqual(t, RegionUnused, r.Kind, r.Name)
				require.NotEqual(t, RegionBlock, r.Kind, r.Name)
				end += r.Size
				bytes, err := f.Read(ctx, r)
				require.NoError(t, err)
				parts := f.Parts(r, bytes, 1<<20)
				if r.Kind != RegionData {
					checkParts(t, r.Name, parts, len(bytes))
				}
			}
			require.Equal(t, int64(len(data)), end)
		})
	}
}

// checkParts checks that fields follow each other without gaps.
func checkParts(t *testing.T, name string, parts []fields.Part, size int) {
	t.Helper()
	next := 0
	for _, p := range parts {
		require.Equal(t, next, p.Offset, "%s: %s", name, p.Text)
		next += p.Size
	}
	require.Equal(t, size, next, name)
}

// TestReferenceRanges reads all keys. The index is not used, as the reference loses values.
func TestReferenceRanges(t *testing.T) {
	m := metadata(t, reference(t, "ref_probe"))
	require.Empty(t, m.Ranges.Mark())
	_, ok := m.Ranges.FileColumns()
	require.False(t, ok)
	for col := range m.Ranges.All() {
		entries, err := col.Entries()
		require.NoError(t, err)
		n := 0
		var last column.Value
		for key, blocks := range entries {
			if n > 0 {
				require.Negative(t, last.Compare(key), col.Name)
			}
			require.NotEmpty(t, blocks)
			last = key
			n++
		}
		require.Equal(t, col.Keys, n)
		_, known := point(m, col.Name, last)
		require.False(t, known)
	}
	col := m.Ranges.Column("resource.service.name")
	require.Equal(t, column.RangeString, col.Type)
}

// point looks up a value in the range index.
func point(m *Metadata, name string, v column.Value) ([]uint32, bool) {
	return m.Ranges.Interval(name, v.Type, &v, &v, false)
}

// TestReads counts the requests of a file: one for its end, and one for all that does not fit it.
func TestReads(t *testing.T) {
	data := reference(t, "ref_kinds")
	r := &counting{Reader: reader(t, data)}
	f, err := Open(t.Context(), r, 4<<10)
	require.NoError(t, err)
	require.Equal(t, 2, r.reads)
	_, err = f.Compact(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, r.reads)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Open(ctx, r, 0)
	require.ErrorIs(t, err, context.Canceled)
}

// TestConcurrent asks a file and its indexes from several goroutines.
func TestConcurrent(t *testing.T) {
	f := open(t, small(t), 0)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					t.Error(r)
				}
			}()
			m := f.Metadata
			m.Calibrate(0, []string{"span:name"})
			m.MayHaveColumn(0, "span:name")
			if blocks, known := point(m, "span:name", text("b")); !known || len(blocks) != 2 {
				t.Error(blocks)
			}
			compact, err := f.Compact(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			for _, x := range []*TraceIndex{m.Traces, compact.Traces} {
				if list := x.Lookup(nil, TraceID{1}); len(list) != 2 {
					t.Error(list)
				}
			}
		})
	}
	wg.Wait()
}

type counting struct {
	storage.Reader
	reads int
}

func (c *counting) ReadAt(ctx context.Context, p []byte, off int64) error {
	c.reads++
	return c.Reader.ReadAt(ctx, p, off)
}

func (c *counting) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	c.reads++
	return c.Reader.ReadSuffix(ctx, n)
}

// TestNameHashes has the bits of names that the reference sets.
func TestNameHashes(t *testing.T) {
	for name, want := range map[string][2]uint8{
		"a": {44, 178}, "trace:id": {241, 39}, "span:id": {116, 179}, "span:name": {154, 236}, "span:start": {83, 106},
		"resource.service.name": {65, 145}, "span.http.method": {12, 116}, "scope:schema_url": {130, 221}, "": {197, 0},
	} {
		require.Equal(t, want, bloomMurmur.of(name), name)
	}
}

// TestCalibrate finds the hash functions of old files, and believes no filter that fits both.
func TestCalibrate(t *testing.T) {
	names := []string{"trace:id", "span:id", "span:name", "span.a"}
	old := NameBloom{}
	for _, name := range names {
		for _, p := range bloomFNV.of(name) {
			old[p/8] |= 1 << (p % 8)
		}
	}
	full := NameBloom{}
	for i := range full {
		full[i] = 0xff
	}
	m := &Metadata{Blocks: []Block{{Names: full}, {}, {Names: old}}}
	m.Calibrate(0, names)
	m.Calibrate(1, names)
	require.True(t, m.MayHaveColumn(2, "no such column"))
	m.Calibrate(2, nil)
	require.True(t, m.MayHaveColumn(2, "no such column"))
	m.Calibrate(2, names)
	require.False(t, m.MayHaveColumn(2, "no such column"))
	require.True(t, m.MayHaveColumn(1, "no such column"), "a filter of zeros is none")
	for _, name := range names {
		require.True(t, m.MayHaveColumn(2, name))
	}
}

// footer is the end of a file of another version.
func otherVersion(version uint16, size int, magic bool) []byte {
	b := make([]byte, 100)
	f := b[100-size:]
	if magic {
		binary.LittleEndian.PutUint32(f, Magic)
		f = f[4:]
	}
	binary.LittleEndian.PutUint16(f, version)
	binary.LittleEndian.PutUint64(f[2:], 10)
	return b
}

// TestOtherVersions refuses files of other versions by their version.
func TestOtherVersions(t *testing.T) {
	for version, size := range map[uint16]int{2: 10, 4: 34, 5: 46, 6: 58, 7: 18, 8: 18} {
		_, err := Open(t.Context(), reader(t, otherVersion(version, size, version >= 7)), 0)
		var u *UnsupportedError
		require.ErrorAs(t, err, &u)
		require.Equal(t, UnsupportedError{Footer: int(version)}, *u)
		require.ErrorContains(t, err, fmt.Sprintf("footer of version %d", version))
	}
	for _, version := range []uint8{12, 13, 14, 200} {
		data := reference(t, "ref_empty")
		data[13+4] = version
		_, err := Open(t.Context(), reader(t, data), 0)
		var u *UnsupportedError
		require.ErrorAs(t, err, &u)
		require.Equal(t, UnsupportedError{Version: int(version), Footer: 3}, *u)
		require.ErrorContains(t, err, fmt.Sprintf("version %d with footer 3", version))
	}
	for _, text := range []string{"", "x", strings.Repeat("x", 200)} {
		_, err := Open(t.Context(), reader(t, []byte(text)), 0)
		require.ErrorContains(t, err, "corrupt")
		require.ErrorContains(t, err, "footer")
	}
}
