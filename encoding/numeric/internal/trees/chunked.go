package trees

import (
	"math/bits"

	"github.com/amudai/amudai-go/encoding/internal/fastlanes"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
)

// Chunked is a sequence of values that come out of FastLanes chunks, each by itself: value i is
// Add + Step * (packed value i), with the exceptions added before.
type Chunked[U word.Uint] struct {
	Packed[U]
	Add, Step U
	Positions []uint32 // of the exceptions, ascending
	Highs     []U      // what they add, shifted to its place
}

// Whole unpacks the chunk that begins at value at to dst, exceptions and all, but leaves Add and Step to the caller.
// next is the first exception that is not before at; the result is the first one behind the chunk.
func (c *Chunked[U]) Whole(dst *[fastlanes.ChunkLen]U, base U, at, next int) int {
	c.Unpack(dst, base, at)
	for ; next < len(c.Positions); next++ {
		p := int(c.Positions[next]) - at
		if p >= fastlanes.ChunkLen {
			break
		}
		dst[p] += c.Highs[next]
	}
	return next
}

// each calls a function with all of n values in order, chunk by chunk. Values are in dst if that is not nil.
func (c *Chunked[U]) each(dst []U, n int, s *Scratch, do func(some []U)) {
	var tmp *[fastlanes.ChunkLen]U
	for at, next := 0, 0; at < n; at += fastlanes.ChunkLen {
		size := min(n-at, fastlanes.ChunkLen)
		room := tmp
		switch {
		case dst != nil && size == fastlanes.ChunkLen:
			room = (*[fastlanes.ChunkLen]U)(dst[at:])
		case tmp == nil:
			tmp = (*[fastlanes.ChunkLen]U)(word.Take[U](&s.Mem, fastlanes.ChunkLen))
			room = tmp
		}
		next = c.Whole(room, c.Base, at, next)
		some := room[:size]
		if dst != nil && room == tmp {
			some = dst[at:][:copy(dst[at:], some)]
		}
		c.Finish(some)
		do(some)
	}
}

// Finish turns packed values into values, in place.
func (c *Chunked[U]) Finish(dst []U) {
	if c.Step != 1 || c.Add != 0 {
		Scale(dst, c.Add, c.Step)
	}
}

// Scale turns each value into add + step * value, in place. It is not inlined, where there are too few registers for its loop.
//
//go:noinline
func Scale[U word.Uint](dst []U, add, step U) {
	for i, q := range dst {
		dst[i] = add + q*step
	}
}

// Line is the value of a packed 0, plus flip. ok is false if there are exceptions, or if values plus flip do not grow
// with the packed values as far as those reach.
func (c *Chunked[U]) Line(flip U) (first U, ok bool) {
	first = c.Add + c.Step*c.Base + flip
	high, reach := bits.Mul64(uint64(c.Step), ^uint64(0)>>(64-c.W))
	return first, len(c.Positions) == 0 && c.Step != 0 && high == 0 && reach <= uint64(^U(0)-first)
}

// Pick sets dst to the values at ascending places: a few out of each chunk, or chunks unpacked one after the other.
func (c *Chunked[U]) Pick(dst []U, places []uint32, s *Scratch) {
	const length = fastlanes.ChunkLen
	if chunks := places[len(places)-1]/length - places[0]/length + 1; len(places) < manyRows[U]()*int(chunks) {
		fastlanes.Pick(dst, c.Data, places, c.Base, c.W)
		c.patch(dst, places)
		c.Finish(dst)
		return
	}
	tmp := (*[length]U)(word.Take[U](&s.Mem, length))
	next := 0 // the first exception behind the last chunk
	for rest := dst; len(places) > 0; {
		start := places[0] / length * length
		for next < len(c.Positions) && c.Positions[next] < start {
			next++
		}
		next = c.Whole(tmp, c.Base, int(start), next)
		n := pickChunk(rest, tmp, places, start)
		rest, places = rest[n:], places[n:]
	}
	c.Finish(dst)
}

// pickChunk copies the values at those places that lie in a chunk, and counts them.
func pickChunk[U word.Uint](dst []U, chunk *[fastlanes.ChunkLen]U, places []uint32, start uint32) int {
	dst = dst[:len(places)]
	for i, p := range places {
		at := p - start
		if at >= fastlanes.ChunkLen {
			return i
		}
		dst[i] = chunk[at]
	}
	return len(places)
}

// manyRows is how many rows of a chunk make it pay to unpack all of it.
func manyRows[U word.Uint]() int { return word.BitsOf[U]() / 2 }

// patch adds the exceptions to the values of ascending places.
func (c *Chunked[U]) patch(dst []U, places []uint32) {
	k := 0
	for i, p := range c.Positions {
		for k < len(places) && places[k] < p {
			k++
		}
		for ; k < len(places) && places[k] == p; k++ {
			dst[k] += c.Highs[i]
		}
	}
}
