package predicate

import (
	"fmt"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

func trailing(w uint64) int { return bits.TrailingZeros64(w) }

// dictionary evaluates a leaf once for every entry of a dictionary, unless it has many more entries than rows.
func (e *evaluator) dictionary(n *Node, a *array.Dictionary, dst []byte, rows int) error {
	entries := a.Dictionary().Len()
	if entries > 2*rows+64 {
		plain, err := arrowutil.Plain(memory.DefaultAllocator, a)
		if err != nil {
			return fmt.Errorf("filter: %w", err)
		}
		defer plain.Release()
		return e.test(n, plain, dst, rows)
	}
	table := e.bitmap(entries)
	defer e.release(table)
	if err := e.test(n, a.Dictionary(), table, entries); err != nil {
		return err
	}
	indices := a.Indices()
	if !lookUpIn(indices, table, dst) {
		return fmt.Errorf("filter: dictionary with indices of type %s", indices.DataType())
	}
	valid := arrowutil.Validity(indices)
	andBits(dst, valid)
	if t, ok := n.Test.(Nulls); ok && !t.Not { // null indices are null, too
		missing := e.bitmap(rows)
		defer e.release(missing)
		fillOnes(missing, rows)
		andBits(missing, valid)
		invert(missing, rows)
		orWords(dst, missing)
	}
	return nil
}

// lookUpIn copies to each row the bit of its index. It returns false if the indices are of a type that indices cannot have.
func lookUpIn(indices arrow.Array, table, dst []byte) bool {
	dt := indices.DataType()
	if !arrow.IsInteger(dt.ID()) {
		return false
	}
	switch dt.(arrow.FixedWidthDataType).Bytes() { // no index is negative
	case 1:
		lookUp(arrowutil.Values[uint8](indices), table, dst)
	case 2:
		lookUp(arrowutil.Values[uint16](indices), table, dst)
	case 4:
		lookUp(arrowutil.Values[uint32](indices), table, dst)
	default:
		lookUp(arrowutil.Values[uint64](indices), table, dst)
	}
	return true
}

// lookUp copies to each row the bit of its index. An index under a null may be any number.
func lookUp[T integer](indices []T, table, dst []byte) {
	if allZero(table) {
		clear(dst)
		return
	}
	for i := range len(dst) / 8 {
		w := uint64(0)
		for k, x := range indices[64*i : min(64*i+64, len(indices))] {
			if at := uint64(x); at/8 < uint64(len(table)) {
				w |= uint64(table[at/8]>>(at&7)&1) << (k & 63)
			}
		}
		putWord(dst, i, w)
	}
}

// runs evaluates a leaf once for every run.
func (e *evaluator) runs(n *Node, a *array.RunEndEncoded, dst []byte, rows int) error {
	first, count := a.GetPhysicalOffset(), 0
	if rows > 0 {
		count = a.GetPhysicalLength()
	}
	values := array.NewSlice(a.Values(), int64(first), int64(first+count))
	defer values.Release()
	table := e.bitmap(count)
	defer e.release(table)
	if err := e.test(n, values, table, count); err != nil {
		return err
	}
	ends := array.NewSlice(a.RunEndsArr(), int64(first), int64(first+count))
	defer ends.Release()
	clear(dst)
	end, off, from := arrowutil.Integers(ends), int64(a.Data().Offset()), 0
	for i := range count {
		to := min(int(end(i)-off), rows)
		if table[i>>3]>>(i&7)&1 != 0 && to > from {
			bitmap.SetRange(dst, from, to-from)
		}
		from = max(from, to)
	}
	return nil
}
