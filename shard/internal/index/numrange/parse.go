package numrange

import (
	"encoding/binary"
	"unsafe"

	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/decimal"
)

// maxPayload is the maximum decoded size of a payload: enough for 2^31 positions of 8 bytes.
const maxPayload = 64 << 20

// MaxSize returns the maximum size of the index of a number of positions. ok is false if [Parse] would refuse an
// index of that many.
func MaxSize(positions uint64, width int) (size int64, ok bool) {
	n := positions/BlockLen + 1
	if width < 1 || n > uint64(maxPayload/width) {
		return 0, false
	}
	const frame = 4 << 10 // header, frames of three blocks, padding
	return frame + int64(n)*int64(2*width+2), true
}

// Index is a parsed index. It may be used concurrently.
type Index[T any] struct {
	Lo, Hi    []T      // bounds of the valid values of each block of positions
	Invalid   []uint16 // nulls and NaNs of each block; nil if there are none
	Positions uint64   // of the column, nulls included
}

// Len is the number of blocks of positions.
func (x *Index[T]) Len() int { return len(x.Lo) }

// Block returns the bounds of block i, and the number of invalid ones among its n positions. If all are invalid, the
// bounds have no meaning.
func (x *Index[T]) Block(i int) (lo, hi T, invalid, n int) {
	if x.Invalid != nil {
		invalid = int(x.Invalid[i])
	}
	return x.Lo[i], x.Hi[i], invalid, int(min(x.Positions-BlockLen*uint64(i), BlockLen))
}

// Parse reads the index of a column of a basic type of the schema with a number of positions. No checksum covers the
// header. If any of its fields differs from its expected value, the index must not be used, and Parse returns an
// error. The column is not damaged then: readers continue without the index.
func Parse[T numeric.Value](b []byte, basicType byte, positions uint64, s *numeric.Scratch) (*Index[T], error) {
	var zero T
	return parse(b, basicType, positions, int(unsafe.Sizeof(zero)), s, toNumbers[T])
}

// ParseDecimal is Parse for a column of decimals.
func ParseDecimal(b []byte, positions uint64, s *numeric.Scratch) (*Index[decimal.Decimal], error) {
	return parse(b, decimalType, positions, 16, s, func(image []byte) []decimal.Decimal { return decimal.Slice(image) })
}

func parse[T any](b []byte, basicType byte, positions uint64, width int, s *numeric.Scratch, convert func([]byte) []T) (*Index[T], error) {
	payloads, err := split(b, basicType, positions)
	if err != nil {
		return nil, err
	}
	n := (positions-1)/BlockLen + 1
	if n > uint64(maxPayload/width) {
		return nil, fault.Limitf("range index of %d positions", positions)
	}
	images := [3][]byte{make([]byte, int(n)*width), make([]byte, int(n)*width), nil}
	if len(payloads[2]) > 0 {
		images[2] = make([]byte, 2*n)
	}
	for i, image := range images {
		if image == nil {
			continue
		}
		if _, err := numeric.DecodeBlock(image, nil, 0, payloads[i], numeric.BlockOptions{Checksums: true}, s); err != nil {
			return nil, fault.In(err, [...]string{"least values", "greatest values", "invalid counts"}[i], -1)
		}
	}
	x := &Index[T]{Lo: convert(images[0]), Hi: convert(images[1]), Positions: positions}
	if images[2] != nil {
		x.Invalid = toNumbers[uint16](images[2])
	}
	for i, invalid := range x.Invalid {
		if _, _, _, n := x.Block(i); int(invalid) > n {
			return nil, fault.Corruptf("range index: %d of %d positions of block %d are invalid", invalid, n, i)
		}
	}
	return x, nil
}

// split checks the header and returns the payloads.
func split(b []byte, basicType byte, positions uint64) (payloads [3][]byte, err error) {
	if len(b) < headerLen || positions == 0 {
		return payloads, fault.Corruptf("range index of %d bytes for %d positions", len(b), positions)
	}
	want := [headerLen]byte{0: version, 2: basicType, 3: 1}
	binary.LittleEndian.PutUint64(want[4:], positions)
	copy(want[12:36], b[12:36]) // sizes, see below
	binary.LittleEndian.PutUint16(want[36:], BlockLen)
	if [headerLen]byte(b) != want {
		return payloads, fault.Corruptf("range index header % x, not that of type %d with %d positions", b[:headerLen], basicType, positions)
	}
	rest := b[headerLen:]
	for i := range payloads {
		n := binary.LittleEndian.Uint64(b[12+8*i:])
		if n > uint64(len(rest)) || n == 0 && i < 2 {
			return payloads, fault.Corruptf("range index: payload %d of %d bytes, %d are left", i, n, len(rest))
		}
		payloads[i], rest = rest[:n], rest[n:]
	}
	if len(b)%alignment != 0 || len(rest) >= alignment {
		return payloads, fault.Corruptf("range index: %d bytes behind the payloads of %d", len(rest), len(b))
	}
	for _, c := range rest {
		if c != 0 {
			return payloads, fault.Corruptf("range index: padding is not zero")
		}
	}
	return payloads, nil
}

// toNumbers reads little-endian values.
func toNumbers[T numeric.Value](image []byte) []T {
	var zero T
	out := make([]T, len(image)/int(unsafe.Sizeof(zero)))
	_, _ = binary.Decode(image, binary.LittleEndian, out) // never fails for numbers
	return out
}

// HeaderLen is the size of the header, which has no checksum.
const HeaderLen = headerLen

// Payload is the range of a payload in an index. Its last four bytes are the checksum of those before.
type Payload struct{ Start, End int }

// Payloads lists the payloads in the header of an index, as far as they are within b. It checks nothing else.
func Payloads(b []byte) (payloads []Payload) {
	if len(b) < headerLen {
		return nil
	}
	at := headerLen
	for i := range 3 {
		n := binary.LittleEndian.Uint64(b[12+8*i:])
		if n > uint64(len(b)-at) {
			break
		}
		payloads = append(payloads, Payload{at, at + int(n)})
		at += int(n)
	}
	return payloads
}
