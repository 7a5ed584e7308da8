package envelope

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/wire"
)

// A coder reads or writes the structures of an envelope.
type coder struct {
	wire.Coder
	text   string // Buf as text, of which strings are parts; only when reading
	base   int    // start of the envelope in Buf, when writing
	format Format
	next   string // name of the next frame, if parts are listed
}

func newReader(buf []byte, format Format) *coder {
	return &coder{Coder: wire.Reader(buf), format: format}
}

func newWriter(dst []byte) *coder {
	return &coder{Coder: wire.Coder{Buf: dst, Writing: true}, base: len(dst), format: V1}
}

// in names the element that the error, if any, was found in.
func (w *coder) in(element string) {
	w.Err = fault.In(w.Err, element, -1)
}

func (w *coder) i64(label string, v *int64) {
	u := uint64(*v)
	w.U64(label, &u)
	*v = int64(u)
}

func (w *coder) f64(label string, v *float64) {
	u := math.Float64bits(*v)
	w.U64(label, &u)
	*v = math.Float64frombits(u)
}

// str is a string: its length in bytes (u32), then the bytes.
func (w *coder) str(label string, v *string) {
	n := uint32(len(*v))
	if w.Writing && uint64(len(*v)) > math.MaxUint32 {
		w.Fail(fault.Limitf("string of %d bytes", len(*v)))
		return
	}
	w.Quiet32(&n)
	if w.Writing {
		w.Buf = append(w.Buf, *v...)
		return
	}
	if w.Err != nil {
		return
	}
	if int64(n) > int64(w.End-w.Pos) {
		w.Fail(fault.Corruptf("string of %d bytes, the frame has %d left", n, w.End-w.Pos))
		return
	}
	if w.text == "" {
		w.text = string(w.Buf)
	}
	*v = w.text[w.Pos : w.Pos+int(n)]
	w.Pos += int(n)
	if w.Parts != nil {
		w.Note(4+int(n), "%s %q", label, *v)
	}
}

// A frame is open between open and close.
//
//	record   i64 size, of all with these 8 bytes    ┃ content
//	list     i64 −size, with these 12 bytes, u32 n  ┃ n items, and what belongs to the whole list
//
// Before 0.2.0.0, sizes have 32 bits.
type frame struct {
	start int // where its size stands
	end   int // end of the frame around it
	list  bool
}

const (
	recordHead  = 8
	listHead    = 12
	shorterSize = 4 // by which the size of a frame is shorter before 0.2.0.0
)

// open begins a record frame.
func (w *coder) open() frame {
	f := frame{start: w.Pos, end: w.End}
	if w.Writing {
		f.start = len(w.Buf)
		w.Buf = append(w.Buf, make([]byte, 8)...)
		return f
	}
	w.narrow(w.frameSize(), recordHead, f)
	w.noteFrame(f.start, recordHead, "record")
	return f
}

// openList begins a list frame of n items, of at least itemSize bytes each. When reading, the result is the number
// of items, which the frame can hold.
func (w *coder) openList(n, itemSize int) (frame, int) {
	f := frame{start: w.Pos, end: w.End, list: true}
	count := uint32(n)
	if w.Writing {
		if int64(n) > math.MaxUint32 {
			w.Fail(fault.Limitf("list of %d items", n))
		}
		f.start = len(w.Buf)
		w.Buf = append(w.Buf, make([]byte, 8)...)
		w.U32("", &count)
		return f, n
	}
	size := w.frameSize()
	if w.Err == nil && size >= 0 {
		w.Fail(fault.Corruptf("a record frame where a list is expected"))
	}
	w.narrow(-size, listHead, f)
	w.Quiet32(&count)
	if w.format == RC1 {
		itemSize -= shorterSize
	}
	if w.Err == nil && int64(count)*int64(itemSize) > int64(w.End-w.Pos) {
		w.Fail(fault.Corruptf("list of %d items in %d bytes", count, w.End-w.Pos))
	}
	if w.Err != nil {
		return f, 0
	}
	if w.Parts != nil {
		w.noteFrame(f.start, listHead, fmt.Sprintf("list of %d", count))
	}
	return f, int(count)
}

func (w *coder) frameSize() (size int64) {
	parts := w.Parts
	w.Parts = nil
	if w.format == RC1 {
		var short uint32
		w.U32("", &short)
		size = int64(int32(short))
	} else {
		w.i64("", &size)
	}
	w.Parts = parts
	return size
}

// narrow makes the frame, whose size was just read, the limit of what is read.
func (w *coder) narrow(size, head int64, f frame) {
	if w.Err != nil {
		return
	}
	if w.format == RC1 {
		head -= shorterSize
	}
	if size < head || size > int64(w.End-f.start) {
		w.Pos = f.start
		w.Fail(fault.Corruptf("frame of %d bytes where %d to %d are possible", size, head, w.End-f.start))
		return
	}
	w.End = f.start + int(size)
}

// close ends a frame. A reader goes on behind it, whatever it holds besides what was read.
func (w *coder) close(f frame) {
	if w.Writing {
		size := int64(len(w.Buf) - f.start)
		if f.list {
			size = -size
		}
		binary.LittleEndian.PutUint64(w.Buf[f.start:], uint64(size))
		return
	}
	if w.Err == nil {
		w.Pos, w.End = w.End, f.end
		w.endFrame()
	}
}

// Trace lists the parts of an envelope that belongs to a schema. After an error in its content it gives those in front
// of it, too.
func Trace(env []byte, kind Kind, s *Schema) ([]wire.Part, error) {
	w, err := open(env, kind, s.Format)
	if err != nil {
		return nil, err
	}
	w.Parts = &wire.Parts{}
	w.Pos, w.End = 0, len(env)
	var head uint64
	w.U64("", &head)
	w.Amend("%v, %d bytes", Kind(head), head>>16)
	w.End = len(env) - checksumSize
	other := &Schema{Format: s.Format, Checksum: s.Checksum, Columns: s.Columns}
	switch kind {
	case KindHeader:
		w.header(other)
	case KindFooter:
		w.footer(other, &Footer{})
	case KindPageList:
		w.pageList(other, new([]Cluster))
	default:
		return nil, fault.Unsupportedf("envelope of type %d", kind)
	}
	end := len(env) - checksumSize
	parts := append(w.Parts.List, wire.Part{Offset: end, Size: checksumSize, Text: fmt.Sprintf("XXH3 %016x", binary.LittleEndian.Uint64(env[end:]))})
	return parts, w.Err
}

// noteFrame lists the head of a frame, and what follows is in it.
func (w *coder) noteFrame(start, size int, text string) {
	if w.Parts == nil || w.Err != nil {
		return
	}
	if w.next != "" {
		text, w.next = w.next+": "+text, ""
	}
	w.Parts.List = append(w.Parts.List, wire.Part{Offset: start, Size: size, Depth: w.Parts.Depth, Text: fmt.Sprintf("%s, %d bytes", text, w.End-start)})
	w.Parts.Depth++
}

// endFrame goes on with the frame around the one that ends.
func (w *coder) endFrame() {
	if w.Parts != nil {
		w.Parts.Depth--
	}
}

// name names the next frame, if the parts are listed; by a number, too, if that is not negative.
func (w *coder) name(name string, i int) {
	if w.Parts == nil {
		return
	}
	if w.next = name; i >= 0 {
		w.next = fmt.Sprintf("%s %d", name, i)
	}
}
