package command_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
)

// TestProfilePage compares a page with testdata/profile.html.
func TestProfilePage(t *testing.T) {
	golden, err := filepath.Abs("testdata/profile.html")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	table := "id,name,when,delay\n1,Ann,2020-01-01,0.5\n2,Bob,2020-02-01,\n3,Bob,2020-02-03,1.5\n4,,2020-03-01,99\n"
	require.NoError(t, os.WriteFile("t.csv", []byte(table), 0o644))
	ok(t, "stats", "t.csv", "--html", "t.html")
	page, err := os.ReadFile("t.html")
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(golden, page, 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), string(page))
	require.NotContains(t, string(page), "ZgotmplZ")
	require.NotRegexp(t, `(?i)<script|https?://|url\(|@import|src=`, string(page))
}

// TestHostileProfiles: names and values of a table change neither a page nor a terminal.
func TestHostileProfiles(t *testing.T) {
	t.Chdir(t.TempDir())
	hostile := []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</style><script>`, "\x1b[31mred\x1b[2J", "\u202eoverride", "{{.Name}}",
		`</title>`, `]]>`, "javascript:alert(1)", "a\x00b", strings.Repeat("long ", 2000), "\u200d\U0001F469\u200d\U0001F4BB", "%s%d%!", "",
	}
	var lines []string
	row := map[string]any{}
	for i, h := range hostile {
		row[h] = hostile[len(hostile)-1-i]
	}
	for range 3 {
		b, err := json.Marshal(row)
		require.NoError(t, err)
		lines = append(lines, string(b))
	}
	name := "<b>'&\"t.jsonl"
	require.NoError(t, os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	for _, args := range [][]string{{"stats", name}, {"stats", "-p", name}, {"stats", "--json", "-p", name}, {"stats", "--plot", hostile[0], name}, {"stats", "--plot", hostile[4], name}} {
		out := ok(t, args...)
		require.NotContains(t, out, "\x1b", args)
		require.NotContains(t, out, "\u202e", args)
		require.NotContains(t, out, "\x00", args)
	}
	ok(t, "stats", name, "--html", "t.html")
	page, err := os.ReadFile("t.html")
	require.NoError(t, err)
	require.NotRegexp(t, `(?i)<script|<img|<b>|ZgotmplZ`, string(page))
	tags := regexp.MustCompile(`<(/?[a-zA-Z0-9]+)([^>]*)>`).FindAllSubmatch(page, -1)
	for _, tag := range tags {
		require.NotRegexp(t, `(?i)\son[a-z]+\s*=`, string(regexp.MustCompile(`"[^"]*"`).ReplaceAll(tag[2], nil)))
	}
	require.Equal(t, 1, bytes.Count(page, []byte("</style>")))
}

// TestProfileOfInputs: several inputs are one table, for all formats of output.
func TestProfileOfInputs(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.csv", []byte("n,s\n1,x\n2,y\n"), 0o644))
	require.NoError(t, os.WriteFile("b.jsonl", []byte(`{"n":2.5,"t":"z"}`+"\n"), 0o644))
	out := ok(t, "stats", "--json", "a.csv", "b.jsonl")
	var p struct {
		Rows    int
		Columns []struct {
			Path, Type      string
			Nulls, Distinct int
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &p))
	require.Equal(t, "{3 [{n float64 0 3} {s utf8 1 2} {t utf8 2 1}]}", fmt.Sprint(p))
	for _, f := range []string{"shard", "parquet", "arrow", "jsonl"} {
		file := "t." + f
		ok(t, "convert", "--quiet", "a.csv", file)
		require.Contains(t, ok(t, "stats", "-p", file), "n  int64", f)
		require.Contains(t, ok(t, "stats", "--where", "n > 1", file), "1 row;", f)
	}
}

// TestProfileWidths: blocks and plots fit terminals, also dumb ones.
func TestProfileWidths(t *testing.T) {
	t.Chdir(t.TempDir())
	var b strings.Builder
	b.WriteString("number,a rather long name of a column that is longer than others,time,text\n")
	for i := range 500 {
		fmt.Fprintf(&b, "%d,%d,2020-01-%02dT10:00:00,%s\n", i*i%977, i%7, i%28+1, strings.Repeat("word ", i%5+1)+"日本")
	}
	require.NoError(t, os.WriteFile("t.csv", []byte(b.String()), 0o644))
	for _, width := range []int{40, 80, 200} {
		for _, args := range [][]string{{"stats", "t.csv"}, {"stats", "-p", "t.csv"}, {"stats", "--plot", "number", "t.csv"}, {"stats", "--plot", "time", "t.csv"}, {"stats", "--plot", "text", "t.csv"}} {
			r := runEnv(t, app.Env{Args: args, Width: width, Getenv: func(name string) string { return map[string]string{"TERM": "dumb", "NO_COLOR": "1"}[name] }})
			require.Zero(t, r.code, r.errout)
			lines := strings.Split(r.out, "\n")
			if args[1] == "--plot" && width >= 80 {
				require.LessOrEqual(t, len(lines), 24)
			}
			for _, l := range lines {
				if !strings.Contains(l, "--where") && !strings.Contains(l, ";") {
					require.LessOrEqual(t, terminal.Width(l), width, "%v: %s", args, l)
				}
				if args[1] != "t.csv" {
					require.NotContains(t, l, "█")
				}
			}
		}
	}
}
