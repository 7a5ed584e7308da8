package layout

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/blockpack/internal/ranges"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// readAll reads all structures of a file, asks each of them, and gives the first error. It fails the test if an error
// is not about the bytes, or has no place.
func readAll(t testing.TB, data []byte) (first error) {
	ctx := t.Context()
	keep := func(err error) bool {
		if err == nil {
			return true
		}
		if !fault.Is(err) {
			t.Errorf("an error without a kind: %v", err)
		}
		var e *fault.Error
		var u *UnsupportedError
		if !errors.As(err, &u) && (!errors.As(err, &e) || e.Element == "" || e.Offset < 0 && e.Element != "trace table") {
			t.Errorf("an error without a place: %v", err)
		}
		if first == nil {
			first = err
		}
		return false
	}
	f, err := Open(ctx, reader(t, data), 0)
	if !keep(err) {
		return first
	}
	if compact, err := f.Compact(ctx); keep(err) && compact != nil {
		for i := range compact.Blocks() {
			compact.Block(i)
		}
		compact.Traces.Lookup(nil, TraceID{1})
	}
	askMetadata(f.Metadata, keep)
	regions, err := f.Regions(ctx, func(int) bool { return true })
	if !keep(err) {
		return first
	}
	end := int64(0)
	for _, r := range regions {
		if r.Offset > end || r.Size <= 0 || r.Size > int64(len(data)) {
			t.Errorf("region %v behind %d", r, end)
		}
		end = max(end, r.Offset+r.Size)
		b, err := f.Read(ctx, r)
		if !keep(err) {
			continue
		}
		f.Parts(r, b, 1000)
		switch r.Kind {
		case RegionStats:
			s, err := ParseColumnStats(b, r.head.Columns[r.Column].Type)
			keep(err)
			if s.Known && s.Min.Compare(s.Max) > 0 {
				t.Error("bounds that are none")
			}
		case RegionTraceTable:
			_, err := ParseTraceTable(b, r.head)
			keep(err)
		}
	}
	if end != int64(len(data)) {
		t.Errorf("regions end at %d of %d", end, len(data))
	}
	return first
}

// askMetadata calls all methods.
func askMetadata(m *Metadata, keep func(error) bool) {
	for i := range m.Blocks {
		m.Blocks[i].MayHaveTrace(TraceID{1})
		for s := range m.Blocks[i].Values.All() {
			_ = s.Name
		}
		m.MayHaveColumn(i, "span:name")
		_, err := m.Columns.Block(i)
		keep(err)
		m.Columns.Column(i, "span:name")
		m.Calibrate(i, []string{"span:name", "trace:id"})
	}
	for col := range m.Ranges.All() {
		if _, err := col.Entries(); !keep(err) {
			continue
		}
		entries, _ := col.Entries()
		for key := range entries {
			m.Ranges.Interval(col.Name, key.Type, &key, &key, false)
			m.Ranges.Interval(col.Name, key.Type, &key, nil, true)
			break
		}
		m.Ranges.Interval(col.Name, col.Type.Base(), nil, nil, false)
		for range col.TypedBoundaries() {
			break
		}
	}
	m.Ranges.FileColumns()
	m.Traces.Lookup(nil, TraceID{1})
	for range m.Traces.All() {
	}
}

// small is a file with all structures.
func small(t testing.TB) []byte {
	t.Helper()
	var blocks []Block
	var extents [][]ColumnExtent
	var data []byte
	traces := &TraceIndexBuilder{}
	index := ranges.NewBuilder(ranges.BuildOptions{})
	for i := range 2 {
		columns := []BlockColumn{{Name: "span:name", Type: column.String, Length: 4}, {Name: "trace:id", Type: column.Bytes, Length: 3}, {Name: "trace:state", Type: column.String}}
		stats := [][]byte{AppendColumnStats(nil, ColumnStats{Known: true, Min: text("a"), Max: text("b")}), nil, nil}
		block, err := AppendBlockHead(nil, 3, columns, stats)
		require.NoError(t, err)
		block = append(block, 2, 1, 0, 0, 2, 8, 0)
		table := appendTraceTable(2, []TraceTableColumn{{Name: "trace:state", Type: column.String, Data: []byte{2, 1, 9}}})
		binary.LittleEndian.PutUint32(block[16:], 2)
		binary.LittleEndian.PutUint32(block[20:], uint32(len(table)))
		block = append(block, table...)
		b := Block{Offset: int64(len(data)), Length: int64(len(block)), Spans: 3, MinStart: 1, MaxStart: 9, MaxTrace: TraceID{9}}
		b.Names.Add("span:name")
		b.Values = appendValueStats([]ValueStats{{Name: "span:name", Known: true, Min: text("a"), Max: text("b")}})
		blocks = append(blocks, b)
		extents = append(extents, []ColumnExtent{{"span:name", uint32(columns[0].Offset), 4}})
		data = append(data, block...)
		for row := range 3 {
			traces.Add(i, row, TraceID{byte(row % 2)})
		}
		index.AddBlock([]*column.Column{
			{Name: "span:name", Type: column.String, Rows: 3, Values: column.Values{Offsets: []uint32{0, 1, 2, 3}, Data: []byte("abc")}},
			{Name: "span.n", Type: column.Float64, Rows: 2, Values: column.Values{Numbers: []uint64{math.Float64bits(5), 0}}},
		})
	}
	meta := AppendBlockIndex(nil, blocks)
	meta, err := index.Finish(meta, 0, "test/1", []column.Field{{Name: "span:name", Type: column.String, Flags: 1}}, nil, "")
	require.NoError(t, err)
	meta = AppendColumnIndex(meta, extents)
	meta, err = traces.Append(meta)
	require.NoError(t, err)
	at := int64(len(data))
	data = AppendHeader(data, Header{Version: Version11, MetadataOffset: at + HeaderSize, MetadataLength: int64(len(meta))})
	data = append(data, meta...)
	compactAt := int64(len(data))
	data, err = AppendCompact(data, blocks, traces)
	require.NoError(t, err)
	return AppendFooter(data, Footer{HeaderOffset: at, CompactOffset: compactAt, CompactLength: int64(len(data)) - compactAt})
}

func TestSmall(t *testing.T) {
	require.NoError(t, readAll(t, small(t)))
}

func TestReferenceRead(t *testing.T) {
	for _, name := range references {
		require.NoError(t, readAll(t, reference(t, name)))
	}
}

// TestCuts cuts a file at each length.
func TestCuts(t *testing.T) {
	data := small(t)
	for n := range data {
		require.Error(t, readAll(t, data[:n]), n)
	}
	data = reference(t, "ref_kinds")
	for n := 0; n < len(data); n += len(data) / sweep.Count(40, 4000) {
		require.Error(t, readAll(t, data[:n]), n)
	}
}

// TestFlips inverts each bit of a file, and each byte of the metadata of files of the reference.
func TestFlips(t *testing.T) {
	data := small(t)
	for i := range len(data) * 8 {
		data[i/8] ^= 1 << (i % 8)
		_ = readAll(t, data)
		data[i/8] ^= 1 << (i % 8)
	}
	for _, name := range references[1:] {
		data := reference(t, name)
		start := int(metadata(t, data).Sections[0])
		for i := start; i < len(data); i += len(data) / sweep.Count(18, 2000) {
			data[i] ^= 0xff
			_ = readAll(t, data)
			data[i] ^= 0xff
		}
	}
}

// TestHostileMemory replaces 32-bit words by large numbers: memory stays in proportion to the file.
func TestHostileMemory(t *testing.T) {
	base := small(t)
	var before, after runtime.MemStats
	for i := 0; i+4 <= len(base); i += sweep.Step(3) {
		for _, n := range []uint32{math.MaxUint32, math.MaxInt32, 99_999, 65_535} {
			data := slices.Clone(base)
			binary.LittleEndian.PutUint32(data[i:], n)
			runtime.ReadMemStats(&before)
			_ = readAll(t, data)
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20), "%d at %d", n, i)
		}
	}
}

// TestRandomMetadata parses random bytes behind a right beginning.
func TestRandomMetadata(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	base := small(t)
	for range sweep.Count(2000, 200_000) {
		data := slices.Clone(base)
		for range 1 + r.IntN(8) {
			at := r.IntN(len(data))
			data[at] = byte(r.Uint32())
		}
		_ = readAll(t, data)
	}
}

// TestPlaces checks the texts of errors.
func TestPlaces(t *testing.T) {
	base := small(t)
	m := metadata(t, base)
	at := func(section int, offset int64) int { return int(m.Sections[section] + offset) }
	for name, c := range map[string]struct {
		at    int
		bytes []byte
		text  string
	}{
		"count":  {at(0, 0), []byte{0xff, 0xff, 0xff}, "16777215 is more than the limit of 100000 (metadata/block index/block count, offset "},
		"extent": {at(0, 4), []byte{0, 0, 0, 1}, "metadata/block index/block 0/block, offset "},
		"spans":  {at(0, 4+17), []byte{0, 0, 0, 1}, "16777216 is more than the limit of 1000000 (metadata/block index/block 0/span count, offset "},
		"range":  {at(1, 0), []byte{0xff}, "metadata/range index/column count"},
		"traces": {at(3, 0), []byte{9}, "unsupported: it is 9, but this program knows only 1 and 2 (metadata/trace index/format version"},
		"header": {int(m.Sections[0] - HeaderSize), []byte{0}, "(header/magic"},
	} {
		data := slices.Clone(base)
		copy(data[c.at:], c.bytes)
		err := readAll(t, data)
		require.ErrorContains(t, err, c.text, name)
		require.ErrorContains(t, err, "in mem://file", name)
	}
}

// TestOverlap refuses blocks that share bytes.
func TestOverlap(t *testing.T) {
	data := AppendBlockIndex(nil, []Block{{Offset: 10, Length: 5}, {Offset: 0, Length: 11}})
	c := &cursor{fields.Cursor{Data: data}}
	c.blockIndex(Version11, Variant{}, 100)
	require.ErrorContains(t, c.Err, "block index")
	data = AppendBlockIndex(nil, []Block{{Offset: 10, Length: 5}, {Offset: 0, Length: 10}, {Offset: 12}})
	c = &cursor{fields.Cursor{Data: data}}
	require.Len(t, c.blockIndex(Version11, Variant{}, 100), 3)
	require.NoError(t, c.Err)
}

func FuzzFile(f *testing.F) {
	f.Add(small(f))
	f.Add(AppendFooter(append(AppendHeader(nil, Header{Version: Version11, MetadataOffset: HeaderSize, MetadataLength: 13}), 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0), Footer{}))
	f.Fuzz(func(t *testing.T, data []byte) { _ = readAll(t, data) })
}

func FuzzMetadata(f *testing.F) {
	data := small(f)
	m := metadata(f, data)
	f.Add(data[m.Sections[0]:m.Sections[4]], uint8(11))
	f.Add(data[m.Sections[0]:m.Sections[4]], uint8(10))
	f.Fuzz(func(t *testing.T, data []byte, version uint8) {
		all, err := parseVariants(data, Header{Version: version}, 1<<20)
		if err == nil {
			askMetadata(all[0], func(err error) bool { return err == nil })
		}
	})
}

func FuzzBlock(f *testing.F) {
	data := small(f)
	b := metadata(f, data).Blocks[0]
	f.Add(data[:b.Length])
	f.Fuzz(func(t *testing.T, data []byte) {
		h, need, err := ParseBlockHead(data, 0, int64(len(data)))
		if err != nil {
			return
		}
		if h == nil {
			t.Fatalf("%d bytes needed of %d", need, len(data))
		}
		for i, c := range h.Columns {
			_, _ = ParseColumnStats(data[c.StatsOffset:][:c.StatsLength], c.Type)
			h.Column(c.Name, h.Columns[i].Type)
		}
		at, n := h.TraceTable()
		_, _ = ParseTraceTable(data[at:][:n], h)
		if h.StatsEnd() > int64(len(data)) {
			t.Fatal("stats behind the end")
		}
	})
}
