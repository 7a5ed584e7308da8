package order

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// held are rows in memory: columns without dictionaries, runs and views, which can be joined, and keys.
type held struct {
	columns [][]arrow.Array // the parts of each column
	keys    Keys
	rows    int

	bytes   int64 // of the buffers
	buffers map[*memory.Buffer]bool
}

// add adds rows. Their keys are added separately.
func (h *held) add(mem memory.Allocator, columns []arrow.Array, rows int) error {
	if h.columns == nil {
		h.columns = make([][]arrow.Array, len(columns))
		h.buffers = map[*memory.Buffer]bool{}
	}
	for i, c := range columns {
		plain, err := arrowutil.Plain(mem, c)
		if err != nil {
			return err
		}
		h.columns[i] = append(h.columns[i], plain)
		h.count(plain.Data())
	}
	h.rows += rows
	return nil
}

// count adds the bytes of buffers. Slices of one buffer keep it whole, so each buffer counts once.
func (h *held) count(d arrow.ArrayData) {
	for _, b := range d.Buffers() {
		if b != nil && !h.buffers[b] {
			h.buffers[b] = true
			h.bytes += int64(b.Cap())
		}
	}
	for _, c := range d.Children() {
		h.count(c)
	}
	if dict := d.Dictionary(); d.DataType().ID() == arrow.DICTIONARY && dict != nil {
		h.count(dict)
	}
}

// size is the number of bytes that the rows take, and sorting them.
func (h *held) size() int64 { return h.bytes + h.keys.size() + int64(h.rows)*itemBytes }

// take returns rows, in the order of the list.
func (h *held) take(mem memory.Allocator, rows []int64) ([]arrow.Array, error) {
	out := make([]arrow.Array, len(h.columns))
	for i, parts := range h.columns {
		if len(parts) > 1 {
			whole, err := arrowutil.Concatenate(mem, parts)
			if err != nil {
				arrowutil.ReleaseAll(out)
				return nil, err
			}
			arrowutil.ReleaseAll(parts)
			h.columns[i] = []arrow.Array{whole}
		}
		var err error
		if out[i], err = arrowutil.Take(mem, h.columns[i][0], rows); err != nil {
			arrowutil.ReleaseAll(out)
			return nil, err
		}
	}
	return out, nil
}

// release drops all rows.
func (h *held) release() {
	for _, parts := range h.columns {
		arrowutil.ReleaseAll(parts)
	}
	*h = held{}
}
