package fields

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAssemble compares assembled values with those that are put together byte by byte, and looks for bytes written
// further behind them than Slack. Constant bytes and fields are shorter and longer than what is copied at once.
func TestAssemble(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 5))
	for longest := range 140 {
		for _, patterns := range []int{1, 7} {
			checkAssemble[int32](t, rnd, patterns, longest)
			checkAssemble[int64](t, rnd, patterns, longest)
		}
	}
}

func randomText(rnd *rand.Rand, longest int) []byte {
	b := make([]byte, rnd.IntN(longest+1))
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}

func checkAssemble[O int32 | int64](t *testing.T, rnd *rand.Rand, patterns, longest int) {
	const columns, values = 5, 40
	var text []byte
	var sizes, counts []uint32
	var places []Place
	pieces := make([][][]byte, patterns) // constant bytes before each place, and behind the last
	for i := range pieces {
		n := rnd.IntN(12)
		counts = append(counts, uint32(n))
		size := 0
		for k := range n + 1 {
			piece := randomText(rnd, longest)
			pieces[i] = append(pieces[i], piece)
			text, size = append(text, piece...), size+len(piece)
			if k < n {
				places = append(places, Place{Column: uint32(rnd.IntN(columns)), Before: uint32(len(piece))})
			}
		}
		sizes = append(sizes, uint32(size))
	}
	var d Decoder
	require.NoError(t, d.Reset(text, sizes, counts, places, columns))
	codes, want, ends := make([]uint32, values), []byte(nil), make([]O, values)
	var texts [columns][][]byte
	for i := range codes {
		codes[i] = uint32(rnd.IntN(patterns))
		first := d.patterns[codes[i]].place
		for k, piece := range pieces[codes[i]] {
			if want = append(want, piece...); k < int(counts[codes[i]]) {
				column := places[int(first)+k].Column
				field := randomText(rnd, longest)
				texts[column] = append(texts[column], field)
				want = append(want, field...)
			}
		}
		ends[i] = O(len(want)) + 3
	}
	used := make([]uint64, columns)
	size, err := d.Count(used, codes)
	require.NoError(t, err)
	d.Begin(used)
	for i, fields := range texts {
		require.Equal(t, len(fields), int(used[i]))
		size += setTexts(t, &d, i, fields, i%2 == 0)
	}
	require.Equal(t, len(want), int(size))
	const canary = 0xa5
	memory := make([]byte, 64+len(want)+Slack+64)
	for i := range memory {
		memory[i] = canary
	}
	got := make([]O, values)
	Assemble(&d, memory[64:64+len(want)], codes, got, 3)
	require.Equal(t, string(want), string(memory[64:64+len(want)]))
	require.Equal(t, ends, got)
	for i, b := range memory {
		require.False(t, b != canary && (i < 64 || i >= 64+len(want)+Slack), "byte %d written", i)
	}
}

// setTexts gives a column its fields, and returns their size.
func setTexts(t *testing.T, d *Decoder, column int, texts [][]byte, coded bool) uint64 {
	var all []byte
	var ends []int32
	for _, b := range texts {
		all = append(all, b...)
		ends = append(ends, int32(len(all)))
	}
	room, err := d.Room(len(all))
	require.NoError(t, err)
	copy(room, all)
	if !coded {
		require.NoError(t, d.SetEnds(column, room, ends))
		return uint64(len(all))
	}
	at, spans, codes := uint32(len(d.data)-len(room)), []Span(nil), []uint32(nil)
	for i, b := range texts {
		spans, codes = append(spans, Span{at, uint32(len(b))}), append(codes, uint32(i))
		at += uint32(len(b))
	}
	return d.SetCodes(column, spans, codes)
}

func TestEndsThatDescend(t *testing.T) {
	var d Decoder
	require.NoError(t, d.Reset(nil, []uint32{0}, []uint32{1}, []Place{{}}, 1))
	for _, ends := range [][]int32{{3, 2}, {-1, 3}, {3, 4}} {
		d.Begin([]uint64{2})
		room, err := d.Room(3)
		require.NoError(t, err)
		require.Error(t, d.SetEnds(0, room, ends), fmt.Sprint(ends))
	}
}

func TestKeptBytes(t *testing.T) {
	var d Decoder
	require.NoError(t, d.Reset([]byte("-"), []uint32{1}, []uint32{1}, []Place{{}}, 1))
	at, err := d.Keep([]byte("kept"))
	require.NoError(t, err)
	for range 2 {
		d.Begin([]uint64{1})
		_, err := d.Room(9)
		require.NoError(t, err)
		require.Equal(t, uint64(4), d.SetCodes(0, []Span{{at, 4}}, []uint32{0}))
		out, ends := make([]byte, 5+Slack), make([]int32, 1)
		Assemble(&d, out[:5], []uint32{0}, ends, 0)
		require.Equal(t, "kept-", string(out[:5]))
	}
}
