package shardfile

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// maxNesting bounds how deep messages nest. What writers make needs 8 levels,
// and a property value that is a list of lists a few more.
const maxNesting = 64

// decode fills m from the payload of a frame. Fields that are not known are
// kept in m.
func decode(payload []byte, m proto.Message) error {
	if err := checkAmplification(payload, m.ProtoReflect().Descriptor()); err != nil {
		return err
	}
	o := proto.UnmarshalOptions{RecursionLimit: maxNesting}
	if err := o.Unmarshal(payload, m); err != nil {
		return fault.Corruptf("%s: %v", m.ProtoReflect().Descriptor().Name(), err)
	}
	return nil
}

// Two bytes of payload can become a message of some 100 bytes in memory.
// Payloads below smallMessage are too short to do harm that way; in larger ones
// the elements are counted before memory is taken for them.
const (
	smallMessage    = 64 << 10
	elementSize     = 128 // bytes in memory of one message or string, about
	freeAmplified   = 32 << 20
	maxAmplifiction = 8
)

func checkAmplification(payload []byte, md protoreflect.MessageDescriptor) error {
	if len(payload) <= smallMessage {
		return nil
	}
	left := (freeAmplified + maxAmplifiction*len(payload)) / elementSize
	if !countElements(payload, md, &left, maxNesting) {
		return fault.Limitf("%s of %d bytes has too many elements", md.Name(), len(payload))
	}
	return nil
}

// countElements takes the messages, strings and byte fields in b from left, and
// tells whether there were enough. Syntax errors are left to the real decoder.
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
