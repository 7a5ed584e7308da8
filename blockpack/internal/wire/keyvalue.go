package wire

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/blockpack/internal/column"
)

// KeyValue is an attribute.
type KeyValue struct {
	Key   []byte
	Type  column.Type
	Bits  uint64
	Data  []byte
	Plain bool // one key, and one value that is a string, number, bool or bytes
}

// Parse reads an encoded KeyValue, and checks all of it.
func (kv *KeyValue) Parse(b []byte, base, depth int) error {
	*kv = KeyValue{}
	if key, value := split(b); value != nil {
		kv.Key = key
		var err error
		kv.Plain, err = kv.value(value, base+len(b)-len(value), depth)
		return err
	}
	r := NewReader(b, base)
	var f, value Field
	keys, values, others := 0, 0, 0
	for r.Next(&f) {
		switch f.Num {
		case 1:
			kv.Key = f.Data
			keys++
			r.Is(&f, protowire.BytesType)
		case 2:
			if values > 0 {
				if err := AnyValue.Check(value.Data, value.At, depth); err != nil {
					return err
				}
			}
			value = f
			values++
			r.Is(&f, protowire.BytesType)
		default:
			others++
		}
		if r.Err != nil {
			return r.Err
		}
	}
	if r.Err != nil || values == 0 {
		return r.Err
	}
	scalar, err := kv.value(value.Data, value.At, depth)
	kv.Plain = scalar && keys <= 1 && values == 1 && others == 0
	return err
}

// split takes a KeyValue of the usual form apart: a short key, and a short value that is not empty. value is nil for others.
//
//	0a 03 key 12 04 value
func split(b []byte) (key, value []byte) {
	if len(b) < 2 || b[0] != 0x0a || b[1] >= 0x80 {
		return nil, nil
	}
	at := 2 + int(b[1])
	if len(b) < at+3 || b[at] != 0x12 || b[at+1] >= 0x80 || len(b) != at+2+int(b[at+1]) {
		return nil, nil
	}
	return b[2:at], b[at+2:]
}

// value reads an encoded AnyValue. It returns false for one that is not exactly one string, number, bool or bytes.
func (kv *KeyValue) value(b []byte, base, depth int) (scalar bool, err error) {
	switch { // the usual forms: a short string, a bool, an integer, a float
	case len(b) < 2:
	case b[0] == 0x0a && b[1] < 0x80 && int(b[1]) == len(b)-2:
		kv.Data, kv.Type = b[2:], column.String
		return true, nil
	case b[0] == 0x10 && b[1] < 0x80 && len(b) == 2:
		kv.Bits, kv.Type = uint64(min(b[1], 1)), column.Bool
		return true, nil
	case b[0] == 0x18:
		if v, n := protowire.ConsumeVarint(b[1:]); n == len(b)-1 {
			kv.Bits, kv.Type = v, column.Int64
			return true, nil
		}
	case b[0] == 0x21 && len(b) == 9:
		kv.Bits, kv.Type = binary.LittleEndian.Uint64(b[1:]), column.Float64
		return true, nil
	}
	r := NewReader(b, base)
	var f Field
	if !r.Next(&f) {
		return false, r.Err
	}
	if r.at < len(b) {
		return false, AnyValue.Check(b, base, depth)
	}
	switch f.Num {
	case 1, 7:
		kv.Data, kv.Type = f.Data, column.String
		if f.Num == 7 {
			kv.Type = column.Bytes
		}
		return r.Is(&f, protowire.BytesType), r.Err
	case 2:
		kv.Type, kv.Bits = column.Bool, 0
		if f.Bits != 0 {
			kv.Bits = 1
		}
		return r.Is(&f, protowire.VarintType), r.Err
	case 3:
		kv.Type, kv.Bits = column.Int64, f.Bits
		return r.Is(&f, protowire.VarintType), r.Err
	case 4:
		kv.Type, kv.Bits = column.Float64, f.Bits
		return r.Is(&f, protowire.Fixed64Type), r.Err
	}
	return false, AnyValue.Check(b, base, depth)
}
