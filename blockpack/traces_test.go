package blockpack_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/blockpack/internal/read"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
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

func traceRows(t testing.TB, f spans, ids [][]byte, o read.TraceOptions) (rows []row) {
	t.Helper()
	for b, err := range f.Traces(t.Context(), ids, o) {
		require.NoError(t, err)
		rows = append(rows, rowsOfBatch(t, b)...)
	}
	return rows
}

func texts(rows []row) (out []string) {
	for _, r := range rows {
		out = append(out, r.String())
	}
	return out
}

// Traces gives exactly the spans of a trace, whatever indexes a file has, and many traces at once.
func TestTraces(t *testing.T) {
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	hotrod := otlpgen.Corpus(t, "hotrod.otlp.zst")
	messages = append(messages, hotrod[:4]...)
	files := map[string][]byte{
		"default":    write(t, messages, blockpack.WriterOptions{}),
		"blocks":     write(t, messages, blockpack.WriterOptions{BlockSpans: 70}),
		"no compact": write(t, messages, blockpack.WriterOptions{BlockSpans: 70, NoCompact: true}),
		"reference":  golden(t, "ref_kinds.blockpack"),
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
					require.Equal(t, want, texts(traceRows(t, f, [][]byte{id}, read.TraceOptions{})))
					require.Equal(t, want, texts(traceRows(t, cold, [][]byte{id}, read.TraceOptions{Parallelism: 1})))
				}
			}
			require.Equal(t, all, byTrace(traceRows(t, f, append(ids, ids...), read.TraceOptions{})))
			require.Empty(t, traceRows(t, f, nil, read.TraceOptions{}))
			require.Empty(t, traceRows(t, f, [][]byte{bytes.Repeat([]byte{0xfe}, 16), {1, 2}, nil}, read.TraceOptions{}))
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

// Columns, a schema and pages select parts of a trace.
func TestTraceOptions(t *testing.T) {
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	for _, o := range []blockpack.WriterOptions{{BlockSpans: 64}, {BlockSpans: 64, NoCompact: true}} {
		f := openFile(t, write(t, messages, o), read.Options{})
		require.NoError(t, f.Load(t.Context()))
		schema := f.ArrowSchema()
		all := byTrace(scanRows(t, f, scan.Options{}))
		for text, want := range all {
			id := idOf(t, text)
			n := 0
			for b, err := range f.Traces(t.Context(), [][]byte{id}, read.TraceOptions{Columns: []string{"span:name", "trace:id", "nothing"}}) {
				require.NoError(t, err)
				require.Equal(t, []string{"trace:id", "span:name"}, namesOf(b))
				n += int(b.NumRows())
			}
			require.Len(t, want, n)
			for b, err := range f.Traces(t.Context(), [][]byte{id}, read.TraceOptions{Schema: schema}) {
				require.NoError(t, err)
				require.True(t, b.Schema().Equal(schema))
			}
			require.Equal(t, want, texts(traceRows(t, f, [][]byte{id}, read.TraceOptions{Schema: schema})))
			for _, size := range []int{1, 30, 100, 1000} {
				var got []string
				for from := 0; ; from += size {
					page := texts(traceRows(t, f, [][]byte{id}, read.TraceOptions{Offset: int64(from), Limit: int64(size)}))
					if len(page) == 0 {
						break
					}
					got = append(got, page...)
					if size == 1 && from > 20 {
						break
					}
				}
				require.Equal(t, want[:len(got)], got)
				require.True(t, size == 1 || len(got) == len(want))
			}
		}
	}
}

func namesOf(b arrow.RecordBatch) (names []string) {
	for _, f := range b.Schema().Fields() {
		names = append(names, f.Name)
	}
	return names
}

// A root gives the spans below it, of whatever blocks.
func TestSubtree(t *testing.T) {
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	f := openFile(t, write(t, messages, blockpack.WriterOptions{BlockSpans: 64, Order: blockpack.OrderStart}), read.Options{})
	rows := scanRows(t, f, scan.Options{})
	parents := map[string]string{}
	for _, r := range rows {
		parents[r["trace:id bytes"]+r["span:id bytes"]] = r["trace:id bytes"] + r["span:parent_id bytes"]
	}
	for k := 0; k < len(rows); k += 97 {
		root := rows[k]
		var want []string
		for _, r := range rows {
			at := r["trace:id bytes"] + r["span:id bytes"]
			for hops := 0; at != "" && hops < 1000; hops++ {
				if at == root["trace:id bytes"]+root["span:id bytes"] {
					want = append(want, r.String())
					break
				}
				at = parents[at]
			}
		}
		o := read.TraceOptions{Root: idOf(t, root["span:id bytes"])}
		require.Equal(t, want, texts(traceRows(t, f, [][]byte{idOf(t, root["trace:id bytes"])}, o)))
		o.Limit = 2
		require.Equal(t, want[:min(2, len(want))], texts(traceRows(t, f, [][]byte{idOf(t, root["trace:id bytes"])}, o)))
	}
}

// A trace takes two reads of a file that nothing is known of: its end, and the block.
func TestTwoReads(t *testing.T) {
	messages := otlpgen.Corpus(t, "hotrod.otlp.zst")
	location := filepath.Join(t.TempDir(), "a.blockpack")
	file := write(t, messages[:20], blockpack.WriterOptions{BlockSpans: 2000})
	require.NoError(t, os.WriteFile(location, file, 0o600))
	ids, blocks := idsOf(t, file)
	for k := range 5 {
		faults := faultstore.New()
		r, err := faults.Wrap(faults.Local()).Open(t.Context(), location)
		require.NoError(t, err)
		f, err := read.Open(t.Context(), r, read.Options{SuffixBytes: 1 << 20})
		require.NoError(t, err)
		faults.Reset()
		id := ids[k*len(ids)/5]
		require.NotEmpty(t, traceRows(t, spans{f}, [][]byte{id}, read.TraceOptions{}))
		require.NoError(t, r.Close())
		require.LessOrEqual(t, faults.Count(faultstore.Read), 2*blocks[string(id)], "the file system counts reads, and so does the store")
	}
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
