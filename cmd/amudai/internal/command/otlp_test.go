package command_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/blockpack/otlp"
	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// messagesOf are the OTLP messages of a file.
func messagesOf(t *testing.T, name string) (list [][]byte) {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	for m, err := range otlp.Messages(f, otlp.ReadOptions{}) {
		require.NoError(t, err)
		list = append(list, append([]byte(nil), m...))
	}
	return list
}

// TestOTLP converts traces through all formats that keep their columns, and back: no span changes.
func TestOTLP(t *testing.T) {
	shop, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "testdata", "traces", "shop.otlp.jsonl"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("shop.otlp.jsonl", shop, 0o600))
	want := otlpgen.Parse(t, messagesOf(t, "shop.otlp.jsonl"))
	require.Equal(t, 43, otlpgen.NumSpans(want))
	from := "shop.otlp.jsonl"
	for _, to := range []string{"a.otlp", "b.amudai.shard", "c.otlp.json", "d.blockpack", "e.parquet", "f.otlp", "g.arrow", "h.otlp.jsonl"} {
		ok(t, "convert", from, to)
		from = to
	}
	for _, name := range []string{"a.otlp", "c.otlp.json", "f.otlp", "h.otlp.jsonl"} {
		require.Empty(t, otlpgen.Diff(want, otlpgen.Parse(t, messagesOf(t, name))), name)
	}
	require.Contains(t, ok(t, "schema", "a.otlp"), "resource.service.name")
	require.Equal(t, "span:name\nauthorize\nauthorize\n",
		ok(t, "cat", "--columns", "span:name", "--where", `"span.payment.attempt" >= 1`, "--format", "csv", "a.otlp"))

	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("traces", z.EncodeAll(shop, nil), 0o600)) // found by the first bytes
	require.True(t, ok(t, "head", "shop.otlp.jsonl") == ok(t, "head", "traces"))
	require.Contains(t, run(t, "head", "--from", "otlp", "b.amudai.shard").errout, "neither OTLP messages nor OTLP/JSON")
	require.NoError(t, os.WriteFile("a.csv", []byte("a\n1\n"), 0o600))
	require.Contains(t, run(t, "convert", "a.csv", "x.otlp").errout, `column "a" is none of spans`)
}

// TestOTLPRandom converts random traces, with keys and values that other formats may take for something else.
func TestOTLPRandom(t *testing.T) {
	t.Chdir(t.TempDir())
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		td := otlpgen.Traces().Draw(rt, "traces")
		want := []*tracev1.TracesData{td}
		if n++; otlpgen.NumSpans(want) == 0 || n > sweep.Count(15, 1000) {
			return
		}
		m, err := proto.Marshal(td)
		require.NoError(rt, err)
		require.NoError(rt, os.WriteFile("a.otlp", m, 0o600))
		from := "a.otlp"
		for _, to := range []string{"b.amudai.shard", "c.blockpack", "d.parquet", "e.otlp.json", "f.arrow", "g.otlp"} {
			r := run(t, "convert", "--force", from, to)
			require.Equal(rt, app.ExitOK, r.code, r.errout)
			from = to
		}
		require.Empty(rt, otlpgen.Diff(want, otlpgen.Parse(t, messagesOf(t, "e.otlp.json"))))
		require.Empty(rt, otlpgen.Diff(want, otlpgen.Parse(t, messagesOf(t, "g.otlp"))))
	})
}
