package shard

import (
	"context"
	"sync/atomic"

	"github.com/amudai/amudai-go/storage"
)

// slowStore says of its readers that they answer late, and counts their reads.
type slowStore struct {
	storage.Store
	reads atomic.Int64
	wait  func(ctx context.Context) error // before each read, unless it is nil
}

func (s *slowStore) Open(ctx context.Context, location string) (storage.Reader, error) {
	r, err := s.Store.Open(ctx, location)
	if err != nil {
		return nil, err
	}
	return slowReader{r, s}, nil
}

type slowReader struct {
	storage.Reader
	s *slowStore
}

func (r slowReader) Capabilities() storage.Capabilities {
	return storage.Capabilities{Latency: storage.LatencyHigh}
}

func (r slowReader) ReadAt(ctx context.Context, p []byte, off int64) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	return r.Reader.ReadAt(ctx, p, off)
}

func (r slowReader) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	if err := r.begin(ctx); err != nil {
		return nil, 0, err
	}
	return r.Reader.ReadSuffix(ctx, n)
}

func (r slowReader) begin(ctx context.Context) error {
	r.s.reads.Add(1)
	if r.s.wait != nil {
		return r.s.wait(ctx)
	}
	return nil
}
