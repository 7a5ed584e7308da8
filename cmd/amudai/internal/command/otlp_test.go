package command_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// ids are the ids in OTLP/JSON, which are hexadecimal there. In the JSON of Protocol Buffers they would be in base 64.
var ids = regexp.MustCompile(`"(traceId|spanId|parentSpanId)":\s*"([0-9a-f]*)"`)

// tracesOf are the messages of a file, read by the library of Protocol Buffers.
func tracesOf(t *testing.T, name string) (list []*tracev1.TracesData) {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	if filepath.Ext(name) == ".otlp" {
		var messages [][]byte
		for len(b) > 0 {
			end := 4 + binary.LittleEndian.Uint32(b)
			messages = append(messages, b[4:end])
			b = b[end:]
		}
		return otlpgen.Parse(t, messages)
	}
	for line := range bytes.Lines(b) {
		line = ids.ReplaceAllFunc(line, func(field []byte) []byte {
			m := ids.FindSubmatch(field)
			id, err := hex.DecodeString(string(m[2]))
			require.NoError(t, err)
			return fmt.Appendf(nil, "%q:%q", m[1], base64.StdEncoding.EncodeToString(id))
		})
		traces := &tracev1.TracesData{}
		require.NoError(t, protojson.Unmarshal(line, traces))
		list = append(list, traces)
	}
	return list
}

// TestOTLP converts traces through all formats that keep their columns, and back: no span changes.
func TestOTLP(t *testing.T) {
	shop, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "testdata", "traces", "shop.otlp.jsonl"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("shop.otlp.jsonl", shop, 0o600))
	want := tracesOf(t, "shop.otlp.jsonl")
	require.Equal(t, 43, otlpgen.NumSpans(want))
	from := "shop.otlp.jsonl"
	for _, to := range []string{"a.otlp", "b.amudai.shard", "c.otlp.json", "d.blockpack", "e.parquet", "f.otlp", "g.arrow", "h.otlp.jsonl"} {
		ok(t, "convert", from, to)
		from = to
	}
	for _, name := range []string{"a.otlp", "c.otlp.json", "f.otlp", "h.otlp.jsonl"} {
		require.Empty(t, otlpgen.Diff(want, tracesOf(t, name)), name)
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
		require.Empty(rt, otlpgen.Diff(want, tracesOf(t, "e.otlp.json")))
		require.Empty(rt, otlpgen.Diff(want, tracesOf(t, "g.otlp")))
	})
}
