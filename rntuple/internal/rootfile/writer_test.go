package rootfile

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/rntuple/internal/compress"
	"github.com/amudai/amudai-go/storage"
)

func TestStreamerInfoOfROOT(t *testing.T) {
	macOS := spelling{17, "ULong64_t", 0x4ba21bf5}
	for name, got := range map[string][]byte{
		"tlist_keylen64_ULong64.bin": newStreamerInfo(64, macOS, 9),
		"tlist_keylen72_ulong.bin":   newStreamerInfo(72, spellingLinux, 10),
	} {
		want, err := os.ReadFile(filepath.Join(corpus(t), "streamerinfo", name))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// A sample is what a test puts into a file.
type sample struct {
	blobs   [][]byte
	objects map[string][]byte
}

var someObjects = sample{
	blobs:   [][]byte{[]byte("header"), {}, bytes.Repeat([]byte("page"), 300), []byte("footer")},
	objects: map[string][]byte{"n": []byte("anchor"), "dir/n": []byte("anchor in dir"), "dir/sub/m": {}, "x": bytes.Repeat([]byte{1}, 500)},
}

// add puts a sample into a file and gives the offsets of the blobs.
func add(w *Writer, s sample) (offsets []uint64, err error) {
	for _, b := range s.blobs {
		at, err := w.Blob(context.Background(), int64(len(b)), b)
		if err != nil {
			return nil, err
		}
		offsets = append(offsets, at)
	}
	for _, path := range []string{"n", "dir/n", "dir/sub/m", "x"} {
		if b, ok := s.objects[path]; ok {
			if err := w.Object(path, ClassNTuple, "", b); err != nil {
				return nil, err
			}
		}
	}
	return offsets, nil
}

// stream is an output that cannot go back.
type stream struct{ bytes.Buffer }

func (s *stream) Write(ctx context.Context, p []byte) error {
	s.Buffer.Write(p)
	return ctx.Err()
}

// file is an output that can.
type file struct{ stream }

func (f *file) WriteAt(ctx context.Context, p []byte, off int64) error {
	copy(f.Bytes()[off:off+int64(len(p))], p)
	return ctx.Err()
}

// onBoth gives the bytes of a file, which do not depend on the output.
func onBoth(t testing.TB, makeFile func(out Output)) []byte {
	t.Helper()
	var once stream
	var again file
	makeFile(&once)
	makeFile(&again)
	require.True(t, bytes.Equal(once.Bytes(), again.Bytes()))
	return once.Bytes()
}

// write makes a file of someObjects.
func write(t testing.TB, o Options, edit func(w *Writer)) (b []byte, offsets []uint64) {
	t.Helper()
	b = onBoth(t, func(out Output) {
		w, err := NewWriter(t.Context(), out, o)
		require.NoError(t, err)
		if edit != nil {
			edit(w)
		}
		offsets, err = add(w, someObjects)
		require.NoError(t, err)
		require.NoError(t, w.Finish(t.Context()))
		require.NoError(t, w.Close())
	})
	return b, offsets
}

// checkHas tells whether a file has a sample.
func checkHas(t testing.TB, f *File, s sample, offsets []uint64, maxKey uint64) {
	t.Helper()
	for i, want := range s.blobs {
		got, err := f.Blob(t.Context(), offsets[i], uint64(len(want)), maxKey)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got))
	}
	for path, want := range s.objects {
		o, err := f.FindNTuple(path)
		require.NoError(t, err)
		got, err := f.Payload(t.Context(), o.Key)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got))
	}
}

// checkLayout tells whether records and free space follow each other without a gap, and
// the free list says so, too.
func checkLayout(t testing.TB, b []byte) {
	t.Helper()
	f := openBytes(t, b)
	require.EqualValues(t, len(b), f.Header().End)
	at := f.Header().Begin
	var gaps []Segment
	for r, err := range f.Records(t.Context()) {
		require.NoError(t, err)
		if r.Free > 0 {
			gaps = append(gaps, Segment{at, at + r.Free})
		}
		at += r.Free + r.Key.Size
	}
	require.EqualValues(t, len(b), at)
	free, err := f.Free(t.Context())
	require.NoError(t, err)
	require.Equal(t, f.Header().FreeCount, len(free))
	require.Equal(t, gaps, append([]Segment(nil), free[:len(free)-1]...))
	last := free[len(free)-1]
	require.Equal(t, at, last.Begin)
	require.Greater(t, last.End, last.Begin)
	_, info, err := f.StreamerInfo(t.Context())
	require.NoError(t, err)
	require.True(t, describesNTuples(info))
	for _, d := range f.Directories() {
		for _, k := range d.Keys {
			require.Equal(t, d.Seek, k.Directory)
		}
	}
}

func TestWrite(t *testing.T) {
	options := map[string]Options{
		"zero":   {},
		"named":  {Name: "out.root", Title: "a title", Version: 63801, Compression: 505, UUID: [16]byte{1, 2, 3}, Time: time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)},
		"split":  {Name: "s.root", MaxKeySize: 200, Compression: 101},
		"budget": {Name: "b.root", Budget: storage.NewBudget(1), TempDir: t.TempDir()},
	}
	for name, o := range options {
		t.Run(name, func(t *testing.T) {
			b, offsets := write(t, o, nil)
			f := openBytes(t, b)
			checkHas(t, f, someObjects, offsets, o.MaxKeySize)
			checkLayout(t, b)
			require.Equal(t, uint32(o.Compression), f.Header().Compression)
			require.Equal(t, o.UUID, f.Header().UUID)
			require.Len(t, f.Directories(), 3)
			require.False(t, f.Header().Wide)
			again, _ := write(t, o, nil)
			require.True(t, bytes.Equal(b, again))
			o.Budget = nil
			again, _ = write(t, o, nil)
			require.True(t, bytes.Equal(b, again), "other bytes with another budget")
			if name == "named" {
				require.Equal(t, "2026-03-04T05:06:07Z", f.Objects()[0].Key.Time.Time().Format(time.RFC3339))
				require.EqualValues(t, 63801, f.Header().Version)
			}
		})
	}
}

// The forms for files of more than 2 GB are those of smaller ones, but wider.
func TestWriteWide(t *testing.T) {
	narrow, _ := write(t, Options{Name: "w.root"}, nil)
	wide, offsets := write(t, Options{Name: "w.root"}, func(w *Writer) { w.bigFile = 300 })
	f := openBytes(t, wide)
	checkHas(t, f, someObjects, offsets, 0)
	checkLayout(t, wide)
	require.True(t, f.Header().Wide)
	require.EqualValues(t, 8, f.Header().Units)
	require.True(t, f.Directories()[0].Wide)
	for i, o := range openBytes(t, narrow).Objects() {
		require.Equal(t, o.Key, f.Objects()[i].Key)
	}
	require.Equal(t, len(narrow)+8, len(wide)) // the free list

	// So they are in a file that grows beyond.
	var out stream
	w, err := Append(t.Context(), &out, openBytes(t, narrow), Options{})
	require.NoError(t, err)
	w.bigFile = 300
	require.NoError(t, w.Object("dir/more", ClassNTuple, "", []byte("more")))
	require.NoError(t, w.Finish(t.Context()))
	f = openBytes(t, out.Bytes())
	require.True(t, f.Header().Wide)
	require.True(t, f.Directories()[1].Wide)
	checkHas(t, f, someObjects, offsets, 0)
	checkHas(t, f, sample{objects: map[string][]byte{"dir/more": []byte("more")}}, nil, 0)
	checkLayout(t, out.Bytes())
}

// A hole is a reader of bytes with zeros in between.
type hole struct {
	storage.Reader
	head, tail []byte
	size       int64
}

func (h hole) ReadAt(_ context.Context, p []byte, off int64) error {
	if err := storage.CheckRange(off, int64(len(p)), h.size); err != nil {
		return err
	}
	clear(p)
	if off < int64(len(h.head)) {
		copy(p, h.head[off:])
	}
	if at := off - (h.size - int64(len(h.tail))); at >= 0 {
		copy(p, h.tail[at:])
	} else if -at < int64(len(p)) {
		copy(p[-at:], h.tail)
	}
	return nil
}

func (h hole) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	b := make([]byte, n)
	return b, h.size, h.ReadAt(ctx, b, h.size-int64(n))
}

func (h hole) Size(context.Context) (int64, error) { return h.size, nil }

// Files of all sizes around the limits of 2 and 4 GB can be read.
func TestHugeFile(t *testing.T) {
	for _, size := range []int64{1_999_990_000, 2_000_000_000, 1<<31 - 1000, 1 << 31, 1<<32 - 1000, 1 << 32, 1 << 45} {
		var skipped int64
		b, offsets := write(t, Options{Name: "huge.root"}, func(w *Writer) { skipped = size - w.base; w.size = skipped })
		n := size - skipped // bytes in front of the blobs
		f, err := Open(t.Context(), hole{storage.FromBytes("huge.root", nil), b[:n], b[n:], int64(len(b)) + skipped})
		require.NoError(t, err)
		checkHas(t, f, someObjects, offsets, 0)
		h := f.Header()
		require.Equal(t, h.End > bigFile, h.Wide)
		require.Equal(t, f.size, h.End)
		free, err := f.Free(t.Context())
		require.NoError(t, err)
		require.Equal(t, h.End, free[0].Begin)
		require.Greater(t, free[0].End, free[0].Begin)
		_, info, err := f.StreamerInfo(t.Context())
		require.NoError(t, err)
		require.True(t, describesNTuples(info))
	}
}

// A file that ROOT wrote comes out as it is, up to the streamer info: that is packed by
// another library.
func TestWriteAsROOT(t *testing.T) {
	for _, name := range []string{"test_splitint_rntuple_v1-0-1-0.root", "extra/jsroot/rntuple_test32.root", "test_float_types_rntuple_v1-0-0-0.root",
		"test_multiple_cluster_groups_rntuple_v1-0-0-0.root", "test_multiple_representations_rntuple_v1-0-0-0.root"} {
		want, err := os.ReadFile(filepath.Join(corpus(t), name))
		require.NoError(t, err)
		f := openBytes(t, want)
		h, root := f.Header(), f.Directories()[0]
		first, err := f.recordAt(t.Context(), begin)
		require.NoError(t, err)
		var out stream
		w, err := NewWriter(t.Context(), &out, Options{Name: first.Key.Name, Version: h.Version, Compression: compress.Settings(h.Compression), Time: root.Created.Time()})
		require.NoError(t, err)
		for r, err := range f.Records(t.Context()) {
			require.NoError(t, err)
			k := r.Key
			payload := want[k.Payload() : k.Offset+k.Size]
			switch k.Class {
			case classBlob:
				at, err := w.Blob(t.Context(), k.ObjectSize, payload)
				require.NoError(t, err)
				require.EqualValues(t, k.Payload(), at)
			case ClassNTuple:
				require.NoError(t, w.Object(k.Name, k.Class, k.Title, payload))
			}
		}
		require.NoError(t, w.Finish(t.Context()))
		got := out.Bytes()
		uuid := root.Offset + narrowSize // ROOT makes one for the directory alone
		require.Len(t, bytes.Trim(got[uuid:uuid+18], "\x00"), 0)
		copy(got[uuid:], want[uuid:uuid+18])
		require.True(t, bytes.Equal(want[begin:h.SeekInfo], got[begin:h.SeekInfo]), name)
		mine := openBytes(t, got).Header()
		mine.End, mine.SeekFree, mine.InfoSize = h.End, h.SeekFree, h.InfoSize
		require.Equal(t, h, mine)
		_, info, err := f.StreamerInfo(t.Context())
		require.NoError(t, err)
		if len(info) == 1254 { // on macOS types have other names
			_, got, err := openBytes(t, got).StreamerInfo(t.Context())
			require.NoError(t, err)
			require.Equal(t, info, got)
		}
		require.True(t, bytes.Equal(want[h.SeekFree+8:h.SeekFree+18], got[openBytes(t, got).Header().SeekFree+8:][:10]))
	}
}

// Split blobs lie where ROOT puts them.
func TestSplitAsROOT(t *testing.T) {
	w, err := NewWriter(t.Context(), &stream{}, Options{Name: "chunked.root", MaxKeySize: 128})
	require.NoError(t, err)
	at, err := w.Blob(context.Background(), 0, make([]byte, 247))
	require.NoError(t, err)
	require.EqualValues(t, 439, at)
	at, err = w.Blob(context.Background(), 0, make([]byte, 12))
	require.NoError(t, err)
	require.EqualValues(t, 609, at)
	_, err = w.Blob(context.Background(), 0, make([]byte, 5000))
	require.ErrorContains(t, err, "cannot be split")
}

func TestSplitBlobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		maxKey := rapid.Uint64Range(24, 300).Draw(t, "max key")
		size := rapid.Uint64Range(0, 4000).Draw(t, "size")
		content := make([]byte, size)
		for i := range content {
			content[i] = byte(i * i >> 3)
		}
		var out stream
		w, err := NewWriter(t.Context(), &out, Options{MaxKeySize: maxKey})
		require.NoError(t, err)
		at, err := w.Blob(context.Background(), 0, content)
		if chunks(size, maxKey) == 0 {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		require.NoError(t, w.Finish(context.Background()))
		f, err := Open(context.Background(), storage.FromBytes("x", out.Bytes()))
		require.NoError(t, err)
		got, err := f.Blob(context.Background(), at, size, maxKey)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content, got))
		for r, err := range f.Records(context.Background()) {
			require.NoError(t, err)
			if r.Key.Class == classBlob {
				require.LessOrEqual(t, uint64(r.Key.Size-r.Key.HeaderSize), maxKey)
			}
		}
	})
}

func TestNamesThatCannotBeWritten(t *testing.T) {
	long := strings.Repeat("n", 255)
	_, err := NewWriter(t.Context(), &stream{}, Options{Name: long})
	require.Error(t, err)
	_, err = NewWriter(t.Context(), &stream{}, Options{Compression: 301})
	require.Error(t, err)
	w, err := NewWriter(t.Context(), &stream{}, Options{})
	require.NoError(t, err)
	for _, path := range []string{"", "a/", "/a", "a//b", long, long + "/a"} {
		require.Error(t, w.Object(path, ClassNTuple, "", nil), path)
	}
	require.Error(t, w.Object("a", long, "", nil))
	require.NoError(t, w.Object("d/a", ClassNTuple, "", nil))
	require.ErrorIs(t, w.Object("d/a", ClassNTuple, "", nil), fs.ErrExist)
	require.ErrorIs(t, w.Object("d", ClassNTuple, "", nil), fs.ErrExist)
	require.ErrorIs(t, w.Object("d/a/b", ClassNTuple, "", nil), fs.ErrExist)
	require.NoError(t, w.Close())
	require.Error(t, w.Finish(t.Context()))
	require.Error(t, w.Object("e", ClassNTuple, "", nil))
	_, err = w.Blob(context.Background(), 0, nil)
	require.Error(t, err)
}

// appended adds someObjects under a new directory to a file.
func appended(t testing.TB, f *File, o Options) (b []byte, s sample, offsets []uint64) {
	t.Helper()
	s = sample{blobs: someObjects.blobs, objects: map[string][]byte{}}
	b = onBoth(t, func(out Output) {
		w, err := Append(t.Context(), out, f, o)
		require.NoError(t, err)
		offsets = addBeside(t, w, f, s)
		require.NoError(t, w.Finish(t.Context()))
		require.NoError(t, w.Close())
	})
	return b, s, offsets
}

func addBeside(t testing.TB, w *Writer, f *File, s sample) (offsets []uint64) {
	for _, b := range s.blobs {
		at, err := w.Blob(context.Background(), int64(len(b)), b)
		require.NoError(t, err)
		offsets = append(offsets, at)
	}
	for _, name := range slices.Sorted(maps.Keys(someObjects.objects)) {
		path, b := fmt.Sprintf("added%d/%s", f.Size(), name), someObjects.objects[name]
		require.NoError(t, w.Object(path, ClassNTuple, "", b))
		s.objects[path] = b
	}
	for _, d := range f.Directories() {
		path := d.join(fmt.Sprint("beside", f.Size()))
		require.NoError(t, w.Object(path, ClassNTuple, "", []byte(path)))
		s.objects[path] = []byte(path)
	}
	for _, o := range f.Objects() {
		require.ErrorIs(t, w.Object(o.Path(), ClassNTuple, "", nil), fs.ErrExist)
	}
	return offsets
}

// Files of all writers take more objects, and keep all that they have where it is.
func TestAppend(t *testing.T) {
	for _, path := range corpusFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			was := openPath(t, path)
			old, err := was.read(t.Context(), 0, was.size)
			require.NoError(t, err)
			b, s, offsets := appended(t, was, Options{})
			f := openBytes(t, b)
			checkHas(t, f, s, offsets, 0)
			checkKept(t, was, f)
			// Nothing else of the old file changes: gap markers, directories and the header do.
			free, err := f.Free(t.Context())
			require.NoError(t, err)
			changed := 0
			for i := range old {
				if i < len(b) && old[i] != b[i] && i >= begin && !inside(free, int64(i)) && !inDirectory(was, int64(i)) && int64(i) < was.lastKept() {
					changed++
				}
			}
			require.Zero(t, changed)
			b2, s2, offsets2 := appended(t, f, Options{})
			f2 := openBytes(t, b2)
			checkHas(t, f2, s, offsets, 0)
			checkHas(t, f2, s2, offsets2, 0)
			checkKept(t, f, f2)
			_, info, err := f2.StreamerInfo(t.Context())
			require.NoError(t, err)
			require.Equal(t, 1, bytes.Count(info, append(appendText(nil, ClassNTuple), 0)))
		})
	}
}

// lastKept is the end of the last record that is certainly not freed.
func (f *File) lastKept() (end int64) {
	for _, o := range f.Objects() {
		end = max(end, o.Key.Offset+o.Key.Size)
	}
	return end
}

func inside(segments []Segment, at int64) bool {
	for _, s := range segments {
		if at >= s.Begin && at < s.End {
			return true
		}
	}
	return false
}

func inDirectory(f *File, at int64) bool {
	for _, d := range f.Directories() {
		if at >= d.Offset && at < d.Offset+wideSize {
			return true
		}
	}
	return false
}

// checkKept tells whether the objects of one file are in another one, with equal bytes.
func checkKept(t *testing.T, was, f *File) {
	t.Helper()
	has := map[Key]bool{}
	for _, o := range f.Objects() {
		has[o.Key] = true
	}
	for _, o := range was.Objects() {
		require.True(t, has[o.Key])
		want, err := was.read(t.Context(), o.Key.Offset, o.Key.Size)
		require.NoError(t, err)
		got, err := f.read(t.Context(), o.Key.Offset, o.Key.Size)
		require.NoError(t, err)
		if !o.Key.isDirectory() {
			require.True(t, bytes.Equal(want, got))
		}
	}
}

// A file of our own stays without gaps that the free list does not know.
func TestAppendToOwn(t *testing.T) {
	b, offsets := write(t, Options{Name: "own.root", Compression: 101}, nil)
	for range 3 {
		next, s, more := appended(t, openBytes(t, b), Options{Compression: 505})
		checkLayout(t, next)
		f := openBytes(t, next)
		checkHas(t, f, s, more, 0)
		checkHas(t, f, someObjects, offsets, 0)
		again, _, _ := appended(t, openBytes(t, b), Options{Compression: 505})
		require.Equal(t, len(next), len(again))
		b = next[:len(next):len(next)]
		if len(f.Directories()[0].Keys) > 0 {
			break // "added beside" is there now
		}
	}
}

// The streamer info of a file that has an empty one becomes that of a new file.
func TestExtendEmptyStreamerInfo(t *testing.T) {
	f := openPath(t, filepath.Join(corpus(t), "extra", "uproot-written", "uproot_empty.root"))
	k, info, err := f.StreamerInfo(t.Context())
	require.NoError(t, err)
	require.False(t, describesNTuples(info))
	got, err := extendStreamerInfo(info, k.HeaderSize)
	require.NoError(t, err)
	require.Equal(t, byte(2), got[12]) // uproot sets a bit of the list
	got[12] = 0
	require.True(t, bytes.Equal(newStreamerInfo(k.HeaderSize, spellingLinux, infoVersion), got))
	for cut := range info[:17] {
		_, err := extendStreamerInfo(info[:cut], k.HeaderSize)
		require.Error(t, err)
	}
}

// Whatever step fails, Finish says so, and no temporary file stays.
func TestWriteUnderEveryFault(t *testing.T) {
	for name, store := range map[string]func(*faultstore.Faults) storage.Store{
		"stream": func(f *faultstore.Faults) storage.Store { return f.Wrap(storage.NewMemory()) },
		"file":   func(f *faultstore.Faults) storage.Store { return f.Local() },
	} {
		t.Run(name, func(t *testing.T) { testWriteUnderEveryFault(t, store) })
	}
}

func testWriteUnderEveryFault(t *testing.T, store func(*faultstore.Faults) storage.Store) {
	b, _ := write(t, Options{Name: "a.root"}, nil)
	for _, op := range []faultstore.Op{faultstore.Create, faultstore.Read, faultstore.Write} {
		for k := 1; ; k++ {
			dir := t.TempDir()
			faults := faultstore.New()
			memory := storage.NewMemory()
			require.NoError(t, memory.Put("mem://a", append(bytes.Clone(b), make([]byte, 70<<10)...)))
			r, err := faults.Wrap(memory).Open(t.Context(), "mem://a")
			require.NoError(t, err)
			f, err := Open(t.Context(), r)
			require.NoError(t, err)
			faults.Reset()
			faults.FailAt(op, k)
			err = appendTo(t.Context(), store(faults), faults.Budget(1), f, dir)
			if faults.Count(op) < k {
				require.NoError(t, err)
				require.Greater(t, k, 1)
				break
			}
			require.ErrorIs(t, err, faultstore.Err, "%s %d", op, k)
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, left)
		}
	}
}

func appendTo(ctx context.Context, store storage.Store, budget *storage.Budget, f *File, dir string) error {
	out, err := store.Create(ctx, filepath.Join(dir, "b"), storage.CreateOptions{})
	if err != nil {
		return err
	}
	defer out.Abort(ctx)
	w, err := Append(ctx, out, f, Options{Budget: budget, TempDir: dir})
	if err != nil {
		return err
	}
	defer w.Close()
	for range 3 {
		if _, err := w.Blob(ctx, 1, bytes.Repeat([]byte("x"), 5000)); err != nil {
			return err
		}
	}
	if err := w.Object("dir/more", ClassNTuple, "", nil); err != nil {
		return err
	}
	return w.Finish(ctx)
}

func TestFinishCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w, err := NewWriter(t.Context(), &stream{}, Options{})
	require.NoError(t, err)
	require.ErrorIs(t, w.Finish(ctx), context.Canceled)
}

// Appending to damaged files gives an error, or a file that can be read.
func TestAppendToDamaged(t *testing.T) {
	b, _ := write(t, Options{Name: "a.root"}, nil)
	for bit := 0; bit < 8*len(b); bit += 3 {
		b[bit/8] ^= 1 << (bit % 8)
		f, err := Open(t.Context(), storage.FromBytes("x", b))
		if err == nil {
			var out stream
			var w *Writer
			if w, err = Append(t.Context(), &out, f, Options{}); err == nil {
				if err = w.Object("new", ClassNTuple, "", nil); err == nil {
					err = w.Finish(t.Context())
				}
			}
			if err == nil {
				_, err := Open(t.Context(), storage.FromBytes("x", out.Bytes()))
				require.NoError(t, err)
			}
		}
		b[bit/8] ^= 1 << (bit % 8)
	}
}
