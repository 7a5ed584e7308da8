package shard

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/storage"
)

// TestKeptBlocks takes few rows and searches again and again, from several goroutines, with room for no block, some and all.
func TestKeptBlocks(t *testing.T) {
	const rows, perBlock = 40_000, 8192
	s := arrow.NewSchema([]arrow.Field{
		{Name: "line", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "id", Type: arrow.BinaryTypes.String},
		{Name: "prose", Type: arrow.BinaryTypes.LargeString},
	}, nil)
	line := func(i int) string {
		return fmt.Sprintf("sshd[%d]: Failed password for user%d from 10.0.%d.7", i*31%9000, i%97, i%250)
	}
	id := func(i int) string { return fmt.Sprintf("user-%x", uint64(i)*0x9e3779b97f4a7c15) }
	prose := func(i int) string {
		r, text := rand.New(rand.NewPCG(uint64(i), 1)), ""
		for range r.IntN(9) {
			text += []string{"of ", "harbour ", "the ", "seldom ", "light ", "under ", "an older "}[r.IntN(7)]
		}
		return text
	}
	build := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer build.Release()
	for i := range rows {
		if i%11 == 0 {
			build.Field(0).AppendNull()
		} else {
			build.Field(0).(*array.StringBuilder).Append(line(i))
		}
		build.Field(1).(*array.StringBuilder).Append(id(i))
		build.Field(2).(*array.LargeStringBuilder).Append(prose(i))
	}
	batch := build.NewRecordBatch()
	defer batch.Release()
	location := filepath.Join(t.TempDir(), "s")
	writeBatch(t, location, batch, WriterOptions{BlockValues: perBlock})
	has := func(i int, text string) bool { return i%11 != 0 && strings.Contains(line(i), text) }
	searches := []struct {
		query string
		holds func(i int) bool
		rows  int64
	}{
		{query: `line has 'user7 from 10.0'`, holds: func(i int) bool { return has(i, " user7 from 10.0.") }},
		{query: `line contains 'ssword for user9'`, holds: func(i int) bool { return has(i, "ssword for user9") }},
		{query: `line matches 'sshd.*10[]]: .*0[.]10[.]7'`, holds: func(i int) bool { return has(i, "10]: ") && has(i, "0.10.7") }},
		{query: `prose contains 'seldom '`, holds: func(i int) bool { return strings.Contains(prose(i), "seldom ") }},
	}
	for k := range searches {
		for i := range rows {
			searches[k].rows += int64(bitmap.Bit(searches[k].holds(i)))
		}
		require.NotZero(t, searches[k].rows)
	}
	for _, room := range []int64{1, 600_000, 0} {
		x, err := Open(t.Context(), location, OpenOptions{CacheBytes: room})
		require.NoError(t, err)
		var team sync.WaitGroup
		for g := range 4 {
			team.Go(func() {
				r := rand.New(rand.NewPCG(uint64(g), 2))
				for range 150 {
					want := []int64{r.Int64N(rows), r.Int64N(rows), r.Int64N(perBlock)}
					got, err := x.Take(t.Context(), want, TakeOptions{Parallelism: 1})
					if err != nil {
						t.Error(err)
						return
					}
					for k, row := range want {
						i := int(row)
						if null := got.Column(0).IsNull(k); null != (i%11 == 0) || !null && got.Column(0).ValueStr(k) != line(i) || got.Column(1).ValueStr(k) != id(i) || got.Column(2).ValueStr(k) != prose(i) {
							t.Errorf("row %d: %v", i, got)
						}
					}
					got.Release()
				}
			})
		}
		for range 2 {
			team.Go(func() {
				for range 4 {
					for _, one := range searches {
						e, err := filter.Parse(one.query)
						got, countErr := x.Count(t.Context(), e)
						if errors.Join(err, countErr) != nil || got != one.rows {
							t.Errorf("%s: %d rows, not %d: %v, %v", one.query, got, one.rows, err, countErr)
						}
					}
				}
			})
		}
		team.Wait()
		require.NoError(t, x.Close())
	}

	// A read that fails is an error of that search alone, whichever blocks are kept by then. In the end, all blocks of lines are, and nothing is read.
	for _, one := range searches[:3] {
		e, err := filter.Parse(one.query)
		require.NoError(t, err)
		faults := faultstore.New()
		x, err := Open(t.Context(), location, OpenOptions{Store: faults.Wrap(storage.Local{})})
		require.NoError(t, err)
		failed := 0
		for k := 1; k < 8; k++ {
			for range 2 {
				faults.Reset()
				faults.FailAt(faultstore.Read, k)
				switch got, err := x.Count(t.Context(), e); {
				case faults.Count(faultstore.Read) >= k:
					require.ErrorIs(t, err, faultstore.Err, one.query)
					failed++
				default:
					require.NoError(t, err)
					require.Equal(t, one.rows, got, one.query)
				}
			}
		}
		require.NotZero(t, failed)
		require.Zero(t, faults.Count(faultstore.Read), one.query)
		require.NoError(t, x.Close())
	}
}
