package tree

import (
	"encoding/binary"
	"math"

	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/base/simd"
)

// Numbers is a part with a number for each value, or one more, which is a tree or raw.
type Numbers struct {
	Bytes  []byte
	Nested bool
}

// ReadOffsets reads n+1 offsets, nothing if values have a fixed size. It returns the size of all values.
func (t *Tree) ReadOffsets(p Numbers) (uint64, error) {
	if t.Fixed > 0 {
		return uint64(t.N) * uint64(t.Fixed), nil
	}
	t.Offsets = scratch.Slice(&t.scratch.offsets, t.N+1)
	if !p.Nested {
		if uint64(len(p.Bytes)) != 8*uint64(len(t.Offsets)) {
			return 0, fault.Corruptf("%d bytes of offsets for %d values", len(p.Bytes), t.N)
		}
		for i := range t.Offsets {
			t.Offsets[i] = binary.LittleEndian.Uint64(p.Bytes[8*i:])
		}
		return t.checkOffsets()
	}
	if err := DecodeNumbers(t, "offsets", t.Offsets, p.Bytes); err != nil {
		return 0, err
	}
	if o := t.Offsets; o[0] == 0 && numeric.Ascends(p.Bytes, len(o), t.Num) {
		return o[t.N], nil
	}
	return t.checkOffsets()
}

// checkOffsets demands that offsets ascend from 0; the last is the size of all values.
func (t *Tree) checkOffsets() (uint64, error) {
	o := t.Offsets
	bad := o[0] // collects sign bits: nothing may be 2^63 or more, or less than the one before
	last := o[0]
	for _, at := range o[1:] {
		bad |= (at | (at - last)) & (1 << 63)
		last = at
	}
	if bad != 0 {
		return 0, fault.Corruptf("offsets do not ascend from 0 to %d", last&math.MaxInt64)
	}
	return last, nil
}

// DecodeNumbers decodes a part of the tree with a name.
func DecodeNumbers[T numeric.Value](t *Tree, name string, dst []T, part []byte) error {
	if err := numeric.Decode(dst, part, t.Num); err != nil {
		return fault.In(err, name, -1)
	}
	return nil
}

// ReadLengths reads lengths, as many as dst takes.
func (t *Tree) ReadLengths(dst []uint32, p Numbers) error {
	if p.Nested {
		return DecodeNumbers(t, "lengths", dst, p.Bytes)
	}
	if len(p.Bytes) != 4*len(dst) {
		return fault.Corruptf("%d bytes for %d lengths", len(p.Bytes), len(dst))
	}
	for i := range dst {
		dst[i] = binary.LittleEndian.Uint32(p.Bytes[4*i:])
	}
	return nil
}

// ReadAllLengths reads the lengths of the values, and adds them up.
func (t *Tree) ReadAllLengths(p Numbers) (uint64, error) {
	if t.Fixed > 0 {
		return uint64(t.N) * uint64(t.Fixed), nil
	}
	t.Lengths = scratch.Slice(&t.scratch.lengths, t.N)
	if err := t.ReadLengths(t.Lengths, p); err != nil {
		return 0, err
	}
	return SumOf(t.Lengths), nil
}

// SumOf adds up lengths, fewer than 2^32.
func SumOf(lengths []uint32) uint64 {
	var a, b, c, d uint64
	for ; len(lengths) >= 4; lengths = lengths[4:] {
		a, b, c, d = a+uint64(lengths[0]), b+uint64(lengths[1]), c+uint64(lengths[2]), d+uint64(lengths[3])
	}
	for _, n := range lengths {
		a += uint64(n)
	}
	return a + b + c + d
}

// moveOffsets sets dst to offsets plus by; the sums fit O.
func moveOffsets[O int32 | int64](dst []O, offsets []uint64, by O) {
	if narrow, ok := any(dst).([]int32); ok {
		simd.Narrow(narrow, offsets, uint64(by), 1)
		return
	}
	for i, at := range offsets {
		dst[i] = by + O(at)
	}
}

// putEnds sets offsets to where values of some lengths end, the first of which begins
// at base.
func putEnds[O int32 | int64](offsets []O, lengths []uint32, base O) {
	offsets = offsets[:len(lengths)]
	for i, n := range lengths {
		base += O(n)
		offsets[i] = base
	}
}
