package shard

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/storage"
)

// The frozen shard of numbers with a value dictionary, read by nothing but what docs/format.md says of its buffers.
func TestNumberDictionaryByHand(t *testing.T) {
	raw, err := os.ReadFile("testdata/frozen/number-dictionaries.amudai.shard")
	require.NoError(t, err)
	s, err := OpenReaderAt(t.Context(), bytes.NewReader(raw), int64(len(raw)), OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	d, err := s.file.Stripe(0).Descriptor(t.Context(), 0)
	require.NoError(t, err)
	buffers := map[shardpb.BufferKind][]byte{}
	for _, b := range d.Encodings[0].GetNative().Buffers {
		buffers[b.Kind] = raw[b.Buffer.Range.Start:b.Buffer.Range.End]
	}
	le := binary.LittleEndian

	dict := buffers[shardpb.BufferKind_VALUE_DICTIONARY]
	entries, null := le.Uint32(dict[4:]), le.Uint32(dict[8:])
	require.EqualValues(t, 5|0x80, dict[0]) // Int64, packed
	require.EqualValues(t, 1, dict[1])      // with null
	require.EqualValues(t, 8, le.Uint32(dict[12:]))
	require.EqualValues(t, d.Field.GetDictionarySize(), entries)
	block := dict[24:]
	require.Zero(t, le.Uint32(block)) // no presence
	require.EqualValues(t, 3+8*entries, le.Uint32(block[4:]))
	require.Equal(t, []byte{1, 0, 0}, block[8:11]) // Plain, of values of one size
	values := make([]int64, entries)
	_, err = binary.Decode(block[11:], le, values)
	require.NoError(t, err)
	require.EqualValues(t, entries-1, null)
	require.Zero(t, values[null])
	require.True(t, slices.IsSorted(values[:null]))

	var codes []uint32
	data, rows := buffers[shardpb.BufferKind_DATA], int(d.Field.GetPositionCount())
	for len(codes) < rows {
		require.Zero(t, le.Uint32(data))
		size := le.Uint32(data[4:])
		tree := data[8 : 8+size]
		n := min(8192, rows-len(codes))
		if code := le.Uint16(tree); code == 2 { // FLBitPack
			for chunk := tree[8:]; len(chunk) > 0; chunk = chunk[128*int(tree[2]):] {
				codes = append(codes, unpacked(chunk, int(tree[2]))...)
			}
		} else {
			require.EqualValues(t, 0x8004, code) // Narrow, of u16 at the end
			for i := range n {
				codes = append(codes, uint32(le.Uint16(tree[int(size)-2*(n-i):])))
			}
		}
		data = data[(8+int(size)+4+7)/8*8:]
	}
	codes = codes[:rows]
	at := 0
	for b, err := range s.Scan(t.Context(), ScanOptions{}) {
		require.NoError(t, err)
		ids := b.Column(0).(*array.Int64)
		for i := range ids.Len() {
			require.Equal(t, codes[at] == null, ids.IsNull(i), at)
			if ids.IsValid(i) {
				require.Equal(t, values[codes[at]], ids.Value(i), at)
			}
			at++
		}
	}
	require.Equal(t, rows, at)
}

// unpacked is a chunk of 1024 numbers of some bits in the FastLanes layout of 32-bit words.
func unpacked(chunk []byte, width int) []uint32 {
	out := make([]uint32, 1024)
	for row := range 32 {
		for lane := range 32 {
			v := uint32(0)
			for bit := range width {
				at := row*width + bit
				word := binary.LittleEndian.Uint32(chunk[4*(at/32*32+lane):])
				v |= word >> (at % 32) & 1 << bit
			}
			out[16*[]int{0, 4, 2, 6}[row/8]+128*(row%8)+lane] = v
		}
	}
	return out
}

// Conditions on numbers with a value dictionary are true for the rows for which they are true without one.
func TestConditionsOnNumberDictionaries(t *testing.T) {
	raw, err := os.ReadFile("testdata/frozen/number-dictionaries.amudai.shard")
	require.NoError(t, err)
	s, err := OpenReaderAt(t.Context(), bytes.NewReader(raw), int64(len(raw)), OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	store := storage.NewMemory()
	var some []int64
	schema, err := s.ArrowSchema(t.Context())
	require.NoError(t, err)
	w, err := Create(t.Context(), "mem://x/plain", schema, WriterOptions{Store: store, Edition: EditionReference})
	require.NoError(t, err)
	for b, err := range s.Scan(t.Context(), ScanOptions{}) {
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), b.RecordBatch))
		some = append(some, b.Column(0).(*array.Int64).Value(5))
	}
	require.NoError(t, w.Close(t.Context()))
	plain, err := Open(t.Context(), "mem://x/plain", OpenOptions{Store: store})
	require.NoError(t, err)
	defer plain.Close()
	id := filter.Col("id")
	for _, f := range []filter.Expr{
		filter.Eq(id, some[0]), filter.Ne(id, some[0]), filter.Eq(id, some[0]+1), filter.Lt(id, int64(0)), filter.Ge(id, some[0]), filter.IsNull(id),
		filter.Not(filter.IsNull(id)), filter.And(filter.Ge(id, int64(-1<<62)), filter.Lt(id, int64(1<<61))), filter.Or(filter.Eq(id, some[0]), filter.Lt(id, int64(-1<<62))),
	} {
		for _, rows := range [][]RowRange{nil, {{From: 100, To: 200}, {From: 40_000, To: 40_100}}} {
			o := ScanOptions{Filter: f, Rows: rows}
			require.Equal(t, foundIDs(t, plain, o), foundIDs(t, s, o), "%v %v", f, rows)
		}
	}
}

// foundIDs are the rows of a scan, and their values.
func foundIDs(t *testing.T, s *Shard, o ScanOptions) (found []int64) {
	for b, err := range s.Scan(t.Context(), o) {
		require.NoError(t, err)
		found = slices.AppendSeq(found, rowset.Of(b.RowRanges()...).Rows())
		for i := range int(b.NumRows()) {
			if b.Column(0).IsValid(i) {
				found = append(found, b.Column(0).(*array.Int64).Value(i))
			}
		}
	}
	return found
}
