package blockpack_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/blockpack/internal/read"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
)

// byTrace groups the rows of a file, in its order, by trace.
func byTrace(rows []row) map[string][]string {
	out := map[string][]string{}
	for _, r := range rows {
		id := r["trace:id bytes"]
		out[id] = append(out[id], r.String())
	}
	return out
}

func idOf(t testing.TB, text string) []byte {
	var id []byte
	_, err := fmt.Sscanf(text, "bytes %x", &id)
	require.NoError(t, err)
	return id
}

// ofTraces is the condition on spans to be those of some traces.
func ofTraces(ids [][]byte) filter.Expr {
	values := make([]any, len(ids))
	for i, id := range ids {
		values[i] = id
	}
	return filter.In(filter.Col("trace:id"), values...)
}

func traceRows(t testing.TB, f spans, ids [][]byte) []row {
	t.Helper()
	return scanRows(t, f, scan.Options{Filter: ofTraces(ids).Node()})
}

func texts(rows []row) (out []string) {
	for _, r := range rows {
		out = append(out, r.String())
	}
	return out
}

// A condition on ids gives exactly the spans of these traces, whatever indexes a file has.
func TestTraces(t *testing.T) {
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	hotrod := otlpgen.Corpus(t, "hotrod.otlp.zst")
	messages = append(messages, hotrod[:4]...)
	files := map[string][]byte{
		"default":   write(t, messages, blockpack.WriterOptions{}),
		"blocks":    write(t, messages, blockpack.WriterOptions{BlockSpans: 70}),
		"reference": golden(t, "ref_kinds.blockpack"),
	}
	files["foreign"] = foreign(t, files["blocks"])
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			f := openFile(t, file, read.Options{})
			all := byTrace(scanRows(t, f, scan.Options{}))
			cold := openFile(t, file, read.Options{})
			var ids [][]byte
			for text, want := range all {
				id := idOf(t, text)
				ids = append(ids, id)
				if len(ids)%5 == 0 {
					require.Equal(t, want, texts(traceRows(t, f, [][]byte{id})))
					require.Equal(t, want, texts(traceRows(t, cold, [][]byte{id})))
				}
			}
			require.Equal(t, all, byTrace(traceRows(t, f, append(ids, ids...))))
			require.Empty(t, traceRows(t, f, nil))
			require.Empty(t, traceRows(t, f, [][]byte{bytes.Repeat([]byte{0xfe}, 16), {1, 2}, nil}))
		})
	}
}

// foreign makes a file one that another program might have written.
func foreign(t testing.TB, file []byte) []byte {
	t.Helper()
	out := bytes.Replace(file, []byte("file:writer"), []byte("file:wRiter"), 1)
	require.NotEqual(t, file, out)
	return out
}

// idsOf are the ids of all traces, and in how many blocks each is.
func idsOf(t testing.TB, file []byte) (ids [][]byte, blocks map[string]int) {
	f := openFile(t, file, read.Options{})
	blocks = map[string]int{}
	last := map[string]int{}
	for b, err := range f.scan(t.Context(), scan.Options{Columns: []string{"trace:id"}}) {
		require.NoError(t, err)
		for i := range int(b.NumRows()) {
			id := string(valueOf(t, b.Column(0), i).([]byte))
			if last[id] != b.Stripe+1 {
				last[id] = b.Stripe + 1
				blocks[id]++
			}
		}
	}
	for id := range blocks {
		ids = append(ids, []byte(id))
	}
	slices.SortFunc(ids, bytes.Compare)
	return ids, blocks
}
