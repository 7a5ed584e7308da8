package column

import (
	"math"
	"slices"

	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Codec decodes and encodes the pages of one column. It has no state and may be used concurrently.
type Codec struct {
	typ      Type
	bits     int
	kind     Kind
	min, max float64
}

// NewCodec makes the codec of a column with elements of so many bits, whose values in memory are of kind k. low and high
// are the range of a [Real32Quant] column. What the specification does not allow to be read as k is an error.
func NewCodec(t Type, bits uint16, low, high float64, k Kind) (Codec, error) {
	least, most := t.Bits()
	switch {
	case !Readable(t, k):
		return Codec{}, fault.Unsupportedf("a column of type %v read as %v", t, k)
	case bits < least || bits > most:
		return Codec{}, fault.Corruptf("%v of %d bits", t, bits)
	case t == Real32Quant && !(low < high):
		return Codec{}, fault.Corruptf("%v with range %v to %v", t, low, high)
	}
	return Codec{typ: t, bits: int(bits), kind: k, min: low, max: high}, nil
}

// Kind is how the values lie in memory.
func (c *Codec) Kind() Kind { return c.kind }

// Split tells whether the bytes of equal place of all elements of a page lie together.
func (c *Codec) Split() bool { return types[c.typ].split }

// PageSize is the length in bytes of an uncompressed page of n elements of so many bits.
func PageSize(n uint32, bits uint16) uint64 {
	return (uint64(n)*uint64(bits) + 7) / 8
}

// blockLen is the number of elements that are converted at a time.
const blockLen = 512

// scratch holds a block of elements, of at most 8 bytes each.
type scratch [8 * blockLen]byte

// Decode decodes a page of n elements. Their values become those from at on in dst, a buffer of values of the codec's
// kind that is long enough for them; others stay. Two pages must not be decoded at once into the same byte of a buffer of bits.
// A value that the kind cannot hold is an error which names the element.
func (c *Codec) Decode(dst []byte, at int, page []byte, n int) error {
	if at < 0 || n < 0 || c.kind.Size(at+n) > len(dst) {
		return fault.Limitf("buffer of %d bytes for the values from %d to %d", len(dst), at, at+n)
	}
	if want := PageSize(uint32(n), uint16(c.bits)); want != uint64(len(page)) {
		return fault.Corruptf("page of %d bytes for %d elements of %d bits, not %d bytes", len(page), n, c.bits, want)
	}
	if n == 0 {
		return nil
	}
	if c.kind == KindBool && c.typ == Bit {
		bitmap.Bits{Data: page, Len: n}.CopyTo(dst, at)
		return nil
	}
	d := decoder{Codec: c, page: page, n: n}
	if c.direct() {
		width := kinds[c.kind].width
		out := dst[at*width : (at+n)*width]
		d.native(out, n)
		return nil
	}
	var block scratch
	for d.next < n {
		from := d.next
		count := min(n-from, blockLen)
		d.native(block[:], count)
		if err := c.convert(dst, at+from, &block, count, from); err != nil {
			return err
		}
	}
	return nil
}

// direct tells whether values in memory are, bit by bit, what the column decodes to.
func (c *Codec) direct() bool {
	native := c.typ.Native()
	return c.kind == native || native.char() && c.kind.char() || c.typ == Real32Quant && c.kind == KindFloat32
}

// Plain tells whether a page is, byte by byte, what it decodes to.
func (c *Codec) Plain() bool {
	return c.direct() && !types[c.typ].split && c.bits%8 == 0 && c.typ != Real32Trunc && c.typ != Real32Quant
}

// char tells whether values are signed bytes.
func (k Kind) char() bool { return k == KindChar || k == KindInt8 }

// A decoder decodes a page from its first element to its last, in blocks.
type decoder struct {
	*Codec
	page []byte
	n    int    // elements of the page
	next int    // the next element
	sum  uint64 // of the differences up to it
}

// native decodes the next count elements, without converting them.
func (d *decoder) native(out []byte, count int) {
	from := d.next
	d.next += count
	row := &types[d.typ]
	switch {
	case d.typ == Bit:
		unpackBits(out[:count], d.page, from)
	case d.typ == Real32Trunc:
		unpackTruncated(out[:4*count], d.page, from, d.bits)
	case d.typ == Real32Quant && d.kind == KindFloat32:
		dequantize(d, view[float32](out[:4*count]), from)
	case d.typ == Real32Quant:
		dequantize(d, view[float64](out[:8*count]), from)
	case !row.split:
		width := d.bits / 8
		copy(out[:count*width], d.page[from*width:])
	default:
		width := d.bits / 8
		for done := 0; done < count; done += blockLen { // a block is still in the cache when it is transformed
			k := min(count-done, blockLen)
			block := out[done*width : (done+k)*width]
			unsplit(block, d.page, d.n, from+done, width, row.transform == zigzag)
			switch {
			case row.transform != delta:
			case width == 4:
				d.sum = uint64(undelta(view[uint32](block), uint32(d.sum)))
			default:
				d.sum = undelta(view[uint64](block), d.sum)
			}
		}
	}
}

// Append appends a page of the n values from at on in src, a buffer of values of the codec's kind, to dst. A value that
// the column cannot hold is an error which names the element.
func (c *Codec) Append(dst, src []byte, at, n int) ([]byte, error) {
	if !Writable(c.typ, c.kind) {
		return dst, fault.Unsupportedf("values of kind %v written to a column of type %v", c.kind, c.typ)
	}
	if at < 0 || n < 0 || c.kind.Size(at+n) > len(src) {
		return dst, fault.Limitf("buffer of %d bytes for the values from %d to %d", len(src), at, at+n)
	}
	if n == 0 {
		return dst, nil
	}
	start := len(dst)
	size := int(PageSize(uint32(n), uint16(c.bits)))
	dst = slices.Grow(dst, size)[:start+size]
	page := dst[start:]
	if c.kind == KindBool && c.typ == Bit {
		clear(page)
		bitmap.Bits{Data: src, Off: at, Len: n}.CopyTo(page, 0)
		return dst, nil
	}
	e := encoder{Codec: c, page: page, n: n}
	var block scratch
	for from := 0; from < n; from += blockLen {
		count := min(n-from, blockLen)
		elements, err := c.stored(&block, src, at+from, count, from)
		if err != nil {
			return dst[:start], err
		}
		e.native(&block, elements, from)
	}
	return dst, nil
}

// An encoder fills a page from its first element to its last, in blocks.
type encoder struct {
	*Codec
	page []byte
	n    int
	last uint64 // the element before the next, for differences
}

// native stores elements, the first of which has the number from. They may lie in the block, which it changes.
func (e *encoder) native(block *scratch, elements []byte, from int) {
	row := &types[e.typ]
	width := e.bits / 8
	switch {
	case e.typ == Real32Trunc || e.typ == Real32Quant:
		packBits(e.page, elements, from, e.bits)
		return
	case !row.split:
		copy(e.page[from*width:], elements)
		return
	case row.transform == zigzag:
		dozigzag(block[:], elements, width)
		elements = block[:len(elements)]
	case row.transform == delta && width == 4:
		e.last = uint64(dodelta(view[uint32](block[:]), view[uint32](elements), uint32(e.last)))
		elements = block[:len(elements)]
	case row.transform == delta:
		e.last = dodelta(view[uint64](block[:]), view[uint64](elements), e.last)
		elements = block[:len(elements)]
	}
	split(e.page, elements, e.n, from, width)
}

const switchSize = 12

// DecodeSwitch decodes elements of a page of a Switch column, from one on: for each the number of the alternative of a variant, from 1,
// or 0 for none, and the place of the value among those of the alternative in the cluster.
//
//	u64 place, u32 alternative
func DecodeSwitch(alternatives []int8, places []int32, page []byte, from int) error {
	n := len(alternatives)
	if len(places) != n || len(page) < (from+n)*switchSize {
		return fault.Corruptf("page of %d bytes for %d elements of %d bytes", len(page), from+n, switchSize)
	}
	for i := range alternatives {
		b := page[switchSize*(from+i):]
		place, tag := le.Uint64(b), le.Uint32(b[8:])
		if place > math.MaxInt32 || tag > math.MaxInt8 {
			return fault.Unsupportedf("element %d of a page: value %d of alternative %d of a variant", from+i, place, tag)
		}
		places[i], alternatives[i] = int32(place), int8(tag)
	}
	return nil
}

// AppendSwitch appends a page of a Switch column.
func AppendSwitch(dst []byte, alternatives []int8, places []int32) []byte {
	for i, tag := range alternatives {
		dst = le.AppendUint64(dst, uint64(places[i]))
		dst = le.AppendUint32(dst, uint32(tag))
	}
	return dst
}
