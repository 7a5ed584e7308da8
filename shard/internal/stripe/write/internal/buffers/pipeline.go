package buffers

import (
	"sync"

	"github.com/amudai/amudai-go/encoding"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

// pipelineWidth is the number of segments of a buffer that can be encoded at the
// same time.
const pipelineWidth = 4

// encoders encode one sequence of blocks, segment by segment. Encoder i encodes the
// segments i, i+pipelineWidth, and so on. So what an encoder has seen before does not
// depend on the number of goroutines, and neither do the bytes.
type encoders[E interface{ Clone() E }] struct {
	all  [pipelineWidth]E
	made int // the others become clones of the first one, after its first segment
}

func newEncoders[E interface{ Clone() E }](first E) *encoders[E] {
	return &encoders[E]{all: [pipelineWidth]E{first}, made: 1}
}

// pipeline makes the blocks of one buffer. It encodes segments side by side if there is
// a worker pool, and collects them in their order.
type pipeline[E interface{ Clone() E }] struct {
	encoders  *encoders[E]
	submitted int                          // segments so far
	done      [pipelineWidth]chan struct{} // closed once the last segment of an encoder is collected

	mu        sync.Mutex              // of the following
	ready     [pipelineWidth]*segment // encoded, and not collected yet
	collected int                     // segments
	out       bufferWriter
	shared    bool // of a segment
	err       error
}

// segment is the encoded form of a part of a buffer.
type segment struct {
	bytes  []byte
	blocks []segmentBlock
	shared bool // a block uses the dictionary of the encoders
	err    error
}

type segmentBlock struct{ values, end int }

// closeBlock ends a block of n values.
func (s *segment) closeBlock(n int) { s.blocks = append(s.blocks, segmentBlock{n, len(s.bytes)}) }

// sizeOfValues is the size of the values in the blocks.
func (s *segment) sizeOfValues() (size int64, err error) {
	start := 0
	for _, b := range s.blocks {
		blk, err := encoding.ParseBlock(s.bytes[start:b.end], false)
		if err != nil {
			return 0, err
		}
		size, start = size+int64(len(blk.Values)), b.end
	}
	return size, nil
}

var segments = sync.Pool{New: func() any { return new(segment) }}

// getSegment is an empty segment; the caller puts it back.
func getSegment() *segment {
	s := segments.Get().(*segment)
	s.bytes, s.blocks, s.shared, s.err = s.bytes[:0], s.blocks[:0], false, nil
	return s
}

// encoder is the encoder of the next segment. It waits until that is idle.
func (p *pipeline[E]) encoder(c *Context) E {
	i := p.submitted % pipelineWidth
	p.wait(c, i)
	if i >= p.encoders.made {
		p.wait(c, 0)
		p.encoders.all[i] = p.encoders.all[0].Clone()
		p.encoders.made++
	}
	return p.encoders.all[i]
}

// wait waits until the last segment of encoder i, and all before it, are collected.
func (p *pipeline[E]) wait(c *Context, i int) {
	done := p.done[i]
	if done == nil {
		return
	}
	select {
	case <-done:
	default:
		c.Pool.yield(func() { <-done })
	}
}

// add adds the next segment, which work writes: at once, or later in a worker, which
// must then own what work reads. An error may be that of a segment before.
func (p *pipeline[E]) add(c *Context, atOnce bool, work func(e E, out *segment) error) error {
	e, number := p.encoder(c), p.submitted
	p.submitted++
	if c.Pool == nil {
		p.encode(c, number, e, work)
		return p.err
	}
	p.done[number%pipelineWidth] = make(chan struct{})
	if atOnce {
		p.encode(c, number, e, work)
	} else {
		c.Pool.submit(func() { p.encode(c, number, e, work) })
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// encode writes a segment and collects the results that are ready.
func (p *pipeline[E]) encode(c *Context, number int, e E, work func(e E, out *segment) error) {
	s := getSegment()
	s.err = p.try(e, s, work)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready[number%pipelineWidth] = s
	for i := p.collected % pipelineWidth; p.ready[i] != nil; i = p.collected % pipelineWidth {
		p.collect(c, p.ready[i])
		p.ready[i] = nil
		p.collected++
		if p.done[i] != nil {
			close(p.done[i])
		}
	}
}

// try runs work, whose panic is an error.
func (p *pipeline[E]) try(e E, s *segment, work func(e E, out *segment) error) (err error) {
	defer fault.RecoverInternal(&err)
	return work(e, s)
}

func (p *pipeline[E]) collect(c *Context, s *segment) {
	if p.err == nil {
		p.err = s.err
	}
	if p.err == nil {
		p.err = p.append(c, s)
	}
	segments.Put(s)
}

// append adds a segment to the buffer; a panic is an error.
func (p *pipeline[E]) append(c *Context, s *segment) (err error) {
	defer fault.RecoverInternal(&err)
	p.shared = p.shared || s.shared
	return p.out.addSegment(c, s)
}

// drain waits for all segments.
func (p *pipeline[E]) drain(c *Context) {
	if p.submitted > 0 {
		p.wait(c, (p.submitted-1)%pipelineWidth)
	}
}

// Finish closes the buffer, the first of its node.
func (p *pipeline[E]) Finish(c *Context, desc *shardpb.EncodedBuffer) ([]stripe.Buffer, error) {
	p.drain(c)
	if p.err != nil {
		return nil, p.err
	}
	return p.out.finish(c, nil, desc)
}

// Release drops the collected results, once no segment is being encoded.
func (p *pipeline[E]) Release(c *Context) {
	p.drain(c)
	p.out.Release()
}
