package ranges

import (
	"encoding/binary"
	"iter"
	"slices"
	"sort"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/fields"
	"github.com/amudai/amudai-go/blockpack/internal/ranges/internal/blockvalues"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// prepare finds the keys, and sorts them: what files have in order are the bytes of keys, not the values.
func (col *Column) prepare() error {
	col.once.Do(func() {
		col.err = fault.In(col.sortKeys(), "range index/column "+fields.Quote([]byte(col.Name)), col.base)
	})
	return col.err
}

// maxKeys is the number of keys up to which a column is used: sorting more takes seconds. Writers make 1,000.
const maxKeys = 1 << 20

func (col *Column) sortKeys() error {
	if col.Keys > maxKeys {
		return fault.Limitf("%d keys are more than the limit of %d", col.Keys, maxKeys)
	}
	c := &fields.Cursor{Data: col.data, Base: col.base}
	offsets := make([]uint32, col.Keys)
	for i := range offsets {
		offsets[i] = uint32(c.Pos)
		if v, ok := readKey(c, col.Type); !ok || v.IsNaN() {
			c.Fail("key", fault.Corruptf("no key of type %v", col.Type))
		}
		for ids := blockIDs(c); len(ids) > 0; ids = ids[4:] {
			if id := binary.LittleEndian.Uint32(ids); id >= uint32(col.blocks) {
				c.Fail("block id", fault.Corruptf("%d in a file of %d blocks", id, col.blocks))
			}
		}
		if c.Err != nil {
			c.In("key %d", i)
			return c.Err
		}
	}
	slices.SortStableFunc(offsets, func(a, b uint32) int { return col.key(a).Compare(col.key(b)) })
	col.offsets = offsets
	return nil
}

// key is the key at an offset of data that was read before without an error.
func (col *Column) key(offset uint32) column.Value {
	c := &fields.Cursor{Data: col.data[offset:]}
	v, _ := readKey(c, col.Type)
	return v
}

// Entries gives the keys ascending, each with its blocks as stored. The slice of blocks is valid until the next key.
func (col *Column) Entries() (iter.Seq2[column.Value, []uint32], error) {
	if err := col.prepare(); err != nil {
		return nil, err
	}
	return func(yield func(column.Value, []uint32) bool) {
		var ids []uint32
		for _, offset := range col.offsets {
			c := &fields.Cursor{Data: col.data[offset:]}
			v, _ := readKey(c, col.Type)
			ids = ids[:0]
			for b := blockIDs(c); len(b) > 0; b = b[4:] {
				ids = append(ids, binary.LittleEndian.Uint32(b))
			}
			if !yield(v, ids) {
				return
			}
		}
	}, nil
}

// lookup is the column to look up values of type t in; nil if nothing is known of them.
func (x *Index) lookup(name string, t column.Type) *Column {
	if x.mark == "" {
		return nil
	}
	col := x.Column(name)
	if col == nil || col.Keys == 0 || col.Type.Base() != t || col.prepare() != nil {
		return nil
	}
	return col
}

// Interval gives the blocks that may have values of type t, a base type, from lo to hi in a column, ascending. A nil bound is none. Both are
// included, unless hi is open. If known is false, nothing is known: every block may have such values.
func (x *Index) Interval(name string, t column.Type, lo, hi *column.Value, open bool) (blocks []uint32, known bool) {
	for _, bound := range []*column.Value{lo, hi} {
		if bound != nil && (bound.Type != t || bound.IsNaN()) {
			return nil, false
		}
	}
	// Empty values are in no index.
	if t.Textual() && (lo == nil || len(lo.Data) == 0) {
		return nil, false
	}
	col := x.lookup(name, t)
	if col == nil {
		return nil, false
	}
	end := len(col.offsets)
	switch {
	case hi != nil && open:
		end = col.search(*hi, 0)
	case hi != nil:
		end = col.search(*hi, 1)
	}
	return col.union(col.floor(lo), end), true
}

// search is the number of keys whose order to v is less than limit: 0 for those below v, 1 for those up to v.
func (col *Column) search(v column.Value, limit int) int {
	return sort.Search(len(col.offsets), func(i int) bool { return col.key(col.offsets[i]).Compare(v) >= limit })
}

// floor is the first key of those equal to the greatest key up to v, or 0.
func (col *Column) floor(v *column.Value) int {
	if v == nil {
		return 0
	}
	n := col.search(*v, 1)
	if n == 0 {
		return 0
	}
	return col.search(col.key(col.offsets[n-1]), 0)
}

// union gives the blocks of keys from to end.
func (col *Column) union(from, end int) []uint32 {
	set := make(blockvalues.Set, (col.blocks+63)/64)
	for i := from; i < end; i++ {
		c := &fields.Cursor{Data: col.data[col.offsets[i]:]}
		readKey(c, col.Type)
		for ids := blockIDs(c); len(ids) > 0; ids = ids[4:] {
			set.Add(binary.LittleEndian.Uint32(ids))
		}
	}
	return set.List([]uint32{})
}
