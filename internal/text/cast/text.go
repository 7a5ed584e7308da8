package cast

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
)

// newSetter returns a function that appends value i of an array to a builder of another type. Values are converted by
// their text, which has one meaning for all types. Bytes and strings are copied.
func newSetter(a arrow.Array, b array.Builder) (func(i int) error, error) {
	if copyBytes := bytesSetter(a, b); copyBytes != nil {
		return copyBytes, nil
	}
	mode := text.Strict
	if _, isText := a.(array.StringLike); isText {
		mode = text.Lenient // the text has all information
	}
	set, err := values.NewCellSetter(b, mode)
	if err != nil {
		return nil, err
	}
	write, float := values.Text(a), arrowutil.Floats(a)
	var buf []byte
	return func(i int) error {
		if float != nil && !exactAs(float(i), b.Type()) {
			return fmt.Errorf("%v does not fit %s exactly", float(i), text.Type(b.Type()))
		}
		buf = write(buf[:0], i)
		return set(buf)
	}, nil
}

// exactAs reports whether a float is unchanged in another type, as far as its text does not show.
func exactAs(v float64, t arrow.DataType) bool {
	switch id := t.ID(); {
	case id == arrow.FLOAT32:
		return v != v || float64(float32(v)) == v
	case id == arrow.FLOAT16:
		return v != v || float64(float16.New(float32(v)).Float32()) == v
	case arrow.IsInteger(id) || arrow.IsDecimal(id):
		return v != 0 || !math.Signbit(v) // these have no -0
	}
	return true
}

// bytesSetter converts between strings and bytes of all layouts. It returns nil for other types.
func bytesSetter(a arrow.Array, b array.Builder) func(i int) error {
	value := arrowutil.BytesOf(a)
	if value == nil {
		return nil
	}
	_, isText := a.(array.StringLike)
	switch t := b.Type().(type) {
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		add := b.(interface{ Append(string) }).Append
		return func(i int) error {
			v := value(i)
			if !isText && !utf8.Valid(v) {
				return fmt.Errorf("%q is not valid UTF-8", text.Clip(string(v)))
			}
			add(string(v))
			return nil
		}
	case *arrow.FixedSizeBinaryType:
		add := b.(*array.FixedSizeBinaryBuilder).Append
		return func(i int) error {
			v := value(i)
			if len(v) != t.ByteWidth {
				return fmt.Errorf("%q has %d %s, not %d", text.Clip(string(v)), len(v), text.Plural(len(v), "byte"), t.ByteWidth)
			}
			add(v)
			return nil
		}
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType:
		add := b.(interface{ Append([]byte) }).Append
		return func(i int) error { add(value(i)); return nil }
	}
	return nil
}
