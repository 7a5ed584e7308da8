// Package prefixbins is the kernel of the encoding PrefixBins (docs/format.md §7.4): values as prefix codes of ranges of
// the number line, and offsets in them. So do Deflate's distances (RFC 1951), and for columns Loncaric, Jeppesen and
// Zinberg, "Pcodec: Better Compression for Numerical Sequences" (2025).
package prefixbins

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/fault"
)

const (
	// MaxBins is the most bins that there are.
	MaxBins = 1 << codeBits
	// Streams is the number of streams: value i is in stream i mod Streams.
	Streams = 4
	// Slack is the zero bytes behind the streams, so that 8 bytes can be read anywhere.
	Slack = 8

	codeBits   = 12 // longest prefix code
	wideOffset = 44 // bits of an offset that 8 bytes hold behind a code at any bit of a byte
)

// Decode decodes values from streams: lows has the least value of each bin, and widths their code lengths and then the
// bits of their offsets, which are checked. data is the streams and Slack zero bytes, and starts where each stream begins
// in it, and where the last one ends. The table lies in the arena.
func Decode[U word.Uint](a *word.Arena, dst, lows []U, widths []uint8, data []byte, starts [Streams + 1]int) error {
	n := len(lows)
	d := binDecoder[U]{table: word.Take[uint32](a, MaxBins), bins: word.Take[U](a, 2*MaxBins), data: data}
	if err := fillBinTable(d.table, widths[:n], widths[n:], word.BitsOf[U]()); err != nil {
		return err
	}
	widest := 0
	for i, low := range lows {
		x := int(widths[n+i])
		widest = max(widest, x)
		d.bins[2*i], d.bins[2*i+1] = low, U(1)<<(x&63)-1
		if x >= word.BitsOf[U]() {
			d.bins[2*i+1] = ^U(0)
		}
	}
	for k := range d.pos {
		d.pos[k] = uint64(starts[k]) * 8
	}
	done := 0
	if widest <= wideOffset {
		done = d.rounds(dst, widest)
	}
	for i := done; i < len(dst); i++ {
		dst[i] = d.one(i % Streams)
	}
	for k, pos := range d.pos {
		if (pos+7)/8 != uint64(starts[k+1]) {
			return fault.Corruptf("stream %d ends at bit %d, not byte %d", k, pos, starts[k+1])
		}
	}
	return nil
}

// An entry of the table says what the next 12 bits begin with: place of the bin in
// bins << 16 | bits of code and offset << 8 | bits of the code.

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
		entry := uint32(2*i)<<16 | uint32(n+offsets[i])<<8 | uint32(n)
		for at := codes.take(n); at < MaxBins; at += 1 << n {
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
	return c, used == MaxBins
}

// take is the next code of n bits, reversed: its first bit is the lowest.
func (c *canonical) take(n uint8) uint32 {
	code := c.next[n]
	c.next[n]++
	return bits.Reverse32(code) >> (32 - n)
}

type binDecoder[U word.Uint] struct {
	table []uint32        // 4096 entries
	bins  []U             // low and mask of the offset of each bin
	data  []byte          // streams and slack
	pos   [Streams]uint64 // bit position in data of each stream
}

const (
	roundsAtOnce = 4                                      // between two looks at the end of the data
	roundBits    = roundsAtOnce * (codeBits + wideOffset) // that those take at most of a stream
	loadBits     = 57                                     // that 8 bytes hold from any bit of the first byte on
)

// rounds reads values, four at a time, as long as no stream is near the end of
// the data, and returns how many it read. Streams do not wait for each other.
// Offsets have at most widest bits.
func (d *binDecoder[U]) rounds(dst []U, widest int) (done int) {
	n := len(dst) / (roundsAtOnce * Streams)
	if len(d.data) < roundBits/8+Slack || n == 0 {
		return 0
	}
	limit := uint64(len(d.data)-Slack)*8 - roundBits
	if kernels {
		return d.roundsAsm(dst, n, limit, roundsAtOnce*(codeBits+widest) <= loadBits) * roundsAtOnce * Streams
	}
	return d.roundsGo(dst, limit)
}

func (d *binDecoder[U]) roundsGo(dst []U, limit uint64) (done int) {
	p0, p1, p2, p3 := d.pos[0], d.pos[1], d.pos[2], d.pos[3]
	table, bins := (*[MaxBins]uint32)(d.table), (*[2 * MaxBins]U)(d.bins)
	data := unsafe.Pointer(unsafe.SliceData(d.data))
	for len(dst)-done >= roundsAtOnce*Streams && p0 <= limit && p1 <= limit && p2 <= limit && p3 <= limit {
		out := (*[roundsAtOnce * Streams]U)(dst[done:])
		for k := 0; k < len(out); k += Streams {
			w0 := word.Load64(data, p0>>3) >> (p0 & 7)
			w1 := word.Load64(data, p1>>3) >> (p1 & 7)
			w2 := word.Load64(data, p2>>3) >> (p2 & 7)
			w3 := word.Load64(data, p3>>3) >> (p3 & 7)
			e0, e1, e2, e3 := table[w0%MaxBins], table[w1%MaxBins], table[w2%MaxBins], table[w3%MaxBins]
			b0, b1, b2, b3 := e0>>16%(2*MaxBins), e1>>16%(2*MaxBins), e2>>16%(2*MaxBins), e3>>16%(2*MaxBins)
			out[k] = bins[b0] + U(w0>>(e0&63))&bins[b0|1]
			out[k+1] = bins[b1] + U(w1>>(e1&63))&bins[b1|1]
			out[k+2] = bins[b2] + U(w2>>(e2&63))&bins[b2|1]
			out[k+3] = bins[b3] + U(w3>>(e3&63))&bins[b3|1]
			p0 += uint64(e0 >> 8 & 255)
			p1 += uint64(e1 >> 8 & 255)
			p2 += uint64(e2 >> 8 & 255)
			p3 += uint64(e3 >> 8 & 255)
		}
		done += len(out)
	}
	d.pos = [Streams]uint64{p0, p1, p2, p3}
	return done
}

// one reads a value of stream k, with an offset of any width. What is behind the
// data reads as zeros.
func (d *binDecoder[U]) one(k int) U {
	e := d.table[d.bits(d.pos[k])%MaxBins]
	at := d.pos[k] + uint64(e&255)
	d.pos[k] += uint64(e >> 8 & 255)
	offset := d.bits(at)&(1<<32-1) | d.bits(at+32)<<32
	bin := e >> 16
	return d.bins[bin] + U(offset)&d.bins[bin+1]
}

// bits are at least 57 bits from a bit position on, in the low bits.
func (d *binDecoder[U]) bits(pos uint64) uint64 {
	if at := pos >> 3; at+8 <= uint64(len(d.data)) {
		return binary.LittleEndian.Uint64(d.data[at:]) >> (pos & 7)
	}
	return 0
}
