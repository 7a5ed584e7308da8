package term

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/text/analysis"
)

const leastCut = analysis.MaxTermLen - utf8.UTFMax + 1

// A term that may have been cut is yielded for any text, whatever its upper case takes.
func TestMayBeCut(t *testing.T) {
	for r := range rune(utf8.MaxRune + 1) {
		if r > utf8.RuneSelf && analysis.Upper(r) == r {
			continue
		}
		word := bytes.Repeat(utf8.AppendRune(nil, r), analysis.MaxTermLen/max(utf8.RuneLen(r), 1))
		require.True(t, analysis.MayBeCut(analysis.CaseInsensitive, analysis.AppendUpper(nil, word)), "%U", r)
	}
	for n := range 200 {
		require.Equal(t, n >= leastCut, analysis.MayBeCut(analysis.CaseInsensitive, bytes.Repeat([]byte("A"), n)))
		require.Equal(t, n >= leastCut, analysis.MayBeCut(analysis.CasePreserving, bytes.Repeat([]byte("s"), n)))
	}
}

// drawLetters draws a table of words of few letters, so that they have many parts in common.
func drawLetters(t *rapid.T) table {
	fields, rows := rapid.IntRange(1, 3).Draw(t, "fields"), rapid.SampledFrom([]int{0, 1, 10, 2000}).Draw(t, "rows")
	letters := []rune(rapid.SampledFrom([]string{"ab", "aBs", "aäſı", "abcdefghij0123456789"}).Draw(t, "letters"))
	most := rapid.SampledFrom([]int{3, 12, 150}).Draw(t, "most")
	rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	out := make(table, fields)
	for f := range out {
		out[f] = make([][]byte, rows)
		for i := range out[f] {
			for range rnd.IntN(4) {
				n := 1 + rnd.IntN(most)
				if n > 12 && rnd.IntN(20) > 0 {
					n = 1 + n%12
				}
				for range n {
					out[f][i] = fmt.Appendf(out[f][i], "%c", letters[rnd.IntN(len(letters))])
				}
				out[f][i] = append(out[f][i], ' ')
			}
		}
	}
	return out
}

// Each term that contains or ends with a text is found, and of the others only those that may have been cut.
func TestFindContaining(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := drawLetters(t)
		o := Options{Rows: int64(len(data[0])), Fields: len(data), Collation: rapid.SampledFrom([]analysis.Collation{analysis.CaseInsensitive, analysis.CasePreserving}).Draw(t, "collation")}
		file := write(t, data, o, rapid.SampledFrom([]int64{1, 1 << 30}).Draw(t, "limit"), rapid.IntRange(1, 3).Draw(t, "builders"))
		require.True(t, bytes.Equal(file, write(t, data, o, 1<<30, 1)))
		x := open(t, file, len(data[0]))
		require.Equal(t, len(x.blocks) >= gramBlocks, x.pages != nil)
		for range 10 {
			text := []byte(rapid.SampledFrom([]string{"", "a", "ab", "aba", "äſı", "abcdef", "012", "bsa"}).Draw(t, "text"))
			if f := data[rapid.IntRange(0, len(data)-1).Draw(t, "field")]; len(f) > 0 {
				line := f[rapid.IntRange(0, len(f)-1).Draw(t, "row")]
				from := rapid.IntRange(0, len(line)).Draw(t, "from")
				text = append([]byte{}, line[from:rapid.IntRange(from, len(line)).Draw(t, "to")]...)
			}
			if o.Collation == analysis.CaseInsensitive {
				text = analysis.AppendUpper(nil, text)
			}
			requireContaining(t, x, text, rapid.Bool().Draw(t, "end"))
		}
	})
}

func requireContaining(t require.TestingT, x *Index, text []byte, end bool) {
	var want, got []string
	for e, err := range x.All(tctx) {
		require.NoError(t, err)
		if strings.Contains(string(e.Term), string(text)) && (!end || strings.HasSuffix(string(e.Term), string(text))) || analysis.MayBeCut(x.Collation, e.Term) {
			want = append(want, fmt.Sprintf("%d %s", e.Field, e.Term))
		}
	}
	blocks, err := x.Containing(tctx, text)
	require.NoError(t, err)
	for range 2 { // the second time in fewer blocks
		got = nil
		for e, err := range x.FindContaining(tctx, blocks, text, end) {
			require.NoError(t, err)
			got = append(got, fmt.Sprintf("%d %s", e.Field, e.Term))
		}
		require.Equal(t, want, got, "%q %v", text, end)
		blocks, err = x.Narrow(tctx, blocks, text)
		require.NoError(t, err)
	}
}

// Each term that is like a word is found, and no other.
func TestFindFuzzy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := drawLetters(t)
		o := Options{Rows: int64(len(data[0])), Fields: len(data), Collation: rapid.SampledFrom([]analysis.Collation{analysis.CaseInsensitive, analysis.CasePreserving}).Draw(t, "collation")}
		x := open(t, write(t, data, o, 1<<30, 1), len(data[0]))
		for range 5 {
			word := rapid.SampledFrom([]string{"A", "AB", "ABA", "ÄSI", "ABCDEF", "012", "BSAABBA"}).Draw(t, "word")
			requireFuzzy(t, x, word, rapid.IntRange(1, 2).Draw(t, "distance"))
		}
	})
	x := open(t, writeNumbers(t, 20_000, func(*gramWriter) {}), 10)
	for word, most := range map[string][2]int{"WORD17777": {33, 79}, "BIRD1": {1, 40}, "SWORD5": {2, 40}, "177": {1, 2}} {
		for i, n := range most {
			requireFuzzy(t, x, word, i+1)
			require.LessOrEqual(t, len(x.fuzzyBlocks(analysis.NewFuzzy([]byte(word), i+1))), n, "%s %d", word, i+1)
		}
	}
}

func requireFuzzy(t require.TestingT, x *Index, word string, distance int) {
	f := analysis.NewFuzzy([]byte(word), distance)
	var want, got []string
	for e, err := range x.All(tctx) {
		require.NoError(t, err)
		if f.Match(analysis.AppendUpper(nil, e.Term)) {
			want = append(want, fmt.Sprintf("%d %s", e.Field, e.Term))
		}
	}
	for e, err := range x.FindFuzzy(tctx, []byte(word), distance) {
		require.NoError(t, err)
		got = append(got, fmt.Sprintf("%d %s", e.Field, e.Term))
	}
	require.Equal(t, want, got)
}

// writeNumbers writes an index of the terms WORD0, WORD1, … after a change of its grams.
func writeNumbers(t require.TestingT, terms int, change func(g *gramWriter)) []byte {
	var out bytes.Buffer
	w, err := newWriter(&out, Options{Rows: 10})
	require.NoError(t, err)
	var names []string
	for i := range terms {
		names = append(names, fmt.Sprintf("WORD%d", i))
	}
	slices.Sort(names)
	for i, name := range names {
		w.begin([]byte(name), 0)
		w.rows([]uint32{uint32(i % 10)})
		w.end()
	}
	w.endBlock()
	change(&w.grams)
	require.NoError(t, w.finish())
	return out.Bytes()
}

// A text is looked for in the blocks only that have its grams.
func TestContainingBlocks(t *testing.T) {
	x := open(t, writeNumbers(t, 20_000, func(*gramWriter) {}), 10)
	require.Len(t, x.blocks, 79)
	for text, most := range map[string]int{"WORD": 79, "D1777": 8, "ORD19": 6, "1234": 79, "WORDS": 0, "ABC": 0, "45": 79} {
		blocks, err := x.Containing(tctx, []byte(text))
		require.NoError(t, err)
		require.LessOrEqual(t, len(blocks), most, text)
		requireContaining(t, x, []byte(text), false)
		requireContaining(t, x, []byte(text), true)
	}
}

// A comparison finds grams that are not those of the terms.
func TestCompareGrams(t *testing.T) {
	good := open(t, writeNumbers(t, 3000, func(*gramWriter) {}), 10)
	number := gramNumber([]byte("299"))
	for name, change := range map[string]func(g *gramWriter){
		"":         func(*gramWriter) {},
		"unlisted": func(g *gramWriter) { g.list(number).all = true },
		"missing":  func(g *gramWriter) { g.list(number).gram = 1; g.of[1], g.of[number] = g.of[number], 0 },
		"too many": func(g *gramWriter) {
			g.lists = append(g.lists, gramList{gram: 1, n: 1, gaps: []byte{3}})
			g.of[1] = uint32(len(g.lists))
		},
		"too few":   func(g *gramWriter) { l := g.list(number); l.n, l.gaps = l.n-1, l.gaps[:len(l.gaps)-1] },
		"cut block": func(g *gramWriter) { g.cut = []uint32{4} },
	} {
		differences := 0
		x := open(t, writeNumbers(t, 3000, change), 10)
		require.NoError(t, x.Compare(tctx, good, func(error) error { differences++; return nil }))
		require.Equal(t, name != "" && name != "unlisted", differences > 0, name)
	}
}

// Lists of grams that are too long together are dropped, those of the most frequent grams first.
func TestGramMemory(t *testing.T) {
	g := gramWriter{memory: 256 << 10}
	rnd := rand.New(rand.NewPCG(1, 1))
	var term [200]byte
	for block := range uint32(500) {
		for i := range term {
			term[i] = byte(rnd.IntN(80) * rnd.IntN(2)) // half of them zero
		}
		for range 8 {
			rnd.Shuffle(len(term), func(i, k int) { term[i], term[k] = term[k], term[i] })
			g.add(term[:], 0)
		}
		g.endBlock(block)
		require.LessOrEqual(t, g.size, g.memory)
	}
	pages := g.pages(500, 100<<10)
	size := 0
	for _, p := range pages {
		size += len(p)
	}
	require.InDelta(t, 100<<10, size-3*len(g.lists), 20<<10)
	require.True(t, g.list(gramNumber(make([]byte, 3))).all)
}

// Blocks and pages of any bytes are errors, or right.
func FuzzParse(f *testing.F) {
	x := open(f, writeNumbers(f, 3000, func(*gramWriter) {}), 10)
	b, err := x.read(tctx, x.blocks[1].block, x.blocks[1].end-container.ChecksumLen)
	require.NoError(f, err)
	f.Add(b, uint16(0))
	b, err = x.read(tctx, x.pages[2], x.pages[3]-container.ChecksumLen)
	require.NoError(f, err)
	f.Add(b, uint16(1))
	f.Fuzz(func(t *testing.T, data []byte, more uint16) {
		data = container.AppendChecksum(data, 0)
		b := new(block)
		if new(parser).parse(b, data, &Options{Fields: 1 + int(more%3), Scored: int(more % 3 / 2)}, 1000, uint64(more)) == nil {
			for i := range b.containing(analysis.CaseInsensitive, []byte("12"), more%2 == 0) {
				require.LessOrEqual(t, len(b.term(i)), maxTermBytes)
			}
			for i := range b.fuzzy(analysis.NewFuzzy([]byte("12"), 1)) {
				require.Less(t, i, b.len())
			}
			for i, n := range b.counts {
				if n > shortRows {
					continue
				}
				if rows, frequencies, err := b.shortList(nil, nil, i, 1000); err == nil {
					require.True(t, frequencies == nil || len(frequencies) == len(rows))
					require.Len(t, rows, int(n))
				}
			}
		}
		if p, err := parsePage(data, 1<<14, 1<<14, 12); err == nil {
			for _, number := range p.numbers {
				if blocks, all, err := p.find(number, 12); err == nil {
					require.True(t, all || len(blocks) > 0 && blocks[len(blocks)-1] < 12)
				}
			}
		}
	})
}
