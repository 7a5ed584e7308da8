package shard

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/storage"
)

// eachStripe is a store whose reads wait for each other: those of field lists until as many are asked for as the end of the file does not hold, all others
// until there is one for each stripe.
type eachStripe struct {
	storage.Store
	shard *Shard // nil while it is opened

	mu    sync.Mutex
	come  [2]int
	ready [2]chan struct{}
}

type stripesReader struct {
	storage.Reader
	s *eachStripe
}

func (s *eachStripe) Open(ctx context.Context, location string) (storage.Reader, error) {
	r, err := s.Store.Open(ctx, location)
	return stripesReader{r, s}, err
}

func (r stripesReader) ReadAt(ctx context.Context, p []byte, off int64) error {
	if s := r.s; s.shard != nil && off > 0 {
		kind, wanted := 0, s.shard.NumStripes()
		if hasFieldList(s.shard, rowset.Range{From: off, To: off + int64(len(p))}) {
			kind, wanted = 1, wanted-1
		}
		s.mu.Lock()
		if s.come[kind]++; s.come[kind] == wanted {
			close(s.ready[kind])
		}
		s.mu.Unlock()
		select {
		case <-s.ready[kind]:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return r.Reader.ReadAt(ctx, p, off)
}

// Over a network, the bytes of no stripe wait for those of another, however few processors there are.
func TestStripesAreReadTogether(t *testing.T) {
	location := filepath.Join(t.TempDir(), "s")
	writeTable(t, location, flightsLike(6*150_000), WriterOptions{StripeRows: 150_000}, 100_000)
	for _, o := range []ScanOptions{{Columns: []string{"c0"}}, {Columns: []string{"c0"}, Filter: where(t, "c0 != 17")}} {
		for _, o.Parallelism = range []int{1, 3} {
			store := &eachStripe{Store: storage.Local{}, ready: [2]chan struct{}{make(chan struct{}), make(chan struct{})}}
			s, err := Open(t.Context(), location, OpenOptions{Store: store})
			require.NoError(t, err)
			require.Equal(t, 6, s.NumStripes())
			store.shard = s
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only if they do
			for _, err := range s.Scan(ctx, fetchOptions(o)) {
				require.NoError(t, err)
			}
			cancel()
			require.NoError(t, s.Close())
			require.GreaterOrEqual(t, store.come[0], 6)
		}
	}
}
