package bytestring

import (
	"encoding/binary"
	"math"

	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/base/simd"
)

// readOffsets reads the offsets behind compressed values: n+1 raw u64, or a tree of
// them if nested, or nothing if values have a fixed size. It returns the size of
// all values.
func (b *Block) readOffsets(raw []byte, nested bool) (uint64, error) {
	if b.fixed > 0 {
		return uint64(b.n) * uint64(b.fixed), nil
	}
	if !nested {
		if uint64(len(raw)) != 8*(uint64(b.n)+1) {
			return 0, fault.Corruptf("%d bytes of offsets for %d values", len(raw), b.n)
		}
		return b.rawOffsets(raw)
	}
	b.offsets = scratch.Slice(&b.s.offsets, b.n+1)
	if err := numeric.Decode(b.offsets, raw, &b.s.num); err != nil {
		return 0, fault.In(err, "offsets", -1)
	}
	if o := b.offsets; o[0] == 0 && numeric.Ascends(raw, len(o), &b.s.num) {
		return o[b.n], nil
	}
	return b.checkOffsets()
}

// rawOffsets loads n+1 offsets from exactly their bytes.
func (b *Block) rawOffsets(raw []byte) (uint64, error) {
	b.offsets = scratch.Slice(&b.s.offsets, b.n+1)
	for i := range b.offsets {
		b.offsets[i] = binary.LittleEndian.Uint64(raw[8*i:])
	}
	return b.checkOffsets()
}

// checkOffsets demands that offsets ascend from 0; the last is the size of all values.
func (b *Block) checkOffsets() (uint64, error) {
	o := b.offsets
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

// readNumbers reads as many raw u32 as dst takes, or a tree of them.
func readNumbers(dst []uint32, raw []byte, nested bool, s *numeric.Scratch) error {
	if nested {
		return numeric.Decode(dst, raw, s)
	}
	if len(raw) != 4*len(dst) {
		return fault.Corruptf("%d bytes for %d numbers", len(raw), len(dst))
	}
	for i := range dst {
		dst[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return nil
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

// readLengths reads the lengths of the values, and adds them up.
func (b *Block) readLengths(raw []byte, nested bool) (uint64, error) {
	if b.fixed > 0 {
		return uint64(b.n) * uint64(b.fixed), nil
	}
	b.lengths = scratch.Slice(&b.s.lengths, b.n)
	if err := readNumbers(b.lengths, raw, nested, &b.s.num); err != nil {
		return 0, fault.In(err, "lengths", -1)
	}
	return sumOf(b.lengths), nil
}

// sumOf adds up lengths, fewer than 2^32.
func sumOf(lengths []uint32) uint64 {
	var a, b, c, d uint64
	for ; len(lengths) >= 4; lengths = lengths[4:] {
		a, b, c, d = a+uint64(lengths[0]), b+uint64(lengths[1]), c+uint64(lengths[2]), d+uint64(lengths[3])
	}
	for _, n := range lengths {
		a += uint64(n)
	}
	return a + b + c + d
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

// appendValueLengths appends the lengths of values, unless these have a fixed size, and
// notes in the header how wide they are, and whether they are a tree.
func appendValueLengths(w *encode.Workspace, dst []byte, v Values, start int, nums *encode.Numbers) ([]byte, error) {
	if v.Fixed > 0 {
		return dst, nil
	}
	dst[start+8] = 4
	lengths := scratch.Slice(&w.ValueLengths, v.N)
	for i := range lengths {
		lengths[i] = uint32(v.Offsets[i+1] - v.Offsets[i])
	}
	dst, nested, err := nums.AppendValueLengths(dst, lengths)
	if nested {
		dst[start+7] = 1
	}
	return dst, err
}
