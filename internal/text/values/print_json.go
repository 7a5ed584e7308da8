package values

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/text/jsontext"
)

// JSON returns a function that appends value i of arr as JSON.
func JSON(arr arrow.Array) Appender { return jsonOf(arr, false) }

// JSONOf is [JSON] for a column: ids of spans are hexadecimal digits, as OpenTelemetry's JSON has them.
func JSONOf(f arrow.Field, arr arrow.Array) Appender { return jsonOf(arr, ofSpans(f)) }

// jsonOf is [JSON]; with ids, byte strings of a fixed width are hexadecimal digits.
func jsonOf(arr arrow.Array, ids bool) Appender {
	f, isNull := jsonValue(arr, ids), kinds.Nulls(arr)
	return func(dst []byte, i int) []byte {
		if isNull != nil && isNull(i) {
			return append(dst, "null"...)
		}
		return f(dst, i)
	}
}

// jsonValue is jsonOf for values that are not null.
func jsonValue(arr arrow.Array, ids bool) Appender {
	if a, ok := arr.(array.ExtensionArray); ok {
		return jsonExtension(a)
	}
	v := kinds.Open(arr)
	values := make([]Appender, len(v.Parts))
	for i, part := range v.Parts {
		values[i] = jsonOf(part, ids)
	}
	switch v.Shape {
	case kinds.Wrap:
		return func(dst []byte, i int) []byte { return values[0](dst, v.Row(i)) }
	case kinds.Record:
		return jsonObject(arr.DataType(), values)
	case kinds.List:
		return jsonList(arr.DataType(), v, values)
	case kinds.Choice:
		return func(dst []byte, i int) []byte {
			part, at := v.Choice(i)
			return values[part](dst, at)
		}
	}
	switch arr.(type) {
	case *array.Float16, *array.Float32, *array.Float64:
		return jsonFloat(scalarText(arr, ids))
	case *array.Boolean:
		return scalarText(arr, ids)
	}
	if f := integerText(arr); f != nil {
		return f
	}
	return jsonQuoted(scalarText(arr, ids), arr)
}

func jsonExtension(a array.ExtensionArray) Appender {
	name := a.ExtensionType().ExtensionName()
	switch f := extensionValueText(a); {
	case f != nil && name == extension.NameBool8:
		return f
	case f != nil:
		return jsonQuoted(f, a)
	}
	if name == extension.NameJSON {
		if f := scalarText(a.Storage(), false); f != nil {
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

// jsonObject appends the parts of a row, with their names.
func jsonObject(dt arrow.DataType, values []Appender) Appender {
	var names [][]byte
	for i, name := range kinds.Names(dt) {
		start := []byte{','}
		if i == 0 {
			start[0] = '{'
		}
		names = append(names, append(jsontext.AppendString(start, name), ':'))
	}
	if len(names) == 0 {
		return func(dst []byte, _ int) []byte { return append(dst, "{}"...) }
	}
	return func(dst []byte, i int) []byte {
		for k, name := range names {
			dst = values[k](append(dst, name...), i)
		}
		return append(dst, '}')
	}
}

// jsonList appends the rows of a list. Those of a map are objects of a key and a value.
func jsonList(dt arrow.DataType, v kinds.View, values []Appender) Appender {
	item := values[0]
	if len(values) > 1 {
		item = jsonObject(dt, values)
	}
	return func(dst []byte, i int) []byte {
		from, to := v.Range(i)
		dst = append(dst, '[')
		for j := from; j < to; j++ {
			if j > from {
				dst = append(dst, ',')
			}
			dst = item(dst, int(j))
		}
		return append(dst, ']')
	}
}
