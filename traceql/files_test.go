package traceql_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
	_ "github.com/amudai/amudai-go/table/formats"
	"github.com/amudai/amudai-go/traceql"
)

// otlp is a span as an OTLP message.
func (s span) otlp() []byte {
	fixed := func(b []byte, n protowire.Number, v int64) []byte {
		return protowire.AppendFixed64(protowire.AppendTag(b, n, protowire.Fixed64Type), uint64(v))
	}
	varint := func(b []byte, n protowire.Number, v int64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), uint64(v))
	}
	own := appendMessage(appendMessage(nil, 1, traceID(s.trace)), 2, spanID(s.id))
	if s.parent != 0 {
		own = appendMessage(own, 4, spanID(s.parent))
	}
	own = varint(appendMessage(own, 5, []byte(s.name)), 6, s.kind)
	own = fixed(fixed(own, 7, s.start), 8, s.end)
	var resource []byte
	scope := appendMessage(appendMessage(nil, 1, []byte(s.scope)), 2, []byte(s.version))
	if s.service != "" {
		resource = appendMessage(resource, 1, keyValue("service.name", s.service))
	}
	for _, name := range sortedKeys(s.attrs) {
		switch name[:2] {
		case "sp":
			own = appendMessage(own, 9, keyValue(name[len("span."):], s.attrs[name]))
		case "re":
			resource = appendMessage(resource, 1, keyValue(name[len("resource."):], s.attrs[name]))
		default:
			scope = appendMessage(scope, 3, keyValue(name[len("scope."):], s.attrs[name]))
		}
	}
	own = append(append(own, s.eventBytes()...), s.linkBytes()...)
	own = appendMessage(own, 15, varint(appendMessage(nil, 2, []byte(s.message)), 3, s.status))
	return appendMessage(nil, 1, appendMessage(appendMessage(nil, 1, resource), 2, appendMessage(appendMessage(nil, 1, scope), 2, own)))
}

// blockpackOf is a Blockpack file of spans, with small blocks.
func blockpackOf(t testing.TB, list []span, o blockpack.WriterOptions) traceql.Source {
	t.Helper()
	ctx := context.Background()
	var out bytes.Buffer
	w, err := blockpack.NewWriter(ctx, &out, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if err := w.WriteOTLP(ctx, s.otlp()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(ctx); err != nil {
		t.Fatal(err)
	}
	f, err := blockpack.OpenReaderAt(ctx, "test", bytes.NewReader(out.Bytes()), int64(out.Len()), blockpack.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	src, err := traceql.BlockpackSource(ctx, f)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// shardOf is a shard with the rows of a table.
func shardOf(t testing.TB, s *memorySource) traceql.Source {
	t.Helper()
	ctx := context.Background()
	var out bytes.Buffer
	w, err := shard.NewWriter(ctx, &out, s.schema, shard.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range s.batches {
		if err := w.Write(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(ctx); err != nil {
		t.Fatal(err)
	}
	sh, err := shard.OpenReaderAt(ctx, bytes.NewReader(out.Bytes()), int64(out.Len()), shard.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sh.Close() })
	src, err := traceql.ShardSource(ctx, sh)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// arrowOf is an Arrow file with the rows of a table, which is opened anew for each scan.
func arrowOf(t testing.TB, s *memorySource) traceql.Source {
	t.Helper()
	location := filepath.Join(t.TempDir(), "spans.arrow")
	out, err := os.Create(location)
	require.NoError(t, err)
	w, err := ipc.NewFileWriter(out, ipc.WithSchema(s.schema))
	require.NoError(t, err)
	for _, b := range s.batches {
		require.NoError(t, w.Write(b))
	}
	require.NoError(t, w.Close())
	require.NoError(t, out.Close())
	tb, err := table.Open(t.Context(), location)
	require.NoError(t, err)
	t.Cleanup(func() { _ = tb.Close() })
	src, err := traceql.TableSource(t.Context(), tb)
	require.NoError(t, err)
	return src
}

// Random queries on random spans in Blockpack files, shards, Arrow files and memory together.
func TestRandomQueriesOnFiles(t *testing.T) {
	for seed := range uint64(sweep.Count(25, 500)) {
		r := rand.New(rand.NewPCG(seed, 15))
		list := randomSpans(r)
		parts := make([][]span, 4)
		for _, i := range r.Perm(len(list)) {
			k := r.IntN(len(parts))
			parts[k] = append(parts[k], list[i])
			if r.IntN(8) == 0 {
				k = r.IntN(len(parts))
				parts[k] = append(parts[k], list[i])
			}
		}
		sources := []traceql.Source{
			blockpackOf(t, parts[0], blockpack.WriterOptions{BlockSpans: 1 + r.IntN(8)}),
			tableOfSpans(t, 1+r.IntN(9), parts[1]),
			shardOf(t, tableOfSpans(t, 1+r.IntN(9), parts[2])),
			arrowOf(t, tableOfSpans(t, 1+r.IntN(9), parts[3])),
		}
		for range 10 {
			q := randomPipeline(r, 2)
			want := expected(list, q)
			got := found(t, q.text, traceql.Options{}, sources...)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: %s\n got %q\nwant %q\n%s", seed, q.text, got, want, describe(list))
			}
		}
	}
}

// What files say of whole traces gives the results that all spans give, whatever order, limit and window.
func TestSummaries(t *testing.T) {
	few := *traceql.FewTraces
	*traceql.FewTraces = 0
	defer func() { *traceql.FewTraces = few }()
	for seed := range uint64(sweep.Count(40, 1000)) {
		r := rand.New(rand.NewPCG(seed, 16))
		list := randomSpans(r)
		for i := range list {
			if r.IntN(4) > 0 { // most root spans have a service
				list[i].service = pick(r, "a", "b")
			}
		}
		if r.IntN(3) == 0 {
			list = append(list, list[r.IntN(len(list))])
		}
		parts, all := make([][]span, 1+r.IntN(2)), []span{}
		for _, i := range r.Perm(len(list)) {
			if k := r.IntN(8); k < len(parts) {
				parts[k] = append(parts[k], list[i])
			} else {
				parts[0] = append(parts[0], list[i])
			}
		}
		var files []traceql.Source
		for _, part := range parts {
			files, all = append(files, blockpackOf(t, part, blockpack.WriterOptions{BlockSpans: 1 + r.IntN(8)})), append(all, part...)
		}
		plain := tableOfSpans(t, 1+r.IntN(9), all)
		for range 10 {
			q := randomPipeline(r, 2)
			o := traceql.Options{Spans: r.IntN(3), Order: traceql.Order(r.IntN(2))}
			if r.IntN(3) == 0 {
				o.Start = time.Unix(0, int64(100+r.IntN(12)))
			}
			want, got := results(t, q.text, o, plain), results(t, q.text, o, files...)
			require.Equal(t, want, got, "seed %d: %s\n%s", seed, q.text, describe(list))
			if o.Order == traceql.MostRecent {
				o.Limit = 1 + r.IntN(3)
				require.Equal(t, results(t, q.text, o, plain), results(t, q.text, o, files...), "seed %d: %s\n%s", seed, q.text, describe(list))
			}
		}
	}
}

// results are the traces of a search as text, by id unless they have another order.
func results(t *testing.T, query string, o traceql.Options, sources ...traceql.Source) (list []string) {
	t.Helper()
	q, err := traceql.Parse(query)
	require.NoError(t, err, query)
	for found, err := range traceql.Search(t.Context(), q, sources, o) {
		require.NoError(t, err, query)
		list = append(list, fmt.Sprintf("%x %+v", found.ID, *found))
	}
	if o.Order == traceql.AsStored {
		slices.Sort(list)
	}
	return list
}
