package shard_test

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
)

// Store is a store that counts the readers that are not closed.
type Store struct {
	storage.Store
	open atomic.Int64
}

// NewStore wraps a store.
func NewStore(s storage.Store) *Store { return &Store{Store: s} }

// Files makes a store of artifacts by their URL. The bytes are not copied.
func Files(files map[string][]byte) *Store { return NewStore(byURL{files: files}) }

// OneFile makes a store in which every location names the same bytes, which are
// not copied.
func OneFile(b []byte) *Store { return NewStore(oneFile{b: b}) }

// Open implements storage.Store.
func (s *Store) Open(ctx context.Context, location string) (storage.Reader, error) {
	r, err := s.Store.Open(ctx, location)
	if err != nil {
		return nil, err
	}
	s.open.Add(1)
	return &openReader{Reader: r, s: s}, nil
}

// OpenReaders is the number of readers that are not closed.
func (s *Store) OpenReaders() int64 { return s.open.Load() }

type openReader struct {
	storage.Reader
	s      *Store
	closed atomic.Bool
}

func (r *openReader) Close() error {
	if !r.closed.Swap(true) {
		r.s.open.Add(-1)
	}
	return r.Reader.Close()
}

type oneFile struct {
	storage.Store
	b []byte
}

func (s oneFile) Open(_ context.Context, location string) (storage.Reader, error) {
	return storage.FromBytes(location, s.b), nil
}

type byURL struct {
	storage.Store
	files map[string][]byte
}

func (s byURL) Open(_ context.Context, location string) (storage.Reader, error) {
	url, err := storage.URL(location)
	if err != nil {
		return nil, err
	}
	b, ok := s.files[url]
	if !ok {
		return nil, fmt.Errorf("no artifact %s", url)
	}
	return storage.FromBytes(location, b), nil
}

// Read opens a shard and scans it. The batches are the caller's to release.
func Read(location string, open shard.OpenOptions, o shard.ScanOptions) (batches []arrow.RecordBatch, err error) {
	ctx := context.Background()
	s, err := shard.Open(ctx, location, open)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for batch, err := range s.Scan(ctx, o) {
		if err != nil {
			Release(batches)
			return nil, err
		}
		batch.Retain()
		batches = append(batches, batch)
	}
	return batches, nil
}

// Release releases batches.
func Release(batches []arrow.RecordBatch) {
	for _, b := range batches {
		b.Release()
	}
}
