package tempo

import (
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/blockpack/internal/wire"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// attributes is a column Attrs: a list of attributes. One of the lists of values has items: one, or several of an array.
//
//	Key, IsArray, Value [string], ValueInt [int64], ValueDouble [double], ValueBool [bool], ValueUnsupported (JSON)
//
// Maps, bytes, empty values and arrays of mixed types are JSON. The first version of vParquet4 has ValueType in place
// of IsArray, and ValueDropped in place of ValueUnsupported.
type attributes struct {
	rows      list
	path      string
	key       texts
	isArray   bools
	valueType numbers
	values    [4]values // in the order of the kinds
	json      texts
}

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

// Numbers of fields of OTLP messages.
const (
	keyValueKey   protowire.Number = 1
	keyValueValue protowire.Number = 2

	anyString protowire.Number = 1
	anyBool   protowire.Number = 2
	anyInt    protowire.Number = 3
	anyDouble protowire.Number = 4
	anyArray  protowire.Number = 5

	arrayValues protowire.Number = 1
)

func (c columns) attributes() (a attributes) {
	a.path = c.path + ".Attrs"
	rows, items, ok := c.list("Attrs")
	if !ok {
		return a
	}
	a.rows = rows
	in := columnsOf(a.path, items, c.err)
	in.need("Key")
	a.key = in.texts("Key")
	a.isArray, a.valueType = in.bools("IsArray"), in.numbers("ValueType")
	for k, name := range []string{"Value", "ValueInt", "ValueDouble", "ValueBool"} {
		a.values[k] = in.values(name, kind(k))
	}
	a.json = in.texts("ValueUnsupported")
	if a.json.a == nil {
		a.json = in.texts("ValueDropped")
	}
	return a
}

// values finds a column that has a list of values of a kind in each row, or a value or null.
func (c columns) values(name string, k kind) (v values) {
	a, ok := c.arrays[name]
	if !ok {
		return v
	}
	v.rows.rows = a
	if l, isList := a.(array.ListLike); isList {
		v.rows.offsets, a = l.ValueOffsets, l.ListValues()
	}
	switch k {
	case kindString:
		t, ok := textsOf(a)
		if !ok {
			c.wrongType(name, a, "a string")
		}
		v.append = func(dst []byte, i int) []byte {
			s, _ := t.get(i)
			return protowire.AppendString(protowire.AppendTag(dst, anyString, protowire.BytesType), s)
		}
	case kindInt:
		n, ok := numbersOf(a)
		if !ok {
			c.wrongType(name, a, "an integer")
		}
		v.append = func(dst []byte, i int) []byte {
			return protowire.AppendVarint(protowire.AppendTag(dst, anyInt, protowire.VarintType), n.or0(i))
		}
	case kindDouble:
		d, ok := a.(*array.Float64)
		if !ok {
			c.wrongType(name, a, "a double")
		}
		v.append = func(dst []byte, i int) []byte {
			return protowire.AppendFixed64(protowire.AppendTag(dst, anyDouble, protowire.Fixed64Type), math.Float64bits(d.Value(i)))
		}
	case kindBool:
		b, ok := a.(*array.Boolean)
		if !ok {
			c.wrongType(name, a, "a boolean")
		}
		v.append = func(dst []byte, i int) []byte {
			return protowire.AppendVarint(protowire.AppendTag(dst, anyBool, protowire.VarintType), protowire.EncodeBool(b.Value(i)))
		}
	}
	return v
}

// appendTo appends the attributes of row i as fields of a message.
func (a attributes) appendTo(dst []byte, field protowire.Number, i int) ([]byte, error) {
	from, to := a.rows.span(i)
	for k := from; k < to; k++ {
		var err error
		key, _ := a.key.get(k)
		dst, err = appendAttribute(dst, field, key, func(dst []byte) ([]byte, error) { return a.appendValue(dst, k) })
		if err != nil {
			return dst, fault.InColumn(err, a.path+".ValueUnsupported")
		}
	}
	return dst, nil
}

// appendAttribute appends a KeyValue as a field of a message.
func appendAttribute(dst []byte, field protowire.Number, key string, value func(dst []byte) ([]byte, error)) ([]byte, error) {
	return appendMessage(dst, field, func(dst []byte) ([]byte, error) {
		dst = protowire.AppendString(protowire.AppendTag(dst, keyValueKey, protowire.BytesType), key)
		return appendMessage(dst, keyValueValue, value)
	})
}

// appendValue appends an AnyValue: that of attribute k in the list of all rows.
func (a attributes) appendValue(dst []byte, k int) ([]byte, error) {
	isArray := a.isArray.get(k) || a.valueType.or0(k) >= firstArrayType
	for _, v := range a.values {
		if from, to := v.rows.span(k); from < to {
			return v.appendRange(dst, from, to, isArray)
		}
	}
	if isArray {
		return appendMessage(dst, anyArray, func(dst []byte) ([]byte, error) { return dst, nil })
	}
	if text, ok := a.json.get(k); ok && text != "" {
		return new(wire.Decoder).Append(dst, []byte(text), wire.AnyValue) // Tempo stores it in the form of OTLP/JSON
	}
	return dst, nil // an empty value
}

// appendRange appends values as an array, or a single one as itself.
func (v values) appendRange(dst []byte, from, to int, isArray bool) ([]byte, error) {
	if to-from == 1 && !isArray {
		return v.append(dst, from), nil
	}
	return appendMessage(dst, anyArray, func(dst []byte) ([]byte, error) {
		for i := from; i < to; i++ {
			dst, _ = appendMessage(dst, arrayValues, func(dst []byte) ([]byte, error) { return v.append(dst, i), nil })
		}
		return dst, nil
	})
}

// dedicated is a group DedicatedAttributes: columns of strings or integers, for attributes that meta.json names. vParquet4
// has a value in each, vParquet5 a list of them.
type dedicated struct {
	names   *Names
	of      scope
	columns []dedicatedColumn // by name
}

type dedicatedColumn struct {
	name string
	values
}

func (c columns) dedicated(of scope, names *Names) dedicated {
	d := dedicated{names: names, of: of}
	in := c.group("DedicatedAttributes")
	for name := range in.arrays {
		k := kindString
		if strings.HasPrefix(name, "Int") {
			k = kindInt
		} else if !strings.HasPrefix(name, "String") {
			in.fail(fault.Unsupportedf("a dedicated column is called %q", name))
			continue
		}
		d.columns = append(d.columns, dedicatedColumn{name, in.values(name, k)})
	}
	slices.SortFunc(d.columns, func(a, b dedicatedColumn) int { return strings.Compare(a.name, b.name) })
	return d
}

// appendTo appends the dedicated attributes of row i as fields of a message.
func (d dedicated) appendTo(dst []byte, field protowire.Number, i int) []byte {
	for _, c := range d.columns {
		if from, to := c.rows.span(i); from < to {
			dst, _ = appendAttribute(dst, field, d.names.name(d.of, c.name), func(dst []byte) ([]byte, error) {
				return c.appendRange(dst, from, to, false)
			})
		}
	}
	return dst
}

// known is a column of one attribute.
type known struct {
	attribute string
	values
}

// known finds columns of attributes. Pairs are the names of columns and attributes.
func (c columns) known(k kind, pairs ...[2]string) (found []known) {
	for _, p := range pairs {
		if _, ok := c.arrays[p[0]]; ok {
			found = append(found, known{p[1], c.values(p[0], k)})
		}
	}
	return found
}

func appendKnown(dst []byte, field protowire.Number, columns []known, i int) []byte {
	for _, c := range columns {
		if from, to := c.rows.span(i); from < to {
			dst, _ = appendAttribute(dst, field, c.attribute, func(dst []byte) ([]byte, error) { return c.append(dst, from), nil })
		}
	}
	return dst
}
