package traceql_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/traceql"
)

// corpus is real traces in several Blockpack files, and the same spans in memory.
func corpus(t *testing.T, name string) (files, plain []traceql.Source) {
	t.Helper()
	ctx := t.Context()
	messages := otlpgen.Corpus(t, name)
	if !sweep.All() {
		messages = messages[:min(len(messages), 60)]
	}
	for part := range slices.Chunk(messages, (len(messages)+2)/3) {
		var out bytes.Buffer
		w, err := blockpack.NewWriter(ctx, &out, blockpack.WriterOptions{BlockSpans: 300})
		require.NoError(t, err)
		for _, m := range part {
			require.NoError(t, w.WriteOTLP(ctx, m))
		}
		require.NoError(t, w.Close(ctx))
		f, err := blockpack.OpenReaderAt(ctx, name, bytes.NewReader(out.Bytes()), int64(out.Len()), blockpack.Options{})
		require.NoError(t, err)
		src, err := traceql.BlockpackSource(ctx, f)
		require.NoError(t, err)
		files = append(files, src)
		plain = append(plain, inMemory(t, src))
	}
	return files, plain
}

// inMemory has all rows of a source, without its indexes.
func inMemory(t *testing.T, src traceql.Source) *memorySource {
	t.Helper()
	all := &memorySource{schema: src.Schema()}
	var paths []string
	for _, f := range all.schema.Fields() {
		paths = append(paths, strings.NewReplacer(`\`, `\\`, `.`, `\.`).Replace(f.Name))
	}
	for b, err := range src.Scan(t.Context(), paths, filter.Expr{}, nil) {
		require.NoError(t, err)
		b.Retain()
		all.batches = append(all.batches, b.RecordBatch)
	}
	return all
}

// Queries for values of real traces find the same spans in indexed files as in memory.
func TestCorpus(t *testing.T) {
	for _, name := range []string{"zipkin_lens.otlp", "hotrod.otlp.zst"} {
		files, plain := corpus(t, name)
		for seed := range uint64(sweep.Count(12, 60)) {
			query := realQuery(t, rand.New(rand.NewPCG(seed, 16)), files)
			want := find(t, query, traceql.Options{}, plain...)
			got := find(t, query, traceql.Options{}, files...)
			slices.Sort(want)
			slices.Sort(got)
			require.Equal(t, want, got, query)
		}
	}
}

var names = map[string][]traceql.TagNames{}

// realCondition is a condition with an attribute and a value that spans have.
func realCondition(t *testing.T, r *rand.Rand, sources []traceql.Source) string {
	if names[t.Name()] == nil {
		all, err := traceql.Names(t.Context(), sources, "")
		require.NoError(t, err)
		names[t.Name()] = all
	}
	tags := pick(r, slices.DeleteFunc(slices.Clone(names[t.Name()]), func(n traceql.TagNames) bool { return len(n.Names) == 0 })...)
	attribute := fmt.Sprintf("%s.%q", tags.Scope, pick(r, tags.Names...))
	if tags.Scope == "intrinsic" {
		attribute = pick(r, "span:name", "span:kind", "span:status", "span:duration", "event:name", "span:statusMessage", "trace:rootName", "span:id")
	}
	values, _, err := traceql.Values(t.Context(), sources, attribute, traceql.ValuesOptions{Limit: 50})
	require.NoError(t, err, attribute)
	if len(values) == 0 {
		return attribute + " != nil"
	}
	v := pick(r, values...)
	ops := []string{"=", "=", "=", "!="}
	if v.Kind() == traceql.KindString || v.Kind() == traceql.KindInt || v.Kind() == traceql.KindDuration {
		ops = append(ops, "<", ">=")
	}
	if strings.HasSuffix(attribute, ":id") {
		ops = ops[:1]
	}
	return fmt.Sprintf("%s %s %s", attribute, pick(r, ops...), v)
}

func realQuery(t *testing.T, r *rand.Rand, sources []traceql.Source) string {
	set := func() string {
		c := realCondition(t, r, sources)
		if r.IntN(3) == 0 {
			c = fmt.Sprintf("%s %s %s", c, pick(r, "&&", "||"), realCondition(t, r, sources))
		}
		return "{ " + c + " }"
	}
	query := set()
	if r.IntN(2) == 0 {
		query = fmt.Sprintf("%s %s %s", query, pick(r, "&&", "||", ">", ">>", "<", "<<", "~", "!>>", "&>>"), set())
	}
	if r.IntN(3) == 0 {
		query += pick(r, " | count() > 1", " | avg(duration) > 1ms", " | by(resource.service.name) | count() > 1")
	}
	return query
}

// Files of the reference implementation, whose range index leaves out blocks that have a value, lose no trace.
func TestReferenceFiles(t *testing.T) {
	for _, name := range []string{"ref_kinds.blockpack", "ref_probe.blockpack", "ref_empty.blockpack"} {
		location := filepath.Join(testdata.Shared(t), "golden", "blockpack", name)
		f, err := blockpack.Open(t.Context(), location, blockpack.Options{})
		require.NoError(t, err)
		defer f.Close()
		src, err := traceql.BlockpackSource(t.Context(), f)
		require.NoError(t, err)
		if src.Schema().NumFields() == 0 {
			require.Empty(t, find(t, "{ }", traceql.Options{}, src))
			continue
		}
		plain := inMemory(t, src)
		delete(names, t.Name())
		matches := 0
		for seed := range uint64(sweep.Count(60, 600)) {
			query := realQuery(t, rand.New(rand.NewPCG(seed, 17)), []traceql.Source{src})
			want := find(t, query, traceql.Options{}, plain)
			got := find(t, query, traceql.Options{}, src)
			slices.Sort(want)
			slices.Sort(got)
			require.Equal(t, want, got, query)
			matches += len(want)
		}
		require.Greater(t, matches, 20, name)
	}
}
