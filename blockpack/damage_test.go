package blockpack_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/table/provider"
)

// readAll reads all values of a file as text, and all traces of some ids.
func readAll(t testing.TB, file []byte, ids [][]byte) (rows, traces []string, err error) {
	f, err := blockpack.OpenReaderAt(t.Context(), "a.blockpack", bytes.NewReader(file), int64(len(file)), blockpack.Options{})
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	for b, err := range f.Scan(t.Context(), nil, filter.Expr{}) {
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, texts(rowsOfBatch(t, b))...)
	}
	for b, err := range f.Scan(t.Context(), nil, ofTraces(ids)) {
		if err != nil {
			return nil, nil, err
		}
		traces = append(traces, texts(rowsOfBatch(t, b))...)
	}
	return rows, traces, nil
}

// damaged verifies a file that may be damaged.
func damaged(t testing.TB, file []byte) bool {
	in := provider.Input{Name: "a.blockpack", At: bytes.NewReader(file), Size: int64(len(file))}
	r, err := blockpack.New(blockpack.FormatOptions{}).Verify(context.Background(), in, provider.VerifyOptions{MaxFindings: 1})
	require.NoError(t, err, "all can be read")
	return len(r.Problems) > 0 || r.Unchecked > 0
}

// A flipped bit is an error, or the rows are right, or it changes them silently: the format has no checksums. Verification finds
// most of the last kind. The shares are those of docs/blockpack.md.
func TestFlippedBits(t *testing.T) {
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	file := write(t, messages, blockpack.WriterOptions{BlockSpans: 400})
	ids, _ := idsOf(t, file)
	rows, traces, err := readAll(t, file, ids[:2])
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	flips := sweep.Count(60, 20000)
	refused, harmless, silent, unfound := 0, 0, 0, 0
	for range flips {
		at := r.IntN(8 * len(file))
		flipped := bytes.Clone(file)
		flipped[at/8] ^= 1 << (at % 8)
		gotRows, gotTraces, err := readAll(t, flipped, ids[:2])
		switch {
		case err != nil:
			refused++
			require.True(t, fault.Is(err), "bit %d: %v", at, err)
		case equal(rows, gotRows) && equal(traces, gotTraces):
			harmless++
		default:
			silent++
			if !damaged(t, flipped) {
				unfound++
			}
		}
	}
	share := func(n int) float64 { return 100 * float64(n) / float64(flips) }
	t.Logf("of %d flipped bits %.1f %% are errors, %.1f %% change nothing that is read, %.1f %% change values; verification misses %.1f %%",
		flips, share(refused), share(harmless), share(silent), share(unfound))
	require.Less(t, share(silent), 25.0)
	require.Less(t, share(unfound), 20.0)
}

func equal(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// A file that ends early is an error, wherever it ends: the footer is at its end.
func TestCutFiles(t *testing.T) {
	file := write(t, otlpgen.Corpus(t, "zipkin_lens.otlp"), blockpack.WriterOptions{BlockSpans: 400})
	for n := 0; n < len(file); n += 1 + n/sweep.Count(50, 2000) {
		_, _, err := readAll(t, file[:n], nil)
		require.Error(t, err, "%d bytes", n)
		require.True(t, damaged(t, file[:n]))
	}
}

// Bytes that claim much take little memory.
func TestHostileBytes(t *testing.T) {
	file := write(t, otlpgen.Corpus(t, "zipkin_lens.otlp"), blockpack.WriterOptions{BlockSpans: 400})
	r := rand.New(rand.NewPCG(3, 4))
	var before, after runtime.MemStats
	for range sweep.Count(60, 5000) {
		hostile := bytes.Clone(file)
		for range 1 + r.IntN(4) {
			at := r.IntN(len(file) - 8)
			if r.IntN(2) == 0 {
				at = len(file) - 8 - r.IntN(30000)
			}
			for i := range 4 {
				hostile[at+i] = []byte{0xff, 0x7f, 0}[r.IntN(3)]
			}
		}
		runtime.ReadMemStats(&before)
		_, _, err := readAll(t, hostile, nil)
		runtime.ReadMemStats(&after)
		if err != nil {
			require.True(t, fault.Is(err), err.Error())
		}
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<20))
	}
}
