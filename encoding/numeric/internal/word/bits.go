package word

import "encoding/binary"

// BitWriter appends bits, from the lowest of each byte on.
type BitWriter struct {
	dst  []byte
	room uint64 // bits that are not written yet
	used int    // how many
}

// NewBitWriter makes a writer that appends to dst.
func NewBitWriter(dst []byte) BitWriter { return BitWriter{dst: dst} }

// Put appends the n bits that v has.
func (w *BitWriter) Put(v uint64, n int) {
	w.room |= v << w.used
	if w.used+n < 64 {
		w.used += n
		return
	}
	w.dst = binary.LittleEndian.AppendUint64(w.dst, w.room)
	w.room = v >> (64 - w.used)
	w.used += n - 64
}

// End fills the last byte with zeros, and gives all that was written.
func (w *BitWriter) End() []byte {
	for ; w.used > 0; w.used -= 8 {
		w.dst = append(w.dst, byte(w.room))
		w.room >>= 8
	}
	return w.dst
}
