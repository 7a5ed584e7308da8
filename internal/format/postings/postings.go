// Package postings has lists of rows in few bits: the rows that hold a term (docs/format.md §15.4). A reader knows beforehand how many rows a
// list has, and that all are below some number.
//
// A list of one row is this row. Any other has the gaps between its rows, or between runs of consecutive rows and the lengths of these,
// in groups of Rice codes (R. F. Rice, Some practical universal noiseless coding techniques, JPL 1979), each group with its parameters.
//
// The gaps of rows at random take hardly more bits than their entropy. Runs are frequent because neighbouring lines have terms in
// common.
package postings

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// MaxRow is the greatest row of a list.
const MaxRow = 1<<31 - 2 // so that the number of rows is an int of 32 bits

const (
	groupLen   = 128
	impliedLen = 16 // lists of less rows have no parameters
	escape     = 16 // zeros before a number whose size is written
	paramBits  = 5
	formBit    = 1
)

// rowBits is the number of bits of a row below total.
func rowBits(total int) uint { return uint(bits.Len(uint(total - 1))) }

// gapParam is the parameter of gaps that is not written, for n of total rows.
func gapParam(n, total int) uint {
	return uint(bits.Len(uint(max((total-n)/n*7/10-1, 0))))
}

// runParams are the parameters of runs that are not written.
func runParams(n, total int) (gaps, lengths uint) {
	return gapParam((n+1)/2, total), 0
}

// Writer appends lists to Bytes. The zero value is ready. It must not be used concurrently.
type Writer struct {
	Bytes []byte
	word  uint64 // bits that are not in Bytes yet
	n     uint   // less than 8 of them

	gaps, runGaps, runLens []uint32
}

// put appends n bits, of which x has no others set. n is at most 56.
func (w *Writer) put(x uint64, n uint) {
	w.word |= x << w.n
	w.n += n
	whole := w.n / 8 // bytes; those behind them are written again
	w.Bytes = binary.LittleEndian.AppendUint64(w.Bytes, w.word)[:len(w.Bytes)+int(whole)]
	w.word >>= 8 * whole
	w.n %= 8
}

// Align completes the last byte with zeros, so that the next list begins with a byte.
func (w *Writer) Align() {
	if w.n > 0 {
		w.put(0, 8-w.n)
	}
}

// Append appends a list of rows: at least one, ascending, each once, all below total.
func (w *Writer) Append(rows []uint32, total int) {
	n := len(rows)
	if n == 1 {
		w.put(uint64(rows[0]), rowBits(total))
		return
	}
	w.divide(rows)
	runGapParam, runLenParam := runParams(n, total)
	gaps, runGaps, runLens := stream{w.gaps, gapParam(n, total)}, stream{w.runGaps, runGapParam}, stream{w.runLens, runLenParam}
	written := n >= impliedLen
	if len(w.runGaps) == n || gaps.bits(written) <= runGaps.bits(written)+runLens.bits(written) {
		w.put(0, formBit)
		w.groups(written, gaps)
		return
	}
	w.put(1, formBit)
	w.groups(written, runGaps, runLens)
}

// AppendNumbers appends numbers in groups with their parameters, as a list of many rows has its gaps.
func (w *Writer) AppendNumbers(x []uint32) { w.groups(true, stream{numbers: x}) }

// divide finds the gaps of rows and of runs.
func (w *Writer) divide(rows []uint32) {
	w.gaps, w.runGaps, w.runLens = w.gaps[:0], w.runGaps[:0], w.runLens[:0]
	next := uint32(0) // the row behind the last one
	for _, row := range rows {
		gap := row - next
		w.gaps = append(w.gaps, gap)
		switch {
		case next == 0:
			w.runGaps, w.runLens = append(w.runGaps, gap), append(w.runLens, 0)
		case gap == 0:
			w.runLens[len(w.runLens)-1]++
		default:
			w.runGaps, w.runLens = append(w.runGaps, gap-1), append(w.runLens, 0)
		}
		next = row + 1
	}
}

// stream is numbers of one kind, and their parameter if it is not written.
type stream struct {
	numbers []uint32
	implied uint
}

// bits is the size of the stream.
func (s stream) bits(written bool) (n int) {
	k := s.implied
	for from := 0; from < len(s.numbers); from += groupLen {
		group := s.numbers[from:min(from+groupLen, len(s.numbers))]
		if written {
			k = param(group)
			n += paramBits
		}
		for _, x := range group {
			if q := x >> k; q < escape {
				n += int(q) + 1 + int(k)
			} else {
				n += escape + paramBits + bits.Len32(x)
			}
		}
	}
	return n
}

// param is the best parameter for a group, as far as the sizes of its numbers tell.
func param(group []uint32) uint {
	var sizes [33]int
	most := 0
	for _, x := range group {
		k := bits.Len32(x)
		sizes[k]++
		most = max(most, k)
	}
	best, least := uint(0), int(^uint(0)>>1)
	for k := range most + 1 {
		cost := 0
		for size, n := range sizes[:most+1] {
			number := escape + paramBits + size
			if middle := 3 << size >> 2 >> k; middle < escape {
				number = middle + 1 + k
			}
			cost += n * number
		}
		if cost < least {
			best, least = uint(k), cost
		}
	}
	return min(best, 1<<paramBits-1)
}

// groups writes streams of the same length.
func (w *Writer) groups(written bool, streams ...stream) {
	var k [2]uint
	for i, s := range streams {
		k[i] = s.implied
	}
	n := len(streams[0].numbers)
	for from := 0; from < n; from += groupLen {
		to := min(from+groupLen, n)
		for i, s := range streams {
			if written {
				k[i] = param(s.numbers[from:to])
				w.put(uint64(k[i]), paramBits)
			}
		}
		for at := from; at < to; at++ {
			for i, s := range streams {
				w.number(s.numbers[at], k[i])
			}
		}
	}
}

func (w *Writer) number(x uint32, k uint) {
	if q := uint(x >> k); q < escape {
		w.put(1<<q|uint64(x&(1<<k-1))<<(q+1), q+1+k)
		return
	}
	n := uint(bits.Len32(x))
	w.put(uint64(n-1)<<escape, escape+paramBits)
	w.put(uint64(x), n)
}

// Reader reads lists one after the other. The zero value has none. It must not be used concurrently.
type Reader struct {
	data []byte
	at   int // bits
}

// NewReader returns a reader of the lists in data, which it refers to.
func NewReader(data []byte) Reader { return Reader{data: data} }

// Bit is how many bits are in front of the next list.
func (r *Reader) Bit() int { return r.at }

// Skip skips bits in front of the next list.
func (r *Reader) Skip(bits int) { r.at += bits }

// wordBits is how many bits word returns at least.
const wordBits = 57

// word returns the bits of data that come at bit at, zeros behind the end.
func word(data []byte, at int) uint64 {
	if i := at >> 3; i+8 <= len(data) {
		return binary.LittleEndian.Uint64(data[i:]) >> (at & 7)
	}
	return lastWord(data, at)
}

func lastWord(data []byte, at int) uint64 {
	var last [8]byte
	if i := at >> 3; i < len(data) {
		copy(last[:], data[i:])
	}
	return binary.LittleEndian.Uint64(last[:]) >> (at & 7)
}

func (r *Reader) bits(n uint) uint64 {
	x := word(r.data, r.at) & (1<<n - 1)
	r.at += int(n)
	return x
}

// number reads a number.
func (r *Reader) number(k uint) uint32 {
	w := word(r.data, r.at)
	if q := uint(bits.TrailingZeros64(w)); q < escape {
		r.at += int(q + 1 + k)
		return uint32(q<<k) | uint32(w>>(q+1))&(1<<k-1)
	}
	n := uint(w>>escape)&(1<<paramBits-1) + 1
	r.at += int(escape + paramBits + n)
	return uint32(w>>(escape+paramBits)) & uint32(1<<n-1)
}

// pair reads two numbers, mostly from one word.
func (r *Reader) pair(k, l uint) (x, y uint32) {
	w := word(r.data, r.at)
	q := uint(bits.TrailingZeros64(w))
	first := (q + 1 + k) & 63
	v := w >> first
	p := uint(bits.TrailingZeros64(v))
	second := p + 1 + l
	if q >= escape || p >= escape || first+second > wordBits {
		return r.number(k), r.number(l)
	}
	r.at += int(first + second)
	return uint32(q<<(k&31)) | uint32(w>>(q+1))&(1<<(k&31)-1), uint32(p<<(l&31)) | uint32(v>>(p+1))&(1<<(l&31)-1)
}

// numbers reads numbers. It takes as many from a word as are surely complete, so that one does not wait for the other to be loaded.
func (r *Reader) numbers(out []uint32, k uint) {
	k &= 1<<paramBits - 1
	mask := uint32(1)<<k - 1
	for i := 0; i < len(out); {
		w := word(r.data, r.at)
		used := uint(0)
		for ; i < len(out) && used <= wordBits-escape-k; i++ {
			q := uint(bits.TrailingZeros64(w))
			if q >= escape {
				break
			}
			out[i] = uint32(q<<k) | uint32(w>>(q+1))&mask
			size := q + 1 + k
			w >>= size & 63
			used += size
		}
		if r.at += int(used); used == 0 {
			out[i] = r.number(k)
			i++
		}
	}
}

// Append appends the rows of the next list to dst. The list has n rows below total; both are at least 1, and total at most MaxRow+1. Memory is
// taken for n rows. After an error the reader must not be used.
func (r *Reader) Append(dst []uint32, n, total int) ([]uint32, error) {
	if n > total {
		return dst, fault.Corruptf("list of %d of %d rows", n, total)
	}
	from := len(dst)
	dst = slices.Grow(dst, n)
	rows := dst[from : from+n]
	ok := true
	switch {
	case n == 1:
		rows[0] = uint32(r.bits(rowBits(total)))
	case r.bits(formBit) == 0:
		ok = r.readGaps(rows, total)
	default:
		ok = r.readRuns(rows, total)
	}
	if err := r.check(ok && int(rows[n-1]) < total, n, total); err != nil {
		return dst, err
	}
	return dst[:from+n], nil
}

// check is the error of a list that was read, and whose rows are sound if ok.
func (r *Reader) check(ok bool, n, total int) error {
	if !ok {
		return fault.Corruptf("list of %d rows is not of rows below %d", n, total)
	}
	if r.at > 8*len(r.data) {
		return fault.Corruptf("list ends behind its %d bytes", len(r.data))
	}
	return nil
}

// Mark sets the bits of the rows of the next list, as [Reader.Append] reads it, the least significant of a byte first. The bitmap has at least total bits, of
// which some may be set after an error.
func (r *Reader) Mark(bits []byte, n, total int) error {
	var group [groupLen]uint32
	if n < impliedLen || n > total {
		rows, err := r.Append(group[:0], n, total)
		Mark(bits, rows, 0)
		return err
	}
	ok := true
	if r.bits(formBit) == 1 {
		ok = r.markRuns(bits, n, total)
	} else {
		next := uint64(0)
		for left := n; left > 0 && ok; left -= groupLen {
			rows := group[:min(left, groupLen)]
			next = r.rows(rows, next, uint(r.bits(paramBits)))
			if ok = next <= uint64(total); ok {
				Mark(bits, rows, 0)
			}
		}
	}
	return r.check(ok, n, total)
}

// Mark sets the bits of rows that a bitmap has, whose first bit is that of a row.
func Mark(bits []byte, rows []uint32, first uint32) {
	for _, row := range rows {
		at := row - first
		bits[at>>3] |= 1 << (at & 7)
	}
}

// AppendNumbers appends the n numbers that come next to dst ([Writer.AppendNumbers]). Memory is taken for n numbers. After an error the reader
// must not be used.
func (r *Reader) AppendNumbers(dst []uint32, n int) ([]uint32, error) {
	from := len(dst)
	dst = slices.Grow(dst, n)[:from+n]
	for rest := dst[from:]; len(rest) > 0; rest = rest[min(len(rest), groupLen):] {
		r.numbers(rest[:min(len(rest), groupLen)], uint(r.bits(paramBits)))
	}
	if r.at > 8*len(r.data) {
		return dst, fault.Corruptf("%d numbers end behind their %d bytes", n, len(r.data))
	}
	return dst, nil
}

// SkipList skips the next list, of n rows below total, as [Reader.Append] reads it. It returns the scratch memory.
func (r *Reader) SkipList(scratch []uint32, n, total int) ([]uint32, error) {
	if n == 1 {
		r.at += int(rowBits(total))
		return scratch, nil
	}
	return r.Append(scratch[:0], n, total)
}

// readGaps reads rows. It returns false if one is not below total.
func (r *Reader) readGaps(rows []uint32, total int) bool {
	k := gapParam(len(rows), total)
	written := len(rows) >= impliedLen
	next := uint64(0)
	for len(rows) > 0 {
		if written {
			k = uint(r.bits(paramBits))
		}
		group := rows[:min(len(rows), groupLen)]
		rows = rows[len(group):]
		if next = r.rows(group, next, k); next > uint64(total) { // it grows by less than 2^39 in a group
			return false
		}
	}
	return true
}

// rows reads a group of gaps between rows, of which the first is from next on. It returns the row behind the last one.
func (r *Reader) rows(group []uint32, next uint64, k uint) uint64 {
	r.numbers(group, k)
	for i, gap := range group {
		next += uint64(gap)
		group[i] = uint32(next)
		next++
	}
	return next
}

// markRuns is readRuns into a bitmap, of a list with parameters.
func (r *Reader) markRuns(set []byte, n, total int) bool {
	var gapParam, lenParam uint
	next := int64(0)
	for runs := 0; n > 0; runs++ {
		if runs%groupLen == 0 {
			gapParam, lenParam = uint(r.bits(paramBits)), uint(r.bits(paramBits))
		}
		gap, more := r.pair(gapParam, lenParam)
		row, length := next+int64(gap), int64(more)+1
		if length > int64(n) || row+length > int64(total) {
			return false
		}
		if at := int(row >> 3); length <= wordBits && at+8 <= len(set) {
			b := set[at : at+8]
			binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)|(1<<length-1)<<(row&7))
		} else {
			bitmap.SetRange(set, int(row), int(length))
		}
		n, next = n-int(length), row+length+1
	}
	return true
}

// readRuns reads rows. It returns false if a run ends behind them or behind total.
func (r *Reader) readRuns(rows []uint32, total int) bool {
	gapParam, lenParam := runParams(len(rows), total)
	written := len(rows) >= impliedLen
	next := 0
	for runs := 0; len(rows) > 0; runs++ {
		if written && runs%groupLen == 0 {
			gapParam, lenParam = uint(r.bits(paramBits)), uint(r.bits(paramBits))
		}
		gap, more := r.pair(gapParam, lenParam)
		row, length := next+int(gap), int(more)+1
		if length > len(rows) || row+length > total {
			return false
		}
		for i := range rows[:length] {
			rows[i] = uint32(row + i)
		}
		rows, next = rows[length:], row+length+1
	}
	return true
}
