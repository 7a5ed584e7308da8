package buffers

import (
	"sort"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

// ByteBlocks stages byte strings and cuts them into blocks. It does so after
// every so many values, and before that after so many bytes (see [StageSize]) or what the
// longest block has, so that blocks do not depend on how values came.
type ByteBlocks struct {
	Pipeline pipeline[*bytestring.Encoder]
	Staged   *byteStage // nil if there is nothing
	fixed    int
	Unequal  bool    // most of the values of a brief column are distinct
	free     bool    // blocks end where encoders choose, even in a packed group
	at       int64   // values in blocks, or given to be cut
	Count    int     // values since the last multiple of the stage's size
	Bytes    int     // bytes of the current segment so far
	sliced   *sliced // what is added goes there, if it is not nil
}

// NewByteBlocks makes the blocks of a node of byte strings, all of fixed bytes unless that is 0.
func NewByteBlocks(c *Context, id uint32, fixed int) ByteBlocks {
	return ByteBlocks{Pipeline: pipeline[*bytestring.Encoder]{encoders: bytesEncoders(c, id, fixed)}, fixed: fixed}
}

// OffsetsApart has the offsets of the values written to a buffer of their own.
func (p *ByteBlocks) OffsetsApart(c *Context, id uint32) { p.sliced = newSliced(c, id) }

// Room is how many of v's values belong to the current segment, at least one, and
// whether they complete it. A segment ends with the value that reaches a bound.
func (p *ByteBlocks) Room(c *Context, v bytestring.Values) (n int, full bool) {
	n = min(v.N, c.Stage.Values-p.Count)
	left := p.most(c) - p.Bytes
	if v.Fixed > 0 {
		n = min(n, (left+v.Fixed-1)/v.Fixed)
	} else {
		reach := v.Offsets[0] + int64(left)
		n = min(n, 1+sort.Search(n, func(i int) bool { return v.Offsets[i+1] >= reach }))
	}
	return n, p.Count+n == c.Stage.Values || p.Bytes+len(v.Slice(0, n).Bytes()) >= p.most(c)
}

// most is how many bytes of values make a segment.
func (p *ByteBlocks) most(c *Context) int {
	return max(c.Stage.bytes, p.Pipeline.encoder(c).Longest())
}

// Skip counts values into the current segment without staging them.
func (p *ByteBlocks) Skip(c *Context, v bytestring.Values) (full bool) {
	p.Count += v.N
	p.Bytes += len(v.Bytes())
	if full = p.Count >= c.Stage.Values || p.Bytes >= p.most(c); full {
		p.Count, p.Bytes = p.Count%c.Stage.Values, 0
	}
	return full
}

// AddAll adds values a segment at a time.
func (p *ByteBlocks) AddAll(c *Context, v bytestring.Values, valid bitmap.Bits) error {
	for v.N > 0 {
		n, _ := p.Room(c, v)
		if err := p.Add(c, v.Slice(0, n), valid.Slice(0, n)); err != nil {
			return err
		}
		v, valid = v.Slice(n, v.N), valid.Slice(n, v.N)
	}
	return nil
}

// Add stages values, which belong to one segment, and cuts blocks at its end. A
// segment that comes whole is cut where it is, unless others do it, and only what is
// left is staged.
func (p *ByteBlocks) Add(c *Context, v bytestring.Values, valid bitmap.Bits) error {
	full := p.Skip(c, v)
	if p.sliced != nil {
		return p.sliced.add(c, v, valid)
	}
	if full && p.Staged == nil && c.Pool == nil {
		return p.cut(c, v, valid, nil, false, nil)
	}
	p.Stage(v, valid)
	if full {
		return p.cutStaged(c, false)
	}
	return nil
}

// Stage copies values to those that wait.
func (p *ByteBlocks) Stage(v bytestring.Values, valid bitmap.Bits) {
	if v.N == 0 {
		return
	}
	if p.Staged == nil {
		p.Staged = getByteStage(p.fixed)
	}
	p.Staged.add(v, valid)
}

// FlushAtOnce cuts blocks out of the staged values now, the first of all. It returns what was staged, which the caller puts back, and about the size that
// its values have in blocks.
func (p *ByteBlocks) FlushAtOnce(c *Context) (s *byteStage, size int64, err error) {
	s = p.Staged
	p.Staged = nil
	err = p.cut(c, s.Values, s.Valid.View(), nil, false, &size)
	return s, size * int64(s.Values.N) / max(p.at, 1), err
}

// FlushStaged cuts blocks out of the staged values.
func (p *ByteBlocks) FlushStaged(c *Context) error { return p.cutStaged(c, false) }

// cutStaged cuts blocks out of the staged values.
func (p *ByteBlocks) cutStaged(c *Context, final bool) error {
	s := p.Staged
	if s == nil {
		return nil
	}
	p.Staged = nil
	return p.cut(c, s.Values, s.Valid.View(), s, final, nil)
}

// cut has those values that fill blocks, at the end all, written, and stages the
// rest, which may still grow into a larger block. The stage that the values are in,
// if any, is given back. The size of the values in blocks, unless it is nil, is measured at once.
func (p *ByteBlocks) cut(c *Context, v bytestring.Values, valid bitmap.Bits, in *byteStage, final bool, size *int64) error {
	e := p.Pipeline.encoder(c)
	e.Brief(final && p.at == 0 && len(v.Bytes()) <= bytestring.BriefBytes, p.Unequal)
	lens, done := p.plan(c, e, v, valid, final)
	p.Stage(v.Slice(done, v.N), valid.Slice(done, v.N))
	if done == 0 && !final && c.Encoding.Features != 0 { // in edition reference, the encoder loses its turn
		in.Put()
		return nil
	}
	p.at += int64(done)
	return p.Pipeline.add(c, final || size != nil, func(e *bytestring.Encoder, out *segment) error {
		defer in.Put()
		err := cutBytes(c, e, out, v, valid, lens)
		if size != nil && err == nil {
			*size, err = out.sizeOfValues()
		}
		return err
	})
}

// plan gives the lengths of blocks, and their sum.
func (p *ByteBlocks) plan(c *Context, e *bytestring.Encoder, v bytestring.Values, valid bitmap.Bits, final bool) (lens []int, done int) {
	for done < v.N {
		at, rest := p.at+int64(done), v.Slice(done, v.N)
		n := min(c.Cut, rest.N)
		whole := n == c.Cut
		if p.free = p.free || n == 0 || len(rest.Slice(0, n).Bytes()) > mostMember; p.free {
			n = e.Plan(at, rest, valid.Slice(done, v.N))
			whole = e.Whole(at, n)
		}
		if n >= rest.N && !final && !whole {
			break
		}
		lens = append(lens, n)
		done += n
	}
	return lens, done
}

// cutBytes writes values as blocks of given lengths.
func cutBytes(c *Context, e *bytestring.Encoder, out *segment, v bytestring.Values, valid bitmap.Bits, lens []int) (err error) {
	at := 0
	for _, n := range lens {
		start := len(out.bytes)
		if out.bytes, err = e.AppendBlock(out.bytes, v.Slice(at, at+n), valid.Slice(at, at+n)); err != nil {
			return err
		}
		out.shared = out.shared || bytestring.SharesDictionary(out.bytes[start:])
		c.Features.addBlock(out.bytes[start:], func(tree []byte) encoding.Tree { return bytestring.Describe(tree, n, v.Fixed) })
		out.closeBlock(n)
		at += n
	}
	return nil
}

// Finish cuts the last blocks and completes the buffer.
func (p *ByteBlocks) Finish(c *Context) ([]stripe.Buffer, error) {
	if p.sliced != nil {
		return p.sliced.finish(c, p.Staged)
	}
	if err := p.cutStaged(c, true); err != nil {
		return nil, err
	}
	all, err := p.Pipeline.Finish(c, &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_DATA, EmbeddedPresence: true, EmbeddedOffsets: true})
	if err != nil || !p.Pipeline.shared {
		return all, err
	}
	id := uint32(bytestring.DictionaryID)
	return AppendWhole(c, all, &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_OPAQUE_DICTIONARY, BufferId: &id}, p.Pipeline.encoders.all[0].AppendDictionary(nil))
}

// Release drops what was written.
func (p *ByteBlocks) Release(c *Context) {
	p.Pipeline.Release(c)
	p.Staged.Put()
	p.Staged = nil
	if p.sliced != nil {
		p.sliced.release(c)
	}
}
