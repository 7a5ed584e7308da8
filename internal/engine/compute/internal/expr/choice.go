package expr

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Choice makes an array of values of several arrays, of decimal64 in place of decimal128 if all arrays are.
type Choice struct {
	e      *Env
	dt     arrow.DataType
	arrays []arrow.Array
	rows   []bitmap.Bits // those with a value of an array; all others are null
}

// NewChoice begins an array of a type.
func NewChoice(e *Env, dt arrow.DataType) *Choice { return &Choice{e: e, dt: dt} }

// Release releases the arrays that values were taken of.
func (c *Choice) Release() { arrowutil.ReleaseAll(c.arrays) }

// Add evaluates the values for some rows, which have none yet, takes them, and returns the rows that are not null. A constant stays a single value.
func (c *Choice) Add(rows bitmap.Bits, x *Expr) (bitmap.Bits, error) {
	if rows.Count() == 0 {
		return rows, nil
	}
	arr, err := c.e.Among(rows).Narrow(x)
	if err != nil {
		return rows, err
	}
	c.arrays = append(c.arrays, arr)
	switch nulls := arrowutil.NullN(arr); {
	case nulls == arr.Len():
		rows = Without(rows, rows)
	case nulls > 0:
		rows = common(rows, arrowutil.Validity(arr))
	}
	c.rows = append(c.rows, rows)
	return rows, nil
}

// Truth are the rows that count for which a condition is true.
func (e *Env) Truth(x *Expr) (bitmap.Bits, error) {
	if x.True != nil {
		isTrue, err := x.True(e)
		return common(e.Only, bitmap.Bits{Data: isTrue, Len: e.Rows}), err
	}
	arr, err := e.Full(x)
	if err != nil || e.Rows == 0 {
		return e.Only, err
	}
	defer arr.Release()
	return common(common(e.Only, arrowutil.Validity(arr)), valuesOf(arr)), nil
}

// valuesOf are the values of booleans.
func valuesOf(arr arrow.Array) bitmap.Bits {
	d := arr.Data()
	return bitmap.Bits{Data: d.Buffers()[1].Bytes(), Off: d.Offset(), Len: d.Len()}
}

// Without are the bits of a that are not set in b.
func Without(a, b bitmap.Bits) bitmap.Bits {
	return eachWord(a.Len, func(i int) uint64 { return a.Word(i) &^ b.Word(i) })
}

func common(a, b bitmap.Bits) bitmap.Bits {
	return eachWord(a.Len, func(i int) uint64 { return a.Word(i) & b.Word(i) })
}

// eachWord are n bits, in words that begin at a multiple of 64.
func eachWord(n int, word func(i int) uint64) bitmap.Bits {
	out := make([]byte, (n+63)/64*8)
	for i := range arrowutil.As[uint64](out) {
		bitmap.PutWord(out, 64*i, word(64*i), 64)
	}
	return bitmap.Bits{Data: out, Len: n}
}

// Result is the array.
func (c *Choice) Result() (arrow.Array, error) {
	most, n, counts := 0, 0, make([]int, len(c.rows))
	for i, r := range c.rows {
		if counts[i] = r.Count(); counts[i] > counts[most] {
			most = i
		}
		n += counts[i]
	}
	if n == 0 {
		return arrowutil.Nulls(c.e.Mem, c.dt, c.e.Rows), nil
	}
	dt := c.unite()
	l := kinds.LayoutOf(dt)
	switch {
	case counts[most] == c.e.Rows && c.arrays[most].Len() == c.e.Rows && arrow.TypeEqual(c.arrays[most].DataType(), dt):
		c.arrays[most].Retain()
		return c.arrays[most], nil
	case l.Form != kinds.Fixed:
		return c.take()
	}
	var values *memory.Buffer
	switch l.Width {
	case 1:
		values = c.bits()
	case 8:
		values = choose[uint8](c, most)
	case 16:
		values = choose[uint16](c, most)
	case 32:
		values = choose[uint32](c, most)
	case 64:
		values = choose[uint64](c, most)
	case 128:
		values = choose[[2]uint64](c, most)
	default:
		return c.take()
	}
	var valid *memory.Buffer
	if n < c.e.Rows {
		valid = memory.NewBufferBytes(eachWord(c.e.Rows, func(i int) (w uint64) {
			for _, r := range c.rows {
				w |= r.Word(i)
			}
			return w
		}).Data)
	}
	return arrowutil.Make(dt, c.e.Rows, []*memory.Buffer{valid, values}, nil, c.e.Rows-n), nil
}

// unite gives decimals the same width, and returns their type, or that of other values.
func (c *Choice) unite() arrow.DataType {
	wide, ok := c.dt.(*arrow.Decimal128Type)
	if !ok {
		return c.dt
	}
	if !slices.ContainsFunc(c.arrays, func(arr arrow.Array) bool { return arr.DataType().ID() != arrow.DECIMAL64 }) {
		return &arrow.Decimal64Type{Precision: wide.Precision, Scale: wide.Scale}
	}
	Widen(c.e, c.arrays, wide)
	return wide
}

// bits chooses booleans.
func (c *Choice) bits() *memory.Buffer {
	return memory.NewBufferBytes(eachWord(c.e.Rows, func(i int) (w uint64) {
		for k, r := range c.rows {
			switch values := valuesOf(c.arrays[k]); {
			case values.Len == c.e.Rows:
				w |= r.Word(i) & values.Word(i)
			case values.At(0):
				w |= r.Word(i)
			}
		}
		return w
	}).Data)
}

// choose begins with all values of the array that most rows have a value of, and replaces those of the others.
func choose[T any](c *Choice, most int) *memory.Buffer {
	buf := arrowutil.NewBuffer(c.e.Mem, c.e.Rows*int(unsafe.Sizeof(*new(T))))
	out := arrowutil.As[T](buf.Bytes())
	if values := arrowutil.Values[T](c.arrays[most]); copy(out, values) < len(out) {
		for i := range out {
			out[i] = values[0]
		}
	}
	for k, r := range c.rows {
		if k == most {
			continue
		}
		values := arrowutil.Values[T](c.arrays[k])
		step := bitmap.Bit(len(values) == len(out)) // 0 for a constant
		for i := 0; i < len(out); i += 64 {
			for w := r.Word(i); w != 0; w &= w - 1 {
				row := i + bits.TrailingZeros64(w)
				out[row] = values[row*step]
			}
		}
	}
	return buf
}

// take chooses values of any type.
func (c *Choice) take() (arrow.Array, error) {
	all, err := arrowutil.Concatenate(c.e.Mem, c.arrays)
	if err != nil {
		return nil, err
	}
	defer all.Release()
	from, begin := slices.Repeat([]int64{-1}, c.e.Rows), 0
	for k, r := range c.rows {
		step := bitmap.Bit(c.arrays[k].Len() == c.e.Rows)
		for i := 0; i < c.e.Rows; i += 64 {
			for w := r.Word(i); w != 0; w &= w - 1 {
				row := i + bits.TrailingZeros64(w)
				from[row] = int64(begin + row*step)
			}
		}
		begin += c.arrays[k].Len()
	}
	return arrowutil.Take(c.e.Mem, all, from)
}
