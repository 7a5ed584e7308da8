package numeric

import (
	"fmt"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric/internal/trees"
	"github.com/amudai/amudai-go/encoding/numeric/internal/word"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// DecodeRows is [DecodeBlock] for some rows of a block of n values, counted from its first. dst has exactly their
// number of values, and validity gets as many bits. Encodings with random access decode only these values, or chunks
// of 1024 with several of them. Other encodings decode the block to the Scratch.
func DecodeRows[T Value](dst []T, validity []byte, off int, blk []byte, n int, rows encoding.Rows, o BlockOptions, s *Scratch) (nulls int, err error) {
	b, err := encoding.ParseBlock(blk, o.Checksums)
	if err != nil {
		return 0, err
	}
	if nulls, err = decodeNulls(b.Presence, validity, off, n, rows, s); err != nil {
		return 0, fault.In(err, "presence", encoding.BlockHeaderLen)
	}
	if err := DecodeTreeRows(dst, b.Values, n, rows, s); err != nil {
		return 0, fault.In(err, "values", int64(b.ValuesOffset))
	}
	return nulls, nil
}

// decodeNulls writes the validity of rows.
func decodeNulls(section []byte, validity []byte, off, n int, rows rowset.Set, s *Scratch) (nulls int, err error) {
	if len(section) == 0 {
		return encoding.DecodePresence(nil, int(rows.Len()), validity, off)
	}
	s.begin()
	all := word.Take[byte](&s.s.Mem, (n+7)/8)
	if _, err := encoding.DecodePresence(section, n, all, 0); err != nil {
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
func DecodeTreeRows[T Value](dst []T, tree []byte, n int, rows encoding.Rows, s *Scratch) error {
	s.begin()
	if b := rows.Bounds(); rows.Len() != int64(len(dst)) || b.From < 0 || b.To > int64(n) {
		return fmt.Errorf("%d rows up to %d of %d values, room for %d", rows.Len(), b.To, n, len(dst))
	}
	t := Of[T]()
	switch t.Size() {
	case 1:
		return decodeRows(word.As[uint8](dst), tree, t, n, rows, s)
	case 2:
		return decodeRows(word.As[uint16](dst), tree, t, n, rows, s)
	case 4:
		return decodeRows(word.As[uint32](dst), tree, t, n, rows, s)
	}
	return decodeRows(word.As[uint64](dst), tree, t, n, rows, s)
}

func decodeRows[U word.Uint](dst []U, tree []byte, t Type, n int, rows rowset.Set, s *Scratch) error {
	places := word.Take[uint32](&s.s.Mem, len(dst))
	rows.Positions(places)
	return trees.DecodePlaces(dst, places, tree, t, n, &s.s)
}
