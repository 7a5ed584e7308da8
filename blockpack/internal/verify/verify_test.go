package verify_test

import (
	"bytes"
	"context"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/ranges"
	"github.com/amudai/amudai-go/blockpack/internal/summary"
	"github.com/amudai/amudai-go/blockpack/internal/verify"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

func written(t testing.TB) []byte {
	var out bytes.Buffer
	w, err := blockpack.NewWriter(t.Context(), &out, blockpack.WriterOptions{BlockSpans: 200})
	require.NoError(t, err)
	for _, m := range otlpgen.Corpus(t, "zipkin_lens.otlp") {
		require.NoError(t, w.WriteOTLP(t.Context(), m))
	}
	require.NoError(t, w.Close(t.Context()))
	return out.Bytes()
}

func verifyFile(ctx context.Context, store storage.Store, o provider.VerifyOptions) (*provider.Report, error) {
	r, err := store.Open(ctx, "a")
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return verify.File(ctx, r, o)
}

// A read that fails is an error, or the report is as it is without: whichever read it is. Nothing that was not read has passed.
func TestFaults(t *testing.T) {
	file := written(t)
	whole, err := verifyFile(t.Context(), storage.FromReaderAt("a", bytes.NewReader(file), int64(len(file))), provider.VerifyOptions{})
	require.NoError(t, err)
	require.Empty(t, whole.Problems)
	check := leaktest.Goroutines(t)
	for k := 1; ; k++ {
		faults := faultstore.New()
		store := faults.Wrap(storage.FromReaderAt("a", bytes.NewReader(file), int64(len(file))))
		faults.FailAt(faultstore.Read, k)
		report, err := verifyFile(t.Context(), store, provider.VerifyOptions{})
		if faults.Count(faultstore.Read) < k {
			require.NoError(t, err)
			require.Equal(t, whole, report)
			require.Greater(t, k, 3)
			break
		}
		require.ErrorIs(t, err, faultstore.Err, "read %d", k)
	}
	check()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = verifyFile(ctx, storage.FromReaderAt("a", bytes.NewReader(file), int64(len(file))), provider.VerifyOptions{})
	require.ErrorIs(t, err, context.Canceled)
}

// Without the data, the report says what it did not look at. Progress comes to its end.
func TestOptions(t *testing.T) {
	file := written(t)
	store := storage.FromReaderAt("a", bytes.NewReader(file), int64(len(file)))
	report, err := verifyFile(t.Context(), store, provider.VerifyOptions{MetadataOnly: true})
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	require.Equal(t, 1, report.Unchecked)
	last, of := 0, 0
	_, err = verifyFile(t.Context(), store, provider.VerifyOptions{Parallelism: 3, Progress: func(done, total int) { last, of = done, total }})
	require.NoError(t, err)
	require.Equal(t, 6, of)
	require.Equal(t, of, last)
	for i := 100; i < len(file)/4; i += 500 {
		file[i] ^= 0x55
	}
	report, err = verifyFile(t.Context(), store, provider.VerifyOptions{MaxFindings: 2})
	require.NoError(t, err)
	require.Len(t, report.Problems, 2)
	require.True(t, report.Truncated)
}

// Each byte of the summaries of traces, and of their trees, is looked at: a change that changes what they say is a problem.
func TestSummaries(t *testing.T) {
	file := written(t)
	f, err := layout.Open(t.Context(), mustOpen(t, file), 0)
	require.NoError(t, err)
	m := f.Metadata
	for kind, parse := range map[ranges.SectionName]func([]byte, int64) (any, error){
		ranges.Summaries: func(data []byte, at int64) (any, error) {
			s, err := summary.Parse(data, at)
			var all []summary.Trace
			for i := range m.Traces.Len() {
				if err == nil && i < s.Len() {
					all = append(all, s.Trace(i))
				}
			}
			return all, err
		},
		ranges.Trees: func(data []byte, at int64) (any, error) { return summary.ParsePlaces(data, at) },
	} {
		t.Run(kind.Name, func(t *testing.T) {
			sections, err := m.Ranges.Sections(kind.Column)
			require.NoError(t, err)
			require.Len(t, sections, 1)
			at := sections[0]
			said := func(file []byte) (any, error) { return parse(file[at.Offset:at.Offset+at.Length], at.Offset) }
			want, err := said(file)
			require.NoError(t, err)
			found := 0
			for i := at.Offset; i < at.Offset+at.Length; i += 11 {
				changed := bytes.Clone(file)
				changed[i] ^= 0x55
				have, err := said(changed)
				report, verr := verifyFile(t.Context(), storage.FromReaderAt("a", bytes.NewReader(changed), int64(len(changed))), provider.VerifyOptions{})
				require.NoError(t, verr)
				require.Equal(t, err != nil || !reflect.DeepEqual(have, want), len(report.Problems)+report.Unchecked > 0, "byte %d", i-at.Offset)
				found += len(report.Problems)
			}
			require.Greater(t, found, int(at.Length/22))
		})
	}
}

func mustOpen(t *testing.T, file []byte) storage.Reader {
	r, err := storage.FromReaderAt("a", bytes.NewReader(file), int64(len(file))).Open(t.Context(), "a")
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	return r
}
