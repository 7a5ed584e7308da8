package bytestring

import (
	"encoding/binary"
	"sort"
	"strconv"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// DecimalTree, code 0x8001, edition 2026, values of 16 bytes: decimals (package
// decimal) as integers that share one exponent, and exceptions as they are.
//
//	0  2  01 80
//	2  2  i16 exponent E, -6176 to 6111
//	4  1  form: 0 or 1
//	5  3  zeros
//	8  4  u32 number of exceptions X
//	12 4  u32 size of the integers in bytes
//	16    integers: tree of n i64
//	      zeros up to a multiple of 8 from 16 on
//	      X u32 positions, ascending; X times 16 bytes that stand there, to the end
//
// A value is its integer × 10^E: in form 0 with exactly that coefficient and
// exponent, in form 1 without zeros at the end of the coefficient as far as its
// exponent stays at most 0, which is how the reference stores a column of decimals.
// What the integer does not give bit for bit is an exception; its integer, and
// those of nulls, have no meaning. Example, 1.25, NaN, 0.50 with integers as Plain:
//
//	01 80 | fe ff | 00 | 3 zeros | 01 00 00 00 | 1a 00 00 00
//	01 00 | 7d 00.. | 7d 00.. | 32 00.. (i64 each) | 6 zeros
//	01 00 00 00 | 15 zeros 7c

const (
	decimalLen    = 16
	decimalHeader = 14
	reducedForm   = 1
)

// decimals is the view of a DecimalTree.
type decimals struct {
	exponent   int
	reduced    bool
	integers   []int64
	exceptions Exceptions
}

// Decimal is a decimal number: digits and an exponent of ten.
type Decimal = decimal.Decimal

// Exceptions are decimals that have no integer. Positions ascend.
type Exceptions struct {
	Positions []uint32  // in the block, from 0
	Values    []Decimal // the values at these positions
}

// Integers gives a block of decimals as integers: value i is integers[i] ×
// 10^exponent, unless i is among the exceptions or null. ok is false for blocks
// not stored like that.
func (b *Block) Integers() (exponent int, integers []int64, exceptions Exceptions, ok bool) {
	d := &b.decimals
	return d.exponent, d.integers, d.exceptions, b.row == &decimalTree
}

// IntegerTree is a block of decimals as integers that are still encoded; see
// [Block.Integers]. It shares the block's memory, and that of the Scratch.
type IntegerTree struct {
	Exponent   int
	Tree       []byte // of int64 (package numeric)
	Presence   []byte // the block's section of that name (package block)
	Exceptions Exceptions
}

// ParseIntegers is [Parse] for blocks of decimals that are stored as integers, for
// callers who decode those themselves. ok is false for blocks stored otherwise.
func ParseIntegers(blk []byte, n int, o BlockOptions, s *Scratch) (t IntegerTree, ok bool, err error) {
	f, err := encoding.ParseBlock(blk, o.Checksums)
	if err != nil || len(f.Values) < 2 || encoding.Code(binary.LittleEndian.Uint16(f.Values)) != encoding.DecimalTree {
		return t, false, err
	}
	s.block = Block{s: s, n: n, fixed: decimalLen}
	if t.Tree, err = s.block.openDecimals(f.Values); err != nil {
		return t, true, fault.In(fault.In(err, encoding.DecimalTree.String(), -1), "values", int64(f.ValuesOffset))
	}
	t.Exponent, t.Exceptions, t.Presence = s.block.exponent, s.block.exceptions, f.Presence
	return t, true, nil
}

func parseDecimals(b *Block, tree []byte, _ int64) (uint64, error) {
	integers, err := b.openDecimals(tree)
	if err != nil {
		return 0, err
	}
	d := &b.decimals
	d.integers = scratch.Slice(&b.s.integers, b.n)
	if err := numeric.Decode(d.integers, integers, &b.s.num); err != nil {
		return 0, fault.In(err, "integers", -1)
	}
	return b.fixedSize(b.n * b.fixed)
}

// openDecimals reads all but the integers, whose tree it returns.
func (b *Block) openDecimals(tree []byte) (integers []byte, err error) {
	header, rest, err := split(tree, decimalHeader)
	if err != nil {
		return nil, err
	}
	if b.fixed != decimalLen {
		return nil, fault.Corruptf("decimals in values of %d bytes", b.fixed)
	}
	d := &b.decimals
	d.exponent = int(int16(binary.LittleEndian.Uint16(header)))
	if d.exponent < decimal.MinExponent || d.exponent > decimal.MaxExponent || header[2] > reducedForm {
		return nil, fault.Corruptf("exponent %d, form %d", d.exponent, header[2])
	}
	d.reduced = header[2] == reducedForm
	integers, rest, err = padded(rest, uint64(binary.LittleEndian.Uint32(header[10:])), "integers")
	if err != nil {
		return nil, err
	}
	return integers, b.readExceptions(rest, uint64(binary.LittleEndian.Uint32(header[6:])))
}

func (b *Block) readExceptions(raw []byte, count uint64) error {
	if uint64(len(raw)) != count*(4+decimalLen) {
		return fault.Corruptf("%d bytes for %d exceptions", len(raw), count)
	}
	positions := scratch.Slice(&b.s.codes, int(count))
	last := int64(-1)
	for i := range positions {
		p := binary.LittleEndian.Uint32(raw[4*i:])
		if int64(p) <= last || int64(p) >= int64(b.n) {
			return fault.Corruptf("exception at %d after %d of %d", p, last, b.n)
		}
		positions[i], last = p, int64(p)
	}
	b.decimals.exceptions = Exceptions{positions, decimal.Slice(raw[4*count:])}
	return nil
}

// decodeDecimals writes the values of the slots from from on, as many as fit dst.
func decodeDecimals(b *Block, dst []byte, from, _ int) error {
	d := &b.decimals
	out := decimal.Slice(dst)
	decimal.FromInt64(out, d.integers[from:from+len(out)], d.exponent)
	if d.reduced {
		for i := range out {
			out[i] = out[i].Reduce()
		}
	}
	x := d.exceptions
	first := sort.Search(len(x.Positions), func(i int) bool { return int(x.Positions[i]) >= from })
	for i := first; i < len(x.Positions) && int(x.Positions[i]) < from+len(out); i++ {
		out[int(x.Positions[i])-from] = x.Values[i]
	}
	return nil
}

// appendDecimals writes a DecimalTree, unless most values have no integer.
func appendDecimals(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) (out []byte, ok bool, err error) {
	if in.Fixed != decimalLen {
		return dst, false, nil
	}
	src, d := decimal.Slice(in.Bytes()), &w.Decimals
	if !d.Set(src, in.Valid) {
		return dst, false, nil
	}
	start := len(dst)
	var header [2 + decimalHeader]byte
	binary.LittleEndian.PutUint16(header[:], uint16(encoding.DecimalTree))
	binary.LittleEndian.PutUint16(header[2:], uint16(d.Exponent))
	if d.Reduced {
		header[4] = reducedForm
	}
	binary.LittleEndian.PutUint32(header[8:], uint32(len(d.Exceptions)))
	dst = append(dst, header[:]...)
	if dst, err = r.Numbers.AppendIntegers(dst, d.Numbers, in.Valid); err != nil {
		return dst, false, err
	}
	binary.LittleEndian.PutUint32(dst[start+12:], uint32(len(dst)-start-len(header)))
	dst = encode.Pad(dst, start)
	for _, p := range d.Exceptions {
		dst = binary.LittleEndian.AppendUint32(dst, p)
	}
	for _, p := range d.Exceptions {
		dst = append(dst, src[p][:]...)
	}
	return dst, true, nil
}

var decimalTree = row{
	Row: encode.Row{
		Code:      encoding.DecimalTree,
		Needs:     edition.Only(edition.DecimalTree),
		Trials:    encode.Once(encoding.Balanced, encoding.MinimalCompression, encoding.HighCompression, encoding.MinimalSize),
		Append:    appendDecimals,
		Quick:     true,
		FixedCost: encode.DecodeCost{PerValue: 2000},
		Parts:     []string{"Plain"},
	},
	parse:    parseDecimals,
	values:   decodeDecimals,
	describe: describeDecimals,
}

func describeDecimals(d *describer) {
	exponent := int16(0)
	d.Number(2, "exponent", func(b []byte) string {
		exponent = int16(binary.LittleEndian.Uint16(b))
		return strconv.Itoa(int(exponent))
	})
	form := d.Uint(1, "form")
	d.Pad()
	exceptions, size := d.Uint(4, "exceptions"), d.Uint(4, "integers size")
	d.Node.Params = "e=" + strconv.Itoa(int(exponent))
	if form == reducedForm {
		d.Node.Params += ",reduced"
	}
	if exceptions > 0 {
		d.Node.Params += ",x=" + strconv.FormatUint(exceptions, 10)
	}
	d.numbers("integers", size, numeric.I64, d.n)
	d.Bytes(4*exceptions, "positions")
	d.Rest("values")
}
