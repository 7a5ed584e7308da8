package buffers

import (
	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

// BitStage collects bits, all set as long as only set bits came: the usual
// column without nulls costs a counter.
type BitStage struct {
	bits  []byte // nil while no bit was clear
	n     int
	clear int
}

// Append adds bits behind those staged.
func (s *BitStage) Append(b bitmap.Bits) {
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

func (s *BitStage) grow() {
	for need := (s.n + 7) / 8; len(s.bits) < need; {
		s.bits = append(s.bits, make([]byte, need-len(s.bits))...)
	}
}

// View is the bits staged so far; it is valid until the next change.
func (s *BitStage) View() bitmap.Bits { return bitmap.Bits{Data: s.bits, Len: s.n} }

// drop removes the first n bits.
func (s *BitStage) drop(n int) {
	rest := s.View().Slice(n, s.n)
	if s.bits == nil {
		s.n -= n
		return
	}
	left := BitStage{}
	left.Append(rest)
	*s = left
}

// BitWriter writes a bit buffer: bits packed into bytes, least significant
// first, stored as blocks of unsigned 8-bit values without presence. The block
// map counts bytes (docs/format.md §5.2).
type BitWriter struct {
	bits BitStage
	out  bufferWriter
	enc  *numeric.Encoder[uint8]
	own  bool // they are values of the node, which may be a member of a packed group
}

// NewValueBits is the writer of the values of a node.
func NewValueBits() BitWriter { return BitWriter{own: true} }

// Add appends bits, and cuts blocks if enough are staged.
func (w *BitWriter) Add(c *Context, b bitmap.Bits) error {
	w.bits.Append(b)
	return w.flush(c, false)
}

// flush cuts blocks out of as many bytes of bits as a node stages values; the last time
// it cuts everything.
func (w *BitWriter) flush(c *Context, final bool) error {
	if w.enc == nil {
		o := c.Encoding
		o.NoPresence = true
		w.enc = numeric.NewEncoder[uint8](o)
	}
	done, flushBits := 0, 8*c.Stage.Values
	for w.bits.n-done >= flushBits || final && done < w.bits.n {
		end := min(done+flushBits, w.bits.n)
		if err := w.cut(c, w.bits.View().Slice(done, end)); err != nil {
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
func (w *BitWriter) cut(c *Context, bits bitmap.Bits) error {
	bytes := make([]byte, (bits.Len+7)/8)
	bits.CopyTo(bytes, 0)
	p := getSegment()
	defer segments.Put(p)
	n := 0
	if w.own {
		n = c.Cut / 8
	}
	if err := cutNumbers(c, w.enc, p, bytes, bitmap.All(len(bytes)), n); err != nil {
		return err
	}
	return w.out.addSegment(c, p)
}

// Release drops what is staged.
func (w *BitWriter) Release() { w.out.Release() }

// Finish cuts the last blocks and appends the buffer.
func (w *BitWriter) Finish(c *Context, out []stripe.Buffer, kind shardpb.BufferKind) ([]stripe.Buffer, error) {
	if err := w.flush(c, true); err != nil {
		return out, err
	}
	return w.out.finish(c, out, &shardpb.EncodedBuffer{Kind: kind})
}

// PresenceWriter writes the PRESENCE buffer of booleans and containers, which
// is left out if every slot is present. Its bits stay staged until the end: an
// eighth of a byte a slot, and nothing at all without nulls.
type PresenceWriter struct{ bits BitWriter }

// Add appends the bits of some slots.
func (w *PresenceWriter) Add(valid bitmap.Bits) { w.bits.bits.Append(valid) }

// Nulls reports whether a slot is null.
func (w *PresenceWriter) Nulls() bool { return w.bits.bits.clear > 0 }

// Release drops what is staged.
func (w *PresenceWriter) Release() { w.bits.Release() }

// Finish appends the buffer, if the node needs one.
func (w *PresenceWriter) Finish(c *Context, out []stripe.Buffer) ([]stripe.Buffer, error) {
	if !w.Nulls() {
		return out, nil
	}
	return w.bits.Finish(c, out, shardpb.BufferKind_PRESENCE)
}
