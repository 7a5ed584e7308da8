package envelope

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// A wire reads or writes, by one description of each record: its methods take pointers, and either fill what these
// point to from the bytes, or append it. So what is written is what is read.
//
// The first error stays and later calls do nothing, so that descriptions need not look at it; loops do.
type wire struct {
	buf  []byte // what is read, or what has been written
	text string // buf as text, of which strings are parts; only when reading
	pos  int    // next byte to read
	end  int    // end of the innermost open frame
	base int    // start of the envelope in buf, when writing

	writing bool
	format  Format
	err     error
	trace   *tracer // lists what is read; nil for most readers
}

func newReader(buf []byte, format Format) *wire {
	return &wire{buf: buf, end: len(buf), format: format}
}

func newWriter(dst []byte) *wire {
	return &wire{buf: dst, base: len(dst), writing: true, format: V1}
}

// fail keeps the first error, with the offset in the envelope.
func (w *wire) fail(err error) {
	if w.err == nil {
		w.err = fault.In(err, "", int64(w.pos))
	}
}

// in names the element that the error, if any, was found in.
func (w *wire) in(element string) {
	w.err = fault.In(w.err, element, -1)
}

// take gives the next n bytes, or nil after an error.
func (w *wire) take(n int) []byte {
	if w.err != nil {
		return nil
	}
	if n > w.end-w.pos {
		w.fail(fault.Corruptf("%d bytes needed, the frame has %d left", n, w.end-w.pos))
		return nil
	}
	w.pos += n
	return w.buf[w.pos-n : w.pos]
}

func (w *wire) u16(v *uint16) {
	if w.writing {
		w.buf = binary.LittleEndian.AppendUint16(w.buf, *v)
	} else if b := w.take(2); b != nil {
		*v = binary.LittleEndian.Uint16(b)
		if w.trace != nil {
			w.note(2, *v)
		}
	}
}

func (w *wire) u32(v *uint32) {
	if w.writing {
		w.buf = binary.LittleEndian.AppendUint32(w.buf, *v)
	} else if b := w.take(4); b != nil {
		*v = binary.LittleEndian.Uint32(b)
		if w.trace != nil {
			w.note(4, *v)
		}
	}
}

func (w *wire) u64(v *uint64) {
	if w.writing {
		w.buf = binary.LittleEndian.AppendUint64(w.buf, *v)
	} else if b := w.take(8); b != nil {
		*v = binary.LittleEndian.Uint64(b)
		if w.trace != nil {
			w.note(8, *v)
		}
	}
}

// quiet32 is u32 for a number that is a part of something that is listed as a whole.
func (w *wire) quiet32(v *uint32) {
	t := w.trace
	w.trace = nil
	w.u32(v)
	w.trace = t
}

func (w *wire) i64(v *int64) {
	u := uint64(*v)
	w.u64(&u)
	*v = int64(u)
}

func (w *wire) f64(v *float64) {
	u := math.Float64bits(*v)
	w.u64(&u)
	*v = math.Float64frombits(u)
}

// str is a string: its length in bytes (u32), then the bytes.
func (w *wire) str(v *string) {
	n := uint32(len(*v))
	if w.writing && uint64(len(*v)) > math.MaxUint32 {
		w.fail(fault.Limitf("string of %d bytes", len(*v)))
		return
	}
	w.quiet32(&n)
	if w.writing {
		w.buf = append(w.buf, *v...)
		return
	}
	if w.err != nil {
		return
	}
	if int64(n) > int64(w.end-w.pos) {
		w.fail(fault.Corruptf("string of %d bytes, the frame has %d left", n, w.end-w.pos))
		return
	}
	if w.text == "" {
		w.text = string(w.buf)
	}
	*v = w.text[w.pos : w.pos+int(n)]
	w.pos += int(n)
	if w.trace != nil {
		w.note(4+int(n), *v)
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
func (w *wire) open() frame {
	f := frame{start: w.pos, end: w.end}
	if w.writing {
		f.start = len(w.buf)
		w.buf = append(w.buf, make([]byte, 8)...)
		return f
	}
	w.narrow(w.frameSize(), recordHead, f)
	w.noteFrame(f.start, recordHead, "record")
	return f
}

// openList begins a list frame of n items, of at least itemSize bytes each. When reading, the result is the number
// of items, which the frame can hold.
func (w *wire) openList(n, itemSize int) (frame, int) {
	f := frame{start: w.pos, end: w.end, list: true}
	count := uint32(n)
	if w.writing {
		if int64(n) > math.MaxUint32 {
			w.fail(fault.Limitf("list of %d items", n))
		}
		f.start = len(w.buf)
		w.buf = append(w.buf, make([]byte, 8)...)
		w.u32(&count)
		return f, n
	}
	size := w.frameSize()
	if w.err == nil && size >= 0 {
		w.fail(fault.Corruptf("a record frame where a list is expected"))
	}
	w.narrow(-size, listHead, f)
	w.quiet32(&count)
	if w.format == RC1 {
		itemSize -= shorterSize
	}
	if w.err == nil && int64(count)*int64(itemSize) > int64(w.end-w.pos) {
		w.fail(fault.Corruptf("list of %d items in %d bytes", count, w.end-w.pos))
	}
	if w.err != nil {
		return f, 0
	}
	if w.trace != nil {
		w.noteFrame(f.start, listHead, fmt.Sprintf("list of %d", count))
	}
	return f, int(count)
}

func (w *wire) frameSize() (size int64) {
	t := w.trace
	w.trace = nil
	if w.format == RC1 {
		var short uint32
		w.u32(&short)
		size = int64(int32(short))
	} else {
		w.i64(&size)
	}
	w.trace = t
	return size
}

// narrow makes the frame, whose size was just read, the limit of what is read.
func (w *wire) narrow(size, head int64, f frame) {
	if w.err != nil {
		return
	}
	if w.format == RC1 {
		head -= shorterSize
	}
	if size < head || size > int64(w.end-f.start) {
		w.pos = f.start
		w.fail(fault.Corruptf("frame of %d bytes where %d to %d are possible", size, head, w.end-f.start))
		return
	}
	w.end = f.start + int(size)
}

// close ends a frame. A reader goes on behind it, whatever it holds besides what was read.
func (w *wire) close(f frame) {
	if w.writing {
		size := int64(len(w.buf) - f.start)
		if f.list {
			size = -size
		}
		binary.LittleEndian.PutUint64(w.buf[f.start:], uint64(size))
		return
	}
	if w.err == nil {
		w.pos, w.end = w.end, f.end
		w.endFrame()
	}
}

// left is the number of bytes of the open frame that were not read.
func (w *wire) left() int { return w.end - w.pos }
