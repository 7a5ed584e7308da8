package bytestring

import (
	"encoding/binary"
	"strconv"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/describe"
	"github.com/amudai/amudai-go/encoding/flatlz"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Describe says what the bytes of a tree of n values are, each of fixed bytes or,
// with fixed 0, of any length, without decoding the values. Of a bad tree it
// describes what can be read, and puts the error into the node it was found in.
func Describe(tree []byte, n, fixed int) describe.Node {
	d := describer{node: describe.Node{Type: "bytes", Len: n, Size: len(tree)}, tree: tree, n: n, fixed: fixed}
	if fixed > 0 {
		d.node.Type = "bytes[" + strconv.Itoa(fixed) + "]"
	}
	if len(tree) < 2 {
		d.node.Err = fault.Corruptf("tree of %d bytes", len(tree))
		return d.node
	}
	d.node.Code = encoding.Code(binary.LittleEndian.Uint16(tree))
	d.node.Field(0, 2, "code", d.node.Code.String())
	switch d.node.Code {
	case encoding.Plain:
		d.plain()
	case encoding.SingleValue:
		d.rest(2, "value")
	case encoding.BlockDictionary:
		d.dictionary()
	case encoding.FSST:
		d.fsst()
	case encoding.GroupedFSST:
		d.groupedFSST()
	case encoding.Zstd, encoding.LZ4:
		d.compressed()
	case encoding.FlatLZ:
		d.flatLZ()
	case encoding.DecimalTree:
		d.decimals()
	case encoding.Template:
		d.templates()
	default:
		d.node.Err = fault.Unsupportedf("encoding %v of byte strings", d.node.Code)
	}
	return d.node
}

// describer is a tree that is being described. Its methods take places in the
// tree, and do nothing once there was an error.
type describer struct {
	node     describe.Node
	tree     []byte
	n, fixed int
}

// have checks that the tree reaches up to a place.
func (d *describer) have(end uint64) bool {
	if d.node.Err == nil && end > uint64(len(d.tree)) {
		d.node.Err = fault.Corruptf("tree of %d bytes should have at least %d", len(d.tree), end)
	}
	return d.node.Err == nil
}

// uint adds a field that is an unsigned number.
func (d *describer) uint(at, size int, name string) uint64 {
	if !d.have(uint64(at + size)) {
		return 0
	}
	var v uint64
	for i := range size {
		v |= uint64(d.tree[at+i]) << (8 * i)
	}
	d.node.Field(at, size, name, strconv.FormatUint(v, 10))
	return v
}

// bytes adds a field of any content, and gives the place behind it.
func (d *describer) bytes(at int, size uint64, name string) int {
	if !d.have(uint64(at) + size) {
		return len(d.tree)
	}
	if size > 0 {
		d.node.Field(at, int(size), name, "")
	}
	return at + int(size)
}

// pad adds the zeros up to the next multiple of 8.
func (d *describer) pad(at int) int {
	return d.bytes(at, uint64(min(encoding.PadTo8(at), len(d.tree))-at), "zeros")
}

func (d *describer) rest(at int, name string) {
	d.bytes(at, uint64(len(d.tree)-at), name)
}

// child adds a tree of numbers, or a raw part of them.
func (d *describer) child(name string, at int, size uint64, nested bool, t numeric.Type, n int) int {
	if !d.have(uint64(at) + size) {
		return len(d.tree)
	}
	part := d.tree[at : at+int(size)]
	c := describe.Node{Type: t.String(), Len: n, Offset: at, Size: len(part)}
	if nested {
		c = numeric.Describe(part, t, n)
		shift(&c, at)
	} else if len(part) > 0 {
		c.Field(at, len(part), "values", "")
	}
	c.Name = name
	d.node.Children = append(d.node.Children, c)
	return at + int(size)
}

// shift moves a description by as many bytes.
func shift(n *describe.Node, by int) {
	n.Offset += by
	for i := range n.Fields {
		n.Fields[i].Offset += by
	}
	for i := range n.Children {
		shift(&n.Children[i], by)
	}
}

func (d *describer) plain() {
	width := d.uint(2, 1, "offset width")
	if d.node.Err == nil && d.fixed == 0 && width == 8 {
		d.rest(d.bytes(3, 8*(uint64(d.n)+1), "offsets"), "values")
	} else if d.node.Err == nil {
		d.rest(3, "values")
	}
}

func (d *describer) dictionary() {
	codes := d.uint(2, 4, "codes size")
	lengths := d.uint(6, 4, "lengths size")
	unique := d.uint(10, 4, "distinct values")
	nested := d.uint(14, 1, "lengths are a tree")
	d.pad(15)
	at := d.child("codes", 16, codes, true, numeric.U32, d.n)
	at = d.pad(at)
	if d.fixed > 0 {
		d.child("lengths", at, 0, false, numeric.U32, 0)
	} else {
		at = d.child("lengths", at, lengths, nested != 0, numeric.U32, int(min(unique, uint64(len(d.tree)))))
	}
	if d.node.Err == nil {
		d.rest(at, "values")
	}
}

func (d *describer) fsst() {
	symbols := d.uint(2, 1, "symbols")
	size := d.uint(3, 4, "codes size")
	nested := d.uint(7, 1, "offsets are a tree")
	d.uint(8, 1, "offset width")
	d.bytes(9, 7, "zeros")
	d.node.Params = "S=" + strconv.FormatUint(symbols, 10)
	at := d.bytes(16, 8*symbols, "symbols")
	at = d.bytes(at, symbols, "symbol lengths")
	d.offsets(d.pad(d.bytes(at, size, "codes")), nested != 0)
}

func (d *describer) groupedFSST() {
	symbols := d.uint(2, 1, "symbols")
	size := d.uint(3, 4, "codes size")
	nested := d.uint(7, 1, "lengths are a tree")
	d.uint(8, 1, "length width")
	nestedSizes := d.uint(9, 1, "sizes are a tree")
	group := d.uint(10, 2, "values of a group")
	lengths := d.uint(12, 4, "lengths size")
	d.node.Params = "S=" + strconv.FormatUint(symbols, 10)
	at := d.bytes(16, 8*symbols, "symbols")
	at = d.bytes(at, symbols, "symbol lengths")
	at = d.pad(d.bytes(at, size, "codes"))
	n := d.n
	if d.fixed > 0 {
		n = 0
	}
	at = d.pad(d.child("lengths", at, lengths, nested != 0 && n > 0, numeric.U32, n))
	if d.node.Err == nil && group > 0 {
		d.child("sizes of groups", at, uint64(len(d.tree)-at), nestedSizes != 0, numeric.U32, (d.n+int(group)-1)/int(group))
	}
}

func (d *describer) compressed() {
	size := d.uint(2, 4, "compressed size")
	d.uint(6, 1, "offset width")
	nested := d.uint(7, 1, "offsets are a tree")
	at := 8
	if d.node.Code == encoding.LZ4 && size >= lz4Prefix {
		d.uint(at, lz4Prefix, "values size")
		at += lz4Prefix
		size -= lz4Prefix
	}
	d.offsets(d.pad(d.bytes(at, size, "compressed values")), nested != 0)
}

func (d *describer) flatLZ() {
	sequences := d.uint(2, 4, "sequences")
	literals := d.uint(6, 4, "literals")
	d.uint(10, 1, "offset width")
	nested := d.uint(11, 1, "offsets are a tree")
	d.bytes(12, 4, "zeros")
	at := d.bytes(16, flatlz.SequenceLen*sequences, "sequences")
	d.offsets(d.pad(d.bytes(at, literals, "literal bytes")), nested != 0)
}

func (d *describer) templates() {
	count := d.uint(2, 4, "templates")
	lengths := d.uint(6, 4, "lengths size")
	texts := d.uint(10, 4, "templates size")
	codes := d.uint(14, 4, "codes size")
	d.uint(18, 1, "form of the templates")
	d.uint(19, 1, "form of the digits")
	at := d.child("lengths", d.bytes(20, 4, "zeros"), lengths, true, numeric.U32, int(min(count, uint64(d.n))))
	at = d.pad(d.bytes(d.pad(at), texts, "templates"))
	at = d.pad(d.child("codes", at, codes, true, numeric.U32, d.n))
	if d.node.Err == nil {
		d.rest(at, "digits")
	}
}

// offsets adds what follows compressed values.
func (d *describer) offsets(at int, nested bool) {
	n := d.n + 1
	if d.fixed > 0 {
		n = 0
	}
	if d.node.Err == nil {
		d.child("offsets", at, uint64(len(d.tree)-at), nested && n > 0, numeric.U64, n)
	}
}

func (d *describer) decimals() {
	exponent := 0
	if d.have(4) {
		exponent = int(int16(binary.LittleEndian.Uint16(d.tree[2:])))
		d.node.Field(2, 2, "exponent", strconv.Itoa(exponent))
	}
	form := d.uint(4, 1, "form")
	d.pad(5)
	exceptions := d.uint(8, 4, "exceptions")
	size := d.uint(12, 4, "integers size")
	d.node.Params = "e=" + strconv.Itoa(exponent)
	if form == uint64(reducedForm) {
		d.node.Params += ",reduced"
	}
	if exceptions > 0 {
		d.node.Params += ",x=" + strconv.FormatUint(exceptions, 10)
	}
	at := d.pad(d.child("integers", 16, size, true, numeric.I64, d.n))
	d.rest(d.bytes(at, 4*exceptions, "positions"), "values")
}
