package values

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/text/jsontext"
)

// JSON returns a function that appends value i of arr as JSON.
func JSON(arr arrow.Array) Appender {
	f := jsonValue(arr)
	return func(dst []byte, i int) []byte {
		if IsNull(arr, i) {
			return append(dst, "null"...)
		}
		return f(dst, i)
	}
}

// jsonValue is [JSON] for values that are not null.
func jsonValue(arr arrow.Array) Appender {
	switch a := arr.(type) {
	case *array.Float16, *array.Float32, *array.Float64:
		return jsonFloat(scalarText(arr))
	case *array.Boolean:
		return scalarText(arr)
	case *array.Map:
		return jsonMap(a)
	case *array.Struct:
		return jsonStruct(a)
	case array.ListLike:
		f := JSON(a.ListValues())
		return func(dst []byte, i int) []byte {
			from, to := a.ValueOffsets(i)
			dst = append(dst, '[')
			for j := from; j < to; j++ {
				if j > from {
					dst = append(dst, ',')
				}
				dst = f(dst, int(j))
			}
			return append(dst, ']')
		}
	case *array.Dictionary:
		f := JSON(a.Dictionary())
		return func(dst []byte, i int) []byte { return f(dst, a.GetValueIndex(i)) }
	case *array.RunEndEncoded:
		f := JSON(a.Values())
		return func(dst []byte, i int) []byte { return f(dst, a.GetPhysicalIndex(i)) }
	case array.Union:
		return jsonUnion(a)
	case array.ExtensionArray:
		return jsonExtension(a)
	}
	if f := integerText(arr); f != nil {
		return f
	}
	return jsonQuoted(scalarText(arr), arr)
}

func jsonExtension(a array.ExtensionArray) Appender {
	switch f := extensionValueText(a); {
	case f != nil && a.DataType().(arrow.ExtensionType).ExtensionName() == extension.NameBool8:
		return f
	case f != nil:
		return jsonQuoted(f, a)
	}
	if a.DataType().(arrow.ExtensionType).ExtensionName() == extension.NameJSON {
		if f := scalarText(a.Storage()); f != nil {
			return func(dst []byte, i int) []byte {
				start := len(dst)
				dst = f(dst, i)
				if !jsontext.Valid(dst[start:]) { // data of another writer may be invalid JSON
					return jsontext.AppendString(dst[:start], string(dst[start:]))
				}
				return oneLine(dst, start)
			}
		}
	}
	return JSON(a.Storage())
}

// oneLine replaces line breaks between the tokens of a JSON text by spaces. Within strings they are always escaped.
func oneLine(dst []byte, start int) []byte {
	for i := start; i < len(dst); i++ {
		if dst[i] == '\n' || dst[i] == '\r' {
			dst[i] = ' '
		}
	}
	return dst
}

// jsonFloat quotes infinities and NaN, which JSON lacks.
func jsonFloat(f Appender) Appender {
	return func(dst []byte, i int) []byte {
		start := len(dst)
		dst = f(dst, i)
		if last := dst[len(dst)-1]; last >= '0' && last <= '9' {
			return dst
		}
		return jsontext.AppendString(dst[:start], string(dst[start:]))
	}
}

// jsonQuoted returns the text of f as a JSON string.
func jsonQuoted(f Appender, arr arrow.Array) Appender {
	if a, ok := arr.(array.StringLike); ok {
		return func(dst []byte, i int) []byte { return jsontext.AppendString(dst, a.Value(i)) }
	}
	if f == nil {
		return func(dst []byte, i int) []byte { return jsontext.AppendString(dst, arr.ValueStr(i)) }
	}
	return func(dst []byte, i int) []byte { // these texts need no escapes
		return append(f(append(dst, '"'), i), '"')
	}
}

func jsonStruct(a *array.Struct) Appender {
	fields := a.DataType().(*arrow.StructType).Fields()
	names, values := make([][]byte, len(fields)), make([]Appender, len(fields))
	for i, f := range fields {
		names[i] = append(jsontext.AppendString(nil, f.Name), ':')
		values[i] = JSON(a.Field(i))
	}
	return func(dst []byte, i int) []byte {
		dst = append(dst, '{')
		for k, name := range names {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = values[k](append(dst, name...), i)
		}
		return append(dst, '}')
	}
}

func jsonMap(a *array.Map) Appender {
	entries := a.ListValues().(*array.Struct) // its fields respect its offset, unlike those of Keys and Items
	key, item := JSON(entries.Field(0)), JSON(entries.Field(1))
	return func(dst []byte, i int) []byte {
		from, to := a.ValueOffsets(i)
		dst = append(dst, '[')
		for j := from; j < to; j++ {
			if j > from {
				dst = append(dst, ',')
			}
			dst = key(append(dst, `{"key":`...), int(j))
			dst = item(append(dst, `,"value":`...), int(j))
			dst = append(dst, '}')
		}
		return append(dst, ']')
	}
}

func jsonUnion(a array.Union) Appender {
	children := make([]Appender, a.NumFields())
	for i := range children {
		children[i] = JSON(a.Field(i))
	}
	dense, _ := a.(*array.DenseUnion)
	return func(dst []byte, i int) []byte {
		child, at := a.ChildID(i), i // the children of a sparse union are sliced with it
		if dense != nil {
			at = int(dense.ValueOffset(i))
		}
		return children[child](dst, at)
	}
}
