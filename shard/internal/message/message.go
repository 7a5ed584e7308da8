// Package message decodes the messages of the metadata of a shard within limits, and packs copies of several.
package message

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// MaxNesting limits the nesting of messages. Writers need 8 levels, and a few more for property values that are
// lists of lists.
const MaxNesting = 64

// Decode fills m from the payload of a frame. Unknown fields are kept in m.
func Decode(payload []byte, m proto.Message) error {
	if err := checkAmplification(payload, m.ProtoReflect().Descriptor()); err != nil {
		return err
	}
	o := proto.UnmarshalOptions{RecursionLimit: MaxNesting}
	if err := o.Unmarshal(payload, m); err != nil {
		return fault.Corruptf("%s: %v", m.ProtoReflect().Descriptor().Name(), err)
	}
	return nil
}

// Two bytes of payload can become a message of about 100 bytes in memory. A payload of up to smallMessage bytes
// cannot take much memory. In a larger one elements are counted before memory is allocated for them.
const (
	smallMessage     = 64 << 10
	elementSize      = 128 // approximate bytes in memory of a message or string
	freeAmplified    = 32 << 20
	maxAmplification = 8
)

func checkAmplification(payload []byte, md protoreflect.MessageDescriptor) error {
	if len(payload) <= smallMessage {
		return nil
	}
	left := (freeAmplified + maxAmplification*len(payload)) / elementSize
	if !countElements(payload, md, &left, MaxNesting) {
		return fault.Limitf("%s of %d bytes has too many elements", md.Name(), len(payload))
	}
	return nil
}

// countElements subtracts the messages, strings and byte fields in b from left, and reports whether left was enough.
// Syntax errors are left to the real decoder.
func countElements(b []byte, md protoreflect.MessageDescriptor, left *int, depth int) bool {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return true
		}
		size := protowire.ConsumeFieldValue(num, typ, b[n:])
		if size < 0 {
			return true
		}
		value := b[n : n+size]
		b = b[n+size:]
		if typ != protowire.BytesType {
			continue
		}
		*left--
		if *left < 0 {
			return false
		}
		fd := md.Fields().ByNumber(num)
		if fd == nil || fd.Message() == nil || depth == 0 {
			continue
		}
		inner, _ := protowire.ConsumeBytes(value)
		if !countElements(inner, fd.Message(), left, depth-1) {
			return false
		}
	}
	return true
}
