package command_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/internal/base/sys"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
)

// faultFiles writes the files of the tests of faults to a folder: a table in every format.
func faultFiles(t *testing.T) (dir string, tables []string) {
	dir = t.TempDir()
	t.Chdir(dir)
	var csv, log strings.Builder
	csv.WriteString("id,name,value,at\n")
	for i := range 4000 {
		fmt.Fprintf(&csv, "%d,name %d,%d.5,2024-01-%02dT00:00:00\n", i, i*7919%4001, i*i%977, 1+i%28)
		fmt.Fprintf(&log, "2024-01-01T00:%02d:%02dZ INFO request %d of user %d\n", i/60%60, i%60, i, i%17)
	}
	for name, text := range map[string]string{"t.csv": csv.String(), "t.log": log.String()} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	created := []string{"--created", "2024-01-01T00:00:00Z", "--stripe-rows", "500"}
	for name, flags := range map[string][]string{
		"t.shard": created, "reference.shard": append([]string{"--edition", "reference"}, created...), "two.shard": append([]string{"--layout", "two-level"}, created...),
		"t.parquet": {"--row-group-rows", "1000"}, "t.jsonl": nil, "t.json": nil, "t.arrow": nil, "t.arrows": nil, "t.root": nil, "t.csv.gz": nil, "t.jsonl.zst": nil,
	} {
		ok(t, append([]string{"convert", "-q", "t.csv", name}, flags...)...)
		tables = append(tables, name)
	}
	ok(t, "convert", "-q", "t.log", "log.shard", "--stripe-rows", "1000", "--created", "2024-01-01T00:00:00Z", "--index", "line")
	ok(t, "convert", "-q", "t.log", "ranked.shard", "--stripe-rows", "1000", "--created", "2024-01-01T00:00:00Z")
	ok(t, "index", "add", "-q", "ranked.shard", "--columns", "line", "--scores")
	return dir, append(tables, "t.csv")
}

// useOf is a command that prints its result. A block of Tempo without names of attributes fails: if meta.json cannot be found, the command says so.
func useOf(args ...string) faultstore.Use {
	return faultstore.Use{Name: strings.Join(args, " "), Run: func(string) (string, error) {
		r := runContext(context.Background(), app.Env{Args: args})
		if r.code != app.ExitOK || strings.Contains(r.errout, "there is no meta.json") {
			return "", errors.New(r.errout)
		}
		return r.out, nil
	}}
}

// makes is a command whose last argument is a new file. If it fails, there is none, or if its name may not last, the whole file.
func makes(args ...string) faultstore.Use {
	u := useOf(args...)
	out := args[len(args)-1]
	do := u.Run
	u.Run = func(dir string) (string, error) {
		_, err := do(dir)
		b, rerr := os.ReadFile(out)
		if rerr == nil {
			err = nil
		} else if err == nil {
			err = rerr
		}
		left, _ := filepath.Glob(filepath.Join(dir, ".*.tmp"))
		if len(left) > 0 {
			return "a temporary file is left", nil
		}
		return string(b), errors.Join(err, removed(out))
	}
	return u
}

// removed removes a file, if there is one.
func removed(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// TestReadFaults runs commands while reads of their files fail, and while other processes change the files. They fail, or print all rows.
func TestReadFaults(t *testing.T) {
	dir, tables := faultFiles(t)
	var uses []faultstore.Use
	for _, file := range tables {
		uses = append(uses, useOf("cat", "--format", "csv", file), useOf("agg", file, "count(), sum(id), min(name), max(value)"))
	}
	for _, file := range []string{"t.shard", "reference.shard", "t.parquet", "t.csv", "t.root"} {
		uses = append(uses,
			useOf("sort", "--format", "csv", "--by", "value,-id", file), useOf("sort", "--format", "csv", "--by", "value,-id", "--limit", "10", file),
			useOf("count", file), useOf("count", "--where", "value > 100", file),
			useOf("head", "-n", "700", "--format", "csv", file), useOf("tail", "-n", "700", "--format", "csv", file),
			useOf("take", "--format", "csv", file, "3999", "0", "1234"), useOf("sample", "--seed", "7", "--format", "csv", "20", file),
			useOf("stats", "--profile", file), useOf("distinct", "--format", "csv", "--columns", "value", file),
			useOf("top", "--by", "value", "--format", "csv", file), useOf("diff", file, "t.arrow"), useOf("diff", "t.jsonl", file, "--key", "id"),
			useOf("search", "name 17", file), useOf("schema", file),
		)
	}
	for _, file := range []string{"t.shard", "t.parquet", "t.csv"} {
		uses = append(uses, useOf("stats", file))
	}
	for _, file := range []string{"t.shard", "reference.shard", "two.shard", "t.root"} {
		uses = append(uses, useOf("verify", file), useOf("inspect", "--json", file))
	}
	uses = append(uses, useOf("search", "--rank", "user 13 OR 77", "ranked.shard"), useOf("search", "--rank", "user OR 13", "ranked.shard", "t.csv"))
	uses = append(uses, useOf("search", "user AND 13", "log.shard"), useOf("search", "user AND 13", "t.log"), useOf("index", "list", "log.shard"),
		useOf("scan", "--format", "csv", "--where", "id between 1000 and 1100", "t.shard"),
		useOf("cat", "--format", "csv", "t.csv", "t.parquet", "t.shard"), useOf("plan", "t.shard"), useOf("infer-schema", "t.csv"),
		useOf("cat", "--format", "csv", "--sample", "all", "t.csv"))
	faultstore.Sweep(t, dir, []faultstore.Op{faultstore.Read, faultstore.Open}, 1, uses)
}

// TestConvertFaults runs commands that write files while operations fail.
func TestConvertFaults(t *testing.T) {
	dir, _ := faultFiles(t)
	created := []string{"--created", "2024-01-01T00:00:00Z", "--stripe-rows", "1000"}
	var uses []faultstore.Use
	for _, out := range []string{"out.parquet", "out.csv", "out.arrow", "out.arrows", "out.root", "out.jsonl.gz"} {
		uses = append(uses, makes("convert", "-q", "t.shard", out), makes("convert", "-q", "t.csv", out))
	}
	for _, in := range []string{"t.parquet", "t.csv", "t.shard", "t.jsonl.zst"} {
		uses = append(uses, makes(append(append([]string{"convert", "-q", in}, created...), "out.shard")...))
	}
	uses = append(uses, makes("sort", "--by", "value", "t.csv", "--output", "out.csv"), makes("recover", "t.shard", "out.shard"))
	faultstore.Sweep(t, dir, writing, 1, uses)
}

// writing are the operations of commands that write.
var writing = []faultstore.Op{faultstore.Read, faultstore.Create, faultstore.Write, faultstore.Sync, faultstore.Rename, faultstore.Close}

// TestEditFaults runs commands that change a file while operations fail. The file is as it was, or whole as it should be.
func TestEditFaults(t *testing.T) {
	dir, _ := faultFiles(t)
	old, err := os.ReadFile("log.shard")
	require.NoError(t, err)
	for _, args := range [][]string{
		{"index", "add", "-q", "log.shard", "--columns", "line", "--type", "hash"}, {"index", "drop", "log.shard", "--all"},
	} {
		var edited []byte
		u := useOf(args...)
		do := u.Run
		u.Run = func(dir string) (string, error) {
			out, err := do(dir)
			if edited == nil { // the call without faults
				edited, err = os.ReadFile("log.shard")
			}
			return out, err
		}
		faultstore.SweepThen(t, dir, writing, 3, []faultstore.Use{u}, func() {
			b, err := os.ReadFile("log.shard")
			require.NoError(t, err)
			require.True(t, bytes.Equal(b, old) || bytes.Equal(b, edited), "another file")
		})
	}
}

// TestTruncated truncates files before each read of a command. The command fails, or prints all rows, never fewer.
func TestTruncated(t *testing.T) {
	faultFiles(t)
	defer func(fs sys.FS) { sys.Default = fs }(sys.Default)
	for _, file := range []string{"t.shard", "reference.shard", "t.csv", "t.parquet"} {
		whole, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, use := range []faultstore.Use{useOf("cat", "--format", "csv", file), useOf("agg", file, "count(), sum(id)", "--by", "value"), makes("convert", "-q", file, "out.csv")} {
			t.Run(use.Name, func(t *testing.T) {
				want, failed := "", 0
				for k, reads := 0, 1; k <= reads; k++ {
					f, n := faultstore.New(), atomic.Int64{}
					f.Before(func(op faultstore.Op, _ int) {
						if op != faultstore.Read {
							return
						}
						if n.Add(1) == int64(k) {
							require.NoError(t, os.Truncate(file, int64(len(whole)/3)))
						}
					})
					sys.Default = f.FS()
					got, err := use.Run(".")
					require.NoError(t, os.WriteFile(file, whole, 0o644))
					switch {
					case k == 0:
						require.NoError(t, err)
						want, reads = got, int(n.Load())
					case err != nil:
						failed++
					default:
						require.Equal(t, want, got, "truncated before read %d of %d", k, reads)
					}
				}
				require.Positive(t, failed)
			})
		}
	}
}

// TestRecognitionFaults makes the reads fail by which the format of a file is found: it is not taken for one of another format.
func TestRecognitionFaults(t *testing.T) {
	faultFiles(t)
	writeBlock(t, "block")
	require.NoError(t, os.Rename("t.shard", "shard"))
	require.NoError(t, os.Rename("t.root", "root"))
	defer func(fs sys.FS) { sys.Default = fs }(sys.Default)
	for _, args := range []string{
		"inspect root", "inspect shard", "verify root", "verify shard", "stats root", "stats shard", "stats --profile t.parquet", "stats --profile t.shard",
		"schema --stored root", "scan --explain t.parquet", "cat block/data.parquet",
	} {
		args := strings.Fields(strings.ReplaceAll(args, "t.shard", "shard"))
		for k, reads := 0, 1; k <= reads; k++ {
			f := faultstore.New()
			if k > 0 {
				f.FailAt(faultstore.Read, k)
			}
			sys.Default = f.FS()
			r := run(t, args...)
			if k == 0 {
				require.Equal(t, app.ExitOK, r.code, r.errout)
				reads = f.Count(faultstore.Read)
				continue
			}
			require.NotEqual(t, app.ExitOK, r.code, "%v: read %d of %d", args, k, reads)
			require.Contains(t, r.errout, faultstore.Err.Error(), "%v: read %d of %d", args, k, reads)
		}
	}
}

// TestListFaults reads lists of rows, ids and columns from files of all kinds, whose reads may fail.
func TestListFaults(t *testing.T) {
	dir, _ := traceFiles(t)
	require.NoError(t, os.WriteFile("schema.txt", []byte("id: int64"), 0o600))
	require.NoError(t, os.WriteFile("t.csv", []byte("id\n1\n2\n3\n4\n5\n"), 0o600))
	require.NoError(t, os.WriteFile("some.txt", []byte("3\n0\n"), 0o600))
	url := "file://" + filepath.ToSlash(dir) + "/"
	for _, from := range []string{"", url} {
		for _, args := range [][]string{
			{"take", "t.csv", "--rows-from", from + "some.txt"}, {"cat", "t.csv", "--schema", "@" + from + "schema.txt"},
			{"blockpack", "drop-traces", "t.blockpack", "out.blockpack", "-f", "--ids", from + "ids.txt"},
		} {
			ok(t, args...)
			f := faultstore.New()
			func() {
				defer func(fs sys.FS) { sys.Default = fs }(sys.Default)
				sys.Default = failing{sys.Default, f.FS(), filepath.Base(args[len(args)-1])}
				f.FailFrom(faultstore.Read, 1)
				r := run(t, args...)
				require.NotEqual(t, app.ExitOK, r.code, args)
				require.Contains(t, r.errout, faultstore.Err.Error(), args)
			}()
		}
	}
}

// failing is a file system in which the files of a name are read with faults.
type failing struct {
	sys.FS
	faulty sys.FS
	name   string
}

// Open implements [sys.FS].
func (f failing) Open(name string) (sys.File, error) {
	if filepath.Base(name) == strings.TrimPrefix(f.name, "@") {
		return f.faulty.Open(name)
	}
	return f.FS.Open(name)
}
