package numeric

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/describe"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Describe says what the bytes of a tree of n values of type t are, without
// decoding the values. Of a bad tree it describes what can be read, and puts the
// error into the node that it was found in.
func Describe(tree []byte, t Type, n int) describe.Node {
	return describeTree("", tree, 0, t, n, 0)
}

// describeTree describes a tree that begins at byte at of what is described.
func describeTree(name string, tree []byte, at int, t Type, n, depth int) describe.Node {
	node := describe.Node{Name: name, Type: t.String(), Len: n, Offset: at, Size: len(tree)}
	code, err := codeOf(tree, t)
	if err == nil && depth >= maxDepth {
		err = fault.Limitf("encoding trees nested more than %d deep", maxDepth)
	}
	if err != nil {
		node.Code, node.Err = peek(tree), err
		return node
	}
	node.Code = code
	node.Field(at, 2, "code", code.String())
	d := describer{node: &node, tree: tree, at: at, t: t, n: n, depth: depth}
	d.describe()
	return node
}

// describer is one tree that is being described.
type describer struct {
	node  *describe.Node
	tree  []byte
	at    int // offset of tree
	t     Type
	n     int
	depth int
}

func (d *describer) describe() {
	switch d.node.Code {
	case encoding.Plain:
		d.rest(2, "values")
	case encoding.SingleValue:
		d.singleValue()
	case encoding.FLBitPack:
		d.bitPack()
	case encoding.FOR:
		d.frameOfReference()
	case encoding.FFOR:
		d.fusedFrameOfReference("chunks")
	case encoding.TightPack:
		d.fusedFrameOfReference("differences")
	case encoding.Delta:
		d.delta()
	case encoding.RunLength:
		d.runLength()
	case encoding.TruncateU8, encoding.TruncateU16, encoding.TruncateU32, encoding.TruncateU64:
		d.flagged(truncateType(d.node.Code))
	case encoding.ZigZag:
		d.flagged(d.t.unsigned())
	case encoding.ALP:
		d.alp()
	case encoding.ALPRD:
		d.alprd()
	case encoding.BlockDictionary:
		d.dictionary()
	case encoding.Sparse:
		d.sparse()
	case encoding.Zstd:
		if _, _, ok := d.header(0); ok {
			d.zeros(2, headerLen(0))
			d.rest(headerLen(0), "frames")
		}
	case encoding.LZ4:
		d.lz4()
	case encoding.CommonDivisor:
		d.commonDivisor()
	case encoding.Narrow:
		d.narrow()
	case encoding.PatchedPack:
		d.patched()
	case encoding.BytePlanes:
		d.bytePlanes()
	case encoding.PrefixBins:
		d.prefixBins()
	}
}

// header checks that the header is there.
func (d *describer) header(own int) (header, payload []byte, ok bool) {
	header, payload, err := split(d.tree, own)
	if err != nil {
		d.node.Err = err
		return nil, nil, false
	}
	return header, payload, true
}

// uint adds a field of the header that is an unsigned number; from counts from
// the start of the tree.
func (d *describer) uint(from, size int, name string) uint64 {
	var v uint64
	for i := range size {
		v |= uint64(d.tree[from+i]) << (8 * i)
	}
	d.node.Field(d.at+from, size, name, strconv.FormatUint(v, 10))
	return v
}

// value adds a field that is a value of the tree's type.
func (d *describer) value(from int, name string) {
	d.node.Field(d.at+from, d.t.Size(), name, formatValue(d.tree[from:], d.t))
}

// zeros adds the padding between two places.
func (d *describer) zeros(from, to int) {
	if to > from {
		d.node.Field(d.at+from, to-from, "zeros", "")
	}
}

// rest adds all bytes from a place on.
func (d *describer) rest(from int, name string) {
	if from < len(d.tree) {
		d.node.Field(d.at+from, len(d.tree)-from, name, "")
	}
}

// child adds a tree, or a raw part.
func (d *describer) child(name string, from, to int, nested bool, t Type, n int) {
	part := d.tree[from:to]
	if nested {
		d.node.Children = append(d.node.Children, describeTree(name, part, d.at+from, t, n, d.depth+1))
		return
	}
	raw := describe.Node{Name: name, Type: t.String(), Len: n, Offset: d.at + from, Size: len(part)}
	if len(part) > 0 {
		raw.Field(d.at+from, len(part), "values", "")
	}
	d.node.Children = append(d.node.Children, raw)
}

// formatValue is the first value of b for people.
func formatValue(b []byte, t Type) string {
	switch t {
	case I8:
		return strconv.Itoa(int(int8(b[0])))
	case I16:
		return strconv.Itoa(int(int16(binary.LittleEndian.Uint16(b))))
	case I32:
		return strconv.Itoa(int(int32(binary.LittleEndian.Uint32(b))))
	case I64:
		return strconv.FormatInt(int64(binary.LittleEndian.Uint64(b)), 10)
	case U8:
		return strconv.Itoa(int(b[0]))
	case U16:
		return strconv.Itoa(int(binary.LittleEndian.Uint16(b)))
	case U32:
		return strconv.FormatUint(uint64(binary.LittleEndian.Uint32(b)), 10)
	case F32:
		return strconv.FormatFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 'g', -1, 32)
	case F64:
		return strconv.FormatFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)), 'g', -1, 64)
	}
	return strconv.FormatUint(binary.LittleEndian.Uint64(b), 10)
}

func (d *describer) singleValue() {
	if len(d.tree) < 2+d.t.Size() {
		d.node.Err = fault.Corruptf("%d bytes for a value of %d", len(d.tree)-2, d.t.Size())
		return
	}
	d.value(2, "value")
	d.rest(2+d.t.Size(), "ignored")
}

func (d *describer) bitPack() {
	if _, _, ok := d.header(1); !ok {
		return
	}
	d.node.Params = strconv.FormatUint(d.uint(2, 1, "bits"), 10)
	d.zeros(3, headerLen(1))
	d.rest(headerLen(1), "chunks")
}

func (d *describer) frameOfReference() {
	size := d.t.Size()
	if _, _, ok := d.header(size); !ok {
		return
	}
	d.value(2, "reference")
	d.zeros(2+size, headerLen(size))
	d.child("differences", headerLen(size), len(d.tree), true, d.t.unsigned(), d.n)
}

func (d *describer) fusedFrameOfReference(rest string) {
	size := d.t.Size()
	if _, _, ok := d.header(size + 1); !ok {
		return
	}
	d.value(2, "reference")
	d.node.Params = strconv.FormatUint(d.uint(2+size, 1, "bits"), 10)
	d.zeros(3+size, headerLen(size+1))
	d.rest(headerLen(size+1), rest)
}

func (d *describer) delta() {
	size := d.t.Size()
	if _, _, ok := d.header(size); !ok {
		return
	}
	d.value(2, "first value")
	d.zeros(2+size, headerLen(size))
	d.child("differences", headerLen(size), len(d.tree), true, d.t, max(d.n-1, 0))
}

func (d *describer) runLength() {
	if _, _, ok := d.header(10); !ok {
		return
	}
	size := int(d.uint(2, 4, "size of run values"))
	d.uint(6, 4, "runs")
	d.uint(10, 1, "run values are a tree:")
	d.uint(11, 1, "run lengths are a tree:")
	d.zeros(12, 16)
	r, err := parseRunLength(d.tree, d.n)
	if err != nil {
		d.node.Err = err
		return
	}
	lengths := len(d.tree) - len(r.lengths)
	d.child("run values", 16, 16+size, r.valuesNested, d.t, r.count)
	d.zeros(16+size, lengths)
	d.child("run lengths", lengths, len(d.tree), r.lengthsNested, U32, r.count)
}

// flagged describes Truncate and ZigZag.
func (d *describer) flagged(t Type) {
	header, _, ok := d.header(1)
	if !ok {
		return
	}
	d.uint(2, 1, "values are a tree:")
	d.zeros(3, headerLen(1))
	d.child("values", headerLen(1), len(d.tree), header[0] != 0, t, d.n)
}

func (d *describer) alp() {
	if _, _, ok := d.header(8); !ok {
		return
	}
	d.uint(2, 4, "size of integers")
	x := d.uint(6, 2, "exceptions")
	e, f := d.uint(8, 1, "e"), d.uint(9, 1, "f")
	d.node.Params = fmt.Sprintf("e=%d,f=%d,x=%d", e, f, x)
	d.zeros(10, 16)
	var a alpTree
	var err error
	if d.t == F32 {
		a, err = parseALP[uint32](d.tree, d.n)
	} else {
		a, err = parseALP[uint64](d.tree, d.n)
	}
	if err != nil {
		d.node.Err = err
		return
	}
	end := 16 + len(a.ints)
	d.child("integers", 16, end, true, d.t.integer(), d.n)
	d.exceptions(end, len(a.positions), len(a.values))
}

func (d *describer) exceptions(from, positions, values int) {
	if positions > 0 {
		d.node.Field(d.at+from, positions, "positions of exceptions", "")
		d.node.Field(d.at+from+positions, values, "values of exceptions", "")
	}
}

func (d *describer) alprd() {
	if _, _, ok := d.header(12); !ok {
		return
	}
	d.uint(2, 4, "size of left codes")
	d.uint(6, 4, "size of right parts")
	x := d.uint(10, 2, "exceptions")
	r, k := d.uint(12, 1, "bits of right parts"), d.uint(13, 1, "dictionary entries")
	d.node.Params = fmt.Sprintf("R=%d,D=%d,x=%d", r, k, x)
	d.zeros(14, 16)
	a, err := parseALPRD(d.tree, d.n)
	if err != nil {
		d.node.Err = err
		return
	}
	left := 16 + 2*a.dictLen
	right := left + len(a.leftCodes)
	d.node.Field(d.at+16, left-16, "dictionary of left parts", "")
	d.child("left codes", left, right, true, U16, d.n)
	d.child("right parts", right, right+len(a.rightParts), true, d.t.integer().unsigned(), d.n)
	d.exceptions(right+len(a.rightParts), len(a.positions), len(a.leftsPatch))
}

func (d *describer) dictionary() {
	if _, _, ok := d.header(9); !ok {
		return
	}
	d.uint(2, 4, "size of codes")
	d.uint(6, 4, "dictionary values")
	d.uint(10, 1, "dictionary values are a tree:")
	d.zeros(11, 16)
	p, err := parseDictionary(d.tree, d.n)
	if err != nil {
		d.node.Err = err
		return
	}
	end := 16 + len(p.codes)
	d.child("codes", 16, end, true, U32, d.n)
	d.child("dictionary", end, len(d.tree), p.valuesNested, d.t, p.count)
}

func (d *describer) sparse() {
	if _, _, ok := d.header(10); !ok {
		return
	}
	d.uint(2, 4, "values")
	size := int(d.uint(6, 4, "size of positions"))
	d.uint(10, 1, "positions are a tree:")
	d.uint(11, 1, "values are a tree:")
	d.zeros(12, 16)
	p, err := parseSparse(d.tree, d.n)
	if err != nil {
		d.node.Err = err
		return
	}
	values := len(d.tree) - len(p.values)
	d.child("positions", 16, 16+size, p.positionsNested && p.count > 0, U32, p.count)
	d.zeros(16+size, values)
	d.child("values", values, len(d.tree), p.valuesNested && p.count > 0, d.t, p.count)
}

func (d *describer) lz4() {
	if _, payload, ok := d.header(0); !ok || len(payload) < 4 {
		return
	}
	d.zeros(2, 8)
	d.uint(8, 4, "size of values")
	d.rest(12, "LZ4 block")
}

func (d *describer) commonDivisor() {
	size := d.t.Size()
	if _, _, ok := d.header(2 * size); !ok {
		return
	}
	d.value(2, "base")
	d.uint(2+size, size, "divisor")
	d.zeros(2+2*size, headerLen(2*size))
	d.child("quotients", headerLen(2*size), len(d.tree), true, d.t.unsigned(), d.n)
}

func (d *describer) narrow() {
	header, _, ok := d.header(2)
	if !ok {
		return
	}
	size := int(d.uint(2, 1, "bytes of a value"))
	d.uint(3, 1, "values are a tree:")
	d.zeros(4, headerLen(2))
	t, ok := narrowType(size)
	if !ok || size >= d.t.Size() {
		d.node.Err = fault.Corruptf("values of %d bytes narrowed to %d", d.t.Size(), size)
		return
	}
	d.child("values", headerLen(2), len(d.tree), header[1] != 0, t, d.n)
}

func (d *describer) patched() {
	if _, _, ok := d.header(patchedHeader); !ok {
		return
	}
	w := int(d.uint(2, 1, "bits"))
	d.uint(3, 1, "positions are a tree:")
	d.uint(4, 1, "high parts are a tree:")
	d.zeros(5, 8)
	x := d.uint(8, 4, "exceptions")
	size := int(d.uint(12, 4, "size of positions"))
	d.value(16, "base")
	d.zeros(16+d.t.Size(), 24)
	d.node.Params = fmt.Sprintf("%d,x=%d", w, x)
	if w < 1 || w >= 8*d.t.Size() || x > uint64(d.n) {
		d.node.Err = fault.Corruptf("width %d and %d exceptions in %d values of %d bits", w, x, d.n, 8*d.t.Size())
		return
	}
	end := 24 + packedSize(d.n, w)
	if end > len(d.tree) {
		d.node.Err = fault.Corruptf("%d bytes for chunks of %d", len(d.tree)-24, end-24)
		return
	}
	d.node.Field(d.at+24, end-24, "chunks", "")
	if x == 0 {
		d.rest(end, "too much")
		return
	}
	positions, _, err := cutPadded(d.tree[end:], uint32(size))
	if err != nil {
		d.node.Err = err
		return
	}
	highs := end + encoding.PadTo8(len(positions))
	d.child("positions", end, end+size, d.tree[3] != 0, U32, int(x))
	d.zeros(end+size, highs)
	d.child("high parts", highs, len(d.tree), d.tree[4] != 0, d.t.signed(), int(x))
}

func (d *describer) bytePlanes() {
	size := d.t.Size()
	if _, _, ok := d.header(4 * size); !ok {
		return
	}
	for k := range size {
		d.uint(2+4*k, 4, fmt.Sprintf("size of plane %d", k))
	}
	d.zeros(2+4*size, headerLen(4*size))
	planes, err := parseBytePlanes(d.tree, size)
	if err != nil {
		d.node.Err = err
		return
	}
	at := headerLen(4 * size)
	for k, plane := range planes[:size] {
		d.child(fmt.Sprintf("plane %d", k), at, at+len(plane), true, U8, d.n)
		end := at + encoding.PadTo8(len(plane))
		d.zeros(at+len(plane), end)
		at = end
	}
}

func (d *describer) prefixBins() {
	if _, _, ok := d.header(binsHeader); !ok {
		return
	}
	d.node.Params = strconv.FormatUint(d.uint(2, 2, "bins"), 10)
	d.uint(4, 4, "size of lows")
	d.uint(8, 4, "size of widths")
	for k := range binStreams - 1 {
		d.uint(12+4*k, 4, fmt.Sprintf("size of stream %d", k))
	}
	p, err := parsePrefixBins(d.tree)
	if err != nil {
		d.node.Err = err
		return
	}
	lows := headerLen(binsHeader)
	d.child("lows", lows, lows+len(p.lows), true, d.t, p.count)
	d.zeros(lows+len(p.lows), p.widthsAt)
	d.child("widths of codes and offsets", p.widthsAt, p.widthsAt+len(p.widths), true, U8, 2*p.count)
	d.zeros(p.widthsAt+len(p.widths), p.dataAt)
	for k := range binStreams {
		d.node.Field(d.at+p.dataAt+p.starts[k], p.starts[k+1]-p.starts[k], fmt.Sprintf("stream %d", k), "")
	}
	d.zeros(p.dataAt+p.starts[binStreams], len(d.tree))
}
