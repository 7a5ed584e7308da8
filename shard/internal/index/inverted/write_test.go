package inverted

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/index/term"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/storage"
)

// index is the artifacts of an index.
type index []*bytes.Buffer

func (x *index) create(string) io.Writer {
	*x = append(*x, new(bytes.Buffer))
	return (*x)[len(*x)-1]
}

func (x index) open(t require.TestingT, c analysis.Collation, rows int64) *Index {
	var at []storage.ByteRange
	for i, b := range x {
		at = append(at, storage.ByteRange{Reader: storage.FromBytes(fmt.Sprint(i), append([]byte("before "), b.Bytes()...)), Offset: 7, Size: int64(b.Len())})
	}
	require.Len(t, at, 2)
	out, err := Open(ctx, at[0], at[1], c, rows)
	require.NoError(t, err)
	return out
}

// build makes an index of the texts of fields by several builders.
func build(t require.TestingT, o Options, z analysis.Tokenizer, texts [][][]byte, builders int) (x index) {
	var all []*term.Builder
	rows := len(texts[0])
	for k := range builders {
		b := term.NewBuilder(term.BuilderOptions{Collation: o.Collation, Tokenizers: slices.Repeat([]analysis.Tokenizer{z}, len(texts)), Memory: 1 << 30})
		for f := range texts {
			for i := k * rows / builders; i < (k+1)*rows/builders; i++ {
				require.NoError(t, b.Add(f, uint32(i), texts[f][i]))
			}
		}
		all = append(all, b)
	}
	require.NoError(t, Write(ctx, x.create, o, all...))
	return x
}

// lines are the lines of the corpus that an index of the reference was made of.
func (g *answers) lines(t *testing.T) (out [][]byte) {
	name, _, _ := strings.Cut(g.Source, ".log")
	raw, err := os.ReadFile(filepath.Join(testdata.Shared(t), "corpus", filepath.FromSlash(name+".log")))
	require.NoError(t, err)
	for line := range bytes.Lines(raw) {
		out = append(out, bytes.TrimRight(line, "\r\n"))
	}
	return out[:g.Rows]
}

// builtLike makes the index of the same lines.
func builtLike(t *testing.T, g answers) *Index {
	c, _ := analysis.CollationByName(g.Collation)
	z, _ := analysis.TokenizerByName(g.Tokenizer)
	x := build(t, Options{Collation: c, Fields: []uint32{0}, Stripes: g.Stripes[:1]}, z, [][][]byte{g.lines(t)}, 1)
	return x.open(t, c, g.Rows)
}

// An index of the same lines answers the same, and has what the reference lost.
func TestBuiltAnswers(t *testing.T) {
	eachGolden(t, func(t *testing.T, _ *Index, g answers) {
		x := builtLike(t, g)
		for _, a := range g.Answers {
			sure, maybe := ask(t, x, a)
			if a.State == "" && (a.Query == "prefix" && x.Collation == analysis.CasePreserving || len(a.Terms) > 0) {
				require.True(t, setOf(a.True, a.Unknown).Minus(maybe).Empty())
				continue
			}
			require.Equal(t, setOf(a.True, a.Missing).String(), sure.String(), "%s %q", a.Query, a.Term)
			require.Equal(t, setOf(a.Unknown).String(), without(maybe, sure).String(), "%s %q", a.Query, a.Term)
		}
	})
}

// describe is the lists of all terms, as they are stored, and where pages end.
func describe(t *testing.T, x *Index) (out []string) {
	for i := range x.Pages {
		p, err := x.page(ctx, i)
		require.NoError(t, err)
		out = append(out, fmt.Sprintf("page %d %v", len(p.entries), p.children))
		for _, e := range p.entries {
			text := string(e.Term)
			for _, l := range e.Lists {
				rows, err := x.Set(ctx, l, 0, x.Rows)
				require.NoError(t, err)
				text += fmt.Sprintf(" %d.%d.%d:%d-%d %v", l.Stripe, l.Field, l.Form, l.from, l.to, rows)
			}
			out = append(out, text)
		}
	}
	return out
}

// Where the reference loses nothing, the index has the same pages and lists.
func TestBuiltPages(t *testing.T) {
	testdata.Shared(t)
	x, g := openGolden(t, "text-health-trivial")
	require.Equal(t, describe(t, x), describe(t, builtLike(t, g)))
}

// An index has all rows of all terms.
func TestWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, fields := rapid.SampledFrom([]int{0, 1, 10, 300, 3000}).Draw(t, "rows"), rapid.IntRange(1, 3).Draw(t, "fields")
		words := rapid.SampledFrom([]int{1, 10, 3000}).Draw(t, "words")
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		o := Options{Collation: rapid.SampledFrom([]analysis.Collation{analysis.CaseInsensitive, analysis.CasePreserving}).Draw(t, "collation")}
		for range rapid.IntRange(0, 3).Draw(t, "stripes") {
			o.Stripes = append(o.Stripes, rnd.Int64N(int64(rows)+1))
		}
		slices.Sort(o.Stripes)
		type key struct {
			term  string
			field uint32
		}
		want := map[key]map[int64]bool{}
		texts := make([][][]byte, fields)
		for f := range texts {
			o.Fields = append(o.Fields, uint32(10*f+5))
			texts[f] = make([][]byte, rows)
			for i := range texts[f] {
				for range rnd.IntN(4) {
					w := rnd.IntN(1 + rnd.IntN(words))
					word := fmt.Sprintf("%s%d", []string{"word", "Word", "WÖRD", strings.Repeat("long", 20)}[w%4], w)
					texts[f][i] = fmt.Appendf(texts[f][i], "%s ", word)
					if o.Collation == analysis.CaseInsensitive {
						word = string(analysis.AppendUpper(nil, []byte(word)))
					}
					k := key{word, o.Fields[f]}
					if want[k] == nil {
						want[k] = map[int64]bool{}
					}
					want[k][int64(i)] = true
				}
			}
		}
		x := build(t, o, analysis.Word, texts, rapid.IntRange(1, 3).Draw(t, "builders")).open(t, o.Collation, int64(rows))
		got := map[key]int{}
		var last []byte
		for e, err := range x.All(ctx) {
			require.NoError(t, err)
			require.LessOrEqual(t, o.Collation.Compare(last, e.Term), 0)
			last = e.Term
			for _, l := range e.Lists {
				set, err := x.Set(ctx, l, 0, int64(rows))
				require.NoError(t, err)
				k := key{string(e.Term), l.Field}
				for row := range set.Rows() {
					stripe := 0
					for stripe < len(o.Stripes) && row >= o.Stripes[stripe] {
						stripe++
					}
					require.True(t, stripe == int(l.Stripe) || l.Form == Approximate)
					if want[k][row] {
						got[k]++
					} else {
						require.Equal(t, Approximate, l.Form)
					}
				}
			}
		}
		for k, rows := range want {
			require.Equal(t, len(rows), got[k], "%v", k)
			found := false
			for e, err := range x.Find(ctx, []byte(strings.ToLower(k.term)), rnd.IntN(2) == 0) {
				require.NoError(t, err)
				found = found || string(e.Term) == k.term && slices.ContainsFunc(e.Lists, func(l List) bool { return l.Field == k.field })
			}
			require.True(t, found, "%v", k)
			if rnd.IntN(4) > 0 { // some are enough
				break
			}
		}
	})
}

// The form of a list follows from its rows alone.
func TestForms(t *testing.T) {
	every := func(step, n int) (rows []uint32) {
		for i := range n {
			rows = append(rows, uint32(i*step))
		}
		return rows
	}
	for _, c := range []struct {
		name    string
		rows    []uint32
		form    Form
		numbers int
	}{
		{"one", every(1, 1), Rows, 1},
		{"64 in a row", every(1, 64), Rows, 64},
		{"65 in a row", every(1, 65), Ranges, 2},
		{"65 apart", every(2, 65), Rows, 65},
		{"many apart", every(2, 1000), Rows, 1000},
		{"apart, then two together", append(every(10, 65), 641), Ranges, 130},
		{"ranges with large gaps", append(every(10, 65), 641, 660, 680, 700), Ranges, 136},
		{"ranges with a small gap", append(every(10, 65), 641, 645), Approximate, 130},
		{"again", append(every(10, 65), 641, 641, 641), Ranges, 130},
	} {
		var l list
		for _, r := range c.rows {
			l.add(r)
		}
		n := 0
		l.each(func(uint64) { n++ })
		require.Equal(t, c.form, l.form, c.name)
		require.Equal(t, c.numbers, n, c.name)
	}
}

func smallIndex(t require.TestingT) index { return indexOf(t, 400) }

// indexOf makes an index of some lines.
func indexOf(t require.TestingT, n int) index {
	var lines [][]byte
	for i := range n {
		lines = append(lines, fmt.Appendf(nil, "common w%d n%d x%d", i%100, i%20, i/2%3))
	}
	return build(t, Options{Fields: []uint32{3}, Stripes: []int64{int64(n) / 3}}, analysis.Word, [][][]byte{lines}, 1)
}

// walk reads all of an index.
func walk(terms, positions []byte) error {
	x, err := Open(ctx, storage.ByteRange{Reader: storage.FromBytes("terms", terms), Size: int64(len(terms))},
		storage.ByteRange{Reader: storage.FromBytes("positions", positions), Size: int64(len(positions))}, analysis.CaseInsensitive, 400)
	if err != nil {
		return err
	}
	entries := 0
	for e, err := range x.All(ctx) {
		if err != nil {
			return err
		}
		for _, l := range e.Lists {
			if _, err := x.Set(ctx, l, 0, 400); err != nil {
				return err
			}
			if _, _, err := x.Last(ctx, l); err != nil {
				return err
			}
		}
		if entries++; entries > 2000 {
			break
		}
	}
	for _, key := range []string{"", "w1", "zzz"} {
		if _, _, err := x.Before(ctx, []byte(key)); err != nil {
			return err
		}
		for _, err := range x.Find(ctx, []byte(key), true) {
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// allOf is all that an index has.
func allOf(terms, positions []byte) (string, error) {
	x, err := Open(ctx, storage.ByteRange{Reader: storage.FromBytes("terms", terms), Size: int64(len(terms))},
		storage.ByteRange{Reader: storage.FromBytes("positions", positions), Size: int64(len(positions))}, analysis.CaseInsensitive, 400)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for e, err := range x.All(ctx) {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%q", e.Term)
		for _, l := range e.Lists {
			rows, err := x.Set(ctx, l, 0, 400)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&out, " %d.%d.%d:%v", l.Stripe, l.Field, l.Form, rows)
		}
	}
	return out.String(), nil
}

// A damaged index is an error, or right.
func TestDamage(t *testing.T) {
	x := indexOf(t, 90)
	terms, positions := x[0].Bytes(), x[1].Bytes()
	want, err := allOf(terms, positions)
	require.NoError(t, err)
	require.NoError(t, walk(terms, positions))
	failed := 0
	for _, b := range [][]byte{terms, positions} {
		for i := 0; i < 8*len(b); i += sweep.Step(211) {
			b[i/8] ^= 1 << (i % 8)
			if got, err := allOf(terms, positions); err != nil {
				failed++
			} else {
				require.Equal(t, want, got, "bit %d", i)
			}
			b[i/8] ^= 1 << (i % 8)
		}
	}
	require.Positive(t, failed)
	for n := 0; n < len(terms); n += 97 {
		require.Error(t, walk(terms[:n], positions))
		require.Error(t, walk(terms, positions[:min(n, len(positions)-1)]))
	}
	require.Error(t, walk(positions, terms))
}

func FuzzIndex(f *testing.F) {
	x := smallIndex(f)
	f.Add(x[0].Bytes(), x[1].Bytes())
	f.Fuzz(func(_ *testing.T, terms, positions []byte) { _ = walk(terms, positions) })
}
