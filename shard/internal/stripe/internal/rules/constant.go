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
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

// constants are the functions for numbers.
var constants = stripe.PerNumber[func(*arrowmap.Column, *commonpb.AnyValue) (arrow.Array, error)]{
	constantInt[int8], constantInt[int16], constantInt[int32], constantInt[int64],
	constantInt[uint8], constantInt[uint16], constantInt[uint32], constantInt[uint64],
	constantFloat[float32], constantFloat[float64],
}

// Constant is an array of one value, of the type col.Plain.
func Constant(col *arrowmap.Column, v *commonpb.AnyValue) (arrow.Array, error) {
	if number, ok := constants.Of(col.Stored.Type, col.Stored.Signed); ok {
		return number(col, v)
	}
	if col.Stored.Type == schema.Boolean {
		return constantBool(col, v)
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
	if b.BoolValue {
		return one(col, []byte{1}), nil
	}
	return one(col, []byte{0}), nil
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

func constantFloat[T float32 | float64](col *arrowmap.Column, v *commonpb.AnyValue) (arrow.Array, error) {
	d, ok := v.GetKind().(*commonpb.AnyValue_DoubleValue)
	if !ok {
		return nil, errConstant(col, v)
	}
	f := T(d.DoubleValue)
	if math.Float64bits(float64(f)) != math.Float64bits(d.DoubleValue) && f == f {
		return nil, fault.Corruptf("constant %v is no 32-bit float", d.DoubleValue)
	}
	return constantNumber(col, f)
}

func constantNumber[T numeric.Value](col *arrowmap.Column, v T) (arrow.Array, error) {
	s, err := StorerOf[T](col)
	if err != nil {
		return nil, err
	}
	arr, err := s.Array(col.Plain, []T{v}, bitmap.All(1))
	return arr, Misfit(ShiftRows(err, 0))
}

// one is an array of one value with the given bytes.
func one(col *arrowmap.Column, value []byte) arrow.Array {
	return arrowutil.Make(col.Plain, 1, []*memory.Buffer{nil, memory.NewBufferBytes(value)}, nil, 0)
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
		return one(col, b), nil
	}
	if kinds.IsText(col.Plain) && !utf8.Valid(b) {
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
	arr, err := s.Array(col.Plain, []decimal.Decimal{d}, bitmap.All(1))
	return arr, Misfit(ShiftRows(err, 0))
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
