package command_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/command"
	"github.com/amudai/amudai-go/internal/testing/searchtest"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// naiveWord finds a text that begins and ends where words do, rune by rune.
func naiveWord(line, text string, prefix bool) bool {
	have, want := []rune(strings.ToUpper(line)), []rune(strings.ToUpper(text))
	inWord := func(i int) bool { return unicode.IsLetter(have[i]) || unicode.IsDigit(have[i]) }
	inside := func(i int) bool { return i > 0 && i < len(have) && inWord(i-1) && inWord(i) }
	for i := 0; i+len(want) <= len(have); i++ {
		if slices.Equal(have[i:i+len(want)], want) && !inside(i) && (prefix || !inside(i+len(want))) {
			return true
		}
	}
	return false
}

func word(text string) func(string) bool {
	return func(line string) bool { return naiveWord(line, text, false) }
}

func prefix(text string) func(string) bool {
	return func(line string) bool { return naiveWord(line, text, true) }
}

func fuzzy(text string, distance int) func(string) bool {
	return searchtest.HasFuzzy(text, distance).True
}

// searches are queries with what they mean.
var searches = []struct {
	args  []string // the query is the last
	match func(line string) bool
}{
	{[]string{"error"}, word("error")},
	{[]string{"INFO"}, word("info")},
	{[]string{"blk_*"}, prefix("blk_")},
	{[]string{"blk_-16*"}, prefix("blk_-16")},
	{[]string{"10.251.73.220"}, word("10.251.73.220")},
	{[]string{`"received block"`}, word("received block")},
	{[]string{`"received blo"*`}, prefix("received blo")},
	{[]string{"block AND NOT received"}, func(l string) bool { return word("block")(l) && !word("received")(l) }},
	{[]string{"warn OR error fail*"}, func(l string) bool {
		return word("warn")(l) || word("error")(l) && prefix("fail")(l)
	}},
	{[]string{"(warn OR error) NOT (java OR kernel)"}, func(l string) bool {
		return (word("warn")(l) || word("error")(l)) && !word("java")(l) && !word("kernel")(l)
	}},
	{[]string{"NOT (info OR NOT for)"}, func(l string) bool { return !word("info")(l) && word("for")(l) }},
	{[]string{`"and" OR "NOT"`}, func(l string) bool { return word("and")(l) || word("not")(l) }},
	{[]string{"--regex", `(Received|deleting) block \S+ `}, regexp.MustCompile(`(Received|deleting) block \S+ `).MatchString},
	{[]string{"--regex", "-i", `ERROR.*fail`}, regexp.MustCompile(`(?i)ERROR.*fail`).MatchString},
	{[]string{"--", "->"}, func(l string) bool { return strings.Contains(l, "->") }},
	{[]string{"recieved~"}, fuzzy("recieved", 1)},
	{[]string{"(eror~2 OR wran~1) NOT fialed~"}, func(l string) bool {
		return (fuzzy("eror", 2)(l) || fuzzy("wran", 1)(l)) && !fuzzy("fialed", 1)(l)
	}},
	{[]string{"nosuchwordhere"}, func(string) bool { return false }},
}

func corpusLogs(t *testing.T) []string {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(corpus(t, "logs"), "*.log"))
	require.NoError(t, err)
	require.NotEmpty(t, logs)
	return logs
}

func logLines(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines
}

// TestSearchCorpus compares searches of every log, as text and as shards with and without indexes, with naive ones.
func TestSearchCorpus(t *testing.T) {
	logs := corpusLogs(t)
	t.Chdir(t.TempDir())
	for i, log := range logs {
		shard := fmt.Sprintf("%d.amudai.shard", i)
		ok(t, "convert", "-q", "--stripe-rows", "700", log, shard)
		ok(t, "convert", "-q", log, "i"+shard)
		ok(t, "index", "add", "-q", "i"+shard, "--columns", "line")
		ok(t, "convert", "-q", log, "c"+shard)
		ok(t, "index", "add", "-q", "c"+shard, "--columns", "line", "--coarse", "16", "--case-preserving", "--tokenizer", "unicode-word")
		lines := logLines(t, log)
		for n, s := range searches {
			if (n+i)%sweep.Step(3) != 0 {
				continue // each search in some logs, and some searches in each log
			}
			want := ""
			for k, line := range lines {
				if s.match(line) {
					want += fmt.Sprintf("%d:%s\n", k+1, line)
				}
			}
			for _, in := range []string{log, shard, "i" + shard, "c" + shard} {
				r := run(t, append(append([]string{"search", "-n"}, s.args...), in)...)
				require.Equal(t, want, r.out, "%s %s: %s", s.args, in, r.errout)
				require.Empty(t, r.errout)
				code := app.ExitOK
				if want == "" {
					code = app.ExitFailure
				}
				require.Equal(t, code, r.code)
				if in == shard {
					continue
				}
				r = run(t, append(append([]string{"search", "-c"}, s.args...), in)...)
				require.Equal(t, fmt.Sprintf("%d\n", strings.Count(want, "\n")), r.out)
				require.Equal(t, code, r.code)
			}
		}
	}
}

// naiveContext is what grep prints with context.
func naiveContext(lines []string, match func(string) bool, before, after, limit int) string {
	kind := make([]byte, len(lines))
	for i, line := range lines {
		if limit == 0 || !match(line) {
			continue
		}
		limit--
		for k := max(0, i-before); k < min(len(lines), i+after+1); k++ {
			if kind[k] == 0 {
				kind[k] = '-'
			}
		}
		kind[i] = ':'
	}
	var b strings.Builder
	last := -1
	for i, line := range lines {
		if kind[i] == 0 {
			continue
		}
		if last >= 0 && last+1 < i && before+after > 0 {
			b.WriteString("--\n")
		}
		fmt.Fprintf(&b, "%d%c%s\n", i+1, kind[i], line)
		last = i
	}
	return b.String()
}

// TestSearchContext compares lines with context and limits with naive ones. Batches of text end in the middle of contexts.
func TestSearchContext(t *testing.T) {
	t.Chdir(t.TempDir())
	var lines []string
	for i := range 70_000 {
		level := "info"
		if i%9973 < 2 || i > 32764 && i < 32770 || i == 69_999 {
			level = "failed"
		}
		lines = append(lines, fmt.Sprintf("%d %s", i, level))
	}
	require.NoError(t, os.WriteFile("a.log", []byte(strings.Join(lines, "\n")), 0o644))
	ok(t, "convert", "-q", "--stripe-rows", "33000", "a.log", "a.shard")
	ok(t, "convert", "-q", "a.log", "i.shard")
	ok(t, "index", "add", "-q", "i.shard", "--columns", "line")
	for _, c := range []struct{ before, after, limit int }{{0, 0, 3}, {3, 0, -1}, {0, 3, -1}, {2, 2, -1}, {12000, 1, -1}, {1, 12000, 3}, {2, 2, 1}, {5, 5, 4}, {5, 5, 5}} {
		args := []string{"search", "-n", "-A", fmt.Sprint(c.after), "-B", fmt.Sprint(c.before), "failed"}
		if c.limit >= 0 {
			args = append(args, "--limit", fmt.Sprint(c.limit))
		}
		want := naiveContext(lines, word("failed"), c.before, c.after, c.limit)
		for _, in := range []string{"a.log", "a.shard", "i.shard"} {
			require.True(t, want == ok(t, append(args, in)...), "%s %v", in, c)
		}
	}
}

func compress(t *testing.T, path string, b []byte) {
	t.Helper()
	var out bytes.Buffer
	if strings.HasSuffix(path, ".gz") {
		w := gzip.NewWriter(&out)
		_, err := w.Write(b)
		require.NoError(t, err)
		require.NoError(t, w.Close())
	} else {
		w, err := zstd.NewWriter(&out)
		require.NoError(t, err)
		_, err = w.Write(b)
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o644))
}

// TestSearchFolder searches shards, logs, compressed logs and other tables of a folder, in the order of names.
func TestSearchFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "first line\nsecond LINE: disk failed\n\xff\xfe failed\n"
	write := func(path, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("d/app.log", text)
	write("d/app.log.1", text)
	write("d/sub/notes", text)
	write("d/.hidden/x.log", text)
	write("d/.x.log", text)
	write("d/binary", "\x00failed")
	write("d/numbers.csv", "n\n1\n")
	write("d/t.csv", "time,level,text\n2026-01-01,info,ok\n2026-01-02,error,disk failed\n")
	write("plain.log", "one failed\ntwo\n")
	compress(t, "d/app.log.2.gz", []byte(text))
	compress(t, "d/app.log.3.zst", []byte(text))
	ok(t, "convert", "-q", "plain.log", "d/s.amudai.shard")
	ok(t, "index", "add", "-q", "d/s.amudai.shard", "--columns", "line")
	ok(t, "convert", "-q", "--layout", "two-level", "plain.log", "d/two.shard")
	ok(t, "convert", "-q", "d/t.csv", "d/t.parquet")
	ok(t, "convert", "-q", "d/numbers.csv", "d/numbers.parquet")
	require.NoError(t, os.Symlink("app.log", "d/link.log"))
	var want strings.Builder
	for _, name := range []string{"app.log", "app.log.1", "app.log.2.gz", "app.log.3.zst"} {
		fmt.Fprintf(&want, "d/%s:second LINE: disk failed\nd/%[1]s:\xff\xfe failed\n", name)
	}
	want.WriteString("d/s.amudai.shard:one failed\n")
	want.WriteString("d/sub/notes:second LINE: disk failed\nd/sub/notes:\xff\xfe failed\n")
	want.WriteString("d/t.csv:2026-01-02,error,disk failed\nd/t.parquet:error\tdisk failed\nd/two.shard:one failed\n")
	for _, parallel := range []string{"1", "2", "7"} {
		r := run(t, "search", "--parallel", parallel, "failed", "d")
		require.Equal(t, want.String(), r.out)
		require.Empty(t, r.errout)
		require.Equal(t, app.ExitOK, r.code)
	}
	require.NoError(t, os.Remove("d/link.log"))
	require.Equal(t, want.String(), ok(t, "search", "failed", "d/*"))
	require.Equal(t, "d/app.log\nd/app.log.1\nd/app.log.2.gz\nd/app.log.3.zst\nd/sub/notes\n", ok(t, "search", "-l", "first", "d"))
	require.Equal(t, "d/app.log:second LINE: disk failed\n", ok(t, "search", "--limit", "1", "failed", "d"))
	require.Equal(t, "d/app.log:2:second LINE: disk failed\n", ok(t, "search", "-nH", "disk", "d/app.log"))
	require.Equal(t, "second LINE: disk failed\n", ok(t, "search", "disk", "d/app.log"))
	require.Equal(t, "one failed\none failed\n", ok(t, "search", "--no-filename", "one", "d"))
	require.Equal(t, "d/s.amudai.shard:1\nd/two.shard:1\n", ok(t, "search", "-c", "failed", "d/*.shard"))

	r := runEnv(t, app.Env{Args: []string{"search", "two", "-"}, Stdin: strings.NewReader("one\ntwo\n")})
	require.Equal(t, result{app.ExitOK, "two\n", ""}, r)
	r = run(t, "search", "n", "d/numbers.parquet")
	require.Equal(t, app.ExitFailure, r.code)
	require.Contains(t, r.errout, "warning: d/numbers.parquet: there is no column of strings to search")
}

// TestCompressedContent reads compressed logs that no name tells as such, from files and pipes.
func TestCompressedContent(t *testing.T) {
	t.Chdir(t.TempDir())
	text := []byte("2026-11-22 20:00:01 INFO one\n2026-11-22 20:00:02 INFO two\n")
	for _, extension := range []string{".gz", ".zst"} {
		compress(t, "x"+extension, text)
		require.NoError(t, os.MkdirAll("d", 0o755))
		require.NoError(t, os.Rename("x"+extension, "d/app.log"))
		b, err := os.ReadFile("d/app.log")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile("d/rotated", b, 0o644))
		require.Equal(t, "d/app.log:2026-11-22 20:00:02 INFO two\nd/rotated:2026-11-22 20:00:02 INFO two\n", ok(t, "search", "two", "d"))
		for _, args := range [][]string{
			{"search", "two", "-"}, {"search", "--since", "2026-11-22 20:00:02", "INFO", "-"},
			{"cat", "-", "--from", "lines", "--format", "lines", "--columns", "line", "--where", "time > '2026-11-22 20:00:01'"},
		} {
			r := runEnv(t, app.Env{Args: args, Stdin: bytes.NewReader(b)})
			require.Equal(t, app.ExitOK, r.code, r.errout)
			require.Equal(t, "2026-11-22 20:00:02 INFO two\n", r.out, "%v", args)
		}
		ok(t, "convert", "-q", "-f", "d/app.log", "app.amudai.shard")
		require.Equal(t, "time,level\n2026-11-22T20:00:01,INFO\n2026-11-22T20:00:02,INFO\n", ok(t, "cat", "app.amudai.shard", "--columns", "time,level"))

		var long strings.Builder
		for i := range 50_000 {
			fmt.Fprintf(&long, "%x request %d\n", i*i*7919, i)
		}
		compress(t, "cut"+extension, []byte(long.String()))
		b, err = os.ReadFile("cut" + extension)
		require.NoError(t, err)
		for _, c := range []struct {
			size int
			err  string
		}{{len(b) / 2, "data are cut off: unexpected EOF in cut"}, {3, "is no "}} {
			require.NoError(t, os.WriteFile("cut"+extension, b[:c.size], 0o644))
			r := run(t, "search", "request", "cut"+extension)
			require.Equal(t, app.ExitUsage, r.code)
			require.Contains(t, r.errout, "cut"+extension)
			require.True(t, strings.HasPrefix(long.String(), r.out))
			require.Equal(t, c.size > 3, len(r.out) > 0)
			r = run(t, "convert", "-q", "cut"+extension, "--from", "lines", "x.amudai.shard")
			require.Equal(t, app.ExitFailure, r.code)
			_, err = os.Stat("x.amudai.shard")
			require.ErrorIs(t, err, fs.ErrNotExist)
		}
	}
}

// TestSearchAgo finds lines of the last hours. Times without a zone are local ones.
func TestSearchAgo(t *testing.T) {
	t.Chdir(t.TempDir())
	local := time.Local
	defer func() { time.Local = local }()
	time.Local = time.FixedZone("", 5*3600)
	now := time.Now()
	var zoned, plain strings.Builder
	for _, ago := range []time.Duration{10 * time.Minute, 4 * time.Hour, 7 * time.Hour} {
		fmt.Fprintf(&zoned, "%s x %v\n", now.Add(-ago).UTC().Format(time.RFC3339), ago)
		fmt.Fprintf(&plain, "%s x %v\n", now.Add(-ago).In(time.Local).Format(time.DateTime), ago)
	}
	require.NoError(t, os.WriteFile("zoned.log", []byte(zoned.String()), 0o644))
	require.NoError(t, os.WriteFile("plain.log", []byte(plain.String()), 0o644))
	ok(t, "convert", "-q", "zoned.log", "zoned.shard")
	ok(t, "convert", "-q", "plain.log", "plain.shard")
	for _, in := range []string{"zoned.log", "plain.log", "zoned.shard", "plain.shard"} {
		require.Equal(t, "1\n", ok(t, "search", "-c", "--since", "1h", "x", in), in)
		require.Equal(t, "2\n", ok(t, "search", "-c", "--since", "5h", "x", in), in)
		require.Equal(t, "1\n", ok(t, "search", "-c", "--until", "6h", "x", in), in)
	}
}

// TestDroppedFiles drops indexes, whose files stay and are named. One in the file of the data has none.
func TestDroppedFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.log", []byte("failed\n"), 0o644))
	ok(t, "convert", "-q", "a.log", "a.shard")
	ok(t, "index", "add", "-q", "a.shard", "--columns", "line")
	names, err := filepath.Glob("*.amudai.index")
	require.NoError(t, err)
	require.Len(t, names, 1)
	r := run(t, "index", "drop", "a.shard", "--columns", "line")
	require.Equal(t, result{app.ExitOK, "", "note: a.shard does not use " + names[0] + " any more; delete what no other shard uses\n"}, r)
	require.NoError(t, os.Remove(names[0]))
	require.Contains(t, ok(t, "verify", "a.shard"), ": sound; checked ")
	require.Equal(t, "failed\n", ok(t, "search", "failed", "a.shard"))

	ok(t, "convert", "-q", "a.log", "b.shard", "--index", "line")
	require.Equal(t, result{app.ExitOK, "", ""}, run(t, "index", "drop", "b.shard", "--all"))
}

// TestSearchLive searches a pipe. Matches are printed before further lines arrive.
func TestSearchLive(t *testing.T) {
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	done := make(chan int)
	go func() {
		code := command.Main(t.Context(), app.Env{Args: []string{"search", "-n", "error", "-"}, Stdin: stdin, Stdout: stdout, Stderr: io.Discard})
		stdout.Close()
		done <- code
	}()
	lines := bufio.NewReader(out)
	for i := range 3 {
		fmt.Fprintf(in, "nothing\nerror %d\nbegin", i)
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%d:error %d\n", 2*i+2, i), line)
	}
	require.NoError(t, in.Close())
	require.Equal(t, app.ExitOK, <-done)
}

// TestSearchExamples runs the examples of docs/search.md.
func TestSearchExamples(t *testing.T) {
	hadoop, apache := corpus(t, "logs/Hadoop_2k.log"), corpus(t, "logs/Apache_2k.log")
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "search.md"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	r := run(t, "convert", hadoop, "hadoop.amudai.shard", "--index", "line")
	require.Equal(t, app.ExitOK, r.code)
	shown := func(output string) {
		for _, line := range strings.Split(strings.TrimSuffix(output, "\n"), "\n") {
			require.Contains(t, string(page), "    "+line+"\n")
		}
	}
	shown(r.errout)
	shown(ok(t, "search", "-n", "--limit", "1", "--since", "2015-10-18 18:10", `fatal OR "address change"`, "hadoop.amudai.shard"))
	shown(ok(t, "search", "--json", "--in", "level", "--columns", "time,level", "--limit", "1", "fatal", "hadoop.amudai.shard"))
	shown(strings.ReplaceAll(ok(t, "search", "--count", "error NOT mod_jk", apache, "hadoop.amudai.shard"), apache, "Apache_2k.log"))
	ok(t, "convert", hadoop, "ranked.amudai.shard", "--columns", "line")
	ok(t, "index", "add", "ranked.amudai.shard", "--columns", "line", "--scores", "--tokenizer", "english")
	shown(ok(t, "search", "--rank", "--limit", "1", "retries connecting", "ranked.amudai.shard"))
	shown(ok(t, "search", "--rank", "--limit", "1", "(renewed OR killed) NOT leases", "ranked.amudai.shard"))
}

// TestSearchErrors has the exit codes of grep: an error does not keep the other inputs from being searched.
func TestSearchErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.log", []byte("failed\n"), 0o644))
	require.NoError(t, os.WriteFile("bad.shard", []byte("AMUDAI no shard\x00"), 0o644))
	for _, c := range []struct {
		args   []string
		code   int
		errout string
	}{
		{[]string{"failed", "a.log"}, 0, ""},
		{[]string{"nothing", "a.log"}, 1, ""},
		{[]string{"failed", "a.log", "missing.log"}, 2, "missing.log does not exist"},
		{[]string{"failed", "*.nix"}, 2, "no file matches *.nix"},
		{[]string{"failed", "bad.shard", "a.log"}, 2, "bad.shard"},
		{[]string{"-q", "failed", "missing.log", "a.log"}, 0, "missing.log does not exist"},
		{[]string{"-q", "nothing", "a.log"}, 1, ""},
		{[]string{"failed"}, 2, "the query comes first"},
		{[]string{"a.log", "missing"}, 2, "missing does not exist (hint: the query comes first, then the inputs)"},
		{[]string{"-Xmx", "a.log"}, 2, "(hint: a query that begins with a dash follows --)"},
		{[]string{"-v", "failed", "a.log"}, 2, "(hint: NOT word finds lines without it, such as 'NOT debug')"},
		{[]string{"--regx", "a.log"}, 2, "is --regex meant?"},
		{[]string{"", "a.log"}, 2, "query: it is empty"},
		{[]string{"a (b OR c", "a.log"}, 2, "query: a parenthesis is not closed, at character 3"},
		{[]string{"ä b) c", "a.log"}, 2, "query: a parenthesis is closed that is not open, at character 4"},
		{[]string{"a AND OR b", "a.log"}, 2, "query: a word is missing, at character 7"},
		{[]string{"a OR", "a.log"}, 2, "query: a word is missing at the end, at character 5"},
		{[]string{"NOT", "a.log"}, 2, "query: a word is missing at the end, at character 4"},
		{[]string{`a "b`, "a.log"}, 2, "query: a quote is open, at character 3"},
		{[]string{`user="bob"`, "a.log"}, 2, "in quotes, as in"},
		{[]string{"a*b", "a.log"}, 2, "query: a star can only end a word; --regex takes other patterns, at character 3"},
		{[]string{"a *", "a.log"}, 2, "query: there is no text to search for, at character 3"},
		{[]string{strings.Repeat("(", 5000) + "a", "a.log"}, 2, "query: it is nested too deeply"},
		{[]string{strings.Repeat("NOT ", 5000) + "a", "a.log"}, 2, "query: it is nested too deeply"},
		{[]string{"a\xff", "a.log"}, 2, "query: it is not UTF-8, at character 2"},
		{[]string{"--regex", "a(", "a.log"}, 2, "query: regular expression"},
		{[]string{"-A", "-1", "a", "a.log"}, 2, "need a number above 0"},
		{[]string{"--since", "someday", "a", "a.log"}, 2, `--since: "someday" is not a time`},
		{[]string{"--since", "2h", "failed", "a.log"}, 2, "a.log: there is no column of times"},
		{[]string{"--in", "text", "failed", "a.log"}, 2, "there is no column \"text\""},
	} {
		r := run(t, append([]string{"search"}, c.args...)...)
		require.Equal(t, c.code, r.code, "%q: %s", c.args, r.errout)
		require.Contains(t, r.errout, c.errout)
		if slices.Contains(c.args, "failed") && slices.Contains(c.args, "a.log") && !strings.HasPrefix(c.args[0], "-") {
			require.Contains(t, r.out, "failed\n", "%q", c.args)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, app.ExitInterrupted, runContext(ctx, app.Env{Args: []string{"search", "a", "a.log"}}).code)
}

// TestSearchColumns searches and prints columns, in a range of times, in each format alike.
func TestSearchColumns(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("t.csv", []byte("time,n,level,text\n"+
		"2026-01-01T10:00:00,1,info,all failed\n"+
		"2026-01-01T11:00:00,2,failed,\n"+
		"2026-01-01T12:00:00,3,,one failed\n"+
		"2026-01-02T12:00:00,4,warn,none\n"), 0o644))
	ok(t, "convert", "-q", "t.csv", "t.shard")
	ok(t, "convert", "-q", "t.csv", "i.shard")
	ok(t, "index", "add", "-q", "i.shard", "--columns", "level,text")
	ok(t, "convert", "-q", "t.csv", "t.parquet")
	ok(t, "convert", "-q", "t.csv", "t.jsonl")
	for _, in := range []string{"t.shard", "i.shard", "t.parquet"} {
		require.Equal(t, "info\tall failed\nfailed\t\n\tone failed\n", ok(t, "search", "failed", in))
		require.Equal(t, "4:warn\tnone\n", ok(t, "search", "-n", "NOT failed", in))
	}
	for _, in := range []string{"t.shard", "i.shard", "t.parquet", "t.csv", "t.jsonl"} {
		require.Equal(t, "1\n3\n", ok(t, "search", "--in", "text", "--columns", "n", "failed", in), in)
		require.Equal(t, "2\n3\n", ok(t, "search", "--columns", "n", "--since", "2026-01-01 11:00", "--until", "2026-01-02", "failed OR none", in))
		require.Equal(t, "4\n", ok(t, "search", "--columns", "n", "--since", "2026-01-02", "--time", "time", "NOT failed", in))
		require.Equal(t, "3\n", ok(t, "search", "--columns", "n", "--in", "text", "one failed", in), "both words in one column")
		require.Equal(t, "1\n", ok(t, "search", "--columns", "n", "info failed", in), "words in different columns")
		r := run(t, "search", "--since", "1h", "failed", in)
		require.Equal(t, result{app.ExitFailure, "", ""}, r, in)

		out := ok(t, "search", "--json", "-C", "1", "--columns", "n,text", "one", in)
		var rows []string
		for line := range strings.Lines(out) {
			require.True(t, json.Valid([]byte(line)))
			rows = append(rows, strings.TrimSuffix(line, "\n"))
		}
		require.Equal(t, []string{
			`{"file":"` + in + `","row":2,"context":true,"values":{"n":2,"text":null}}`,
			`{"file":"` + in + `","row":3,"values":{"n":3,"text":"one failed"}}`,
			`{"file":"` + in + `","row":4,"context":true,"values":{"n":4,"text":"none"}}`,
		}, rows, in)
	}
	require.Equal(t, "{\"file\":\"t.shard\",\"count\":3}\n", ok(t, "search", "--json", "-c", "failed", "t.shard"))
	require.Equal(t, "{\"file\":\"t.shard\"}\n", ok(t, "search", "--json", "-l", "failed", "t.shard"))
}

// TestSearchTerminal highlights what was searched for, and lets no text control the terminal.
func TestSearchTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.log", []byte("Failed\tfailedx FAILED \x1b[2J 10.0.0.1\n"), 0o644))
	r := runEnv(t, app.Env{Args: []string{"search", "-nH", "failed OR 10.0* NOT x", "a.log"}, Width: 80})
	require.Equal(t, "\x1b[36ma.log\x1b[0m:\x1b[32m1\x1b[0m:\x1b[1;31mFailed\x1b[0m    failedx \x1b[1;31mFAILED\x1b[0m \\x1b[2J \x1b[1;31m10.0\x1b[0m.0.1\n", r.out)
	r = runEnv(t, app.Env{Args: []string{"search", "--regex", "F[a-z]+", "a.log"}, Width: 80, Getenv: func(name string) string { return map[string]string{"NO_COLOR": "1"}[name] }})
	require.Equal(t, "Failed    failedx FAILED \\x1b[2J 10.0.0.1\n", r.out)
}

// TestIndexCommands adds, lists, damages, rebuilds and drops indexes.
func TestIndexCommands(t *testing.T) {
	log := corpusLogs(t)[0]
	t.Chdir(t.TempDir())
	ok(t, "convert", "-q", log, "a.shard")
	require.Equal(t, "no indexes\n", ok(t, "index", "list", "a.shard"))
	before := ok(t, "cat", "a.shard")
	for _, c := range []struct {
		args   []string
		code   int
		errout string
	}{
		{[]string{"add", "a.shard"}, 2, "--columns"},
		{[]string{"add", "a.shard", "--columns", "lime"}, 1, `there is no column "lime": is line meant?`},
		{[]string{"add", "a.shard", "--columns", "line", "--tokenizer", "x"}, 2, "use unicode-log, unicode-word, trivial"},
		{[]string{"add", "a.shard", "--columns", "line", "--memory", "x"}, 2, "--memory"},
		{[]string{"add", "a.shard", "--columns", "line", "--coarse", "-1"}, 2, "--coarse"},
		{[]string{"add", "a.shard", "--columns", "line", "--layout", "reference", "--phrases"}, 2, "not for indexes of the reference"},
		{[]string{"add", "a.shard", "--columns", "line", "--layout", "reference", "--type", "range"}, 2, "no indexes of the type range"},
		{[]string{"drop", "a.shard"}, 2, "--columns or --all"},
		{[]string{"drop", "a.shard", "--all"}, 1, "a.shard has no index"},
		{[]string{"rebuild", "a.shard"}, 1, "a.shard has no index"},
		{[]string{"list", "b.shard"}, 1, "b.shard does not exist"},
		{[]string{"lst", "a.shard"}, 2, "unknown command"},
	} {
		r := run(t, append([]string{"index"}, c.args...)...)
		require.Equal(t, c.code, r.code, "%q: %s", c.args, r.errout)
		require.Contains(t, r.errout, c.errout)
	}
	ok(t, "index", "add", "a.shard", "--columns", "line", "--layout", "reference")
	ok(t, "index", "add", "a.shard", "--columns", "line", "--type", "hash", "--layout", "reference")
	require.Regexp(t, `(?s)inverted-text-index.*hashmap`, ok(t, "index", "list", "a.shard"))
	require.Equal(t, run(t, "search", "-c", "a* NOT b*", log).out, ok(t, "search", "-c", "a* NOT b*", "a.shard"))
	ok(t, "index", "drop", "-q", "a.shard", "--all")
	old, err := filepath.Glob("*.amudai.index")
	require.NoError(t, err)
	for _, file := range old {
		require.NoError(t, os.Remove(file))
	}
	ok(t, "index", "add", "a.shard", "--columns", "line")
	r := run(t, "index", "add", "a.shard", "--columns", "line")
	require.Equal(t, app.ExitFailure, r.code)
	require.Contains(t, r.errout, "has an index of line already")
	require.Equal(t, before, ok(t, "cat", "a.shard"))
	var list []struct {
		Columns []string
		State   string
		Bytes   int64
		Share   float64
		Stats   map[string]int64
	}
	require.NoError(t, json.Unmarshal([]byte(ok(t, "index", "list", "a.shard", "--json")), &list))
	require.Len(t, list, 1)
	require.Equal(t, []string{"line"}, list[0].Columns)
	require.Equal(t, "ready", list[0].State)
	require.Positive(t, list[0].Stats["terms"])
	require.Positive(t, list[0].Stats["postings"])
	require.Positive(t, list[0].Bytes)
	require.Greater(t, list[0].Share, 0.0)
	require.Less(t, list[0].Share, 1.0)
	require.Contains(t, ok(t, "index", "list", "a.shard"), "postings")

	files, err := filepath.Glob("*.amudai.index")
	require.NoError(t, err)
	require.Len(t, files, 1)
	want := run(t, "search", "-c", "a*", log).out
	good, err := os.ReadFile(files[0])
	require.NoError(t, err)
	for _, damage := range []func(){
		func() { require.NoError(t, os.Remove(files[0])) },
		func() { require.NoError(t, os.WriteFile(files[0], make([]byte, len(good)), 0o644)) },
		func() { require.NoError(t, os.WriteFile(files[0], good[:len(good)/2], 0o644)) },
	} {
		damage()
		r := run(t, "search", "-c", "a*", "a.shard")
		require.Equal(t, want, r.out)
		require.Equal(t, app.ExitOK, r.code)
		require.Contains(t, r.errout, "warning: a.shard: an index is not used")
		require.Equal(t, 1, strings.Count(r.errout, "warning"))
		require.Regexp(t, "(damaged|unusable): ", ok(t, "index", "list", "a.shard"))
		ok(t, "index", "rebuild", "a.shard")
		r = run(t, "search", "-c", "a*", "a.shard")
		require.Equal(t, result{app.ExitOK, want, ""}, r)
		ok(t, "verify", "a.shard")
	}
	files, err = filepath.Glob("*.amudai.index")
	require.NoError(t, err)
	good, err = os.ReadFile(files[0])
	require.NoError(t, err)
	require.NotContains(t, ok(t, "index", "list", "a.shard"), "damaged")
	for at := 100; at < len(good); at += len(good)/7 + 1 {
		bad := bytes.Clone(good)
		bad[at] ^= 4
		require.NoError(t, os.WriteFile(files[0], bad, 0o644))
		require.Contains(t, ok(t, "index", "list", "a.shard"), "damaged: ", at)
		require.Equal(t, app.ExitFailure, run(t, "verify", "-q", "a.shard").code)
	}
	require.NoError(t, os.WriteFile(files[0], good, 0o644))
	ok(t, "index", "drop", "a.shard", "--columns", "line")
	require.Equal(t, "no indexes\n", ok(t, "index", "list", "a.shard"))
	require.Equal(t, before, ok(t, "cat", "a.shard"))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, app.ExitInterrupted, runContext(ctx, app.Env{Args: []string{"index", "add", "a.shard", "--columns", "line"}}).code)
	require.Equal(t, before, ok(t, "cat", "a.shard"))
}

// TestSearchRanked ranks inputs of several kinds together, each with its own columns of texts. Errors end it as any search.
func TestSearchRanked(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("mixed", 0o755))
	require.NoError(t, os.WriteFile("mixed/a.csv", []byte("title,body\nRed house,a house by the sea\n"), 0o644))
	require.NoError(t, os.WriteFile("mixed/b.log", []byte("a red line, and another red one\n"), 0o644))
	lines := strings.Split(strings.TrimSpace(ok(t, "search", "--rank", "red", "mixed")), "\n")
	slices.Sort(lines)
	require.Equal(t, []string{"mixed/a.csv:Red house\ta house by the sea", "mixed/b.log:a red line, and another red one"}, lines)
	require.NoError(t, os.WriteFile("long.log", []byte(strings.Repeat("much else ", 30)+"he runs fast"+strings.Repeat(" and more", 30)+"\n"), 0o644))
	require.Contains(t, ok(t, "search", "--rank", "--tokenizer", "english", "--snippet", "30", "running", "long.log"), "runs")
	require.Equal(t, "title,count\nRed house,1\nnull,1\n", strings.ReplaceAll(ok(t, "search", "--by", "title", "red", "mixed"), "\n,", "\nnull,"))
	require.Equal(t, app.ExitFailure, run(t, "search", "--by", "title", "blue", "mixed").code)
	require.Equal(t, app.ExitUsage, run(t, "search", "--by", "title", "red", "-").code)
	require.Equal(t, app.ExitUsage, run(t, "search", "--by", "title", "-c", "red", "mixed").code)
	require.Equal(t, app.ExitUsage, run(t, "search", "--rank", "red", "missing.csv").code)
	require.Equal(t, app.ExitUsage, run(t, "search", "--rank", "red", "--boost", "nope=2", "mixed/a.csv").code)
	require.Equal(t, app.ExitFailure, run(t, "search", "--rank", "blue", "mixed").code)
}
