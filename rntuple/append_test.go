package rntuple

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/storage"
)

// copied is a copy of a file.
func copied(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), filepath.Base(path))
	require.NoError(t, os.WriteFile(out, b, 0o600))
	return out
}

// others are the objects of a file but ntuples, with their payloads.
func others(t testing.TB, path string) map[string]string {
	t.Helper()
	r, err := storage.Local{}.Open(t.Context(), path)
	require.NoError(t, err)
	defer r.Close()
	f, err := rootfile.Open(t.Context(), r)
	require.NoError(t, err)
	all := map[string]string{}
	for _, o := range f.Objects() {
		if !o.IsNTuple() && !o.IsDirectory() {
			payload, err := f.Payload(t.Context(), o.Key)
			require.NoError(t, err)
			all[o.Path()+" "+o.Key.Class] = string(payload)
		}
	}
	return all
}

// Entries are appended twice to ntuples of other programs: all pages stay, other objects too.
func TestAppendCorpus(t *testing.T) {
	for _, name := range corpus(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			all := openAll(t, name, Options{Binary: true})
			for _, n := range all {
				if n.Load(t.Context()) != nil || n.NumRows() > 50_000 {
					return
				}
			}
			out := copied(t, name)
			_, err := Merge(t.Context(), out, []string{name}, MergeOptions{Append: true})
			if len(all) == 0 || err != nil {
				require.Error(t, err)
				known := []string{"pre-release", "format 0.2.0.0", "cannot be read", "checksum", "no RNTuple", "feature flag", "epoch", "sharded", "may not hold all", "several representations"}
				for _, text := range known {
					if strings.Contains(err.Error(), text) {
						return
					}
				}
				require.NoError(t, err)
			}
			r, err := Merge(t.Context(), out, []string{name}, MergeOptions{Append: true})
			require.NoError(t, err)
			require.Len(t, r.NTuples, len(all))
			b, err := os.ReadFile(out)
			require.NoError(t, err)
			requireSound(t, b)
			for _, n := range all {
				three, err := open(t.Context(), b, n.Path(), Options{Binary: true})
				require.NoError(t, err)
				require.True(t, n.ArrowSchema().Equal(three.ArrowSchema()))
				requireSame(t, recordsOf(t, n, n, n), three, scan.Options{})
				require.Equal(t, n.Footer().Attributes, three.Footer().Attributes)
			}
			require.Equal(t, others(t, name), others(t, out))
		})
	}
}

// Fields that come with appended entries are late ones, and fields that these lack are zeros: the result is that of a merge. Other ntuples stay, or are new.
func TestAppendLateFields(t *testing.T) {
	files := lateFiles(t)
	want, _ := merged(t, files, MergeOptions{})
	out := filepath.Join(t.TempDir(), "out.root") // which the first call makes
	for _, f := range files {
		_, err := Merge(t.Context(), out, []string{f}, MergeOptions{Append: true})
		require.NoError(t, err)
	}
	n := openAll(t, want, Options{})[0]
	requireSame(t, recordsOf(t, n), openAll(t, out, Options{})[0], scan.Options{})
	both := copied(t, files[0])
	r, err := Merge(t.Context(), both, files[1:], MergeOptions{Append: true})
	require.NoError(t, err)
	require.Equal(t, []string{"ntuple.a", "ntuple.c", "ntuple.d"}, r.Missing)
	require.EqualValues(t, 14, r.Entries)
	requireSame(t, recordsOf(t, n), openAll(t, both, Options{})[0], scan.Options{})

	w, err := Create(t.Context(), both, n.ArrowSchema(), WriterOptions{Name: "dir/other", Append: true})
	require.NoError(t, err)
	require.NoError(t, w.Close(t.Context()))
	other := filepath.Join(t.TempDir(), "other.root")
	require.NoError(t, os.WriteFile(other, rewritten(t, n, WriterOptions{Name: "new"}), 0o600))
	_, err = Merge(t.Context(), both, []string{other}, MergeOptions{Append: true})
	require.NoError(t, err)
	var paths []string
	for _, n := range openAll(t, both, Options{}) {
		paths = append(paths, n.Path())
	}
	require.ElementsMatch(t, []string{"ntuple", "dir/other", "new"}, paths)
	b, err := os.ReadFile(both)
	require.NoError(t, err)
	requireSound(t, b)
}

// A failure of any read or write leaves the file as it was, and so does another writer.
func TestAppendFaults(t *testing.T) {
	files := lateFiles(t)
	out := copied(t, files[0])
	before, err := os.ReadFile(out)
	require.NoError(t, err)
	for _, op := range []faultstore.Op{faultstore.Read, faultstore.Write} {
		for k := 1; ; k++ {
			f := faultstore.New()
			f.FailAt(op, k)
			_, err := Merge(t.Context(), out, files[1:], MergeOptions{Store: f.Local(), Append: true})
			if f.Count(op) < k {
				require.NoError(t, err)
				require.Greater(t, k, 2)
				break
			}
			require.ErrorIs(t, err, faultstore.Err, "%v %d", op, k)
			after, err := os.ReadFile(out)
			require.NoError(t, err)
			require.Equal(t, before, after)
			left, err := os.ReadDir(filepath.Dir(out))
			require.NoError(t, err)
			require.Len(t, left, 1)
		}
		require.NoError(t, os.WriteFile(out, before, 0o600))
	}
	_, err = Merge(t.Context(), out, files[1:], MergeOptions{Append: true, Progress: func(int64, int64) { require.NoError(t, os.WriteFile(out, []byte("another file"), 0o600)) }})
	require.ErrorIs(t, err, storage.ErrChanged)
	_, err = Merge(t.Context(), copied(t, files[0]), files[1:], MergeOptions{Append: true, DryRun: true})
	require.NoError(t, err)
}
