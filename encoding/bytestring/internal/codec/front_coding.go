package codec

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/frontcode"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// FrontCoding, code 0x800e: how many bytes each value shares with the one before, and the rest (package frontcode). Values of
// a fixed size are not written like that.
//
//	0  2  0e 80
//	2  2  u16 values from restart to restart R, at least 1
//	4  4  u32 size of the prefix lengths in bytes
//	8     lengths of the prefixes: tree of n u32; zeros up to a multiple of 8
//	      rests of the values: tree of n byte strings, to the end
//
// Example, "abc", "abd", "x", trees as Plain:
//
//	0e 80 | 40 00 | 0e 00 00 00
//	01 00 | 00 00 00 00 02 00 00 00 00 00 00 00 | 2 zeros
//	01 00 | 08 | 00.. 03.. 04.. 05.. (u64 each) | 61 62 63 64 78

const (
	// restartEvery is after how many values ours restart: what is decoded for a single one takes about a microsecond.
	restartEvery = 64
	// leastShared is the share of the bytes, one in so many, that prefixes have at least.
	leastShared = 5
)

// frontTree is the parts of a FrontCoding block, and the memory for them.
type frontTree struct {
	restart  int
	rests    *tree.Block
	prefixes []uint32 // their lengths

	text       []byte  // rests of the values from first up to (not including) end
	ends       []int32 // where each of them ends
	first, end int

	group  int     // the restart from which on values were asked for last, -1 for none
	asked  int     // how often
	some   []byte  // all of them up to the next restart, if places has any
	places []int64 // where each begins, and the last ends
}

func layoutOfFrontCoding(r *tree.Reader) (restart int, prefixes, rests []byte) {
	r.NoFixed()
	restart = int(r.Uint(2, "values between restarts"))
	prefixes = r.Numbers("lengths of prefixes", r.Uint(4, "prefix lengths size"), numeric.U32, r.N)
	rests = r.Texts("rests", r.Left(), r.N)
	if restart == 0 {
		r.Fail(fault.Corruptf("restarts after no values"))
	}
	return restart, prefixes, rests
}

func parseFrontCoding(t *tree.Tree, r *tree.Reader, _ int64) (uint64, error) {
	restart, prefixes, rests := layoutOfFrontCoding(r)
	if r.Err != nil {
		return 0, r.Err
	}
	f := tree.State[frontTree](t)
	f.restart, f.first, f.end, f.group = restart, 0, 0, -1
	if err := tree.DecodeNumbers(t, "lengths of prefixes", scratch.Slice(&f.prefixes, t.N), prefixes); err != nil {
		return 0, err
	}
	for i := 0; i < t.N; i += restart {
		if n := f.prefixes[i]; n != 0 {
			return 0, fault.Corruptf("value %d is at a restart and has a prefix of %d bytes", i, n)
		}
	}
	var err error
	if f.rests, err = t.Nested(rests, t.N); err != nil {
		return 0, fault.In(err, "rests", -1)
	}
	return tree.SumOf(f.prefixes) + uint64(f.rests.DataLen()), nil
}

// readRests decodes the rests of some values, unless they are there.
func (f *frontTree) readRests(from, to int) error {
	if f.first <= from && to <= f.end {
		return nil
	}
	f.first, f.end = 0, 0
	size := f.rests.RangeLen(from, to)
	text := scratch.Slice(&f.text, size+frontcode.Slack)[:size]
	if err := tree.DecodeRange(f.rests, from, to, text, scratch.Slice(&f.ends, to-from), 0); err != nil {
		return fault.In(err, "rests", -1)
	}
	f.first, f.end = from, to
	return nil
}

// rest is where the rest of a value, which is there, begins and ends in text.
func (f *frontTree) rest(slot int) (from, to int) {
	if slot -= f.first; slot > 0 {
		from = int(f.ends[slot-1])
	}
	return from, int(f.ends[slot])
}

// expandFront writes the values of some slots; before is the last that is not empty before them, from a restart on.
func expandFront[O int32 | int64](f *frontTree, from, to int, dst []byte, offsets []O, base O, before []byte) error {
	if err := f.readRests(from, to); err != nil {
		return err
	}
	at, _ := f.rest(from)
	ends := f.ends[from-f.first : to-f.first]
	return frontcode.Expand(dst, offsets, base, f.prefixes[from:to], f.text[:ends[len(ends)-1]], at, ends, before, (f.restart-from%f.restart)%f.restart, f.restart)
}

// expandGroup writes the values from a restart up to the next to some, unless they are there.
func (f *frontTree) expandGroup(start int) error {
	if f.group == start && len(f.places) > 0 {
		return nil
	}
	end := min(start+f.restart, len(f.prefixes))
	size := f.sumLen(start, end)
	scratch.Slice(&f.some, size+frontcode.Slack)
	f.group = -1
	scratch.Slice(&f.places, end-start+1)[0] = 0
	if err := expandFront(f, start, end, f.some[:size], f.places[1:], 0, nil); err != nil {
		return err
	}
	f.group = start
	return nil
}

// manyAlone is how often values between two restarts are asked for until it is quicker to have all of them.
const manyAlone = 3

// few reports whether some of the values from a restart on are among a few that were asked for since it was another restart, and all are not there.
func (f *frontTree) few(start int) bool {
	if f.group != start {
		f.group, f.asked, f.places = start, 0, f.places[:0]
	}
	f.asked++
	return len(f.places) == 0 && f.asked < manyAlone
}

// expandBehind writes values, of which start is the restart before the first: the first that is not empty is put together, the others follow it.
func expandBehind[O int32 | int64](f *frontTree, start, from, to int, dst []byte, offsets []O, base O) error {
	end := to
	if f.asked > 1 { // others of them will be
		end = max(to, min(start+f.restart, len(f.prefixes)))
	}
	if err := f.readRests(start, end); err != nil {
		return err
	}
	n := 0
	for ; n == 0 && from < to && from%f.restart > 0; from++ {
		if n = f.size(from); n > len(dst) {
			return fault.Corruptf("value %d has %d bytes of %d", from, n, len(dst))
		}
		if err := f.assemble(start, from, dst[:n]); err != nil {
			return err
		}
		offsets[0], offsets = base+O(n), offsets[1:]
	}
	if from < to {
		return expandFront(f, from, to, dst[n:], offsets, base+O(n), dst[:n])
	}
	if n != len(dst) {
		return fault.Corruptf("values of %d bytes instead of %d", n, len(dst))
	}
	return nil
}

// size is the number of bytes of a value whose rest is there.
func (f *frontTree) size(slot int) int {
	from, to := f.rest(slot)
	return int(f.prefixes[slot]) + to - from
}

// assemble writes a value to as many bytes: its rest, and before it what it shares, out of the rests of the values that had it first, from a restart on.
func (f *frontTree) assemble(start, slot int, dst []byte) error {
	shared := int(f.prefixes[slot])
	left := shared // bytes that are still to be found, at the front of dst
	from, to := f.rest(slot)
	copy(dst[left:], f.text[from:to])
	for k := slot - 1; left > 0; k-- {
		if k < start {
			return fault.Corruptf("value %d shares %d bytes with none", k+1, shared)
		}
		switch size := f.size(k); {
		case size == 0: // the one before it is meant
			continue
		case shared > size:
			return fault.Corruptf("value %d shares %d bytes with one of %d", k+1, shared, size)
		}
		if shared = int(f.prefixes[k]); left > shared {
			from, _ := f.rest(k)
			copy(dst[shared:left], f.text[from:])
			left = shared
		}
	}
	return nil
}

// alone tells whether values are part of what is between two restarts, the first of which is start.
func (f *frontTree) alone(from, to int) (start int, ok bool) {
	start = from - from%f.restart
	return start, from < to && to <= start+f.restart && to-from < f.restart
}

func (f *frontTree) sumLen(from, to int) int {
	return int(tree.SumOf(f.prefixes[from:to])) + f.rests.RangeLen(from, to)
}

// frontLen is the bytes of some values.
func frontLen(t *tree.Tree, from, to int) int { return tree.State[frontTree](t).sumLen(from, to) }

func addFrontLengths(t *tree.Tree, dst []int64, from int) error {
	f := tree.State[frontTree](t)
	for i, n := range f.prefixes[from : from+len(dst)] {
		dst[i] += int64(n)
	}
	return fault.In(f.rests.AddLengths(dst, from), "rests", -1)
}

// putFront writes values. Those between two restarts are copied out of all of them, which are kept for the next, if many were asked for.
func putFront[O int32 | int64](t *tree.Tree, from, to int, dst []byte, offsets []O, base O) error {
	if from == to {
		return nil
	}
	f := tree.State[frontTree](t)
	start, alone := f.alone(from, to)
	if !alone || f.few(start) {
		return expandBehind(f, start, from, to, dst, offsets, base)
	}
	if err := f.expandGroup(start); err != nil {
		return err
	}
	places := f.places[from-start : to-start+1]
	copy(dst, f.some[places[0]:])
	for i, end := range places[1:] {
		offsets[i] = base + O(end-places[0])
	}
	return nil
}

func appendFrontCoding(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) ([]byte, bool) {
	v := in.Values
	if v.Fixed > 0 {
		return dst, false
	}
	prefixes := scratch.Slice(&w.Codes, v.N)
	if sum := frontcode.Prefixes(prefixes, v.Data, v.Offsets, restartEvery); leastShared*sum < len(v.Bytes()) && !r.Forced {
		return dst, false
	}
	start := len(dst)
	var header [8]byte
	binary.LittleEndian.PutUint16(header[:], uint16(encoding.FrontCoding))
	binary.LittleEndian.PutUint16(header[2:], restartEvery)
	dst = append(dst, header[:]...)
	rests := w.Rests(v, prefixes)
	dst = encode.AppendNumbers(r.Numbers, dst, encode.Codes, 0, prefixes)
	return r.Texts.Append(encode.EndPart(dst, start, start+8, 4), 1, 0, rests), true
}

var frontCoding = encode.Row{
	Row: tree.Row{
		Code:       encoding.FrontCoding,
		Layout:     func(r *tree.Reader) { layoutOfFrontCoding(r) },
		Parse:      parseFrontCoding,
		Put32:      putFront[int32],
		Put64:      putFront[int64],
		RangeLen:   frontLen,
		AddLengths: addFrontLengths,
		Begins:     frontBegins,
		Find:       findInFront,
	},
	Needs:    edition.Only(edition.FrontCoding),
	Trials:   encode.Once(encoding.Balanced, encoding.HighCompression, encoding.MinimalSize),
	Suits:    func(_ *encode.Workspace, in *encode.Input, _ *encode.Learned) bool { return in.Fixed == 0 },
	Costly:   true,
	Whole:    true,
	Improves: true,
	Long:     true,
	Short:    true,
	Append:   appendFrontCoding,
	Cost:     encode.DecodeCost{PerByte: 50, PerStored: 300, PerValue: 9000},
	Nests:    true,
	Parts:    []string{"Plain", "Plain"},
}
