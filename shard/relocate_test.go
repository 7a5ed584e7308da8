package shard

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/fakes3"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/s3"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
)

// livingShards write shards of all kinds of files, named x.shard.
var livingShards = map[string]func(t testing.TB, dir string){
	"single": func(t testing.TB, dir string) {
		writeLines(t, filepath.Join(dir, "x.shard"), 300, WriterOptions{StripeRows: 200, Indexes: stripeIndexes})
	},
	"single, changed": func(t testing.TB, dir string) {
		writeLines(t, filepath.Join(dir, "x.shard"), 300, WriterOptions{StripeRows: 200, Indexes: lineIndexes[1:2]})
		require.NoError(t, AddIndex(context.Background(), filepath.Join(dir, "x.shard"), EditOptions{}, lineIndexes[0]))
	},
	"two-level": func(t testing.TB, dir string) {
		writeLines(t, filepath.Join(dir, "x.shard"), 300, WriterOptions{Layout: TwoLevel, StripeRows: 200, Indexes: lineIndexes[:1]})
	},
	"merged, deleted, edited": func(t testing.TB, dir string) {
		ctx, x := context.Background(), filepath.Join(dir, "x.shard")
		var all []string
		for _, name := range []string{"a", "b"} {
			all = append(all, filepath.Join(dir, name+".shard"))
			writeLines(t, all[len(all)-1], 150, WriterOptions{StripeRows: 100, Indexes: stripeIndexes[:1], Layout: Layout(len(all) - 1)})
		}
		_, err := Merge(ctx, x, all, MergeOptions{})
		require.NoError(t, err)
		for _, location := range all {
			require.NoError(t, os.Remove(location))
		}
		n, err := Delete(ctx, x, EditOptions{}, Rows{Ranges: []RowRange{{From: 20, To: 30}}})
		require.NoError(t, err)
		require.EqualValues(t, 10, n)
		_, err = Edit(ctx, x, EditOptions{}, DropColumns("tags"), AddColumn("id", "user.id + 1"))
		require.NoError(t, err)
		_, err = Collect(ctx, dir, CollectOptions{OlderThan: 1, Remove: true})
		require.NoError(t, err)
	},
	"two-level, index of the reference": func(t testing.TB, dir string) {
		writeLines(t, filepath.Join(dir, "x.shard"), 300, WriterOptions{Layout: TwoLevel, StripeRows: 200})
		require.NoError(t, AddIndex(context.Background(), filepath.Join(dir, "x.shard"), EditOptions{}, invertedIndexes[0]))
	},
}

// filesIn are the names of the files in a folder, sorted.
func filesIn(t testing.TB, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A shard that is copied or moved, to any layout, answers as before, and a move leaves no file of writers.
func TestRelocate(t *testing.T) {
	single, two := SingleFile, TwoLevel
	for kind, write := range livingShards {
		for _, layout := range []*Layout{nil, &single, &two} {
			for _, move := range []bool{false, true} {
				old, dir := t.TempDir(), t.TempDir()
				write(t, old)
				before := filesIn(t, old)
				from, to := filepath.Join(old, "x.shard"), filepath.Join(dir, "y.shard")
				want, _ := rowsWhere(t, from, termQuestions[0], OpenOptions{}, 0)
				o := RelocateOptions{Layout: layout, Move: move, DryRun: true}
				planned, err := Relocate(t.Context(), from, to, o)
				require.NoError(t, err)
				require.Equal(t, before, filesIn(t, old))
				require.Empty(t, filesIn(t, dir))
				require.Len(t, planned, len(before), "all files of the shard: %v", planned)
				for _, f := range planned {
					require.Positive(t, f.Referred)
					require.LessOrEqual(t, f.Referred, f.Size)
				}

				o.DryRun = false
				done, err := Relocate(t.Context(), from, to, o)
				require.NoError(t, err)
				require.Equal(t, planned, done, "as it was planned")
				requireAnswers(t, to, want)
				if layout == nil {
					require.Len(t, filesIn(t, dir), len(before))
				} else if layout == &single {
					require.Equal(t, []string{"y.shard"}, filesIn(t, dir))
				}
				if move {
					require.Empty(t, filesIn(t, old))
				} else {
					requireAnswers(t, from, want)
					if layout == nil { // again, it copies nothing
						again, err := Relocate(t.Context(), from, to, o)
						require.NoError(t, err)
						for _, f := range again {
							require.Equal(t, RelocatedPresent, f.How)
						}
					}
				}
				c, err := Collect(t.Context(), dir, CollectOptions{OlderThan: 1})
				require.NoError(t, err, kind)
				require.Empty(t, c.Unreferenced)
			}
		}
	}
}

// Within each step of a move that may replace a shard, another writer changes the shard and moves it to the same place. Its change stays.
func TestMoveReplacesNothingNewer(t *testing.T) {
	two, old := TwoLevel, t.TempDir()
	livingShards["single"](t, old)
	for _, layout := range []*Layout{nil, &two} {
		for _, taken := range []bool{false, true} {
			for k, steps := 1, 1; k <= steps; k += sweep.Count(5, 1) {
				dir, to := t.TempDir(), filepath.Join(t.TempDir(), "y.shard")
				require.NoError(t, os.CopyFS(dir, os.DirFS(old)))
				from := filepath.Join(dir, "x.shard")
				if taken {
					_, err := Relocate(t.Context(), from, to, RelocateOptions{})
					require.NoError(t, err)
				}
				f, begun, moved := faultstore.New(), false, false
				f.Before(func(op faultstore.Op, n int) {
					unlocked := op == faultstore.Create || op == faultstore.Read || op == faultstore.Write || op == faultstore.Sync
					if n < k || begun || !unlocked {
						return
					}
					begun = true
					if _, err := Edit(t.Context(), from, EditOptions{}, DropColumns("tags")); err != nil {
						return
					}
					_, err := Relocate(t.Context(), from, to, RelocateOptions{Move: true, Overwrite: true})
					moved = err == nil
				})
				_, err := Relocate(t.Context(), from, to, RelocateOptions{Open: OpenOptions{Store: f.Local()}, To: f.Local(), Layout: layout, Move: true, Overwrite: true, Parallelism: 1})
				steps = f.Total()
				if moved {
					s, openErr := Open(t.Context(), to, OpenOptions{})
					require.NoError(t, openErr)
					schema, openErr := s.ArrowSchema(t.Context())
					require.NoError(t, openErr)
					require.False(t, schema.HasField("tags"), "step %d of %d: %v", k, steps, err)
					require.NoError(t, s.Close())
				}
			}
		}
	}
}

// A shard that is renamed in its folder keeps its files, and so do shards that share some.
func TestMoveKeepsSharedFiles(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	livingShards["two-level"](t, dir)
	writeLines(t, path("shares.shard"), 200, WriterOptions{Layout: TwoLevel}) // the first stripe
	want, _ := rowsWhere(t, path("x.shard"), termQuestions[0], OpenOptions{}, 0)
	shares, _ := rowsWhere(t, path("shares.shard"), termQuestions[0], OpenOptions{}, 0)
	_, err := Relocate(t.Context(), path("x.shard"), path("renamed.shard"), RelocateOptions{Move: true})
	require.NoError(t, err)
	require.NoFileExists(t, path("x.shard"))
	requireAnswers(t, path("renamed.shard"), want)
	_, err = Relocate(t.Context(), path("renamed.shard"), path("renamed.shard"), RelocateOptions{Move: true})
	require.ErrorContains(t, err, "is where the shard is")
	_, err = Relocate(t.Context(), path("renamed.shard"), filepath.Join(other, "x.shard"), RelocateOptions{Move: true})
	require.NoError(t, err)
	requireAnswers(t, filepath.Join(other, "x.shard"), want)
	requireAnswers(t, path("shares.shard"), shares)
	require.Len(t, filesIn(t, dir), 2, "the root that shares a stripe, and the stripe")
}

// A root that another shard refers to, as merged ones do in stores without links, is not removed.
func TestMoveKeepsWhatOthersReferTo(t *testing.T) {
	server, dir := fakes3.New(t), t.TempDir()
	store := s3.New(s3.Options{Backoff: 1})
	livingShards["single"](t, dir)
	_, err := Relocate(t.Context(), filepath.Join(dir, "x.shard"), "s3://bucket/a/x.shard", RelocateOptions{To: store})
	require.NoError(t, err)
	_, err = Merge(t.Context(), "s3://bucket/a/merged.shard", []string{"s3://bucket/a/x.shard"}, MergeOptions{Open: OpenOptions{Store: store}, Store: store})
	require.NoError(t, err)
	o := RelocateOptions{Open: OpenOptions{Store: store}, To: store, Move: true, DryRun: true}
	_, err = Relocate(t.Context(), "s3://bucket/a/x.shard", "s3://bucket/b/x.shard", o)
	require.ErrorContains(t, err, "other shards in the folder refer to")
	before := server.Keys()
	o.DryRun = false
	_, err = Relocate(t.Context(), "s3://bucket/a/x.shard", "s3://bucket/b/x.shard", o)
	require.ErrorContains(t, err, "other shards in the folder refer to")
	require.Equal(t, before, server.Keys(), "nothing is copied")
	for _, name := range []string{"a/merged", "a/x"} {
		rep, err := Verify(t.Context(), "s3://bucket/"+name+".shard", OpenOptions{Store: store}, provider.VerifyOptions{})
		require.NoError(t, err)
		require.True(t, rep.OK(), "%v", rep.Problems)
	}
}

// A move says before anything is copied that a root in the folder cannot be read.
func TestMoveBesideDamage(t *testing.T) {
	old, dir := t.TempDir(), t.TempDir()
	livingShards["two-level"](t, old)
	require.NoError(t, os.WriteFile(filepath.Join(old, "damaged.shard"), []byte("amud"), 0o666))
	_, err := Relocate(t.Context(), filepath.Join(old, "x.shard"), filepath.Join(dir, "x.shard"), RelocateOptions{Move: true})
	require.ErrorContains(t, err, "damaged.shard")
	require.Empty(t, filesIn(t, dir))
	require.FileExists(t, filepath.Join(old, "x.shard"))
}

// Files that few may read are copied as such.
func TestRelocateKeepsPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permissions")
	}
	old, dir := t.TempDir(), t.TempDir()
	livingShards["two-level"](t, old)
	for _, name := range filesIn(t, old) {
		require.NoError(t, os.Chmod(filepath.Join(old, name), 0o600))
	}
	_, err := Relocate(t.Context(), filepath.Join(old, "x.shard"), filepath.Join(dir, "x.shard"), RelocateOptions{})
	require.NoError(t, err)
	for _, name := range filesIn(t, dir) {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.EqualValues(t, 0o600, info.Mode().Perm(), name)
	}
}

// Other files are not replaced.
func TestRelocateRefuses(t *testing.T) {
	old, dir := t.TempDir(), t.TempDir()
	livingShards["two-level"](t, old)
	from, to := filepath.Join(old, "x.shard"), filepath.Join(dir, "x.shard")
	stripe, err := filepath.Glob(filepath.Join(old, "*.amudai.stripe"))
	require.NoError(t, err)
	b, err := os.ReadFile(stripe[0])
	require.NoError(t, err)

	taken := filepath.Join(dir, filepath.Base(stripe[0]))
	require.NoError(t, os.WriteFile(taken, b[:len(b)-1], 0o666))
	_, err = Relocate(t.Context(), from, to, RelocateOptions{})
	require.ErrorIs(t, err, fs.ErrExist)
	require.NoFileExists(t, to)
	require.NoError(t, os.Remove(taken))

	require.NoError(t, os.WriteFile(to, []byte("mine"), 0o666))
	_, err = Relocate(t.Context(), from, to, RelocateOptions{})
	require.ErrorIs(t, err, fs.ErrExist)
	_, err = Relocate(t.Context(), from, to, RelocateOptions{Overwrite: true})
	require.NoError(t, err)
	requireSound(t, to)

	_, err = Relocate(t.Context(), from, to, RelocateOptions{Open: OpenOptions{Directory: &ByteRange{}}})
	require.ErrorContains(t, err, "Directory")
}

// Files that only earlier versions need are copied with them; a shard of another layout leaves both out, and a move removes them.
func TestRelocateVersions(t *testing.T) {
	for _, o := range []RelocateOptions{{}, {Layout: new(Layout)}} {
		old, dir := t.TempDir(), t.TempDir()
		from, to := filepath.Join(old, "x.shard"), filepath.Join(dir, "x.shard")
		writeLines(t, from, 300, WriterOptions{Layout: TwoLevel, StripeRows: 200})
		require.NoError(t, KeepVersions(t.Context(), from, EditOptions{}, 5, 0))
		_, err := Compact(t.Context(), from, CompactOptions{StripeRows: 250, Stripes: []int{0, 1}})
		require.NoError(t, err)
		o.Move, o.DryRun = true, true
		planned, err := Relocate(t.Context(), from, to, o)
		require.NoError(t, err)
		require.Len(t, planned, len(filesIn(t, old)))
		o.DryRun = false
		done, err := Relocate(t.Context(), from, to, o)
		require.NoError(t, err)
		require.Equal(t, planned, done)
		require.Empty(t, filesIn(t, old))
		left := 0
		for _, f := range done {
			if f.How == RelocatedLeftOut {
				require.Empty(t, f.To)
				left++
			}
		}
		if o.Layout == nil {
			require.Zero(t, left)
			_, err = Open(t.Context(), to, OpenOptions{Version: 1})
		} else {
			require.Equal(t, 4, left, "two stripes, and two roots of both")
			require.Equal(t, []string{"x.shard"}, filesIn(t, dir))
			_, err = Open(t.Context(), to, OpenOptions{})
		}
		require.NoError(t, err)
	}
}

// A shard that refers to Parquet files takes those beside it along, and leaves them where they are.
func TestRelocateImported(t *testing.T) {
	old, dir := t.TempDir(), t.TempDir()
	batch := logLines(600)
	defer batch.Release()
	data := tabletest.Write(t, parquet.New(parquet.Options{RowGroupRows: 200}), array.NewTableFromRecords(batch.Schema(), []arrow.RecordBatch{batch}))
	file := filepath.Join(old, "lines.parquet")
	require.NoError(t, os.WriteFile(file, []byte(data), 0o666))
	from, to := filepath.Join(old, "x.shard"), filepath.Join(dir, "x.shard")
	require.NoError(t, Import(t.Context(), from, []string{file}, ImportOptions{}))
	two, other := TwoLevel, t.TempDir()
	all, err := Relocate(t.Context(), from, filepath.Join(other, "x.shard"), RelocateOptions{Layout: &two})
	require.NoError(t, err)
	require.Equal(t, []RelocatedHow{RelocatedRewritten, RelocatedHere}, []RelocatedHow{all[0].How, all[1].How})
	require.Equal(t, []string{"lines.parquet", "x.shard"}, filesIn(t, other))
	requireSound(t, filepath.Join(other, "x.shard"))
	_, err = Relocate(t.Context(), from, other, RelocateOptions{Columns: []string{"line"}})
	require.ErrorIs(t, err, ErrUnsupported)
	require.ErrorContains(t, err, "Parquet")
	all, err = Relocate(t.Context(), from, to, RelocateOptions{Move: true})
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, []string{"lines.parquet"}, filesIn(t, old), "it is not the shard's")
	require.Equal(t, []string{"lines.parquet", "x.shard"}, filesIn(t, dir))
	requireSound(t, to)

	// Files elsewhere stay there.
	var anywhere Policy
	anywhere.Allow = func(string) error { return nil }
	far := filepath.Join(t.TempDir(), "y.shard")
	require.NoError(t, Import(t.Context(), filepath.Join(dir, "y.shard"), []string{file}, ImportOptions{Policy: anywhere}))
	all, err = Relocate(t.Context(), filepath.Join(dir, "y.shard"), far, RelocateOptions{})
	require.NoError(t, err)
	require.Equal(t, RelocatedStays, all[1].How)
	rep, err := Verify(t.Context(), far, OpenOptions{Policy: anywhere}, provider.VerifyOptions{})
	require.NoError(t, err)
	require.True(t, rep.OK(), "%v", rep.Problems)
}

// Several shards in a file stay together.
func TestRelocatePacked(t *testing.T) {
	old := t.TempDir()
	var shards []*Shard
	for _, name := range []string{"single", "two-level"} {
		dir := t.TempDir()
		livingShards[name](t, dir)
		s, err := Open(t.Context(), filepath.Join(dir, "x.shard"), OpenOptions{})
		require.NoError(t, err)
		defer s.Close()
		shards = append(shards, s)
	}
	require.NoError(t, Pack(t.Context(), filepath.Join(old, "x.shard"), PackOptions{}, shards...))
	two := TwoLevel
	for _, layout := range []*Layout{nil, &two} {
		dir := t.TempDir()
		to := filepath.Join(dir, "x.shard")
		_, err := Relocate(t.Context(), filepath.Join(old, "x.shard"), to, RelocateOptions{Layout: layout})
		require.NoError(t, err)
		c, err := Collect(t.Context(), dir, CollectOptions{OlderThan: 1})
		require.NoError(t, err)
		require.Empty(t, c.Unreferenced, "the first shard needs them, too")
		ranges, err := Directories(t.Context(), to, "", OpenOptions{})
		require.NoError(t, err)
		require.Len(t, ranges, 2)
		for i := range ranges {
			rep, err := Verify(t.Context(), to, OpenOptions{Directory: &ranges[i]}, provider.VerifyOptions{})
			require.NoError(t, err)
			require.True(t, rep.OK(), "%v", rep.Problems)
		}
	}
}

// Shards of the reference keep their files, whose names are no checksums.
func TestRelocateGoldens(t *testing.T) {
	for _, name := range []string{"layouts/twolevel-3-plain/twolevel-3-plain.amudai.shard", "stripes/mixed-4-twolevel/mixed-4-twolevel.amudai.shard"} {
		from := filepath.Join(testdata.Goldens(t), filepath.FromSlash(name))
		if _, err := os.Stat(from); err != nil {
			t.Skip("not among the selection of goldens")
		}
		single, two := SingleFile, TwoLevel
		for _, layout := range []*Layout{nil, &single, &two} {
			to := filepath.Join(t.TempDir(), "x.shard")
			_, err := Relocate(t.Context(), from, to, RelocateOptions{Layout: layout})
			require.NoError(t, err)
			rep, err := Verify(t.Context(), to, OpenOptions{}, provider.VerifyOptions{})
			require.NoError(t, err)
			require.True(t, rep.OK(), "%v", rep.Problems)
		}
	}
}

// Any request of a move in a store may fail, or its answer be lost: it is sent again, and what is there is compared.
func TestMoveWithLostAnswers(t *testing.T) {
	dir := t.TempDir()
	livingShards["two-level"](t, dir)
	objects := map[string][]byte{}
	for _, name := range filesIn(t, dir) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		objects["a/"+name] = b
	}
	for _, lost := range []bool{false, true} {
		for k := 1; ; k++ {
			server := fakes3.New(t)
			for key, b := range objects {
				server.Put(key, b)
			}
			if lost {
				server.Lost = func(n int, _ *http.Request) bool { return n == k }
			} else {
				server.Fault = func(n int, w http.ResponseWriter, _ *http.Request) bool {
					if n == k {
						fakes3.Fail(w, 503, "SlowDown")
					}
					return n == k
				}
			}
			store := s3.New(s3.Options{Backoff: 1})
			all, err := Relocate(t.Context(), "s3://bucket/a/x.shard", "s3://bucket/b/x.shard", RelocateOptions{Open: OpenOptions{Store: store}, To: store, Move: true, Parallelism: 1})
			require.NoError(t, err, "request %d", k)
			for _, f := range all {
				require.Equal(t, RelocatedByStore, f.How)
			}
			require.Len(t, server.Keys(), len(objects))
			for key, b := range objects {
				require.Equal(t, b, server.Object("b"+key[1:]))
			}
			require.Zero(t, server.Uploads())
			if len(server.Requests()) < k {
				server.Put("b/0123456789abcdef.amudai.stripe", []byte("unused"))
				c, err := Collect(t.Context(), "s3://bucket/b", CollectOptions{Store: store, Remove: true})
				require.NoError(t, err)
				require.Equal(t, 1, c.Removed)
				require.Len(t, server.Keys(), len(objects))
				break
			}
		}
	}
}

// A store copies by itself: no byte of data passes through the client.
func TestRelocateInStore(t *testing.T) {
	server := fakes3.New(t)
	store := s3.New(s3.Options{Backoff: 1})
	for name, write := range livingShards {
		dir := t.TempDir()
		if write(t, dir); name == "single" {
			writeLines(t, filepath.Join(dir, "x.shard"), 30_000, WriterOptions{Overwrite: true})
		}
		up, down := "s3://bucket/a/"+name[:3]+"/x.shard", "s3://bucket/b/"+name[:3]+"/x.shard"
		_, err := Relocate(t.Context(), filepath.Join(dir, "x.shard"), up, RelocateOptions{To: store, Overwrite: true})
		require.NoError(t, err)
		_ = server.Sent() // by reading back what was copied to the store
		all, err := Relocate(t.Context(), up, down, RelocateOptions{Open: OpenOptions{Store: store}, To: store, Overwrite: true})
		require.NoError(t, err)
		var size int64
		for _, f := range all {
			require.Contains(t, []RelocatedHow{RelocatedByStore, RelocatedPresent}, f.How)
			size += f.Size
		}
		sent := server.Sent()
		t.Logf("%s: %d bytes of %d are read", name, sent, size)
		if name == "single" {
			require.Less(t, sent, size/4, "metadata only")
		}
		moved, err := Relocate(t.Context(), down, "s3://bucket/c/"+name[:3]+"/x.shard", RelocateOptions{Open: OpenOptions{Store: store}, To: store, Move: true, Verify: true, Overwrite: true})
		require.NoError(t, err)
		require.Len(t, moved, len(all))
		s, err := Open(t.Context(), "s3://bucket/c/"+name[:3]+"/x.shard", OpenOptions{Store: store})
		require.NoError(t, err)
		require.NotZero(t, s.NumRows())
		require.NoError(t, s.Close())
		require.Empty(t, slices.DeleteFunc(server.Keys(), func(key string) bool { return !strings.HasPrefix(key, "b/") }))
	}
}

// changeLives writes and changes shards in a folder, so that files without a reference are left.
func changeLives(t testing.TB, dir string) {
	path := func(name string) string { return filepath.Join(dir, name) }
	livingShards["single, changed"](t, dir)
	_, err := DropIndex(context.Background(), path("x.shard"), EditOptions{}, func(Index) bool { return true })
	require.NoError(t, err)
	require.NoError(t, os.Rename(path("x.shard"), path("changed.shard")))
	livingShards["two-level, index of the reference"](t, dir)
	for _, name := range []string{"x.shard", "merged.shard"} {
		_, err = Merge(context.Background(), path("merged.shard"), []string{path(name), path("changed.shard")}, MergeOptions{Overwrite: true})
		require.NoError(t, err)
	}
	_, err = Delete(context.Background(), path("merged.shard"), EditOptions{}, Rows{Ranges: []RowRange{{From: 20, To: 30}}})
	require.NoError(t, err)
	writeLines(t, path("replaced.shard"), 100, WriterOptions{Layout: TwoLevel})
	writeLines(t, path("replaced.shard"), 150, WriterOptions{Layout: TwoLevel, Overwrite: true})
	writeLines(t, path("removed.shard"), 120, WriterOptions{Layout: TwoLevel, Indexes: lineIndexes[:1]})
	require.NoError(t, os.Remove(path("removed.shard")))
	require.NoError(t, os.WriteFile(path("notes.txt"), []byte("no shard"), 0o666))
	require.NoError(t, os.WriteFile(path("0123456789abcde.amudai.stripe"), []byte("not named by a writer"), 0o666))
}

// soundIn reports whether all shards in a folder are sound.
func soundIn(t testing.TB, dir string) bool {
	all, err := filepath.Glob(filepath.Join(dir, "*.shard"))
	require.NoError(t, err)
	for _, location := range all {
		rep, err := Verify(context.Background(), location, OpenOptions{}, provider.VerifyOptions{})
		if err != nil || !rep.OK() || rep.Unchecked > 0 {
			return false
		}
	}
	return true
}

// A file is kept if and only if some shard is not sound without it.
func TestCollect(t *testing.T) {
	dir := t.TempDir()
	changeLives(t, dir)
	require.True(t, soundIn(t, dir))
	needed := map[string]bool{}
	for _, name := range filesIn(t, dir) {
		if strings.Count(name, ".amudai.") == 1 && len(name) > 30 || strings.HasSuffix(name, ".data") || strings.HasSuffix(name, ".index") {
			away := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.Rename(filepath.Join(dir, name), away))
			needed[name] = !soundIn(t, dir)
			require.NoError(t, os.Rename(away, filepath.Join(dir, name)))
		}
	}
	names := func(infos []storage.Info) map[string]bool {
		all := map[string]bool{}
		for _, info := range infos {
			all[filepath.Base(info.Location)] = true
		}
		return all
	}
	c, err := Collect(t.Context(), dir, CollectOptions{})
	require.NoError(t, err)
	require.Empty(t, c.Unreferenced, "all are young")
	require.Len(t, c.Roots, 4)
	young := names(c.Young)
	before := filesIn(t, dir)

	c, err = Collect(t.Context(), dir, CollectOptions{OlderThan: 1})
	require.NoError(t, err)
	require.Equal(t, before, filesIn(t, dir), "nothing is removed by default")
	require.Equal(t, young, names(c.Unreferenced))
	for name, need := range needed {
		require.Equal(t, need, names(c.Needed)[name], name)
		require.Equal(t, !need, young[name], name)
	}
	require.GreaterOrEqual(t, len(young), 4)

	done := int64(0)
	c, err = Collect(t.Context(), dir, CollectOptions{OlderThan: 1, Remove: true, Progress: func(n, _ int64) { done = n }})
	require.NoError(t, err)
	require.Equal(t, len(young), c.Removed)
	require.EqualValues(t, c.Removed, done)
	require.True(t, soundIn(t, dir))
	require.Len(t, filesIn(t, dir), len(before)-c.Removed)
	c, err = Collect(t.Context(), dir, CollectOptions{OlderThan: 1, Remove: true})
	require.NoError(t, err)
	require.Empty(t, c.Unreferenced)
}

// Folders of other roots keep what these refer to, and roots in folders below.
func TestCollectOtherFolders(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "sub")
	require.NoError(t, os.Mkdir(sub, 0o777))
	livingShards["two-level"](t, sub)
	c, err := Collect(t.Context(), dir, CollectOptions{OlderThan: 1})
	require.NoError(t, err)
	require.Len(t, c.Roots, 1)
	require.Empty(t, c.Unreferenced)
	require.NotEmpty(t, c.Needed)

	// A root elsewhere that refers to the files by absolute URLs.
	data, roots := t.TempDir(), t.TempDir()
	livingShards["two-level"](t, data)
	referToData(t, filepath.Join(data, "x.shard"), filepath.Join(roots, "x.shard"))
	require.NoError(t, os.Remove(filepath.Join(data, "x.shard")))
	c, err = Collect(t.Context(), data, CollectOptions{OlderThan: 1})
	require.NoError(t, err)
	require.NotEmpty(t, c.Unreferenced)
	c, err = Collect(t.Context(), data, CollectOptions{OlderThan: 1, Roots: []string{roots}})
	require.NoError(t, err)
	require.Len(t, c.Needed, 2, "the stripes")
	require.Len(t, c.Unreferenced, 1, "the index")
}

// referToData writes a root in another folder, which refers to the stripes of a shard where they are.
func referToData(t *testing.T, from, to string) {
	f, err := shardfile.Open(t.Context(), from, shardfile.OpenOptions{})
	require.NoError(t, err)
	defer f.Close()
	s, err := f.Schema(t.Context())
	require.NoError(t, err)
	w, err := shardwriter.Create(t.Context(), to, s.Bytes(), shardwriter.Options{})
	require.NoError(t, err)
	for i := range f.NumStripes() {
		require.NoError(t, w.AddStripe(t.Context(), shardwriter.Composed{Of: f.Stripe(i)}, &shardwriter.Links{URL: shardfile.URLOf}, shardwriter.StripeOptions{}))
	}
	require.NoError(t, w.Close(t.Context()))
}

// What cannot be read is never taken for what refers to nothing.
func TestCollectRefuses(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir string, root []byte){
		"flipped bits": func(t *testing.T, dir string, root []byte) {
			for at := 0; at < len(root); at += max(1, len(root)/40) {
				b := slices.Clone(root)
				b[at] ^= 0x10
				require.NoError(t, os.WriteFile(filepath.Join(dir, "x.shard"), b, 0o666))
				c, err := Collect(t.Context(), dir, CollectOptions{OlderThan: 1})
				if err == nil { // the byte is none of the metadata
					require.Len(t, c.Unreferenced, 1)
				}
			}
			root[len(root)-20] ^= 1
			require.NoError(t, os.WriteFile(filepath.Join(dir, "x.shard"), root, 0o666))
		},
		"truncated": func(t *testing.T, dir string, root []byte) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "x.shard"), root[:len(root)/2], 0o666))
		},
		"truncated, with another name": func(t *testing.T, dir string, root []byte) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), root[:len(root)/2], 0o666))
		},
		"empty": func(t *testing.T, dir string, root []byte) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "x.shard"), nil, 0o666))
		},
		"version": func(t *testing.T, dir string, root []byte) {
			root[7], root[len(root)-1] = 9, 9
			require.NoError(t, os.WriteFile(filepath.Join(dir, "x.shard"), root, 0o666))
		},
		"writer": func(t *testing.T, dir string, root []byte) {
			w, err := storage.Local{}.Create(t.Context(), filepath.Join(dir, "new.shard"), storage.CreateOptions{})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, w.Abort(context.Background())) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			livingShards["two-level"](t, dir)
			unused := filepath.Join(dir, "0123456789abcdef.amudai.stripe")
			require.NoError(t, os.WriteFile(unused, []byte("unused"), 0o666))
			root, err := os.ReadFile(filepath.Join(dir, "x.shard"))
			require.NoError(t, err)
			spoil(t, dir, root)
			before := filesIn(t, dir)
			o := CollectOptions{OlderThan: time.Nanosecond, Remove: true}
			if name == "writer" {
				o.OlderThan = time.Hour
				past := time.Now().Add(-2 * time.Hour)
				require.NoError(t, os.Chtimes(unused, past, past))
			}
			_, err = Collect(t.Context(), dir, o)
			require.Error(t, err)
			require.Equal(t, before, filesIn(t, dir))
		})
	}
}

// Whatever step fails, no shard loses a file.
func TestCollectFaults(t *testing.T) {
	before := t.TempDir()
	changeLives(t, before)
	for _, op := range faultstore.Ops {
		for k := 1; ; k += sweep.Step(11) {
			for _, fault := range []error{faultstore.Err, fs.ErrNotExist, errors.ErrUnsupported} {
				dir := filepath.Join(t.TempDir(), "x")
				require.NoError(t, os.CopyFS(dir, os.DirFS(before)))
				faults := faultstore.New()
				faults.With(fault)
				faults.FailAt(op, k)
				_, err := Collect(t.Context(), dir, CollectOptions{Store: faults.Local(), OlderThan: 1, Remove: true})
				if faults.Count(op) < k {
					require.NoError(t, err)
				}
				require.True(t, soundIn(t, dir), "%s %d: %v: %v", op, k, fault, err)
			}
			probe := faultstore.New()
			dir := filepath.Join(t.TempDir(), "x")
			require.NoError(t, os.CopyFS(dir, os.DirFS(before)))
			_, err := Collect(t.Context(), dir, CollectOptions{Store: probe.Local(), OlderThan: 1, Remove: true})
			require.NoError(t, err)
			if probe.Count(op) < k {
				break
			}
		}
	}
}

// A root that is written while others are read is not overlooked.
func TestCollectSeesNewRoots(t *testing.T) {
	dir := t.TempDir()
	changeLives(t, dir)
	before := filesIn(t, dir)
	faults := faultstore.New()
	once := false
	faults.Before(func(op faultstore.Op, _ int) {
		if op == faultstore.Read && !once {
			once = true
			require.NoError(t, os.WriteFile(filepath.Join(dir, "new"), []byte("perhaps a root"), 0o666))
		}
	})
	_, err := Collect(t.Context(), dir, CollectOptions{Store: faults.Local(), OlderThan: 1, Remove: true})
	require.ErrorIs(t, err, storage.ErrChanged)
	require.Len(t, filesIn(t, dir), len(before)+1)
}
