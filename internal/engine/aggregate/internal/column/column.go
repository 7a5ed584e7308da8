// Package column gives loops views of the values of Arrow arrays: as integers, floats, or integers with their order; and makes arrays of
// such integers.
package column

import (
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Column is a column of the current batch, with views of its values for loops. Views are made when they are asked for, and
// live until the next load. Values behind nulls are arbitrary.
type Column struct {
	Array arrow.Array // without wrappers
	Valid bitmap.Bits
	Nulls int

	ints     []int64
	exact    bool // the integers are all values
	floats   []float64
	nums     []decimal128.Num
	sortable []int64

	intBuf, sortBuf []int64
	floatBuf        []float64
	numBuf          []decimal128.Num
	bits            []byte
}

// Load sets the column of a batch. The column keeps a reference until the next load, or release.
func (c *Column) Load(mem memory.Allocator, arr arrow.Array) error {
	plain, err := arrowutil.Plain(mem, arr)
	if err != nil {
		return err
	}
	c.Release()
	c.Array, c.Nulls = plain, arrowutil.NullN(plain)
	c.Valid = arrowutil.Validity(plain)
	return nil
}

// Coded returns an array as one of codes, if its entries, which further batches are likely to have, are worth a look each in place of one for each row.
func Coded(arr arrow.Array) (d *array.Dictionary, ok bool) {
	d, ok = arr.(*array.Dictionary)
	return d, ok && d.Dictionary().Len() <= max(1<<16, 8*d.Len())
}

// CodedValidity finds which values of an array with a dictionary are null, by their codes and by the entries. The bits are valid until the next call.
func (c *Column) CodedValidity(d *array.Dictionary) (valid bitmap.Bits, nulls int, err error) {
	codes, entries := arrowutil.Validity(d), arrowutil.Validity(d.Dictionary())
	if arrowutil.NullN(d.Dictionary()) == 0 {
		return codes, arrowutil.NullN(d), nil
	}
	c.bits = Resized(c.bits, (d.Len()+7)/8)
	clear(c.bits)
	code, nulls := arrowutil.Integers(d.Indices()), d.Len()
	for i := range d.Len() {
		if codes.Data != nil && !codes.At(i) {
			continue
		}
		x := code(i)
		if uint64(x) >= uint64(d.Dictionary().Len()) {
			return valid, 0, fault.Corruptf("row %d of a batch refers to no value of its dictionary", i)
		}
		if entries.At(int(x)) {
			c.bits[i>>3] |= 1 << (i & 7)
			nulls--
		}
	}
	return bitmap.Bits{Data: c.bits, Len: d.Len()}, nulls, nil
}

// Release releases the array. Memory for views stays for the next one.
func (c *Column) Release() {
	if c.Array != nil {
		c.Array.Release()
	}
	c.Array, c.ints, c.floats, c.nums, c.sortable = nil, nil, nil, nil, nil
}

// Size is the number of bytes of the memory for views.
func (c *Column) Size() int64 {
	return int64(8*(cap(c.intBuf)+cap(c.sortBuf)+cap(c.floatBuf)) + 16*cap(c.numBuf) + cap(c.bits))
}

// Resized returns a slice of n elements, in the memory of s if it has room.
func Resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// Fill makes a slice of what f returns for the groups from up to, but not including, to.
func Fill[T any](from, to int, f func(group int) T) []T {
	out := make([]T, to-from)
	for i := range out {
		out[i] = f(from + i)
	}
	return out
}

// Integers returns the values as 64-bit integers, without the scale of decimals. ok is false if some value needs more bits.
func (c *Column) Integers() (v []int64, ok bool) {
	if c.ints == nil {
		c.ints, c.exact = c.makeIntegers()
	}
	return c.ints, c.exact
}

func (c *Column) makeIntegers() ([]int64, bool) {
	n := c.Array.Len()
	switch c.Array.DataType().ID() {
	case arrow.DECIMAL128:
		c.intBuf = Resized(c.intBuf, n)
		return c.intBuf, arrowutil.Lower(c.intBuf, arrowutil.Values[decimal128.Num](c.Array))
	case arrow.UINT64:
		ints := arrowutil.Values[int64](c.Array)
		all := int64(0)
		for _, v := range ints {
			all |= v
		}
		return ints, all >= 0
	case arrow.DECIMAL256:
		return nil, n == 0
	case arrow.BOOL:
		c.intBuf = Resized(c.intBuf, n)
		bits := BitsOf(c.Array)
		for i := range c.intBuf {
			c.intBuf[i] = 0
			if bits.At(i) {
				c.intBuf[i] = 1
			}
		}
		return c.intBuf, true
	}
	ints, _ := arrowutil.Int64s(c.Array, &c.intBuf)
	return ints, true
}

// Exact makes the views of integers, or of numbers if some have more than 64 bits, and reports false.
func (c *Column) Exact() bool {
	_, ok := c.Integers()
	if !ok {
		c.Numbers()
	}
	return ok
}

// Sum is hi * 2^32 + lo, the sum of no more than 2^31 integers, without a view of those of 16 and 32 bits. ok is false if some value needs more than 64 bits.
func (c *Column) Sum() (hi, lo int64, ok bool) {
	switch c.Array.DataType().ID() {
	case arrow.INT16:
		return 0, sumOf(arrowutil.Values[int16](c.Array)), true
	case arrow.INT32, arrow.DECIMAL32:
		return 0, sumOf(arrowutil.Values[int32](c.Array)), true
	}
	v, ok := c.Integers()
	for _, x := range v {
		lo += x & (1<<32 - 1)
		hi += x >> 32
	}
	return hi, lo, ok
}

// sumOf adds up values four at a time, so that an addition need not wait for the one before it.
func sumOf[T int16 | int32](v []T) int64 {
	var a, b, c, d int64
	for ; len(v) >= 4; v = v[4:] {
		a += int64(v[0])
		b += int64(v[1])
		c += int64(v[2])
		d += int64(v[3])
	}
	for _, x := range v {
		a += int64(x)
	}
	return a + b + c + d
}

// BitsOf are the values of a boolean array.
func BitsOf(arr arrow.Array) bitmap.Bits {
	d := arr.Data()
	if d.Len() == 0 {
		return bitmap.Bits{}
	}
	return bitmap.Bits{Data: d.Buffers()[1].Bytes(), Off: d.Offset(), Len: d.Len()}
}

// Numbers returns the values of integers and decimals as 128-bit numbers. ok is false if a decimal needs more.
func (c *Column) Numbers() (v []decimal128.Num, ok bool) {
	if c.nums != nil || c.Array.Len() == 0 {
		return c.nums, true
	}
	switch c.Array.DataType().ID() {
	case arrow.DECIMAL128:
		c.nums = arrowutil.Values[decimal128.Num](c.Array)
		return c.nums, true
	case arrow.UINT64:
		c.numBuf = Resized(c.numBuf, c.Array.Len())
		for i, v := range arrowutil.Values[uint64](c.Array) {
			c.numBuf[i] = decimal128.New(0, v)
		}
	case arrow.DECIMAL256:
		return c.fromDecimal256()
	default:
		ints, _ := c.Integers()
		c.numBuf = Resized(c.numBuf, len(ints))
		for i, v := range ints {
			c.numBuf[i] = decimal128.New(v>>63, uint64(v))
		}
	}
	c.nums = c.numBuf
	return c.nums, true
}

func (c *Column) fromDecimal256() ([]decimal128.Num, bool) {
	words := arrowutil.Values[[4]uint64](c.Array)
	c.numBuf = Resized(c.numBuf, len(words))
	for i, w := range words {
		sign := uint64(int64(w[1]) >> 63)
		if (w[2] != sign || w[3] != sign) && c.Valid.At(i) {
			return nil, false
		}
		c.numBuf[i] = decimal128.New(int64(w[1]), w[0])
	}
	c.nums = c.numBuf
	return c.nums, true
}

// Reals returns the values as floats: the nearest ones of integers and decimals.
func (c *Column) Reals() []float64 {
	if c.floats != nil {
		return c.floats
	}
	var ok bool
	if c.floats, ok = arrowutil.Float64s(c.Array, &c.floatBuf); ok {
		return c.floats
	}
	c.floatBuf = Resized(c.floatBuf, c.Array.Len())
	dt := c.Array.DataType()
	if a, ok := c.Array.(*array.Decimal256); ok {
		for i := range c.floatBuf {
			c.floatBuf[i] = a.Value(i).ToFloat64(ScaleOf(dt))
		}
	} else {
		c.realsOfIntegers(ScaleOf(dt))
	}
	c.floats = c.floatBuf
	return c.floats
}

func (c *Column) realsOfIntegers(scale int32) {
	unit := math.Pow10(int(scale))
	if ints, ok := c.Integers(); ok {
		for i, v := range ints {
			c.floatBuf[i] = float64(v) / unit
		}
		return
	}
	nums, _ := c.Numbers()
	for i, v := range nums {
		c.floatBuf[i] = FloatOf(v) / unit
	}
}

// FloatOf is the float nearest to a number.
func FloatOf(v decimal128.Num) float64 { return v.ToFloat64(0) }

// ScaleOf is the scale of a decimal type, else 0.
func ScaleOf(dt arrow.DataType) int32 {
	if d, ok := dt.(arrow.DecimalType); ok {
		return d.GetScale()
	}
	return 0
}

// HasOrdinals reports whether values of a type are ordered as 64-bit integers that stand for them. A decimal of 128 bits may
// be too large.
func HasOrdinals(dt arrow.DataType) bool {
	switch id := dt.ID(); {
	case arrow.IsInteger(id), arrow.IsFloating(id):
		return true
	default:
		switch id {
		case arrow.BOOL, arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION, arrow.DECIMAL32, arrow.DECIMAL64,
			arrow.INTERVAL_MONTHS:
			return true
		}
		return false
	}
}

// Ordinals returns integers that are ordered, and equal, as the values are. NaN is the greatest float, and -0 is 0. ok is
// false if values do not fit, or have another order.
func (c *Column) Ordinals() (v []int64, ok bool) {
	dt := c.Array.DataType()
	if dt.ID() == arrow.DECIMAL128 {
		return c.Integers()
	}
	if !HasOrdinals(dt) {
		return nil, false
	}
	switch {
	case c.sortable != nil:
	case arrow.IsFloating(dt.ID()):
		c.sortBuf = Resized(c.sortBuf, c.Array.Len())
		for i, f := range c.Reals() {
			c.sortBuf[i] = FloatOrdinal(f)
		}
		c.sortable = c.sortBuf
	case dt.ID() == arrow.UINT64:
		c.sortBuf = Resized(c.sortBuf, c.Array.Len())
		for i, u := range arrowutil.Values[uint64](c.Array) {
			c.sortBuf[i] = int64(u ^ 1<<63)
		}
		c.sortable = c.sortBuf
	default:
		c.sortable, _ = c.Integers()
	}
	return c.sortable, true
}

const nanOrdinal = math.MaxInt64

// FloatOrdinal is the integer that stands for a float in the order of floats.
func FloatOrdinal(f float64) int64 {
	switch {
	case f != f:
		return nanOrdinal
	case f == 0:
		return 0
	}
	b := int64(math.Float64bits(f))
	return b ^ (b >> 63 & math.MaxInt64)
}

// ordinalFloat is the inverse of floatOrdinal.
func ordinalFloat(v int64) float64 {
	if v == nanOrdinal {
		return math.NaN()
	}
	return math.Float64frombits(uint64(v ^ (v >> 63 & math.MaxInt64)))
}

// FromOrdinals makes an array of values of their ordinals. valid has an element for each; nil means that none is null.
func FromOrdinals(mem memory.Allocator, dt arrow.DataType, v []int64, valid []bool) arrow.Array {
	n := len(v)
	bits, nulls := Validity(mem, valid)
	var values *memory.Buffer
	switch dt.ID() {
	case arrow.INT8, arrow.UINT8:
		values = mapped(mem, v, func(x int64) uint8 { return uint8(x) })
	case arrow.INT16, arrow.UINT16:
		values = mapped(mem, v, func(x int64) uint16 { return uint16(x) })
	case arrow.INT32, arrow.UINT32, arrow.DATE32, arrow.TIME32, arrow.DECIMAL32, arrow.INTERVAL_MONTHS:
		values = mapped(mem, v, func(x int64) uint32 { return uint32(x) })
	case arrow.BOOL:
		values = arrowutil.NewZeroBuffer(mem, (n+7)/8)
		for i, x := range v {
			values.Bytes()[i/8] |= byte(x&1) << (i % 8)
		}
	case arrow.UINT64:
		values = mapped(mem, v, func(x int64) uint64 { return uint64(x) ^ 1<<63 })
	case arrow.FLOAT64:
		values = mapped(mem, v, ordinalFloat)
	case arrow.FLOAT32:
		values = mapped(mem, v, func(x int64) float32 { return float32(ordinalFloat(x)) })
	case arrow.FLOAT16:
		values = mapped(mem, v, func(x int64) float16.Num { return float16.New(float32(ordinalFloat(x))) })
	default:
		values = mapped(mem, v, func(x int64) int64 { return x })
	}
	return arrowutil.Make(dt, n, []*memory.Buffer{bits, values}, nil, nulls)
}

// mapped has what a function makes of each value.
func mapped[T any](mem memory.Allocator, v []int64, one func(int64) T) *memory.Buffer {
	var t T
	b := arrowutil.NewBuffer(mem, len(v)*int(unsafe.Sizeof(t)))
	to := arrowutil.As[T](b.Bytes())
	for i, x := range v {
		to[i] = one(x)
	}
	return b
}

// Validity makes a bitmap, nil if all are set, and counts the others.
func Validity(mem memory.Allocator, valid []bool) (*memory.Buffer, int) {
	nulls := 0
	for _, v := range valid {
		if !v {
			nulls++
		}
	}
	if nulls == 0 {
		return nil, 0
	}
	b := arrowutil.NewZeroBuffer(mem, (len(valid)+7)/8)
	for i, v := range valid {
		if v {
			b.Bytes()[i/8] |= 1 << (i % 8)
		}
	}
	return b, nulls
}

// FromNumbers makes an array of integers, times or decimals.
func FromNumbers(mem memory.Allocator, dt arrow.DataType, v []decimal128.Num, valid []bool) (arrow.Array, error) {
	bits, nulls := Validity(mem, valid)
	switch dt.ID() {
	case arrow.DECIMAL128:
		values := arrowutil.NewBuffer(mem, 16*len(v))
		copy(arrowutil.As[decimal128.Num](values.Bytes()), v)
		return arrowutil.Make(dt, len(v), []*memory.Buffer{bits, values}, nil, nulls), nil
	case arrow.DECIMAL256:
		values := arrowutil.NewBuffer(mem, 32*len(v))
		for i, x := range v {
			arrowutil.As[decimal256.Num](values.Bytes())[i] = decimal256.FromDecimal128(x)
		}
		return arrowutil.Make(dt, len(v), []*memory.Buffer{bits, values}, nil, nulls), nil
	}
	if bits != nil {
		bits.Release()
	}
	ints := make([]int64, len(v))
	for i, x := range v {
		ints[i] = int64(x.LowBits())
		if dt.ID() == arrow.UINT64 {
			ints[i] = int64(x.LowBits() ^ 1<<63)
		}
	}
	return FromOrdinals(mem, dt, ints, valid), nil
}

// RealSum is a sum of floats. Rounding errors are summed, too, and added at the end (Neumaier 1974), so that the order of floats matters little.
type RealSum struct{ sum, lost float64 }

// Add adds a float.
func (s *RealSum) Add(x float64) {
	sum := s.sum + x
	part := sum - s.sum
	s.lost += s.sum - (sum - part) + (x - part)
	s.sum = sum
}

// Value is the sum. Infinite sums have lost NaN.
func (s RealSum) Value() float64 {
	if v := s.sum + s.lost; v == v {
		return v
	}
	return s.sum
}
