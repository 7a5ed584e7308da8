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
	return parse(b, basicType, positions, s, decodeNumbers[T])
}

// ParseDecimal is Parse for a column of decimals.
func ParseDecimal(b []byte, positions uint64, s *numeric.Scratch) (*Index[decimal.Decimal], error) {
	return parse(b, decimalType, positions, s, func(_ byte, n int, payload []byte, s *numeric.Scratch) ([]decimal.Decimal, error) {
		image := make([]byte, n*decimal.Width)
		return decimal.Slice(image), decodeBlock(image, payload, s)
	})
}

func parse[T any](b []byte, basicType byte, positions uint64, s *numeric.Scratch,
	decode func(version byte, n int, payload []byte, s *numeric.Scratch) ([]T, error)) (*Index[T], error) {
	payloads, err := split(b, basicType, positions)
	if err != nil {
		return nil, err
	}
	var zero T
	most := (positions-1)/BlockLen + 1
	if most > uint64(maxPayload/unsafe.Sizeof(zero)) {
		return nil, fault.Limitf("range index of %d positions", positions)
	}
	n, version := int(most), b[0]
	x := &Index[T]{Positions: positions}
	if x.Lo, err = decode(version, n, payloads[0], s); err != nil {
		return nil, fault.In(err, "least values", -1)
	}
	if x.Hi, err = decode(version, n, payloads[1], s); err != nil {
		return nil, fault.In(err, "greatest values", -1)
	}
	if len(payloads[2]) == 0 {
		return x, nil
	}
	if x.Invalid, err = decodeNumbers[uint16](version, n, payloads[2], s); err != nil {
		return nil, fault.In(err, "invalid counts", -1)
	}
	for i, invalid := range x.Invalid {
		if _, _, _, n := x.Block(i); int(invalid) > n {
			return nil, fault.Corruptf("range index: %d of %d positions of block %d are invalid", invalid, n, i)
		}
	}
	return x, nil
}

// decodeNumbers decodes a payload of n numbers.
func decodeNumbers[T numeric.Value](version byte, n int, payload []byte, s *numeric.Scratch) ([]T, error) {
	out := make([]T, n)
	if version == asNumbers {
		return out, decodeBlock(out, payload, s)
	}
	image := make([]byte, n*numeric.Of[T]().Size())
	if err := decodeBlock(image, payload, s); err != nil {
		return nil, err
	}
	_, _ = binary.Decode(image, binary.LittleEndian, out) // never fails for numbers
	return out, nil
}

func decodeBlock[T numeric.Value](out []T, payload []byte, s *numeric.Scratch) error {
	_, err := numeric.DecodeBlock(out, nil, 0, payload, numeric.BlockOptions{Checksums: true}, s)
	return err
}

// split checks the header and returns the payloads.
func split(b []byte, basicType byte, positions uint64) (payloads [3][]byte, err error) {
	if len(b) < headerLen || positions == 0 {
		return payloads, fault.Corruptf("range index of %d bytes for %d positions", len(b), positions)
	}
	want := [headerLen]byte{0: asBytes, 2: basicType, 3: 1}
	if b[0] == asNumbers {
		want[0] = asNumbers
	}
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
