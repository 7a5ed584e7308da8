// Package values converts Arrow arrays to text and text to arrays: as cells of CSV, or as JSON. Package text has the
// grammar of single values.
package values

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"

	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/jsontext"
)

// Setter appends the value of a token to a builder. It keeps no reference to the token. After an error nothing is
// appended.
type Setter func(token []byte) error

// NewSetter returns the setter of a builder, for types with a text form.
func NewSetter(b array.Builder, mode text.Mode) (Setter, error) {
	if s := integerSetter(b, mode); s != nil {
		return s, nil
	}
	if s := timeSetter(b, mode); s != nil {
		return s, nil
	}
	switch b := b.(type) {
	case *array.NullBuilder:
		return func(token []byte) error {
			if len(token) > 0 {
				return fmt.Errorf("%q in a column of type null", text.Clip(string(token)))
			}
			b.AppendNull()
			return nil
		}, nil
	case *array.BooleanBuilder:
		return parsedSetter(b.Type(), text.ParseBool, b.Append), nil
	case *array.Float16Builder:
		return floatSetter(b.Type(), 32, mode, func(v float64) error {
			h := float16.New(float32(v))
			if mode == text.Strict && float64(h.Float32()) != v && v == v {
				return errors.New("has more digits than a float16 holds")
			}
			b.Append(h)
			return nil
		}), nil
	case *array.Float32Builder:
		return floatSetter(b.Type(), 32, mode, func(v float64) error { b.Append(float32(v)); return nil }), nil
	case *array.Float64Builder:
		return floatSetter(b.Type(), 64, mode, func(v float64) error { b.Append(v); return nil }), nil
	case *array.BinaryDictionaryBuilder:
		return dictionarySetter(b)
	case interface{ StorageBuilder() array.Builder }:
		return extensionSetter(b.(array.Builder), b.StorageBuilder(), mode)
	}
	if s := decimalSetter(b); s != nil {
		return s, nil
	}
	if s := bytesSetter(b); s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("type %s cannot be read from text", text.Type(b.Type()))
}

// parsedSetter adds what a function parses.
func parsedSetter[T any](t arrow.DataType, parse func([]byte) (T, bool), add func(T)) Setter {
	return func(token []byte) error {
		v, ok := parse(token)
		if !ok {
			return unfit(token, t)
		}
		add(v)
		return nil
	}
}

func unfit(token []byte, t arrow.DataType) error {
	return fmt.Errorf("%q is not %s", text.Clip(string(token)), text.Article(text.Type(t)))
}

func bytesSetter(b array.Builder) Setter {
	type textBuilder interface {
		array.Builder
		Append(string)
	}
	switch b := b.(type) {
	case *array.BinaryBuilder:
		if b.Type().ID() == arrow.BINARY || b.Type().ID() == arrow.LARGE_BINARY {
			return base64Setter(b.Type(), -1, b.Append)
		}
	case *array.BinaryViewBuilder:
		return base64Setter(b.Type(), -1, b.Append)
	case *array.FixedSizeBinaryBuilder:
		return base64Setter(b.Type(), b.Type().(*arrow.FixedSizeBinaryType).ByteWidth, b.Append)
	case *array.StringBuilder:
		return textSetter(b.BinaryBuilder.Append)
	case *array.LargeStringBuilder:
		return textSetter(b.BinaryBuilder.Append)
	case textBuilder:
		return textSetter(func(v []byte) { b.Append(string(v)) })
	}
	return nil
}

func textSetter(add func([]byte)) Setter {
	return func(token []byte) error {
		if !utf8.Valid(token) {
			return fmt.Errorf("%q %w", text.Clip(string(token)), text.ErrUTF8)
		}
		add(token)
		return nil
	}
}

func base64Setter(dt arrow.DataType, width int, add func([]byte)) Setter {
	var buf []byte
	return func(token []byte) error {
		var err error
		if width >= 8 && len(token) == 2*width { // ids: base64 is shorter
			buf, err = hex.AppendDecode(buf[:0], token)
		} else {
			buf, err = base64.StdEncoding.AppendDecode(buf[:0], token)
		}
		if err != nil {
			return fmt.Errorf("%q is not base64, as %s needs", text.Clip(string(token)), text.Type(dt))
		}
		if width >= 0 && len(buf) != width {
			return fmt.Errorf("%q has %d %s, not %d", text.Clip(string(token)), len(buf), text.Plural(len(buf), "byte"), width)
		}
		add(buf)
		return nil
	}
}

func dictionarySetter(b *array.BinaryDictionaryBuilder) (Setter, error) {
	if id := b.Type().(*arrow.DictionaryType).ValueType.ID(); id != arrow.STRING && id != arrow.LARGE_STRING {
		return nil, fmt.Errorf("type %s cannot be read from text", text.Type(b.Type()))
	}
	return func(token []byte) error {
		if !utf8.Valid(token) {
			return fmt.Errorf("%q %w", text.Clip(string(token)), text.ErrUTF8)
		}
		return b.Append(token)
	}, nil
}

// extensionSetter reads the text forms of json, uuid and bool8. For other extension types it reads that of the
// storage type.
func extensionSetter(b, storage array.Builder, mode text.Mode) (Setter, error) {
	name := b.Type().(arrow.ExtensionType).ExtensionName()
	switch s := storage.(type) {
	case *array.FixedSizeBinaryBuilder:
		if name == extension.NameUUID {
			return parsedSetter(b.Type(), text.ParseUUID, func(v [16]byte) { s.Append(v[:]) }), nil
		}
	case *array.Int8Builder:
		if name == extension.NameBool8 {
			return parsedSetter(b.Type(), text.ParseBool, func(v bool) {
				n := int8(0)
				if v {
					n = 1
				}
				s.Append(n)
			}), nil
		}
	}
	set, err := NewSetter(storage, mode)
	if err != nil || name != extension.NameJSON {
		return set, err
	}
	return func(token []byte) error {
		if !jsontext.Valid(token) {
			return unfit(token, b.Type())
		}
		return set(token)
	}, nil
}
