package shard_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// readers are the functions that read a shard. Each returns its result.
var readers = map[string]func(open shard.OpenOptions) (any, error){
	"verify": func(open shard.OpenOptions) (any, error) {
		return shard.Verify(context.Background(), Location, open, provider.VerifyOptions{Parallelism: 1})
	},
	"verify metadata": func(open shard.OpenOptions) (any, error) {
		return shard.Verify(context.Background(), Location, open, provider.VerifyOptions{Parallelism: 1, MetadataOnly: true})
	},
	"recover": func(open shard.OpenOptions) (any, error) {
		out := storage.NewMemory()
		r, err := shard.Recover(context.Background(), Location, "mem://x/out", shard.RecoverOptions{Open: open, Store: out, Parallelism: 1})
		if err != nil {
			return nil, err
		}
		return fmt.Sprintf("%+v", *r), nil
	},
	"summary": func(open shard.OpenOptions) (any, error) {
		return shard.New(shard.FormatOptions{Open: open}).Statistics(context.Background(), input, []string{"f0"})
	},
	"explain": func(open shard.OpenOptions) (any, error) {
		f := shard.New(shard.FormatOptions{Open: open, Scan: shard.ScanOptions{Parallelism: 1}})
		return f.Explain(context.Background(), input, provider.ExplainOptions{Filter: filter.Not(filter.IsNull(filter.Col("f0")))})
	},
}

var input = provider.Input{Name: Location, Location: Location}

// TestReadFaults makes the k-th read fail: once, with all later reads, or with all multiples of k. A reader then
// fails with that error, or has the result of the undamaged shard: a check whose read failed has not passed.
func TestReadFaults(t *testing.T) {
	for i, batch := range Batches(30) {
		if i != 1 && i%4 != 0 {
			continue
		}
		fields := batch.Schema().Fields()
		for c := range fields {
			fields[c].Name = fmt.Sprintf("f%d", c)
		}
		k := NewKind(t, fmt.Sprint(i), array.NewRecordBatch(arrow.NewSchema(fields, nil), batch.Columns(), batch.NumRows()), shard.WriterOptions{StripeRows: 20, Layout: []shard.Layout{shard.SingleFile, shard.TwoLevel}[i/4%2]})
		for name, read := range readers {
			t.Run(fmt.Sprintf("%s %s", k.Name, name), func(t *testing.T) { readFaults(t, k, read) })
		}
	}
}

func readFaults(t *testing.T, k Kind, read func(shard.OpenOptions) (any, error)) {
	want, err := read(shard.OpenOptions{Store: Files(k.Files)})
	require.NoError(t, err)
	for _, fail := range []func(f *faultstore.Faults, n int){
		func(f *faultstore.Faults, n int) { f.FailAt(faultstore.Read, n) },
		func(f *faultstore.Faults, n int) { f.FailFrom(faultstore.Read, n) },
		func(f *faultstore.Faults, n int) { f.FailEvery(faultstore.Read, n) },
	} {
		for n := 1; ; n += sweep.Step(3) {
			faults := faultstore.New()
			fail(faults, n)
			// A small read-ahead and no cache, so that all bytes are read.
			got, err := read(shard.OpenOptions{Store: faults.Wrap(Files(k.Files)), SuffixBytes: 1, CacheBytes: 1})
			if err != nil {
				require.ErrorIs(t, err, faultstore.Err, "read %d", n)
				continue
			}
			require.Equal(t, want, got, "the failure of read %d was not reported", n)
			if faults.Count(faultstore.Read) < n {
				require.Greater(t, n, 1)
				break
			}
		}
	}
}
