package command_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkout is a trace of the shop: a payment is declined twice.
const checkout = "4bf92f3577b34da6a3ce929d0e0e4736"

// shop copies the traces of the repository to a folder, which becomes the working directory, in every format that holds spans.
func shop(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "testdata", "traces", "shop.otlp.jsonl"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("shop.otlp.jsonl", b, 0o600))
	all := []string{"shop.otlp.jsonl"}
	for _, extension := range []string{".blockpack", ".otlp", ".amudai.shard", ".parquet", ".arrow"} {
		ok(t, "convert", "-q", "shop.otlp.jsonl", "shop"+extension)
		all = append(all, "shop"+extension)
	}
	return all
}

// TestTracesOfAllFormats asks tables of the same spans in different formats the same questions.
func TestTracesOfAllFormats(t *testing.T) {
	files := shop(t)
	for _, args := range [][]string{
		{"trace", checkout, "--tree"},
		{"trace", "4BF92F35-77b3-4da6-a3ce-929d0e0e4736", "--tree"},
		{"query", `{ status = error && resource.service.name = "payment" }`},
		{"query", `{ resource.service.name = "frontend" } >> { status = error } | count() > 1`},
		{"query", `{ span:duration > 1s } | by(resource.service.name) | select(span.http.route)`},
		{"query", `{ event:name = "exception" }`},
		{"query", `{ } | rate() by(resource.service.name)`, "--step", "5s", "--exemplars", "5"},
		{"query", `{ } > { status = error } | quantile_over_time(duration, .5, .9)`, "--since", "2026-01-05 10:00:12", "--until", "2026-01-05 10:00:20", "--step", "1s"},
		{"query", `{ status = error } | count_over_time() by(name)`, "--instant", "--prometheus"},
		{"query", `{ } | compare({ status = error })`, "--instant"},
		{"query", `{}`, "--most-recent", "--limit", "3"},
		{"query", `{}`, "--values", "resource.service.name"},
		{"query", `{ status = error }`, "--values", "name"},
		{"query", `{}`, "--names"},
		{"query", `{}`, "--since", "2026-01-05 10:00:13", "--until", "2026-01-05T10:00:14Z"},
		{"query", `{ status = error } >> { status = error }`, "--since", "2026-01-05"},
	} {
		want := ok(t, append(args, files[0])...)
		require.NotEmpty(t, want, args)
		for _, f := range files[1:] {
			require.Equal(t, want, ok(t, append(args, f)...), "%v %s", args, f)
		}
	}
}

// An instant has one value in each form of JSON.
func TestInstant(t *testing.T) {
	args := []string{"query", `{ status = error } | count_over_time()`, "--instant", shop(t)[0]}
	require.JSONEq(t, `{"series": [{"labels": [{"key": "__name__", "value": {"stringValue": "count_over_time"}}], "value": 6}]}`, ok(t, args...))
	require.JSONEq(t, `{"status": "success", "data": {"resultType": "vector", "result": [{"metric": {"__name__": "count_over_time"}, "value": [1767607261.3, "6"]}]}}`,
		ok(t, append(args, "--prometheus")...))
}

// Flags of Blockpack files: the spans of a block, and their order.
func TestBlockpackFlags(t *testing.T) {
	f := shop(t)[0]
	for _, order := range []string{"similar", "trace", "start", "arrival"} {
		ok(t, "convert", "-q", "-f", f, "o.blockpack", "--span-order", order, "--block-spans", "16")
		require.Equal(t, ok(t, "count", f), ok(t, "count", "o.blockpack"))
	}
	require.Equal(t, ok(t, "cat", "--columns", "span:start", "--format", "csv", "o.blockpack"), ok(t, "cat", "--columns", "span:start", "--format", "csv", f))
	require.Contains(t, run(t, "convert", f, "p.blockpack", "--span-order", "random").errout, "arrival")
	require.Contains(t, run(t, "convert", f, "p.parquet", "--block-spans", "16").errout, "--block-spans is only for Blockpack")
}

// Messages without spans are tables without rows. A file of them whose name says that it is JSON is told how it is read.
func TestNoSpans(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"a.otlp": "", "a.otlp.json": `{"resourceSpans":[]}`, "a.json": "{\"resourceSpans\":[]}\n{\"resourceSpans\":[]}\n"} {
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
		if name == "a.json" {
			require.Contains(t, run(t, "convert", "-q", "-f", name, "b.blockpack").errout, "it looks like OTLP/JSON: --from otlp-json")
			ok(t, "convert", "-q", "-f", "--from", "otlp-json", name, "b.blockpack")
		} else {
			ok(t, "convert", "-q", "-f", name, "b.blockpack")
		}
		require.Equal(t, "0\n", ok(t, "count", "b.blockpack"))
	}
}

// Ids are written as people know them, in text of all formats.
func TestIDsInText(t *testing.T) {
	for _, f := range shop(t) {
		for _, format := range []string{"csv", "jsonl"} {
			text := ok(t, "cat", "--format", format, "--columns", "trace:id,span:id,span:parent_id", f)
			require.Contains(t, text, checkout, "%s of %s", format, f)
			require.NotContains(t, text, "=", "%s of %s", format, f) // as base64 has it
			for _, function := range []string{"min", "max", "first", "last", "any_value"} {
				text := ok(t, "agg", "--format", format, f, function+`("trace:id") as id`, "--where", `"trace:id" = x'`+checkout+`'`)
				require.Contains(t, text, checkout, "%s in %s of %s", function, format, f)
			}
		}
	}
}

// TestQueryWindow counts the spans of a time window.
func TestQueryWindow(t *testing.T) {
	shop(t)
	want := ok(t, "scan", "shop.blockpack", "--count", "--where", `"span:start" >= '2026-01-05 10:00:12.4' and "span:start" < '2026-01-05 10:00:13'`)
	found := 0
	for line := range strings.Lines(ok(t, "query", "{}", "--spans", "0", "--since", "2026-01-05 10:00:12.4", "--until", "2026-01-05 10:00:13", "shop.blockpack")) {
		var trace struct{ SpanSet struct{ Matched int } }
		require.NoError(t, json.Unmarshal([]byte(line), &trace))
		found += trace.SpanSet.Matched
	}
	require.Positive(t, found)
	require.Equal(t, strings.TrimSpace(want), strconv.Itoa(found))
}

// TestTraceJSON compares the OTLP of a trace with that of the input.
func TestTraceJSON(t *testing.T) {
	for _, f := range shop(t) {
		out := ok(t, "trace", checkout, f)
		require.Equal(t, 1, strings.Count(out, "\n"))
		require.NoError(t, os.WriteFile("trace.otlp.jsonl", []byte(out), 0o600))
		spans := ok(t, "scan", "trace.otlp.jsonl", "--count", "--where", `"trace:id" = x'`+checkout+`'`)
		require.Equal(t, "8", strings.TrimSpace(spans), f)
	}
}

// TestTraceInSeveralFiles finds a trace that is spread over files, with spans that two of them have.
func TestTraceInSeveralFiles(t *testing.T) {
	shop(t)
	whole := ok(t, "trace", checkout, "--tree", "shop.blockpack")
	require.NoError(t, os.Mkdir("day", 0o700))
	ok(t, "convert", "-q", "shop.blockpack", "day/all.blockpack")
	messages, err := os.ReadFile("shop.otlp.jsonl")
	require.NoError(t, err)
	for i, line := range bytes.SplitAfter(bytes.TrimSpace(messages), []byte("\n")) {
		name := filepath.Join("day", string(rune('a'+i))+".otlp.jsonl")
		require.NoError(t, os.WriteFile(name, line, 0o600))
	}
	require.NoError(t, os.WriteFile("day/notes.txt", []byte("no spans\n"), 0o600))
	require.Equal(t, whole, ok(t, "trace", checkout, "--tree", "day"))
	require.Equal(t, ok(t, "query", "{ status = error }", "--most-recent", "shop.blockpack"), ok(t, "query", "{ status = error }", "--most-recent", "day"))

	// Files of parts of the spans have different columns.
	ok(t, "convert", "-q", "day/a.otlp.jsonl", "day/b.otlp.jsonl", "day/c.otlp.jsonl", "parts.blockpack")
	ok(t, "convert", "-q", "day/a.otlp.jsonl", "day/b.otlp.jsonl", "day/c.otlp.jsonl", "parts.parquet")
	require.Equal(t, ok(t, "query", "{}", "--most-recent", "parts.blockpack"), ok(t, "query", "{}", "--most-recent", "parts.parquet"))

	r := run(t, "blockpack", "merge", "parts.blockpack", "shop.blockpack", "merged.blockpack")
	require.Equal(t, 0, r.code, r.errout)
	require.Contains(t, r.errout, "of 2 files")
	require.Equal(t, ok(t, "query", "{}", "--most-recent", "shop.blockpack"), ok(t, "query", "{}", "--most-recent", "merged.blockpack"))
	ok(t, "verify", "merged.blockpack")

	ok(t, "blockpack", "drop-traces", "merged.blockpack", "less.blockpack", checkout)
	require.Equal(t, 1, run(t, "trace", checkout, "less.blockpack").code)
	less, err := os.ReadFile("less.blockpack")
	require.NoError(t, err)
	require.NotContains(t, string(less), "\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6")
	require.Equal(t, 1, run(t, "blockpack", "drop-traces", "less.blockpack", "same.blockpack", checkout).code)
}

// TestTraceSubtree shows a part of a trace.
func TestTraceSubtree(t *testing.T) {
	shop(t)
	var trace struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct{ SpanID, Name string }
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(ok(t, "trace", checkout, "shop.blockpack")), &trace))
	for _, r := range trace.ResourceSpans {
		for _, s := range r.ScopeSpans {
			for _, span := range s.Spans {
				if span.Name == "POST /charge" {
					out := ok(t, "trace", checkout, "--tree", "--span", span.SpanID, "shop.blockpack")
					require.Contains(t, out, "3 spans of 1 service")
					require.Contains(t, out, "is at the top: its parent")
				}
			}
		}
	}
}

// TestTraceMistakes names mistakes, with exit codes.
func TestTraceMistakes(t *testing.T) {
	shop(t)
	require.NoError(t, os.WriteFile("t.csv", []byte("a\n1\n"), 0o600))
	require.NoError(t, os.WriteFile("cut.blockpack", []byte("\xa1\xfe\x11\xc0"), 0o600))
	for _, c := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"trace", checkout}, 2, "the id of a trace, then one or more inputs"},
		{[]string{"trace", "xyz", "shop.blockpack"}, 2, `"xyz" is no id`},
		{[]string{"trace", checkout + "00", "shop.blockpack"}, 2, "is no id"},
		{[]string{"trace", "1", "shop.blockpack", "shop.otlp"}, 1, "trace 00000000000000000000000000000001: not found in 2 inputs"},
		{[]string{"trace", checkout, "--span", "1", "shop.blockpack"}, 1, "has no span 0000000000000001"},
		{[]string{"trace", checkout, "missing.blockpack"}, 1, "missing.blockpack does not exist"},
		{[]string{"trace", checkout, "t.csv"}, 1, "is no table of spans"},
		{[]string{"trace", checkout, "cut.blockpack"}, 1, "cut.blockpack"},
		{[]string{"trace", checkout, "."}, 1, "cut.blockpack"},
		{[]string{"trace", checkout, "-"}, 2, "save them to a file first"},
		{[]string{"query", "{ status = eror }", "shop.blockpack"}, 2, "eror"},
		{[]string{"query", "{ } | rate()", "--explain", "shop.blockpack"}, 2, "queries that find traces"},
		{[]string{"query", "{ } | rate()", "--step", "-1s", "shop.blockpack"}, 2, "above 0"},
		{[]string{"query", "{ } | rate()", "--step", "1ns", "shop.blockpack"}, 1, "more than 4194304 samples"},
		{[]string{"query", "{ .x = 1 } | max_over_time(.x)", "shop.blockpack"}, 1, ""},
		{[]string{"query", "{ status = error", "shop.blockpack"}, 2, "at the end of the query"},
		{[]string{"query", "{}"}, 2, "there is nothing to query"},
		{[]string{"query", "{}", "--since", "soon", "shop.blockpack"}, 2, `--since: "soon" is not a time`},
		{[]string{"query", "{}", "--since", "2026-01-06", "shop.blockpack"}, 1, ""},
		{[]string{"query", "{}", "--until", "2026-01-05 10:00", "shop.blockpack"}, 1, ""},
		{[]string{"query", `{ name = "nothing" }`, "shop.blockpack"}, 1, ""},
		{[]string{"convert", "t.csv", "t.blockpack"}, 1, `"a"`},
		{[]string{"blockpack", "merge", "shop.otlp", "x.blockpack"}, 1, "shop.otlp"},
		{[]string{"blockpack", "drop-traces", "shop.blockpack", "x.blockpack"}, 2, "no ids"},
		{[]string{"blockpack", "merge", "shop.blockpack", "shop.blockpack"}, 1, "exists already"},
	} {
		r := run(t, c.args...)
		require.Equal(t, c.code, r.code, "%v: %s", c.args, r.errout)
		require.Contains(t, r.errout, c.text, c.args)
	}
	require.NoFileExists(t, "t.blockpack")
	require.NoFileExists(t, "x.blockpack")
}
