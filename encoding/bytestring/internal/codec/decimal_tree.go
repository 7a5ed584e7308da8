package codec

import (
	"encoding/binary"
	"sort"
	"strconv"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
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
	decimalLen  = 16
	reducedForm = 1
)

// decimalTree is the memory of a block of decimals.
type decimalTree struct {
	reduced   bool
	integers  []int64
	positions []uint32
}

// IntegerTree is a block of decimals as integers that are still encoded; see
// [tree.Block.Integers]. It shares the block's memory, and that of the Scratch.
type IntegerTree struct {
	Exponent   int
	Tree       []byte // of int64 (package numeric)
	Presence   []byte // the block's section of that name (package block)
	Exceptions tree.Exceptions
}

// ParseIntegers parses blocks of decimals that are stored as integers, for
// callers who decode those themselves. ok is false for blocks stored otherwise.
func ParseIntegers(blk []byte, n int, o tree.BlockOptions, s *tree.Scratch) (i IntegerTree, ok bool, err error) {
	f, err := encoding.ParseBlock(blk, o.Checksums)
	if err != nil || len(f.Values) < 2 || encoding.Code(binary.LittleEndian.Uint16(f.Values)) != encoding.DecimalTree {
		return i, false, err
	}
	t, r, err := Table.Read.Open(f.Values, n, decimalLen, s)
	if err == nil {
		i.Tree, err = openDecimals(t, r)
	}
	if err != nil {
		return i, true, fault.In(fault.In(err, encoding.DecimalTree.String(), -1), "values", int64(f.ValuesOffset))
	}
	i.Exponent, i.Exceptions, i.Presence = t.Exponent, t.Exceptions, f.Presence
	return i, true, nil
}

func parseDecimals(t *tree.Tree, r *tree.Reader, _ int64) (uint64, error) {
	integers, err := openDecimals(t, r)
	if err != nil {
		return 0, err
	}
	t.Integers = scratch.Slice(&tree.State[decimalTree](t).integers, t.N)
	if err := tree.DecodeNumbers(t, "integers", t.Integers, integers); err != nil {
		return 0, err
	}
	return t.CheckFixed(t.N * t.Fixed)
}

// decimalParts is the parts of a DecimalTree.
type decimalParts struct {
	exponent                    int
	form                        uint64
	integers, positions, values []byte
}

func layoutOfDecimals(r *tree.Reader) (p decimalParts) {
	p.exponent = int(int16(r.Number(2, "exponent", func(v uint64) string { return strconv.Itoa(int(int16(v))) })))
	p.form = r.Uint(1, "form")
	r.Pad()
	exceptions, size := r.Uint(4, "exceptions"), r.Uint(4, "integers size")
	p.integers = r.Numbers("integers", size, numeric.I64, r.N)
	p.positions, p.values = r.Bytes(4*exceptions, "positions"), r.Rest("values")
	if p.exponent < decimal.MinExponent || p.exponent > decimal.MaxExponent || p.form > reducedForm {
		r.Fail(fault.Corruptf("exponent %d, form %d", p.exponent, p.form))
	}
	if r.Node != nil {
		r.Node.Params = "e=" + strconv.Itoa(p.exponent)
		if p.form == reducedForm {
			r.Node.Params += ",reduced"
		}
		if exceptions > 0 {
			r.Node.Params += ",x=" + strconv.FormatUint(exceptions, 10)
		}
	}
	return p
}

// openDecimals reads all but the integers, whose tree it returns.
func openDecimals(t *tree.Tree, r *tree.Reader) (integers []byte, err error) {
	p := layoutOfDecimals(r)
	switch {
	case r.Err != nil:
		return nil, r.Err
	case t.Fixed != decimalLen:
		return nil, fault.Corruptf("decimals in values of %d bytes", t.Fixed)
	case len(p.values) != decimalLen*len(p.positions)/4:
		return nil, fault.Corruptf("%d bytes for %d exceptions", len(p.values), len(p.positions)/4)
	}
	d := tree.State[decimalTree](t)
	d.reduced = p.form == reducedForm
	positions := scratch.Slice(&d.positions, len(p.positions)/4)
	last := int64(-1)
	for i := range positions {
		at := binary.LittleEndian.Uint32(p.positions[4*i:])
		if int64(at) <= last || int64(at) >= int64(t.N) {
			return nil, fault.Corruptf("exception at %d after %d of %d", at, last, t.N)
		}
		positions[i], last = at, int64(at)
	}
	t.Exponent, t.Exceptions = p.exponent, tree.Exceptions{Positions: positions, Values: decimal.Slice(p.values)}
	return p.integers, nil
}

// decodeDecimals writes the values of the slots from from on, as many as fit dst.
func decodeDecimals(t *tree.Tree, dst []byte, from, _ int) error {
	out := decimal.Slice(dst)
	decimal.FromInt64(out, t.Integers[from:from+len(out)], t.Exponent)
	if tree.State[decimalTree](t).reduced {
		for i := range out {
			out[i] = out[i].Reduce()
		}
	}
	x := t.Exceptions
	first := sort.Search(len(x.Positions), func(i int) bool { return int(x.Positions[i]) >= from })
	for i := first; i < len(x.Positions) && int(x.Positions[i]) < from+len(out); i++ {
		out[int(x.Positions[i])-from] = x.Values[i]
	}
	return nil
}

// appendDecimals writes a DecimalTree, unless most values have no integer.
func appendDecimals(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) (out []byte, ok bool) {
	if in.Fixed != decimalLen {
		return dst, false
	}
	src, d := decimal.Slice(in.Bytes()), &w.Decimals
	if !d.Set(src, in.Valid) {
		return dst, false
	}
	start := len(dst)
	var header [16]byte
	binary.LittleEndian.PutUint16(header[:], uint16(encoding.DecimalTree))
	binary.LittleEndian.PutUint16(header[2:], uint16(d.Exponent))
	if d.Reduced {
		header[4] = reducedForm
	}
	binary.LittleEndian.PutUint32(header[8:], uint32(len(d.Exceptions)))
	dst = append(dst, header[:]...)
	dst = r.Numbers.AppendIntegers(dst, d.Numbers, in.Valid)
	dst = encode.EndPart(dst, start, start+len(header), 12)
	dst, _ = binary.Append(dst, binary.LittleEndian, d.Exceptions) // never fails
	for _, p := range d.Exceptions {
		dst = append(dst, src[p][:]...)
	}
	return dst, true
}

var decimalRow = encode.Row{
	Row: tree.Row{
		Code:   encoding.DecimalTree,
		Layout: func(r *tree.Reader) { layoutOfDecimals(r) },
		Parse:  parseDecimals,
		Values: decodeDecimals,
	},
	Needs:     edition.Only(edition.DecimalTree),
	Trials:    encode.Once(encoding.Balanced, encoding.MinimalCompression, encoding.HighCompression, encoding.MinimalSize),
	Append:    appendDecimals,
	Quick:     true,
	FixedCost: encode.DecodeCost{PerValue: 2000},
	Parts:     []string{"Plain"},
}
