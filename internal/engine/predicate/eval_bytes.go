package predicate

import (
	"bytes"
	"encoding/binary"
	"sort"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/pattern"
	"github.com/amudai/amudai-go/internal/engine/valueset"
)

// byteValues are byte strings in any of Arrow's layouts.
type byteValues struct {
	n    int
	data []byte
	// One of four layouts: 32-bit offsets into data, 64-bit offsets, a function that gives value i, or values of a width.
	off32 []int32
	off64 []int64
	at    func(int) []byte
	width int
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
		v.at = arrowutil.BytesOf(arr) // of views
		return v, v.at != nil
	}
	if b := arr.Data().Buffers()[2]; b != nil {
		v.data = b.Bytes()
	}
	return v, true
}

// fill gives the values from i on, at most 64.
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

// cut cuts data at offsets.
func cut[O int32 | int64](out [][]byte, data []byte, offsets []O) {
	from := offsets[0]
	for k := range out {
		to := offsets[k+1]
		out[k] = data[from:to:to]
		from = to
	}
}

// bytesPlan is a test on byte strings, prepared for evaluation. It is made once.
type bytesPlan struct {
	// One of three forms: many constants, ranges, or a pattern.
	constants map[string]struct{}
	ranges    []rangePlan
	text      *Text

	once sync.Once
	made *pattern.Finder
}

// finder finds texts of which every match has one; nil if none are known. It is made when it is needed.
func (p *bytesPlan) finder() *pattern.Finder {
	p.once.Do(func() { p.made = pattern.NewFinder(p.text.Pattern) })
	return p.made
}

// rangePlan is a range of byte strings, prepared for evaluation.
type rangePlan struct {
	valueset.ByteRange
	exact, all bool   // the range has only prefix itself, or all values that begin with prefix
	prefix     []byte // if exact or all
	head, mask uint64 // the first 8 bytes of prefix, and which of their bits there are
	lo8, hi8   uint64 // the first 8 bytes of the bounds, as numbers in the same order
	loSize     uint64 // bytes of the bounds
	hiSize     uint64
	long       bool // a bound has more than 8 bytes
}

func planOf(t Test) *bytesPlan {
	p := &bytesPlan{}
	switch t := t.(type) {
	case *Text:
		p.text = t
	case valueset.Bytes:
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

func planRange(r valueset.ByteRange) rangePlan {
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
	p.loSize, p.hiSize = uint64(len(r.Lo)), uint64(len(r.Hi))
	p.long = max(p.loSize, p.hiSize) > 8
	if r.NoHi {
		p.hi8, p.hiSize = ^uint64(0), ^uint64(0)
	}
	return p
}

// first8 is the first 8 bytes as a number. The first byte is the most significant.
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

// each calls holds for every value.
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

// oneRange sets the bits of the values in a range. With first, it clears all other bits.
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

// inRange64 finds those of 64 values that are in a range. From the start of each value, 8 bytes can be read. Where the first 8 bytes are
// those of a bound, with zeros behind a shorter value, the length decides, unless the bound is longer.
func inRange64[O int32 | int64](r *rangePlan, data []byte, offsets *[65]O) (w uint64) {
	if r.exact || r.all {
		return havePrefix64(r, data, offsets)
	}
	unsure := uint64(0)
	for k := range 64 {
		from := offsets[k]
		length := uint64(offsets[k+1] - from)
		v := binary.BigEndian.Uint64(data[from:]) &^ (^uint64(0) >> min(8*length, 64))
		atLo, atHi := bitmap.Bit(v == r.lo8), bitmap.Bit(v == r.hi8)
		fromLo := bitmap.Bit(v > r.lo8) | atLo&bitmap.Bit(length >= r.loSize)
		w |= uint64(fromLo&(bitmap.Bit(v < r.hi8)|atHi&bitmap.Bit(length < r.hiSize))) << k
		unsure |= uint64(atLo|atHi) << k
	}
	if !r.long {
		return w
	}
	w &^= unsure
	for rest := unsure; rest != 0; rest &= rest - 1 {
		k := trailing(rest)
		if r.Holds(data[offsets[k]:offsets[k+1]]) {
			w |= 1 << k
		}
	}
	return w
}

// havePrefix64 is inRange64 for ranges of a prefix. It compares the first 8 bytes of each value, and the rest only where
// these are equal.
func havePrefix64[O int32 | int64](r *rangePlan, data []byte, offsets *[65]O) (w uint64) {
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

// text evaluates a pattern: it searches all values at once for texts that matches have, because most do not contain one and need no look
// of their own, and matches only values that do.
func (e *evaluator) text(p *bytesPlan, v *byteValues, dst []byte) {
	t, f := p.text, p.finder()
	switch {
	case f == nil:
		fillOnes(dst, v.n)
	case v.off32 != nil:
		find(dst, v.data, v.off32, f)
	case v.off64 != nil:
		find(dst, v.data, v.off64, f)
	default:
		e.each(v, dst, func(value []byte) bool { return f.Next(value) >= 0 })
	}
	if f == nil || !f.Exact {
		for i := range len(dst) / 8 {
			w := getWord(dst, i)
			if w == 0 {
				continue
			}
			values := v.fill(&e.values, 64*i)
			for rest := w; rest != 0; rest &= rest - 1 {
				if k := trailing(rest); !t.Match(values[k], &e.scratch) {
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

// find finds the values that have one of the texts of a finder.
func find[O int32 | int64](dst, data []byte, offsets []O, f *pattern.Finder) {
	clear(dst)
	pattern.Containing(dst, data[:offsets[len(offsets)-1]], int(offsets[0]), offsets[1:], f)
}

// Texts are lists of texts: every row that the expression is true for has one of each list, in the only column that it looks at. There are none if nothing is known.
func (b *Bound) Texts() [][]pattern.Text {
	if len(b.columns) != 1 || b.columns[0].Derived() {
		return nil
	}
	return b.root.texts()
}

func (n *Node) texts() (all [][]pattern.Text) {
	switch n.Kind {
	case NodeLeaf:
		if t, ok := n.Test.(*Text); ok && !t.Not {
			return t.Alternatives()
		}
	case NodeAnd:
		for _, k := range n.Nodes {
			all = append(all, k.texts()...)
		}
	case NodeOr:
		var any []pattern.Text
		for _, k := range n.Nodes {
			texts := pattern.Rarest(k.texts())
			if any = append(any, texts...); len(texts) == 0 || len(any) > pattern.MaxTexts {
				return nil
			}
		}
		return [][]pattern.Text{any}
	}
	return all
}
