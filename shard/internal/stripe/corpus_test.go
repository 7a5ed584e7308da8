package stripe_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
)

// Rows of real data come back in every profile.
func TestFlights(t *testing.T) {
	r, err := file.OpenParquetFile(filepath.Join(testdata.Shared(t), "corpus", "flights", "flights-3m.parquet"), false)
	require.NoError(t, err)
	defer r.Close()
	fr, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: 100_000}, memory.DefaultAllocator)
	require.NoError(t, err)
	rr, err := fr.GetRecordReader(context.Background(), nil, nil)
	require.NoError(t, err)
	defer rr.Release()
	var batches []arrow.RecordBatch
	for rr.Next() && len(batches) < 3 {
		b := rr.RecordBatch()
		b.Retain()
		batches = append(batches, b)
	}
	for i, p := range profiles {
		if testing.Short() && i > 0 {
			break
		}
		t.Run(p.String(), func(t *testing.T) {
			check(t, rr.Schema(), batches, write.Options{Encoding: encoding.Options{Profile: p, Features: edition.E2026.Features()}})
		})
	}
}
