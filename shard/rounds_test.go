package shard

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/storage"
)

// rounds answers reads in rounds: those of a round wait for each other, so that a round that has fewer reads ends the test.
type rounds struct {
	mu      sync.Mutex
	left    []int // reads of each round
	waiting int
	answer  chan struct{}
	extra   int // reads after the last round
}

func newRounds(reads ...int) *rounds { return &rounds{left: reads, answer: make(chan struct{})} }

func (r *rounds) wait(ctx context.Context) error {
	r.mu.Lock()
	if len(r.left) == 0 {
		r.extra++
		r.mu.Unlock()
		return nil
	}
	answer := r.answer
	if r.waiting++; r.waiting == r.left[0] {
		close(answer)
		r.left, r.waiting, r.answer = r.left[1:], 0, make(chan struct{})
	}
	r.mu.Unlock()
	select {
	case <-answer:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("a round of too many reads: %w", ctx.Err())
	}
}

// All reads that are known are asked for at once, of whatever number of stripes, whatever number of processors there is, and however many columns are
// decoded at a time: reads of a round wait for all others of it.
func TestRounds(t *testing.T) {
	const stripes, rows = 100, 4000
	columns := []arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}, {Name: "b", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: arrow.BinaryTypes.String}}
	location := filepath.Join(t.TempDir(), "s")
	schema := arrow.NewSchema(columns, nil)
	w, err := Create(t.Context(), location, schema, WriterOptions{StripeRows: rows})
	require.NoError(t, err)
	for i := range int64(stripes) {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for k := range int64(rows) {
			value := (i*7919 + k*104729) % 1_000_003
			b.Field(0).(*array.Int64Builder).Append(value)
			b.Field(1).(*array.Int64Builder).Append(value * value % 1_000_003)
			b.Field(2).(*array.StringBuilder).Append(fmt.Sprintf("%x", value*value))
		}
		batch := b.NewRecordBatch()
		require.NoError(t, w.Write(t.Context(), batch))
		batch.Release()
	}
	require.NoError(t, w.Close(t.Context()))
	ask := func(wait func(context.Context) error, q question) (reads int, err error) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		store := &slowStore{Store: storage.Local{}, wait: wait}
		s, err := Open(ctx, location, OpenOptions{Store: store})
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		err = q(ctx, s)
		return int(store.reads.Load()), err
	}
	total := func(q question) int {
		n, err := ask(nil, q)
		require.NoError(t, err)
		return n
	}
	filter := where(t, "a < 100")
	looked := total(scanOf(ScanOptions{Filter: filter, Columns: []string{}})) - 1
	t.Logf("%d reads for the filter", looked)
	for _, processors := range []int{1, 8} {
		before := runtime.GOMAXPROCS(processors)
		t.Cleanup(func() { runtime.GOMAXPROCS(before) })
		for _, parallelism := range []int{1, 8} {
			for name, q := range map[string]question{
				"one column":            scanOf(ScanOptions{Columns: []string{"b"}, Parallelism: parallelism}),
				"two columns":           scanOf(ScanOptions{Columns: []string{"a", "b"}, Parallelism: parallelism}),
				"all columns, as ready": scanOf(ScanOptions{Parallelism: parallelism, AsReady: true}),
				"filter":                scanOf(ScanOptions{Filter: filter, Parallelism: parallelism}),
				"head":                  scanOf(ScanOptions{Limit: 5, Parallelism: parallelism}),
				"take": func(ctx context.Context, s *Shard) error {
					b, err := s.Take(ctx, []int64{123_456}, TakeOptions{Parallelism: parallelism})
					if err == nil {
						b.Release()
					}
					return err
				},
			} {
				n := total(q)
				reads := []int{1, n - 1}
				switch name {
				case "filter":
					require.Greater(t, n-1, looked)
					reads = []int{1, looked, n - 1 - looked}
				case "head", "take":
					reads = []int{1, 1, 1}[:min(n, 3)]
				default:
					require.Greater(t, n, stripes-5, "the last are in the first read")
				}
				r := newRounds(reads...)
				n, err := ask(r.wait, q)
				about := fmt.Sprintf("%s, %d processors, %d at a time: %d reads, %d", name, processors, parallelism, n, reads)
				require.NoError(t, err, about)
				require.Zero(t, r.extra, about)
				require.Empty(t, r.left, about)
			}
		}
	}
}

// question asks a shard.
type question func(context.Context, *Shard) error

func scanOf(o ScanOptions) question {
	return func(ctx context.Context, s *Shard) error {
		for _, err := range s.Scan(ctx, o) {
			if err != nil {
				return err
			}
		}
		return nil
	}
}
