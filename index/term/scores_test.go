package term

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/index/term/internal/scored"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/postings"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/storage"
)

// Each row of a term has its frequency, blocks tell what their rows have at most and at least, and lengths are those of rows.
func TestFrequencies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := drawTable(t)
		o := Options{Rows: int64(len(data[0])), Fields: 2 * len(data), Scored: len(data)}
		x := open(t, write(t, data, o, rapid.SampledFrom([]int64{1, 1 << 30}).Draw(t, "limit"), 2), len(data[0]))
		counts, lengths := make([]map[string][]uint32, len(data)), make([][]uint8, len(data))
		for f := range data {
			counts[f], lengths[f] = map[string][]uint32{}, make([]uint8, len(data[f]))
			sum := Lengths{}
			for i, text := range data[f] {
				var found analysis.Terms
				found.Find(analysis.Word, text)
				words := found.Spans
				lengths[f][i] = analysis.LengthCode(len(words))
				sum.Terms += int64(analysis.Length(lengths[f][i]))
				sum.Rows += min(int64(len(words)), 1)
				inRow := map[string]uint32{}
				for _, s := range words {
					inRow[string(analysis.AppendUpper(nil, text[s.From:s.To]))]++
				}
				for term, n := range inRow {
					counts[f][term] = append(counts[f][term], n-1)
				}
			}
			have, err := x.Lengths(tctx, f, nil)
			require.NoError(t, err)
			require.Equal(t, sum, have)
			codes := make([]uint8, len(lengths[f]))
			have, err = x.Lengths(tctx, f, codes)
			require.NoError(t, err)
			require.Equal(t, sum, have)
			require.Equal(t, lengths[f], codes)
		}
		for e, err := range x.All(tctx) {
			require.NoError(t, err)
			if e.Field >= x.Scored {
				continue
			}
			l, err := x.List(tctx, e)
			require.NoError(t, err)
			var all, rows, frequencies []uint32
			for i := range l.Blocks() {
				rows, err = l.Rows(i, rows)
				require.NoError(t, err)
				frequencies, err = l.Counts(i, frequencies)
				require.NoError(t, err)
				require.Equal(t, rows[len(rows)-1], l.Last(i))
				want := analysis.NoRows
				for k, r := range rows {
					want.Add(uint8(frequencies[k]+1), lengths[e.Field][r])
				}
				if e.Rows <= shortRows {
					want.Lengths = [3]uint8{}
				}
				require.Equal(t, want, l.Bounds(i))
				all = append(all, frequencies...)
			}
			require.Equal(t, counts[e.Field][string(e.Term)], all)
		}
	})
}

// Frequencies above 255 count as 255.
func TestManyTimes(t *testing.T) {
	data := table{{nil, nil}}
	for i := range 1000 {
		data[0][0] = append(data[0][0], "a "...)
		if i < 254 {
			data[0][1] = append(data[0][1], "a "...)
		}
	}
	x := open(t, write(t, data, Options{Rows: 2, Fields: 2, Scored: 1}, 1<<30, 1), 2)
	for e, err := range x.Find(tctx, []byte("a"), false) {
		require.NoError(t, err)
		l, err := x.List(tctx, e)
		require.NoError(t, err)
		frequencies, err := l.Counts(0, nil)
		require.NoError(t, err)
		require.Equal(t, []uint32{254, 253}, frequencies)
	}
}

// Whatever bit of an index with frequencies is wrong, reading it is an error, or right.
func TestScoredDamage(t *testing.T) {
	data := joinTable(3000)
	file := write(t, data, Options{Rows: 3000, Fields: 2, Scored: 1}, 1<<30, 1)
	sound := open(t, file, 3000)
	differs := func(file []byte) (differs bool, err error) {
		x, err := Open(tctx, storage.ByteRange{Reader: storage.FromBytes("index", file), Size: int64(len(file))}, 3000)
		if err != nil {
			return false, err
		}
		if x.Options != sound.Options {
			return true, nil
		}
		err = x.Compare(tctx, sound, func(error) error { differs = true; return nil })
		return differs, err
	}
	found, err := differs(file)
	require.NoError(t, err)
	require.False(t, found)
	for i := 0; i < 8*len(file); i += 8*len(file)/sweep.Count(200, 8*len(file)) | 1 {
		file[i/8] ^= 1 << (i % 8)
		found, err := differs(file)
		require.True(t, found || fault.Is(err), "bit %d: %v", i, err)
		file[i/8] ^= 1 << (i % 8)
	}
}

// Lists without frequencies have none to read, and a canceled reading ends.
func TestNoFrequencies(t *testing.T) {
	data := joinTable(300)
	x := open(t, write(t, data, Options{Rows: 300}, 1<<30, 1), 300)
	for e, err := range x.Find(tctx, []byte("common"), false) {
		require.NoError(t, err)
		_, err = x.List(tctx, e)
		require.ErrorIs(t, err, fault.ErrCorrupt)
	}
	_, err := x.Lengths(tctx, 0, nil)
	require.ErrorIs(t, err, fault.ErrCorrupt)
	x = open(t, write(t, data, Options{Rows: 300, Fields: 2, Scored: 1}, 1<<30, 1), 300)
	ctx, cancel := context.WithCancel(tctx)
	cancel()
	_, err = x.Lengths(ctx, 0, make([]uint8, 300))
	require.ErrorIs(t, err, context.Canceled)
}

var freeze = flag.Bool("freeze", false, "write testdata/scored.terms anew")

// An index with frequencies that an earlier version wrote is read as it was.
func TestFrozenScores(t *testing.T) {
	data := joinTable(1000)
	for i := range 300 {
		data[0][3*i] = bytes.Repeat(append(data[0][3*i], ' '), 1+i%40)
	}
	name := filepath.Join("testdata", "scored.terms")
	built := write(t, data, Options{Rows: 1000, Fields: 2, Scored: 1}, 1<<30, 1)
	if *freeze {
		require.NoError(t, os.WriteFile(name, built, 0o644))
	}
	file, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, open(t, file, 1000).Compare(tctx, open(t, built, 1000), func(err error) error { return err }))
}

// A list whose blocks have more bytes than 32 bits count, or whose gaps go around, is damaged, whatever its checksums say.
func TestForgedLists(t *testing.T) {
	const blocks = 1<<16 + 2
	var data []byte
	for i := range uint32(blocks) { // together 2^32 + 65,534 bytes
		data = binary.LittleEndian.AppendUint32(data, 128*i+127)
		data = append(binary.LittleEndian.AppendUint16(data, 1<<16-1), 1, 1, 1, 1)
	}
	data = append(container.AppendChecksum(data, 0), make([]byte, 65_534)...)
	_, err := scored.New(data, 128*blocks, 1<<30)
	require.ErrorIs(t, err, fault.ErrCorrupt)

	block := postings.AppendPacked(nil, append([]uint32{5, 1<<32 - 1}, make([]uint32, 68)...)) // 5, 5, 6, 7 …
	block = container.AppendChecksum(postings.AppendPacked(block, make([]uint32, 70)), 0)
	table := binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint32(nil, 73), uint16(len(block)))
	l, err := scored.New(append(container.AppendChecksum(append(table, 1, 1, 255, 255), 0), block...), 70, 1000)
	require.NoError(t, err)
	_, err = l.Rows(0, nil)
	require.ErrorIs(t, err, fault.ErrCorrupt)
}
