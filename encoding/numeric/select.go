package numeric

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/internal/fastlanes"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/simd"
)

// Interval is the values from Low to High, both included. It is empty if High is less than Low. NaN is in no
// interval, and an interval that ends at NaN is empty.
type Interval[T Value] struct{ Low, High T }

// SelectRanges finds the rows of a block of n values whose value is not null and is in one of the intervals. It sets
// their bits in dst, the lowest of dst[0] for the first row, and clears all others up to a multiple of 64. dst has at
// least (n+63)/64 words. If possible, values are compared in their encoded form: once for all rows, for each run, for
// each value of a dictionary, or by the bounds of packed values.
func SelectRanges[T Value](blk []byte, n int, in []Interval[T], o BlockOptions, s *Scratch, dst []uint64) error {
	if len(dst) < (n+63)/64 {
		return fmt.Errorf("%d words for the bits of %d rows", len(dst), n)
	}
	dst = dst[:(n+63)/64]
	s.begin()
	b, err := encoding.ParseBlock(blk, o.Checksums)
	if err != nil {
		return err
	}
	var validity []byte
	if len(b.Presence) > 0 {
		validity = word.Bytes(word.Take[uint64](&s.s.Mem, len(dst)))
	}
	nulls, err := encoding.DecodePresence(b.Presence, n, validity, 0)
	if err != nil {
		return fault.In(err, "presence", encoding.BlockHeaderLen)
	}
	if err := selectAll(dst, b.Values, n, in, s); err != nil {
		return fault.In(err, "values", int64(b.ValuesOffset))
	}
	if nulls > 0 {
		valid := bitmap.Bits{Data: validity, Len: n}
		for i := range dst {
			dst[i] &= valid.Word(64 * i)
		}
	}
	return nil
}

// SelectTreeRanges is [SelectRanges] for a tree without nulls.
func SelectTreeRanges[T Value](tree []byte, n int, in []Interval[T], s *Scratch, dst []uint64) error {
	if len(dst) < (n+63)/64 {
		return fmt.Errorf("%d words for the bits of %d rows", len(dst), n)
	}
	s.begin()
	return selectAll(dst[:(n+63)/64], tree, n, in, s)
}

func selectAll[T Value](dst []uint64, tree []byte, n int, in []Interval[T], s *Scratch) error {
	clear(dst)
	if err := selectTree(dst, tree, Of[T](), n, spansOf(in, s), s); err != nil {
		return err
	}
	if n%64 != 0 {
		dst[n/64] &= 1<<(n%64) - 1
	}
	return nil
}

// span64 is the keys from low to low+size.
type span64 struct{ low, size uint64 }

// spansOf returns the keys of intervals, ascending and disjoint.
func spansOf[T Value](in []Interval[T], s *Scratch) []span64 {
	keys := word.Take[span64](&s.s.Mem, len(in))[:0]
	for _, i := range in {
		if low, high := keyOf(i.Low, false), keyOf(i.High, true); i.Low <= i.High {
			keys = append(keys, span64{low, high - low})
		}
	}
	slices.SortFunc(keys, func(a, b span64) int { return cmp.Compare(a.low, b.low) })
	out := keys[:0]
	for _, k := range keys {
		if last := len(out) - 1; last >= 0 && k.low-out[last].low <= out[last].size {
			out[last].size = max(out[last].size, k.low-out[last].low+k.size)
			continue
		}
		out = append(out, k)
	}
	return out
}

// A key is an unsigned word with the width of the value, in the order of the values: signed integers have the highest
// bit flipped, negative floats all bits, and other floats the highest. -0.0 is before 0.0, although the two are
// equal, so that intervals that end at one of them must include the other.
func keyOf[T Value](v T, high bool) uint64 {
	t := Of[T]()
	if v == 0 && t.Float() {
		zero := uint64(1) << (8*t.Size() - 1)
		if high {
			return zero
		}
		return zero - 1
	}
	switch t.Size() {
	case 1:
		return uint64(toKey(word.As[uint8]([]T{v})[0], t))
	case 2:
		return uint64(toKey(word.As[uint16]([]T{v})[0], t))
	case 4:
		return uint64(toKey(word.As[uint32]([]T{v})[0], t))
	}
	return toKey(word.As[uint64]([]T{v})[0], t)
}

// toKey returns the key of a word of type t.
func toKey[U word.Uint](v U, t Type) U {
	sign := U(1) << (word.BitsOf[U]() - 1)
	switch {
	case t.Float():
		return v ^ (-(v >> (word.BitsOf[U]() - 1)) | sign)
	case t.Signed():
		return v ^ sign
	}
	return v
}

func selectTree(dst []uint64, tree []byte, t Type, n int, in []span64, s *Scratch) error {
	switch t.Size() {
	case 1:
		return selectWords[uint8](dst, tree, t, n, in, s)
	case 2:
		return selectWords[uint16](dst, tree, t, n, in, s)
	case 4:
		return selectWords[uint32](dst, tree, t, n, in, s)
	}
	return selectWords[uint64](dst, tree, t, n, in, s)
}

func selectWords[U word.Uint](dst []uint64, tree []byte, t Type, n int, in []span64, s *Scratch) error {
	v, err := trees.ParseView[U](nil, tree, t, n, nil, &s.s)
	if err != nil || n == 0 {
		return err
	}
	switch v.Form {
	case trees.Single:
		if within(toKey(v.Values[0], t), in) {
			setBits(dst, 0, n)
		}
	case trees.Runs:
		ends, err := trees.RunEnds(v.Lengths, n)
		if err != nil {
			return err
		}
		at := 0
		for i, value := range v.Values {
			end := int(ends[i])
			if within(toKey(value, t), in) {
				setBits(dst, at, end-at)
			}
			at = end
		}
	case trees.Coded:
		selectCodes(dst, v.Codes, v.Values, t, n, in, s)
	case trees.InChunks:
		selectPacked(dst, &v.Chunks, t, n, in, s)
	default:
		flip := toKey(U(0), t) // adding it to an integer is the same as flipping the bit
		if t.Float() {
			flip = 0
			for i := range v.Values {
				v.Values[i] = toKey(v.Values[i], t)
			}
		}
		orWithin(dst, v.Values, flip, in)
	}
	return nil
}

// within reports whether a key is in a span, which is the last one that begins at or before the key.
func within[U word.Uint](key U, in []span64) bool {
	from, to := 0, len(in)
	for from < to {
		if mid := int(uint(from+to) / 2); in[mid].low <= uint64(key) {
			from = mid + 1
		} else {
			to = mid
		}
	}
	return from > 0 && uint64(key)-in[from-1].low <= in[from-1].size
}

// setBits sets n bits from bit at on.
func setBits(dst []uint64, at, n int) {
	for n > 0 {
		k := min(n, 64-at%64)
		dst[at/64] |= ^uint64(0) >> (64 - k) << (at % 64)
		at, n = at+k, n-k
	}
}

// fewSpans is the number of spans up to which spans are compared one by one. More are searched.
const fewSpans = 4

// orWithin sets the bits of the values that plus flip are keys in a span.
func orWithin[U word.Uint](dst []uint64, values []U, flip U, in []span64) {
	if len(in) > fewSpans {
		for i, v := range values {
			if within(v+flip, in) {
				dst[i/64] |= 1 << (i % 64)
			}
		}
		return
	}
	for _, span := range in {
		simd.Between(dst, values, U(span.low)-flip, U(span.size))
	}
}

// selectCodes looks at the values of a dictionary, and then for their codes. Code 0 of
// nulls reads as zero; the caller knows which slots are null. Where
// those make one range, as they do for one interval of an ordered dictionary, it
// is a matter of comparing codes.
func selectCodes[U word.Uint](dst []uint64, c *trees.Codes, table []U, t Type, n int, in []span64, s *Scratch) {
	wanted := word.Take[byte](&s.s.Mem, len(table)) // 1 for the selected codes
	first, last, count := 0, -1, 0
	for i, v := range table {
		wanted[i] = 0
		if within(toKey(v, t), in) {
			wanted[i] = 1
			if count == 0 {
				first = i
			}
			last = i
			count++
		}
	}
	if count == 0 {
		return
	}
	if last-first+1 == count {
		one := word.Take[span64](&s.s.Mem, 1)
		one[0] = span64{uint64(first), uint64(count - 1)}
		if c.All != nil {
			orWithin(dst, c.All, 0, one)
			return
		}
		selectPacked(dst, &c.Chunks, U32, n, one, s)
		return
	}
	tmp := (*[fastlanes.ChunkLen]uint32)(word.Take[uint32](&s.s.Mem, fastlanes.ChunkLen))
	for at := 0; at < n; at += fastlanes.ChunkLen {
		part := c.Chunk(tmp, at, n)
		for i := 0; i < len(part); i += 64 {
			dst[(at+i)/64] = lookUp(wanted, part[i:min(i+64, len(part))])
		}
	}
}

// lookUp returns a bit for each of up to 64 codes, set if it is selected. Codes beyond the table are not selected.
func lookUp(wanted []byte, codes []uint32) (w uint64) {
	for i, code := range codes {
		if uint64(code) < uint64(len(wanted)) {
			w |= uint64(wanted[code]) << (i & 63)
		}
	}
	return w
}

// selectPacked compares packed values directly if their keys are on a line, and else converts them to keys.
func selectPacked[U word.Uint](dst []uint64, c *trees.Chunked[U], t Type, n int, in []span64, s *Scratch) {
	flip := toKey(U(0), t)
	base, add, step := c.Base+flip, U(0), U(1)
	if first, ok := c.Line(flip); ok {
		most := ^uint64(0) >> (64 - c.W)
		if in = packedSpans(in, uint64(first), uint64(c.Step), most, s); len(in) == 0 {
			return
		}
		if in[0].low == 0 && in[0].size == most {
			setBits(dst, 0, n)
			return
		}
		base = 0
	} else if c.Step != 1 {
		base, add, step = c.Base, c.Add+flip, c.Step
	}
	const length = fastlanes.ChunkLen
	tmp := (*[length]U)(word.Take[U](&s.s.Mem, length))
	next := 0
	for at := 0; at < n; at += length {
		next = c.Whole(tmp, base, at, next)
		keys := tmp[:min(length, n-at)]
		if step != 1 {
			trees.Scale(keys, add, step)
		}
		orWithin(dst[at/64:], keys, 0, in)
	}
}

// packedSpans returns the packed values, from 0 to most, whose keys are in the spans: first + step * packed value.
func packedSpans(in []span64, first, step, most uint64, s *Scratch) []span64 {
	out := word.Take[span64](&s.s.Mem, len(in))[:0]
	for _, i := range in {
		high := i.low + i.size
		if high < first {
			continue
		}
		from, to := uint64(0), min((high-first)/step, most)
		if i.low > first {
			from = (i.low-first-1)/step + 1
		}
		if from <= to {
			out = append(out, span64{from, to - from})
		}
	}
	return out
}
