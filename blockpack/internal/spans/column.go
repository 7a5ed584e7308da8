package spans

import (
	"encoding/hex"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// Column is the column of an Arrow array of any type that suits the column: narrower integers and floats,
// timestamps and durations in any unit, dictionaries, runs, views, events and links as lists of structs. arr is
// checked already ([arrowutil.CheckBatch]). It copies the values that it keeps. Codes is set for dictionaries.
func Column(arr arrow.Array, f Field) (*column.Column, error) {
	c, err := toColumn(arr, f)
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", f.Name, err)
	}
	return c, nil
}

func toColumn(arr arrow.Array, f Field) (*column.Column, error) {
	if d, ok := arr.(*array.Dictionary); ok && arrowutil.NullN(d.Dictionary()) == 0 {
		return dictionaryColumn(d, f)
	}
	plain, err := arrowutil.Plain(memory.DefaultAllocator, arr)
	if err != nil {
		return nil, err
	}
	defer plain.Release()
	c := &column.Column{Name: f.Name, Type: f.Type, Rows: arr.Len()}
	rows := presence(c, plain)
	if f.Type.Textual() {
		return c, texts(c, plain, rows)
	}
	c.Values.Numbers = make([]uint64, 0, len(rows))
	at, err := number(plain, f)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		v, err := at(row)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", row, err)
		}
		c.Values.Numbers = append(c.Values.Numbers, v)
	}
	return c, nil
}

// presence sets the bitmap of a column, and returns the rows with a value.
func presence(c *column.Column, arr arrow.Array) []int {
	valid := arrowutil.Validity(arr)
	if nulls := valid.Nulls(); nulls > 0 {
		c.Present = make([]byte, (c.Rows+7)/8)
		valid.CopyTo(c.Present, 0)
	}
	rows := make([]int, 0, valid.Count())
	for i := range c.Rows {
		if valid.At(i) {
			rows = append(rows, i)
		}
	}
	return rows
}

// dictionaryColumn keeps the codes of a dictionary.
func dictionaryColumn(d *array.Dictionary, f Field) (*column.Column, error) {
	values, err := toColumn(d.Dictionary(), f)
	if err != nil {
		return nil, err
	}
	c := &column.Column{Name: f.Name, Type: f.Type, Rows: d.Len(), Values: values.Values}
	rows := presence(c, d)
	c.Codes = make([]uint32, len(rows))
	for i, row := range rows {
		c.Codes[i] = uint32(d.GetValueIndex(row))
	}
	return c, nil
}

// texts sets the values of a column of strings or bytes.
func texts(c *column.Column, arr arrow.Array, rows []int) error {
	var at func(i int) ([]byte, error)
	switch value := arrowutil.BytesOf(arr); {
	case arr.DataType().ID() == arrow.NULL:
	case kinds.Of(arr.DataType()) == kinds.List:
		var err error
		if at, err = listValues(arr.(array.ListLike), c.Name); err != nil {
			return err
		}
	case value == nil:
		return fmt.Errorf("values of type %s instead of %s", arr.DataType(), typeNames[c.Type])
	default:
		at = func(i int) ([]byte, error) { return value(i), nil }
	}
	if _, isText := arr.(array.StringLike); isText && LengthOfIDs(c.Name) > 0 {
		at = fromHex(at)
	}
	c.Values.Offsets = make([]uint32, 1, len(rows)+1)
	for _, row := range rows {
		v, err := at(row)
		if err != nil {
			return fmt.Errorf("row %d: %w", row, err)
		}
		if int64(len(c.Values.Data))+int64(len(v)) > math.MaxUint32 {
			return fmt.Errorf("values of %d rows take more than 4 GiB", c.Rows)
		}
		c.Values.Data = append(c.Values.Data, v...)
		c.Values.Offsets = append(c.Values.Offsets, uint32(len(c.Values.Data)))
	}
	return nil
}

// fromHex reads ids as text.
func fromHex(at func(i int) ([]byte, error)) func(i int) ([]byte, error) {
	return func(i int) ([]byte, error) {
		v, err := at(i)
		if err != nil {
			return nil, err
		}
		return hex.AppendDecode(nil, v)
	}
}

// number returns a function for the bits of a value in the type of a column.
func number(arr arrow.Array, f Field) (func(i int) (uint64, error), error) {
	if arr.DataType().ID() == arrow.NULL {
		return nil, nil
	}
	switch f.Type {
	case column.Float64:
		if at := arrowutil.Floats(arr); at != nil {
			return func(i int) (uint64, error) { return math.Float64bits(at(i)), nil }, nil
		}
	case column.Bool:
		switch a := arr.(type) {
		case *array.Boolean:
			return func(i int) (uint64, error) {
				if a.Value(i) {
					return 1, nil
				}
				return 0, nil
			}, nil
		case *array.Int8: // arrow.bool8
			return func(i int) (uint64, error) { return uint64(min(1, uint8(a.Value(i)))), nil }, nil
		}
	default:
		if at := integer(arr); at != nil {
			return ranged(at, f), nil
		}
	}
	return nil, fmt.Errorf("values of type %s instead of %s", arr.DataType(), typeNames[f.Type])
}

// whole is an integer: the absolute value and the sign.
type whole struct {
	abs uint64
	neg bool
}

// limits are the largest values of fields that OTLP stores in 32 bits.
var limits = map[string]uint64{
	Kind: math.MaxInt32, Status: math.MaxInt32, DroppedAttrs: math.MaxUint32, DroppedEvents: math.MaxUint32, DroppedLinks: math.MaxUint32,
	Flags: math.MaxUint32, ResourceDroppedAttrs: math.MaxUint32, ScopeDroppedAttrs: math.MaxUint32,
}

// ranged returns a function for the bits of an integer that its column can hold.
func ranged(at func(i int) (whole, error), f Field) func(i int) (uint64, error) {
	top, bottom := uint64(math.MaxUint64), uint64(0) // the largest value, and the smallest one without its sign
	if f.Type == column.Int64 {
		top, bottom = math.MaxInt64, 1<<63
	}
	if limit, ok := limits[f.Name]; ok {
		top, bottom = limit, min(bottom, limit+1)
	}
	return func(i int) (uint64, error) {
		v, err := at(i)
		switch {
		case err != nil:
			return 0, err
		case v.neg && v.abs > bottom:
			return 0, fmt.Errorf("-%d does not fit", v.abs)
		case v.neg:
			return -v.abs, nil
		case v.abs > top:
			return 0, fmt.Errorf("%d does not fit", v.abs)
		}
		return v.abs, nil
	}
}

// integer returns a function for values of integers and, in nanoseconds, of times and durations; nil for other types.
func integer(arr arrow.Array) func(i int) (whole, error) {
	dt, value := arr.DataType(), arrowutil.Integers(arr)
	unit := int64(1)
	switch id := dt.ID(); {
	case id == arrow.TIMESTAMP || id == arrow.DURATION:
		unit = int64(dt.(arrow.TemporalWithUnit).TimeUnit().Multiplier())
	case arrow.IsUnsignedInteger(id):
		return func(i int) (whole, error) { return whole{abs: uint64(value(i))}, nil }
	case !arrow.IsSignedInteger(id):
		return nil
	}
	return func(i int) (whole, error) {
		x := value(i)
		if x > math.MaxInt64/unit || x < math.MinInt64/unit {
			return whole{}, fmt.Errorf("%d does not fit", x)
		}
		if x *= unit; x < 0 {
			return whole{-uint64(x), true}, nil
		}
		return whole{abs: uint64(x)}, nil
	}
}
