package write

import (
	"bytes"
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

// numberBounds gives the least and the greatest number; of both zeros, -0 is the less one, whatever the order of values.
func numberBounds(numbers []uint64, t column.Type) (low, high uint64, known bool) {
	var least, most uint64 // as integers in the order of numbers
	for _, v := range numbers {
		if t == column.Float64 && math.IsNaN(math.Float64frombits(v)) {
			continue
		}
		o := column.TotalOrder(t, v)
		if !known || o < least {
			low, least = v, o
		}
		if !known || o > most {
			high, most = v, o
		}
		known = true
	}
	return low, high, known
}
