package rootfile

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/leaktest"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/storage"
)

// look does everything that a reader can do with a file, and gives the first error.
func look(ctx context.Context, r storage.Reader) error {
	f, err := Open(ctx, r)
	if err != nil {
		return err
	}
	keep := func(e error) {
		if err == nil {
			err = e
		}
	}
	for _, o := range f.Objects() {
		_, perr := f.Payload(ctx, o.Key)
		keep(perr)
		_, berr := f.Blob(ctx, uint64(o.Key.Payload()), uint64(o.Key.Size), 40)
		if !fault.Is(berr) { // places without a meaning; but reads may fail
			keep(berr)
		}
	}
	_, _, serr := f.StreamerInfo(ctx)
	keep(serr)
	_, ferr := f.Free(ctx)
	keep(ferr)
	for _, rerr := range f.Records(ctx) {
		keep(rerr)
	}
	return err
}

// small are files that show much in few bytes: nested directories, a 64-bit header, a packed anchor, gaps.
func small(t testing.TB) map[string][]byte {
	files := map[string][]byte{}
	for _, name := range []string{"extra/uproot-written/uproot_subdir_two.root", "synthetic/big_header.root", "synthetic/chunked.root",
		"rntviewer-testfile-multiple-rntuples-v1-0-0-0.root", "legacy/test_ntuple_bit__94f131bd.root"} {
		b, err := os.ReadFile(filepath.Join(corpus(t), filepath.FromSlash(name)))
		require.NoError(t, err)
		files[name] = b
	}
	return files
}

// checkLook reads bytes that may be broken: in bounded memory, with an error of a kind or none.
func checkLook(t testing.TB, b []byte) error {
	before := leaktest.Allocated()
	err := look(context.Background(), storage.FromBytes("x", b))
	require.Less(t, leaktest.Allocated()-before, uint64(4<<20+40*len(b)))
	if err != nil {
		require.True(t, fault.Is(err), "%v", err)
	}
	return err
}

func TestEveryBit(t *testing.T) {
	for _, b := range small(t) {
		for bit := 0; bit < 8*len(b); bit += sweep.Step(13) {
			b[bit/8] ^= 1 << (bit % 8)
			checkLook(t, b)
			b[bit/8] ^= 1 << (bit % 8)
		}
	}
}

func TestEveryCut(t *testing.T) {
	for name, b := range small(t) {
		for n := 0; n < len(b); n += sweep.Step(7) {
			require.Error(t, checkLook(t, b[:n]), "%s cut to %d", name, n)
		}
		require.Equal(t, openBytes(t, b).Directories(), openBytes(t, append(bytes.Clone(b), 1, 2, 3)).Directories(), "bytes behind the end")
	}
}

// A read that fails is an error, whichever it is.
func TestEveryFault(t *testing.T) {
	for name, b := range small(t) {
		b = append(b, make([]byte, 70<<10)...) // so that there is more to read than the end
		memory := storage.NewMemory()
		require.NoError(t, memory.Put("mem://a", b))
		for k := 1; ; k++ {
			faults := faultstore.New()
			faults.FailAt(faultstore.Read, k)
			r, err := faults.Wrap(memory).Open(t.Context(), "mem://a")
			require.NoError(t, err)
			err = look(t.Context(), r)
			if faults.Count(faultstore.Read) < k {
				require.Greater(t, k, 2)
				break
			}
			require.ErrorIs(t, err, faultstore.Err, "%s read %d", name, k)
		}
	}
}

// A small file takes one read, one whose directories lie far from the end a few.
func TestFewReads(t *testing.T) {
	for name, b := range small(t) {
		for more, most := range map[int]int{0: 1, 70 << 10: 4} {
			memory := storage.NewMemory()
			require.NoError(t, memory.Put("mem://a", append(bytes.Clone(b), make([]byte, more)...)))
			faults := faultstore.New()
			r, err := faults.Wrap(memory).Open(t.Context(), "mem://a")
			require.NoError(t, err)
			_, err = Open(t.Context(), r)
			require.NoError(t, err)
			require.LessOrEqual(t, faults.Count(faultstore.Read), most, name)
		}
	}
}

// Directories that hold themselves, or lie too deep in each other, are refused.
func TestDirectoriesWithoutEnd(t *testing.T) {
	loop := func(to Directory) []byte {
		record := Directory{SeekKeys: to.SeekKeys, KeysSize: to.KeysSize}
		b, _ := write(t, Options{}, func(w *Writer) {
			require.NoError(t, w.Object("loop", classDirectory, "", append(record.append(nil), make([]byte, directorySize-narrowSize)...)))
		})
		return b
	}
	root := openBytes(t, loop(Directory{})).Directories()[0]
	_, err := Open(t.Context(), storage.FromBytes("x", loop(root)))
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.ErrorContains(t, err, "listed twice")

	deep := func(name string, depth int) error {
		b, _ := write(t, Options{}, func(w *Writer) {
			require.NoError(t, w.Object(strings.Repeat(name+"/", depth)+"n", ClassNTuple, "", nil))
		})
		_, err := Open(t.Context(), storage.FromBytes("x", b))
		return err
	}
	require.NoError(t, deep("a", maxDepth))
	require.ErrorIs(t, deep("a", maxDepth+1), fault.ErrLimit)
	require.ErrorIs(t, deep(strings.Repeat("a", 200), 30), fault.ErrLimit)
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, b := range small(t) {
		_, err := Open(ctx, storage.FromBytes("x", b))
		require.ErrorIs(t, err, context.Canceled)
	}
}

func FuzzLook(f *testing.F) {
	for _, b := range small(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { checkLook(t, b) })
}

func BenchmarkOpen(b *testing.B) {
	for name, content := range small(b) {
		b.Run(filepath.Base(name), func(b *testing.B) {
			r := storage.FromBytes("x", content)
			for b.Loop() {
				if _, err := Open(context.Background(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Splitting agrees with what a split blob can hold, for all small sizes.
func TestChunks(t *testing.T) {
	for maxKey := uint64(0); maxKey < 200; maxKey++ {
		for size := uint64(0); size < 3000; size++ {
			n := chunks(size, maxKey)
			if n <= 1 {
				require.Equal(t, n == 1, maxKey == 0 || size <= maxKey)
				continue
			}
			require.GreaterOrEqual(t, maxKey, 8*n)
			require.LessOrEqual(t, size+8*(n-1), n*maxKey)
			require.Greater(t, size+8*(n-1), (n-1)*maxKey)
		}
	}
}
