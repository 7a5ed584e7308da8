package shardtest

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
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

// Same reports whether two lists of batches have the same columns and values, with batches of
// the same lengths.
func Same(a, b []arrow.RecordBatch) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Schema().Equal(b[i].Schema()) || a[i].NumRows() != b[i].NumRows() {
			return false
		}
		for c := range a[i].Columns() {
			if arrowutil.Difference(a[i].Column(c), b[i].Column(c)) >= 0 {
				return false
			}
		}
	}
	return true
}
