package shard

import (
	"context"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
	"github.com/amudai/amudai-go/storage"
)

// lateStore blocks reads of a range of artifacts until they are released.
type lateStore struct {
	storage.Store
	from, to int64
	waiting  chan struct{} // gets a value when a read is kept back
	open     chan struct{} // closed to let them go
}

func (s *lateStore) Open(ctx context.Context, location string) (storage.Reader, error) {
	r, err := s.Store.Open(ctx, location)
	return lateReader{r, s}, err
}

type lateReader struct {
	storage.Reader
	s *lateStore
}

func (r lateReader) ReadAt(ctx context.Context, p []byte, off int64) error {
	if off >= r.s.from && off+int64(len(p)) <= r.s.to {
		select {
		case r.s.waiting <- struct{}{}:
		default:
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.s.open:
		}
	}
	return r.Reader.ReadAt(ctx, p, off)
}

// openLate opens a shard of five stripes. Reads of the second one are late.
func openLate(t *testing.T) (*Shard, *lateStore, table) {
	data := flightsLike(5000)
	mem := storage.NewMemory()
	writeTable(t, "mem://x/s", data, WriterOptions{Store: mem, StripeRows: 1000}, 5000)
	late := &lateStore{Store: mem, waiting: make(chan struct{}, 100), open: make(chan struct{})}
	s, err := Open(context.Background(), "mem://x/s", OpenOptions{Store: late, SuffixBytes: 100})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	d, err := s.file.Stripe(1).Descriptor(context.Background(), 0)
	require.NoError(t, err)
	late.from = int64(d.Encodings[0].GetNative().Buffers[0].Buffer.Range.Start)
	d, err = s.file.Stripe(1).Descriptor(context.Background(), uint32(len(data.columns)-1))
	require.NoError(t, err)
	buffers := d.Encodings[0].GetNative().Buffers
	late.to = int64(buffers[len(buffers)-1].Buffer.Range.End)
	return s, late, data
}

// TestAsReady scans while a stripe is late. With AsReady the rows of all other stripes come first, else only those
// before it.
func TestAsReady(t *testing.T) {
	for _, o := range []ScanOptions{
		{}, {FetchGap: 1000}, {Filter: where(t, "delay >= 10")}, {Filter: where(t, "delay >= 10"), FetchGap: 1000}, {Columns: []string{"delay"}, FetchGap: 1},
		{Columns: []string{}, Filter: where(t, "delay >= 10")}, {Limit: 4500}, {Limit: 4500, Filter: where(t, "delay >= 10")},
	} {
		for _, parallelism := range []int{2, 5} {
			check := leaktest.Goroutines(t)
			s, late, _ := openLate(t)
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			o.AsReady, o.Parallelism, o.Allocator = true, parallelism, mem
			var stripes []int
			for b, err := range s.Scan(context.Background(), o) {
				require.NoError(t, err)
				require.EqualValues(t, b.Stripe, b.RowRanges()[0].From/1000, "the stripe of a row")
				if stripes = append(stripes, b.Stripe); len(stripes) == 4 {
					close(late.open)
				}
			}
			require.ElementsMatch(t, []int{0, 2, 3, 4}, stripes[:4], "%+v", o)
			require.Equal(t, []int{1}, stripes[4:], "%+v", o)
			mem.AssertSize(t, 0)
			require.NoError(t, s.Close())
			check()
		}
	}
}

// TestCancelLate cancels a scan that waits for bytes, and leaves another one early.
func TestCancelLate(t *testing.T) {
	for _, o := range []ScanOptions{{}, {AsReady: true}, {AsReady: true, FetchGap: 1000}, {Filter: where(t, "delay >= 10"), AsReady: true}, {Parallelism: 1}} {
		if o.Parallelism == 0 {
			o.Parallelism = 3
		}
		check := leaktest.Goroutines(t)
		s, late, _ := openLate(t)
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		o.Allocator = mem
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			<-late.waiting
			cancel()
		}()
		var last error
		for _, err := range s.Scan(ctx, o) {
			last = err
		}
		require.ErrorIs(t, last, context.Canceled)
		mem.AssertSize(t, 0)
		if o.Parallelism > 1 { // the first batch comes before the late one is read
			for _, err := range s.Scan(context.Background(), o) {
				require.NoError(t, err)
				break
			}
			mem.AssertSize(t, 0)
		}
		require.NoError(t, s.Close())
		check()
	}
}

// TestLimit: a scan reads no more than its limit needs.
func TestLimit(t *testing.T) {
	data := flightsLike(5000)
	s := openTable(t, data, WriterOptions{StripeRows: 1000})
	for _, o := range []ScanOptions{{Parallelism: 1}, {Parallelism: 3}, {Parallelism: 1, MemoryLimit: limitAlone(300, 4)}, {Parallelism: 3, MemoryLimit: limitAlone(300, 4)}} {
		o.BatchRows = 300
		for _, o.Limit = range []int64{1, 999, 1000, 1001, 2500, 4999, 5000, 6000} {
			o.Rows, o.Filter = nil, filter.Expr{}
			requireRows(t, s, data, between(0, 5000), o)
			o.Rows = []RowRange{{From: 4000, To: 4500}, {From: 10, To: 2010}}
			requireRows(t, s, data, append(between(4000, 4500), between(10, 2010)...), o)
			o.Filter = where(t, "c0 >= 100")
			requireRows(t, s, data, append(between(4000, 4500), between(100, 2010)...), o)
		}
	}
	x, err := s.analyze(context.Background(), ScanOptions{Limit: 10})
	require.NoError(t, err)
	require.EqualValues(t, 10, x.Run.Rows)
	require.EqualValues(t, 10*len(data.columns), x.Run.Values)
}

// TestColumnsTogether scans a single batch of which two columns are read at the same time: neither read ends
// before both have begun.
func TestColumnsTogether(t *testing.T) {
	for _, asReady := range []bool{false, true} {
		s, late, data := openLate(t)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		go func() {
			<-late.waiting
			<-late.waiting
			close(late.open)
		}()
		rows := int64(0)
		for b, err := range s.Scan(ctx, ScanOptions{Stripes: []int{1}, Parallelism: 2, AsReady: asReady}) {
			require.NoError(t, err)
			require.EqualValues(t, len(data.columns), b.NumCols())
			rows += b.NumRows()
		}
		require.EqualValues(t, 1000, rows)
	}
}
