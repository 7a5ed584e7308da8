package otlp

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// maxDepth bounds the nesting of arrays and maps in attributes, as most programs that read Protocol Buffers do.
const maxDepth = 100

var errDepth = fault.Limitf("values are nested deeper than %d", maxDepth)

// field is one field of an encoded message.
type field struct {
	num  protowire.Number
	typ  protowire.Type
	bits uint64 // of numbers
	data []byte // of strings, bytes and messages
	raw  []byte // the whole field with its tag
	at   int    // offset of data
}

// reader reads the fields of an encoded message one after the other.
type reader struct {
	b    []byte
	base int // offset of b, for errors
	at   int // in b
	err  error
}

// next reads a field. It returns false at the end, and on an error.
func (r *reader) next(f *field) bool {
	b := r.b[r.at:]
	if len(b) == 0 {
		return false
	}
	var tag uint64
	n := 1
	if tag = uint64(b[0]); tag >= 0x80 {
		if tag, n = protowire.ConsumeVarint(b); n < 0 {
			return r.fail(n)
		}
	}
	num, typ := protowire.DecodeTag(tag)
	if num < protowire.MinValidNumber {
		r.err = fault.In(fault.Corruptf("field number %d", tag>>3), "", int64(r.base+r.at))
		return false
	}
	f.num, f.typ, f.data = num, typ, nil
	m := 0
	switch typ {
	case protowire.BytesType:
		if n < len(b) && int(b[n]) < 0x80 && int(b[n]) < len(b)-n {
			m = 1 + int(b[n])
			f.data = b[n+1 : n+m]
		} else if f.data, m = protowire.ConsumeBytes(b[n:]); m < 0 {
			return r.fail(m)
		}
	case protowire.VarintType:
		if n < len(b) && b[n] < 0x80 {
			f.bits, m = uint64(b[n]), 1
		} else if f.bits, m = protowire.ConsumeVarint(b[n:]); m < 0 {
			return r.fail(m)
		}
	case protowire.Fixed64Type:
		if len(b) < n+8 {
			return r.fail(-1)
		}
		f.bits, m = binary.LittleEndian.Uint64(b[n:]), 8
	case protowire.Fixed32Type:
		if len(b) < n+4 {
			return r.fail(-1)
		}
		f.bits, m = uint64(binary.LittleEndian.Uint32(b[n:])), 4
	default:
		if m = protowire.ConsumeFieldValue(num, typ, b[n:]); m < 0 {
			return r.fail(m)
		}
	}
	f.raw = b[:n+m]
	f.at = r.base + r.at + n + m - len(f.data)
	r.at += n + m
	return true
}

func (r *reader) fail(n int) bool {
	err := protowire.ParseError(n)
	r.err = fault.In(fault.Corruptf("Protocol Buffers: %w", err), "", int64(r.base+r.at))
	return false
}

// is checks the wire type of a known field.
func (r *reader) is(f *field, typ protowire.Type) bool {
	if f.typ == typ {
		return true
	}
	r.err = fault.In(fault.Corruptf("field %d has wire type %d, not %d", f.num, f.typ, typ), "", int64(r.base+r.at-len(f.raw)))
	return false
}

// fieldLen is the number of bytes of the field at the start of b, or negative.
func fieldLen(b []byte) int {
	_, _, n := protowire.ConsumeField(b)
	return n
}

// keyValue is an attribute.
type keyValue struct {
	key   []byte
	typ   column.Type
	bits  uint64
	data  []byte
	plain bool // one key, and one value that is a string, number, bool or bytes
}

// parse reads an encoded KeyValue, and checks all of it.
func (kv *keyValue) parse(b []byte, base, depth int) error {
	*kv = keyValue{}
	r := reader{b: b, base: base}
	var f, value field
	keys, values, others := 0, 0, 0
	for r.next(&f) {
		switch f.num {
		case 1:
			kv.key = f.data
			keys++
			r.is(&f, protowire.BytesType)
		case 2:
			if values > 0 {
				if err := checkValue(value.data, value.at, depth); err != nil {
					return err
				}
			}
			value = f
			values++
			r.is(&f, protowire.BytesType)
		case 3:
			others++
			r.is(&f, protowire.VarintType)
		default:
			others++
		}
		if r.err != nil {
			return r.err
		}
	}
	if r.err != nil || values == 0 {
		return r.err
	}
	scalar, err := kv.value(value.data, value.at, depth)
	kv.plain = scalar && keys <= 1 && values == 1 && others == 0
	return err
}

// value reads an encoded AnyValue. It returns false for one that is not exactly one string, number, bool or bytes.
func (kv *keyValue) value(b []byte, base, depth int) (scalar bool, err error) {
	r := reader{b: b, base: base}
	var f field
	if !r.next(&f) {
		return false, r.err
	}
	if r.at < len(b) {
		return false, checkValue(b, base, depth)
	}
	switch f.num {
	case 1, 7:
		kv.data, kv.typ = f.data, column.String
		if f.num == 7 {
			kv.typ = column.Bytes
		}
		return r.is(&f, protowire.BytesType), r.err
	case 2:
		kv.typ, kv.bits = column.Bool, 0
		if f.bits != 0 {
			kv.bits = 1
		}
		return r.is(&f, protowire.VarintType), r.err
	case 3:
		kv.typ, kv.bits = column.Int64, f.bits
		return r.is(&f, protowire.VarintType), r.err
	case 4:
		kv.typ, kv.bits = column.Float64, f.bits
		return r.is(&f, protowire.Fixed64Type), r.err
	}
	return false, checkValue(b, base, depth)
}

// check checks the content of a message at an offset, within depth others.
type check func(b []byte, base, depth int) error

// wireType is the type of a known field of a message: on the wire, and what checks its content, nil if that may be anything.
type wireType struct {
	known bool
	typ   protowire.Type
	check check
}

// checkFields checks the wire types of the fields of a message, and the messages in it. Unknown fields may be anything.
func checkFields(b []byte, base, depth int, fields []wireType) error {
	if depth > maxDepth {
		return fault.In(fault.Limitf("values are nested deeper than %d", maxDepth), "", int64(base))
	}
	r := reader{b: b, base: base}
	var f field
	for r.next(&f) {
		if int(f.num) >= len(fields) || !fields[f.num].known {
			continue
		}
		if !r.is(&f, fields[f.num].typ) {
			break
		}
		if check := fields[f.num].check; check != nil {
			if err := check(f.data, f.at, depth+1); err != nil {
				return err
			}
		}
	}
	return r.err
}

var (
	varint  = wireType{known: true, typ: protowire.VarintType}
	fixed32 = wireType{known: true, typ: protowire.Fixed32Type}
	fixed64 = wireType{known: true, typ: protowire.Fixed64Type}
	content = wireType{known: true, typ: protowire.BytesType}
)

func message(c check) wireType { return wireType{true, protowire.BytesType, c} }

// Messages that are stored as they are, but checked.

func checkKeyValue(b []byte, base, depth int) error {
	return checkFields(b, base, depth, keyValueFields[:])
}
func checkValue(b []byte, base, depth int) error { return checkFields(b, base, depth, valueFields[:]) }
func checkArray(b []byte, base, depth int) error { return checkFields(b, base, depth, arrayFields[:]) }
func checkMap(b []byte, base, depth int) error   { return checkFields(b, base, depth, mapFields[:]) }
func checkEvent(b []byte, base, depth int) error { return checkFields(b, base, depth, eventFields[:]) }
func checkLink(b []byte, base, depth int) error  { return checkFields(b, base, depth, linkFields[:]) }
func checkEntityRef(b []byte, base, depth int) error {
	return checkFields(b, base, depth, entityRefFields[:])
}

// The fields of these messages, by number.
var keyValueFields, valueFields, arrayFields, mapFields, eventFields, linkFields, entityRefFields [9]wireType

func init() { // because messages contain each other
	keyValueFields = [9]wireType{1: content, 2: message(checkValue), 3: varint}
	valueFields = [9]wireType{1: content, 2: varint, 3: varint, 4: fixed64, 5: message(checkArray), 6: message(checkMap), 7: content, 8: varint}
	arrayFields = [9]wireType{1: message(checkValue)}
	mapFields = [9]wireType{1: message(checkKeyValue)}
	eventFields = [9]wireType{1: fixed64, 2: content, 3: message(checkKeyValue), 4: varint}
	linkFields = [9]wireType{1: content, 2: content, 3: content, 4: message(checkKeyValue), 5: varint, 6: fixed32}
	entityRefFields = [9]wireType{1: content, 2: content, 3: content, 4: content}
}
