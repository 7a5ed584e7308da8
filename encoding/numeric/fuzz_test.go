package numeric

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// fuzzBlocks adds blocks of the reference, without checksums, as seeds.
func fuzzBlocks(f *testing.F, want ...Type) {
	blocks, _ := vectors(f)
	for i, v := range blocks {
		t, _ := parseType(v.Type)
		if len(v.Block) > 2048 || i%3 != 0 {
			continue
		}
		for k, w := range want {
			if w == t {
				end := len(v.Block)
				if v.Checksum {
					end -= 4
				}
				f.Add(v.Block[:end], uint16(v.N), uint8(k))
			}
		}
	}
}

// fuzzOwn adds a block of each tree that only edition 2026 has.
func fuzzOwn[T Value](f *testing.F, size uint8) {
	values := benchValues[T]("small")[:300]
	values[7] = 100
	for _, shape := range shapes2026 {
		p, err := parseShape(shape)
		require.NoError(f, err)
		if suits(p, Of[T]()) {
			e := NewEncoder[T](encoding.Options{NoChecksums: true})
			e.forced = p
			blk, err := e.AppendBlock(nil, values, bitmap.All(len(values)))
			require.NoError(f, err)
			f.Add(blk, uint16(len(values)), size)
		}
	}
}

// fuzzDecode decodes arbitrary bytes with a corrected checksum. Memory behind the destination must not change, and
// decoding twice must have the same result.
func fuzzDecode[T Value](t *testing.T, blk []byte, n int) {
	const canary = 3
	blk = append(append([]byte{}, blk...), 0, 0, 0, 0)
	sum := encoding.BlockChecksum(blk[:len(blk)-4])
	for i := range 4 {
		blk[len(blk)-4+i] = byte(sum >> (8 * i))
	}
	var s Scratch
	buf := make([]T, n+16)
	for i := range buf {
		buf[i] = canary
	}
	validity := make([]byte, n/8+1)
	nulls, err := DecodeBlock(buf[:n], validity, 0, blk, BlockOptions{Checksums: true}, &s)
	for _, v := range buf[n:] {
		require.Equal(t, T(canary), v, "wrote behind the destination")
	}
	require.LessOrEqual(t, s.s.Mem.Peak(), 64*(n+1024)*trees.MaxDepth, "scratch grew")
	b, parseErr := encoding.ParseBlock(blk, true)
	if parseErr != nil {
		require.Error(t, err)
		return
	}
	fuzzParts(t, blk, buf[:n], bitmap.Bits{Data: validity, Len: n}, err == nil, &s)
	node := Describe(b.Values, Of[T](), n)
	_ = node.String()
	if err != nil {
		return
	}
	require.NoError(t, node.FirstErr())
	again := make([]T, n)
	nulls2, err := DecodeBlock(again, nil, 0, blk, BlockOptions{Checksums: true}, &s)
	require.NoError(t, err)
	require.Equal(t, nulls, nulls2)
	require.Equal(t, word.Store(nil, buf[:n]), word.Store(nil, again))
}

// fuzzParts reads rows, converts and selects values. Nothing panics, and the values agree with those of a valid
// block.
func fuzzParts[T Value](t *testing.T, blk []byte, values []T, valid bitmap.Bits, good bool, s *Scratch) {
	n := len(values)
	low, high := T(0), T(100)
	if good && n > 0 {
		low, high = min(values[0], values[n/2]), max(values[0], values[n/2])
	}
	o := BlockOptions{Checksums: true}
	rows := rowset.Of(rowset.Range{From: 0, To: int64(n / 50)}, rowset.Range{From: int64(n / 2), To: int64(n/2 + n%2)})
	if good {
		requireRows(t, values, valid, blk, rows, s)
		requireSelected(t, values, valid, blk, []Interval[T]{{low, high}}, "", s)
		pairs, want := make([]pair, n), make([]pair, n)
		_, err := DecodeBlockAs(pairs, nil, 0, blk, Change[pair, T](toPair[T]{}), o, s)
		require.NoError(t, err)
		toPair[T]{}.Values(want, values)
		for i := range want {
			if valid.At(i) && want[i] != pairs[i] {
				t.Fatalf("value %d is %v, changed %v", i, values[i], pairs[i])
			}
		}
		return
	}
	_, _ = DecodeRows(make([]T, rows.Len()), nil, 0, blk, n, rows, o, s)
	_ = SelectRanges(blk, n, []Interval[T]{{low, high}}, o, s, make([]uint64, n/64+1))
	_, _ = DecodeBlockAs(make([]pair, n), nil, 0, blk, Change[pair, T](toPair[T]{}), o, s)
}

func FuzzDecodeSigned(f *testing.F) {
	fuzzBlocks(f, I8, I16, I32, I64)
	fuzzOwn[int16](f, 1)
	fuzzOwn[int64](f, 3)
	f.Fuzz(func(t *testing.T, blk []byte, n uint16, size uint8) {
		switch size % 4 {
		case 0:
			fuzzDecode[int8](t, blk, int(n))
		case 1:
			fuzzDecode[int16](t, blk, int(n))
		case 2:
			fuzzDecode[int32](t, blk, int(n))
		case 3:
			fuzzDecode[int64](t, blk, int(n))
		}
	})
}

func FuzzDecodeUnsigned(f *testing.F) {
	fuzzBlocks(f, U8, U16, U32, U64)
	fuzzOwn[uint8](f, 0)
	fuzzOwn[uint32](f, 2)
	fuzzOwn[uint64](f, 3)
	f.Fuzz(func(t *testing.T, blk []byte, n uint16, size uint8) {
		switch size % 4 {
		case 0:
			fuzzDecode[uint8](t, blk, int(n))
		case 1:
			fuzzDecode[uint16](t, blk, int(n))
		case 2:
			fuzzDecode[uint32](t, blk, int(n))
		case 3:
			fuzzDecode[uint64](t, blk, int(n))
		}
	})
}

func FuzzDecodeFloat(f *testing.F) {
	fuzzBlocks(f, F32, F64)
	fuzzOwn[float64](f, 1)
	f.Fuzz(func(t *testing.T, blk []byte, n uint16, size uint8) {
		if size%2 == 0 {
			fuzzDecode[float32](t, blk, int(n))
		} else {
			fuzzDecode[float64](t, blk, int(n))
		}
	})
}
