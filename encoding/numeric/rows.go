package numeric

import (
	"fmt"

	"github.com/amudai/amudai-go/encoding/block"
	"github.com/amudai/amudai-go/encoding/fastlanes"
	"github.com/amudai/amudai-go/encoding/presence"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// DecodeRows is [DecodeBlock] for some rows of a block of n values, counted from
// its first: dst has room for just those, and as many bits are written to
// validity. Encodings with random access decode nothing else, or chunks of 1024
// where several rows lie in one; others decode the block to the Scratch.
func DecodeRows[T Value](dst []T, validity []byte, off int, blk []byte, n int, rows rowset.Set, o BlockOptions, s *Scratch) (nulls int, err error) {
	b, err := block.Parse(blk, o.Checksums)
	if err != nil {
		return 0, err
	}
	if nulls, err = decodeNulls(b.Presence, validity, off, n, rows, s); err != nil {
		return 0, fault.In(err, "presence", block.HeaderLen)
	}
	if err := DecodeTreeRows(dst, b.Values, n, rows, s); err != nil {
		return 0, fault.In(err, "values", int64(b.ValuesOffset))
	}
	return nulls, nil
}

// decodeNulls writes the validity of rows.
func decodeNulls(section []byte, validity []byte, off, n int, rows rowset.Set, s *Scratch) (nulls int, err error) {
	if len(section) == 0 {
		return presence.Decode(nil, int(rows.Len()), validity, off)
	}
	s.begin()
	all := take[byte](s, (n+7)/8)
	if _, err := presence.Decode(section, n, all, 0); err != nil {
		return 0, err
	}
	for r := range rows.Clip(0, int64(n)).Ranges() {
		part := bitmap.Bits{Data: all, Off: int(r.From), Len: int(r.Len())}
		if validity != nil {
			part.CopyTo(validity, off)
		}
		off += part.Len
		nulls += part.Nulls()
	}
	return nulls, nil
}

// DecodeTreeRows is [Decode] for some rows of a tree of n values.
func DecodeTreeRows[T Value](dst []T, tree []byte, n int, rows rowset.Set, s *Scratch) error {
	s.begin()
	if b := rows.Bounds(); rows.Len() != int64(len(dst)) || b.From < 0 || b.To > int64(n) {
		return fmt.Errorf("%d rows up to %d of %d values, room for %d", rows.Len(), b.To, n, len(dst))
	}
	t := Of[T]()
	switch t.Size() {
	case 1:
		return decodeRows(as[uint8](dst), tree, t, n, rows, s)
	case 2:
		return decodeRows(as[uint16](dst), tree, t, n, rows, s)
	case 4:
		return decodeRows(as[uint32](dst), tree, t, n, rows, s)
	}
	return decodeRows(as[uint64](dst), tree, t, n, rows, s)
}

func decodeRows[U word](dst []U, tree []byte, t Type, n int, rows rowset.Set, s *Scratch) error {
	v, err := parseView[U](tree, t, n, s)
	if err != nil || len(dst) == 0 {
		return err
	}
	if v.form == single {
		fill(dst, v.values[0])
		return nil
	}
	places := take[uint32](s, len(dst))
	rows.Positions(places)
	switch v.form {
	case runs:
		ends, err := runEnds(v.lengths, n)
		if err != nil {
			return err
		}
		pickRuns(dst, v.values, ends, places)
	case coded:
		codes := take[uint32](s, len(dst))
		if v.codes.all != nil {
			pick(codes, v.codes.all, places)
		} else {
			v.codes.chunks.pick(codes, places, s)
		}
		return gather(dst, codes, v.values)
	case inPacks:
		v.chunks.pick(dst, places, s)
	default:
		pick(dst, v.values, places)
	}
	return nil
}

// pick copies the values at ascending places.
func pick[U word](dst, src []U, places []uint32) {
	for i, p := range places {
		dst[i] = src[p]
	}
}

// pickRuns walks through the runs, the last of which ends behind the last place.
func pickRuns[U word](dst, values []U, ends, places []uint32) {
	k := 0
	for i, p := range places {
		if p >= ends[k] {
			k = runOf(ends, k, p)
		}
		dst[i] = values[k]
	}
}

// runOf is the first run from k on that ends behind a place. Several are compared at a
// time, since a branch on each would be guessed wrong.
func runOf(ends []uint32, k int, place uint32) int {
	const many = 64
	for k+many <= len(ends) && ends[k+many-1] <= place {
		k += many
	}
	for k+8 <= len(ends) {
		e := (*[8]uint32)(ends[k:])
		before := func(end uint32) int { return int(uint64(int64(end)-1-int64(place)) >> 63) } // 1 if it ends at the place or before
		n := before(e[0]) + before(e[1]) + before(e[2]) + before(e[3]) +
			before(e[4]) + before(e[5]) + before(e[6]) + before(e[7])
		if k += n; n < len(e) {
			return k
		}
	}
	for ends[k] <= place {
		k++
	}
	return k
}

// pick sets dst to the values at ascending places: a few out of each chunk, or chunks
// unpacked one after the other.
func (c *chunked[U]) pick(dst []U, places []uint32, s *Scratch) {
	const length = fastlanes.ChunkLen
	if chunks := places[len(places)-1]/length - places[0]/length + 1; len(places) < manyRows[U]()*int(chunks) {
		fastlanes.Pick(dst, c.data, places, c.base, c.w)
		c.patch(dst, places, s)
		c.finish(dst)
		return
	}
	tmp := (*[length]U)(take[U](s, length))
	next := 0 // the first exception behind the last chunk
	for rest := dst; len(places) > 0; {
		start := places[0] / length * length
		for next < len(c.positions) && c.positions[next] < start {
			next++
		}
		next = c.whole(tmp, c.base, int(start), next)
		n := pickChunk(rest, tmp, places, start)
		rest, places = rest[n:], places[n:]
	}
	c.finish(dst)
}

// pickChunk copies the values at those places that lie in a chunk, and counts them.
func pickChunk[U word](dst []U, chunk *[fastlanes.ChunkLen]U, places []uint32, start uint32) int {
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
func manyRows[U word]() int { return bitsOf[U]() / 2 }

// patch adds the exceptions to the values of ascending places. Most of either are not
// among the others: a bit for each place tells so without a search.
func (c *chunked[U]) patch(dst []U, places []uint32, s *Scratch) {
	if len(c.positions) == 0 {
		return
	}
	first := places[0] / 64
	wanted := take[uint64](s, int(places[len(places)-1]/64-first)+1)
	clear(wanted)
	for _, p := range places {
		wanted[p/64-first] |= 1 << (p % 64)
	}
	k := 0
	for i, p := range c.positions {
		word := int(p/64) - int(first)
		if uint(word) >= uint(len(wanted)) || wanted[word]>>(p%64)&1 == 0 {
			continue
		}
		for places[k] < p {
			k++
		}
		dst[k] += c.highs[i]
	}
}
