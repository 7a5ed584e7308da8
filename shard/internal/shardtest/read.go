package shardtest

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/shard"
)

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
