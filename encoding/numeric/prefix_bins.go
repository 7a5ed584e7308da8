package numeric

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// PrefixBins, code 0x8006 (edition 2026), integers: the number line is cut into
// bins; a value is the prefix code of its bin, short for bins that hold many
// values, and its offset in the bin. So do Deflate's distances (RFC 1951), and
// for columns Loncaric, Jeppesen and Zinberg, "Pcodec: Better Compression for
// Numerical Sequences" (2025).
//
//	0    2  06 80
//	2    2  u16 number of bins B, 1 to 4096
//	4    4  u32 size of the lows in bytes
//	8    4  u32 size of the widths in bytes
//	12  12  u32 size in bytes of streams 0, 1 and 2; stream 3 takes what is left
//	24      lows: tree of B T, the least value of each bin
//	        zeros up to a multiple of 8
//	        widths: tree of 2B u8: the code length of each bin, then the bits of its offsets
//	        zeros up to a multiple of 8
//	        streams 0 to 3, then 8 zero bytes
//
// Value i is in stream i mod 4: its code and then its offset. Streams are filled
// from the least significant bit of each byte; as in Deflate, codes begin with
// their most significant bit, offsets with the least. Codes are canonical:
// shorter ones first, equally long ones in the order of the bins, each one more
// than the last. They are 1 to 12 bits long and complete; a single bin has a code
// of 0 bits. value = low + offset, wrapping. Unused bits at the end are zero.
//
// Example: bins 10 and 20 with codes 0 and 1 and offsets of 0 and 2 bits; of the
// values 10, 21, 10, 10, 23 stream 0 holds 10 and 23, which is the byte 0e (0,
// then 1 and 3).
type prefixBins struct {
	count        int
	lows, widths []byte
	starts       [binStreams + 1]int // of each stream in data, and the end of the last
	data         []byte              // streams and 8 zero bytes
	widthsAt     int                 // in the tree
	dataAt       int
}

const (
	binsHeader  = 22 // bytes behind the code
	codeBits    = 12 // longest prefix code
	maxBins     = 1 << codeBits
	binStreams  = 4
	streamSlack = 8  // zero bytes behind the streams, so that 8 bytes can be read anywhere
	wideOffset  = 44 // bits of an offset that 8 bytes hold behind a code at any bit of a byte
)

func parsePrefixBins(tree []byte) (p prefixBins, err error) {
	header, payload, err := split(tree, binsHeader)
	if err != nil {
		return p, err
	}
	p.count = int(binary.LittleEndian.Uint16(header))
	if p.count < 1 || p.count > maxBins {
		return p, fault.Corruptf("%d bins", p.count)
	}
	if p.lows, payload, err = cutPadded(payload, binary.LittleEndian.Uint32(header[2:])); err != nil {
		return p, err
	}
	p.widthsAt = len(tree) - len(payload)
	if p.widths, p.data, err = cutPadded(payload, binary.LittleEndian.Uint32(header[6:])); err != nil {
		return p, err
	}
	p.dataAt = len(tree) - len(p.data)
	left := uint64(len(p.data))
	if left < streamSlack {
		return p, fault.Corruptf("streams of %d bytes", left)
	}
	left -= streamSlack
	for k := range binStreams - 1 {
		size := uint64(binary.LittleEndian.Uint32(header[10+4*k:]))
		if size > left {
			return p, fault.Corruptf("stream %d of %d bytes in %d", k, size, left)
		}
		left -= size
		p.starts[k+1] = p.starts[k] + int(size)
	}
	p.starts[binStreams] = len(p.data) - streamSlack
	return p, nil
}

func decodePrefixBins[U word](dst []U, tree []byte, t Type, s *Scratch) error {
	p, err := parsePrefixBins(tree)
	if err != nil {
		return err
	}
	lows := take[U](s, p.count)
	if err := decode(lows, p.lows, t, s); err != nil {
		return err
	}
	widths := take[uint8](s, 2*p.count)
	if err := decode(widths, p.widths, U8, s); err != nil {
		return err
	}
	d := binDecoder[U]{table: take[uint32](s, maxBins), bins: take[U](s, 2*maxBins), data: p.data}
	if err := fillBinTable(d.table, widths[:p.count], widths[p.count:], bitsOf[U]()); err != nil {
		return err
	}
	widest := 0
	for i, low := range lows {
		x := int(widths[p.count+i])
		widest = max(widest, x)
		d.bins[2*i], d.bins[2*i+1] = low, U(1)<<(x&63)-1
		if x >= bitsOf[U]() {
			d.bins[2*i+1] = ^U(0)
		}
	}
	for k := range d.pos {
		d.pos[k] = uint64(p.starts[k]) * 8
	}
	done := 0
	if widest <= wideOffset {
		done = d.rounds(dst)
	}
	for i := done; i < len(dst); i++ {
		dst[i] = d.one(i % binStreams)
	}
	for k, pos := range d.pos {
		if (pos+7)/8 != uint64(p.starts[k+1]) {
			return fault.Corruptf("stream %d ends at bit %d, not byte %d", k, pos, p.starts[k+1])
		}
	}
	return nil
}

// An entry of the table says what the next 12 bits begin with: number of the bin
// << 16 | bits of code and offset << 8 | bits of the code.

// fillBinTable checks the widths and fills the table with canonical codes.
func fillBinTable(table []uint32, lengths, offsets []uint8, most int) error {
	codes, ok := newCanonical(lengths)
	if !ok {
		return fault.Corruptf("prefix codes are not complete")
	}
	for i, n := range lengths {
		if int(offsets[i]) > most {
			return fault.Corruptf("offsets of %d bits in values of %d", offsets[i], most)
		}
		entry := uint32(i)<<16 | uint32(n+offsets[i])<<8 | uint32(n)
		for at := codes.take(n); at < maxBins; at += 1 << n {
			table[at] = entry
		}
	}
	return nil
}

// canonical hands out the codes of each length.
type canonical struct{ next [codeBits + 1]uint32 }

// newCanonical gives the codes of these lengths, and whether they are complete.
func newCanonical(lengths []uint8) (c canonical, ok bool) {
	var counts [codeBits + 1]uint32
	for _, n := range lengths {
		if n > codeBits || n == 0 && len(lengths) > 1 {
			return c, false
		}
		counts[n]++
	}
	used := uint32(0) // of the 2^12 codes of 12 bits
	for n, count := range counts {
		c.next[n] = used >> (codeBits - n)
		used += count << (codeBits - n)
	}
	return c, used == maxBins
}

// take is the next code of n bits, reversed: its first bit is the lowest.
func (c *canonical) take(n uint8) uint32 {
	code := c.next[n]
	c.next[n]++
	return bits.Reverse32(code) >> (32 - n)
}

type binDecoder[U word] struct {
	table []uint32           // 4096 entries
	bins  []U                // low and mask of the offset of each bin
	data  []byte             // streams and slack
	pos   [binStreams]uint64 // bit position in data of each stream
}

const (
	roundsAtOnce = 4                                      // between two looks at the end of the data
	roundBits    = roundsAtOnce * (codeBits + wideOffset) // that those take at most of a stream
)

// rounds reads values, four at a time, as long as no stream is near the end of
// the data, and returns how many it read. Streams do not wait for each other.
func (d *binDecoder[U]) rounds(dst []U) (done int) {
	if len(d.data) < roundBits/8+streamSlack {
		return 0
	}
	p0, p1, p2, p3 := d.pos[0], d.pos[1], d.pos[2], d.pos[3]
	limit := uint64(len(d.data)-streamSlack)*8 - roundBits
	table, bins := (*[maxBins]uint32)(d.table), (*[2 * maxBins]U)(d.bins)
	data := unsafe.Pointer(unsafe.SliceData(d.data))
	for len(dst)-done >= roundsAtOnce*binStreams && p0 <= limit && p1 <= limit && p2 <= limit && p3 <= limit {
		out := (*[roundsAtOnce * binStreams]U)(dst[done:])
		for k := 0; k < len(out); k += binStreams {
			w0 := load64(data, p0>>3) >> (p0 & 7)
			w1 := load64(data, p1>>3) >> (p1 & 7)
			w2 := load64(data, p2>>3) >> (p2 & 7)
			w3 := load64(data, p3>>3) >> (p3 & 7)
			e0, e1, e2, e3 := table[w0%maxBins], table[w1%maxBins], table[w2%maxBins], table[w3%maxBins]
			b0, b1, b2, b3 := e0>>16%maxBins*2, e1>>16%maxBins*2, e2>>16%maxBins*2, e3>>16%maxBins*2
			out[k] = bins[b0] + U(w0>>(e0&63))&bins[b0+1]
			out[k+1] = bins[b1] + U(w1>>(e1&63))&bins[b1+1]
			out[k+2] = bins[b2] + U(w2>>(e2&63))&bins[b2+1]
			out[k+3] = bins[b3] + U(w3>>(e3&63))&bins[b3+1]
			p0 += uint64(e0 >> 8 & 255)
			p1 += uint64(e1 >> 8 & 255)
			p2 += uint64(e2 >> 8 & 255)
			p3 += uint64(e3 >> 8 & 255)
		}
		done += len(out)
	}
	d.pos = [binStreams]uint64{p0, p1, p2, p3}
	return done
}

// load64 reads 8 bytes, which the caller knows to be there.
func load64(data unsafe.Pointer, at uint64) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(data, at))[:])
}

// one reads a value of stream k, with an offset of any width. What is behind the
// data reads as zeros.
func (d *binDecoder[U]) one(k int) U {
	e := d.table[d.bits(d.pos[k])%maxBins]
	at := d.pos[k] + uint64(e&255)
	d.pos[k] += uint64(e >> 8 & 255)
	offset := d.bits(at)&(1<<32-1) | d.bits(at+32)<<32
	bin := e >> 16 * 2
	return d.bins[bin] + U(offset)&d.bins[bin+1]
}

// bits are at least 57 bits from a bit position on, in the low bits.
func (d *binDecoder[U]) bits(pos uint64) uint64 {
	if at := pos >> 3; at+8 <= uint64(len(d.data)) {
		return binary.LittleEndian.Uint64(d.data[at:]) >> (pos & 7)
	}
	return 0
}

// appendPrefixBins falls back to FFOR where bins do not pay.
func appendPrefixBins[U word](e *enc, dst []byte, in input[U], p *plan) []byte {
	mark := e.scratch.mark()
	defer e.scratch.release(mark)
	b := chooseBins(e, in)
	if b.lows == nil {
		return appendFFOR(e, dst, in, &plan{})
	}
	flip := in.flip()
	start := len(dst)
	dst = appendHeader(dst, encoding.PrefixBins, binsHeader)
	binary.LittleEndian.PutUint16(dst[start+2:], uint16(len(b.lows)))
	lows := take[U](&e.scratch, len(b.lows))
	for i, low := range b.lows {
		lows[i] = low ^ flip
	}
	at := len(dst)
	child := in.child(lows, in.t, encoding.PrefixBins, 0)
	child.wrap = in.wrap
	dst = appendTree(e, dst, child, p.kids[0])
	binary.LittleEndian.PutUint32(dst[start+4:], uint32(len(dst)-at))
	dst = padTree(dst, start)
	at = len(dst)
	dst = appendTree(e, dst, childOf[U, uint8](in, b.widths, U8, encoding.PrefixBins, 1), p.kids[1])
	binary.LittleEndian.PutUint32(dst[start+8:], uint32(len(dst)-at))
	dst = padTree(dst, start)
	codes := take[uint32](&e.scratch, len(b.lows))
	lengths := b.widths[:len(b.lows)]
	canonical, _ := newCanonical(lengths) // codeLengths makes complete ones
	for i, n := range lengths {
		codes[i] = canonical.take(n)
	}
	for k := range binStreams {
		at := len(dst)
		dst = b.appendStream(dst, in.values, k, codes, flip)
		if k < binStreams-1 {
			binary.LittleEndian.PutUint32(dst[start+12+4*k:], uint32(len(dst)-at))
		}
	}
	var zeros [streamSlack]byte
	return append(dst, zeros[:]...)
}

// appendStream writes the codes and offsets of values k, k+4, k+8 ...
func (b *bins[U]) appendStream(dst []byte, values []U, k int, codes []uint32, flip U) []byte {
	w := bitWriter{dst: dst}
	for i := k; i < len(values); i += binStreams {
		bin := b.index[i]
		w.put(uint64(codes[bin]), int(b.widths[bin]))
		w.put(uint64((values[i]^flip)-b.lows[bin]), int(b.widths[len(b.lows)+int(bin)]))
	}
	return w.end()
}

// bitWriter appends bits, from the lowest of each byte on.
type bitWriter struct {
	dst  []byte
	room uint64 // bits that are not written yet
	used int    // how many
}

// put appends the n bits that v has.
func (w *bitWriter) put(v uint64, n int) {
	w.room |= v << w.used
	if w.used+n < 64 {
		w.used += n
		return
	}
	w.dst = binary.LittleEndian.AppendUint64(w.dst, w.room)
	w.room = v >> (64 - w.used)
	w.used += n - 64
}

// end fills the last byte with zeros.
func (w *bitWriter) end() []byte {
	for ; w.used > 0; w.used -= 8 {
		w.dst = append(w.dst, byte(w.room))
		w.room >>= 8
	}
	return w.dst
}
