package numeric

import (
	"fmt"
	"slices"

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
		pickRuns(dst, v.values, v.lengths, rows)
	case coded:
		codes := take[uint32](s, len(dst))
		if v.codes.all != nil {
			pickAll(codes, v.codes.all, rows)
		} else {
			v.codes.chunks.pick(codes, rows, s)
		}
		return gather(dst, codes, v.values)
	case inPacks:
		v.chunks.pick(dst, rows, s)
	default:
		pickAll(dst, v.values, rows)
	}
	return nil
}

func pickAll[U word](dst, src []U, rows rowset.Set) {
	for _, r := range rows {
		dst = dst[copy(dst, src[r.From:r.To]):]
	}
}

// pickRuns walks through the runs, whose lengths reach to the last row.
func pickRuns[U word](dst, values []U, lengths []uint32, rows rowset.Set) {
	k, end := 0, int64(lengths[0]) // the run, and the row behind it
	for _, r := range rows {
		for from := r.From; from < r.To; {
			for end <= from {
				k++
				end += int64(lengths[k])
			}
			n := min(r.To, end) - from
			fill(dst[:n], values[k])
			dst = dst[n:]
			from += n
		}
	}
}

// manyRows is how many rows of a chunk make it pay to unpack all of it.
const manyRows = 40

// pick sets dst to the values of rows.
func (c *chunked[U]) pick(dst []U, rows rowset.Set, s *Scratch) {
	const length = fastlanes.ChunkLen
	tmp := (*[length]U)(take[U](s, length))
	all := dst
	have, looked := int64(-1), int64(-1) // the chunk in tmp, and the last one that was thought of
	for i, r := range rows {
		for from := r.From; from < r.To; {
			chunk := from / length
			if chunk != looked {
				looked = chunk
				if rowsBefore((chunk+1)*length, from, rows[i:]) >= manyRows {
					first, _ := slices.BinarySearch(c.positions, uint32(chunk*length))
					c.whole(tmp, c.base, int(chunk*length), first)
					have = chunk
				}
			}
			to := min(r.To, (chunk+1)*length)
			if have == chunk {
				dst = dst[copy(dst, tmp[from-chunk*length:to-chunk*length]):]
			} else {
				dst = c.pickFew(dst, int(from), int(to))
			}
			from = to
		}
	}
	c.finish(all)
}

// rowsBefore counts the rows of a set from one on up to an end, up to manyRows.
func rowsBefore(end, from int64, rows rowset.Set) (n int64) {
	for _, r := range rows {
		if r.From >= end || n >= manyRows {
			break
		}
		n += min(r.To, end) - max(r.From, from)
	}
	return n
}

// pickFew picks values one by one, of one chunk, and returns the rest of dst.
func (c *chunked[U]) pickFew(dst []U, from, to int) []U {
	size := fastlanes.PackedLen(c.w)
	src := c.data[from/fastlanes.ChunkLen*size:][:size]
	for i := range to - from {
		dst[i] = fastlanes.At(src, (from+i)%fastlanes.ChunkLen, c.base, c.w)
	}
	if len(c.positions) > 0 {
		k, _ := slices.BinarySearch(c.positions, uint32(from))
		for ; k < len(c.positions) && int(c.positions[k]) < to; k++ {
			dst[int(c.positions[k])-from] += c.highs[k]
		}
	}
	return dst[to-from:]
}
