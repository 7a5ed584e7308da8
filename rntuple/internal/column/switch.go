package column

import (
	"math"

	"github.com/amudai/amudai-go/internal/base/fault"
)

const switchSize = 12

// DecodeSwitch decodes elements of a page of a Switch column, from one on: for each the number of the alternative of a variant, from 1,
// or 0 for none, and the place of the value among those of the alternative in the cluster.
//
//	u64 place, u32 alternative
func DecodeSwitch(alternatives []int8, places []int32, page []byte, from int) error {
	n := len(alternatives)
	if len(places) != n || len(page) < (from+n)*switchSize {
		return fault.Corruptf("page of %d bytes for %d elements of %d bytes", len(page), from+n, switchSize)
	}
	for i := range alternatives {
		b := page[switchSize*(from+i):]
		place, tag := le.Uint64(b), le.Uint32(b[8:])
		if place > math.MaxInt32 || tag > math.MaxInt8 {
			return fault.Unsupportedf("element %d of a page: value %d of alternative %d of a variant", from+i, place, tag)
		}
		places[i], alternatives[i] = int32(place), int8(tag)
	}
	return nil
}

// AppendSwitch appends a page of a Switch column.
func AppendSwitch(dst []byte, alternatives []int8, places []int32) []byte {
	for i, tag := range alternatives {
		dst = le.AppendUint64(dst, uint64(places[i]))
		dst = le.AppendUint32(dst, uint32(tag))
	}
	return dst
}
