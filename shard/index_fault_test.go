package shard

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/storage"
)

// indexEdits are the ways to change the indexes of a shard, which has one already.
var indexEdits = map[string]func(t *testing.T, location string, o EditOptions) error{
	"add": func(t *testing.T, location string, o EditOptions) error {
		return AddIndex(t.Context(), location, o, lineIndexes[1])
	},
	"add to stripes": func(t *testing.T, location string, o EditOptions) error {
		return AddIndex(t.Context(), location, o, stripeIndexes[2])
	},
	"drop": func(t *testing.T, location string, o EditOptions) error {
		_, err := DropIndex(t.Context(), location, o, func(Index) bool { return true })
		return err
	},
	"rebuild": func(t *testing.T, location string, o EditOptions) error {
		_, err := RebuildIndex(t.Context(), location, o, func(Index) bool { return true })
		return err
	},
	"add of the reference's": func(t *testing.T, location string, o EditOptions) error {
		return AddIndex(t.Context(), location, o, invertedIndexes[0])
	},
}

// requireAnswers asks a shard of writeLines questions, and verifies it.
func requireAnswers(t *testing.T, location string, want []RowRange) {
	got, unusable := rowsWhere(t, location, termQuestions[0], OpenOptions{}, 0)
	require.Equal(t, want, got)
	require.Empty(t, unusable)
	requireSound(t, location)
}

// hidden are the temporary files in a folder.
func hidden(t *testing.T, dir string) []string {
	names, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	return names
}

// Whatever step of a change of indexes fails, or all from one on, as on a full disk, the shard is the old one or the new one, and no temporary
// file is left.
func TestIndexEditFaults(t *testing.T) {
	t.Parallel() // it waits for disks
	dir := t.TempDir()
	n := 0
	for _, layout := range []Layout{SingleFile, TwoLevel} {
		before := t.TempDir()
		writeLines(t, filepath.Join(before, "x.shard"), 300, WriterOptions{Layout: layout, StripeRows: 200, Indexes: lineIndexes[:1]})
		want, _ := rowsWhere(t, filepath.Join(before, "x.shard"), termQuestions[0], OpenOptions{}, 0)
		for name, edit := range indexEdits {
			require.NoError(t, faultstore.EachStep(41, func(faults *faultstore.Faults, op faultstore.Op, k int) error {
				n++
				location := filepath.Join(dir, fmt.Sprint(n), "x.shard")
				require.NoError(t, os.CopyFS(filepath.Dir(location), os.DirFS(before)))
				err := edit(t, location, EditOptions{Open: OpenOptions{Store: faults.Local()}, TempDir: dir})
				requireAnswers(t, location, want)
				if op != faultstore.Remove {
					require.Empty(t, hidden(t, filepath.Dir(location)), "%s %v %d", name, op, k)
				}
				return err
			}))
		}
	}
}

// TestIndexKill kills a process at some step of a change of indexes. The shard is the old one or the new one, whatever temporary files are left, and
// the next change succeeds.
func TestIndexKill(t *testing.T) {
	if dir := os.Getenv("AMUDAI_TEST_KILL"); dir != "" {
		dieAt(t, dir, func(store storage.Store) error {
			o := EditOptions{Open: OpenOptions{Store: store}, MemoryBytes: 1 << 10, TempDir: dir}
			return AddIndex(t.Context(), filepath.Join(dir, "x.shard"), o, lineIndexes[0])
		})
		return
	}
	t.Parallel() // it waits for disks
	for _, layout := range []Layout{SingleFile, TwoLevel} {
		for k := 1; ; k += sweep.Step(53) {
			dir := t.TempDir()
			location := filepath.Join(dir, "x.shard")
			writeLines(t, location, 300, WriterOptions{Layout: layout, StripeRows: 200})
			want, _ := rowsWhere(t, location, termQuestions[0], OpenOptions{}, 0)
			killed := killedAt(t, dir, k)
			requireAnswers(t, location, want)
			if !killed {
				break
			}
			require.NoFileExists(t, filepath.Join(dir, "done"))
			require.NoError(t, AddIndex(t.Context(), location, EditOptions{}, lineIndexes[0]))
			for _, name := range hidden(t, dir) { // no part of the shard
				require.True(t, strings.HasSuffix(name, ".tmp"), name)
				require.NoError(t, os.Remove(name))
			}
			requireAnswers(t, location, want)
		}
	}
}

// killedAt runs the test again in another process, which dies before a step, and reports whether it did.
func killedAt(t *testing.T, dir string, k int) bool {
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "AMUDAI_TEST_KILL="+dir, "AMUDAI_TEST_KILL_AT="+strconv.Itoa(k))
	return cmd.Run() != nil
}

// dieAt makes a call with a store, and dies before a step of it.
func dieAt(t *testing.T, dir string, call func(storage.Store) error) {
	at, err := strconv.Atoi(os.Getenv("AMUDAI_TEST_KILL_AT"))
	require.NoError(t, err)
	faults := faultstore.New()
	faults.Before(func(_ faultstore.Op, n int) {
		if n == at {
			p, err := os.FindProcess(os.Getpid())
			require.NoError(t, err)
			require.NoError(t, p.Kill())
			select {}
		}
	})
	require.NoError(t, call(faults.Local()))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "done"), nil, 0o666))
}
