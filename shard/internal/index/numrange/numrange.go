// Package numrange is the range index of a column of numbers: the least and the greatest value of every 256
// positions, so that a reader skips positions that cannot match (docs/format.md §9). It is a buffer of its own.
//
//	 0  u16  version 1
//	 2  u8   basic type of the column, in the schema's numbers
//	 3  u8   1: the payloads end with checksums
//	 4  u64  positions, nulls included
//	12  u64  size of the payload of least values
//	20  u64  size of the payload of greatest values
//	28  u64  size of the payload of invalid counts, 0 if all are 0
//	36  u16  positions in a block, 256
//	38  u16  0
//	40       the three payloads, then zeros up to a multiple of 64
//
// Each payload is the bytes of an array with an element for each block of positions, encoded as one block of u8
// (package encoding/numeric). Nulls and NaNs are invalid. If all positions of a block are invalid, both bounds are 0.
package numrange

import (
	"encoding/binary"
	"unsafe"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/bounds"
	"github.com/amudai/amudai-go/internal/format/decimal"
)

// BlockLen is the number of positions in a block; the last may have fewer.
const BlockLen = 256

const (
	headerLen   = 40
	alignment   = 64
	version     = 1
	decimalType = 9 // FixedSizeBinary
)

// blocks collects the bounds of blocks of positions.
type blocks[T any] struct {
	lo, hi     []T
	invalid    []uint16
	span       uint64
	anyInvalid bool
	anyValid   bool

	n, bad       int  // positions of the open block, and the invalid among them
	started      bool // the open block has bounds
	curLo, curHi T
}

// add counts n positions of the open block, of which bad are invalid.
func (b *blocks[T]) add(n, bad int) {
	b.span += uint64(n)
	b.n += n
	b.bad += bad
	b.anyInvalid = b.anyInvalid || bad > 0
	b.anyValid = b.anyValid || bad < n
	if b.n == BlockLen {
		b.close()
	}
}

func (b *blocks[T]) close() {
	b.lo, b.hi, b.invalid = append(b.lo, b.curLo), append(b.hi, b.curHi), append(b.invalid, uint16(b.bad))
	var zero T
	b.curLo, b.curHi, b.n, b.bad, b.started = zero, zero, 0, 0, false
}

// Builder collects the index of a column of numbers: integers, floats, DateTime (uint64) or TimeSpan (int64). It must
// not be used concurrently.
type Builder[T numeric.Value] struct {
	basicType byte
	b         blocks[T]
}

// NewBuilder returns an empty builder for a column of a basic type of the schema.
func NewBuilder[T numeric.Value](basicType byte) *Builder[T] {
	return &Builder[T]{basicType: basicType}
}

// Add adds values. valid is their validity, of the same length.
func (x *Builder[T]) Add(values []T, valid bitmap.Bits) {
	var buf [bounds.GatherLen]T
	for len(values) > 0 {
		n := min(BlockLen-x.b.n, len(values))
		piece, ok := values[:n], valid.Slice(0, n)
		good := 0
		for at := 0; at < n; {
			var run []T
			run, at = bounds.Gather(piece, ok, at, &buf)
			good += x.widen(run)
		}
		x.b.add(n, n-good)
		values, valid = values[n:], valid.Slice(n, valid.Len)
	}
}

// widen widens the bounds of the open block, and returns the number of valid values.
func (x *Builder[T]) widen(run []T) int {
	lo, hi, n := bounds.Of(run)
	if n == 0 {
		return 0
	}
	b := &x.b
	if !b.started || lo < b.curLo {
		b.curLo = lo
	}
	if !b.started || hi > b.curHi {
		b.curHi = hi
	}
	b.started = true
	return n
}

// Append appends the buffer of all values, encoded with the profile. It appends nothing if no position is valid:
// there is no index then. For profile Plain, the caller omits the index. The builder must not be used afterwards.
func (x *Builder[T]) Append(dst []byte, p encoding.Profile) []byte {
	return appendIndex(dst, &x.b, x.basicType, p, appendNumbers[T])
}

// DecimalBuilder collects the index of a column of decimals. The zero value is ready to use. It must not be used
// concurrently.
type DecimalBuilder struct{ b blocks[decimal.Decimal] }

// NewDecimalBuilder returns an empty builder.
func NewDecimalBuilder() *DecimalBuilder { return &DecimalBuilder{} }

// Add adds values. valid is their validity, of the same length.
func (x *DecimalBuilder) Add(values []decimal.Decimal, valid bitmap.Bits) {
	var buf [bounds.GatherLen]decimal.Decimal
	for len(values) > 0 {
		n := min(BlockLen-x.b.n, len(values))
		piece, ok := values[:n], valid.Slice(0, n)
		good := 0
		for at := 0; at < n; {
			var run []decimal.Decimal
			run, at = bounds.Gather(piece, ok, at, &buf)
			good += x.widen(run)
		}
		x.b.add(n, n-good)
		values, valid = values[n:], valid.Slice(n, valid.Len)
	}
}

// AddScaled is Add for the values coefficients[i] × 10^exponent, as decimal.FromInt64 encodes them.
func (x *DecimalBuilder) AddScaled(coefficients []int64, exponent int, valid bitmap.Bits) {
	var buf [bounds.GatherLen]int64
	var ends [2]decimal.Decimal
	for len(coefficients) > 0 {
		n := min(BlockLen-x.b.n, len(coefficients))
		piece, ok := coefficients[:n], valid.Slice(0, n)
		good := 0
		for at := 0; at < n; {
			var run []int64
			run, at = bounds.Gather(piece, ok, at, &buf)
			lo, hi, k := bounds.Of(run)
			if k > 0 {
				decimal.FromInt64(ends[:], []int64{lo, hi}, exponent)
				x.widenTo(ends[0], ends[1])
			}
			good += k
		}
		x.b.add(n, n-good)
		coefficients, valid = coefficients[n:], valid.Slice(n, valid.Len)
	}
}

func (x *DecimalBuilder) widen(run []decimal.Decimal) int {
	lo, hi, n := decimal.Bounds(run)
	if n > 0 {
		x.widenTo(lo, hi)
	}
	return n
}

func (x *DecimalBuilder) widenTo(lo, hi decimal.Decimal) {
	b := &x.b
	if !b.started || lo.Compare(b.curLo) < 0 {
		b.curLo = lo
	}
	if !b.started || hi.Compare(b.curHi) > 0 {
		b.curHi = hi
	}
	b.started = true
}

// Append is [Builder.Append].
func (x *DecimalBuilder) Append(dst []byte, p encoding.Profile) []byte {
	return appendIndex(dst, &x.b, decimalType, p, appendDecimals)
}

func appendIndex[T any](dst []byte, b *blocks[T], basicType byte, p encoding.Profile, image func([]byte, []T) []byte) []byte {
	if b.n > 0 {
		b.close()
	}
	if !b.anyValid {
		return dst
	}
	start := len(dst)
	header := [headerLen]byte{0: version, 2: basicType, 3: 1}
	binary.LittleEndian.PutUint64(header[4:], b.span)
	binary.LittleEndian.PutUint16(header[36:], BlockLen)
	dst = append(dst, header[:]...)

	payloads := [3][]byte{image(nil, b.lo), image(nil, b.hi), nil}
	if b.anyInvalid {
		payloads[2] = appendNumbers(nil, b.invalid)
	}
	for i, bytes := range payloads {
		if bytes == nil {
			continue
		}
		// A new encoder for each, so that bytes do not depend on history.
		block, err := numeric.NewEncoder[uint8](options(p, len(bytes))).AppendBlock(nil, bytes, bitmap.All(len(bytes)))
		if err != nil {
			return dst[:start] // the column then has no index
		}
		binary.LittleEndian.PutUint64(dst[start+12+8*i:], uint64(len(block)))
		dst = append(dst, block...)
	}
	return append(dst, make([]byte, -(len(dst)-start)&(alignment-1))...)
}

// tiny is the size in bytes up to which a payload is not compressed, because the buffer is aligned to 64 bytes
// anyway.
const tiny = 64

func options(p encoding.Profile, n int) encoding.Options {
	if n <= tiny {
		p = encoding.ProfilePlain
	}
	return encoding.Options{Profile: p, NoPresence: true}
}

// appendNumbers appends values in little-endian order.
func appendNumbers[T numeric.Value](dst []byte, values []T) []byte {
	var zero T
	switch p := unsafe.Pointer(unsafe.SliceData(values)); unsafe.Sizeof(zero) {
	case 1:
		return append(dst, unsafe.Slice((*byte)(p), len(values))...)
	case 2:
		for _, v := range unsafe.Slice((*uint16)(p), len(values)) {
			dst = binary.LittleEndian.AppendUint16(dst, v)
		}
	case 4:
		for _, v := range unsafe.Slice((*uint32)(p), len(values)) {
			dst = binary.LittleEndian.AppendUint32(dst, v)
		}
	case 8:
		for _, v := range unsafe.Slice((*uint64)(p), len(values)) {
			dst = binary.LittleEndian.AppendUint64(dst, v)
		}
	}
	return dst
}

func appendDecimals(dst []byte, values []decimal.Decimal) []byte {
	return append(dst, decimal.Bytes(values)...)
}
