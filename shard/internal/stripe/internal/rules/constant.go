package rules

import (
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/numeric"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// Constant is an array of one value, of the type col.Plain.
func Constant(col *arrowmap.Column, v *commonpb.AnyValue) (arrow.Array, error) {
	signed := col.Stored.Signed
	switch col.Stored.Type {
	case schema.Boolean:
		return constantBool(col, v)
	case schema.Int8:
		if signed {
			return constantInt[int8](col, v)
		}
		return constantInt[uint8](col, v)
	case schema.Int16:
		if signed {
			return constantInt[int16](col, v)
		}
		return constantInt[uint16](col, v)
	case schema.Int32:
		if signed {
			return constantInt[int32](col, v)
		}
		return constantInt[uint32](col, v)
	case schema.Int64:
		if signed {
			return constantInt[int64](col, v)
		}
		return constantInt[uint64](col, v)
	case schema.DateTime:
		return constantInt[uint64](col, v)
	case schema.Float32, schema.Float64:
		d, ok := v.GetKind().(*commonpb.AnyValue_DoubleValue)
		if !ok {
			return nil, errConstant(col, v)
		}
		if col.Stored.Type == schema.Float64 {
			return constantNumber(col, d.DoubleValue)
		}
		f := float32(d.DoubleValue)
		if math.Float64bits(float64(f)) != math.Float64bits(d.DoubleValue) && f == f {
			return nil, fault.Corruptf("constant %v is no 32-bit float", d.DoubleValue)
		}
		return constantNumber(col, f)
	}
	return constantBytes(col, v)
}

func errConstant(col *arrowmap.Column, v *commonpb.AnyValue) error {
	return fault.Corruptf("constant of kind %T for stored type %v", v.GetKind(), col.Stored.Type)
}

func constantBool(col *arrowmap.Column, v *commonpb.AnyValue) (arrow.Array, error) {
	b, ok := v.GetKind().(*commonpb.AnyValue_BoolValue)
	if !ok {
		return nil, errConstant(col, v)
	}
	if col.Rule == arrowmap.Empty {
		return Empty(col.Plain, 1, nil, 0), nil
	}
	values := memory.NewBufferBytes([]byte{0})
	if b.BoolValue {
		values.Bytes()[0] = 1
	}
	return arrowutil.Make(col.Plain, 1, []*memory.Buffer{nil, values}, nil, 0), nil
}

// constantInt takes the kind that fits the type (signed or not) and a value
// that fits its width.
func constantInt[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](col *arrowmap.Column, v *commonpb.AnyValue) (arrow.Array, error) {
	var t T
	fits := false
	switch k := v.GetKind().(type) {
	case *commonpb.AnyValue_I64Value:
		t = T(k.I64Value)
		fits = col.Stored.Signed && int64(t) == k.I64Value
	case *commonpb.AnyValue_U64Value:
		t = T(k.U64Value)
		fits = !col.Stored.Signed && uint64(t) == k.U64Value
	default:
		return nil, errConstant(col, v)
	}
	if !fits {
		return nil, fault.Corruptf("constant %v does not fit stored type %v", v, col.Stored.Type)
	}
	return constantNumber(col, t)
}

func constantNumber[T numeric.Value](col *arrowmap.Column, v T) (arrow.Array, error) {
	s, err := StorerOf[T](col)
	if err != nil {
		return nil, err
	}
	src := []T{v}
	dst := arrowutil.Bytes(src)
	if s.Convert != nil {
		dst = arrowutil.Bytes(make([]uint64, (s.Width+7)/8))[:s.Width]
		if err := s.Convert(dst, src, bitmap.All(1)); err != nil {
			return nil, Misfit(ShiftRows(err, 0))
		}
	}
	return arrowutil.Make(col.Plain, 1, []*memory.Buffer{nil, memory.NewBufferBytes(dst)}, nil, 0), nil
}

// constantBytes makes a string, binary, guid or decimal.
func constantBytes(col *arrowmap.Column, v *commonpb.AnyValue) (arrow.Array, error) {
	var b []byte
	stored := col.Stored
	switch k := v.GetKind().(type) {
	case *commonpb.AnyValue_StringValue:
		b = []byte(k.StringValue)
	case *commonpb.AnyValue_BytesValue:
		b = k.BytesValue
	case *commonpb.AnyValue_DecimalValue:
		if stored.Type != schema.FixedSizeBinary || len(k.DecimalValue) != decimal.Width {
			return nil, errConstant(col, v)
		}
		b = k.DecimalValue
	default:
		return nil, errConstant(col, v)
	}
	if stored.FixedSize > 0 && uint64(len(b)) != uint64(stored.FixedSize) {
		return nil, fault.Corruptf("constant of %d bytes for values of %d", len(b), stored.FixedSize)
	}
	if stored.IsDecimal() {
		return constantDecimal(col, decimal.Decimal(b))
	}
	if stored.FixedSize > 0 {
		return arrowutil.Make(col.Plain, 1, []*memory.Buffer{nil, memory.NewBufferBytes(b)}, nil, 0), nil
	}
	if IsText(col.Plain) && !utf8.Valid(b) {
		return nil, fault.Corruptf("constant string is not UTF-8")
	}
	return bytesArrayOf(col.Plain, b)
}

func constantDecimal(col *arrowmap.Column, d decimal.Decimal) (arrow.Array, error) {
	if col.Rule == arrowmap.DecimalText {
		return bytesArrayOf(col.Plain, []byte(d.String()))
	}
	s, err := DecimalStorer(col)
	if err != nil {
		return nil, err
	}
	dst := arrowutil.Bytes(make([]uint64, (s.Width+7)/8))[:s.Width]
	if err := s.Convert(dst, []decimal.Decimal{d}, bitmap.All(1)); err != nil {
		return nil, Misfit(err)
	}
	return arrowutil.Make(col.Plain, 1, []*memory.Buffer{nil, memory.NewBufferBytes(dst)}, nil, 0), nil
}

// bytesArrayOf is an array of one byte string. It lives as long as the reader of the
// column, and so must not come from the allocator of a scan.
func bytesArrayOf(dt arrow.DataType, v []byte) (arrow.Array, error) {
	b := array.NewBuilder(memory.DefaultAllocator, dt)
	defer b.Release()
	switch b := b.(type) {
	case array.StringLikeBuilder:
		b.Append(string(v))
	case interface{ Append([]byte) }:
		b.Append(v)
	default:
		return nil, fault.Corruptf("constant byte string for Arrow type %s", dt)
	}
	return b.NewArray(), nil
}

// Empty is an array of a type without content: a struct without fields or
// fixed_size_binary[0]. It takes over the reference to valid.
func Empty(dt arrow.DataType, n int, valid *memory.Buffer, nulls int) arrow.Array {
	buffers := []*memory.Buffer{valid}
	if dt.ID() == arrow.FIXED_SIZE_BINARY {
		buffers = append(buffers, memory.NewBufferBytes(nil))
	}
	return arrowutil.Make(dt, n, buffers, nil, nulls)
}

// IsText reports whether arrays of dt promise valid UTF-8.
func IsText(dt arrow.DataType) bool {
	switch dt.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return true
	}
	return false
}
