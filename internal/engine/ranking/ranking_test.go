package ranking

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/text/analysis"
)

// plain is BM25 as it is written in papers.
func plain(p Parameters, c Collection, rows int64, boost, frequency float64, length int) float64 {
	idf := math.Log(1 + (float64(c.Rows)-float64(rows)+0.5)/(float64(rows)+0.5))
	average := float64(c.Terms) / float64(c.Rows)
	return boost * idf * frequency * (p.K1 + 1) / (frequency + p.K1*(1-p.B+p.B*float64(length)/average))
}

// Scores are those of the formula, grow with the frequency, and fall with the length.
func TestScore(t *testing.T) {
	c := Collection{Rows: 1000, Terms: 50_000}
	for _, p := range []Parameters{Default, {2, 0}, {0.5, 1}, {0, 0.5}} {
		for _, rows := range []int64{1, 20, 900, 1000} {
			s := p.Scorer(c, rows, 1.5)
			for _, f := range []uint32{1, 2, 17, 255} {
				for code := range 256 {
					have := s.Score(f, uint8(code))
					require.InDelta(t, plain(p, c, rows, 1.5, float64(f), analysis.Length(uint8(code))), have.Float(), 1e-5)
					require.LessOrEqual(t, have, s.Score(f+1, uint8(code)))
					if code > 0 {
						require.LessOrEqual(t, have, s.Score(f, uint8(code-1)))
					}
				}
			}
		}
	}
	require.NotZero(t, Default.Scorer(Collection{}, 5, 1).Score(1, 1))
}

// list is postings in memory.
type list struct {
	rows, counts [][]uint32
	lengths      []uint8
	err          error
	read         int
}

func (l *list) Blocks() int       { return len(l.rows) }
func (l *list) Last(i int) uint32 { return l.rows[i][len(l.rows[i])-1] }
func (l *list) Bounds(i int) analysis.Bounds {
	b := analysis.NoRows
	for k, r := range l.rows[i] {
		b.Add(uint8(l.counts[i][k]+1), l.lengths[r])
	}
	return b
}
func (l *list) Rows(i int, _ []uint32) ([]uint32, error) {
	l.read++
	return l.rows[i], l.err
}
func (l *list) Counts(i int, _ []uint32) ([]uint32, error) { return l.counts[i], nil }

// drawTerms generates words of a column, and the scores of all rows.
func drawTerms(t *rapid.T) (terms []Term, scores []Score) {
	n := rapid.SampledFrom([]int{1, 100, 3000, 30_000}).Draw(t, "rows")
	rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	lengths := make([]uint8, n)
	sum := 0
	for i := range lengths {
		lengths[i] = analysis.LengthCode(1 + int(rnd.ExpFloat64()*30))
		sum += analysis.Length(lengths[i])
	}
	scores = make([]Score, n)
	block := rapid.SampledFrom([]int{1, 7, 128}).Draw(t, "block")
	for range rapid.IntRange(0, 5).Draw(t, "words") {
		l := &list{lengths: lengths}
		var rows, counts []uint32
		share := rapid.SampledFrom([]float64{0.0005, 0.01, 0.3, 1}).Draw(t, "share")
		for r := range n {
			if rnd.Float64() < share {
				rows, counts = append(rows, uint32(r)), append(counts, uint32(rnd.ExpFloat64()))
			}
		}
		s := Default.Scorer(Collection{int64(n), int64(sum)}, int64(len(rows)), 1+rnd.Float64())
		for i, r := range rows {
			scores[r] += s.Score(counts[i]+1, lengths[r])
		}
		for part := range slices.Chunk(rows, block) {
			l.rows = append(l.rows, part)
		}
		for part := range slices.Chunk(counts, block) {
			l.counts = append(l.counts, part)
		}
		terms = append(terms, Term{l, s, lengths})
	}
	return terms, scores
}

// The best rows are those of scores of all rows.
func TestTop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		terms, scores := drawTerms(t)
		k, floor := rapid.SampledFrom([]int{0, 1, 3, 10, 1000}).Draw(t, "k"), Score(0)
		if rapid.Bool().Draw(t, "floor") {
			floor = slices.Max(scores) / 2
		}
		var among *rowset.Set
		if rapid.Bool().Draw(t, "among") {
			at := int64(rapid.IntRange(0, len(scores)).Draw(t, "from"))
			some := rowset.Of(rowset.Range{From: at / 2, To: at}, rowset.Range{From: at + 5, To: at + 9})
			among = &some
		}
		var want []Hit
		for r, s := range scores {
			if s > floor && (among == nil || among.Contains(int64(r))) {
				want = append(want, Hit{uint32(r), s})
			}
		}
		slices.SortFunc(want, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row)) })
		have, err := Top(t.Context(), terms, among, k, floor)
		require.NoError(t, err)
		require.Equal(t, append([]Hit(nil), want[:min(k, len(want))]...), append([]Hit(nil), have...))
	})
}

// Most blocks of a frequent word are not read for the best rows.
func TestTopSkips(t *testing.T) {
	frequent, rare := &list{lengths: make([]uint8, 100_000)}, &list{lengths: make([]uint8, 100_000)}
	for at := uint32(0); at < 100_000; at += 100 {
		var rows []uint32
		for i := range uint32(100) {
			rows = append(rows, at+i)
		}
		frequent.rows, frequent.counts = append(frequent.rows, rows), append(frequent.counts, make([]uint32, 100))
		if at%10_000 == 0 {
			rare.rows, rare.counts = append(rare.rows, rows[7:8]), append(rare.counts, []uint32{0})
		}
	}
	c := Collection{100_000, 100_000}
	have, err := Top(t.Context(), []Term{{frequent, Default.Scorer(c, 100_000, 1), nil}, {rare, Default.Scorer(c, 10, 1), nil}}, nil, 10, 0)
	require.NoError(t, err)
	require.Len(t, have, 10)
	require.EqualValues(t, 7, have[0].Row)
	require.Less(t, frequent.read, 250)
}

// An error of a list ends the search, and so does its context.
func TestTopErrors(t *testing.T) {
	broken := errors.New("broken")
	l := &list{rows: [][]uint32{{1, 2}}, counts: [][]uint32{{0, 0}}, lengths: make([]uint8, 3), err: broken}
	terms := []Term{{l, Default.Scorer(Collection{3, 9}, 2, 1), l.lengths}}
	_, err := Top(t.Context(), terms, nil, 1, 0)
	require.ErrorIs(t, err, broken)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Top(ctx, terms, nil, 1, 0)
	require.ErrorIs(t, err, context.Canceled)
}
