package message

import (
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
)

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
