package shard

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFiltersAreRemembered asks an open shard the same filters again and again, for parts of the rows and from several goroutines, and compares the rows with those of
// a shard that is opened for one question. There is room for all that is found, for some of it, and for nothing. Some rows are deleted.
func TestFiltersAreRemembered(t *testing.T) {
	const rows = 120_000
	location := filepath.Join(t.TempDir(), "s")
	writeTable(t, location, flightsLike(rows), WriterOptions{StripeRows: 50_000}, 30_000)
	texts := []string{"delay = 17", "delay > 17", "not delay > 17", "delay < 0", "delay >= -100000", "origin = 'SFO'", "origin = 'nowhere' or payload > 'M'", "payload contains 'x' and delay > 30", "c0 < 50000", "c0 < 60010", "delay in (3, 5, 700)"}
	parts := []ScanOptions{{}, {Limit: 50}, {Rows: []RowRange{{From: 49_000, To: 51_000}, {From: 70_000, To: 119_000}}}, {BatchRows: 900}, {Columns: []string{}}}
	for _, deleted := range []bool{false, true} {
		if deleted {
			_, err := Delete(t.Context(), location, EditOptions{}, Rows{Where: where(t, "c0 % 3 = 1 or c0 < 1000")})
			require.NoError(t, err)
		}
		want := map[[2]int][]int64{}
		for i, text := range texts {
			for k, o := range parts {
				fresh, err := Open(t.Context(), location, OpenOptions{})
				require.NoError(t, err)
				o.Filter = where(t, text)
				want[[2]int{i, k}] = rowsOf(t, fresh, o)
				require.NoError(t, fresh.Close())
			}
		}
		require.NotEmpty(t, want[[2]int{0, 0}])
		for _, room := range []int64{1, 130_000, 0} {
			x, err := Open(t.Context(), location, OpenOptions{CacheBytes: room})
			require.NoError(t, err)
			var team sync.WaitGroup
			for g := range 3 {
				team.Go(func() {
					r := rand.New(rand.NewPCG(uint64(g), uint64(room)))
					for range 60 {
						i, k := r.IntN(len(texts)), r.IntN(len(parts))
						o := parts[k]
						o.Filter, o.Parallelism = where(t, texts[i]), 1+r.IntN(3)
						if got := rowsOf(t, x, o); !slices.Equal(got, want[[2]int{i, k}]) {
							t.Errorf("%s, part %d: %d rows instead of %d", texts[i], k, len(got), len(want[[2]int{i, k}]))
							return
						}
					}
				})
			}
			team.Wait()
			require.NoError(t, x.Close())
		}
	}
}

// TestRememberedRowsAreNotFiltered counts rows that the second of two questions has found. Nothing is read of the columns of the filter.
func TestRememberedRowsAreNotFiltered(t *testing.T) {
	location := filepath.Join(t.TempDir(), "s")
	writeTable(t, location, flightsLike(120_000), WriterOptions{StripeRows: 50_000}, 30_000)
	s, store := openNoted(t, location)
	ask := func() (n int64, reads int64) {
		store.reads = nil
		n, err := s.Count(t.Context(), where(t, "delay = 17 or payload contains 'x'"))
		require.NoError(t, err)
		return n, sumOf(store.reads)
	}
	n, reads := ask()
	require.NotZero(t, reads)
	_, reads = ask()
	require.NotZero(t, reads)
	again, reads := ask()
	require.Equal(t, n, again)
	require.Zero(t, reads)
}
