package write

import (
	"bytes"
	"cmp"
	"math"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
)

// longestBound is the length of the longest string in the stats of a column. A bound that is cut is none.
const longestBound = 256

// bounds gives the least and the greatest value of a column. NaN is neither.
func bounds(c *column.Column) layout.ColumnStats {
	t := c.Type
	n := c.Values.Len()
	if n == 0 {
		return layout.ColumnStats{Empty: true}
	}
	if c.Type.Textual() {
		low, high := c.Values.Bytes(0), c.Values.Bytes(0)
		for k := 1; k < n; k++ {
			v := c.Values.Bytes(k)
			if bytes.Compare(v, low) < 0 {
				low = v
			}
			if bytes.Compare(v, high) > 0 {
				high = v
			}
		}
		known := max(len(low), len(high)) <= longestBound
		return layout.ColumnStats{Known: known, Min: column.Value{Type: t, Data: low}, Max: column.Value{Type: t, Data: high}}
	}
	low, high, known := numberBounds(c.Values.Numbers, c.Type)
	return layout.ColumnStats{Known: known, Min: column.Value{Type: t, Bits: low}, Max: column.Value{Type: t, Bits: high}}
}

func numberBounds(numbers []uint64, t column.Type) (low, high uint64, known bool) {
	for _, v := range numbers {
		if t == column.Float64 && math.IsNaN(math.Float64frombits(v)) {
			continue
		}
		if !known || compareNumbers(v, low, t) < 0 {
			low = v
		}
		if !known || compareNumbers(v, high, t) > 0 {
			high = v
		}
		known = true
	}
	return low, high, known
}

func compareNumbers(a, b uint64, t column.Type) int {
	switch t {
	case column.Int64:
		return cmp.Compare(int64(a), int64(b))
	case column.Float64:
		return cmp.Compare(math.Float64frombits(a), math.Float64frombits(b))
	}
	return cmp.Compare(a, b)
}
