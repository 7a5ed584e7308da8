package write

import (
	"sort"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

// bytesBlocks stages byte strings and cuts them into blocks. It does so after
// every so many values, and before that after so many bytes (see stageSize) or what the
// longest block has, so that blocks do not depend on how values came.
type bytesBlocks struct {
	pipeline pipeline[*bytestring.Encoder]
	staged   *byteStage // nil if there is nothing
	fixed    int
	unequal  bool  // most of the values of a brief column are distinct
	at       int64 // values in blocks, or given to be cut
	count    int   // values since the last multiple of the stage's size
	bytes    int   // bytes of the current segment so far
}

func newBytesBlocks(c *nodeContext, id uint32, fixed int) bytesBlocks {
	return bytesBlocks{pipeline: pipeline[*bytestring.Encoder]{encoders: bytesEncoders(c, id, fixed)}, fixed: fixed}
}

// room is how many of v's values belong to the current segment, at least one, and
// whether they complete it. A segment ends with the value that reaches a bound.
func (p *bytesBlocks) room(c *nodeContext, v bytestring.Values) (n int, full bool) {
	n = min(v.N, c.stage.values-p.count)
	left := p.most(c) - p.bytes
	if v.Fixed > 0 {
		n = min(n, (left+v.Fixed-1)/v.Fixed)
	} else {
		reach := v.Offsets[0] + int64(left)
		n = min(n, 1+sort.Search(n, func(i int) bool { return v.Offsets[i+1] >= reach }))
	}
	return n, p.count+n == c.stage.values || p.bytes+len(v.Slice(0, n).Bytes()) >= p.most(c)
}

// most is how many bytes of values make a segment.
func (p *bytesBlocks) most(c *nodeContext) int {
	return max(c.stage.bytes, p.pipeline.encoder(c).Longest())
}

// skip counts values into the current segment without staging them.
func (p *bytesBlocks) skip(c *nodeContext, v bytestring.Values) (full bool) {
	p.count += v.N
	p.bytes += len(v.Bytes())
	if full = p.count >= c.stage.values || p.bytes >= p.most(c); full {
		p.count, p.bytes = p.count%c.stage.values, 0
	}
	return full
}

// addAll adds values a segment at a time.
func (p *bytesBlocks) addAll(c *nodeContext, v bytestring.Values, valid bitmap.Bits) error {
	for v.N > 0 {
		n, _ := p.room(c, v)
		if err := p.add(c, v.Slice(0, n), valid.Slice(0, n)); err != nil {
			return err
		}
		v, valid = v.Slice(n, v.N), valid.Slice(n, v.N)
	}
	return nil
}

// add stages values, which belong to one segment, and cuts blocks at its end. A
// segment that comes whole is cut where it is, unless others do it, and only what is
// left is staged.
func (p *bytesBlocks) add(c *nodeContext, v bytestring.Values, valid bitmap.Bits) error {
	full := p.skip(c, v)
	if full && p.staged == nil && c.pool == nil {
		return p.cut(c, v, valid, nil, false)
	}
	p.stage(v, valid)
	if full {
		return p.cutStaged(c, false)
	}
	return nil
}

func (p *bytesBlocks) stage(v bytestring.Values, valid bitmap.Bits) {
	if v.N == 0 {
		return
	}
	if p.staged == nil {
		p.staged = getByteStage(p.fixed)
	}
	p.staged.add(v, valid)
}

// cutStaged cuts blocks out of the staged values.
func (p *bytesBlocks) cutStaged(c *nodeContext, final bool) error {
	s := p.staged
	if s == nil {
		return nil
	}
	p.staged = nil
	return p.cut(c, s.values, s.valid.view(), s, final)
}

// cut has those values that fill blocks, at the end all, written, and stages the
// rest, which may still grow into a larger block. The stage that the values are in,
// if any, is given back.
func (p *bytesBlocks) cut(c *nodeContext, v bytestring.Values, valid bitmap.Bits, in *byteStage, final bool) error {
	e := p.pipeline.encoder(c)
	e.Brief(final && p.at == 0 && len(v.Bytes()) <= bytestring.BriefBytes, p.unequal)
	lens, done := p.plan(e, v, valid, final)
	p.stage(v.Slice(done, v.N), valid.Slice(done, v.N))
	if done == 0 && !final && c.encoding.Features != 0 { // in edition reference, the encoder loses its turn
		in.put()
		return nil
	}
	p.at += int64(done)
	return p.pipeline.add(c, final, func(e *bytestring.Encoder, out *segment) error {
		defer in.put()
		return cutBytes(c, e, out, v, valid, lens)
	})
}

// plan gives the lengths of blocks, and their sum.
func (p *bytesBlocks) plan(e *bytestring.Encoder, v bytestring.Values, valid bitmap.Bits, final bool) (lens []int, done int) {
	for done < v.N {
		at, rest := p.at+int64(done), v.Slice(done, v.N)
		n := e.Plan(at, rest, valid.Slice(done, v.N))
		if n >= rest.N && !final && !e.Whole(at, n) {
			break
		}
		lens = append(lens, n)
		done += n
	}
	return lens, done
}

// cutBytes writes values as blocks of given lengths.
func cutBytes(c *nodeContext, e *bytestring.Encoder, out *segment, v bytestring.Values, valid bitmap.Bits, lens []int) (err error) {
	at := 0
	for _, n := range lens {
		start := len(out.bytes)
		if out.bytes, err = e.AppendBlock(out.bytes, v.Slice(at, at+n), valid.Slice(at, at+n)); err != nil {
			return err
		}
		c.features.addBlock(out.bytes[start:], func(tree []byte) encoding.Tree { return bytestring.Describe(tree, n, v.Fixed) })
		out.closeBlock(n)
		at += n
	}
	return nil
}

func (p *bytesBlocks) finish(c *nodeContext) ([]stripe.Buffer, error) {
	if err := p.cutStaged(c, true); err != nil {
		return nil, err
	}
	return p.pipeline.finish(c, &shardpb.EncodedBuffer{Kind: shardpb.BufferKind_DATA, EmbeddedPresence: true, EmbeddedOffsets: true})
}
