// Package rootfile reads and writes the container of ROOT files: records under keys,
// directories of keys, and free space. It knows where an object lies, not what it means.
//
// A file is a run of records. Numbers of the container are big-endian.
//
//	offset  bytes  record          payload
//	     0     63  file header     (75 bytes for files of more than 2 GB), zeros up to 100
//	   100    140  key TFile       name and title of the file, directory record of the root
//	   240    360  key RBlob       bytes of an RNTuple, several such keys
//	   …
//	 24628    125  key             an object: the anchor of an RNTuple, a histogram, a directory
//	 24753    114  key             key list: a count, the headers of the keys of a directory
//	 24867    386  key TList       streamer info: the classes of the objects
//	 25253     65  key             free list: which bytes are no record
//
// The way to an object is header, directory record, key list, key. Records are never
// looked for by walking from one to the next: space that was freed and used again need
// not look like a record.
//
//	header   directory record   key list        key              directory record   …
//	fBEGIN ─→ fSeekKeys ───────→ key headers ──→ an object
//	                                       └───→ a directory ──→ fSeekKeys ───────→
package rootfile

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/compress"
	"github.com/amudai/amudai-go/storage"
)

// Names of classes.
const (
	ClassNTuple       = "ROOT::RNTuple"
	ClassExperimental = "ROOT::Experimental::RNTuple" // anchors before format 1.0
	classBlob         = "RBlob"
	classDirectory    = "TDirectory"
)

const (
	// headBytes are read from the start of a file: there lie the header and the root
	// directory, and all directories if a writer makes them first.
	headBytes = 16 << 10
	// tailBytes are read from the end of a file. There lie, if it was written in one go,
	// footer, anchors and key lists, and all of a small file.
	tailBytes = 64 << 10
)

// File is an open ROOT file. It does not change, and may be used by many goroutines.
type File struct {
	r           storage.Reader
	size        int64
	head, tail  []byte
	header      Header
	directories []Directory
	edges       *edges
}

// Open reads header, directories and key lists: small files in one request, others in
// two, and two more for each level of directories that do not lie near the start or the end.
// The reader stays the caller's.
func Open(ctx context.Context, r storage.Reader) (*File, error) {
	f := &File{r: r}
	f.edges = &edges{r, f}
	err := f.open(ctx)
	if err != nil {
		return nil, fault.Of(err, r.Name())
	}
	return f, nil
}

func (f *File) open(ctx context.Context) (err error) {
	if f.tail, f.size, err = f.r.ReadSuffix(ctx, tailBytes); err != nil {
		return err
	}
	if f.head, err = f.read(ctx, 0, min(headBytes, f.size)); err != nil {
		return err
	}
	if f.header, err = parseHeader(f.head); err != nil {
		return fault.In(err, "file header", 0)
	}
	if f.header.End > f.size {
		err = fault.Corruptf("the file ends at %d, but is %d bytes long: it was cut, or not closed", f.header.End, f.size)
		return fault.In(err, "file header", 0)
	}
	return f.readDirectories(ctx)
}

// Reader reads the file's bytes. Those at the start and the end, which Open has read, are not read again.
func (f *File) Reader() storage.Reader { return f.edges }

// Source is the reader that the file was opened with.
func (f *File) Source() storage.Reader { return f.r }

// edges is a reader that has the start and the end of a file.
type edges struct {
	storage.Reader
	file *File
}

func (e *edges) ReadAt(ctx context.Context, p []byte, off int64) error {
	if n := int64(len(p)); storage.CheckRange(off, n, e.file.size) == nil {
		if b := e.file.cached(off, n); b != nil {
			copy(p, b)
			return ctx.Err()
		}
	}
	return e.Reader.ReadAt(ctx, p, off)
}

// Name is the location of the file, for messages.
func (f *File) Name() string { return f.r.Name() }

// Size is the number of bytes of the file. It may be more than [Header.End].
func (f *File) Size() int64 { return f.size }

// Header is the file header.
func (f *File) Header() Header { return f.header }

// Directories are the directories of the file, the root first, each behind the one that
// it lies in. They must not be changed.
func (f *File) Directories() []Directory { return f.directories }

// read gives the n bytes from off on, which must not be changed.
func (f *File) read(ctx context.Context, off, n int64) ([]byte, error) {
	if err := storage.CheckRange(off, n, f.size); err != nil {
		return nil, err
	}
	if b := f.cached(off, n); b != nil {
		return b, nil
	}
	return storage.ReadRange(ctx, f.r, off, n)
}

// cached gives n bytes from off on if they were read at the beginning, else nil.
func (f *File) cached(off, n int64) []byte {
	if off+n <= int64(len(f.head)) {
		return f.head[off : off+n : off+n]
	}
	if from := off - (f.size - int64(len(f.tail))); from >= 0 {
		return f.tail[from : from+n : from+n]
	}
	return nil
}

// readAll reads several ranges, which stay in their order, in few requests. The ranges lie in the file.
func (f *File) readAll(ctx context.Context, ranges []storage.ByteRange) (storage.Prefetched, error) {
	return storage.Prefetch(ctx, slices.Clone(ranges), storage.DefaultCoalesce(f.r.Capabilities().Latency))
}

// Object is a key in its directory.
type Object struct {
	Directory *Directory // must not be changed
	Key       Key
	Current   bool // no other key of that name has a higher cycle
}

// IsNTuple tells whether the object is the anchor of an RNTuple, perhaps of one written before format 1.0.
func (o Object) IsNTuple() bool {
	return o.Key.Class == ClassNTuple || o.Key.Class == ClassExperimental
}

// IsTree tells whether the object is a TTree, or one of the classes based on it.
func (o Object) IsTree() bool {
	return o.Key.Class == "TTree" || o.Key.Class == "TNtuple" || o.Key.Class == "TNtupleD"
}

// named tells whether a path, "dir/name" or "dir/name;2", is that of the object.
func (o Object) named(path string) bool {
	return o.Current && o.Path() == path || fmt.Sprintf("%s;%d", o.Path(), o.Key.Cycle) == path
}

// IsDirectory tells whether the object is a directory.
func (o Object) IsDirectory() bool { return o.Key.isDirectory() }

// Path is the names of the directories and of the key, joined by slashes.
func (o Object) Path() string { return o.Directory.join(o.Key.Name) }

// Objects are the keys of all directories, the directories among them.
func (f *File) Objects() []Object {
	var all []Object
	for i := range f.directories {
		d := &f.directories[i]
		newest := map[string]int{}
		for i, k := range d.Keys {
			if at, ok := newest[k.Name]; !ok || k.Cycle > d.Keys[at].Cycle {
				newest[k.Name] = i
			}
		}
		for i, k := range d.Keys {
			all = append(all, Object{d, k, newest[k.Name] == i})
		}
	}
	return all
}

// NTuples are the current anchors of RNTuples, of those written before format 1.0 too.
func (f *File) NTuples() []Object {
	return slices.DeleteFunc(f.Objects(), func(o Object) bool { return !o.Current || !o.IsNTuple() })
}

// Trees are the current trees.
func (f *File) Trees() []Object {
	return slices.DeleteFunc(f.Objects(), func(o Object) bool { return !o.Current || !o.IsTree() })
}

// FindTree finds a tree by its path, as FindNTuple does. An empty path means the only tree of a file without ntuples.
func (f *File) FindTree(path string) (o Object, ok bool) {
	path = strings.TrimPrefix(path, "/")
	if path == "" {
		if found := f.Trees(); len(found) == 1 && len(f.NTuples()) == 0 {
			return found[0], true
		}
		return o, false
	}
	all := f.Objects()
	i := slices.IndexFunc(all, func(o Object) bool { return o.IsTree() && o.named(path) })
	if i < 0 {
		return o, false
	}
	return all[i], true
}

// FindNTuple finds an RNTuple by its path, "dir/name", or by path and cycle, "dir/name;2".
// An empty path means the only one of the file. The error says what the file has.
func (f *File) FindNTuple(path string) (Object, error) {
	path = strings.TrimPrefix(path, "/")
	found := f.NTuples()
	if path == "" && len(found) == 1 {
		return found[0], nil
	}
	if len(found) == 0 {
		others := slices.DeleteFunc(f.Objects(), func(o Object) bool { return !o.Current || o.IsDirectory() })
		if len(others) == 0 {
			return Object{}, fault.Of(fault.Unsupportedf("no RNTuple: the file has no objects"), f.Name())
		}
		text := some(others, func(o Object) string { return fmt.Sprintf("%q (%s)", o.Path(), o.Key.Class) })
		err := fault.Of(fault.Unsupportedf("no RNTuple, but %s", text), f.Name())
		return Object{}, WithTreeHint(err, others)
	}
	names := some(found, func(o Object) string { return strconv.Quote(o.Path()) })
	if path == "" {
		return Object{}, fmt.Errorf("%s has %d RNTuples, name one: %s", f.Name(), len(found), names)
	}
	for _, o := range f.Objects() {
		if o.IsNTuple() && o.named(path) {
			return o, nil
		}
	}
	return Object{}, fmt.Errorf("%s has no RNTuple %q, but %s", f.Name(), path, names)
}

// WithTreeHint adds to an error what to do about trees, if some objects are.
func WithTreeHint(err error, objects []Object) error {
	if !slices.ContainsFunc(objects, Object.IsTree) {
		return err
	}
	return advice.WithHint(err, "amudai head and schema read a tree by its name, as FILE.root:NAME, and amudai convert makes an RNTuple of one")
}

// some lists the first of all objects.
func some(all []Object, text func(Object) string) string {
	const most = 10
	var b strings.Builder
	for i, o := range all[:min(most, len(all))] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(text(o))
	}
	if len(all) > most {
		fmt.Fprintf(&b, " and %d more", len(all)-most)
	}
	return b.String()
}

// Payload reads the object of a key, unpacked. The bytes must not be changed.
func (f *File) Payload(ctx context.Context, k Key) ([]byte, error) {
	raw, err := f.read(ctx, k.Offset, k.Size)
	if err == nil {
		err = k.same(raw)
	}
	if err == nil {
		raw, err = k.unpack(raw)
	}
	if err != nil {
		return nil, fault.Of(fault.In(err, fmt.Sprintf("object %q", k.Name), k.Offset), f.Name())
	}
	return raw, nil
}

// CheckKey tells whether the record of an object begins with the key that its directory lists.
func (f *File) CheckKey(ctx context.Context, k Key) error {
	raw, err := f.read(ctx, k.Offset, min(k.HeaderSize, k.Size))
	if err == nil {
		err = fault.In(k.same(raw), fmt.Sprintf("object %q", k.Name), k.Offset)
	}
	return fault.Of(err, f.Name())
}

// same tells whether a record begins with the key.
func (k Key) same(record []byte) error {
	own, err := parseKey(record, k.Offset)
	if err == nil && own != k {
		err = fault.Corruptf("the record of the object and the key list differ")
	}
	return err
}

// decoders keep what unpacking takes: there may be a record for each thousand values.
var decoders = sync.Pool{New: func() any { return new(compress.Decoder) }}

// unpack gives the payload in a record: packed if it is shorter than the object.
func (k Key) unpack(record []byte) ([]byte, error) {
	d := decoders.Get().(*compress.Decoder)
	defer decoders.Put(d)
	return d.DecodeGrow(record[k.HeaderSize:k.Size], uint64(k.ObjectSize))
}

// record reads the record at off, of which it is said to have n bytes, and unpacks it.
func (f *File) record(ctx context.Context, off, n int64) (Key, []byte, error) {
	raw, err := f.read(ctx, off, n)
	if err != nil {
		return Key{}, nil, err
	}
	return unpackRecord(raw, off)
}

// unpackRecord parses a record that was read from off.
func unpackRecord(raw []byte, off int64) (Key, []byte, error) {
	k, err := parseKey(raw, off)
	switch {
	case err != nil:
		return k, nil, err
	case k.Offset != off:
		return k, nil, fault.Corruptf("the record says that it lies at %d", k.Offset)
	case k.Size > int64(len(raw)):
		return k, nil, fault.Corruptf("the record has %d bytes, where %d are referred to", k.Size, len(raw))
	}
	payload, err := k.unpack(raw)
	return k, payload, err
}

// StreamerInfo reads the descriptions of classes: a serialized TList of TStreamerInfo. It is
// empty if the file has none. Positions in it count from the start of the record, whose
// key is returned, too.
func (f *File) StreamerInfo(ctx context.Context) (Key, []byte, error) {
	h := f.header
	if h.SeekInfo == 0 || h.InfoSize == 0 {
		return Key{}, nil, nil
	}
	k, payload, err := f.record(ctx, h.SeekInfo, h.InfoSize)
	if err != nil {
		return k, nil, fault.Of(fault.In(err, "streamer info", h.SeekInfo), f.Name())
	}
	return k, payload, nil
}

// Segment is a range of bytes that no record uses.
type Segment struct {
	Begin, End int64 // End is behind the last byte
}

// code describes a segment. A reader finds out by itself whether it is wide.
func (s *Segment) code(c *coder, wide bool) {
	version, last := uint16(1), s.End-1
	if wide {
		version += wideVersion
	}
	c.U16("free segment: version", &version)
	wide = version > wideVersion
	c.seek("first byte", wide, &s.Begin)
	c.seek("last byte", wide, &last)
	s.End = last + 1
}

// Free reads the free list: segments of the file, and a last one that begins where the
// file ends.
//
//	u16 version 1, u32 first byte, u32 last byte        per segment, or
//	u16 version 1001, u64 first byte, u64 last byte
func (f *File) Free(ctx context.Context) ([]Segment, error) {
	h := f.header
	if h.SeekFree == 0 || h.FreeSize == 0 {
		return nil, nil
	}
	_, payload, err := f.record(ctx, h.SeekFree, h.FreeSize)
	c := newReader(payload, h.SeekFree)
	c.Err = err
	var all []Segment
	for c.Err == nil && len(all) < h.FreeCount {
		var s Segment
		s.code(c, false)
		if c.Err == nil && (s.Begin < h.Begin || s.End <= s.Begin) {
			c.Err = fault.Corruptf("free segment from %d to %d", s.Begin, s.End)
		}
		all = append(all, s)
	}
	if c.Err != nil {
		return nil, fault.Of(fault.In(c.Err, "free list", h.SeekFree), f.Name())
	}
	return all, nil
}
