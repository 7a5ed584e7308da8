package index_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/testing/searchtest"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/shard/internal/index"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// variant is a kind of index with its properties.
type variant struct {
	kind, tokenizer, collation string
	coarse                     int64
	phrases, scores            bool
}

// variants are all kinds of indexes of texts.
func variants() (out []variant) {
	for _, kind := range []string{index.Terms, index.Inverted} {
		for _, tokenizer := range []string{"unicode-log", "unicode-word", "trivial"} {
			for _, collation := range []string{"unicode-case-insensitive", "unicode-case-preserving"} {
				out = append(out, variant{kind: kind, tokenizer: tokenizer, collation: collation, coarse: 1})
				if kind == index.Terms {
					out = append(out, variant{kind: kind, tokenizer: tokenizer, collation: collation, coarse: 16, phrases: tokenizer == "unicode-word"})
					if tokenizer != "trivial" {
						out = append(out, variant{kind: kind, tokenizer: tokenizer, collation: collation, coarse: 1, phrases: true, scores: tokenizer == "unicode-word"})
						out = append(out, variant{kind: kind, tokenizer: tokenizer, collation: collation, coarse: 1, scores: true})
					}
				}
			}
		}
	}
	return append(out, variant{kind: index.Ranges, coarse: 16}, variant{kind: index.Ranges, coarse: 3})
}

func (v variant) properties() []shardfile.Property {
	if v.kind == index.Ranges {
		return []shardfile.Property{{Name: index.PropertyRows, Value: v.coarse}}
	}
	p := []shardfile.Property{{Name: index.PropertyTokenizers, Value: []any{v.tokenizer, v.tokenizer}}, {Name: index.PropertyCollation, Value: v.collation}}
	if v.phrases {
		p = append(p, shardfile.Property{Name: index.PropertyPhrases, Value: true})
	}
	if v.scores {
		p = append(p, shardfile.Property{Name: index.PropertyScores, Value: true})
	}
	if v.coarse > 1 {
		p = append(p, shardfile.Property{Name: index.PropertyCoarse, Value: v.coarse})
	}
	return p
}

// nullEach is the distance of rows that are null.
const nullEach = 37

// columnOf is an array of texts with some nulls.
func columnOf(texts []string) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i, t := range texts {
		if i%nullEach == nullEach-1 {
			b.AppendNull()
		} else {
			b.Append(t)
		}
	}
	return b.NewArray()
}

// build builds an index of two fields, of which the second has the texts, by several builders of little memory.
func (v variant) build(t *testing.T, texts []string, memory int64) index.Index {
	kind := index.ByType(v.kind)
	p, err := shardfile.PropertiesToProto(v.properties())
	require.NoError(t, err)
	d := &shardpb.IndexDescriptor{IndexType: v.kind, Properties: p, IndexedFields: []*shardpb.IndexedField{{SchemaIds: []uint32{4}}, {SchemaIds: []uint32{7}}}}
	columns := []arrow.Field{{Name: "a", Type: arrow.BinaryTypes.String}, {Name: "b", Type: arrow.BinaryTypes.String}}
	require.NoError(t, kind.Check(d, columns))
	var builders []index.Builder
	const parts = 3
	dir := t.TempDir()
	for k := range parts {
		b, err := kind.NewBuilder(d, columns, index.BuildOptions{Memory: memory, Spool: func() *storage.Spool { return storage.NewSpool(nil, dir) }})
		require.NoError(t, err)
		t.Cleanup(func() { _ = b.Close() })
		from, to := k*len(texts)/parts, (k+1)*len(texts)/parts
		line := columnOf(texts)
		other := slices.Clone(texts)
		slices.Reverse(other)
		b0 := columnOf(other)
		for at := from; at < to; at += 100 {
			end := min(at+100, to)
			require.NoError(t, b.Add(int64(at), []arrow.Array{array.NewSlice(b0, int64(at), int64(end)), array.NewSlice(line, int64(at), int64(end))}))
		}
		builders = append(builders, b)
	}
	var files []*bytes.Buffer
	require.NoError(t, kind.Write(t.Context(), d, index.WriteOptions{Rows: int64(len(texts)), TempDir: dir}, builders, func(string) io.Writer {
		files = append(files, new(bytes.Buffer))
		return files[len(files)-1]
	}))
	var at []storage.ByteRange
	for i, f := range files {
		d.Artifacts = append(d.Artifacts, &shardpb.IndexArtifact{})
		at = append(at, storage.ByteRange{Reader: storage.FromBytes(fmt.Sprint(i), f.Bytes()), Size: int64(f.Len())})
	}
	x, err := kind.Open(t.Context(), d, at, int64(len(texts)))
	require.NoError(t, err)
	return x
}

// ask divides the rows from from up to (not including) to by a condition, as a scan does.
func ask(t *testing.T, x index.Index, n *predicate.Node, from, to int64) (maybe, sure rowset.Set) {
	all := rowset.Of(rowset.Range{From: from, To: to})
	switch n.Kind {
	case predicate.NodeNever:
		return rowset.Set{}, rowset.Set{}
	case predicate.NodeAlways:
		return all, all
	case predicate.NodeAnd:
		maybe, sure = all, all
		together := index.Condition{Field: 1}
		for _, k := range n.Nodes {
			m, s := ask(t, x, k, from, to)
			maybe, sure = maybe.And(m), sure.And(s)
			if k.Kind == predicate.NodeLeaf {
				together.Parts = append(together.Parts, index.Part{Test: k.Test})
			}
		}
		if len(together.Parts) > 1 {
			m, s, err := x.Ask(t.Context(), together, all)
			require.NoError(t, err)
			if maybe = maybe.And(m); len(together.Parts) == len(n.Nodes) {
				sure = sure.Or(s)
			}
		}
	case predicate.NodeOr:
		for _, k := range n.Nodes {
			m, s := ask(t, x, k, from, to)
			maybe, sure = maybe.Or(m), sure.Or(s)
		}
	default:
		maybe, sure, err := x.Ask(t.Context(), index.Condition{Field: 1, Parts: []index.Part{{Test: n.Test}}}, all)
		require.NoError(t, err)
		require.True(t, maybe.Minus(all).Empty() && sure.Minus(maybe).Empty())
		return maybe, sure
	}
	return maybe, sure
}

var lineSchema = arrow.NewSchema([]arrow.Field{{Name: "line", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)

// answer is the rows from from up to (not including) to that meet a question.
func answer(texts []string, q searchtest.Question, from, to int) rowset.Set {
	var met []int64
	for row := from; row < to; row++ {
		if row%nullEach != nullEach-1 && q.True(texts[row]) {
			met = append(met, int64(row))
		}
	}
	return rowset.FromRows(met)
}

// requireTrue asks an index a question: it may not leave out rows that meet it, nor say of others that they do. It returns how many rows are left.
func requireTrue(t *testing.T, x builtIndex, texts []string, q searchtest.Question, want rowset.Set, from, to int) (left int64) {
	bound, err := predicate.BindText(q.Text, lineSchema)
	require.NoError(t, err, q.Text)
	maybe, sure := ask(t, x.Index, bound.Root(), int64(from), int64(to))
	for row := range want.Minus(maybe).Rows() {
		t.Fatalf("%v: %s: row %d is left out: %q", x.variant, q.Text, row, texts[row])
	}
	for row := range sure.Minus(want).Rows() {
		t.Fatalf("%v: %s: row %d does not meet it: %q", x.variant, q.Text, row, texts[row])
	}
	return maybe.Len()
}

// builtIndex is an index of texts.
type builtIndex struct {
	variant
	index.Index
}

// eachKind builds all kinds of indexes.
func eachKind(t *testing.T, texts []string, keep func(variant) bool) (all []builtIndex) {
	for _, v := range variants() {
		if keep == nil || keep(v) {
			all = append(all, builtIndex{v, v.build(t, texts, 100_000)})
		}
	}
	return all
}

// No index leaves out a row that meets a random question, or says of another one that it does.
func TestRandomQuestions(t *testing.T) {
	for name, texts := range map[string][]string{
		"logs":        searchtest.Lines(t, sweep.Count(40, 200)),
		"Unicode":     searchtest.Texts(rand.New(rand.NewPCG(1, 1)), 400, false),
		"sorted":      slices.Sorted(slices.Values(searchtest.Texts(rand.New(rand.NewPCG(1, 5)), 400, false))),
		"not Unicode": searchtest.Texts(rand.New(rand.NewPCG(1, 1)), 400, true),
	} {
		t.Run(name, func(t *testing.T) {
			// Strings of shards are UTF-8. Terms of the others are, too, except those of this tokenizer.
			all := eachKind(t, texts, func(v variant) bool { return name != "not Unicode" || v.tokenizer != "trivial" })
			r := rand.New(rand.NewPCG(7, 7))
			m := searchtest.NewMaker(r, texts)
			narrowed := make([]int, len(all))
			for range sweep.Count(80, 2_500) {
				from, to := 0, len(texts)
				if r.IntN(4) == 0 {
					from = r.IntN(to)
					to = from + r.IntN(to-from) + 1
				}
				q := m.Question()
				want := answer(texts, q, from, to)
				for i, x := range all {
					if requireTrue(t, x, texts, q, want, from, to) < int64(to-from) {
						narrowed[i]++
					}
				}
			}
			for i, x := range all {
				t.Log(x.variant, "leaves rows out for", narrowed[i])
			}
		})
	}
}

// An index has each term, and each beginning of one of up to four characters, in the rows that have it.
func TestEveryTerm(t *testing.T) {
	for name, texts := range map[string][]string{
		"logs":    searchtest.Lines(t, sweep.Count(8, 250)),
		"Unicode": searchtest.Texts(rand.New(rand.NewPCG(3, 3)), sweep.Count(60, 1000), false),
	} {
		t.Run(name, func(t *testing.T) {
			all := eachKind(t, texts, func(v variant) bool { return v.tokenizer != "trivial" })
			words, beginnings, addresses := map[string][]int64{}, map[string][]int64{}, map[string][]int64{}
			add := func(to map[string][]int64, text string, row int) {
				if rows := to[text]; len(rows) == 0 || rows[len(rows)-1] != int64(row) {
					to[text] = append(rows, int64(row))
				}
			}
			for row, text := range texts {
				if row%nullEach == nullEach-1 {
					continue
				}
				for _, w := range searchtest.Words(text) {
					w = searchtest.Upper(w)
					add(words, w, row)
					for n := range min(utf8.RuneCountInString(w), 4) {
						add(beginnings, string([]rune(w)[:n+1]), row)
					}
				}
				for _, a := range searchtest.Addresses(text) {
					add(addresses, a, row)
				}
			}
			for _, x := range all {
				askAll := func(q func(text string) searchtest.Question, of map[string][]int64, sureToo bool) {
					for text, rows := range of {
						question := q(strings.ToLower(text))
						if searchtest.Upper(strings.ToLower(text)) != text {
							question = q(text)
						}
						left := requireTrue(t, x, texts, question, rowset.FromRows(rows), 0, len(texts))
						if sureToo && x.coarse == 1 && len(text) < 60 && x.kind == index.Terms {
							require.Equal(t, int64(len(rows)), left, "%v %s", x.variant, question.Text)
						}
					}
				}
				askAll(func(text string) searchtest.Question { return searchtest.Has(text, false) }, words, true)
				askAll(func(text string) searchtest.Question { return searchtest.Has(text, true) }, beginnings, false)
				askAll(func(text string) searchtest.Question {
					return searchtest.Question{Text: "line contains '" + text + "'"}
				}, addresses, false)
			}
			t.Log(len(words), "words", len(beginnings), "beginnings", len(addresses), "addresses")
		})
	}
}

// Questions that were answered wrongly once.
func TestMendedQuestions(t *testing.T) {
	long := strings.Repeat("한국어", 20)
	texts := []string{"x", "é1.2.3.4 user", "10 1 2 3", "caf\u00e9s", long + "a", long + "b", "किताब"}
	all := eachKind(t, texts, nil)
	contains := func(part string) searchtest.Question {
		return searchtest.Question{Text: fmt.Sprintf("line contains x'%x'", part), True: func(v string) bool { return strings.Contains(v, part) }}
	}
	for _, q := range []searchtest.Question{
		searchtest.Has("1", true), searchtest.Has("é1", true), searchtest.HasPhrase("10.1.2.3"), searchtest.HasPhrase(long + "b"), searchtest.Has(long+"b", false),
		contains("caf\xc3"), contains("\xa9s"), contains("\x95\xe0\xa4\xbf\xe0"), searchtest.Has("किता\xe0", false),
	} {
		want := answer(texts, q, 0, len(texts))
		for _, x := range all {
			requireTrue(t, x, texts, q, want, 0, len(texts))
		}
	}
}

// Digits that may be in most blocks of terms are looked for in memory, as soon as scans have cost what it takes to read all terms.
func TestDigitsInMemory(t *testing.T) {
	texts := make([]string, 30_000)
	for i := range texts {
		texts[i] = fmt.Sprintf("id %08d, 7 of 9", int64(i)*2_654_435_761%100_000_000)
	}
	x := builtIndex{variants()[0], variants()[0].build(t, texts, 1<<20)}
	var left []int64
	for i := range 12 {
		digits := fmt.Sprintf("%05d", i*7919)
		q := searchtest.Question{Text: "line contains '" + digits + "'", True: func(v string) bool { return strings.Contains(v, digits) }}
		left = append(left, requireTrue(t, x, texts, q, answer(texts, q, 0, len(texts)), 0, len(texts)))
	}
	require.EqualValues(t, len(texts), left[0], "scanned")
	for _, n := range left[8:] {
		require.Less(t, n, int64(30), "%v", left)
	}
}
