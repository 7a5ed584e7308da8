// Package numrange is the range index of a column of numbers: the least and the greatest value of every 256
// positions, so that a reader skips positions that cannot match (docs/format.md §9). It is a buffer of its own.
//
//	 0  u16  version 1, or 2
//	 2  u8   basic type of the column, in the schema's numbers
//	 3  u8   1: the payloads end with checksums
//	 4  u64  positions, nulls included
//	12  u64  size of the payload of least values
//	20  u64  size of the payload of greatest values
//	28  u64  size of the payload of invalid counts, 0 if all are 0
//	36  u16  positions in a block, 256
//	38  u16  0
//	40       the three payloads, then zeros up to a multiple of 64
//
// Each payload has an element for each block of positions, encoded as one block (package encoding/numeric): in version 1, which
// the reference has, and for decimals, of u8, the bytes of the array of elements; else of the elements themselves. Nulls and
// NaNs are invalid. If all positions of a block are invalid, both bounds are 0.
package numrange

import (
	"encoding/binary"
	"sync"
	"unsafe"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/bounds"
	"github.com/amudai/amudai-go/internal/format/decimal"
)

// BlockLen is the number of positions in a block; the last may have fewer.
const BlockLen = 256

const (
	headerLen   = 40
	alignment   = 64
	asBytes     = 1 // versions
	asNumbers   = 2
	decimalType = 9 // FixedSizeBinary
)

// Builder collects the index of a column of numbers or decimals. It must not be used concurrently.
type Builder[T any] struct {
	basicType byte
	boundsOf  func(run []T) (lo, hi T, n int) // n values are not NaN
	less      func(a, b T) bool
	encode    func(o encoding.Options, values []T) ([]byte, encoding.Tree, error)

	lo, hi     []T
	invalid    []uint16
	span       uint64
	anyInvalid bool
	anyValid   bool

	n, bad       int  // positions of the open block, and the invalid among them
	started      bool // the open block has bounds
	curLo, curHi T
}

// NewBuilder returns an empty builder for a column of a basic type of the schema: integers, floats, DateTime (uint64) or
// TimeSpan (int64).
func NewBuilder[T numeric.Value](basicType byte) *Builder[T] {
	return &Builder[T]{basicType: basicType, boundsOf: bounds.Of[T], less: func(a, b T) bool { return a < b }, encode: encodeNumbers[T]}
}

// NewDecimalBuilder returns an empty builder for a column of decimals.
func NewDecimalBuilder() *Builder[decimal.Decimal] {
	return &Builder[decimal.Decimal]{
		basicType: decimalType, boundsOf: decimal.Bounds,
		less: func(a, b decimal.Decimal) bool { return a.Compare(b) < 0 },
		encode: func(o encoding.Options, values []decimal.Decimal) ([]byte, encoding.Tree, error) {
			return encodeBlock(o, decimal.Bytes(values))
		},
	}
}

// Add adds values. valid is their validity, of the same length.
func (x *Builder[T]) Add(values []T, valid bitmap.Bits) { add(x, values, valid, x.boundsOf) }

// AddScaled is [Builder.Add] for the values coefficients[i] × 10^exponent, as decimal.FromInt64 encodes them.
func AddScaled(x *Builder[decimal.Decimal], coefficients []int64, exponent int, valid bitmap.Bits) {
	var ends [2]decimal.Decimal
	add(x, coefficients, valid, func(run []int64) (lo, hi decimal.Decimal, n int) {
		from, to, n := bounds.Of(run)
		if n > 0 {
			decimal.FromInt64(ends[:], []int64{from, to}, exponent)
		}
		return ends[0], ends[1], n
	})
}

// gathered has memory for values of up to 16 bytes between nulls.
var gathered = sync.Pool{New: func() any { return new([bounds.GatherLen][2]uint64) }}

// add adds values in a form of which boundsOf gives the bounds of some.
func add[S, T any](x *Builder[T], values []S, valid bitmap.Bits, boundsOf func(run []S) (lo, hi T, n int)) {
	memory := gathered.Get().(*[bounds.GatherLen][2]uint64)
	defer gathered.Put(memory)
	buf := (*[bounds.GatherLen]S)(unsafe.Pointer(memory))
	for len(values) > 0 {
		n := min(BlockLen-x.n, len(values))
		piece, ok := values[:n], valid.Slice(0, n)
		good := 0
		for at := 0; at < n; {
			var run []S
			run, at = bounds.Gather(piece, ok, at, buf)
			lo, hi, k := boundsOf(run)
			x.widen(lo, hi, k)
			good += k
		}
		x.count(n, n-good)
		values, valid = values[n:], valid.Slice(n, valid.Len)
	}
}

// widen widens the bounds of the open block to those of n valid values.
func (x *Builder[T]) widen(lo, hi T, n int) {
	if n == 0 {
		return
	}
	if !x.started || x.less(lo, x.curLo) {
		x.curLo = lo
	}
	if !x.started || x.less(x.curHi, hi) {
		x.curHi = hi
	}
	x.started = true
}

// count counts n positions of the open block, of which bad are invalid.
func (x *Builder[T]) count(n, bad int) {
	x.span += uint64(n)
	x.n += n
	x.bad += bad
	x.anyInvalid = x.anyInvalid || bad > 0
	x.anyValid = x.anyValid || bad < n
	if x.n == BlockLen {
		x.close()
	}
}

func (x *Builder[T]) close() {
	x.lo, x.hi, x.invalid = append(x.lo, x.curLo), append(x.hi, x.curHi), append(x.invalid, uint16(x.bad))
	var zero T
	x.curLo, x.curHi, x.n, x.bad, x.started = zero, zero, 0, 0, false
}

// Append appends the buffer of all values, encoded with the profile and features of o, and returns the trees in it. Without features it has version 1,
// which the reference reads. It appends nothing if no position is valid: there is no index then. For profile Plain, the caller omits the index. The
// builder must not be used afterwards.
func (x *Builder[T]) Append(dst []byte, o encoding.Options) ([]byte, []encoding.Tree) {
	if x.n > 0 {
		x.close()
	}
	if !x.anyValid {
		return dst, nil
	}
	start := len(dst)
	header := [headerLen]byte{0: versionOf(o), 2: x.basicType, 3: 1}
	binary.LittleEndian.PutUint64(header[4:], x.span)
	binary.LittleEndian.PutUint16(header[36:], BlockLen)
	dst = append(dst, header[:]...)
	var trees []encoding.Tree
	for i := range 3 {
		var block []byte
		var tree encoding.Tree
		var err error
		switch {
		case i == 0:
			block, tree, err = x.encode(o, x.lo)
		case i == 1:
			block, tree, err = x.encode(o, x.hi)
		case x.anyInvalid:
			block, tree, err = encodeNumbers(o, x.invalid)
		}
		if err != nil {
			return dst[:start], nil // the column then has no index
		}
		binary.LittleEndian.PutUint64(dst[start+12+8*i:], uint64(len(block)))
		dst, trees = append(dst, block...), append(trees, tree)
	}
	return append(dst, make([]byte, -(len(dst)-start)&(alignment-1))...), trees
}

func versionOf(o encoding.Options) byte {
	if o.Features == 0 {
		return asBytes
	}
	return asNumbers
}

func encodeNumbers[T numeric.Value](o encoding.Options, values []T) ([]byte, encoding.Tree, error) {
	if versionOf(o) == asNumbers {
		return encodeBlock(o, values)
	}
	bytes, _ := binary.Append(nil, binary.LittleEndian, values) // never fails for numbers
	return encodeBlock(o, bytes)
}

// tiny is the size in bytes up to which a payload is not compressed, because the buffer is aligned to 64 bytes
// anyway.
const tiny = 64

// encodeBlock makes a block, with a new encoder, so that bytes do not depend on history.
func encodeBlock[T numeric.Value](o encoding.Options, values []T) ([]byte, encoding.Tree, error) {
	t := numeric.Of[T]()
	if len(values)*t.Size() <= tiny {
		o.Profile = encoding.ProfilePlain
	}
	block, err := numeric.NewEncoder[T](encoding.Options{Profile: o.Profile, Features: o.Features, NoPresence: true}).AppendBlock(nil, values, bitmap.All(len(values)))
	if err != nil {
		return nil, encoding.Tree{}, err
	}
	return block, numeric.Describe(block[encoding.BlockHeaderLen:], t, len(values)), nil
}
