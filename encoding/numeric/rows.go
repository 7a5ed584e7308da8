package numeric

import (
	"fmt"

	"github.com/amudai/amudai-go/encoding/block"
	"github.com/amudai/amudai-go/encoding/fastlanes"
	"github.com/amudai/amudai-go/encoding/presence"
	"github.com/amudai/amudai-go/fault"
	"github.com/amudai/amudai-go/internal/bitmap"
	"github.com/amudai/amudai-go/rowset"
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
	if nulls, err = decodeNulls(b.Presence, validity, off, n, len(dst), rows, s); err != nil {
		return 0, fault.In(err, "presence", block.HeaderLen)
	}
	if err := DecodeTreeRows(dst, b.Values, n, rows, s); err != nil {
		return 0, fault.In(err, "values", int64(b.ValuesOffset))
	}
	return nulls, nil
}

// decodeNulls writes the validity of count rows.
func decodeNulls(section []byte, validity []byte, off, n, count int, rows rowset.Set, s *Scratch) (nulls int, err error) {
	if len(section) == 0 {
		return presence.Decode(nil, count, validity, off)
	}
	s.begin()
	all := take[byte](s, (n+7)/8)
	if _, err := presence.Decode(section, n, all, 0); err != nil {
		return 0, err
	}
	for _, r := range rows.Clip(0, int64(n)) {
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
	if want := rows.Len(); want != int64(len(dst)) || want > 0 && (rows[0].From < 0 || rows[len(rows)-1].To > int64(n)) {
		return fmt.Errorf("%d rows of %d values, room for %d", want, n, len(dst))
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
	switch v.form {
	case single:
		fill(dst, v.values[0])
	case runs:
		ends, err := runEnds(v.lengths, n)
		if err != nil {
			return err
		}
		pickRuns(dst, v.values, ends, rows)
	case coded:
		codes := take[uint32](s, len(dst))
		if v.codes.all != nil {
			rowset.Pick(codes, v.codes.all, rows)
		} else {
			v.codes.chunks.pick(codes, rows, s)
		}
		return gather(dst, codes, v.values)
	case inPacks:
		v.chunks.pick(dst, rows, s)
	default:
		rowset.Pick(dst, v.values, rows)
	}
	return nil
}

// pickRuns walks through the runs, the last of which ends behind the last row.
func pickRuns[U word](dst, values []U, ends []uint32, rows rowset.Set) {
	k := 0
	for _, r := range rows {
		for from := r.From; from < r.To; {
			k = runOf(ends, k, from)
			n := min(r.To, int64(ends[k])) - from
			if n == 1 {
				dst[0] = values[k]
			} else {
				fill(dst[:n], values[k])
			}
			dst = dst[n:]
			from += n
		}
	}
}

// runOf is the first run from k on that ends behind a row. Several are compared at a
// time, since a branch on each would be guessed wrong.
func runOf(ends []uint32, k int, row int64) int {
	const many = 64
	for k+many <= len(ends) && int64(ends[k+many-1]) <= row {
		k += many
	}
	for k+8 <= len(ends) {
		e := (*[8]uint32)(ends[k:])
		before := func(end uint32) int { return int(uint64(int64(end)-1-row) >> 63) } // 1 if it ends at the row or before
		n := before(e[0]) + before(e[1]) + before(e[2]) + before(e[3]) +
			before(e[4]) + before(e[5]) + before(e[6]) + before(e[7])
		if k += n; n < len(e) {
			return k
		}
	}
	for int64(ends[k]) <= row {
		k++
	}
	return k
}

// pick sets dst to the values of rows: a few out of each chunk, or chunks unpacked
// one after the other.
func (c *chunked[U]) pick(dst []U, rows rowset.Set, s *Scratch) {
	const length = fastlanes.ChunkLen
	bounds := rows.Bounds()
	if chunks := (bounds.To-1)/length - bounds.From/length + 1; int64(len(dst)) < manyRows[U]()*chunks {
		places := take[uint32](s, len(dst))
		putPlaces(places, rows)
		fastlanes.Pick(dst, c.data, places, c.base, c.w)
		c.patch(dst, places, s)
		c.finish(dst)
		return
	}
	tmp := (*[length]U)(take[U](s, length))
	rest, end, next := dst, int64(0), 0 // next is the first exception behind the last chunk
	for len(rows) > 0 {
		start := max(rows[0].From, end) / length * length
		end = start + length
		inside, done, n := cutRows(rows, start, end)
		for next < len(c.positions) && int64(c.positions[next]) < start {
			next++
		}
		next = c.whole(tmp, c.base, int(start), next)
		copyRows(rest, tmp, inside, start)
		rest, rows = rest[n:], rows[done:]
	}
	c.finish(dst)
}

// manyRows is how many rows of a chunk make it pay to unpack all of it.
func manyRows[U word]() int64 { return int64(bitsOf[U]() / 2) }

// putPlaces sets dst to the rows.
func putPlaces(dst []uint32, rows rowset.Set) {
	at := 0
	for _, r := range rows {
		for row := r.From; row < r.To; row++ {
			dst[at] = uint32(row)
			at++
		}
	}
}

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

// cutRows gives the ranges of a set that lie in a chunk, all or in part: how many
// of them end there, and the number of their rows in it.
func cutRows(rows rowset.Set, start, end int64) (inside rowset.Set, done, n int) {
	for i, r := range rows {
		if r.From >= end {
			return rows[:i], i, n
		}
		n += int(min(r.To, end) - max(r.From, start))
		if r.To > end {
			return rows[:i+1], i, n
		}
	}
	return rows, len(rows), n
}

// copyRows copies the values of rows out of a chunk.
func copyRows[U word](dst []U, src *[fastlanes.ChunkLen]U, rows rowset.Set, start int64) {
	at := 0
	for _, r := range rows {
		from, to := max(r.From-start, 0), min(r.To-start, fastlanes.ChunkLen)
		if to-from == 1 {
			dst[at] = src[from]
			at++
			continue
		}
		at += copy(dst[at:], src[from:to])
	}
}
