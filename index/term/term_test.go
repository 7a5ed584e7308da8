package term

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/index/term/internal/runs"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/storage"
)

// table is the texts of the fields of a table, by field and row.
type table [][][]byte

func drawTable(t *rapid.T) table {
	fields, rows := rapid.IntRange(1, 3).Draw(t, "fields"), rapid.SampledFrom([]int{0, 1, 10, 300, 1500}).Draw(t, "rows")
	words := rapid.SampledFrom([]int{1, 10, 500}).Draw(t, "words")
	rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	out := make(table, fields)
	for f := range out {
		out[f] = make([][]byte, rows)
		for i := range out[f] {
			if rows > 3000 && i%7 > 0 {
				out[f][i] = []byte("each")
				continue
			}
			for range rnd.IntN(4) * (1 + rnd.IntN(20)/19*rnd.IntN(40)) {
				w := rnd.IntN(words)
				word := fmt.Sprintf("%s%d", []string{"word", "Word", "WÖRD", "ɐ"}[rnd.IntN(4)], w*w)
				out[f][i] = fmt.Appendf(out[f][i], "%s ", word)
			}
		}
	}
	return out
}

// write makes an index by several builders, of rows each.
func write(t require.TestingT, data table, o Options, limit int64, builders int) []byte {
	var all []*Builder
	rows := len(data[0])
	for k := range builders {
		b := NewBuilder(BuilderOptions{Collation: o.Collation, Tokenizers: make([]analysis.Tokenizer, len(data)), Scores: o.Scored > 0, Memory: limit,
			Spool: func() *storage.Spool { return storage.NewSpool(nil, "") }})
		all = append(all, b)
		for f := range data {
			for i := k * rows / builders; i < (k+1)*rows/builders; i++ {
				require.NoError(t, b.Add(f, uint32(i), data[f][i]))
				if limit < 1000 && i%1000 > 0 {
					b.o.Memory = 1 << 40 // not after every row
				} else {
					b.o.Memory = limit
				}
			}
		}
	}
	var out bytes.Buffer
	require.NoError(t, Write(tctx, &out, o, all...))
	for _, b := range all {
		require.NoError(t, b.Close())
	}
	return out.Bytes()
}

func open(t require.TestingT, file []byte, rows int) *Index {
	r := storage.FromBytes("index", append([]byte("before "), file...))
	x, err := Open(tctx, storage.ByteRange{Reader: r, Offset: 7, Size: int64(len(file))}, int64(rows))
	require.NoError(t, err)
	return x
}

// naive is the rows of each term of each field, by the term as the index has it.
func naive(data table, o Options) []map[string][]uint32 {
	out := make([]map[string][]uint32, len(data)+o.Scored)
	for f := range out {
		out[f] = map[string][]uint32{}
	}
	for f := range data {
		for i, text := range data[f] {
			var found analysis.Terms
			found.Find(analysis.Word, text)
			words := found.Spans
			if len(words) > 0 && o.Scored > 0 {
				term := fmt.Sprintf("\x00%02X", analysis.LengthCode(len(words)))
				out[len(data)+f][term] = append(out[len(data)+f][term], uint32(i))
			}
			for _, s := range words {
				term := string(text[s.From:s.To])
				if o.Collation == analysis.CaseInsensitive {
					term = string(analysis.AppendUpper(nil, []byte(term)))
				}
				row := uint32(i / max(o.Coarse, 1))
				if l := out[f][term]; len(l) == 0 || l[len(l)-1] != row {
					out[f][term] = append(l, row)
				}
			}
		}
	}
	return out
}

func rowsOf(t require.TestingT, x *Index, e Entry, from, to uint32) (rows []uint32) {
	require.NoError(t, x.EachPart(tctx, e, from, to, nil, func(part []uint32) error {
		rows = append(rows, part...)
		return nil
	}))
	marked, err := markedRows(x, e, from, to)
	require.NoError(t, err)
	require.Equal(t, rows, marked)
	return rows
}

// markedRows are the rows that a bitmap of an entry has.
func markedRows(x *Index, e Entry, from, to uint32) (rows []uint32, err error) {
	bits, first, err := x.Mark(tctx, []byte{1, 2, 3}, []Entry{e}, from, to, nil)
	for i := range uint32(8 * len(bits)) {
		if row := first + i; row >= from && row < to && bits[i/8]>>(i%8)&1 != 0 {
			rows = append(rows, row)
		}
	}
	return rows, err
}

// An index has all terms of a table with all their rows, however it was made.
func TestIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkIndex(t, drawTable(t)) })
}

// Lists of many rows are divided into parts.
func TestLongLists(t *testing.T) {
	data := make(table, 1)
	for i := range 200_000 {
		data[0] = append(data[0], []byte("each"))
		if i%10 == 0 || i > 70_000 && i < 140_000 {
			data[0][i] = fmt.Appendf(nil, "each word%d", i%3)
		}
		if i > 135_000 && i < 190_000 {
			data[0][i] = nil // a part without rows
		}
	}
	for _, o := range []Options{{Rows: 200_000, Fields: 1}, {Rows: 200_000, Fields: 2, Scored: 1}} {
		checkIndexWith(t, data, o, []int64{1 << 20}, 2, "each", "word")
	}
}

// drawOptions generates options of an index of a table.
func drawOptions(t *rapid.T, data table) Options {
	o := Options{Rows: int64(len(data[0])), Fields: len(data), Coarse: rapid.SampledFrom([]int{0, 1, 16}).Draw(t, "coarse"),
		Collation: rapid.SampledFrom([]analysis.Collation{analysis.CaseInsensitive, analysis.CasePreserving}).Draw(t, "collation")}
	if o.Coarse < 2 && rapid.Bool().Draw(t, "scored") {
		o.Scored = o.Fields
		o.Fields *= 2
	}
	return o
}

func checkIndex(t *rapid.T, data table) {
	o := drawOptions(t, data)
	checkIndexWith(t, data, o, []int64{rapid.SampledFrom([]int64{1, 1 << 30}).Draw(t, "limit")}, rapid.IntRange(1, 3).Draw(t, "builders"),
		rapid.SampledFrom([]string{"word1", "WORD4", "wörd", "w", "ɐ", "Each", "", "zzz", "0"}).Draw(t, "term"))
}

func checkIndexWith(t require.TestingT, data table, o Options, limits []int64, builders int, terms ...string) {
	rows := len(data[0])
	file := write(t, data, o, 1<<30, 1)
	for _, limit := range limits {
		require.True(t, bytes.Equal(file, write(t, data, o, limit, builders)))
	}
	x := open(t, file, rows)
	want := naive(data, o)
	var last Entry
	n, postings := 0, 0
	for e, err := range x.All(tctx) {
		require.NoError(t, err)
		if n > 0 {
			require.Negative(t, runs.Compare(o.Collation, last.Term, last.Field, e.Term, e.Field))
		}
		list := want[e.Field][string(e.Term)]
		require.EqualValues(t, len(list), e.Rows)
		if e.Rows > 1000 || n%16 == 0 {
			require.True(t, slices.Equal(list, rowsOf(t, x, e, 0, 1<<31)))
			from, to := list[len(list)/3], list[len(list)/2]
			require.True(t, slices.Equal(list[len(list)/3:len(list)/2], rowsOf(t, x, e, from, to)))
		}
		n, postings = n+1, postings+len(list)
		last = e
	}
	require.EqualValues(t, n, x.Terms)
	require.EqualValues(t, postings, x.Postings)
	for f := range want {
		n -= len(want[f])
	}
	require.Zero(t, n)
	for _, term := range terms {
		requireFound(t, x, want, term)
	}
}

// requireFound compares what an index finds.
func requireFound(t require.TestingT, x *Index, want []map[string][]uint32, term string) {
	key := analysis.AppendUpper(nil, []byte(term))
	for _, prefix := range []bool{false, true} {
		count := 0
		for f := range want {
			for have := range want[f] {
				if u := analysis.AppendUpper(nil, []byte(have)); bytes.Equal(u, key) || prefix && bytes.HasPrefix(u, key) {
					count++
				}
			}
		}
		for e, err := range x.Find(tctx, []byte(term), prefix) {
			require.NoError(t, err)
			require.Contains(t, want[e.Field], string(e.Term))
			count--
		}
		require.Zero(t, count, "%s %v", term, prefix)
	}
}

// askContaining asks an index for some terms that contain a text.
func askContaining(t *testing.T, x *Index, want map[string][]uint32) error {
	var texts []string
	for i := range 1000 {
		texts = append(texts, fmt.Sprintf("%03d", i), fmt.Sprintf("W%02d", i%100))
	}
	for _, text := range append(texts, "MMO", "COMMON", "NGERLO") {
		n := 0
		blocks, err := x.Containing(tctx, []byte(text))
		if err == nil {
			blocks, err = x.Narrow(tctx, blocks, []byte(text))
		}
		if err != nil {
			return err
		}
		for e, err := range x.FindContaining(tctx, blocks, []byte(text), false) {
			if err != nil {
				return err
			}
			require.Contains(t, want, string(e.Term))
			n++
		}
		for term := range want {
			if strings.Contains(term, text) || analysis.MayBeCut(x.Collation, []byte(term)) {
				n--
			}
		}
		require.Zero(t, n, text)
	}
	return nil
}

// The index of a damaged file is an error, or right.
func TestDamage(t *testing.T) {
	var data table = make([][][]byte, 1)
	for i := range 3000 {
		data[0] = append(data[0], fmt.Appendf(nil, "common w%d n%d x%d", i%1000, i%20, i%2))
	}
	data[0][77] = bytes.Repeat([]byte("longer"), 30) // is cut
	want := naive(data, Options{})[0]
	file := write(t, data, Options{Rows: 3000}, 1<<30, 1)
	ask := func(file []byte) error {
		x, err := Open(tctx, storage.ByteRange{Reader: storage.FromBytes("index", file), Size: int64(len(file))}, 3000)
		if err != nil {
			return err
		}
		for e, err := range x.All(tctx) {
			if err != nil {
				return err
			}
			var rows []uint32
			err := x.EachPart(tctx, e, 0, 3000, nil, func(part []uint32) error {
				rows = append(rows, part...)
				return nil
			})
			if err != nil {
				return err
			}
			require.True(t, slices.Equal(want[string(e.Term)], rows), "%s", e.Term)
			if rows, err = markedRows(x, e, 0, 3000); err != nil {
				return err
			}
			require.True(t, slices.Equal(want[string(e.Term)], rows), "%s", e.Term)
		}
		return askContaining(t, x, want)
	}
	require.NoError(t, ask(file))
	for i := 0; i < 8*len(file); i += 8*len(file)/sweep.Count(80, 8*len(file)) | 1 {
		file[i/8] ^= 1 << (i % 8)
		require.Error(t, ask(file), "bit %d", i)
		file[i/8] ^= 1 << (i % 8)
	}
	for n := 0; n < len(file); n += len(file)/sweep.Count(40, 100) + 1 {
		require.Error(t, ask(file[:n]))
	}
}

// readAll asks an index for all that it has.
func readAll(file []byte, rows int64) error {
	x, err := Open(tctx, storage.ByteRange{Reader: storage.FromBytes("index", file), Size: int64(len(file))}, rows)
	if err != nil {
		return err
	}
	for e, err := range x.All(tctx) {
		if err != nil {
			return err
		}
		err = x.EachPart(tctx, e, 0, uint32(rows), nil, func([]uint32) error { return nil })
		if _, again := markedRows(x, e, 0, uint32(rows)); (again == nil) != (err == nil) {
			panic(again)
		}
		if err != nil {
			return err
		}
	}
	for _, key := range []string{"", "w1", "zzz"} {
		for _, err := range x.Find(tctx, []byte(key), true) {
			if err != nil {
				return err
			}
		}
	}
	return x.Compare(tctx, x, func(err error) error { return err })
}

// mend makes the checksums of the footer and of blocks those of their bytes, so that a reader goes on to what they protect.
func mend(file []byte, rows int64) {
	end := len(file) - footerLen
	if end < 0 {
		return
	}
	footer := file[end:]
	if stored := int64(binary.LittleEndian.Uint32(footer[36:])); stored <= int64(end) {
		binary.LittleEndian.PutUint64(footer[56:], footerHash(file[int64(end)-stored:end], footer[:56]))
	}
	x, err := Open(tctx, storage.ByteRange{Reader: storage.FromBytes("index", file), Size: int64(len(file))}, rows)
	if err != nil {
		return
	}
	for _, e := range x.blocks {
		if b := file[e.block:e.end]; len(b) >= container.ChecksumLen {
			container.AppendChecksum(b[:len(b)-container.ChecksumLen], 0)
		}
	}
}

// Damage behind the right checksums is an error, or another index.
func TestDamageBehindChecksums(t *testing.T) {
	data := make(table, 2)
	for i := range 5000 {
		data[0] = append(data[0], fmt.Appendf(nil, "common w%d n%d x%d", i%1000, i%20, i%2))
		data[1] = append(data[1], fmt.Appendf(nil, "other %d", i%3))
	}
	file := write(t, data, Options{Rows: 5000, Fields: 2}, 1<<30, 1)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range sweep.Count(50, 5_000) {
		damaged := bytes.Clone(file)
		for range 1 + rnd.IntN(3) {
			at := rnd.IntN(len(file))
			if rnd.IntN(2) == 0 { // the directory and the footer
				at = len(file) - 1 - rnd.IntN(200)
			}
			damaged[at] = byte(rnd.Uint32())
		}
		mend(damaged, 5000)
		_ = readAll(damaged, 5000)
	}
}

// No bytes make a reader fail otherwise than by an error.
func FuzzIndex(f *testing.F) {
	data := table{nil, nil}
	for i := range 300 {
		data[0] = append(data[0], fmt.Appendf(nil, "common w%d n%d", i, i%20))
		data[1] = append(data[1], fmt.Appendf(nil, "other %d", i%3))
	}
	f.Add(write(f, data, Options{Rows: 300, Fields: 2}, 1<<30, 1))
	f.Add(write(f, data[:1], Options{Rows: 300, Fields: 1, Coarse: 16, Collation: analysis.CasePreserving}, 1<<30, 1))
	f.Fuzz(func(_ *testing.T, file []byte) {
		_ = readAll(file, 300)
		file = bytes.Clone(file)
		mend(file, 300)
		_ = readAll(file, 300)
	})
}
