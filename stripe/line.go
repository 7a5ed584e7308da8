package stripe

import (
	"sync"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
)

// lanes is how many pieces of a buffer can be encoded at the same time.
const lanes = 4

// encoders are those of one sequence of blocks, which is encoded in pieces: that
// of lane i takes the pieces i, i+lanes, and so on. So what an encoder has seen
// before does not depend on how many are at work, and neither do the bytes.
type encoders[E interface{ Clone() E }] struct {
	lane [lanes]E
	made int // the others become clones of the first, after its first piece
}

func newEncoders[E interface{ Clone() E }](first E) *encoders[E] {
	return &encoders[E]{lane: [lanes]E{first}, made: 1}
}

// line makes the blocks of one buffer, a piece at a time, side by side if there is
// a crew, and collects them in their order.
type line[E interface{ Clone() E }] struct {
	encoders *encoders[E]
	given    int                  // pieces so far
	free     [lanes]chan struct{} // closed once the lane's piece is collected

	mu        sync.Mutex // of the following
	ready     [lanes]*piece
	collected int // pieces
	out       bufferWriter
	err       error
}

// piece is the encoded form of a piece of a buffer.
type piece struct {
	bytes  []byte
	blocks []pieceBlock
	err    error
}

type pieceBlock struct{ values, end int }

// closeBlock notes that a block of n values ends here.
func (p *piece) closeBlock(n int) { p.blocks = append(p.blocks, pieceBlock{n, len(p.bytes)}) }

var pieces = sync.Pool{New: func() any { return new(piece) }}

// takePiece is an empty piece; the caller puts it back.
func takePiece() *piece {
	p := pieces.Get().(*piece)
	p.bytes, p.blocks = p.bytes[:0], p.blocks[:0]
	return p
}

// encoder is that of the next piece. It waits until the encoder has nothing to do.
func (l *line[E]) encoder(c *nodeContext) E {
	lane := l.given % lanes
	l.wait(c, lane)
	if lane >= l.encoders.made {
		l.wait(c, 0)
		l.encoders.lane[lane] = l.encoders.lane[0].Clone()
		l.encoders.made++
	}
	return l.encoders.lane[lane]
}

// wait waits until the piece of a lane, and all before it, are collected.
func (l *line[E]) wait(c *nodeContext, lane int) {
	done := l.free[lane]
	if done == nil {
		return
	}
	select {
	case <-done:
	default:
		c.crew.pause(func() { <-done })
	}
}

// add adds the next piece, which work writes: now, or later by the crew, which
// must then own what work reads. An error may be that of a piece before.
func (l *line[E]) add(c *nodeContext, now bool, work func(e E, out *piece) error) error {
	e, number := l.encoder(c), l.given
	l.given++
	if c.crew == nil {
		l.encode(c, number, e, work)
		return l.err
	}
	l.free[number%lanes] = make(chan struct{})
	if now {
		l.encode(c, number, e, work)
	} else {
		c.crew.start(func() { l.encode(c, number, e, work) })
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// encode writes a piece and collects what is ready.
func (l *line[E]) encode(c *nodeContext, number int, e E, work func(e E, out *piece) error) {
	p := takePiece()
	p.err = work(e, p)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ready[number%lanes] = p
	for lane := l.collected % lanes; l.ready[lane] != nil; lane = l.collected % lanes {
		l.collect(c, l.ready[lane])
		l.ready[lane] = nil
		l.collected++
		if l.free[lane] != nil {
			close(l.free[lane])
		}
	}
}

func (l *line[E]) collect(c *nodeContext, p *piece) {
	if l.err == nil {
		l.err = p.err
	}
	if l.err == nil {
		l.err = l.out.addPiece(c, p)
	}
	pieces.Put(p)
}

// drain waits for all pieces.
func (l *line[E]) drain(c *nodeContext) {
	if l.given > 0 {
		l.wait(c, (l.given-1)%lanes)
	}
}

// finish closes the buffer.
func (l *line[E]) finish(c *nodeContext, desc *shardpb.EncodedBuffer) (Buffer, error) {
	l.drain(c)
	if l.err != nil {
		return Buffer{}, l.err
	}
	return l.out.finish(c, desc)
}

// release drops what was collected, once nothing is worked on.
func (l *line[E]) release(c *nodeContext) {
	l.drain(c)
	l.out.release()
}
