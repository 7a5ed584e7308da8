package storage

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Spools that share a budget return the written bytes, in memory or in files.
func TestSpools(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "spool")
		require.NoError(t, err)
		defer os.RemoveAll(dir)
		budget := NewBudget(rapid.SampledFrom([]int64{0, 1, 5000, 100_000, 1 << 20}).Draw(t, "budget"))
		spools := make([]*Spool, rapid.IntRange(1, 5).Draw(t, "spools"))
		want := make([][]byte, len(spools))
		for i := range spools {
			spools[i] = NewSpool(budget, dir)
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for range rapid.IntRange(0, 60).Draw(t, "writes") {
			i := r.IntN(len(spools))
			p := make([]byte, r.IntN(1<<r.IntN(17)))
			for k := range p {
				p[k] = byte(r.Uint32())
			}
			n, err := spools[i].Write(p)
			require.NoError(t, err)
			require.Equal(t, len(p), n)
			want[i] = append(want[i], p...)
		}
		held := int64(0)
		for i, s := range spools {
			held += s.Held()
			require.EqualValues(t, len(want[i]), s.Size())
			var b bytes.Buffer
			n, err := s.WriteTo(&b)
			require.NoError(t, err)
			require.Equal(t, s.Size(), n)
			require.True(t, bytes.Equal(want[i], b.Bytes()))
			for range 10 {
				off := r.IntN(len(want[i]) + 1)
				p := make([]byte, r.IntN(len(want[i])-off+1))
				_, err := s.ReadAt(p, int64(off))
				require.NoError(t, err)
				require.True(t, bytes.Equal(want[i][off:off+len(p)], p))
			}
			_, err = s.ReadAt(make([]byte, 2), s.Size()-1)
			require.Error(t, err)
		}
		require.Equal(t, held, budget.Used())
		require.LessOrEqual(t, held, min(budget.limit, 1<<40)+int64(len(spools))*2*minSpill)
		for _, s := range spools {
			require.NoError(t, s.Close())
			require.NoError(t, s.Close())
			_, err := s.Write([]byte{1})
			require.Error(t, err)
		}
		require.Zero(t, budget.Used())
		require.Empty(t, budget.files)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left)
	})
}

// Spools of one budget are written at the same time, and several goroutines read each.
func TestSpoolsInParallel(t *testing.T) {
	dir := t.TempDir()
	budget := NewBudget(200_000)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			s := NewSpool(budget, dir)
			want := make([]byte, 0, 300_000)
			for k := range 300 {
				p := bytes.Repeat([]byte{byte(i + k)}, 1000)
				s.Write(p)
				want = append(want, p...)
			}
			var readers sync.WaitGroup
			for range 3 {
				readers.Go(func() {
					got := make([]byte, len(want))
					_, err := s.ReadAt(got, 0)
					assert.NoError(t, err)
					assert.True(t, bytes.Equal(want, got))
				})
			}
			readers.Wait()
			assert.NoError(t, s.Close())
		})
	}
	all.Wait()
	require.Zero(t, budget.Used())
	require.Empty(t, budget.files)
}

func TestSpoolEOF(t *testing.T) {
	s := NewSpool(nil, "")
	n, err := s.ReadAt(make([]byte, 1), 0)
	require.Zero(t, n)
	require.Equal(t, io.EOF, err)
	_, err = s.ReadAt(nil, -1)
	require.Error(t, err)
}

// 50,000 columns of a hundred bytes do not take a buffer of 64 KiB each.
func TestTinySpoolsAreCheap(t *testing.T) {
	budget := NewBudget(1 << 30)
	p := make([]byte, 100)
	spools := make([]*Spool, 1000)
	allocs := testing.AllocsPerRun(1, func() {
		for i := range spools {
			spools[i] = NewSpool(budget, "")
			spools[i].Write(p)
			spools[i].Write(p)
		}
	})
	require.LessOrEqual(t, allocs/1000, 4.0)
	require.LessOrEqual(t, budget.Used(), int64(2*1000*256))
}

func BenchmarkSpool(b *testing.B) {
	p := make([]byte, 4000)
	for b.Loop() {
		s := NewSpool(nil, "")
		for range 1000 {
			s.Write(p)
		}
		s.WriteTo(io.Discard)
		s.Close()
	}
	b.SetBytes(4_000_000)
}
