package command_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
)

// traceFiles writes spans to a folder in every format of traces: Blockpack files with and without indexes, OTLP messages, and a block of Tempo.
// The id is that of a trace in the first ones.
func traceFiles(t *testing.T) (dir, id string) {
	shop, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "testdata", "traces", "shop.otlp.jsonl"))
	require.NoError(t, err)
	dir = t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("t.otlp.jsonl", shop, 0o600))
	for name, o := range map[string]blockpack.WriterOptions{
		"t.blockpack": {BlockSpans: 8}, "plain.blockpack": {BlockSpans: 7},
	} {
		w, err := blockpack.Create(t.Context(), name, o)
		require.NoError(t, err)
		for _, traces := range tracesOf(t, "t.otlp.jsonl") {
			m, err := proto.Marshal(traces)
			require.NoError(t, err)
			require.NoError(t, w.WriteOTLP(t.Context(), m))
		}
		require.NoError(t, w.Close(t.Context()))
	}
	for _, name := range []string{"t.otlp", "t.otlp.json", "t.otlp.zst"} {
		ok(t, "convert", "-q", "t.otlp.jsonl", name)
	}
	writeBlock(t, "block")
	ids := strings.Split(ok(t, "cat", "--format", "csv", "--columns", "trace:id", "t.blockpack"), "\n")
	id = ids[1]
	require.NoError(t, os.WriteFile("ids.txt", []byte(id+"\n"), 0o600))
	require.NoError(t, os.WriteFile("rows.txt", []byte("3\n0\n41\n"), 0o600))
	return dir, id
}

// TestTraceFaults runs commands on files of spans while reads of them fail, and while other processes change them.
func TestTraceFaults(t *testing.T) {
	dir, id := traceFiles(t)
	var uses []faultstore.Use
	for file, trace := range map[string]string{
		"t.blockpack": id, "plain.blockpack": id, "t.otlp": id, "t.otlp.json": id, "t.otlp.jsonl": id, "t.otlp.zst": id, "block": "30313233343536373839616263646566",
		"block/data.parquet": "30313233343536373839616263646566",
	} {
		uses = append(uses, useOf("cat", "--format", "csv", file), useOf("count", file), useOf("count", "--where", `"span:name" != 'x'`, file),
			useOf("trace", trace, file), useOf("head", "--format", "csv", file), useOf("query", `{ name != "x" }`, file))
	}
	for _, file := range []string{"t.blockpack", "plain.blockpack"} {
		uses = append(uses, useOf("verify", file), useOf("inspect", "--json", file), useOf("stats", file), useOf("schema", file), useOf("schema", "--stored", file),
			useOf("scan", "--explain", "--where", `"span:name" != 'x'`, file), useOf("take", "--format", "csv", file, "--rows-from", "rows.txt"),
			makes("blockpack", "drop-traces", file, "--ids", "ids.txt", "out.blockpack"))
	}
	uses = append(uses, useOf("trace", id, "t.blockpack", "t.otlp", "block"))
	faultstore.Sweep(t, dir, []faultstore.Op{faultstore.Read, faultstore.Open}, 1, uses)
}

// TestDamagedTraceIndex flips a bit of each byte of the trace index of a file: a search finds what it does in the sound file, or fails.
func TestDamagedTraceIndex(t *testing.T) {
	traceFiles(t)
	data, err := os.ReadFile("t.blockpack")
	require.NoError(t, err)
	var parts struct {
		Lists struct {
			Sections []struct {
				Section       string
				Offset, Bytes int
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(ok(t, "inspect", "--json", "t.blockpack")), &parts))
	index := data[:0]
	for _, s := range parts.Lists.Sections {
		if s.Section == "trace index" {
			index = data[s.Offset : s.Offset+s.Bytes]
		}
	}
	require.NotEmpty(t, index)
	ask := func() []string {
		var answers []string
		for _, query := range []string{`{ duration > 0ns }`, `{ status = error }`, `{ status = error } >> { }`, `{ } | count() > 2`} {
			if got := run(t, "query", query, "t.blockpack", "--spans", "2"); got.code == 0 {
				answers = append(answers, got.out)
			} else {
				require.Contains(t, got.errout, "trace index")
				answers = append(answers, "")
			}
		}
		return answers
	}
	sound := ask()
	require.NotContains(t, sound, "")
	for i := range index {
		index[i] ^= 1 << (i % 8)
		require.NoError(t, os.WriteFile("t.blockpack", data, 0o600))
		index[i] ^= 1 << (i % 8)
		for k, answer := range ask() {
			require.True(t, answer == "" || answer == sound[k], "bit %d of byte %d", i%8, i)
		}
	}
}
