package keys

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// The functions below find the numbers of the most frequent kinds of keys in one pass, if words are a direct index. They give up at the
// first row that needs another layout. Numbers that were given until then stay: they are those of the first rows.

// findRanged finds the numbers of rows of a single column of integers without nulls. It reports false if it gives up.
func (k *Keyer) findRanged(out []uint32, columns []arrow.Array) bool {
	c := &k.columns[0]
	if len(columns) > 1 || !c.ranged || !c.started || k.words.direct == nil {
		return false
	}
	arr := arrowutil.Storage(columns[0])
	if arrowutil.NullN(arr) > 0 {
		return false
	}
	before := uint64(c.base) - 1
	switch arr.DataType().ID() {
	case arrow.INT32, arrow.DATE32, arrow.TIME32, arrow.DECIMAL32:
		return findRange(&k.words, out, arrowutil.Values[int32](arr), before, !k.Full)
	case arrow.INT64, arrow.DATE64, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION, arrow.DECIMAL64:
		return findRange(&k.words, out, arrowutil.Values[int64](arr), before, !k.Full)
	}
	return false
}

// findRange finds integers. Their words are the differences from the one before their range.
func findRange[T int32 | int64](t *wordTable, out []uint32, v []T, before uint64, grow bool) bool {
	slots := t.direct
	out = out[:len(v)]
	for i, x := range v {
		w := uint64(x) - before
		if w-1 >= uint64(len(slots)-1) { // the word 0 is that of null
			return false
		}
		out[i] = t.number(slots, w, grow)
	}
	return true
}

// findPair finds the numbers of rows of two loaded columns with dictionaries and without nulls. It reports false if it gives up.
func (k *Keyer) findPair(out []uint32) (done bool, err error) {
	if len(k.columns) != 2 || k.words.direct == nil {
		return false, nil
	}
	a, b := &k.columns[0], &k.columns[1]
	a.prepare()
	b.prepare()
	if !a.hasCodes() || !b.hasCodes() || a.outgrown() || b.outgrown() {
		return false, nil
	}
	return true, findCodes(&k.words, out, arrowutil.Values[uint32](a.indices), arrowutil.Values[uint32](b.indices), a.shifted, b.shifted, !k.Full)
}

// hasCodes reports whether all values of the batch are indices of 32 bits.
func (c *keyColumn) hasCodes() bool {
	return c.coded != nil && c.indexValid.Data == nil && c.indices.DataType().(arrow.FixedWidthDataType).Bytes() == 4
}

// findCodes finds the words that two columns have together.
func findCodes(t *wordTable, out, a, b []uint32, wordsOfA, wordsOfB []uint64, grow bool) error {
	slots := t.direct
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		x, y := a[i], b[i]
		if uint64(x) >= uint64(len(wordsOfA)) || uint64(y) >= uint64(len(wordsOfB)) {
			return errNoEntry
		}
		out[i] = t.number(slots, wordsOfA[x]|wordsOfB[y], grow)
	}
	return nil
}
