package shard

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/storage"
)

// noted is a store that records the ranges of reads.
type noted struct {
	storage.Store
	mu    sync.Mutex
	reads []rowset.Range // of bytes
}

type notedReader struct {
	storage.Reader
	s *noted
}

func (s *noted) Open(ctx context.Context, location string) (storage.Reader, error) {
	r, err := s.Store.Open(ctx, location)
	return notedReader{r, s}, err
}

func (r notedReader) ReadAt(ctx context.Context, p []byte, off int64) error {
	r.s.mu.Lock()
	r.s.reads = append(r.s.reads, rowset.Range{From: off, To: off + int64(len(p))})
	r.s.mu.Unlock()
	return r.Reader.ReadAt(ctx, p, off)
}

// again returns the requests for bytes that earlier requests have read. Bytes read together with the field list of
// a stripe do not count.
func (s *noted) again(f *Shard) (out []rowset.Range) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var seen rowset.Set
	for _, r := range s.reads {
		if seen.And(rowset.Of(r)).Len() == r.Len() {
			out = append(out, r)
		}
		if !hasFieldList(f, r) {
			seen = seen.Or(rowset.Of(r))
		}
	}
	return out
}

func hasFieldList(s *Shard, r rowset.Range) bool {
	for i := range s.NumStripes() {
		list := s.file.Stripe(i).Directory().GetFieldListRef().GetRange()
		if r.From <= int64(list.GetStart()) && r.To >= int64(list.GetEnd()) {
			return true
		}
	}
	return false
}

// openNoted opens a shard of a file, and records later reads.
func openNoted(t *testing.T, location string) (*Shard, *noted) {
	store := &noted{Store: storage.Local{}}
	s, err := Open(context.Background(), location, OpenOptions{Store: store})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	store.reads = nil
	return s, store
}

// TestNoRequestTwice scans and takes as over a network. No byte is read twice: neither metadata, nor columns of
// both the filter and the result, nor blocks that batches share.
func TestNoRequestTwice(t *testing.T) {
	ctx := context.Background()
	data := flightsLike(400_000)
	for _, e := range []edition.Edition{edition.Reference, edition.E2026} {
		location := filepath.Join(t.TempDir(), "s")
		writeTable(t, location, data, WriterOptions{StripeRows: 150_000, Edition: e}, 100_000)
		for _, o := range []ScanOptions{
			{}, {Columns: []string{"delay"}}, {Columns: []string{"payload", "c0"}, BatchRows: 5000}, {Limit: 10},
			{Rows: []RowRange{{From: 5, To: 10}, {From: 99_000, To: 180_000}}},
			{Filter: where(t, "delay = 17")}, {Filter: where(t, "delay > 17")}, {Filter: where(t, "delay > 17"), BatchRows: 10_000},
			{Filter: where(t, "origin = 'SFO'")}, {Filter: where(t, "origin = 'SFO'"), Columns: []string{}},
			{Filter: where(t, "c0 = 77777 or c0 = 300000")}, {Filter: where(t, "payload > 'M'")},
			{Filter: where(t, "payload contains 'x' and delay > 30")},
		} {
			for _, o.Parallelism = range []int{1, 3} {
				s, store := openNoted(t, location)
				for _, err := range s.Scan(ctx, fetchOptions(o)) {
					require.NoError(t, err)
				}
				require.Empty(t, store.again(s), "%v where %v, %d at a time", o.Columns, o.Filter, o.Parallelism)
				require.NotEmpty(t, store.reads)
			}
		}
		for _, rows := range [][]int64{{3}, {399_999, 5, 5, 150_001, 0}, between(1000, 1100)} {
			s, store := openNoted(t, location)
			b, err := s.Take(ctx, rows, TakeOptions{FetchGap: DefaultFetchGap})
			require.NoError(t, err)
			b.Release()
			require.Empty(t, store.again(s), "%v", rows)
		}
	}
}

// TestSureRowsAreNotRead: rows that statistics decide are counted without a request, even over a network. Reads
// for other rows do not extend to them.
func TestSureRowsAreNotRead(t *testing.T) {
	location := filepath.Join(t.TempDir(), "s")
	writeTable(t, location, flightsLike(400_000), WriterOptions{StripeRows: 150_000}, 100_000)
	count := func(text string) (rows int64, reads []rowset.Range) {
		s, store := openNoted(t, location)
		for b, err := range s.Scan(context.Background(), fetchOptions(ScanOptions{Filter: where(t, text), Columns: []string{}})) {
			require.NoError(t, err)
			rows += b.NumRows()
		}
		return rows, store.reads
	}
	for _, text := range []string{"c0 >= 0", "c0 < 0", "c0 is not null and c0 <= 400000"} {
		_, reads := count(text)
		require.Empty(t, reads, text)
	}
	rows, reads := count("c0 < 150000") // a whole stripe, decided by descriptors
	require.EqualValues(t, 150_000, rows)
	require.LessOrEqual(t, len(reads), 3)
	_, all := count("c0 < 150000 or c0 = 150100")
	require.Less(t, sumOf(all)-sumOf(reads), int64(100_000))
}

func sumOf(reads []rowset.Range) (n int64) {
	for _, r := range reads {
		n += r.Len()
	}
	return n
}
