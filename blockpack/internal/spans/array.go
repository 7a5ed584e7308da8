package spans

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Array is the Arrow array of a column, in the type of its field in a [Schema]. A nil column has no values, in rows
// rows. A value that the type cannot hold is an error. The array shares memory of the column where it can.
func Array(mem memory.Allocator, c *column.Column, rows int, f arrow.Field) (arrow.Array, error) {
	if c == nil {
		return arrowutil.Nulls(mem, f.Type, rows), nil
	}
	var out arrow.Array
	var err error
	switch dt := f.Type.(type) {
	case *arrow.StringType, *arrow.BinaryType:
		out, err = textArray(mem, c, dt)
	case *arrow.FixedSizeBinaryType:
		out, err = fixedArray(mem, c, dt)
	case *arrow.BooleanType:
		out = boolArray(mem, c)
	case *arrow.ListType:
		out, err = listArray(mem, c, dt)
	case arrow.FixedWidthDataType:
		out, err = numberArray(mem, c, dt)
	default:
		err = fault.Unsupportedf("a column of type %s as %s", c.Type, dt)
	}
	return out, fault.InColumn(err, c.Name)
}

// validity is the bitmap and the number of nulls of a column.
func validity(c *column.Column) (*memory.Buffer, int) {
	if c.Present == nil {
		return nil, 0
	}
	return memory.NewBufferBytes(c.Present), c.Rows - c.PresentCount()
}

// checkText checks that the values of a column suit an Arrow type.
func checkText(c *column.Column, dt arrow.DataType) error {
	if dt.ID() != arrow.STRING || arrowutil.ValidUTF8(c.Values.Data, c.Values.Offsets) {
		return nil
	}
	for k := range c.Values.Len() {
		if v := c.Values.Bytes(k); !utf8.Valid(v) {
			return fault.Corruptf("%q is not valid UTF-8; strings can be read as bytes", clip(v))
		}
	}
	return nil
}

func clip(v []byte) []byte { return v[:min(len(v), 40)] }

// textArray is an array of strings or bytes.
func textArray(mem memory.Allocator, c *column.Column, dt arrow.DataType) (arrow.Array, error) {
	if err := checkText(c, dt); err != nil {
		return nil, err
	}
	valid, nulls := validity(c)
	if nulls == 0 && c.Codes == nil && len(c.Values.Offsets) == c.Rows+1 && len(c.Values.Data) <= math.MaxInt32 {
		offsets := memory.NewBufferBytes(arrowutil.Bytes(c.Values.Offsets))
		return arrowutil.Make(dt, c.Rows, []*memory.Buffer{valid, offsets, memory.NewBufferBytes(c.Values.Data)}, nil, 0), nil
	}
	offsets := arrowutil.NewBuffer(mem, 4*(c.Rows+1))
	total := rowOffsets(arrowutil.As[int32](offsets.Bytes()), c)
	if total > math.MaxInt32 {
		offsets.Release()
		return nil, fmt.Errorf("%w: values of %d rows take %d bytes", fault.ErrBatchTooLarge, c.Rows, total)
	}
	if c.Codes == nil {
		values := c.Values.Data
		if len(c.Values.Offsets) > 0 {
			values = values[c.Values.Offsets[0]:]
		}
		return arrowutil.Make(dt, c.Rows, []*memory.Buffer{valid, offsets, memory.NewBufferBytes(values)}, nil, nulls), nil
	}
	data := arrowutil.NewBuffer(mem, int(total))
	copyCoded(data.Bytes(), c)
	return arrowutil.Make(dt, c.Rows, []*memory.Buffer{valid, offsets, data}, nil, nulls), nil
}

// rowOffsets gives where the value of each row begins and the last one ends, and the bytes of all values. Offsets are wrong if these
// are more than 2 GiB.
func rowOffsets(off []int32, c *column.Column) (total int64) {
	present := bitmap.Bits{Data: c.Present, Len: c.Rows}
	of := c.Values.Offsets
	k := 0
	for row := range c.Rows {
		off[row] = int32(total)
		if c.Present != nil && !present.At(row) {
			continue
		}
		v := k
		if c.Codes != nil {
			v = int(c.Codes[k])
		}
		total += int64(of[v+1] - of[v])
		k++
	}
	off[c.Rows] = int32(total)
	return total
}

// copyCoded copies the values of all codes. Many follow their like.
func copyCoded(to []byte, c *column.Column) {
	for i := 0; i < len(c.Codes); {
		code := c.Codes[i]
		from := i
		for i++; i < len(c.Codes) && c.Codes[i] == code; i++ {
		}
		value := c.Values.Bytes(int(code))
		run := to[:len(value)*(i-from)]
		to = to[len(run):]
		for done := copy(run, value); done < len(run) && done > 0; {
			done += copy(run[done:], run[:done])
		}
	}
}

// fixedArray is an array of ids.
func fixedArray(mem memory.Allocator, c *column.Column, dt *arrow.FixedSizeBinaryType) (arrow.Array, error) {
	width := uint32(dt.ByteWidth)
	for k := range c.Values.Len() {
		if n := c.Values.Offsets[k+1] - c.Values.Offsets[k]; n != width {
			return nil, fault.Corruptf("id of %d bytes, not %d", n, width)
		}
	}
	valid, nulls := validity(c)
	if nulls == 0 && c.Codes == nil && len(c.Values.Data) == c.Rows*dt.ByteWidth {
		return arrowutil.Make(dt, c.Rows, []*memory.Buffer{valid, memory.NewBufferBytes(c.Values.Data)}, nil, 0), nil
	}
	data := arrowutil.NewZeroBuffer(mem, c.Rows*dt.ByteWidth)
	to := data.Bytes()
	for row, k := range c.Each() {
		copy(to[row*dt.ByteWidth:], c.Values.Bytes(k))
	}
	return arrowutil.Make(dt, c.Rows, []*memory.Buffer{valid, data}, nil, nulls), nil
}

func boolArray(mem memory.Allocator, c *column.Column) arrow.Array {
	valid, nulls := validity(c)
	data := arrowutil.NewZeroBuffer(mem, (c.Rows+7)/8)
	to := data.Bytes()
	for row, k := range c.Each() {
		if c.Values.Numbers[k] != 0 {
			to[row>>3] |= 1 << (row & 7)
		}
	}
	return arrowutil.Make(arrow.FixedWidthTypes.Boolean, c.Rows, []*memory.Buffer{valid, data}, nil, nulls)
}

// numberArray is an array of numbers of 64 bits.
func numberArray(mem memory.Allocator, c *column.Column, dt arrow.FixedWidthDataType) (arrow.Array, error) {
	if dt.ID() == arrow.UINT32 {
		values := make([]uint32, len(c.Values.Numbers))
		for i, v := range c.Values.Numbers { // of events and links, which have no more bits
			values[i] = uint32(v)
		}
		return ofNumbers(mem, c, dt, values), nil
	}
	if dt.Bytes() != 8 || c.Type.Textual() {
		return nil, fault.Unsupportedf("a column of type %s as %s", c.Type, dt)
	}
	if id := dt.ID(); c.Type == column.Uint64 && id != arrow.UINT64 {
		for _, v := range c.Values.Numbers {
			if v > math.MaxInt64 {
				return nil, fault.Corruptf("%d does not fit %s; times can be read as uint64", v, dt)
			}
		}
	}
	return ofNumbers(mem, c, dt, c.Values.Numbers), nil
}

func ofNumbers[T uint32 | uint64](mem memory.Allocator, c *column.Column, dt arrow.FixedWidthDataType, values []T) arrow.Array {
	valid, nulls := validity(c)
	if nulls == 0 && c.Codes == nil {
		return arrowutil.Make(dt, c.Rows, []*memory.Buffer{valid, memory.NewBufferBytes(arrowutil.Bytes(values))}, nil, 0)
	}
	data := arrowutil.NewZeroBuffer(mem, dt.Bytes()*c.Rows)
	to := arrowutil.As[T](data.Bytes())
	for row, k := range c.Each() {
		to[row] = values[k]
	}
	return arrowutil.Make(dt, c.Rows, []*memory.Buffer{valid, data}, nil, nulls)
}
