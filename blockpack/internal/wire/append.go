package wire

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// InsertLen puts the length of the bytes from start on in front of them.
func InsertLen(b []byte, start int) []byte {
	n := len(b) - start
	size := protowire.SizeVarint(uint64(n))
	b = append(b, make([]byte, size)...)
	copy(b[start+size:], b[start:start+n])
	protowire.AppendVarint(b[start:start], uint64(n))
	return b
}

// AppendText appends a string or bytes as a field, unless they are empty.
func AppendText[T string | []byte](dst []byte, num protowire.Number, v T) []byte {
	if len(v) == 0 {
		return dst
	}
	dst = protowire.AppendVarint(protowire.AppendTag(dst, num, protowire.BytesType), uint64(len(v)))
	return append(dst, v...)
}

// AppendNumber appends a number as a field, unless it is 0.
func AppendNumber(dst []byte, num protowire.Number, k Kind, v uint64) []byte {
	if v == 0 {
		return dst
	}
	return appendNumber(dst, num, k, v)
}

func appendNumber(dst []byte, num protowire.Number, k Kind, v uint64) []byte {
	typ := k.Type()
	dst = protowire.AppendTag(dst, num, typ)
	switch typ {
	case protowire.VarintType:
		return protowire.AppendVarint(dst, v)
	case protowire.Fixed32Type:
		return binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(dst, v)
}
