package command_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/command"
	"github.com/amudai/amudai-go/internal/testing/fakes3"
	_ "github.com/amudai/amudai-go/storage/az" // as cmd/amudai
	_ "github.com/amudai/amudai-go/storage/gs"
	_ "github.com/amudai/amudai-go/storage/http"
	_ "github.com/amudai/amudai-go/storage/s3"
	_ "github.com/amudai/amudai-go/storage/xrootd"
)

var update = flag.Bool("update", false, "rewrite testdata with what the commands print")

// result is the output of a command.
type result struct {
	code        int
	out, errout string
}

// run runs a command in the working directory of the test.
func run(t *testing.T, args ...string) result {
	t.Helper()
	return runEnv(t, app.Env{Args: args})
}

func runEnv(t *testing.T, e app.Env) result {
	t.Helper()
	return runContext(t.Context(), e)
}

func runContext(ctx context.Context, e app.Env) result {
	var out, errout bytes.Buffer
	e.Stdout, e.Stderr = &out, &errout
	if e.Stdin == nil {
		e.Stdin = strings.NewReader("")
	}
	code := command.Main(ctx, e)
	return result{code, out.String(), errout.String()}
}

// ok runs a command that must succeed.
func ok(t *testing.T, args ...string) string {
	t.Helper()
	r := run(t, args...)
	require.Equal(t, app.ExitOK, r.code, r.errout)
	return r.out
}

// TestScripts runs the commands of testdata/*.txt in order, in one folder, and
// compares what they print. A script is
//
//	# comment
//	$ amudai ARGS          quoted with ' as in a shell
//	its stdout
//	! its stderr
//	[exit N]               if it is not 0
//
// and at the end files of the folder, each behind a line "-- NAME --". A line
// "$ cat NAME" prints a file, "$ ls" lists the folder, "$ objects" those of s3://bucket, which a server of the test holds.
// "| amudai" takes stdin from the command before.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	for _, path := range scripts {
		path, err := filepath.Abs(path)
		require.NoError(t, err)
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			script, files, _ := strings.Cut(string(b), "\n-- ")
			t.Chdir(t.TempDir())
			writeFiles(t, files)
			got := identities.ReplaceAllString(runScript(t, script, newS3(t)), `"identity": "…"`)
			if files != "" {
				got = strings.TrimSuffix(got, "\n") + "\n\n-- " + files
			}
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
				return
			}
			require.Equal(t, string(b), got)
		})
	}
}

// identities are those of files in plans, which have inodes and times.
var identities = regexp.MustCompile(`"identity": "[^"]*"`)

// writeFiles writes the files at the end of a script.
func writeFiles(t *testing.T, files string) {
	t.Helper()
	if files == "" {
		return
	}
	for _, f := range strings.Split(files, "\n-- ") {
		name, content, found := strings.Cut(f, " --\n")
		require.True(t, found, f)
		if content != "" && !strings.HasSuffix(content, "\n") {
			content += "\n"
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o644))
	}
}

// runScript runs the commands of a script, and returns the script with their outputs.
func runScript(t *testing.T, script string, server *fakes3.Server) string {
	t.Helper()
	var b strings.Builder
	last := ""
	for _, line := range strings.Split(script, "\n") {
		text, isCommand := strings.CutPrefix(line, "$ ")
		if strings.HasPrefix(line, "#") {
			fmt.Fprintf(&b, "%s\n", line)
		}
		if !isCommand {
			continue
		}
		fmt.Fprintf(&b, "%s\n", line)
		args := words(t, strings.TrimPrefix(text, "| "))
		var r result
		switch args[0] {
		case "cat":
			content, err := os.ReadFile(args[1])
			require.NoError(t, err)
			r.out = string(content)
		case "ls":
			r.out = list(t)
		case "objects":
			r.out = strings.Join(append(server.Keys(), ""), "\n")
			require.Zero(t, server.Uploads())
		case "amudai":
			e := app.Env{Args: args[1:]}
			if strings.HasPrefix(text, "| ") {
				e.Stdin = io.MultiReader(strings.NewReader(last)) // as a reader only
			}
			r = runEnv(t, e)
		default:
			require.Fail(t, "unknown command", text)
		}
		last = r.out
		if strings.Contains(r.out, "\x00") || !utf8.ValidString(r.out) {
			r.out = "(binary)\n"
		}
		b.WriteString(r.out)
		if r.out != "" && !strings.HasSuffix(r.out, "\n") {
			b.WriteString("\n")
		}
		for _, l := range strings.Split(strings.TrimSuffix(r.errout, "\n"), "\n") {
			if l != "" {
				fmt.Fprintf(&b, "! %s\n", l)
			}
		}
		if r.code != 0 {
			fmt.Fprintf(&b, "[exit %d]\n", r.code)
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// list returns the names in the working directory, hidden ones included.
func list(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	names := ""
	for _, e := range entries {
		names += e.Name() + "\n"
	}
	return names
}

// words splits a command line at spaces outside of single quotes.
func words(t *testing.T, line string) (out []string) {
	t.Helper()
	word, quoted, any := "", false, false
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, any = !quoted, true
		case r == ' ' && !quoted:
			if word != "" || any {
				out = append(out, word)
			}
			word, any = "", false
		default:
			word += string(r)
		}
	}
	require.False(t, quoted, line)
	if word != "" || any {
		out = append(out, word)
	}
	return out
}

// TestWrongExtension names the format of a file that has the extension of another one.
func TestWrongExtension(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("t.csv", []byte("a,b\n1,2\n"), 0o644))
	ok(t, "convert", "-q", "t.csv", "t.parquet")
	ok(t, "convert", "-q", "t.csv", "t.amudai.shard")
	for from, hint := range map[string]string{
		"t.parquet": "is not CSV, it looks like Parquet (hint: --from parquet reads it)", "t.amudai.shard": "is not CSV, it looks like Amudai shard (hint: --from shard reads it)",
	} {
		require.NoError(t, os.Rename(from, "wrong.csv"))
		r := run(t, "cat", "wrong.csv")
		require.Equal(t, app.ExitFailure, r.code)
		require.Contains(t, r.errout, hint)
	}
}
