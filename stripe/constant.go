package stripe

import (
	"context"
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
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/storage"
)

// constant gives the reader of a node whose values are all equal or all null
// (docs/format.md §10.2), nil if the node is not constant.
func (n *openNode) constant() (nodeReader, error) {
	switch n.col.Stored.Type {
	case schema.List, schema.Map, schema.Struct, schema.FixedSizeList, schema.Union:
		return nil, nil
	}
	f := n.field
	if f.DictionarySize != nil {
		return nil, nil
	}
	allNull := f.NullCount != nil && f.GetNullCount() == f.GetPositionCount()
	if _, isNull := f.GetConstantValue().GetKind().(*commonpb.AnyValue_NullValue); isNull || f.ConstantValue == nil {
		if isNull && f.NullCount != nil && !allNull {
			return nil, fault.Corruptf("constant null, but %d nulls among %d positions", f.GetNullCount(), f.GetPositionCount())
		}
		if isNull || allNull {
			return newNullReader(n.col.Plain), nil
		}
		return nil, nil
	}
	if f.GetNullCount() > 0 {
		return nil, fault.Corruptf("constant value, but %d nulls among %d positions", f.GetNullCount(), f.GetPositionCount())
	}
	one, err := n.constantArray(f.GetConstantValue())
	if err != nil {
		return nil, err
	}
	return newConstantReader(one), nil
}

// constantArray is an array of the one value.
func (n *openNode) constantArray(v *commonpb.AnyValue) (arrow.Array, error) {
	signed := n.col.Stored.Signed
	switch n.col.Stored.Type {
	case schema.Boolean:
		return n.constantBool(v)
	case schema.Int8:
		if signed {
			return constantInt[int8](n.col, v)
		}
		return constantInt[uint8](n.col, v)
	case schema.Int16:
		if signed {
			return constantInt[int16](n.col, v)
		}
		return constantInt[uint16](n.col, v)
	case schema.Int32:
		if signed {
			return constantInt[int32](n.col, v)
		}
		return constantInt[uint32](n.col, v)
	case schema.Int64:
		if signed {
			return constantInt[int64](n.col, v)
		}
		return constantInt[uint64](n.col, v)
	case schema.DateTime:
		return constantInt[uint64](n.col, v)
	case schema.Float32, schema.Float64:
		d, ok := v.GetKind().(*commonpb.AnyValue_DoubleValue)
		if !ok {
			return nil, errConstant(n.col, v)
		}
		if n.col.Stored.Type == schema.Float64 {
			return constantNumber(n.col, d.DoubleValue)
		}
		f := float32(d.DoubleValue)
		if math.Float64bits(float64(f)) != math.Float64bits(d.DoubleValue) && f == f {
			return nil, fault.Corruptf("constant %v is no 32-bit float", d.DoubleValue)
		}
		return constantNumber(n.col, f)
	}
	return n.constantBytes(v)
}

func errConstant(col *arrowmap.Column, v *commonpb.AnyValue) error {
	return fault.Corruptf("constant of kind %T for stored type %v", v.GetKind(), col.Stored.Type)
}

func (n *openNode) constantBool(v *commonpb.AnyValue) (arrow.Array, error) {
	b, ok := v.GetKind().(*commonpb.AnyValue_BoolValue)
	if !ok {
		return nil, errConstant(n.col, v)
	}
	if n.col.Rule == arrowmap.Empty {
		return emptyArray(n.col.Plain, 1, nil, 0), nil
	}
	values := memory.NewBufferBytes([]byte{0})
	if b.BoolValue {
		values.Bytes()[0] = 1
	}
	return arrowutil.Make(n.col.Plain, 1, []*memory.Buffer{nil, values}, nil, 0), nil
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
	s, err := storerOf[T](col)
	if err != nil {
		return nil, err
	}
	src := []T{v}
	dst := arrowutil.Bytes(src)
	if s.convert != nil {
		dst = arrowutil.Bytes(make([]uint64, (s.width+7)/8))[:s.width]
		if err := s.convert(dst, src, bitmap.All(1)); err != nil {
			return nil, shiftRows(err, 0)
		}
	}
	return arrowutil.Make(col.Plain, 1, []*memory.Buffer{nil, memory.NewBufferBytes(dst)}, nil, 0), nil
}

// constantBytes makes a string, binary, guid or decimal.
func (n *openNode) constantBytes(v *commonpb.AnyValue) (arrow.Array, error) {
	var b []byte
	stored := n.col.Stored
	switch k := v.GetKind().(type) {
	case *commonpb.AnyValue_StringValue:
		b = []byte(k.StringValue)
	case *commonpb.AnyValue_BytesValue:
		b = k.BytesValue
	case *commonpb.AnyValue_DecimalValue:
		if stored.Type != schema.FixedSizeBinary || len(k.DecimalValue) != decimalWidth {
			return nil, errConstant(n.col, v)
		}
		b = k.DecimalValue
	default:
		return nil, errConstant(n.col, v)
	}
	if stored.FixedSize > 0 && uint64(len(b)) != uint64(stored.FixedSize) {
		return nil, fault.Corruptf("constant of %d bytes for values of %d", len(b), stored.FixedSize)
	}
	if isDecimal(stored) {
		return n.constantDecimal(decimal.Decimal(b))
	}
	if stored.FixedSize > 0 {
		return arrowutil.Make(n.col.Plain, 1, []*memory.Buffer{nil, memory.NewBufferBytes(b)}, nil, 0), nil
	}
	if isText(n.col.Plain) && !utf8.Valid(b) {
		return nil, fault.Corruptf("constant string is not UTF-8")
	}
	return bytesArrayOf(n.col.Plain, b)
}

func (n *openNode) constantDecimal(d decimal.Decimal) (arrow.Array, error) {
	if n.col.Rule == arrowmap.DecimalText {
		return bytesArrayOf(n.col.Plain, []byte(d.String()))
	}
	s, err := decimalStorerOf(n.col)
	if err != nil {
		return nil, err
	}
	dst := arrowutil.Bytes(make([]uint64, (s.width+7)/8))[:s.width]
	if err := s.convert(dst, []decimal.Decimal{d}, bitmap.All(1)); err != nil {
		return nil, err
	}
	return arrowutil.Make(n.col.Plain, 1, []*memory.Buffer{nil, memory.NewBufferBytes(dst)}, nil, 0), nil
}

// bytesArrayOf is an array of one byte string. It lives as long as its reader, so
// that it must not come from the allocator of a scan.
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

// constantReader repeats one value.
type constantReader struct {
	one  arrow.Array
	size int64 // of a value
}

func newConstantReader(one arrow.Array) *constantReader {
	r := &constantReader{one: one, size: 16}
	for _, b := range one.Data().Buffers() {
		if b != nil {
			r.size += int64(b.Len())
		}
	}
	return r
}

func (r *constantReader) need(*worker, rowset.Set, func(storage.ByteRange)) {}

func (r *constantReader) read(_ context.Context, w *worker, rows rowset.Set) (arrow.Array, error) {
	if err := w.options.checkFree(rows.Len(), r.size); err != nil {
		return nil, err
	}
	return arrowutil.Repeat(w.options.Allocator, r.one, int(rows.Len()))
}
