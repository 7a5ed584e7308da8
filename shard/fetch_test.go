package shard

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// TestFetchRequests counts the requests of scans over a network: a few for a few columns, and none twice.
func TestFetchRequests(t *testing.T) {
	data := numbered(300_000, 6)
	location := filepath.Join(t.TempDir(), "s")
	writeTable(t, location, data, WriterOptions{}, 100_000)
	for _, parallelism := range []int{1, 3} {
		for _, c := range []struct {
			name    string
			columns []string
			most    int
		}{
			{"one", []string{"c0"}, 2},
			{"two", []string{"c0", "c4"}, 3},
			{"all", nil, 2},
		} {
			faults := faultstore.New()
			s, err := Open(context.Background(), location, OpenOptions{Store: faults.Wrap(storage.Local{})})
			require.NoError(t, err)
			opened := faults.Count(faultstore.Read)
			o := ScanOptions{Columns: c.columns, FetchGap: 256 << 10, Parallelism: parallelism}
			rows := int64(0)
			for b, err := range s.Scan(context.Background(), o) {
				require.NoError(t, err)
				rows += b.NumRows()
			}
			require.EqualValues(t, 300_000, rows)
			require.LessOrEqual(t, faults.Count(faultstore.Read)-opened, c.most, "%s columns, %d at a time", c.name, parallelism)
			require.Less(t, faults.BytesRead(), s.file.Size()+s.file.Size()/8, "%s columns", c.name)
			require.NoError(t, s.Close())
		}
	}
}

// The first read of a shard in a store that answers late has the descriptors of all its stripes, in either layout. They are copies: what is left of the file
// without its end has the others, and those are what Verify compares the copies with.
func TestFirstRead(t *testing.T) {
	ctx := t.Context()
	data := numbered(300_000, 6)
	for _, layout := range []Layout{SingleFile, TwoLevel} {
		for _, stripes := range []int{1, 6, 100} {
			location := filepath.Join(t.TempDir(), "s")
			writeTable(t, location, data, WriterOptions{StripeRows: int64(300_000 / stripes), Layout: layout}, 300_000/stripes)
			store := &slowStore{Store: storage.Local{}}
			s, err := Open(ctx, location, OpenOptions{Store: store})
			require.NoError(t, err)
			require.Equal(t, stripes, s.NumStripes())
			for i := range stripes {
				for id := range uint32(6) {
					_, err := s.file.Stripe(i).Descriptor(ctx, id)
					require.NoError(t, err)
				}
			}
			require.EqualValues(t, 1, store.reads.Load(), "%v, %d stripes", layout, stripes)
			changed := stripes / 2
			first, ok, err := s.file.Stripe(changed).DescriptorRef(ctx, 0)
			require.True(t, ok)
			require.NoError(t, err)
			require.NoError(t, s.Close())

			b, err := os.ReadFile(location)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(location, b[:len(b)-100], 0o666))
			_, err = Recover(ctx, location, location+".saved", RecoverOptions{})
			require.NoError(t, err)
			s, err = Open(ctx, location+".saved", OpenOptions{})
			require.NoError(t, err)
			require.EqualValues(t, 300_000, s.NumRows())
			require.NoError(t, s.Close())

			b[first.Range.Start+9] ^= 1
			require.NoError(t, os.WriteFile(location, b, 0o666))
			report, err := Verify(ctx, location, OpenOptions{}, provider.VerifyOptions{})
			require.NoError(t, err)
			found := slices.ContainsFunc(report.Problems, func(err error) bool {
				return strings.Contains(err.Error(), fmt.Sprintf("stripe %d/copies of descriptors", changed))
			})
			copied := stripes == 100 || stripes == 6 && layout == SingleFile // the other root is short
			require.Equal(t, copied, found, "%v, %d stripes: %v", layout, stripes, report.Problems)
		}
	}
}

// fetchOptions returns options for scans that read as over a network.
func fetchOptions(o ScanOptions) ScanOptions {
	o.FetchGap = DefaultFetchGap
	return o
}

// TestFetchFilter reads few bytes for a filter with few matches.
func TestFetchFilter(t *testing.T) {
	data := flightsLike(600_000)
	location := filepath.Join(t.TempDir(), "s")
	writeTable(t, location, data, WriterOptions{}, 100_000)
	faults := faultstore.New()
	s, err := Open(context.Background(), location, OpenOptions{Store: faults.Wrap(storage.Local{})})
	require.NoError(t, err)
	defer s.Close()
	requireRows(t, s, data, []int64{70_000, 70_001}, ScanOptions{Filter: where(t, "c0 between 70000 and 70001"), FetchGap: 1})
	require.LessOrEqual(t, faults.Count(faultstore.Read), 16)
	require.Less(t, faults.BytesRead(), s.file.Size()/2)
}

// TestPointRequests searches for one row in a shard of edition 2026, over a network. In addition to the end, the
// header and the field lists, it reads a range index, the value dictionary of origin, and one block of each
// column. Block maps are read with the descriptors.
func TestPointRequests(t *testing.T) {
	const stripes = 3
	data := flightsLike(stripes * 100_000)
	location := filepath.Join(t.TempDir(), "s")
	writeTable(t, location, data, WriterOptions{Edition: edition.E2026, StripeRows: 100_000}, 100_000)
	faults := faultstore.New()
	s, err := Open(context.Background(), location, OpenOptions{Store: faults.Wrap(storage.Local{})})
	require.NoError(t, err)
	defer s.Close()
	requireRows(t, s, data, []int64{170_000}, ScanOptions{Filter: where(t, "c0 = 170000"), FetchGap: 1})
	require.LessOrEqual(t, faults.Count(faultstore.Read), 2+stripes+2+len(data.columns))
}

// together is a store whose first reads, except for those of the end, wait until a number of them are in progress.
type together struct {
	storage.Store
	wait  int
	mu    sync.Mutex
	sizes []int         // of the reads
	all   chan struct{} // closed when they have come
}

type togetherReader struct {
	storage.Reader
	s *together
}

func (s *together) Open(ctx context.Context, location string) (storage.Reader, error) {
	r, err := s.Store.Open(ctx, location)
	return &togetherReader{r, s}, err
}

func (r *togetherReader) ReadAt(ctx context.Context, p []byte, off int64) error {
	s := r.s
	s.mu.Lock()
	s.sizes = append(s.sizes, len(p))
	if len(s.sizes) == s.wait {
		close(s.all)
	}
	s.mu.Unlock()
	select {
	case <-s.all:
		return r.Reader.ReadAt(ctx, p, off)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestFieldListsTogether: the field lists of all stripes of a scan or a take, and the header, are read at the same
// time, even on one processor.
func TestFieldListsTogether(t *testing.T) {
	data := numbered(200_000, 3)
	location := filepath.Join(t.TempDir(), "s")
	writeTable(t, location, data, WriterOptions{StripeRows: 50_000, Edition: edition.Reference}, 50_000) // whose lists are behind their stripes only
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	open := func() (*Shard, *together) {
		store := &together{Store: storage.Local{}, wait: 4, all: make(chan struct{})} // the end holds the last list
		s, err := Open(ctx, location, OpenOptions{Store: store, SuffixBytes: 8 << 10})
		require.NoError(t, err)
		return s, store
	}
	s, store := open()
	for _, err := range s.Scan(ctx, ScanOptions{Columns: []string{"c1"}, FetchGap: DefaultFetchGap, Parallelism: 1}) {
		require.NoError(t, err)
	}
	require.LessOrEqual(t, len(store.sizes), 4+4, "a list and a read of each stripe")
	require.NoError(t, s.Close())
	s, store = open()
	b, err := s.Take(ctx, []int64{3, 60_000, 120_000, 199_999}, TakeOptions{FetchGap: DefaultFetchGap, Parallelism: 1})
	require.NoError(t, err)
	b.Release()
	require.Contains(t, store.sizes[:4], 8, "the header")
	require.NoError(t, s.Close())
}
