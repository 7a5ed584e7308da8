package predicate

import (
	"bytes"
	"encoding/binary"
	"sort"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// byteValues are byte strings in any of Arrow's layouts.
type byteValues struct {
	n     int
	data  []byte
	off32 []int32 // either these
	off64 []int64
	width int              // or a width, if off32 and off64 are nil
	at    func(int) []byte // or this
}

func valuesOf(arr arrow.Array) (byteValues, bool) {
	v := byteValues{n: arr.Len()}
	switch arr.DataType().ID() {
	case arrow.STRING, arrow.BINARY:
		v.off32 = arrowutil.Offsets[int32](arr)
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		v.off64 = arrowutil.Offsets[int64](arr)
	case arrow.FIXED_SIZE_BINARY:
		v.width = arr.DataType().(*arrow.FixedSizeBinaryType).ByteWidth
		if b := arr.Data().Buffers()[1]; b != nil && v.n > 0 {
			from := arr.Data().Offset() * v.width
			v.data = b.Bytes()[from : from+v.n*v.width]
		}
		return v, true
	default:
		v.at = viewOf(arr)
		return v, v.at != nil
	}
	if b := arr.Data().Buffers()[2]; b != nil {
		v.data = b.Bytes()
	}
	return v, true
}

// viewOf reads views. Those of nulls may refer to anything.
func viewOf(arr arrow.Array) func(int) []byte {
	switch a := arr.(type) {
	case *array.StringView:
		return func(i int) []byte {
			if a.IsNull(i) {
				return nil
			}
			s := a.Value(i)
			return unsafe.Slice(unsafe.StringData(s), len(s))
		}
	case *array.BinaryView:
		return func(i int) []byte {
			if a.IsNull(i) {
				return nil
			}
			return a.Value(i)
		}
	}
	return nil
}

// fill gives values from i on, at most 64.
func (v *byteValues) fill(buf *[64][]byte, i int) [][]byte {
	out := buf[:min(64, v.n-i)]
	switch {
	case v.off32 != nil:
		cut(out, v.data, v.off32[i:])
	case v.off64 != nil:
		cut(out, v.data, v.off64[i:])
	case v.at != nil:
		for k := range out {
			out[k] = v.at(i + k)
		}
	default:
		for k := range out {
			out[k] = v.data[(i+k)*v.width : (i+k+1)*v.width]
		}
	}
	return out
}

func cut[O int32 | int64](out [][]byte, data []byte, offsets []O) {
	from := offsets[0]
	for k := range out {
		to := offsets[k+1]
		out[k] = data[from:to:to]
		from = to
	}
}

// bytesPlan is how a test on byte strings is best evaluated. It is made once.
type bytesPlan struct {
	constants map[string]struct{} // many values
	ranges    []rangePlan         // otherwise
	text      *Text
	needle    []byte // a part that must be in what the text matches
	whole     bool   // the needle is all that matters
}

// rangePlan is a range of byte strings. With exact it is only the prefix itself,
// with all it is all that begins with the prefix, whose first bytes are head in
// the bits of mask. lo8 and hi8 are the first 8 bytes of the bounds, as numbers
// in the same order.
type rangePlan struct {
	ByteRange
	prefix     []byte
	exact, all bool
	head, mask uint64
	lo8, hi8   uint64
}

func planOf(t Test) *bytesPlan {
	p := &bytesPlan{}
	switch t := t.(type) {
	case *Text:
		p.text = t
		for _, part := range t.Parts {
			if len(part) > len(p.needle) {
				p.needle = part
			}
		}
		if pattern := &t.pattern; t.regex == nil && !t.fold && !pattern.begins && !pattern.ends && len(pattern.segments) == 1 {
			_, p.whole = pattern.segments[0].literal()
		}
	case Bytes:
		if constants, ok := t.Constants(); ok && len(constants) > manyIntervals {
			p.constants = make(map[string]struct{}, len(constants))
			for _, c := range constants {
				p.constants[string(c)] = struct{}{}
			}
			return p
		}
		for _, r := range t {
			p.ranges = append(p.ranges, planRange(r))
		}
	}
	return p
}

func planRange(r ByteRange) rangePlan {
	p := rangePlan{ByteRange: r}
	if p.prefix, p.exact = r.Constant(); !p.exact {
		p.prefix, p.all = r.Prefix()
	}
	var head [8]byte
	n := copy(head[:], p.prefix)
	p.head, p.mask = binary.LittleEndian.Uint64(head[:]), ^uint64(0)>>max(64-8*n, 0)
	if n == 0 {
		p.mask = 0
	}
	p.lo8, p.hi8 = first8(r.Lo), first8(r.Hi)
	if r.NoHi {
		p.hi8 = ^uint64(0)
	}
	return p
}

// first8 is the first 8 bytes, the first one being the most significant.
func first8(v []byte) uint64 {
	var b [8]byte
	copy(b[:], v)
	return binary.BigEndian.Uint64(b[:])
}

// bytes evaluates a test on byte strings.
func (e *evaluator) bytes(n *Node, v *byteValues, dst []byte) {
	p := n.plan
	switch {
	case p.text != nil:
		e.text(p, v, dst)
		return
	case p.constants == nil && len(p.ranges) <= manyIntervals:
		for k := range p.ranges {
			e.oneRange(&p.ranges[k], v, dst, k == 0)
		}
		return
	}
	e.each(v, dst, func(value []byte) bool {
		if p.constants != nil {
			_, ok := p.constants[string(value)]
			return ok
		}
		k := sort.Search(len(p.ranges), func(k int) bool { return bytes.Compare(p.ranges[k].Lo, value) > 0 })
		return k > 0 && p.ranges[k-1].Holds(value)
	})
}

// each asks for every value.
func (e *evaluator) each(v *byteValues, dst []byte, holds func([]byte) bool) {
	for i := range len(dst) / 8 {
		w := uint64(0)
		for k, value := range v.fill(&e.values, 64*i) {
			if holds(value) {
				w |= 1 << k
			}
		}
		putWord(dst, i, w)
	}
}

// oneRange sets the bits of the values in a range, or with first exactly these.
func (e *evaluator) oneRange(r *rangePlan, v *byteValues, dst []byte, first bool) {
	for i := range len(dst) / 8 {
		w := uint64(0)
		switch at := 64 * i; {
		case v.off32 != nil && at+64 <= v.n && int(v.off32[at+64])+8 <= len(v.data):
			w = inRange64(r, v.data, (*[65]int32)(v.off32[at:]))
		case v.off64 != nil && at+64 <= v.n && int(v.off64[at+64])+8 <= len(v.data):
			w = inRange64(r, v.data, (*[65]int64)(v.off64[at:]))
		default:
			for k, value := range v.fill(&e.values, at) {
				if r.Holds(value) {
					w |= 1 << k
				}
			}
		}
		if !first {
			w |= getWord(dst, i)
		}
		putWord(dst, i, w)
	}
}

// inRange64 compares 64 values. 8 bytes can be read from where any begins.
func inRange64[O int32 | int64](r *rangePlan, data []byte, offsets *[65]O) (w uint64) {
	if r.exact || r.all {
		return begin(r, data, offsets)
	}
	unsure := uint64(0)
	for k := range 64 {
		from := offsets[k]
		length := uint64(offsets[k+1] - from)
		v := binary.BigEndian.Uint64(data[from:]) &^ (^uint64(0) >> min(8*length, 64))
		inside := boolToInt(v > r.lo8) & boolToInt(v < r.hi8)
		same := boolToInt(v == r.lo8) | boolToInt(v == r.hi8)
		w |= uint64(inside) << k
		unsure |= uint64(same) << k
	}
	for rest := unsure; rest != 0; rest &= rest - 1 {
		k := trailing(rest)
		if r.Holds(data[offsets[k]:offsets[k+1]]) {
			w |= 1 << k
		}
	}
	return w
}

// begin compares the first 8 bytes of 64 values, and the rest of those where
// they are right. 8 bytes can be read from where any value begins.
func begin[O int32 | int64](r *rangePlan, data []byte, offsets *[65]O) (w uint64) {
	size := uint64(len(r.prefix))
	for k := range 64 {
		from := offsets[k]
		length := uint64(offsets[k+1] - from)
		differ := (binary.LittleEndian.Uint64(data[from:]) ^ r.head) & r.mask
		if r.exact {
			differ |= length ^ size
		}
		if differ == 0 && length >= size {
			w |= 1 << k
		}
	}
	if len(r.prefix) <= 8 {
		return w
	}
	for rest := w; rest != 0; rest &= rest - 1 {
		k := trailing(rest)
		if !bytes.HasPrefix(data[offsets[k]:offsets[k+1]], r.prefix) {
			w &^= 1 << k
		}
	}
	return w
}

// text evaluates a test on texts.
func (e *evaluator) text(p *bytesPlan, v *byteValues, dst []byte) {
	t := p.text
	switch {
	case len(p.needle) > 0 && v.off32 != nil:
		search(dst, v.data, v.off32, p.needle)
	case len(p.needle) > 0 && v.off64 != nil:
		search(dst, v.data, v.off64, p.needle)
	case len(p.needle) > 0:
		e.each(v, dst, func(value []byte) bool { return bytes.Contains(value, p.needle) })
	default:
		fillOnes(dst, v.n)
	}
	if !p.whole {
		for i := range len(dst) / 8 {
			w := getWord(dst, i)
			if w == 0 {
				continue
			}
			values := v.fill(&e.values, 64*i)
			for rest := w; rest != 0; rest &= rest - 1 {
				if k := trailing(rest); !t.match(values[k], &e.folded) {
					w &^= 1 << k
				}
			}
			putWord(dst, i, w)
		}
	}
	if t.Not {
		invert(dst, v.n)
	}
}

// search finds the values that contain needle by searching all of them at once:
// most have it nowhere, and are not looked at one by one.
func search[O int32 | int64](dst, data []byte, offsets []O, needle []byte) {
	clear(dst)
	n := len(offsets) - 1
	pos, end := int(offsets[0]), int(offsets[n])
	for row := 0; ; {
		i := bytes.Index(data[pos:end], needle)
		if i < 0 {
			return
		}
		pos += i
		row += rowAt(offsets[row+1:], pos)
		if pos+len(needle) <= int(offsets[row+1]) {
			dst[row>>3] |= 1 << (row & 7)
			pos = int(offsets[row+1]) // the next value
		} else {
			pos++ // across two values
		}
	}
}

// rowAt is how many of the ends are not behind pos: looked for near the
// beginning first.
func rowAt[O int32 | int64](ends []O, pos int) int {
	step := 1
	for step < len(ends) && int(ends[step-1]) <= pos {
		step *= 2
	}
	lo, hi := step/2, min(step, len(ends))
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); int(ends[mid]) <= pos {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
