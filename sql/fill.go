//go:build cgo && duckdb_arrow

package sql

import (
	"encoding/binary"
	"errors"
	"math"
	"unicode/utf8"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	bindings "github.com/duckdb/duckdb-go-bindings"
	"github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// isCopied reports whether values of a type are copied into vectors of DuckDB, which is faster than its own conversion of arrays.
func isCopied(t arrow.DataType) bool {
	if d, ok := t.(*arrow.DictionaryType); ok {
		return isTexts(d.ValueType)
	}
	return isTexts(t) || t.ID() == arrow.BOOL || width(t) > 0
}

func isTexts(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY:
		return true
	}
	return false
}

// width is the number of bytes of a value in a vector, if they are those of an array, or the lowest of them. It is 0 for other types.
func width(t arrow.DataType) int {
	switch t := t.(type) {
	case arrow.DecimalType:
		switch p := t.GetPrecision(); {
		case p <= 4:
			return 2
		case p <= 9:
			return 4
		case p <= 18:
			return 8
		}
		return 16
	case *arrow.TimestampType:
		if t.TimeZone == "" || t.Unit >= arrow.Microsecond {
			return 8
		}
	case *arrow.Time64Type, *arrow.Date32Type:
		return t.(arrow.FixedWidthDataType).Bytes()
	default:
		if arrow.IsInteger(t.ID()) || arrow.IsFloating(t.ID()) {
			return t.(arrow.FixedWidthDataType).Bytes()
		}
	}
	return 0
}

// copied copies the values of n rows of a column into a vector.
func (p *part) copied(vec mapping.Vector, i, n int) error {
	arr := array.NewSlice(p.batch.Column(i), p.at, p.at+int64(n))
	defer arr.Release()
	if d, ok := arr.(*array.Dictionary); ok {
		return p.coded(vec, i, d)
	}
	if valid := arrowutil.Validity(arr); valid.Data != nil {
		mapping.VectorEnsureValidityWritable(vec)
		valid.CopyTo(unsafe.Slice((*byte)(mapping.VectorGetValidity(vec)), (n+7)/8), 0)
	}
	switch t := arr.DataType(); {
	case isTexts(t):
		return putTexts(vec, arr)
	case t.ID() == arrow.BOOL:
		values := arr.(*array.Boolean)
		for k, to := 0, unsafe.Slice((*bool)(mapping.VectorGetData(vec)), n); k < n; k++ {
			to[k] = values.Value(k)
		}
	default:
		putNumbers(mapping.VectorGetData(vec), arr, width(t))
	}
	return nil
}

// entries are the texts of a dictionary as a vector, and null after them. They are kept while batches have the same.
type entries struct {
	of  arrow.ArrayData
	vec mapping.Vector
}

// coded has a vector refer to the texts of a dictionary.
func (p *part) coded(vec mapping.Vector, i int, arr *array.Dictionary) error {
	texts := arr.Dictionary()
	if e := &p.entries[i]; e.of != texts.Data() {
		e.destroy()
		kind := mapping.TypeVarchar
		if kinds.IsBinary(texts.DataType()) {
			kind = mapping.TypeBlob
		}
		t := mapping.CreateLogicalType(kind)
		defer mapping.DestroyLogicalType(&t)
		texts.Data().Retain()
		*e = entries{texts.Data(), mapping.CreateVector(t, mapping.IdxT(texts.Len()+1))}
		mapping.VectorEnsureValidityWritable(e.vec)
		valid := mapping.VectorGetValidity(e.vec)
		arrowutil.Validity(texts).CopyTo(unsafe.Slice((*byte)(valid), texts.Len()/8+1), 0)
		mapping.ValiditySetRowInvalid(valid, mapping.IdxT(texts.Len()))
		if err := putTexts(e.vec, texts); err != nil {
			return err
		}
	}
	sel := mapping.CreateSelectionVector(mapping.IdxT(arr.Len()))
	defer mapping.DestroySelectionVector(&sel)
	to := unsafe.Slice((*uint32)(unsafe.Pointer(mapping.SelectionVectorGetDataPtr(sel))), arr.Len())
	if indices := arr.Indices(); indices.DataType().ID() == arrow.INT32 {
		copy(to, arrowutil.Values[uint32](indices))
	} else {
		for k, entry := range arrowutil.Entries(arr) {
			to[k] = uint32(entry)
		}
	}
	for k := 0; k < len(to) && arr.NullN() > 0; k++ {
		if arr.IsNull(k) {
			to[k] = uint32(texts.Len())
		}
	}
	mapping.VectorReferenceVector(vec, p.entries[i].vec)
	mapping.SliceVector(vec, sel, mapping.IdxT(arr.Len()))
	return nil
}

func (e *entries) destroy() {
	if e.of != nil {
		mapping.DestroyVector(&e.vec)
		e.of.Release()
		e.of = nil
	}
}

// putNumbers writes the lowest bytes of numbers.
func putNumbers(out unsafe.Pointer, arr arrow.Array, width int) {
	n := arr.Len()
	switch t := arr.DataType().(type) {
	case *arrow.Decimal64Type:
		if width < 8 {
			narrow(out, arrowutil.Values[int64](arr), width, func(v int64) int64 { return v })
			return
		}
	case *arrow.Decimal128Type:
		if width < 16 {
			narrow(out, arrowutil.Values[decimal128.Num](arr), width, func(v decimal128.Num) int64 { return int64(v.LowBits()) })
			return
		}
	case arrow.FixedWidthDataType:
		width = t.Bytes()
	}
	copy(unsafe.Slice((*byte)(out), n*width), arr.Data().Buffers()[1].Bytes()[arr.Data().Offset()*width:])
}

func narrow[T any](out unsafe.Pointer, values []T, width int, low func(T) int64) {
	switch width {
	case 2:
		convert(unsafe.Slice((*int16)(out), len(values)), values, low)
	case 4:
		convert(unsafe.Slice((*int32)(out), len(values)), values, low)
	default:
		convert(unsafe.Slice((*int64)(out), len(values)), values, low)
	}
}

func convert[T any, N int16 | int32 | int64](to []N, values []T, low func(T) int64) {
	for i, v := range values {
		to[i] = N(low(v))
	}
}

// text is a byte string in a vector:
//
//	| length 4 | up to 12 bytes, then zeros     |
//	| length 4 | the first 4 | pointer to all 8 |
type text [2]uint64

const inline = 12

var errText = errors.New("a text is not UTF-8")

// putTexts writes byte strings. Long ones are in one copy of all, which DuckDB makes, as the text of the first of them, and owns.
func putTexts(vec mapping.Vector, arr arrow.Array) error {
	switch arr.DataType().ID() {
	case arrow.STRING, arrow.BINARY:
		return putOffsets(vec, arr, arrowutil.Offsets[int32](arr))
	}
	return putOffsets(vec, arr, arrowutil.Offsets[int64](arr))
}

func putOffsets[O int32 | int64](vec mapping.Vector, arr arrow.Array, offsets []O) error {
	var data []byte
	if b := arr.Data().Buffers()[2]; b != nil {
		data = b.Bytes()
	}
	n, isText := arr.Len(), kinds.IsText(arr.DataType())
	all := data[offsets[0]:offsets[n]]
	checked := !isText || utf8.Valid(all)
	var at uint64 // where DuckDB has the byte at offset 0
	out := unsafe.Slice((*text)(mapping.VectorGetData(vec)), n)
	for i := range out {
		b := data[offsets[i]:offsets[i+1]]
		var padded [inline]byte
		copy(padded[:], b)
		if within := padded[0]&0xc0 == 0x80; isText && (within || !checked) && arr.IsValid(i) && (within || !utf8.Valid(b)) {
			return errText
		}
		rest := binary.LittleEndian.Uint64(padded[4:])
		switch {
		case len(b) <= inline:
		case len(all) > math.MaxInt32:
			bindings.UnsafeVectorAssignStringElementLen(vec, mapping.IdxT(i), b)
			continue
		case at == 0:
			bindings.UnsafeVectorAssignStringElementLen(vec, mapping.IdxT(i), all)
			at = out[i][1] - uint64(offsets[0])
			fallthrough
		default:
			rest = at + uint64(offsets[i])
		}
		out[i] = text{uint64(len(b)) | uint64(binary.LittleEndian.Uint32(padded[:]))<<32, rest}
	}
	return nil
}
