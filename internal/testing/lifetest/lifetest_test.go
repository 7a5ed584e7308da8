package lifetest_test

import (
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/emulators"
	"github.com/amudai/amudai-go/internal/testing/fakes3"
	"github.com/amudai/amudai-go/internal/testing/faultproxy"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/s3"
)

var layouts = []shard.Layout{shard.SingleFile, shard.TwoLevel}

// layoutOf are the layouts to test the i-th operation with: one of them, all in a sweep.
func layoutOf(i int) []shard.Layout {
	if sweep.All() {
		return layouts
	}
	return layouts[i%2 : i%2+1]
}

// Each operation does what the model says, on local files and in memory.
func TestOperations(t *testing.T) {
	t.Parallel()
	for _, layout := range layouts {
		before := New(t, layout)
		for i, o := range append([]Operation{{Name: "none"}}, Operations...) {
			p := before.CopyLocal(t, storage.Local{})
			if (i+int(layout))%2 == 0 {
				p = before.CopyTo(t, storage.NewMemory(), "mem://x")
			}
			if o.Do != nil {
				require.NoError(t, o.Do(t.Context(), p), o.Name)
			}
			p.Check(t, Initial(), o, true)
		}
	}
}

// places are a place of each layout.
func places(t *testing.T) map[shard.Layout]Place {
	all := map[shard.Layout]Place{}
	for _, layout := range layouts {
		all[layout] = New(t, layout)
	}
	return all
}

// Operations after others do what the model says, too.
func TestSequences(t *testing.T) {
	t.Parallel()
	before := New(t, shard.TwoLevel)
	for _, a := range Together() {
		for _, b := range Together() {
			name := a.Name + ", " + b.Name
			if a.Moves || a.Name == b.Name || a.Name != "add index of the reference" && !faultstore.Chosen(name, 25, 2) {
				continue
			}
			p := before.CopyTo(t, storage.NewMemory(), "mem://x")
			require.NoError(t, a.Do(t.Context(), p), name)
			require.NoError(t, b.Do(t.Context(), p), name)
			p.RequireSerial(t, []Operation{a, b}, make([]error, 2), name)
		}
	}
}

// hidden are the temporary files in a folder, and in the folders in it.
func hidden(t *testing.T, dir string) (names []string) {
	for _, pattern := range []string{".*", "*/.*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		names = append(names, found...)
	}
	return names
}

// eachFault calls try for about some of all faults in all steps.
func eachFault(name string, count func(faultstore.Op) int, some int, try func(f *faultstore.Faults, op faultstore.Op, k int, name string)) {
	errs, cases := append([]error{faultstore.Err}, faultstore.Errors...), 0
	for _, op := range faultstore.Ops {
		cases += count(op) * (len(errs) + 1)
	}
	for _, op := range faultstore.Ops {
		for k := 1; k <= count(op); k++ {
			for _, err := range errs {
				for _, all := range []bool{false, true} {
					if all && err != syscall.ENOSPC {
						continue // as on a full disk
					}
					name := fmt.Sprintf("%s: %v of %v %d of %d, all behind: %v", name, err, op, k, count(op), all)
					if !faultstore.Chosen(name, cases, some) {
						continue
					}
					f := faultstore.New()
					f.With(err)
					if f.FailAt(op, k); all {
						f.FailFrom(op, k)
					}
					try(f, op, k, name)
				}
			}
		}
	}
}

// Whatever step of an operation fails, with whatever error, or all behind it, there is the old shard or the new one, no temporary file is left, and the operation
// succeeds afterwards.
func TestFaults(t *testing.T) {
	t.Parallel() // it waits for disks
	places := places(t)
	for i, o := range Operations {
		for _, layout := range layoutOf(i) {
			before := places[layout]
			none := faultstore.New()
			require.NoError(t, o.Do(t.Context(), before.CopyLocal(t, none.Local())))
			eachFault(fmt.Sprint(o.Name, ", layout ", layout), none.Count, 4, func(f *faultstore.Faults, op faultstore.Op, k int, name string) {
				p := before.CopyLocal(t, f.Local())
				err := o.Do(t.Context(), p)
				p.Store = storage.Local{}
				p.Check(t, Initial(), o, err == nil)
				if op != faultstore.Remove {
					require.Empty(t, hidden(t, p.Dir), name)
				}
				again(t, before, p, o)
			})
		}
	}
}

// again repeats an operation, unless it has changed the shard, and collects what is left.
func again(t *testing.T, before, p Place, o Operation) {
	old, err := os.ReadFile(before.Location())
	require.NoError(t, err)
	if now, err := os.ReadFile(p.Location()); err == nil && string(now) == string(old) {
		require.NoError(t, o.Do(t.Context(), p), o.Name)
	}
	p.Check(t, Initial(), o, true)
	_, err = p.Collect(t.Context())
	require.NoError(t, err)
	c, err := p.Collect(t.Context())
	require.NoError(t, err)
	require.Empty(t, c.Unreferenced)
	require.Empty(t, hidden(t, p.Dir))
	p.Check(t, Initial(), o, true)
}

// abandon makes temporary files so old that no writer is at work on them.
func abandon(t *testing.T, p Place) {
	for _, name := range hidden(t, p.Dir) {
		past := time.Now().Add(-48 * time.Hour)
		require.NoError(t, os.Chtimes(name, past, past))
	}
}

// changing are the kinds of steps that change files.
func changing(op faultstore.Op) bool {
	return op == faultstore.Create || op == faultstore.Write || op == faultstore.Sync || op == faultstore.Rename || op == faultstore.Remove
}

// TestKills kills a process before each step that changes files. The shard is the old one or the new one, the operation succeeds afterwards, and what is left is
// collected.
func TestKills(t *testing.T) {
	if dir := os.Getenv("AMUDAI_TEST_KILL"); dir != "" {
		at, err := strconv.Atoi(os.Getenv("AMUDAI_TEST_KILL_AT"))
		require.NoError(t, err)
		f, n := faultstore.New(), atomic.Int64{}
		f.Before(func(op faultstore.Op, _ int) {
			if changing(op) && n.Add(1) == int64(at) {
				p, err := os.FindProcess(os.Getpid())
				require.NoError(t, err)
				require.NoError(t, p.Kill())
				select {}
			}
		})
		o := Named(os.Getenv("AMUDAI_TEST_KILL_IN"))
		require.NoError(t, o.Do(t.Context(), Place{Store: f.Local(), Dir: dir, TempDir: filepath.Join(dir, "..")}))
		return
	}
	t.Parallel() // it waits for disks
	places := places(t)
	for i, o := range Operations {
		for _, layout := range layoutOf(i + 1) {
			before := places[layout]
			f, steps := faultstore.New(), 0
			require.NoError(t, o.Do(t.Context(), before.CopyLocal(t, f.Local())))
			for _, op := range faultstore.Ops {
				if changing(op) {
					steps += f.Count(op)
				}
			}
			for k := 1; k <= steps; k++ {
				if !faultstore.Chosen(fmt.Sprint("kill ", o.Name, layout, k), steps, 1) {
					continue
				}
				p := before.CopyLocal(t, storage.Local{})
				cmd := exec.Command(os.Args[0], "-test.run=^TestKills$")
				cmd.Env = append(os.Environ(), "AMUDAI_TEST_KILL="+p.Dir, "AMUDAI_TEST_KILL_AT="+strconv.Itoa(k), "AMUDAI_TEST_KILL_IN="+o.Name)
				out, err := cmd.CombinedOutput()
				require.Error(t, err, "%s: step %d of %d", o.Name, k, steps)
				require.NotContains(t, string(out), "FAIL", "%s: step %d of %d", o.Name, k, steps)
				p.Check(t, Initial(), o, false)
				abandon(t, p)
				again(t, before, p, o)
			}
		}
	}
}

// After a loss of power in any step, whatever the disk has of what was not synced, there is the old shard or the new one; the new one once the operation is done.
func TestPower(t *testing.T) {
	t.Parallel()
	places := places(t)
	for i, o := range Operations {
		for _, layout := range layoutOf(i) {
			before := places[layout]
			p, step := before.CopyLocal(t, nil), 0
			var power *powerFS
			cut := func(done bool, seed uint64) {
				left := Place{Store: storage.Local{}, Dir: filepath.Join(t.TempDir(), "x"), TempDir: p.TempDir}
				power.cut(t, left.Dir, seed)
				left.Check(t, Initial(), o, done)
				abandon(t, left)
				again(t, before, left, o)
			}
			power = newPower(t, p.Dir, func() {
				step++
				for seed := range uint64(16) {
					if faultstore.Chosen(fmt.Sprint("power ", o.Name, layout, step, seed), 16*30, 8) {
						cut(false, seed)
					}
				}
			})
			p.Store = power.local()
			require.NoError(t, o.Do(t.Context(), p), o.Name)
			for seed := range uint64(sweep.Count(2, 32)) {
				cut(!o.Moves, seed) // whose old name may come back
			}
		}
	}
}

// Readers that have a shard open go on with it, and those that have read all of it do so after what is not needed any more has been collected.
func TestReaders(t *testing.T) {
	places := places(t) // and not while other tests read files, of which some stay open
	want := Initial().Shows()
	for i, o := range Operations {
		for _, layout := range layoutOf(i) {
			before := places[layout]
			p := before.CopyLocal(t, storage.Local{})
			open := func() *shard.Shard {
				s, err := shard.Open(t.Context(), p.Location(), shard.OpenOptions{Store: p.Store})
				require.NoError(t, err)
				return s
			}
			half, whole := open(), open()
			next, stop := iter.Pull2(half.Scan(t.Context(), shard.ScanOptions{BatchRows: 8, Parallelism: 1}))
			rows := int64(0)
			take := func() bool {
				b, err, ok := next()
				if ok {
					require.NoError(t, err, o.Name)
					rows += b.NumRows()
				}
				return ok
			}
			require.True(t, take())
			shows, err := ShowOpen(t.Context(), whole)
			require.NoError(t, err)
			require.Equal(t, want, shows)

			require.NoError(t, o.Do(t.Context(), p))
			if !o.Moves { // which removes what is not open
				for take() {
				}
				require.EqualValues(t, len(want.Rows), rows, o.Name)
				shows, err := ShowOpen(t.Context(), half)
				require.NoError(t, err)
				require.Equal(t, want, shows)
			}
			_, err = p.Collect(t.Context())
			require.NoError(t, err)
			shows, err = ShowOpen(t.Context(), whole)
			require.NoError(t, err, o.Name)
			require.Equal(t, want, shows)
			stop()
			require.NoError(t, half.Close())
			require.NoError(t, whole.Close())
		}
	}
}

// Another operation is done completely within each step of one. Each is done or refused, and the shard is what some order of those that were done makes of it.
func TestTwoWriters(t *testing.T) { // not while other tests close files of its store, which is a step of it
	all := Together()
	places := places(t)
	for i, a := range all {
		some := 2
		if a.Moves { // it has more steps, and most of these are before it writes
			some = 8
		}
		for _, layout := range layoutOf(i) {
			before := places[layout]
			old := filepath.Join(before.Dir, "0123456789abcdef.amudai.stripe")
			require.NoError(t, os.WriteFile(old, nil, 0o666))
			f := faultstore.New()
			require.NoError(t, a.Do(t.Context(), before.CopyLocal(t, f.Local())))
			steps := f.Total()
			for _, b := range all {
				for k := 1; k <= steps; k++ {
					name := fmt.Sprintf("%s in step %d of %d of %s, layout %v", b.Name, k, steps, a.Name, layout)
					if a.Name == b.Name || !faultstore.Chosen(name, steps*len(all), some) {
						continue
					}
					f := faultstore.New()
					p := before.CopyLocal(t, f.Local())
					past := time.Now().Add(-48 * time.Hour)
					require.NoError(t, os.Chtimes(filepath.Join(p.Dir, filepath.Base(old)), past, past))
					p.Age = 24 * time.Hour
					other := p
					other.Store = storage.Local{}
					begun, errs := atomic.Bool{}, make([]error, 2)
					f.Before(func(op faultstore.Op, n int) {
						unlocked := op == faultstore.Create || op == faultstore.Read || op == faultstore.Write || op == faultstore.Sync
						if n >= k && unlocked && begun.CompareAndSwap(false, true) {
							errs[1] = b.Do(t.Context(), other)
						}
					})
					if errs[0] = a.Do(t.Context(), p); begun.Load() {
						other.RequireSerial(t, []Operation{a, b}, errs, name)
					}
				}
			}
		}
	}
}

// Of ten operations at once, each is done or refused, and the shard is what some order of those that were done makes of it.
func TestTenWriters(t *testing.T) {
	t.Parallel() // it waits for disks
	for seed := range uint64(sweep.Count(2, 300)) {
		for i, layout := range layouts {
			p := New(t, layout)
			if i == int(seed%2) {
				p = p.CopyTo(t, storage.NewMemory(), "mem://x")
			}
			p.AtOnce(t, seed)
		}
	}
}

// Lost answers and other faults of a cloud are not seen, and writers at once are done or refused.
func TestCloud(t *testing.T) {
	server := fakes3.New(t)
	proxy := faultproxy.New(t, server.URL)
	fakes3.Environment(t, proxy.URL)
	testStore(t, emulators.Emulator{Root: "s3://bucket/", Proxy: proxy, Store: s3.New(s3.Options{Backoff: 1})})
}
