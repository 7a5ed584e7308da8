package order

import (
	"bytes"

	"github.com/apache/arrow-go/v18/arrow"
)

// below lists the rows whose keys are less than a threshold, and appends their keys.
func (e *Encoder) below(columns []arrow.Array, rows int, threshold []byte, k *Keys) (below []int64) {
	appenders := e.bind(columns)
	for row := range rows {
		begin := len(k.bytes)
		for _, a := range appenders {
			k.bytes = a(k.bytes, row)
		}
		if bytes.Compare(k.bytes[begin:], threshold) >= 0 {
			k.bytes = k.bytes[:begin]
			continue
		}
		k.ends = append(k.ends, len(k.bytes))
		below = append(below, int64(row))
	}
	return below
}
