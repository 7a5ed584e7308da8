package tempo

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/blockpack/internal/wire"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Numbers of fields of an AnyValue.
const (
	anyString protowire.Number = 1
	anyBool   protowire.Number = 2
	anyInt    protowire.Number = 3
	anyDouble protowire.Number = 4
	anyArray  protowire.Number = 5
)

// Values of ValueType from firstArrayType on are arrays.
const firstArrayType = 5

// kind is a type of values.
type kind uint8

const (
	kindString kind = iota
	kindInt
	kindDouble
	kindBool
)

// values is a list of values of one kind in each row.
type values struct {
	rows   list
	append func(dst []byte, i int) []byte // appends value i as an AnyValue
}

// attributes are those of a column Attrs: a list of attributes. One of the lists of values has items: one, or several of an array.
//
//	Key, IsArray, Value [string], ValueInt [int64], ValueDouble [double], ValueBool [bool], ValueUnsupported (JSON)
//
// Maps, bytes, empty values and arrays of mixed types are JSON. The first version of vParquet4 has ValueType in place
// of IsArray, and ValueDropped in place of ValueUnsupported.
func (c columns) attributes(num protowire.Number) appender {
	rows, items, ok := c.list("Attrs")
	if !ok {
		return nothing
	}
	in := columnsOf(c.path+".Attrs", items, c.err)
	in.need("Key")
	key, isArray, valueType, json := in.texts("Key"), cellsOf(in, "IsArray", in.arrays["IsArray"], bools), in.numbers("ValueType"), in.texts("ValueUnsupported")
	if json.a == nil {
		json = in.texts("ValueDropped")
	}
	var lists []values
	for k, name := range []string{"Value", "ValueInt", "ValueDouble", "ValueBool"} {
		lists = append(lists, in.values(name, kind(k)))
	}
	value := func(dst []byte, k int) ([]byte, error) {
		array := isArray.get(k) || valueType.get(k) >= firstArrayType
		for _, v := range lists {
			if from, to := v.rows.span(k); from < to {
				return v.appendRange(dst, from, to, array)
			}
		}
		if array {
			return protowire.AppendBytes(protowire.AppendTag(dst, anyArray, protowire.BytesType), nil), nil
		}
		if text := json.get(k); len(text) > 0 { // in the form of OTLP/JSON
			return new(wire.Decoder).Append(dst, text, wire.AnyValue)
		}
		return dst, nil // an empty value
	}
	return func(dst []byte, i int) (_ []byte, err error) {
		from, to := rows.span(i)
		for k := from; k < to; k++ {
			if dst, err = appendAttribute(dst, num, key.get(k), func(dst []byte) ([]byte, error) { return value(dst, k) }); err != nil {
				return dst, fault.InColumn(err, in.path+".ValueUnsupported")
			}
		}
		return dst, nil
	}
}

// values finds a column that has a list of values of a kind in each row, or a value or null.
func (c columns) values(name string, k kind) values {
	switch k {
	case kindInt:
		return valuesOf(c, name, integers, func(dst []byte, v int64) []byte {
			return protowire.AppendVarint(protowire.AppendTag(dst, anyInt, protowire.VarintType), uint64(v))
		})
	case kindDouble:
		return valuesOf(c, name, doubles, func(dst []byte, v float64) []byte {
			return protowire.AppendFixed64(protowire.AppendTag(dst, anyDouble, protowire.Fixed64Type), math.Float64bits(v))
		})
	case kindBool:
		return valuesOf(c, name, bools, func(dst []byte, v bool) []byte {
			return protowire.AppendVarint(protowire.AppendTag(dst, anyBool, protowire.VarintType), protowire.EncodeBool(v))
		})
	}
	return valuesOf(c, name, texts, func(dst, v []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(dst, anyString, protowire.BytesType), v)
	})
}

func valuesOf[T any](c columns, name string, f form[T], appendValue func(dst []byte, v T) []byte) (v values) {
	a, ok := c.arrays[name]
	if !ok {
		return v
	}
	v.rows.rows = a
	if l, isList := a.(array.ListLike); isList {
		v.rows.offsets, a = l.ValueOffsets, l.ListValues()
	}
	items := cellsOf(c, name, a, f)
	v.append = func(dst []byte, i int) []byte { return appendValue(dst, items.get(i)) }
	return v
}

// appendAttribute appends a KeyValue as a field of a message.
func appendAttribute[T string | []byte](dst []byte, num protowire.Number, key T, value func(dst []byte) ([]byte, error)) ([]byte, error) {
	return appendMessage(dst, num, func(dst []byte) ([]byte, error) {
		dst = protowire.AppendVarint(protowire.AppendTag(dst, 1, protowire.BytesType), uint64(len(key)))
		dst = append(dst, key...)
		return appendMessage(dst, 2, value)
	})
}

// appendRange appends values as an array, or a single one as itself.
func (v values) appendRange(dst []byte, from, to int, isArray bool) ([]byte, error) {
	if to-from == 1 && !isArray {
		return v.append(dst, from), nil
	}
	return appendMessage(dst, anyArray, func(dst []byte) ([]byte, error) {
		for i := from; i < to; i++ {
			dst, _ = appendMessage(dst, 1, func(dst []byte) ([]byte, error) { return v.append(dst, i), nil })
		}
		return dst, nil
	})
}

// dedicated are the attributes of a group DedicatedAttributes: columns of strings or integers, for attributes that meta.json names.
// vParquet4 has a value in each, vParquet5 a list of them.
func (c columns) dedicated(num protowire.Number, of scope, names *Names) appender {
	in := c.group("DedicatedAttributes")
	var parts []appender
	for _, name := range slices.Sorted(maps.Keys(in.arrays)) {
		k := kindString
		if strings.HasPrefix(name, "Int") {
			k = kindInt
		} else if !strings.HasPrefix(name, "String") {
			in.fail(fault.Unsupportedf("a dedicated column is called %q", name))
			continue
		}
		parts = append(parts, in.values(name, k).attribute(num, func() string { return names.name(of, name) }))
	}
	return inOrder(parts...)
}

// known are columns of one attribute each. Pairs are the names of columns and attributes.
func (c columns) known(num protowire.Number, k kind, pairs ...[2]string) appender {
	var parts []appender
	for _, p := range pairs {
		parts = append(parts, c.values(p[0], k).attribute(num, func() string { return p[1] }))
	}
	return inOrder(parts...)
}

// attribute is an attribute of the rows that have values.
func (v values) attribute(num protowire.Number, name func() string) appender {
	return func(dst []byte, i int) ([]byte, error) {
		from, to := v.rows.span(i)
		if from == to {
			return dst, nil
		}
		return appendAttribute(dst, num, name(), func(dst []byte) ([]byte, error) { return v.appendRange(dst, from, to, false) })
	}
}
