package blockpack_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/ranges"
	"github.com/amudai/amudai-go/blockpack/internal/read"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/testing/filtertest"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/storage"
)

// liar takes a file apart, to put it together with indexes that are wrong.
type liar struct {
	file   []byte
	meta   *layout.Metadata
	header layout.Header
	heads  []*layout.BlockHead
	values [][]*column.Column // by block, once decoded
}

func newLiar(t testing.TB, file []byte) *liar {
	t.Helper()
	store := storage.FromReaderAt("a", bytes.NewReader(file), int64(len(file)))
	r, err := store.Open(t.Context(), "a")
	require.NoError(t, err)
	f, err := layout.Open(t.Context(), r, 0)
	require.NoError(t, err)
	l := &liar{file: file, header: f.Header, meta: f.Metadata}
	for _, b := range l.meta.Blocks {
		h, _, err := layout.ParseBlockHead(file[b.Offset:b.Offset+b.Length], b.Offset, b.Length)
		require.NoError(t, err)
		l.heads = append(l.heads, h)
	}
	l.values = make([][]*column.Column, len(l.heads))
	return l
}

// columns are those of a block.
func (l *liar) columns(t testing.TB, block int) (out []*column.Column) {
	if l.values[block] != nil {
		return l.values[block]
	}
	at := l.meta.Blocks[block].Offset
	for _, c := range l.heads[block].Columns {
		data := l.file[at+c.Offset : at+c.Offset+c.Length]
		values, err := column.Decode(data, c.Name, c.Type, l.heads[block].Spans, column.DecodeOptions{UUID: column.UUIDPlain})
		require.NoError(t, err)
		out = append(out, values)
	}
	l.values[block] = out
	return out
}

// lie makes the file anew. Each index is that of another block, or wrong in another way.
func (l *liar) lie(t testing.TB, mark string, blockIndex, lookups, extents, traces, stats bool) []byte {
	end := l.meta.Blocks[len(l.meta.Blocks)-1]
	out := bytes.Clone(l.file[:end.Offset+end.Length])
	n := len(l.meta.Blocks)
	other := func(i int, lying bool) int {
		if lying {
			return (i + 1) % n
		}
		return i
	}
	blocks := append([]layout.Block(nil), l.meta.Blocks...)
	builder := ranges.NewBuilder(ranges.BuildOptions{})
	var index layout.TraceIndexBuilder
	all := make([][]layout.ColumnExtent, n)
	for i := range blocks {
		if b := &blocks[i]; blockIndex {
			b.MinStart, b.MaxStart, b.MinTrace, b.MaxTrace = 1, 2, layout.TraceID{0xff}, layout.TraceID{0xff, 1}
			b.Names = layout.NameBloom{}
			b.Names.Add("none")
			b.Values = append([]byte{1, 9, 0}, "span:name\x01\x01\x00\x00\x00!\x01\x00\x00\x00!"...)
		}
		builder.AddBlock(l.columns(t, other(i, lookups)))
		for _, c := range l.heads[other(i, extents)].Columns {
			all[i] = append(all[i], layout.ColumnExtent{Name: c.Name, Offset: uint32(min(c.Offset, l.meta.Blocks[i].Length)), Length: uint32(min(c.Length, max(l.meta.Blocks[i].Length-c.Offset, 0)))})
		}
		for row := range l.heads[i].Spans {
			id := layout.TraceID{1, byte(row)}
			if !traces {
				id = l.idOf(t, i, row)
			}
			index.Add(i, row, id)
		}
		if stats {
			l.lieInStats(out, i)
		}
	}
	meta := layout.AppendBlockIndex(nil, blocks)
	listed, _ := l.meta.Ranges.FileColumns()
	meta, err := builder.Finish(meta, int64(len(out)), mark, listed, nil, "")
	require.NoError(t, err)
	meta = layout.AppendColumnIndex(meta, all)
	meta, err = index.Append(meta)
	require.NoError(t, err)
	f := layout.Footer{HeaderOffset: int64(len(out))}
	h := layout.Header{Version: layout.Version11, MetadataOffset: f.HeaderOffset + layout.HeaderSize, MetadataLength: int64(len(meta))}
	out = append(layout.AppendHeader(out, h), meta...)
	f.CompactOffset = int64(len(out))
	return layout.AppendFooter(out, f)
}

func (l *liar) idOf(t testing.TB, block, row int) (id layout.TraceID) {
	for _, c := range l.columns(t, block) {
		if c.Name == "trace:id" {
			k := row
			if c.Codes != nil {
				k = int(c.Codes[row])
			}
			return layout.TraceID(c.Values.Bytes(k))
		}
	}
	return id
}

// lieInStats makes the bounds of all columns of a block wrong.
func (l *liar) lieInStats(file []byte, block int) {
	for _, c := range l.heads[block].Columns {
		stats := file[l.meta.Blocks[block].Offset+c.StatsOffset:][:c.StatsLength]
		s, err := layout.ParseColumnStats(stats, c.Type)
		if err != nil || !s.Known {
			continue
		}
		for _, v := range []*column.Value{&s.Min, &s.Max} {
			v.Data = bytes.Repeat([]byte{'!'}, len(v.Data))
			v.Bits = 77
			if c.Type == column.Float64 {
				v.Bits = math.Float64bits(1e300)
			} else if c.Type == column.Bool {
				v.Bits = 0
			}
		}
		if wrong := layout.AppendColumnStats(nil, s); len(wrong) == len(stats) {
			copy(stats, wrong)
		}
	}
}

// In files of other writers no index hides a row, however wrong it is. In files of this module wrong indexes are found by
// verification.
func TestLies(t *testing.T) {
	own := write(t, otlpgen.Corpus(t, "zipkin_lens.otlp"), blockpack.WriterOptions{BlockSpans: 150})
	l := newLiar(t, own)
	batch := whole(t, openFile(t, own, read.Options{Binary: true}))
	for name, lies := range map[string][5]bool{
		"none": {}, "block index": {true}, "range index": {1: true}, "column index": {2: true}, "trace index": {3: true}, "column stats": {4: true},
		"all": {true, true, true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			file := l.lie(t, "", lies[0], lies[1], lies[2], lies[3], lies[4])
			f := openFile(t, file, read.Options{Binary: true})
			g := filtertest.New(1, batch)
			for range sweep.Count(20, 600) {
				e, oracle := g.Condition()
				require.Equal(t, oracle.Rows(int(batch.NumRows())), matches(t, f, scan.Options{Filter: e.Node()}), "%s", e)
			}
			r := verifyBytes(t, file)
			require.Empty(t, r.Problems)
			require.Equal(t, name == "none", len(r.Notes) == 0, "%v", r.Notes)
			marked := l.lie(t, "another/1", lies[0], lies[1], lies[2], lies[3], lies[4])
			require.Equal(t, name == "none", len(verifyBytes(t, marked).Problems) == 0)
		})
	}
}

// Keys of the range index that are none of the type of the column are a problem in a file of this module only: nobody else's index is believed.
func TestKeysOfAnotherType(t *testing.T) {
	var spans []*tracev1.Span
	for i := range 4 {
		value := &commonv1.AnyValue{Value: &commonv1.AnyValue_DoubleValue{DoubleValue: 1.5}}
		spans = append(spans, &tracev1.Span{TraceId: fmt.Appendf(nil, "%016d", i), SpanId: []byte("12345678"), Attributes: []*commonv1.KeyValue{{Key: "ratio", Value: value}}})
	}
	message, err := proto.Marshal(&tracev1.TracesData{ResourceSpans: []*tracev1.ResourceSpans{{ScopeSpans: []*tracev1.ScopeSpans{{Spans: spans}}}}})
	require.NoError(t, err)
	l := newLiar(t, write(t, [][]byte{message}, blockpack.WriterOptions{BlockSpans: 2}))
	for mark, own := range map[string]bool{l.meta.Ranges.Mark(): true, "": false} {
		file := l.lie(t, mark, false, false, false, false, false)
		key := binary.LittleEndian.AppendUint64([]byte{8}, math.Float64bits(1.5))
		at := bytes.LastIndex(file, key)
		require.Positive(t, at)
		binary.LittleEndian.PutUint64(file[at+1:], math.Float64bits(math.NaN()))
		r := verifyBytes(t, file)
		require.Equal(t, own, len(r.Problems) > 0, "%v", r.Problems)
		require.Equal(t, !own, strings.Contains(fmt.Sprint(r.Notes), "no key of type RangeFloat64"), "%v", r.Notes)
	}
}
