package arrowutil

import (
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/base/ascii"
	"github.com/amudai/amudai-go/internal/base/simd"
)

// ValidateFull is [array.ValidateFull], but looks at the characters of all strings at once.
func ValidateFull(arr arrow.Array) error {
	switch a := arr.(type) {
	case *array.String:
		return validateText(a, arrow.BinaryTypes.Binary, a.ValueOffsets)
	case *array.LargeString:
		return validateText(a, arrow.BinaryTypes.LargeBinary, a.ValueOffsets)
	}
	return array.ValidateFull(arr)
}

// validateText validates strings as binary values first, so that offsets can be used.
func validateText[O int32 | int64](a array.BinaryLike, binary arrow.DataType, offsets func() []O) error {
	d := a.Data()
	asBinary := array.NewData(binary, d.Len(), d.Buffers(), nil, d.NullN(), d.Offset())
	defer asBinary.Release()
	values := array.MakeFromData(asBinary)
	defer values.Release()
	if d.Len() == 0 {
		return array.ValidateFull(a)
	}
	if err := array.ValidateFull(values); err != nil {
		return err // that of strings panics at some offsets
	}
	var data []byte
	if b := d.Buffers()[2]; b != nil {
		data = b.Bytes()
	}
	o := offsets()
	if last := o[len(o)-1]; int64(last) <= int64(len(data)) && ValidUTF8(data[:last], o[:len(o)-1]) {
		return nil
	}
	return array.ValidateFull(a) // tells which value is not
}

// ValidUTF8 reports whether data are UTF-8 as a whole from the first offset on, and no value begins in the middle of a
// character. The offsets are those where values begin; they ascend within data.
func ValidUTF8[O int32 | uint32 | int64](data []byte, offsets []O) bool {
	if len(offsets) == 0 {
		return true
	}
	if ascii.Only(data[offsets[0]:]) {
		return true
	}
	if !simd.ValidUTF8(data[offsets[0]:]) {
		return false
	}
	for _, o := range offsets {
		if int(o) < len(data) && !utf8.RuneStart(data[o]) {
			return false
		}
	}
	return true
}
