package rootfile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/amudai/amudai-go/rntuple/internal/compress"
	"github.com/amudai/amudai-go/storage"
)

// Options are those of [NewWriter] and [Append]. The zero value is the default, except that a
// new file should have a name.
type Options struct {
	// Name and Title are stored in a new file. ROOT stores the name of the file; less than
	// 255 bytes each.
	Name, Title string
	// Version is the version of ROOT that a new file claims to be written by; 0 means 63600,
	// which is 6.36.00.
	Version int32
	// Compression is the setting in the header of a new file, and that of streamer infos. It
	// says nothing about blobs.
	Compression compress.Settings
	// Time is stored as the time at which things were made, as its clock shows it. The zero
	// value means the first second of 1995, so that equal input gives equal files.
	Time time.Time
	// UUID is stored in a new file, as one of version 1. If it is zero, so is the version,
	// as in the files of ROOT's own writer of RNTuples.
	UUID [16]byte
	// MaxKeySize is the most bytes of a blob in one piece, 0 for no limit. No reader but
	// ROOT and this package knows split blobs. A blob must then be one page or envelope.
	MaxKeySize uint64
	// Budget is where memory for blobs comes from, and TempDir a folder for those that do
	// not fit, as in [storage.NewSpool]. Without a budget all stay in memory.
	Budget  *storage.Budget
	TempDir string
}

// errEnded is the error of a writer after Finish or Close.
var errEnded = errors.New("writer has ended")

const (
	defaultVersion = 63600
	begin          = 100 // of the first record
	keyVersion     = 1004
)

// Writer makes a ROOT file. Its first bytes say where the last ones lie. An output that can go back gets blobs at once, and the
// head of the file once more at the end. For any other one, blobs are spooled, and the file is written at the end, in one go.
//
//	file       header, key TFile, root directory │ blobs │ directories, objects, key lists, streamer info, free list
//	           └ head                            └ spool ┘
//
// A writer belongs to one goroutine. It ends with Close, also after Finish.
type Writer struct {
	out      Output
	back     WriterAt // out, if it can go back
	o        Options
	time     Datime
	name     string
	title    string
	bigFile  int64 // offsets above it are of 64 bits
	header   Header
	old      *File // that is appended to, or nil
	base     int64 // where the first blob begins: the end of what is taken from old
	freed    []Segment
	size     int64 // of all blobs, with their keys
	spool    *storage.Spool
	root     *folder
	folders  []*folder // the root first, each behind the one that it lies in
	objects  []object
	info     Key // of the streamer info, if it is to be written
	infoData []byte
	tail     bytes.Buffer // what follows the blobs
	patches  []patch      // of what lies in front of the blobs
}

// Output takes the bytes of a file, in their order.
type Output interface {
	Write(ctx context.Context, p []byte) error
}

// WriterAt is an Output that can replace bytes which it has.
type WriterAt interface {
	Output
	WriteAt(ctx context.Context, p []byte, off int64) error
}

// A folder is a directory while the file is written.
type folder struct {
	Directory
	name  string
	isNew bool
	up    *folder  // nil for the root
	names []string // of objects and directories to be added
}

// changed tells whether the folder's key list is to be written.
func (f *folder) changed() bool { return f.isNew || f.up == nil || len(f.names) > 0 }

// An object is to be written.
type object struct {
	in      *folder
	key     Key
	payload []byte
}

// NewWriter makes a new file in out, which is complete after Finish.
func NewWriter(ctx context.Context, out Output, o Options) (*Writer, error) {
	w, err := newWriter(out, o)
	if err != nil {
		return nil, err
	}
	w.name, w.title = o.Name, o.Title
	if len(o.Name) >= 255 || len(o.Title) >= 255 {
		return nil, fmt.Errorf("name or title of a ROOT file has 255 bytes or more")
	}
	o.Version = cmp.Or(o.Version, defaultVersion)
	w.header = Header{Version: o.Version, Begin: begin, Units: 4, Compression: uint32(o.Compression), UUID: o.UUID, UUIDVersion: w.uuidVersion()}
	key := w.fileKey()
	w.header.NameSize = key.HeaderSize + key.ObjectSize - directorySize
	w.base = begin + key.Size
	w.root = &folder{Directory: Directory{Offset: begin + w.header.NameSize, Created: w.time, Seek: begin, NameSize: w.header.NameSize}, isNew: true}
	w.folders = []*folder{w.root}
	w.setInfo(keyVersion, nil)
	return w, w.writeBase(ctx)
}

func newWriter(out Output, o Options) (*Writer, error) {
	if err := o.Compression.Check(); err != nil {
		return nil, err
	}
	back, _ := out.(WriterAt)
	w := &Writer{out: out, back: back, o: o, bigFile: bigFile, spool: storage.NewSpool(o.Budget, o.TempDir)}
	w.time = NewDatime(time.Date(1995, 1, 1, 0, 0, 0, 0, time.UTC))
	if !o.Time.IsZero() {
		w.time = NewDatime(o.Time)
	}
	return w, nil
}

func (w *Writer) uuidVersion() uint16 {
	if w.o.UUID == [16]byte{} {
		return 0
	}
	return 1
}

// key is the key of a record that will be made, without its size and its places.
func (w *Writer) key(class, name, title string) Key {
	return Key{Version: keyVersion, Time: w.time, Cycle: 1, Class: class, Name: name, Title: title}
}

// fileKey is the key of the first record.
func (w *Writer) fileKey() Key {
	k := w.key("TFile", w.name, w.title)
	k.Offset = begin
	return k.sized(int64(1 + len(w.name) + 1 + len(w.title) + directorySize))
}

// sized is a key of a record with n bytes of payload that is not packed.
func (k Key) sized(n int64) Key {
	k.HeaderSize = k.headerSize()
	k.Size, k.ObjectSize = k.HeaderSize+n, n
	return k
}

// Blob adds a blob, and gives its offset in the file. objectSize is what the key says about the size of the unpacked pages, for
// programs that list keys. The bytes may be changed afterwards.
func (w *Writer) Blob(ctx context.Context, objectSize int64, b []byte) (offset uint64, err error) {
	if w.out == nil {
		return 0, errEnded
	}
	n := chunks(uint64(len(b)), w.o.MaxKeySize)
	switch {
	case n == 0:
		return 0, fmt.Errorf("a blob of %d bytes cannot be split by a Max Key Size of %d", len(b), w.o.MaxKeySize)
	case n > 1:
		return w.splitBlob(ctx, b, n)
	}
	return w.blobKey(ctx, objectSize, b)
}

// blobKey adds a record with a blob, or with a chunk of one.
func (w *Writer) blobKey(ctx context.Context, objectSize int64, b []byte) (offset uint64, err error) {
	k := w.key(classBlob, "", "").sized(int64(len(b)))
	k.Offset, k.Directory = w.base+w.size, w.header.Begin
	if k.Size > math.MaxInt32 || objectSize > math.MaxUint32 {
		return 0, fmt.Errorf("a blob of %d bytes, %d unpacked, is too large for a key", len(b), objectSize)
	}
	k.ObjectSize = objectSize
	w.size += k.Size
	if err := w.append(ctx, k.append(nil)); err != nil {
		return 0, err
	}
	return uint64(k.Payload()), w.append(ctx, b)
}

// append adds bytes to those of the blobs.
func (w *Writer) append(ctx context.Context, p []byte) error {
	if w.back != nil {
		return w.back.Write(ctx, p)
	}
	_, err := w.spool.Write(p)
	return err
}

// splitBlob adds the n chunks of a blob, the first one last.
func (w *Writer) splitBlob(ctx context.Context, b []byte, n uint64) (offset uint64, err error) {
	most := int(w.o.MaxKeySize)
	first := most - 8*int(n-1)
	var offsets []byte
	for rest := b[first:]; len(rest) > 0; {
		part := rest[:min(most, len(rest))]
		rest = rest[len(part):]
		at, err := w.blobKey(ctx, int64(len(part)), part)
		if err != nil {
			return 0, err
		}
		offsets = binary.LittleEndian.AppendUint64(offsets, at)
	}
	return w.blobKey(ctx, int64(most), slices.Concat(b[:first], offsets))
}

// Object adds an object under a path, "dir/sub/name", with the directories that are missing.
// The payload is stored as it is; it must not be changed before Finish. The error wraps
// fs.ErrExist if there is an object of that name.
func (w *Writer) Object(path, class, title string, payload []byte) error {
	if w.out == nil {
		return errEnded
	}
	names := strings.Split(path, "/")
	in := w.root
	for _, name := range names[:len(names)-1] {
		sub, err := w.folder(in, name)
		if err != nil {
			return err
		}
		in = sub
	}
	name := names[len(names)-1]
	if err := in.checkName(name); err != nil {
		return err
	}
	if len(class) >= 255 || len(title) >= 255 {
		return fmt.Errorf("class or title of %q has 255 bytes or more", path)
	}
	in.names = append(in.names, name)
	k := w.key(class, name, title).sized(int64(len(payload)))
	if k.Size > math.MaxInt32 {
		return fmt.Errorf("object %q of %d bytes is too large", path, len(payload))
	}
	w.objects = append(w.objects, object{in, k, payload})
	return nil
}

// Drop removes an object of the file that is appended to, so that another one may have its name. Its record becomes free space.
func (w *Writer) Drop(ctx context.Context, o Object) error {
	for _, f := range w.folders {
		if f.isNew || f.Offset != o.Directory.Offset {
			continue
		}
		f.Keys = slices.DeleteFunc(slices.Clone(f.Keys), func(k Key) bool { return k.Offset == o.Key.Offset })
	}
	return w.release(ctx, o.Key.Offset, o.Key.Size)
}

// folder finds a directory by its name, or makes it.
func (w *Writer) folder(in *folder, name string) (*folder, error) {
	for _, f := range w.folders {
		if f.up == in && f.name == name {
			return f, nil
		}
	}
	if err := in.checkName(name); err != nil {
		return nil, err
	}
	in.names = append(in.names, name)
	f := &folder{Directory: Directory{Path: in.join(name), Created: w.time}, name: name, isNew: true, up: in}
	w.folders = append(w.folders, f)
	return f, nil
}

// checkName tells whether a name can be added.
func (f *folder) checkName(name string) error {
	taken := func(k Key) bool { return k.Name == name }
	switch {
	case name == "" || len(name) >= 255:
		return fmt.Errorf("an object's name has %d bytes; 1 to 254 are allowed", len(name))
	case slices.Contains(f.names, name) || slices.ContainsFunc(f.Keys, taken):
		return fmt.Errorf("object %q: %w", f.join(name), fs.ErrExist)
	}
	return nil
}

// Finish completes the file. Nothing can be added any more.
func (w *Writer) Finish(ctx context.Context) error {
	if w.out == nil {
		return errEnded
	}
	out := w.out
	w.out = nil
	if err := w.releaseLists(ctx); err != nil {
		return err
	}
	if err := w.appendTail(ctx); err != nil {
		return err
	}
	if err := w.makePatches(ctx); err != nil {
		return err
	}
	if w.back == nil {
		if err := w.copyBase(ctx, out); err != nil {
			return err
		}
		if _, err := w.spool.WriteTo(&storage.IOWriter{Context: ctx, Writer: out}); err != nil {
			return err
		}
	}
	if err := out.Write(ctx, w.tail.Bytes()); err != nil || w.back == nil {
		return err
	}
	for _, p := range w.patches {
		if err := w.back.WriteAt(ctx, p.bytes, p.offset); err != nil {
			return err
		}
	}
	return nil
}

// Close gives back memory and temporary files.
func (w *Writer) Close() error {
	w.out = nil
	return w.spool.Close()
}

// end is where the next record of the tail lies.
func (w *Writer) end() int64 { return w.base + w.size + int64(w.tail.Len()) }

// record adds a record to the tail.
func (w *Writer) record(k Key, payload []byte) {
	w.tail.Write(k.append(nil))
	w.tail.Write(payload)
}

// put adds an object to the tail and to its directory.
func (w *Writer) put(in *folder, k Key, payload []byte) Key {
	k.Offset, k.Directory = w.end(), in.Seek
	w.record(k, payload)
	in.Keys = append(in.Keys, k)
	return k
}

// appendTail makes the records behind the blobs, and fills in the header. Directory records follow when their key lists lie.
func (w *Writer) appendTail(ctx context.Context) error {
	for _, f := range w.folders[1:] {
		if f.isNew {
			k := w.put(f.up, w.key(classDirectory, f.name, f.name).sized(directorySize), make([]byte, directorySize))
			f.Seek, f.Offset, f.NameSize, f.Parent = k.Offset, k.Payload(), k.HeaderSize, f.up.Seek
		}
	}
	for _, o := range w.objects {
		w.put(o.in, o.key, o.payload)
	}
	for _, f := range w.folders {
		if f.changed() {
			w.appendKeyList(f)
		}
		if f.isNew && f != w.root {
			copy(w.tail.Bytes()[f.Offset-w.base-w.size:], w.directoryRecord(f))
		}
	}
	if err := w.appendInfo(); err != nil {
		return err
	}
	return w.appendFreeList(ctx)
}

// appendKeyList makes the record of the keys of a directory.
func (w *Writer) appendKeyList(f *folder) {
	k := w.key(classDirectory, f.name, f.name)
	if f == w.root {
		k = w.key("", w.name, w.title)
	}
	c, n := newAppender(nil), int64(len(f.Keys))
	c.i32("", &n)
	for i := range f.Keys {
		f.Keys[i].code(c)
	}
	k = k.sized(int64(len(c.Buf)))
	k.Offset, k.Directory = w.end(), f.Seek
	f.SeekKeys, f.KeysSize, f.Modified = k.Offset, k.Size, w.time
	f.Wide = f.Wide || max(f.Seek, f.SeekKeys, f.Parent) > w.bigFile
	w.record(k, c.Buf)
}

// directoryRecord is the payload of a new directory.
func (w *Writer) directoryRecord(f *folder) []byte {
	c, version := newAppender(nil), w.uuidVersion()
	f.code(c)
	c.uuid(&version, &w.o.UUID)
	return append(c.Buf, make([]byte, directorySize-len(c.Buf))...)
}

// setInfo makes a streamer info to be written under a key of a version, with what info has already.
func (w *Writer) setInfo(version uint16, info []byte) error {
	k := w.key("TList", "StreamerInfo", "Doubly linked list")
	k.Version = version
	k.HeaderSize = k.headerSize()
	if info == nil {
		w.infoData = newStreamerInfo(k.HeaderSize, spellingLinux, infoVersion)
	} else {
		var err error
		if w.infoData, err = extendStreamerInfo(info, k.HeaderSize); err != nil {
			return err
		}
	}
	w.info = k
	return nil
}

// appendInfo makes the record of the streamer info.
func (w *Writer) appendInfo() error {
	if w.infoData == nil {
		return nil
	}
	e, err := compress.NewEncoder(w.o.Compression)
	if err != nil {
		return err
	}
	packed, err := e.Append(nil, w.infoData)
	if err != nil {
		return err
	}
	at := w.end()
	k := w.info.sized(int64(len(packed)))
	k.ObjectSize, k.Offset, k.Directory = int64(len(w.infoData)), at, w.root.Seek
	if at > math.MaxInt32 && k.Version <= wideVersion {
		return fmt.Errorf("the file has a streamer info that cannot lie beyond 2 GiB: ROOT must write it anew first")
	}
	w.record(k, packed)
	w.header.SeekInfo, w.header.InfoSize = at, k.Size
	return nil
}

// appendFreeList makes the last record, and with it the size of the file known.
func (w *Writer) appendFreeList(ctx context.Context) error {
	segments, err := w.freeSegments(ctx)
	if err != nil {
		return err
	}
	at, k := w.end(), w.key("", w.name, w.title)
	k.Offset, k.Directory = at, w.root.Seek
	c := newAppender(nil)
	for _, s := range segments {
		s.code(c, s.End > w.bigFile)
	}
	const narrow, wide = 10, 18
	end := at + k.sized(int64(len(c.Buf)+narrow)).Size
	big := end > w.bigFile
	if big {
		end += wide - narrow
	}
	last := w.bigFile
	for last <= end {
		last += w.bigFile / 2
	}
	(&Segment{end, last + 1}).code(c, big)
	k = k.sized(int64(len(c.Buf)))
	w.record(k, c.Buf)
	h := &w.header
	h.SeekFree, h.FreeSize, h.FreeCount, h.End = at, k.Size, len(segments)+1, end
	if big {
		h.Wide, h.Units = true, 8
	}
	return nil
}

// writeBase writes what lies in front of the blobs to an output that can go back.
func (w *Writer) writeBase(ctx context.Context) error {
	if w.back == nil {
		return nil
	}
	return w.copyBase(ctx, w.back)
}

// copyBase writes what lies in front of the blobs: the part of an old file that stays, or zeros, with the patches that
// there are.
func (w *Writer) copyBase(ctx context.Context, out Output) error {
	buf := make([]byte, min(w.base, storage.LocalRequestBytes))
	for at := int64(0); at < w.base; {
		part := buf[:min(int64(len(buf)), w.base-at)]
		if w.old != nil {
			if err := w.old.r.ReadAt(ctx, part, at); err != nil {
				return fmt.Errorf("copying %s: %w", w.old.Name(), err)
			}
		}
		for _, p := range w.patches {
			if from := p.offset - at; from < int64(len(part)) && from+int64(len(p.bytes)) > 0 {
				copy(part[max(from, 0):], p.bytes[max(-from, 0):])
			}
		}
		if err := out.Write(ctx, part); err != nil {
			return err
		}
		at += int64(len(part))
	}
	return nil
}

// newHead is the header, the first record and the root directory of a new file.
func (w *Writer) newHead() []byte {
	b := w.header.append(nil)
	b = append(b, make([]byte, begin-len(b))...)
	b = w.fileKey().append(b)
	b = appendText(appendText(b, w.name), w.title)
	return append(b, w.directoryRecord(w.root)...)
}
