// Package wire has OTLP messages as bytes: it reads their fields, checks them, and converts them to JSON and back.
package wire

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Field is one field of an encoded message.
type Field struct {
	Num  protowire.Number
	Type protowire.Type
	Bits uint64 // of numbers
	Data []byte // of strings, bytes and messages
	Raw  []byte // the whole field with its tag
	At   int    // offset of Data
}

// Reader reads the fields of an encoded message one after the other.
type Reader struct {
	b    []byte
	base int // offset of b, for errors
	at   int // in b
	Err  error
}

// Next reads a field. It returns false at the end, and on an error.
func (r *Reader) Next(f *Field) bool {
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
	if num < protowire.MinValidNumber || num > protowire.MaxValidNumber {
		r.Err = fault.In(fault.Corruptf("field number %d", tag>>3), "", int64(r.base+r.at))
		return false
	}
	f.Num, f.Type, f.Data = num, typ, nil
	m := 0
	switch typ {
	case protowire.BytesType:
		if n < len(b) && int(b[n]) < 0x80 && int(b[n]) < len(b)-n {
			m = 1 + int(b[n])
			f.Data = b[n+1 : n+m]
		} else if f.Data, m = protowire.ConsumeBytes(b[n:]); m < 0 {
			return r.fail(m)
		}
	case protowire.VarintType:
		if n < len(b) && b[n] < 0x80 {
			f.Bits, m = uint64(b[n]), 1
		} else if f.Bits, m = protowire.ConsumeVarint(b[n:]); m < 0 {
			return r.fail(m)
		}
	case protowire.Fixed64Type:
		if len(b) < n+8 {
			return r.fail(-1)
		}
		f.Bits, m = binary.LittleEndian.Uint64(b[n:]), 8
	case protowire.Fixed32Type:
		if len(b) < n+4 {
			return r.fail(-1)
		}
		f.Bits, m = uint64(binary.LittleEndian.Uint32(b[n:])), 4
	default:
		if m = protowire.ConsumeFieldValue(num, typ, b[n:]); m < 0 {
			return r.fail(m)
		}
	}
	f.Raw = b[:n+m]
	f.At = r.base + r.at + n + m - len(f.Data)
	r.at += n + m
	return true
}

func (r *Reader) fail(n int) bool {
	err := protowire.ParseError(n)
	r.Err = fault.In(fault.Corruptf("Protocol Buffers: %w", err), "", int64(r.base+r.at))
	return false
}

// Is checks the wire type of a known field.
func (r *Reader) Is(f *Field, typ protowire.Type) bool {
	if f.Type == typ {
		return true
	}
	r.Err = fault.In(fault.Corruptf("field %d has wire type %d, not %d", f.Num, f.Type, typ), "", int64(r.base+r.at-len(f.Raw)))
	return false
}

// NewReader reads a message at an offset.
func NewReader(b []byte, base int) Reader { return Reader{b: b, base: base} }
