package command_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
)

// structure is what inspect tells of the places of stripes and columns.
type structure struct {
	Lists struct {
		Files   []struct{ Name string }
		Stripes []struct {
			Stripe, Rows, Deleted int
			Bytes                 int64
			Files                 []structureFile
		}
		Columns []struct {
			Stripe int
			Column string
			Bytes  int64
			Files  []structureFile
		}
	}
}

type structureFile struct {
	Name  string
	Value int64
}

func structureOf(t *testing.T, location string) (s structure) {
	require.NoError(t, json.Unmarshal([]byte(ok(t, "inspect", location, "-v", "--json")), &s))
	return s
}

// Of a shard that was merged, edited, moved and deleted from, inspect tells which file each stripe and column is in: a column cannot be read without its files,
// and needs no other one of values.
func TestInspectTellsFiles(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	var rows strings.Builder
	for i := range 900 {
		fmt.Fprintf(&rows, "{\"id\":%d,\"text\":\"text %d\"}\n", i, i*i)
	}
	require.NoError(t, os.WriteFile("rows.jsonl", []byte(rows.String()), 0o600))
	require.NoError(t, os.Mkdir("old", 0o700))
	require.NoError(t, os.Mkdir("new", 0o700))
	ok(t, "convert", "-q", "rows.jsonl", "old/a.amudai.shard", "--rows", "0:300")
	ok(t, "convert", "-q", "rows.jsonl", "new/b.amudai.shard", "--rows", "300:", "--stripe-rows", "300", "--layout", "two-level")
	alone := structureOf(t, "old/a.amudai.shard")
	require.Empty(t, alone.Lists.Files, "one file")
	require.Nil(t, alone.Lists.Stripes[0].Files)
	ok(t, "delete", "-q", "old/a.amudai.shard", "--where", "id < 7")
	ok(t, "merge", "-q", "old/a.amudai.shard", "new/b.amudai.shard", "-o", "all.amudai.shard")
	ok(t, "column", "add", "-q", "all.amudai.shard", "half = id / 2.0")
	ok(t, "keep", "-q", "all.amudai.shard", "--versions", "3")
	ok(t, "delete", "-q", "all.amudai.shard", "--where", "id >= 600")
	require.NoError(t, os.MkdirAll("moved/old", 0o700))
	require.NoError(t, os.MkdirAll("moved/new", 0o700))
	ok(t, "relocate", "-q", "all.amudai.shard", "-o", "moved/")
	text := ok(t, "inspect", "all.amudai.shard")
	require.Regexp(t, `(?m)^version +3$`, text)
	require.Regexp(t, `(?m)^earlier versions +2$`, text)
	require.Regexp(t, `(?m)^deleted rows +307$`, text)
	require.Regexp(t, `(?m)^property amudai.features .*deleted-records`, text)

	for _, location := range []string{"old/a.amudai.shard", "all.amudai.shard", "moved/all.amudai.shard"} {
		s := structureOf(t, location)
		listed := map[string]bool{}
		for _, f := range s.Lists.Files {
			listed[f.Name] = true
		}
		deleted := []int{7, 0, 300}
		for i, st := range s.Lists.Stripes {
			require.Equal(t, deleted[i], st.Deleted, location)
			sum := int64(0)
			for _, f := range st.Files {
				require.True(t, listed[f.Name], "%s: %s", location, f.Name)
				sum += f.Value
			}
			require.Equal(t, st.Bytes, sum, location)
		}
		for file := range listed {
			path := filepath.Join(filepath.Dir(location), file)
			if file == location {
				continue
			}
			require.NoError(t, os.Rename(path, "hidden"))
			marks := false // the file has the deleted rows of a stripe, which every reader needs
			for _, c := range s.Lists.Columns {
				for _, f := range c.Files {
					marks = marks || f.Name == file && strings.HasPrefix(c.Column, "Kusto")
				}
			}
			for _, c := range s.Lists.Columns {
				if strings.HasPrefix(c.Column, "Kusto") || s.Lists.Stripes[c.Stripe].Deleted == 300 {
					continue
				}
				needed := false
				for _, f := range c.Files {
					needed = needed || f.Name == file
				}
				r := run(t, "cat", location, "--columns", c.Column, "--stripes", fmt.Sprint(c.Stripe), "--where", c.Column+" is not null")
				if needed {
					require.NotZero(t, r.code, "%s without %s: stripe %d, %s", location, file, c.Stripe, c.Column)
				} else if strings.HasSuffix(file, ".stripe") && !marks {
					require.Zero(t, r.code, "%s without %s: stripe %d, %s: %s", location, file, c.Stripe, c.Column, r.errout)
				}
			}
			require.NoError(t, os.Rename("hidden", path))
		}
	}
}

// FILE:0 is the first shard of a packed file, also for commands that take shards only.
func TestShardsOfPackedFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.csv", []byte("id,text\n1,one\n2,two\n"), 0o600))
	require.NoError(t, os.WriteFile("b.csv", []byte("n\n7\n"), 0o600))
	ok(t, "convert", "-q", "a.csv", "a.amudai.shard", "--index", "text")
	ok(t, "convert", "-q", "b.csv", "b.amudai.shard")
	ok(t, "pack", "a.amudai.shard", "b.amudai.shard", "-o", "all.amudai.shard")
	require.Contains(t, ok(t, "index", "list", "all.amudai.shard:0"), "text")
	require.Contains(t, ok(t, "index", "list", "all.amudai.shard"), "no indexes")
	require.Regexp(t, `\n +1 .* 2 +0\n`, ok(t, "log", "all.amudai.shard:0"))
	r := run(t, "index", "list", "all.amudai.shard:2")
	require.Contains(t, r.errout, `there is no shard "2" in all.amudai.shard, which has 2 from 0`)
	for i, name := range []string{"a", "b"} {
		ok(t, "recover", fmt.Sprintf("all.amudai.shard:%d", i), "saved.amudai.shard", "-f")
		ok(t, "diff", "saved.amudai.shard", name+".amudai.shard")
	}
	for _, change := range []string{
		"index add {} --columns id", "index drop {} --all", "delete {} --all", "column drop {} id", "compact {}", "keep {} --versions 3", "restore {} --at 1",
		"split {} -o part-{}.amudai.shard --rows 1", "merge {} b.amudai.shard -o m.amudai.shard", "relocate {} -o x.amudai.shard",
	} {
		r := run(t, strings.Fields(strings.Replace(change, "{}", "all.amudai.shard:0", 1))...)
		require.NotZero(t, r.code, change)
		require.Contains(t, r.errout, "all.amudai.shard:0 is a shard within a file, which is changed as one of its own (hint: amudai pack all.amudai.shard:0 -o OUT copies it out)", change)
	}
	b, err := os.ReadFile("all.amudai.shard")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("cut.amudai.shard", b[:len(b)-20], 0o600))
	for _, name := range []string{"all.amudai.shard", "cut.amudai.shard"} {
		r = run(t, "recover", name, "saved.amudai.shard", "-f")
		require.Contains(t, r.out, "saved 2 shards with 2 stripes of 2 found, 3 rows")
		ok(t, "diff", "saved.amudai.shard:0", "a.amudai.shard")
		ok(t, "diff", "saved.amudai.shard:1", "b.amudai.shard")
	}
	at := bytes.Index(b, []byte("two")) // of the first shard, whose only stripe is lost then
	require.Positive(t, at)
	b[at] ^= 1
	require.NoError(t, os.WriteFile("cut.amudai.shard", b, 0o600))
	r = run(t, "recover", "cut.amudai.shard", "saved.amudai.shard", "-f")
	require.Equal(t, app.ExitFailure, r.code)
	require.Contains(t, r.out, "saved 1 stripe of 2 found, 1 row")
	require.Contains(t, r.out, "stripe 0 with 2 rows")
	ok(t, "diff", "saved.amudai.shard", "b.amudai.shard")
}

// Numbers that are recorded of a stripe with deleted rows are told apart from those of rows that are shown.
func TestInspectStoredCounts(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("t.csv", []byte("a,b\nx,1\ny,\nx,3\nz,4\n"), 0o600))
	ok(t, "convert", "-q", "t.csv", "t.amudai.shard", "--stripe-rows", "2")
	ok(t, "delete", "-q", "t.amudai.shard", "--rows", "1:2")
	var out struct {
		Lists map[string][]map[string]any `json:"lists"`
	}
	require.NoError(t, json.Unmarshal([]byte(ok(t, "inspect", "-v", "--json", "t.amudai.shard")), &out))
	names := []string{"nulls", "distinct", "stored_nulls", "stored_distinct"}
	var got [][]any
	for _, c := range out.Lists["columns"] {
		if c["column"] == "a" || c["column"] == "b" {
			var row []any
			for _, name := range names {
				row = append(row, c[name])
			}
			got = append(got, row)
		}
	}
	require.Equal(t, [][]any{{0., nil, nil, 2.}, {nil, nil, 1., 1.}, {0., 2., nil, nil}, {0., 2., nil, nil}}, got)
	require.NotContains(t, ok(t, "inspect", "-v", "t.amudai.shard", "--stripe", "1"), "stored nulls")
}
