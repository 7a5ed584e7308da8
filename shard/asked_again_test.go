package shard

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/sys"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/searchtest"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	tables "github.com/amudai/amudai-go/table"
)

// askedTable is a shard with an index, and what it is asked.
type askedTable struct {
	name, location string
	questions      []searchtest.Question
	rows           []string // of each question
	best           []string // of ranked searches
}

// rankedSearches are searches of words of logs, by their rank.
var rankedSearches = []string{"error OR failed OR connection", "(user* NOT root) info"}

// askedTables writes a shard for each kind of index, in a file each.
func askedTables(t *testing.T, questions int) (all []*askedTable) {
	texts := searchtest.Lines(t, 40)
	isNull := func(row int) bool { return row%37 == 36 }
	kinds := append(truthIndexes(), IndexDefinition{Type: HashIndex, Columns: []string{"line"}},
		IndexDefinition{Columns: []string{"line"}, PerStripe: true},
		IndexDefinition{Columns: []string{"line"}, Properties: []Property{{Name: "phrases", Value: true}}},
		IndexDefinition{Columns: []string{"line"}, Properties: []Property{{Name: "scores", Value: true}}})
	m := searchtest.NewMaker(rand.New(rand.NewPCG(5, 11)), texts)
	for i, d := range kinds {
		a := &askedTable{name: fmt.Sprintf("%d %s", i, d.Type), location: filepath.Join(t.TempDir(), "x.amudai.shard")}
		writeTexts(t, a.location, texts, isNull, WriterOptions{StripeRows: 100, Indexes: []IndexDefinition{d}})
		for range questions {
			q := m.Question()
			a.questions = append(a.questions, q)
			var rows []int64
			for row, text := range texts {
				if !isNull(row) && q.True(text) {
					rows = append(rows, int64(row))
				}
			}
			a.rows = append(a.rows, rowset.FromRows(rows).String())
		}
		for _, q := range rankedSearches {
			best, err := bestOf(t, a.location, q, 1)
			require.NoError(t, err)
			a.best = append(a.best, best[0])
		}
		all = append(all, a)
	}
	return all
}

// found is the answer of an open shard to a question.
func found(t *testing.T, s *Shard, q string) (string, error) {
	var ranges []rowset.Range
	for b, err := range s.Scan(t.Context(), ScanOptions{Filter: where(t, q), Columns: []string{}}) {
		if err != nil {
			return "", err
		}
		for _, r := range b.RowRanges() {
			ranges = append(ranges, rowset.Range(r))
		}
	}
	return rowset.Of(ranges...).String(), nil
}

// bestOf are the answers of a table to a ranked search that it is asked some times, up to the first error.
func bestOf(t *testing.T, location, query string, times int) (answers []string, err error) {
	tb, err := tables.Open(t.Context(), location)
	if err != nil {
		return nil, err
	}
	defer tb.Close()
	for range times {
		answer := ""
		for b, err := range tb.Search(t.Context(), tables.SearchOptions{Query: query, Rank: &tables.RankOptions{}, Limit: 10}) {
			if err != nil {
				return answers, err
			}
			answer += fmt.Sprintln(b.Ranks)
		}
		answers = append(answers, answer)
	}
	return answers, nil
}

// askAgain asks each question three times, of which the later ones find blocks that earlier ones have left in memory. Each answer is right, or judge is called with its error.
func (a *askedTable) askAgain(t *testing.T, restart func(), judge func(question string, err error)) {
	for i, q := range a.questions {
		restart()
		s, err := Open(t.Context(), a.location, OpenOptions{})
		if err != nil {
			judge("open", err)
			continue
		}
		for range 3 {
			if rows, err := found(t, s, q.Text); err != nil {
				judge(q.Text, err)
			} else {
				require.Equal(t, a.rows[i], rows, "%s: %s", a.name, q.Text)
			}
		}
		if err := s.Close(); err != nil {
			judge("close", err)
		}
	}
	for i, q := range rankedSearches {
		restart()
		best, err := bestOf(t, a.location, q, 3)
		if err != nil {
			judge(q, err)
		}
		for _, one := range best {
			require.Equal(t, a.best[i], one, "%s: %s", a.name, q)
		}
	}
}

// TestAskedAgainOverFaults asks open shards and tables random questions again and again, while one read or each k-th fails: an error, or the right rows, each time.
func TestAskedAgainOverFaults(t *testing.T) {
	defer func(fs sys.FS) { sys.Default = fs }(sys.Default)
	for _, a := range askedTables(t, sweep.Count(1, 24)) {
		failed, answered := 0, 0
		for _, op := range []faultstore.Op{faultstore.Open, faultstore.Read} {
			for _, fail := range []func(*faultstore.Faults, faultstore.Op, int){(*faultstore.Faults).FailAt, (*faultstore.Faults).FailEvery} {
				for k, reached := 1, true; reached; k++ {
					reached = false
					faults := faultstore.New()
					sys.Default = faults.FS()
					a.askAgain(t, func() {
						reached = reached || faults.Count(op) >= k
						faults.Reset()
						fail(faults, op, k)
						answered++
					}, func(question string, err error) {
						require.ErrorIs(t, err, faultstore.Err, "%s: %s", a.name, question)
						failed++
					})
					reached = reached || faults.Count(op) >= k
				}
			}
		}
		require.NotZero(t, failed)
		require.Greater(t, answered, failed/4)
	}
}

// TestAskedAgainOfDamagedShards flips bits of shards with indexes, and asks random questions again and again: an error, or the right rows, each time.
func TestAskedAgainOfDamagedShards(t *testing.T) {
	for _, a := range askedTables(t, sweep.Count(1, 6)) {
		b, err := os.ReadFile(a.location)
		require.NoError(t, err)
		failed := 0
		for bit := 5; bit < 8*len(b); bit += sweep.StepOf(8*len(b), 12) {
			b[bit/8] ^= 1 << (bit % 8)
			require.NoError(t, os.WriteFile(a.location, b, 0o600))
			a.askAgain(t, func() {}, func(question string, err error) {
				require.NotContains(t, err.Error(), "decoder failed", "a panic: "+question)
				failed++
			})
			b[bit/8] ^= 1 << (bit % 8)
		}
		require.NotZero(t, failed, a.name)
	}
}
