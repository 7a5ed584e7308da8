// Package message decodes the messages of the metadata of a shard within limits, and packs copies of several.
package message

import (
	"encoding/binary"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/decompress"
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

// CheckDescriptor checks a descriptor by itself, without data or schema. The descriptor begins at start in its
// artifact.
func CheckDescriptor(m *shardpb.StripeFieldDescriptor, start int64) error {
	d := m.Field
	if d == nil {
		return fault.Corruptf("descriptor has no field")
	}
	if err := CheckCounts(d); err != nil {
		return err
	}
	for _, e := range m.Encodings {
		for _, b := range e.GetNative().GetBuffers() {
			if err := checkBuffer(b, start); err != nil {
				return fault.In(err, b.Kind.String(), -1)
			}
		}
	}
	return nil
}

// CheckOrder checks that a reference ends before the message that contains it, which begins at start, if both are
// in one artifact. Writers append, so that a valid message never refers to later bytes.
func CheckOrder(url string, end uint64, start int64) error {
	if url == "" && end > uint64(start) {
		return fault.Corruptf("reference ends at %d, after the start of its own message at %d", end, start)
	}
	return nil
}

// checkBuffer checks the ranges of a buffer. Its descriptor begins at start.
func checkBuffer(b *shardpb.EncodedBuffer, start int64) error {
	r := b.GetBuffer().GetRange()
	if b.Kind != shardpb.BufferKind_RANGE_INDEX { // readers ignore an invalid one
		if err := CheckOrder(b.GetBuffer().GetUrl(), r.GetEnd(), start); err != nil {
			return err
		}
	}
	if r.GetStart() > r.GetEnd() {
		return fault.Corruptf("buffer ends at %d, before its start at %d", r.GetEnd(), r.GetStart())
	}
	if b.BlockMap == nil {
		return nil
	}
	m := b.BlockMap.GetRange()
	switch {
	case len(b.InlineBlockMap) > 0:
		return fault.Corruptf("two block maps")
	case b.BlockMap.Url != b.GetBuffer().GetUrl():
		return fault.Corruptf("block map is in %q, its buffer in %q", b.BlockMap.Url, b.GetBuffer().GetUrl())
	case m.GetStart() < r.GetStart() || m.GetEnd() > r.GetEnd() || m.GetStart() >= m.GetEnd():
		return fault.Corruptf("block map from %d up to %d is not inside its buffer, %d up to %d", m.GetStart(), m.GetEnd(), r.GetStart(), r.GetEnd())
	case (m.GetEnd()-m.GetStart())%8 != 0:
		return fault.Corruptf("block map has %d bytes, not a multiple of 8", m.GetEnd()-m.GetStart())
	}
	return nil
}

// CheckCounts checks the counts of a descriptor.
func CheckCounts(m *shardpb.FieldDescriptor) error {
	if m.NullCount != nil && *m.NullCount > m.PositionCount {
		return fault.Corruptf("%d nulls in %d positions", *m.NullCount, m.PositionCount)
	}
	return nil
}

// MaxCopied is the largest number of bytes of descriptors that are copied at the end of a shard.
const MaxCopied = 2 << 20

// Pack is the payload of the message with copies of the frames of the descriptors and the field list of each stripe (docs/format.md §11.2).
//
//	u32 × stripes   bytes of each stripe, which end with its field list
//	Zstandard       the bytes of all stripes
func Pack(stripes [][]byte) ([]byte, error) {
	var payload, all []byte
	for _, b := range stripes {
		payload = binary.LittleEndian.AppendUint32(payload, uint32(len(b)))
		all = append(all, b...)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
	if err != nil {
		return nil, err
	}
	return z.EncodeAll(all, payload), nil
}

// Unpack is the inverse of Pack for a number of stripes.
func Unpack(payload []byte, stripes int) ([][]byte, error) {
	if len(payload)/4 < stripes {
		return nil, fault.Corruptf("%d bytes for %d stripes", len(payload), stripes)
	}
	out, size := make([][]byte, stripes), 0
	for i := range out {
		n := binary.LittleEndian.Uint32(payload[4*i:])
		if n > MaxCopied || size+int(n) > MaxCopied {
			return nil, fault.Corruptf("more than %d bytes", MaxCopied)
		}
		size += int(n)
	}
	all := make([]byte, size)
	var z decompress.Zstd
	if err := z.Decode(all, payload[4*stripes:]); err != nil {
		return nil, err
	}
	for i := range out {
		n := binary.LittleEndian.Uint32(payload[4*i:])
		out[i], all = all[:n:n], all[n:]
	}
	return out, nil
}
