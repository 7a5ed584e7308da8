package buffers

import (
	"github.com/amudai/amudai-go/encoding/bytestring"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

// sliced writes byte strings as a buffer of their bytes, one of the offsets where they end, behind a 0, and one of nulls if there are any
// (docs/format.md §5.1).
type sliced struct {
	octets NumberBlocks[uint8]
	ends   NumberBlocks[uint64]
	last   uint64
	valid  PresenceWriter
}

func newSliced(c *Context, id uint32) *sliced {
	o := c.Encoding
	o.NoPresence = true
	s := &sliced{octets: NewNumberBlocks[uint8](c, NodePart{ID: id, Octets: true}, o), ends: NewNumberBlocks[uint64](c, NodePart{ID: id, Ends: true}, o)}
	s.octets.Pipeline.out.mapped = true
	s.ends.Grow(c, 1)[0] = 0
	return s
}

// add appends values, of which null ones are empty.
func (s *sliced) add(c *Context, v bytestring.Values, valid bitmap.Bits) error {
	s.valid.Add(valid)
	for rest := v.Bytes(); len(rest) > 0; {
		n := min(len(rest), s.octets.Room(c))
		copy(s.octets.Grow(c, n), rest[:n])
		rest = rest[n:]
		if err := s.octets.Flush(c, nil, false); err != nil {
			return err
		}
	}
	for at := 0; at < v.N; {
		ends := s.ends.Grow(c, min(v.N-at, s.ends.Room(c)))
		for i := range ends {
			ends[i] = s.last + uint64(v.Offsets[at+i+1]-v.Offsets[0])
		}
		at += len(ends)
		if err := s.ends.Flush(c, nil, false); err != nil {
			return err
		}
	}
	s.last += uint64(len(v.Bytes()))
	return nil
}

// finish adds the values that wait, if any, and completes the buffers.
func (s *sliced) finish(c *Context, staged *byteStage) ([]stripe.Buffer, error) {
	c.Features.Add(edition.OffsetsApart)
	if staged != nil {
		if err := s.add(c, staged.Values, staged.Valid.View()); err != nil {
			return nil, err
		}
	}
	all, err := s.octets.Finish(c, nil, &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_DATA})
	if err != nil {
		return nil, err
	}
	ends, err := s.ends.Finish(c, nil, &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_OFFSETS})
	if all = append(all, ends...); err != nil {
		return all, err
	}
	return s.valid.Finish(c, all)
}

func (s *sliced) release(c *Context) {
	s.octets.Release(c)
	s.ends.Release(c)
	s.valid.Release()
}
