package column

import (
	"fmt"

	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// The kinds 3 and 4, InlineBytes, are
//
//	2  u32  rows
//	6  …    presence, with its length in front
//	…  u32  rows with a value; only in kind 4
//	…  …    values, each with a length of 4 bytes in front: of all rows in kind 3, of rows with a value in kind 4

func (r *Reader) parseInline(c *fields.Cursor) {
	r.parsePresence(c)
	if r.kind == SparseInlineBytes {
		r.presentCount(c)
	}
	r.second = take(c, "values", c.Left())
	c.Note(len(r.second.data), "values of", fmt.Sprint(r.stored(), " rows"))
}

func (r *Reader) inlineValues() (Values, error) {
	v := Values{Offsets: make([]uint32, 1, r.presence.count+1), Data: make([]byte, 0, max(len(r.second.data)-4*r.stored(), 0))}
	walk := values{data: r.second.data, limit: r.o.Limits.ValueLen}
	var err error
	at := 0 // rows whose values were read, in kind 3
	for row, n := range r.presence.ranges() {
		if r.kind.Dense() {
			err = walk.skip(row-at, 0)
			at = row + n
		}
		if err == nil {
			err = v.addNext(&walk, n)
		}
		if err != nil {
			break
		}
	}
	if err == nil && r.kind.Dense() {
		err = walk.skip(r.rows-at, 0)
	}
	if err != nil {
		return Values{}, r.second.in(err, walk.at)
	}
	if left := len(walk.data) - walk.at; left > 0 {
		r.warn(r.second.in(fault.Corruptf("%d bytes follow the values", left), walk.at))
	}
	return v, nil
}

// addNext appends the next n values.
func (v *Values) addNext(walk *values, n int) error {
	for range n {
		value, err := walk.next()
		if err != nil {
			return err
		}
		v.add(value)
	}
	return nil
}
