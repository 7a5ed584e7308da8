package fsst

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// Cursor reads parts of the text of a stream. It skips the text before a part by the lengths of its symbols, which
// takes about half as long as decoding. It ignores the codes after a part. The zero value is at the start of an empty
// stream.
type Cursor struct {
	decoder *Decoder
	all     []byte
	rest    []byte // codes not skipped yet
	at      int    // size of the text of the skipped codes
}

// NewCursor returns a cursor at the start of a stream.
func NewCursor(d *Decoder, stream []byte) Cursor {
	return Cursor{decoder: d, all: stream, rest: stream}
}

// Read sets dst to the bytes of the text from offset from on. Parts are fastest in ascending order.
func (c *Cursor) Read(dst []byte, from int) error {
	if from < c.at {
		c.rest, c.at = c.all, 0
	}
	c.skip(from)
	end := from + len(dst)
	for c.at < end {
		word, n, codes, err := c.decoder.first(c.rest)
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Corruptf("FSST stream gives %d bytes, %d are needed", c.at, end)
		}
		if done := c.at - from; done < 0 {
			copy(dst, word[min(-done, n):n])
		} else {
			copy(dst[done:], word[:n])
		}
		if c.at+n > end { // the next part may begin in it
			return nil
		}
		c.rest, c.at = c.rest[codes:], c.at+n
		if c.at > from && end-c.at >= step {
			n, c.rest = c.decoder.decodeFast(dst[c.at-from:], end-c.at, c.rest)
			c.at += n
		}
	}
	return nil
}

// first returns the text of the first code, its number of bytes (0 if there is no code), and the size of the code.
func (d *Decoder) first(src []byte) (word [8]byte, n, codes int, err error) {
	switch {
	case len(src) == 0:
		return word, 0, 0, nil
	case src[0] != escape:
		if int(src[0]) >= d.n {
			return word, 0, 0, fault.Corruptf("FSST code %d in a table of %d", src[0], d.n)
		}
		binary.LittleEndian.PutUint64(word[:], d.values[src[0]])
		return word, int(d.lengths[src[0]]), 1, nil
	case len(src) == 1:
		return word, 0, 0, fault.Corruptf("FSST stream ends in an escape")
	}
	word[0] = src[1]
	return word, 1, 2, nil
}

// skip skips codes that end at or before a position, in steps of 8. Read skips the rest.
func (c *Cursor) skip(to int) {
	d, src, at := c.decoder, c.rest, c.at
	for len(src) > 8 && at+8*MaxSymbolLen <= to {
		codes := binary.LittleEndian.Uint64(src)
		if d.special(codes) != 0 {
			_, n, k, err := d.first(src)
			if err != nil {
				break // Read reports it
			}
			src, at = src[k:], at+n
			continue
		}
		src = src[8:]
		at += int(d.lengths[codes&0xff]) + int(d.lengths[codes>>8&0xff]) + int(d.lengths[codes>>16&0xff]) + int(d.lengths[codes>>24&0xff]) +
			int(d.lengths[codes>>32&0xff]) + int(d.lengths[codes>>40&0xff]) + int(d.lengths[codes>>48&0xff]) + int(d.lengths[codes>>56])
	}
	c.rest, c.at = src, at
}
