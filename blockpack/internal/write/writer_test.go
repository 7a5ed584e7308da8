package write

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/otlp"
	"github.com/amudai/amudai-go/blockpack/internal/ranges"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/storage"
)

var ctx = context.Background()

// blocks gives the blocks of messages, of n rows each.
func blocks(t require.TestingT, messages [][]byte, n int) (list []otlp.Block) {
	b := otlp.NewBuilder(otlp.Options{})
	for _, m := range messages {
		require.NoError(t, b.AddTraces(m))
		for b.Rows() >= n {
			block, err := b.Take(n)
			require.NoError(t, err)
			list = append(list, block)
		}
	}
	if b.Rows() > 0 {
		list = append(list, b.Finish())
	}
	return list
}

// write makes a file of blocks.
func write(t require.TestingT, list []otlp.Block, o Options) []byte {
	var out bytes.Buffer
	store := storage.ToWriter("mem:///x", &out)
	to, err := store.Create(ctx, "mem:///x", storage.CreateOptions{})
	require.NoError(t, err)
	w := New(to, o)
	defer w.Close()
	for _, b := range list {
		require.NoError(t, w.Window(ctx, b, b.Rows))
	}
	require.NoError(t, w.Finish(ctx))
	require.NoError(t, to.Publish(ctx))
	return out.Bytes()
}

// checkFile compares a file with the blocks that it is made of, as its structures show them.
func checkFile(t require.TestingT, data []byte, list []otlp.Block, o Options) {
	f, err := layout.Open(ctx, storage.FromBytes("x", data), 0)
	require.NoError(t, err)
	m := f.Metadata
	require.Len(t, m.Blocks, len(list))
	compact, err := f.Compact(ctx)
	require.NoError(t, err)
	require.NotNil(t, compact)
	for i, want := range list {
		entry := m.Blocks[i]
		got := decode(t, data[entry.Offset:entry.Offset+entry.Length])
		require.Equal(t, sorted(want), sorted(got))
		require.Equal(t, want.Rows, entry.Spans)
		checkIndexes(t, m, compact, i, got)
	}
	if len(list) > 0 {
		require.Equal(t, o.Program, m.Ranges.Mark())
		checkFileColumns(t, m.Ranges, list)
	}
}

// decode parses a block, and compares the stats of its columns with their values.
func decode(t require.TestingT, data []byte) otlp.Block {
	head, need, err := layout.ParseBlockHead(data, 0, int64(len(data)))
	require.NoError(t, err)
	require.Zero(t, need)
	require.Zero(t, head.Traces)
	b := otlp.Block{Rows: head.Spans}
	for _, c := range head.Columns {
		got, err := column.Decode(data[c.Offset:c.Offset+c.Length], c.Name, c.Type, head.Spans, column.DecodeOptions{UUID: column.UUIDPlain})
		require.NoError(t, err)
		b.Columns = append(b.Columns, got)
		if c.StatsLength == 0 {
			require.False(t, bounds(got).Known)
			continue
		}
		stats, err := layout.ParseColumnStats(data[c.StatsOffset:c.StatsOffset+c.StatsLength], c.Type)
		require.NoError(t, err)
		require.Equal(t, bounds(got), stats)
	}
	return b
}

func sorted(b otlp.Block) []string {
	list := texts(b)
	slices.Sort(list)
	return list
}

// checkIndexes looks up whatever a block has.
func checkIndexes(t require.TestingT, m *layout.Metadata, compact *layout.CompactIndex, block int, b otlp.Block) {
	ids, err := traceIDs(b)
	require.NoError(t, err)
	rows := map[layout.TraceID][]int{}
	for row, id := range ids {
		rows[id] = append(rows[id], row)
		require.True(t, m.Blocks[block].MayHaveTrace(id))
	}
	for id, want := range rows {
		require.Equal(t, want, lookup(t, m.Traces, id, block))
		if compact != nil {
			require.Equal(t, want, lookup(t, compact.Traces, id, block))
			offset, length := compact.Block(block)
			require.Equal(t, []int64{m.Blocks[block].Offset, m.Blocks[block].Length}, []int64{offset, length})
		}
	}
	extents, err := m.Columns.Block(block)
	require.NoError(t, err)
	require.Len(t, extents, len(b.Columns))
	var names []string
	for i, c := range b.Columns {
		require.Equal(t, c.Name, extents[i].Name)
		names = append(names, c.Name)
	}
	m.Calibrate(block, names)
	for _, c := range b.Columns {
		require.True(t, m.MayHaveColumn(block, c.Name))
		checkRanges(t, m.Ranges, block, c)
	}
	starts := b.Column(spans.Start, column.Uint64)
	for _, k := range starts.Ranks() {
		require.True(t, m.Blocks[block].MayStart(value(starts, k), value(starts, k)))
	}
}

func value(c *column.Column, k int) uint64 {
	if c.Codes != nil {
		k = int(c.Codes[k])
	}
	return c.Values.Numbers[k]
}

// checkRanges looks up the values of a column in the range index.
func checkRanges(t require.TestingT, x *ranges.Index, block int, c *column.Column) {
	for k := range c.Values.Len() {
		v := c.ValueAt(k)
		if found, known := x.Interval(c.Name, v.Type, &v, &v, false); known {
			require.Contains(t, found, uint32(block), "%s", c.Name)
		}
	}
}

func lookup(t require.TestingT, x *layout.TraceIndex, id layout.TraceID, block int) (rows []int) {
	found := x.Lookup(nil, id)
	for _, b := range found {
		for i := range b.Rows.Len() {
			if b.Block == block {
				rows = append(rows, b.Rows.At(i))
			}
		}
	}
	return rows
}

func checkFileColumns(t require.TestingT, x *ranges.Index, list []otlp.Block) {
	got, ok := x.FileColumns()
	require.True(t, ok)
	known := map[column.Key]column.Traits{}
	for _, f := range got {
		known[column.Key{Name: f.Name, Type: f.Type}] = column.Traits(f.Flags)
	}
	count := map[column.Key]int{}
	for _, b := range list {
		for _, c := range b.Columns {
			key := column.Key{Name: c.Name, Type: c.Type}
			require.Contains(t, known, key)
			count[key]++
			if spans.TraitsOf(c)&column.Always == 0 {
				require.Zero(t, known[key]&column.Always)
			}
		}
	}
	require.Len(t, known, len(count))
	for key, n := range count {
		if n < len(list) {
			require.Zero(t, known[key]&column.Always)
		}
	}
}

// TestCorpus writes all real traces, and finds everything in the file.
func TestCorpus(t *testing.T) {
	for _, name := range []string{"hotrod.otlp.zst", "zipkin_lens.otlp"} {
		messages := otlpgen.Corpus(t, name)
		if !sweep.All() {
			messages = messages[:min(len(messages), 100)]
		}
		list := blocks(t, messages, 3000)
		o := Options{Parallelism: 2, Program: "x/1"}
		checkFile(t, write(t, list, o), list, o)
	}
}

// TestRandomTraces writes random spans in all orders.
func TestRandomTraces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var messages [][]byte
		for _, m := range rapid.SliceOfN(otlpgen.Traces(), 0, 5).Draw(t, "messages") {
			wire, err := proto.Marshal(m)
			require.NoError(t, err)
			messages = append(messages, wire)
		}
		list := blocks(t, messages, rapid.IntRange(1, 20).Draw(t, "rows"))
		o := Options{
			Order: Order(rapid.IntRange(0, 3).Draw(t, "order")), Parallelism: rapid.IntRange(1, 3).Draw(t, "parallelism"), Program: "x/1",
		}
		data := write(t, list, o)
		checkFile(t, data, list, o)
		o.Parallelism = 1
		require.Equal(t, data, write(t, list, o), "the bytes do not depend on parallelism")
	})
}

// TestEmptyFile compares a file without blocks with that of the reference.
func TestEmptyFile(t *testing.T) {
	want := []byte("\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00" +
		"\xa1\xfe\x11\xc0\x0b\x00\x00\x00\x00\x00\x00\x00\x00\x0d\x00\x00\x00\x00\x00\x00\x00" +
		"\xde\xc1\x1d\xc0\x01\x00\x00\x00\x00\x01\x00\x00\x00\x00" +
		"\x03\x00\x0d\x00\x00\x00\x00\x00\x00\x00\x22\x00\x00\x00\x00\x00\x00\x00\x0e\x00\x00\x00")
	require.Equal(t, want, write(t, nil, Options{Program: "x/1"}))
}

// TestBlocksThatCannotBeStored are errors, of the block with that number.
func TestBlocksThatCannotBeStored(t *testing.T) {
	rows := []row{{trace: "0123456789abcdef", start: 1, extra: make([]bool, 3)}}
	good := blockOf(rows, false)
	short := blockOf([]row{{trace: "0123456789abcde", start: 1, extra: make([]bool, 3)}}, false)
	none := otlp.Block{Rows: 1, Columns: good.Columns[:1]}
	for name, bad := range map[string]otlp.Block{"15 bytes": short, "without a trace id": none} {
		var out bytes.Buffer
		to, err := storage.ToWriter("mem:///x", &out).Create(ctx, "mem:///x", storage.CreateOptions{})
		require.NoError(t, err)
		w := New(to, Options{Parallelism: 2})
		require.NoError(t, w.Window(ctx, good, good.Rows))
		err = w.Window(ctx, bad, bad.Rows)
		err = errors.Join(err, w.Finish(ctx))
		require.ErrorContains(t, err, name)
		require.ErrorContains(t, err, "block 1")
		w.Close()
	}
}

// TestByTrace brings the rows of a trace together, those of the first trace first.
func TestByTrace(t *testing.T) {
	ids := &column.Column{Name: spans.TraceID, Type: column.Bytes, Rows: 5, Codes: []uint32{1, 0, 1, 2, 0}}
	ids.Values.Offsets = []uint32{0}
	for i := range 3 {
		ids.Values.Data = append(ids.Values.Data, bytes.Repeat([]byte{byte(i)}, 16)...)
		ids.Values.Offsets = append(ids.Values.Offsets, uint32(len(ids.Values.Data)))
	}
	p, err := byTrace(otlp.Block{Rows: 5, Columns: []*column.Column{ids}})
	require.NoError(t, err)
	require.Equal(t, []uint32{0, 2, 1, 4, 3}, p)
}
