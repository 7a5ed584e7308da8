// Package ipccheck checks the metadata of Arrow IPC files and streams before arrow-go reads it.
// arrow-go trusts counts and lengths in them. An absurd one makes it allocate more memory than
// there is, which ends the process. Callers recover from panics of arrow-go themselves.
//
// The parts that matter here (format/Message.fbs, Schema.fbs and File.fbs of
// Apache Arrow); slots in brackets:
//
//	Message          header type u8 [1], header [2], body length i64 [3]
//	Schema           fields [1], metadata [2]
//	Field            type id u8 [2], type [3], children [5], metadata [6]
//	DictionaryBatch  data, a RecordBatch [1]
//	RecordBatch      rows i64 [0], nodes [1], buffers [2], compression [3], variadic counts [4]
//	Footer           schema [1], dictionaries [2], record batches [3], metadata [4]
package ipccheck

import (
	"cmp"
	"encoding/binary"
	"io"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/flatread"
)

// Limits, far above those of real files.
const (
	maxDepth    = 64
	maxFields   = 1 << 20
	maxRows     = 1 << 31
	maxDecoded  = 4 << 30 // bytes of one batch after decompression
	maxMetadata = 256 << 20
	maxBody     = 4 << 30
)

// Header types of a message.
const (
	isSchema          = 1
	isDictionaryBatch = 2
	isRecordBatch     = 3
)

const typeUnion = 14

// Message checks the FlatBuffer of one message. body reads bytes of its body,
// for the lengths in front of compressed buffers. It returns the length of the body.
func Message(meta []byte, body func(p []byte, off int64) error) (bodyLen int64, err error) {
	m, err := flatread.Root(meta)
	if err != nil {
		return 0, err
	}
	bodyLen = int64(m.Uint64(3, 0))
	if bodyLen < 0 || bodyLen > maxBody {
		return 0, fault.Limitf("a message body of %d bytes", uint64(bodyLen))
	}
	kind := m.Uint8(1, 0)
	header, ok := m.Table(2)
	if m.Err != nil || !ok {
		return 0, cmp.Or(m.Err, fault.Corruptf("an Arrow message without a header"))
	}
	switch kind {
	case isSchema:
		err = schema(header)
	case isDictionaryBatch:
		data, ok := header.Table(1)
		if !ok {
			return 0, cmp.Or(header.Err, fault.Corruptf("a dictionary without data"))
		}
		err = batch(data, bodyLen, body)
	case isRecordBatch:
		err = batch(header, bodyLen, body)
	}
	return bodyLen, err
}

// Schema checks a schema message of a Parquet file, which is framed like a message of a stream.
func Schema(framed []byte) error {
	meta, _, err := Cut(framed)
	if err != nil {
		return err
	}
	_, err = Message(meta, func([]byte, int64) error { return nil })
	return err
}

// Cut returns the FlatBuffer of the first message of a stream, and what follows it: its body, or another message.
func Cut(b []byte) (meta, rest []byte, err error) {
	head := 4
	if len(b) >= 8 && binary.LittleEndian.Uint32(b) == 0xFFFFFFFF {
		head = 8 // streams before Arrow 0.15 have the length only
	}
	if len(b) < head {
		return nil, nil, fault.Corruptf("an Arrow message of %d bytes", len(b))
	}
	n := uint64(binary.LittleEndian.Uint32(b[head-4:]))
	if n > uint64(len(b)-head) {
		return nil, nil, fault.Corruptf("an Arrow message of %d bytes in %d", n, len(b)-head)
	}
	return b[head : head+int(n)], b[head+int(n):], nil
}

func schema(t flatread.Table) error {
	left := maxFields
	if err := fields(&t, 1, 0, &left); err != nil {
		return err
	}
	return metadata(&t, 2)
}

// fields checks a vector of fields and their children. left counts down, because tables may be
// reached on many paths.
func fields(t *flatread.Table, slot, depth int, left *int) error {
	v := t.Vector(slot, 4)
	if t.Err != nil {
		return t.Err
	}
	if depth > maxDepth {
		return fault.Limitf("an Arrow schema nested more than %d deep", maxDepth)
	}
	for i := range v.Len() {
		if *left--; *left < 0 {
			return fault.Limitf("an Arrow schema of more than %d fields", maxFields)
		}
		f, err := v.Table(i)
		if err != nil {
			return err
		}
		if f.Uint8(2, 0) == typeUnion {
			if u, ok := f.Table(3); ok {
				u.Vector(1, 4)
				if u.Err != nil {
					return u.Err
				}
			}
		}
		if err := metadata(&f, 6); err != nil {
			return err
		}
		if err := fields(&f, 5, depth+1, left); err != nil {
			return err
		}
	}
	return nil
}

// metadata checks a vector of key-value tables.
func metadata(t *flatread.Table, slot int) error {
	t.Vector(slot, 4)
	return t.Err
}

// batch checks a record batch: its buffers lie in the body, and do not decode to
// more than the limits.
func batch(t flatread.Table, bodyLen int64, body func([]byte, int64) error) error {
	if rows := t.Uint64(0, 0); rows > maxRows {
		return fault.Limitf("a batch of %d rows", rows)
	}
	nodes, buffers, counts := t.Vector(1, 16), t.Vector(2, 16), t.Vector(4, 8)
	_, compressed := t.Table(3)
	if t.Err != nil {
		return t.Err
	}
	for b := nodes.Bytes(); len(b) > 0; b = b[16:] {
		if n := binary.LittleEndian.Uint64(b); n > maxRows {
			return fault.Limitf("a column of %d values in one batch", n)
		}
	}
	sum := uint64(0)
	for b := counts.Bytes(); len(b) > 0; b = b[8:] {
		n := binary.LittleEndian.Uint64(b)
		if sum += n; n > uint64(buffers.Len()) || sum > uint64(buffers.Len()) {
			return fault.Corruptf("views in %d buffers of %d", n, buffers.Len())
		}
	}
	decoded := int64(0)
	for b := buffers.Bytes(); len(b) > 0; b = b[16:] {
		off, n := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		if off > uint64(bodyLen) || n > uint64(bodyLen)-off {
			return fault.Corruptf("a buffer at %d of %d bytes in a body of %d", off, n, bodyLen)
		}
		if !compressed || n == 0 {
			continue
		}
		size, err := decodedSize(int64(off), int64(n), body)
		if err != nil {
			return err
		}
		if decoded += size; decoded > maxDecoded {
			return fault.Limitf("a batch of more than %d bytes after decompression", int64(maxDecoded))
		}
	}
	return nil
}

// decodedSize reads the length in front of a compressed buffer; -1 means that it is not
// compressed.
func decodedSize(off, n int64, body func([]byte, int64) error) (int64, error) {
	var p [8]byte
	if n < 8 {
		return 0, fault.Corruptf("a compressed buffer of %d bytes", n)
	}
	if err := body(p[:], off); err != nil {
		return 0, err
	}
	size := int64(binary.LittleEndian.Uint64(p[:]))
	if size < -1 || size > maxDecoded {
		return 0, fault.Limitf("a buffer of %d bytes after decompression", uint64(size))
	}
	return max(size, 0), nil
}

// File checks a whole Arrow file: its footer, and every message that it lists.
//
//	"ARROW1" | padding | messages … | footer | u32 length of the footer | "ARROW1"
func File(r io.ReaderAt, size int64) error {
	var tail [10]byte
	if size < 8+10 {
		return fault.Corruptf("an Arrow file of %d bytes", size)
	}
	if _, err := r.ReadAt(tail[:], size-10); err != nil {
		return err
	}
	if string(tail[4:]) != "ARROW1" {
		return fault.Corruptf("no Arrow footer: the file is cut off or unfinished")
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > size-18 || n > maxMetadata {
		return fault.Corruptf("an Arrow footer of %d bytes in a file of %d", n, size)
	}
	raw := make([]byte, n)
	if _, err := r.ReadAt(raw, size-10-n); err != nil {
		return err
	}
	f, err := flatread.Root(raw)
	if err != nil {
		return err
	}
	s, ok := f.Table(1)
	if !ok {
		return cmp.Or(f.Err, fault.Corruptf("an Arrow footer without a schema"))
	}
	if err := schema(s); err != nil {
		return err
	}
	if err := metadata(&f, 4); err != nil {
		return err
	}
	for _, slot := range []int{2, 3} {
		blocks := f.Vector(slot, 24)
		if f.Err != nil {
			return f.Err
		}
		for b := blocks.Bytes(); len(b) > 0; b = b[24:] {
			if err := block(r, size, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// block checks the message that an entry of the footer refers to: offset i64,
// metadata length i32, 4 bytes of padding, body length i64.
func block(r io.ReaderAt, size int64, b []byte) error {
	off, n := int64(binary.LittleEndian.Uint64(b)), int64(int32(binary.LittleEndian.Uint32(b[8:])))
	if off < 0 || n < 4 || n > maxMetadata || off > size || n > size-off {
		return fault.Corruptf("an Arrow message at %d of %d bytes in a file of %d", off, n, size)
	}
	framed := make([]byte, n)
	if _, err := r.ReadAt(framed, off); err != nil {
		return err
	}
	meta, _, err := Cut(framed)
	if err != nil {
		return err
	}
	_, err = Message(meta, func(p []byte, at int64) error {
		_, err := r.ReadAt(p, off+n+at)
		return err
	})
	return err
}

// Stream checks the messages of a stream as they pass.
//
//	u32 0xFFFFFFFF | u32 n | Message, n bytes | body      n 0: the end
func Stream(r io.Reader) io.Reader { return &stream{r: r} }

type stream struct {
	r       io.Reader
	pending []byte // checked, and to be handed on
	body    int64  // bytes of a body to pass through
	ended   bool
	err     error
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	for len(s.pending) == 0 && s.body == 0 {
		if s.err != nil {
			return 0, s.err
		}
		if s.ended {
			return s.r.Read(p)
		}
		s.err = s.next()
	}
	if len(s.pending) > 0 {
		n := copy(p, s.pending)
		s.pending = s.pending[n:]
		return n, nil
	}
	n, err := s.r.Read(p[:min(int64(len(p)), s.body)])
	s.body -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// next reads and checks the metadata of the next message. It also reads the body of a
// compressed batch, which contains lengths.
func (s *stream) next() error {
	framed := make([]byte, 4, 8)
	if _, err := io.ReadFull(s.r, framed); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(framed) == 0xFFFFFFFF {
		framed = framed[:8]
		if _, err := io.ReadFull(s.r, framed[4:]); err != nil {
			return fault.NoEOF(err) // a stream ends before a message, not in it
		}
	}
	n := int64(binary.LittleEndian.Uint32(framed[len(framed)-4:]))
	if n == 0 {
		s.ended, s.pending = true, framed
		return nil
	}
	if n > maxMetadata {
		return fault.Limitf("an Arrow message of %d bytes", n)
	}
	meta, err := readGrowing(s.r, n)
	if err != nil {
		return err
	}
	var body []byte
	bodyLen, err := Message(meta, func(p []byte, off int64) (err error) {
		if body == nil { // as far as this buffer, at least
			m, _ := flatread.Root(meta)
			if body, err = readGrowing(s.r, int64(m.Uint64(3, 0))); err != nil {
				return err
			}
		}
		copy(p, body[off:])
		return nil
	})
	if err != nil {
		return err
	}
	s.pending = append(append(framed, meta...), body...)
	s.body = bodyLen - int64(len(body))
	return nil
}

// readGrowing reads n bytes, and allocates memory only as bytes arrive.
func readGrowing(r io.Reader, n int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, n))
	if err == nil && int64(len(b)) < n {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}
