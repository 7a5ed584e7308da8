package rootfile

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Append makes a file in out, of all that f holds and of what is added, which is complete after Finish. Objects of f, of whatever class, keep their bytes and their places; f must stay open
// until Finish has returned. What is written anew leaves free space behind:
//
//	f      header, root directory, objects, key list,  streamer info, free list
//	out    header, root directory, objects, free ……………………………………………………………… │ blobs, objects, key list, streamer info, free list
//
// At the end of f it is given up instead. Free space that f had stays as it is. Without f the file is a new one.
func Append(ctx context.Context, out Output, f *File, o Options) (*Writer, error) {
	if f == nil {
		return NewWriter(ctx, out, o)
	}
	w, err := newWriter(out, o)
	if err != nil {
		return nil, err
	}
	w.old, w.header, w.base = f, f.header, f.header.End
	if err := w.readOld(ctx); err != nil {
		return nil, fault.Of(err, f.Name())
	}
	// What was freed at the end is given up: new records take its place.
	for n := len(w.freed); n > 0 && w.freed[n-1].End == w.base; n = len(w.freed) {
		w.base = w.freed[n-1].Begin
		w.freed = w.freed[:n-1]
	}
	return w, w.writeBase(ctx)
}

// readOld takes over the directories of the file, and frees what will be written anew.
func (w *Writer) readOld(ctx context.Context) error {
	f, h := w.old, w.old.header
	raw, err := f.read(ctx, h.Begin, min(1<<16, f.size-h.Begin))
	if err != nil {
		return err
	}
	key, err := parseKey(raw, h.Begin)
	if err != nil {
		return fault.In(err, "first record", h.Begin)
	}
	w.name, w.title = key.Name, key.Title
	if len(w.name) >= 255 || len(w.title) >= 255 {
		return fault.Unsupportedf("a file whose name or title has 255 bytes or more")
	}
	w.takeFolders()
	root := w.root
	if err := w.release(ctx, root.SeekKeys, root.KeysSize); err != nil {
		return fault.In(err, "key list", root.SeekKeys)
	}
	if h.SeekFree != 0 {
		if err := w.release(ctx, h.SeekFree, h.FreeSize); err != nil {
			return fault.In(err, "free list", h.SeekFree)
		}
	}
	info, data, err := f.StreamerInfo(ctx)
	switch {
	case err != nil:
		return err
	case data == nil:
		err = w.setInfo(keyVersion, nil)
	case !describesNTuples(data):
		if err = w.setInfo(info.Version, data); err == nil {
			err = w.release(ctx, h.SeekInfo, h.InfoSize)
		}
	}
	slices.SortFunc(w.freed, func(a, b Segment) int { return cmp.Compare(a.Begin, b.Begin) })
	return fault.In(err, "streamer info", h.SeekInfo)
}

// takeFolders makes folders of the directories.
func (w *Writer) takeFolders() {
	byOffset := map[int64]*folder{}
	for _, d := range w.old.directories {
		f := &folder{Directory: d}
		f.Keys = slices.Clip(d.Keys)
		w.folders = append(w.folders, f)
		byOffset[d.Offset] = f
	}
	w.root = w.folders[0]
	for _, up := range w.folders {
		for _, k := range up.Keys {
			if f := byOffset[k.Payload()]; f != nil && k.isDirectory() {
				f.up, f.name = up, k.Name
			}
		}
	}
}

// releaseLists frees the key lists that will be written anew. That of the root was freed at the beginning.
func (w *Writer) releaseLists(ctx context.Context) error {
	for _, f := range w.folders {
		if f.isNew || f == w.root || !f.changed() || f.SeekKeys == 0 {
			continue
		}
		if err := w.release(ctx, f.SeekKeys, f.KeysSize); err != nil {
			return fault.Of(f.fail(fault.In(err, "key list", f.SeekKeys)), w.old.Name())
		}
	}
	return nil
}

// release frees a record of the file.
func (w *Writer) release(ctx context.Context, offset, size int64) error {
	k, _, err := w.old.record(ctx, offset, size)
	if err == nil {
		w.freed = append(w.freed, Segment{offset, offset + k.Size})
	}
	return err
}

// freeSegments are the segments of the free list but the last one: those of the file, and
// what was freed.
func (w *Writer) freeSegments(ctx context.Context) ([]Segment, error) {
	if w.old == nil {
		return nil, nil
	}
	slices.SortFunc(w.freed, func(a, b Segment) int { return cmp.Compare(a.Begin, b.Begin) })
	var merged []Segment
	for _, s := range w.freed {
		if n := len(merged); n > 0 && merged[n-1].End == s.Begin {
			merged[n-1].End = s.End
			continue
		}
		merged = append(merged, s)
	}
	w.freed = merged
	all, err := w.old.Free(ctx)
	if err != nil {
		return nil, err
	}
	if len(all) > 0 {
		all = all[:len(all)-1]
	}
	all = append(all, merged...)
	slices.SortFunc(all, func(a, b Segment) int { return cmp.Compare(a.Begin, b.Begin) })
	for i, s := range all {
		if s.End > w.base || i > 0 && s.Begin < all[i-1].End {
			return nil, fault.Of(fault.In(fault.Corruptf("free space from %d to %d is used", s.Begin, s.End), "free list", w.old.header.SeekFree), w.old.Name())
		}
	}
	return all, nil
}

// A patch replaces bytes in front of the blobs.
type patch struct {
	offset int64
	bytes  []byte
}

// makePatches collects what is known only now of what lies in front of the blobs.
func (w *Writer) makePatches(ctx context.Context) error {
	if w.old == nil {
		w.patches = []patch{{0, w.newHead()}}
		return nil
	}
	return fault.Of(w.patchOld(ctx), w.old.Name())
}

// patchOld collects what changes in the part of an old file that stays: header,
// directories with new key lists, and markers of free space, which are its size made negative.
func (w *Writer) patchOld(ctx context.Context) error {
	header := w.header.append(nil)
	if int64(len(header)) > w.header.Begin {
		return fault.Unsupportedf("a file of more than 2 GB whose first record begins at %d", w.header.Begin)
	}
	w.patches = append(w.patches, patch{0, header})
	for _, f := range w.folders {
		if f.isNew || !f.changed() {
			continue
		}
		p, err := w.patchDirectory(ctx, f)
		if err != nil {
			return f.fail(err)
		}
		w.patches = append(w.patches, p)
	}
	for _, s := range w.freed {
		n := min(s.End-s.Begin, math.MaxInt32)
		w.patches = append(w.patches, patch{s.Begin, binary.BigEndian.AppendUint32(nil, uint32(-n))})
	}
	slices.SortFunc(w.patches, func(a, b patch) int { return cmp.Compare(a.offset, b.offset) })
	for i, p := range w.patches {
		end := p.offset + int64(len(p.bytes))
		if end > w.base || i > 0 && p.offset < w.patches[i-1].offset+int64(len(w.patches[i-1].bytes)) {
			return fault.Corruptf("records overlap at %d", p.offset)
		}
	}
	return nil
}

// patchDirectory is the new record of a directory that was in the file. If it grows from
// the 32-bit to the 64-bit form, its UUID moves into the room left for that.
func (w *Writer) patchDirectory(ctx context.Context, f *folder) (patch, error) {
	b := f.append(nil)
	was := w.old.directories[slices.IndexFunc(w.old.directories, func(d Directory) bool { return d.Offset == f.Offset })]
	if f.Wide && !was.Wide {
		record, err := w.old.read(ctx, f.Offset, directorySize)
		if err != nil {
			return patch{}, err
		}
		for _, spare := range record[narrowSize+18:] {
			if spare != 0 {
				return patch{}, fault.Unsupportedf("a directory without room for offsets of 64 bits")
			}
		}
		b = append(b, record[narrowSize:narrowSize+18]...)
	}
	return patch{f.Offset, b}, nil
}
