package blockpack_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/blockpack/internal/read"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/storage"
)

// readUses are what can be done with an open file.
var readUses = map[string]func(ctx context.Context, f spans, ids [][]byte) error{
	"schema": func(ctx context.Context, f spans, _ [][]byte) error {
		return f.Load(ctx)
	},
	"scan": func(ctx context.Context, f spans, _ [][]byte) error {
		for _, err := range f.scan(ctx, scan.Options{BatchRows: 70}) {
			if err != nil {
				return err
			}
		}
		return nil
	},
	"filter": func(ctx context.Context, f spans, _ [][]byte) error {
		e := filter.And(filter.Gt(filter.Col("span:duration"), time.Microsecond), filter.Ne(filter.Col("span:name"), "x"))
		_, err := f.count(ctx, e)
		return err
	},
	"take": func(ctx context.Context, f spans, _ [][]byte) error {
		b, err := f.take(ctx, []int64{900, 0, 3, 501})
		if err == nil {
			b.Release()
		}
		return err
	},
	"traces": func(ctx context.Context, f spans, ids [][]byte) error {
		for _, err := range f.scan(ctx, scan.Options{Filter: ofTraces(ids).Node()}) {
			if err != nil {
				return err
			}
		}
		return nil
	},
}

// slowStore has the latency of a network.
type slowStore struct{ storage.Store }

func (s slowStore) Open(ctx context.Context, location string) (storage.Reader, error) {
	r, err := s.Store.Open(ctx, location)
	return slowReader{r}, err
}

type slowReader struct{ storage.Reader }

func (slowReader) Capabilities() storage.Capabilities {
	return storage.Capabilities{Latency: storage.LatencyHigh}
}

// A read that fails makes every use fail with the error of the store, whichever read it is. No goroutine is left.
func TestReadFaults(t *testing.T) {
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	own := write(t, messages, blockpack.WriterOptions{BlockSpans: 300})
	ids, _ := idsOf(t, own)
	for name, file := range map[string][]byte{"own": own, "foreign": foreign(t, own)} {
		location := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(location, file, 0o600))
		for _, slow := range []bool{false, true} {
			for use, do := range readUses {
				t.Run(name+" "+use, func(t *testing.T) {
					check := leaktest.Goroutines(t)
					defer check()
					for k := 1; ; k += sweep.Step(5) {
						faults := faultstore.New()
						store := faults.Wrap(storage.NewLocal(nil))
						if slow {
							store = slowStore{store}
						}
						faults.FailAt(faultstore.Read, k)
						err := useFile(t, location, store, func(f spans) error { return do(t.Context(), f, ids) })
						if faults.Count(faultstore.Read) < k {
							require.NoError(t, err)
							require.Greater(t, k, 1)
							return
						}
						require.ErrorIs(t, err, faultstore.Err, "read %d", k)
					}
				})
			}
		}
	}
}

func useFile(t testing.TB, location string, store storage.Store, do func(f spans) error) error {
	r, err := store.Open(t.Context(), location)
	if err != nil {
		return err
	}
	defer func() { require.NoError(t, r.Close()) }()
	f, err := read.Open(t.Context(), r, read.Options{SuffixBytes: 64})
	if err != nil {
		return err
	}
	return do(spans{f})
}

// A cancelled use ends with the error of its context.
func TestReadCancel(t *testing.T) {
	file := write(t, otlpgen.Corpus(t, "zipkin_lens.otlp"), blockpack.WriterOptions{BlockSpans: 300})
	ids, _ := idsOf(t, file)
	for use, do := range readUses {
		check := leaktest.Goroutines(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, do(ctx, openFile(t, file, read.Options{}), ids), context.Canceled, use)
		check()
	}
}

// Over a network a file is read in few requests.
func TestFewRequests(t *testing.T) {
	messages := otlpgen.Corpus(t, "hotrod.otlp.zst")[:25]
	location := filepath.Join(t.TempDir(), "a.blockpack")
	file := write(t, messages, blockpack.WriterOptions{BlockSpans: 500})
	require.NoError(t, os.WriteFile(location, file, 0o600))
	for name, f := range map[string][]byte{"own": file, "foreign": foreign(t, file)} {
		require.NoError(t, os.WriteFile(location, f, 0o600))
		faults := faultstore.New()
		store := slowStore{faults.Wrap(storage.NewLocal(nil))}
		f, err := blockpack.Open(t.Context(), location, blockpack.Options{Store: store})
		require.NoError(t, err)
		n := int64(0)
		for b, err := range f.Scan(t.Context(), nil, filter.Expr{}) {
			require.NoError(t, err)
			n += b.NumRows()
		}
		blocks := int(n+499) / 500
		t.Logf("%s: %d blocks, %d spans, %d requests", name, blocks, n, faults.Count(faultstore.Read))
		require.LessOrEqual(t, faults.Count(faultstore.Read), 3+blocks/8+1)
		require.NoError(t, f.Close())
	}
}

// TestSweepFaults makes reads of files with and without indexes fail in every way, and changes the files between them. Each use of the
// library fails, or gives all spans.
func TestSweepFaults(t *testing.T) {
	dir := t.TempDir()
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	plain := foreign(t, write(t, messages, blockpack.WriterOptions{BlockSpans: 300}))
	ids, _ := idsOf(t, plain)
	var uses []faultstore.Use
	for name, file := range map[string][]byte{"plain": plain, "indexed": write(t, messages, blockpack.WriterOptions{BlockSpans: 300})} {
		location := filepath.Join(dir, name+".blockpack")
		require.NoError(t, os.WriteFile(location, file, 0o600))
		on := func(use string, do func(f *blockpack.File, out *strings.Builder) error) {
			uses = append(uses, faultstore.Use{Name: use + " " + name, Run: func(string) (string, error) {
				f, err := blockpack.Open(context.Background(), location, blockpack.Options{})
				if err != nil {
					return "", err
				}
				var out strings.Builder
				err = do(f, &out)
				return out.String(), errors.Join(err, f.Close())
			}})
		}
		on("scan", func(f *blockpack.File, out *strings.Builder) error {
			for b, err := range f.Scan(context.Background(), nil, filter.Expr{}) {
				if err != nil {
					return err
				}
				fmt.Fprintln(out, texts(rowsOfBatch(t, b)))
			}
			return nil
		})
		on("filter", func(f *blockpack.File, out *strings.Builder) error {
			n := int64(0)
			for b, err := range f.Scan(context.Background(), []string{"span:id"}, filter.Eq(filter.Col("trace:id"), ids[0])) {
				if err != nil {
					return err
				}
				n += b.NumRows()
			}
			fmt.Fprint(out, n)
			return nil
		})
	}
	faultstore.Sweep(t, dir, []faultstore.Op{faultstore.Read, faultstore.Open}, 2, uses)
}
