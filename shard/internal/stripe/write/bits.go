package write

import (
	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

// bitStage collects bits, all set as long as only set bits came: the usual
// column without nulls costs a counter.
type bitStage struct {
	bits  []byte // nil while no bit was clear
	n     int
	clear int
}

func (s *bitStage) append(b bitmap.Bits) {
	s.clear += b.Nulls()
	if s.bits == nil && s.clear > 0 {
		s.bits = make([]byte, (s.n+7)/8)
		bitmap.SetRange(s.bits, 0, s.n)
	}
	at := s.n
	s.n += b.Len
	if s.bits != nil {
		s.grow()
		b.CopyTo(s.bits, at)
	}
}

func (s *bitStage) grow() {
	for need := (s.n + 7) / 8; len(s.bits) < need; {
		s.bits = append(s.bits, make([]byte, need-len(s.bits))...)
	}
}

// view is the bits staged so far; it is valid until the next change.
func (s *bitStage) view() bitmap.Bits { return bitmap.Bits{Data: s.bits, Len: s.n} }

// drop removes the first n bits.
func (s *bitStage) drop(n int) {
	rest := s.view().Slice(n, s.n)
	if s.bits == nil {
		s.n -= n
		return
	}
	left := bitStage{}
	left.append(rest)
	*s = left
}

// bitWriter writes a bit buffer: bits packed into bytes, least significant
// first, stored as blocks of unsigned 8-bit values without presence. The block
// map counts bytes (docs/format.md §5.2).
type bitWriter struct {
	bits bitStage
	out  bufferWriter
	enc  *numeric.Encoder[uint8]
}

func (w *bitWriter) add(c *nodeContext, b bitmap.Bits) error {
	w.bits.append(b)
	return w.flush(c, false)
}

// flush cuts blocks out of as many bytes of bits as a node stages values; the last time
// it cuts everything.
func (w *bitWriter) flush(c *nodeContext, final bool) error {
	if w.enc == nil {
		o := c.encoding
		o.NoPresence = true
		w.enc = numeric.NewEncoder[uint8](o)
	}
	done, flushBits := 0, 8*c.stage.values
	for w.bits.n-done >= flushBits || final && done < w.bits.n {
		end := min(done+flushBits, w.bits.n)
		if err := w.cut(c, w.bits.view().Slice(done, end)); err != nil {
			return err
		}
		done = end
	}
	if done > 0 {
		w.bits.drop(done)
	}
	return nil
}

// cut writes bits as blocks of bytes.
func (w *bitWriter) cut(c *nodeContext, bits bitmap.Bits) error {
	bytes := make([]byte, (bits.Len+7)/8)
	bits.CopyTo(bytes, 0)
	p := getSegment()
	defer segments.Put(p)
	if err := cutNumbers(c, w.enc, p, bytes, bitmap.All(len(bytes))); err != nil {
		return err
	}
	return w.out.addSegment(c, p)
}

// finish cuts the last blocks and appends the buffer.
func (w *bitWriter) finish(c *nodeContext, out []stripe.Buffer, kind shardpb.BufferKind) ([]stripe.Buffer, error) {
	if err := w.flush(c, true); err != nil {
		return out, err
	}
	return w.out.finish(c, out, &shardpb.EncodedBuffer{Kind: kind})
}

// presenceWriter writes the PRESENCE buffer of booleans and containers, which
// is left out if every slot is present. Its bits stay staged until the end: an
// eighth of a byte a slot, and nothing at all without nulls.
type presenceWriter struct {
	bits bitWriter
}

func (w *presenceWriter) add(valid bitmap.Bits) { w.bits.bits.append(valid) }

// finish appends the buffer, if the node needs one.
func (w *presenceWriter) finish(c *nodeContext, out []stripe.Buffer) ([]stripe.Buffer, error) {
	if w.bits.bits.clear == 0 {
		return out, nil
	}
	return w.bits.finish(c, out, shardpb.BufferKind_PRESENCE)
}
