package numeric

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// rowSets returns sets of rows below n: none, all, single ones, parts of chunks.
func rowSets(n int) []rowset.Set {
	sets := []rowset.Set{{}, rowset.All(int64(n))}
	for _, step := range []int{1, 17, 700} {
		for _, length := range []int{1, 40, 1025} {
			var s []rowset.Range
			for i := step / 2; i < n; i += step + length {
				s = append(s, rowset.Range{From: int64(i), To: int64(min(i+length, n))})
			}
			sets = append(sets, rowset.Of(s...))
		}
	}
	return sets
}

// forcedBlock returns a block with a forced tree.
func forcedBlock[T Value](t require.TestingT, values []T, valid bitmap.Bits, shape string) []byte {
	p, err := parseShape(shape)
	require.NoError(t, err)
	e := NewEncoder[T](encoding.Options{})
	e.forced = p
	blk, err := e.AppendBlock(nil, values, valid)
	require.NoError(t, err)
	return blk
}

func testRows[T Value](t *testing.T) {
	var s Scratch
	for _, c := range casesOf[T]() {
		n := len(c.values)
		if n >= 3000 {
			continue
		}
		sets := rowSets(n)
		for _, shape := range append([]string{"CommonDivisor(PatchedPack(raw,raw))"}, allShapes...) {
			if p, err := parseShape(shape); err != nil || !suits(p, Of[T]()) {
				continue
			}
			blk := forcedBlock(t, c.values, c.valid, shape)
			all, bits := make([]T, n), make([]byte, n/8+1)
			_, err := DecodeBlock(all, bits, 0, blk, BlockOptions{Checksums: true}, &s)
			require.NoError(t, err)
			for _, rows := range sets {
				requireRows(t, all, bitmap.Bits{Data: bits, Len: n}, blk, rows, &s)
			}
		}
	}
}

func requireRows[T Value](t require.TestingT, all []T, valid bitmap.Bits, blk []byte, rows rowset.Set, s *Scratch) {
	got, validity := make([]T, rows.Len()), make([]byte, rows.Len()/8+2)
	nulls, err := DecodeRows(got, validity, 3, blk, len(all), rows, BlockOptions{Checksums: true}, s)
	require.NoError(t, err)
	var want []T
	for i := range rows.Rows() {
		if present := validity[(len(want)+3)/8]>>((len(want)+3)%8)&1 != 0; present != valid.At(int(i)) {
			require.Failf(t, "wrong validity", "row %d: %v", i, present)
		} else if !present {
			nulls--
		}
		want = append(want, all[i])
	}
	require.True(t, bytes.Equal(word.Bytes(want), word.Bytes(got)), "%v; want %v", got, want)
	require.Zero(t, nulls)
}

// Decoding some rows of a block agrees with decoding all, for every tree.
func TestDecodeRows(t *testing.T) {
	testRows[int64](t)
	if sweep.All() {
		testRows[uint32](t)
		testRows[int16](t)
		testRows[uint8](t)
	}
	testRows[float64](t)
}

// Missing rows, and a destination that is too small, are errors.
func TestDecodeRowsMisuse(t *testing.T) {
	var s Scratch
	blk := forcedBlock(t, []int32{1, 2, 3}, bitmap.All(3), "Plain")
	for _, r := range []rowset.Range{{From: 1, To: 4}, {From: -1, To: 1}, {From: 0, To: 1}} {
		rows := rowset.Of(r)
		_, err := DecodeRows(make([]int32, 2), nil, 0, blk, 3, rows, BlockOptions{Checksums: true}, &s)
		if rows.Len() == 3 {
			_, err = DecodeRows(make([]int32, 3), nil, 0, blk, 3, rows, BlockOptions{Checksums: true}, &s)
		}
		require.Error(t, err)
	}
}

// Random rows of random blocks of every profile.
func TestDecodeAnyRows(t *testing.T) {
	kinds := []string{"constant", "narrow", "ascending", "runs", "long runs", "few", "small", "sparse", "skewed"}
	blocks := map[string][]byte{}
	for _, kind := range kinds {
		blocks[kind] = forcedBlock(t, benchValues[int64](kind), bitmap.All(benchLen), map[bool]string{true: "PatchedPack(raw,raw)", false: "FFOR"}[kind == "skewed"])
	}
	var s Scratch
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		rows := rapid.SliceOfN(rapid.Int64Range(0, benchLen-1), 0, 300).Draw(t, "rows")
		var ranges []rowset.Range
		for _, r := range rows {
			ranges = append(ranges, rowset.Range{From: r, To: min(benchLen, r+1+r%5)})
		}
		requireRows(t, benchValues[int64](kind), bitmap.All(benchLen), blocks[kind], rowset.Of(ranges...), &s)
	})
}

// Positions of exceptions that do not ascend, or lie behind the values, are an error even for rows that are no exceptions.
func TestRowsCheckAllExceptions(t *testing.T) {
	values := make([]uint32, 2048)
	at := []uint32{70, 700, 1500, 2000}
	for i := range values {
		values[i] = uint32(i % 4)
	}
	for _, i := range at {
		values[i] = 1 << 20
	}
	blk := forcedBlock(t, values, bitmap.Bits{}, "PatchedPack(raw,raw)")
	b, err := encoding.ParseBlock(blk, false)
	require.NoError(t, err)
	place := bytes.Index(b.Values, word.Bytes(at))
	require.Positive(t, place)
	var s Scratch
	for _, c := range []struct {
		name string
		at   []uint32
	}{
		{"twice", []uint32{70, 700, 700, 2000}}, {"descending", []uint32{70, 1500, 700, 2000}}, {"behind the values", []uint32{70, 700, 1500, 2048}},
		{"huge", []uint32{70, 700, 1500, 1<<32 - 1}}, {"huge first", []uint32{1<<32 - 1, 700, 1500, 2000}},
	} {
		tree := bytes.Clone(b.Values)
		copy(tree[place:], word.Bytes(c.at))
		require.ErrorIs(t, Decode(make([]uint32, len(values)), tree, &s), fault.ErrCorrupt, c.name)
		for _, rows := range []rowset.Set{rowset.Of(rowset.Range{From: 3, To: 5}), rowset.Of(rowset.Range{From: 70, To: 71}), rowset.All(2048), {}} {
			dst := make([]uint32, rows.Len())
			require.ErrorIs(t, DecodeTreeRows(dst, tree, len(values), rows, &s), fault.ErrCorrupt, c.name)
		}
	}
}
