package blockpack_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
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

func traceRows(t testing.TB, f *blockpack.File, ids [][]byte, o blockpack.TraceOptions) (rows []row) {
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
			f := openFile(t, file, blockpack.Options{})
			all := byTrace(scanRows(t, f, blockpack.ScanOptions{}))
			cold := openFile(t, file, blockpack.Options{})
			var ids [][]byte
			for text, want := range all {
				id := idOf(t, text)
				ids = append(ids, id)
				if len(ids)%5 == 0 {
					require.Equal(t, want, texts(traceRows(t, f, [][]byte{id}, blockpack.TraceOptions{})))
					require.Equal(t, want, texts(traceRows(t, cold, [][]byte{id}, blockpack.TraceOptions{Parallelism: 1})))
				}
			}
			require.Equal(t, all, byTrace(traceRows(t, f, append(ids, ids...), blockpack.TraceOptions{})))
			require.Empty(t, traceRows(t, f, nil, blockpack.TraceOptions{}))
			require.Empty(t, traceRows(t, f, [][]byte{bytes.Repeat([]byte{0xfe}, 16), {1, 2}, nil}, blockpack.TraceOptions{}))
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
		f := openFile(t, write(t, messages, o), blockpack.Options{})
		schema, err := f.ArrowSchema(t.Context())
		require.NoError(t, err)
		all := byTrace(scanRows(t, f, blockpack.ScanOptions{}))
		for text, want := range all {
			id := idOf(t, text)
			n := 0
			for b, err := range f.Traces(t.Context(), [][]byte{id}, blockpack.TraceOptions{Columns: []string{"span:name", "trace:id", "nothing"}}) {
				require.NoError(t, err)
				require.Equal(t, []string{"trace:id", "span:name"}, namesOf(b))
				n += int(b.NumRows())
			}
			require.Len(t, want, n)
			for b, err := range f.Traces(t.Context(), [][]byte{id}, blockpack.TraceOptions{Schema: schema}) {
				require.NoError(t, err)
				require.True(t, b.Schema().Equal(schema))
			}
			require.Equal(t, want, texts(traceRows(t, f, [][]byte{id}, blockpack.TraceOptions{Schema: schema})))
			for _, size := range []int{1, 30, 100, 1000} {
				var got []string
				for from := 0; ; from += size {
					page := texts(traceRows(t, f, [][]byte{id}, blockpack.TraceOptions{Offset: int64(from), Limit: int64(size)}))
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
	f := openFile(t, write(t, messages, blockpack.WriterOptions{BlockSpans: 64, Order: blockpack.OrderStart}), blockpack.Options{})
	rows := scanRows(t, f, blockpack.ScanOptions{})
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
		o := blockpack.TraceOptions{Root: idOf(t, root["span:id bytes"])}
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
		f, err := blockpack.Open(t.Context(), location, blockpack.Options{Store: faults.Wrap(faults.Local()), SuffixBytes: 1 << 20})
		require.NoError(t, err)
		faults.Reset()
		id := ids[k*len(ids)/5]
		require.NotEmpty(t, traceRows(t, f, [][]byte{id}, blockpack.TraceOptions{}))
		require.NoError(t, f.Close())
		require.LessOrEqual(t, faults.Count(faultstore.Read), 2*blocks[string(id)], "the file system counts reads, and so does the store")
	}
}

// idsOf are the ids of all traces, and in how many blocks each is.
func idsOf(t testing.TB, file []byte) (ids [][]byte, blocks map[string]int) {
	f := openFile(t, file, blockpack.Options{})
	blocks = map[string]int{}
	last := map[string]int{}
	for b, err := range f.Scan(t.Context(), blockpack.ScanOptions{Columns: []string{"trace:id"}}) {
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

// A catalog finds traces in many files, and reads the index of each once.
func TestCatalog(t *testing.T) {
	check := leaktest.Goroutines(t)
	defer check()
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	dir := t.TempDir()
	var locations []string
	all := map[string][]string{}
	for i, m := range messages {
		file := write(t, [][]byte{m}, blockpack.WriterOptions{BlockSpans: 100})
		locations = append(locations, filepath.Join(dir, fmt.Sprintf("%d.blockpack", i)))
		require.NoError(t, os.WriteFile(locations[i], file, 0o600))
		for id, rows := range byTrace(scanRows(t, openFile(t, file, blockpack.Options{}), blockpack.ScanOptions{})) {
			all[id] = append(all[id], rows...)
		}
	}
	for _, budget := range []int64{0, 1} {
		faults := faultstore.New()
		c := blockpack.NewCatalog(blockpack.CatalogOptions{Options: blockpack.Options{Store: faults.Wrap(faults.Local())}, IndexBytes: budget})
		for round := range 2 {
			for text, want := range all {
				var got []string
				for found, err := range c.Traces(t.Context(), locations, [][]byte{idOf(t, text)}, blockpack.TraceOptions{}) {
					require.NoError(t, err)
					require.Contains(t, locations, found.Location)
					got = append(got, texts(rowsOfBatch(t, found.RecordBatch))...)
				}
				require.Equal(t, want, got)
			}
			if round == 0 {
				faults.Reset()
				for range c.Traces(t.Context(), locations, [][]byte{bytes.Repeat([]byte{0xfe}, 16)}, blockpack.TraceOptions{}) {
					t.Fatal("found a trace that does not exist")
				}
				require.Zero(t, faults.Count(faultstore.Open), "the bounds of ids exclude all files")
			}
		}
		require.Equal(t, faults.Count(faultstore.Open), faults.Count(faultstore.Close)*1)
		missing := filepath.Join(dir, "missing.blockpack")
		failed := 0
		for found, err := range c.Traces(t.Context(), append([]string{missing}, locations...), [][]byte{binary.BigEndian.AppendUint64(make([]byte, 8), 1)}, blockpack.TraceOptions{}) {
			if err != nil {
				require.Equal(t, missing, found.Location)
				require.ErrorIs(t, err, os.ErrNotExist)
				failed++
			}
		}
		require.Equal(t, 1, failed)
	}
}
