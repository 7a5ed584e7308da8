package rootfile

import (
	"bytes"
	"context"
	"fmt"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// Directory records are these bytes, and 12 zeros in the 32-bit form, which leave room
// for the other one:
//
//	 0  u16        version 5, or 1005 with offsets of 64 bits
//	 2  u32        time of creation
//	 6  u32        time of change
//	10  i32        bytes of the key list's record
//	14  i32        bytes in front of this record, from its key on
//	18  i32 / i64  offset of the key's record
//	22  i32 / i64  offset of the record of the directory above, 0 for the root
//	26  i32 / i64  offset of the key list's record
//	30 / 42        u16 version and UUID
//	48 / 60
const (
	directoryVersion = 5
	// directorySize is that of both forms, with the zeros of the first.
	directorySize = 60
	// narrowSize and wideSize are those of the part that is read.
	narrowSize, wideSize = 30, 42
)

// Directory is a list of keys.
type Directory struct {
	Path     string // names joined by slashes; "" for the root
	Keys     []Key
	Offset   int64 // of the directory record
	Wide     bool  // offsets of 64 bits
	Created  Datime
	Modified Datime
	KeysSize int64 // bytes of the key list's record
	NameSize int64 // bytes in front of the directory record, from Seek on
	Seek     int64 // offset of the directory's own key
	Parent   int64 // offset of the key of the directory above, 0 for the root
	SeekKeys int64 // offset of the key list's record, 0 if there is none
	Rest     int64 // bytes of the key list behind its last key, without zeros at the end
}

func (d Directory) join(name string) string {
	if d.Path == "" {
		return name
	}
	return d.Path + "/" + name
}

// code describes the part of a directory record in front of the UUID.
func (d *Directory) code(c *coder) {
	version := uint16(directoryVersion)
	if d.Wide {
		version += wideVersion
	}
	c.U16("directory: version", &version)
	d.Wide = version > wideVersion
	c.U32("created", (*uint32)(&d.Created))
	c.U32("changed", (*uint32)(&d.Modified))
	c.i32("bytes of the key list", &d.KeysSize)
	c.i32("bytes in front of this", &d.NameSize)
	c.seek("offset of the key", d.Wide, &d.Seek)
	c.seek("offset of the directory above", d.Wide, &d.Parent)
	c.seek("offset of the key list", d.Wide, &d.SeekKeys)
}

func (d *Directory) parse(b []byte) error {
	c := newReader(b, d.Offset)
	d.code(c)
	if c.Err == nil && d.KeysSize < 0 {
		c.Err = fault.Corruptf("a key list of %d bytes", d.KeysSize)
	}
	return c.Err
}

// append appends the part of a directory record in front of the UUID.
func (d Directory) append(b []byte) []byte {
	c := newAppender(b)
	d.code(c)
	return c.Buf
}

// maxDepth bounds how deep directories lie in each other, and maxPath the bytes of their
// paths: each key in a directory needs one when it is named.
const (
	maxDepth = 64
	maxPath  = 4 << 10
)

// readDirectories reads all directories, those of a level together.
func (f *File) readDirectories(ctx context.Context) error {
	level := []Directory{{Offset: f.header.Begin + f.header.NameSize}}
	seen := map[int64]bool{level[0].Offset: true}
	listed := int64(0) // bytes of key lists
	for depth := 0; len(level) > 0; depth++ {
		if depth > maxDepth {
			return fault.In(fault.Limitf("directories lie more than %d deep in each other", maxDepth), "directory "+level[0].Path, level[0].Offset)
		}
		if err := f.readRecords(ctx, level); err != nil {
			return err
		}
		for i := range level {
			listed += level[i].KeysSize
		}
		if listed > f.size {
			return fault.Corruptf("the key lists of directories have more bytes than the file")
		}
		if err := f.readKeyLists(ctx, level); err != nil {
			return err
		}
		f.directories = append(f.directories, level...)
		var next []Directory
		for _, d := range level {
			for _, k := range d.Keys {
				if !k.isDirectory() {
					continue
				}
				if seen[k.Payload()] {
					return d.fail(fault.Corruptf("directory %q is listed twice", k.Name))
				}
				if len(d.Path)+len(k.Name) >= maxPath {
					return d.fail(fault.Limitf("a directory in it has a path of more than %d bytes", maxPath))
				}
				seen[k.Payload()] = true
				next = append(next, Directory{Path: d.join(k.Name), Offset: k.Payload()})
			}
		}
		level = next
	}
	return nil
}

func (d *Directory) fail(err error) error {
	if d.Path == "" {
		return fault.In(err, "root directory", d.Offset)
	}
	return fault.In(err, fmt.Sprintf("directory %q", d.Path), d.Offset)
}

// readRecords reads the directory records of a level.
func (f *File) readRecords(ctx context.Context, level []Directory) error {
	ranges := make([]storage.ByteRange, len(level))
	for i := range level {
		d := &level[i]
		if err := storage.CheckRange(d.Offset, narrowSize, f.header.End); err != nil {
			return d.fail(err)
		}
		ranges[i] = storage.ByteRange{Reader: f.edges, Offset: d.Offset, Size: min(wideSize, f.header.End-d.Offset)}
	}
	have, err := f.readAll(ctx, ranges)
	if err != nil {
		return fault.In(err, "directories", level[0].Offset)
	}
	for i := range level {
		d := &level[i]
		err := d.parse(have.Bytes(f.edges, ranges[i].Offset, ranges[i].Size))
		if err == nil && d.SeekKeys == 0 && d.Path == "" {
			err = fault.Corruptf("no key list: the file was not closed")
		}
		if err == nil && d.SeekKeys != 0 {
			err = storage.CheckRange(d.SeekKeys, d.KeysSize, f.header.End)
		}
		if err != nil {
			return d.fail(err)
		}
	}
	return nil
}

// readKeyLists reads the keys of the directories of a level.
func (f *File) readKeyLists(ctx context.Context, level []Directory) error {
	var ranges []storage.ByteRange
	for _, d := range level {
		if d.SeekKeys != 0 {
			ranges = append(ranges, storage.ByteRange{Reader: f.edges, Offset: d.SeekKeys, Size: d.KeysSize})
		}
	}
	have, err := f.readAll(ctx, ranges)
	if err != nil {
		return fault.In(err, "key lists", ranges[0].Offset)
	}
	for i := range level {
		d := &level[i]
		if d.SeekKeys == 0 {
			continue
		}
		if err := f.parseKeyList(d, have.Bytes(f.edges, d.SeekKeys, d.KeysSize)); err != nil {
			return d.fail(fault.In(err, "key list", d.SeekKeys))
		}
	}
	return nil
}

// parseKeyList parses the record of a key list: an i32 count, and the headers of the keys.
func (f *File) parseKeyList(d *Directory, record []byte) error {
	_, payload, err := unpackRecord(record, d.SeekKeys)
	if err != nil {
		return err
	}
	c, n := newReader(payload, d.SeekKeys), int64(0)
	c.i32("keys", &n)
	for i := int64(0); i < n && c.Err == nil; i++ {
		var k Key
		k.parse(c)
		if c.Err == nil {
			if c.Err = storage.CheckRange(k.Offset, k.Size, f.header.End); c.Err != nil {
				c.Err = fault.In(c.Err, fmt.Sprintf("key %q", k.Name), -1)
			}
		}
		d.Keys = append(d.Keys, k)
	}
	d.Rest = int64(len(bytes.TrimRight(payload[c.Pos:], "\x00")))
	return c.Err
}
