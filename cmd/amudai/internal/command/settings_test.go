package command_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/storage"
)

// TestEnvironment sets colours, width and threads by variables, and refuses values without a meaning.
func TestEnvironment(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("t.csv", []byte("a,b\n1,"+strings.Repeat("x", 60)+"\n"), 0o644))
	with := func(variables ...string) result {
		return runEnv(t, app.Env{Args: []string{"head", "t.csv"}, Getenv: func(name string) string {
			for _, v := range variables {
				if value, found := strings.CutPrefix(v, name+"="); found {
					return value
				}
			}
			return ""
		}})
	}
	plain := with()
	require.NotContains(t, plain.out, "\x1b")
	require.Contains(t, plain.out, strings.Repeat("x", 60))
	require.Contains(t, with("AMUDAI_COLOR=always", "NO_COLOR=1").out, "\x1b")
	require.Equal(t, plain, with("AMUDAI_WIDTH=0"))
	require.NotContains(t, with("AMUDAI_WIDTH=40").out, strings.Repeat("x", 60))
	require.NotContains(t, with("AMUDAI_WIDTH=40").out, "\x1b")
	threads := runtime.GOMAXPROCS(0)
	require.Equal(t, plain, with("AMUDAI_PARALLEL=1"))
	require.Equal(t, threads, runtime.GOMAXPROCS(0))
	for _, v := range []string{"AMUDAI_COLOR=red", "AMUDAI_WIDTH=wide", "AMUDAI_WIDTH=-1", "AMUDAI_PARALLEL=0", "AMUDAI_PARALLEL=x"} {
		r := with(v)
		require.Equal(t, app.ExitUsage, r.code, v)
		require.Contains(t, r.errout, v)
	}
}

// Columns in another folder are read, and changed, by whoever allows it; the summary and the error say which.
func TestAllow(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("t.csv", []byte("a,b\n1,one\n2,two\n"), 0o644))
	ok(t, "convert", "t.csv", "t.amudai.shard")
	cold := filepath.Join(t.TempDir(), "new")
	url, err := storage.URL(cold)
	require.NoError(t, err)
	require.Contains(t, ok(t, "relocate", "t.amudai.shard", "--columns", "b", "-o", cold, "--move"), "AMUDAI_ALLOW="+url+"/")
	with := func(allowed string, args ...string) result {
		return runEnv(t, app.Env{Args: args, Getenv: func(name string) string { return map[string]string{"AMUDAI_ALLOW": allowed}[name] }})
	}
	for _, args := range [][]string{
		{"cat", "t.amudai.shard"}, {"count", "t.amudai.shard", "--where", "b like 'o%'"}, {"verify", "t.amudai.shard"}, {"stats", "t.amudai.shard"}, {"search", "one", "t.amudai.shard"}, {"compact", "t.amudai.shard", "--sort", "-a", "--stripes", "0"},
	} {
		refused := with("", args...)
		require.NotZero(t, refused.code, args)
		require.Contains(t, refused.out+refused.errout, "not allowed", args)
		allowed := with("/nowhere, "+cold, args...)
		require.Zero(t, allowed.code, "%v: %s", args, allowed.errout)
	}
	require.Contains(t, with("", "cat", "t.amudai.shard").out, "two", "they were written anew beside the root")
	require.Equal(t, app.ExitUsage, with("s3://%", "cat", "t.amudai.shard").code)
}

// TestMan writes a page for each command, and for those below it.
func TestMan(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "man1")
	ok(t, "man", folder)
	for _, name := range []string{"amudai", "amudai-convert", "amudai-index-add", "amudai-completion-fish"} {
		page, err := os.ReadFile(filepath.Join(folder, name+".1"))
		require.NoError(t, err)
		require.Contains(t, string(page), ".SH NAME\n")
	}
}
