package tempo

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/blockpack/internal/wire"
)

// appendMessage appends a message as a field of another one.
func appendMessage(dst []byte, field protowire.Number, body func(dst []byte) ([]byte, error)) ([]byte, error) {
	dst = protowire.AppendTag(dst, field, protowire.BytesType)
	start := len(dst)
	dst, err := body(dst)
	return wire.InsertLen(dst, start), err
}

// appendText appends a string or bytes as a field, unless it is empty.
func appendText(dst []byte, field protowire.Number, v string) []byte {
	if v == "" {
		return dst
	}
	return protowire.AppendString(protowire.AppendTag(dst, field, protowire.BytesType), v)
}

// appendTo appends the value of row i as a field, unless it is empty or null.
func (t texts) appendTo(dst []byte, field protowire.Number, i int) []byte {
	v, _ := t.get(i)
	return appendText(dst, field, v)
}

// appendNumber appends an enum as a field, unless it is 0.
func appendNumber(dst []byte, field protowire.Number, v uint64) []byte {
	if v == 0 {
		return dst
	}
	return protowire.AppendVarint(protowire.AppendTag(dst, field, protowire.VarintType), v)
}

// appendCount appends a count, which Tempo stores as int32, and OTLP has as uint32.
func appendCount(dst []byte, field protowire.Number, v uint64) []byte {
	return appendNumber(dst, field, uint64(uint32(v)))
}

// appendTime appends a time as a field, unless it is 0.
func appendTime(dst []byte, field protowire.Number, v uint64) []byte {
	if v == 0 {
		return dst
	}
	return protowire.AppendFixed64(protowire.AppendTag(dst, field, protowire.Fixed64Type), v)
}
