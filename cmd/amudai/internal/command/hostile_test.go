package command_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/shard"
)

// hostileText changes the colour, moves the cursor, ends lines, and changes the direction of text.
const hostileText = "x\x1b[31m\x1b]0;title\a\r\n\u202egnp.exe\u200b\u2066\u009b2J\x7f\xad\U000e0041"

// hostileShard writes a shard with hostile names and values.
func hostileShard(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "h.amudai.shard")
	name := strings.ToValidUTF8(hostileText, "")
	s := arrow.NewSchema([]arrow.Field{{Name: name, Type: arrow.BinaryTypes.String}, {Name: name + "2", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for i := range 300 {
		b.Field(0).(*array.StringBuilder).Append(name + string(rune('a'+i%3)))
		b.Field(1).(*array.Int64Builder).Append(int64(i))
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	w, err := shard.Create(t.Context(), path, s, shard.WriterOptions{})
	require.NoError(t, err)
	defer w.Abort(t.Context())
	require.NoError(t, w.Write(t.Context(), batch))
	require.NoError(t, w.Close(t.Context()))
	return path
}

// TestHostileText prints a shard with hostile names and values by all commands for terminals, and as JSON.
func TestHostileText(t *testing.T) {
	path := hostileShard(t)
	name := strings.ToValidUTF8(hostileText, "")
	quoted := `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	csv := filepath.Join(t.TempDir(), "h.csv")
	require.NoError(t, os.WriteFile(csv, []byte(quoted+",b\n00,1\n1,2\n"), 0o644))
	for _, args := range [][]string{
		{"head", path}, {"cat", "--format", "table", path}, {"schema", path}, {"schema", "--stored", path}, {"infer-schema", csv},
		{"inspect", path}, {"inspect", "-v", path}, {"inspect", "-vv", path}, {"inspect", "-vvv", path}, {"inspect", "--hex", path}, {"inspect", "-vvv", "--json", path},
		{"stats", path}, {"stats", "--details", path}, {"stats", "--json", path}, {"verify", path}, {"verify", "--json", path},
		{"scan", path, "--explain"}, {"scan", path, "--analyze"}, {"scan", path, "--analyze", "--where", quoted + " starts with 'x' and " + strings.TrimSuffix(quoted, `"`) + `2" < 5`},
		{"scan", path, "--where", quoted + " = 7"}, {"scan", path, "--where", "nothing = 1"}, {"head", path, "--columns", name}, {"stats", path, "--columns", name + "\x1b"},
		{"inspect", "--stripe", "99", path}, {"cat", csv, "--where", "b = 1", "--format", "table"}, {"convert", csv, filepath.Join(t.TempDir(), name)},
		{"convert", csv, filepath.Join(t.TempDir(), "o.parquet"), "--schema", "b:utf8"}, {name}, {"--" + name}, {"verify", name},
		{"sort", path, "--by", "-" + quoted, "--limit", "5", "--format", "table"}, {"sort", path, "--by", name}, {"distinct", path, "--columns", name, "--format", "table"},
		{"diff", path, csv}, {"diff", csv, path, "--key", quoted}, {"diff", path, path, "--key", quoted}, {"diff", path, path, "--key", name}, {"diff", path, name},
	} {
		for _, width := range []int{0, 60} {
			r := runEnv(t, app.Env{Args: args, Width: width, Getenv: func(string) string { return "NO_COLOR" }})
			for _, out := range []string{r.out, r.errout} {
				for _, c := range out {
					if c != '\n' && !unicode.IsPrint(c) {
						require.Failf(t, "raw character", "%U in the output of %q:\n%q", c, args, out)
					}
				}
				for _, line := range strings.Split(out, "\n") {
					require.False(t, strings.HasPrefix(line, "gnp.exe"), "a name ends a line: %q", args)
				}
			}
		}
	}
}

// TestOnlyTerminalPrints finds code that prints text without package terminal, which escapes it.
func TestOnlyTerminalPrints(t *testing.T) {
	around := regexp.MustCompile(`(Fprint\w*|WriteString)\([^,]*(Stdout|Stderr|\.Out\b)`)
	for _, pattern := range []string{"*.go", "../inspect/*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, path := range files {
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			if !strings.HasSuffix(path, "_test.go") {
				require.Empty(t, around.FindAllString(string(b), -1), path)
			}
		}
	}
}

// TestWidth prints a table wider than the terminal.
func TestWidth(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("t.csv", []byte("a_very_long_name_of_a_column,b\n"+strings.Repeat("some text that is long,2020-01-01T00:00:00\nother text that is long,2021-01-01T01:00:00\n", 10)), 0o644))
	ok(t, "convert", "-q", "t.csv", "t.amudai.shard")
	for _, width := range []int{40, 80, 100, 200} {
		for _, args := range [][]string{{"stats", "t.amudai.shard"}, {"inspect", "-v", "t.amudai.shard"}, {"head", "t.amudai.shard"}} {
			r := runEnv(t, app.Env{Args: args, Width: width, Getenv: func(name string) string { return map[string]string{"NO_COLOR": "x"}[name] }})
			require.Equal(t, app.ExitOK, r.code, r.errout)
			_, table, _ := strings.Cut(r.out, "\n\n") // facts are not a table
			if args[0] == "head" {
				table, _, _ = strings.Cut(r.out, "\n\n")
			}
			for _, line := range strings.Split(table, "\n") {
				if strings.HasPrefix(line, "… and ") {
					continue
				}
				require.LessOrEqual(t, len([]rune(line)), width, "%v, %d columns:\n%s", args, width, r.out)
			}
		}
	}
	require.Contains(t, runEnv(t, app.Env{Args: []string{"stats", "t.amudai.shard"}, Width: 40}).out, "--details shows all")
}
