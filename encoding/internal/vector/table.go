package vector

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/base/simd"
)

// Table looks up byte strings by code and lays them out one after the other.
// It is built once for a dictionary. Building it takes memory; using it takes
// none, and is safe for concurrent use.
//
// Values are kept in slots of one size, a power of two, and copied a whole slot
// at a time: no branch depends on a length. Where slots would take too much room,
// or values are longer than the largest, they are copied from where they are.
type Table struct {
	lengths []uint32 // by code
	longest int
	same    int // length of every value, -1 if they differ

	slot  int    // size of the slots, 0 if there are none
	slots []byte // by code, with zeros behind values

	starts []int  // without slots: where the value of a code begins in data, and where the last one ends
	data   []byte // with step bytes behind it
	copied []byte // memory for data that has no bytes behind it
}

const (
	maxSlot   = 64
	step      = 32        // bytes that gatherLong copies at a time, by simd.Copy32
	mostSteps = 256       // longest value that it copies in steps
	manySlot  = 256 << 10 // bytes of slots that a table may always have; more only if values fill half of them
)

// NewTable makes a table in which code k stands for value k.
func NewTable(v Values) *Table {
	t := new(Table)
	t.Reset(v, 0, manySlot)
	return t
}

// Reset makes code k+first stand for value k, and lower codes for nothing. It reuses the table's memory, and
// may keep v.Data. Up to spare bytes of slots are made however sparsely values fill them.
func (t *Table) Reset(v Values, first, spare int) {
	n := v.N + first
	lengths := scratch.Slice(&t.lengths, n)
	clear(lengths[:first])
	t.longest, t.same = v.Fixed, -1
	for i := range v.N {
		size := v.Fixed
		if size == 0 {
			size = int(v.Offsets[i+1] - v.Offsets[i])
		}
		lengths[first+i] = uint32(size)
		t.longest = max(t.longest, size)
	}
	if first == 0 && v.N > 0 && t.longest*v.N == len(v.Bytes()) {
		t.same = t.longest
	}
	t.slot = slotFor(t.longest)
	if t.slot > 0 && t.slot*n <= max(spare, 2*len(v.Data)) {
		t.fillSlots(v, first)
	} else {
		t.slot = 0
		t.fillStarts(v, first)
	}
}

// slotFor is the smallest slot for values of up to n bytes, 0 if none is large enough.
func slotFor(n int) int {
	slot := 1
	for slot < n {
		slot *= 2
	}
	if slot > maxSlot {
		return 0
	}
	return slot
}

func (t *Table) fillSlots(v Values, first int) {
	slots := scratch.Slice(&t.slots, t.slot*(v.N+first))
	clear(slots)
	for i := range v.N {
		copy(slots[(first+i)*t.slot:], v.At(i))
	}
}

func (t *Table) fillStarts(v Values, first int) {
	starts := scratch.Slice(&t.starts, v.N+first+1)
	at := 0
	if v.Fixed == 0 {
		at = int(v.Offsets[0])
	}
	for i, n := range t.lengths {
		starts[i] = at
		at += int(n)
	}
	starts[v.N+first] = at
	_ = v.Data[:at] // gatherLong does not look
	if t.data = v.Data; cap(v.Data)-len(v.Data) < step {
		t.data = append(scratch.Slice(&t.copied, len(v.Data)+step)[:0], v.Data...)
	}
}

// Len is the number of codes.
func (t *Table) Len() int { return len(t.lengths) }

// Bound is the most bytes that the values of n codes take.
func (t *Table) Bound(n int) uint64 { return uint64(n) * uint64(t.longest) }

// Longest is the length of the longest value.
func (t *Table) Longest() int { return t.longest }

// Same is the length of every value, -1 if they differ.
func (t *Table) Same() int { return t.same }

// Size is the bytes of the values that codes stand for. A code that is not in
// the table is an error that wraps fault.ErrCorrupt.
func (t *Table) Size(codes []uint32) (uint64, error) {
	if t.same >= 0 {
		return t.Bound(len(codes)), t.Check(codes)
	}
	lengths, total := t.lengths, uint64(0)
	for _, c := range codes {
		if uint(c) >= uint(len(lengths)) {
			return 0, t.unknown(c)
		}
		total += uint64(lengths[c])
	}
	return total, nil
}

// Check looks for codes that are not in the table: an error that wraps
// fault.ErrCorrupt.
func (t *Table) Check(codes []uint32) error {
	n := uint32(min(uint64(len(t.lengths)), math.MaxUint32))
	var known [checked]uint64
	for len(codes) >= 64*checked && n > 0 {
		clear(known[:])
		simd.Between(known[:], codes[:64*checked], 0, n-1)
		all := ^uint64(0)
		for _, w := range known {
			all &= w
		}
		if all != ^uint64(0) {
			break // the loop below finds the code
		}
		codes = codes[64*checked:]
	}
	for _, c := range codes {
		if c >= n {
			return t.unknown(c)
		}
	}
	return nil
}

const checked = 32 // words of codes that Check looks at together

func (t *Table) unknown(code uint32) error {
	return fault.Corruptf("code %d of %d", code, len(t.lengths))
}

// Gather writes the values of codes back to back to dst, and where each ends to
// offsets: the first at base plus its length. offsets are as many as codes, or
// none for values of a fixed size and those of the Same length. It returns how many bytes the values have. dst
// must be at least that long: Size tells, and Bound without looking. All of dst,
// up to its capacity, may be overwritten with anything. A code that is not in the
// table is an error that wraps fault.ErrCorrupt.
func Gather[O int32 | int64](t *Table, dst []byte, offsets []O, base O, codes []uint32) (int, error) {
	if t.slot == 0 {
		return gatherLong(t, dst, offsets, base, codes)
	}
	if t.same >= 0 {
		return gatherSame(t, dst, offsets, base, codes)
	}
	if len(offsets) != len(codes) {
		return 0, fmt.Errorf("vector: %d offsets for %d codes", len(offsets), len(codes))
	}
	switch t.slot {
	case 1:
		return gatherSlots[[1]byte](t, dst, offsets, base, codes)
	case 2:
		return gatherSlots[[2]byte](t, dst, offsets, base, codes)
	case 4:
		return gatherSlots[[4]byte](t, dst, offsets, base, codes)
	case 8:
		return gatherSlots[[8]byte](t, dst, offsets, base, codes)
	case 16:
		return gatherSlots[[16]byte](t, dst, offsets, base, codes)
	case 32:
		return gatherSlots[[32]byte](t, dst, offsets, base, codes)
	}
	return gatherSlots[[64]byte](t, dst, offsets, base, codes)
}

var errRoom = errors.New("vector: no room for the values of codes")

// slot is a value with the zeros behind it: it is copied whole.
type slot interface {
	[1]byte | [2]byte | [4]byte | [8]byte | [16]byte | [32]byte | [64]byte
}

// slotsOf is the slots as an array of them.
func slotsOf[S slot](t *Table) []S {
	var s S
	return unsafe.Slice((*S)(unsafe.Pointer(unsafe.SliceData(t.slots))), len(t.slots)/len(s))
}

// gatherSlots copies a slot for every code, as long as slots fit, and goes on by
// as many bytes as count; then exactly those.
func gatherSlots[S slot, O int32 | int64](t *Table, dst []byte, offsets []O, base O, codes []uint32) (int, error) {
	room, o := dst[:cap(dst)], 0
	slots := slotsOf[S](t)
	lengths := t.lengths[:len(slots)]
	out := unsafe.Pointer(unsafe.SliceData(room))
	for {
		safe := min(len(codes), (len(room)-o)/t.slot)
		if safe == 0 {
			break
		}
		var done int
		if o, done = putSlots(out, o, slots, lengths, codes[:safe], offsets[:safe], base); done < safe {
			return 0, t.unknown(codes[done])
		}
		codes, offsets = codes[safe:], offsets[safe:]
	}
	for i, c := range codes {
		if uint(c) >= uint(len(slots)) {
			return 0, t.unknown(c)
		}
		at, n := int(c)*t.slot, int(lengths[c])
		if n > len(dst)-o {
			return 0, errRoom
		}
		o += copy(dst[o:], t.slots[at:at+n])
		offsets[i] = base + O(o)
	}
	if o > len(dst) {
		return 0, errRoom
	}
	return o, nil
}

// putSlots copies slots from place o of out on, and returns the place behind them and how many
// codes there were before one without a slot. As many slots as codes must fit. It calls
// nothing, and is not inlined where something is called, so that its loop stays in registers.
//
//go:noinline
func putSlots[S slot, O int32 | int64](out unsafe.Pointer, o int, slots []S, lengths []uint32, codes []uint32, ends []O, base O) (end, done int) {
	lengths, ends = lengths[:len(slots)], ends[:len(codes)]
	for i, c := range codes {
		if uint(c) >= uint(len(slots)) {
			return o, i
		}
		*(*S)(unsafe.Add(out, o)) = slots[c]
		o += int(lengths[c])
		ends[i] = base + O(o)
	}
	return o, len(codes)
}

// putSame copies slots to every n-th byte of out, and returns how many codes there were
// before one without a slot. It is made like putSlots.
//
//go:noinline
func putSame[S slot](out unsafe.Pointer, n int, slots []S, codes []uint32) (done int) {
	o := 0
	for i, c := range codes {
		if uint(c) >= uint(len(slots)) {
			return i
		}
		*(*S)(unsafe.Add(out, o)) = slots[c]
		o += n
	}
	return len(codes)
}

// gatherSame is Gather where all values have the same length: where they lie
// needs no looking up.
func gatherSame[O int32 | int64](t *Table, dst []byte, offsets []O, base O, codes []uint32) (int, error) {
	size := t.same * len(codes)
	if size > len(dst) {
		return 0, fmt.Errorf("vector: %d bytes of room for %d", len(dst), size)
	}
	countOffsets(offsets, base+O(t.same), O(t.same))
	var err error
	switch t.slot {
	case 1:
		err = copySame[[1]byte](t, dst, codes)
	case 2:
		err = copySame[[2]byte](t, dst, codes)
	case 4:
		err = copySame[[4]byte](t, dst, codes)
	case 8:
		err = copySame[[8]byte](t, dst, codes)
	case 16:
		err = copySame[[16]byte](t, dst, codes)
	case 32:
		err = copySame[[32]byte](t, dst, codes)
	default:
		err = copySame[[64]byte](t, dst, codes)
	}
	return size, err
}

// countOffsets sets offsets to first, and each next one step further.
func countOffsets[O int32 | int64](offsets []O, first, step O) {
	if narrow, ok := any(offsets).([]int32); ok {
		simd.Count(narrow, int32(first), int32(step))
		return
	}
	for i := range offsets {
		offsets[i] = first
		first += step
	}
}

func copySame[S slot](t *Table, dst []byte, codes []uint32) error {
	slots, n := slotsOf[S](t), t.same
	room := dst[:cap(dst)]
	fit := len(codes)
	if n > 0 && n < t.slot { // else slots just lie side by side
		fit = min(fit, max(0, (len(room)-t.slot)/n+1))
	}
	if len(room) < t.slot {
		fit = 0
	}
	if done := putSame(unsafe.Pointer(unsafe.SliceData(room)), n, slots, codes[:fit]); done < fit {
		return t.unknown(codes[done])
	}
	for i, c := range codes[fit:] {
		if uint(c) >= uint(len(slots)) {
			return t.unknown(c)
		}
		copy(dst[(fit+i)*n:], t.slots[int(c)*t.slot:int(c)*t.slot+n])
	}
	return nil
}

// gatherLong copies values in whole steps where there is room behind them and they are not too long, and others exactly.
func gatherLong[O int32 | int64](t *Table, dst []byte, offsets []O, base O, codes []uint32) (int, error) {
	starts := t.starts
	out, data := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(t.data))
	o, safe := 0, cap(dst)-step
	for i, c := range codes {
		if uint64(c)+1 >= uint64(len(starts)) {
			return 0, t.unknown(c)
		}
		at := starts[c]
		n := starts[c+1] - at
		if n > len(dst)-o {
			return 0, errRoom
		}
		if n <= mostSteps && o+n <= safe {
			to, from := unsafe.Add(out, o), unsafe.Add(data, at) // else o may be the end of dst, of which there must be no pointer
			simd.Copy32(to, from)
			for k := step; k < n; k += step {
				simd.Copy32(unsafe.Add(to, k), unsafe.Add(from, k))
			}
		} else {
			copy(dst[o:], t.data[at:at+n])
		}
		o += n
		if i < len(offsets) {
			offsets[i] = base + O(o)
		}
	}
	return o, nil
}
