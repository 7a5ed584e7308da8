package bytestring

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// numbers writes the numbers in a column's trees: as is best, or in given forms.
type numbers struct {
	o       encoding.Options
	codes   *numeric.Encoder[uint32]
	lengths *numeric.Encoder[uint32]
	values  *numeric.Encoder[uint32]
	offsets *numeric.Encoder[uint64]
	ints    *numeric.Encoder[int64]
	shapes  []string // forced forms, in the order of the tree's parts; nil: choose
}

// appendCodes writes dictionary codes, always as a tree.
func (s *numbers) appendCodes(dst []byte, codes []uint32) ([]byte, error) {
	return appendTree(s, &s.codes, 0, dst, codes, bitmap.All(len(codes)))
}

// appendLengths writes the lengths of distinct values. nested tells whether they
// became a tree.
func (s *numbers) appendLengths(dst []byte, lengths []uint32) (out []byte, nested bool, err error) {
	if s.shapes != nil {
		return appendForced(dst, lengths, s.shapes[1])
	}
	return appendNested(dst, lengths, encoderOf(&s.lengths, s.o))
}

// appendValueLengths writes the length of every value.
func (s *numbers) appendValueLengths(dst []byte, lengths []uint32) (out []byte, nested bool, err error) {
	if s.shapes != nil {
		return appendForced(dst, lengths, s.shapes[0])
	}
	return appendNested(dst, lengths, encoderOf(&s.values, s.o))
}

// appendTemplateLengths writes the lengths of templates, always as a tree.
func (s *numbers) appendTemplateLengths(dst []byte, lengths []uint32) ([]byte, error) {
	return appendTree(s, &s.lengths, 1, dst, lengths, bitmap.All(len(lengths)))
}

// appendOffsets writes offsets.
func (s *numbers) appendOffsets(dst []byte, offsets []uint64) (out []byte, nested bool, err error) {
	if s.shapes != nil {
		return appendForced(dst, offsets, s.shapes[0])
	}
	return appendNested(dst, offsets, encoderOf(&s.offsets, s.o))
}

// appendIntegers writes the integers of decimals, always as a tree.
func (s *numbers) appendIntegers(dst []byte, integers []int64, valid bitmap.Bits) ([]byte, error) {
	return appendTree(s, &s.ints, 0, dst, integers, valid)
}

// appendTree writes a part of a tree as one.
func appendTree[T numeric.Value](s *numbers, e **numeric.Encoder[T], part int, dst []byte, values []T, valid bitmap.Bits) ([]byte, error) {
	if s.shapes != nil {
		return numeric.AppendTreeAs(dst, values, valid, s.shapes[part])
	}
	return encoderOf(e, s.o).AppendTree(dst, values, valid), nil
}

func encoderOf[T numeric.Value](e **numeric.Encoder[T], o encoding.Options) *numeric.Encoder[T] {
	if *e == nil {
		*e = numeric.NewEncoder[T](o)
	}
	return *e
}

// appendNested writes a tree, or raw numbers if that is not larger.
func appendNested[T uint32 | uint64](dst []byte, values []T, e *numeric.Encoder[T]) ([]byte, bool, error) {
	at := len(dst)
	dst = e.AppendTree(dst, values, bitmap.All(len(values)))
	if len(dst)-at >= len(values)*binary.Size(T(0)) {
		return appendRaw(dst[:at], values), false, nil
	}
	return dst, true, nil
}

func appendForced[T uint32 | uint64](dst []byte, values []T, shape string) ([]byte, bool, error) {
	if shape == "raw" {
		return appendRaw(dst, values), false, nil
	}
	dst, err := numeric.AppendTreeAs(dst, values, bitmap.All(len(values)), shape)
	return dst, true, err
}

func appendRaw[T uint32 | uint64](dst []byte, values []T) []byte {
	for _, v := range values {
		if binary.Size(v) == 4 {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
		} else {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
		}
	}
	return dst
}

// appendOffsets appends the offsets of values, unless these have a fixed size, and
// notes in the header how wide they are, and whether they are a tree.
func (w *workspace) appendOffsets(dst []byte, v Values, width, nested int, nums *numbers) ([]byte, error) {
	if v.Fixed > 0 {
		return dst, nil
	}
	dst[width] = 8
	dst, tree, err := nums.appendOffsets(dst, w.relative(v))
	if tree {
		dst[nested] = 1
	}
	return dst, err
}

// relative is the offsets of v, from 0.
func (w *workspace) relative(v Values) []uint64 {
	offsets := grown(&w.offsets, v.N+1)
	for i, at := range v.Offsets {
		offsets[i] = uint64(at - v.Offsets[0])
	}
	return offsets
}

// padFrom adds zeros until what begins at start is a multiple of 8 long.
func padFrom(dst []byte, start int) []byte {
	var zeros [8]byte
	return append(dst, zeros[:-(len(dst)-start)&7]...)
}
