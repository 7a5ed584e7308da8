package column

import "github.com/amudai/amudai-go/internal/base/fault"

// CheckOffsets tells whether the end offsets of a cluster's collections, little-endian int32 or int64 by k, do not
// decrease from 0 on and end at or before the number of items.
func CheckOffsets(ends []byte, k Kind, items int64) error {
	last, bad := int64(0), int64(0) // bad is negative after a decrease
	width := kinds[k].width
	if k == KindOffset32 {
		for b := ends; len(b) >= 4; b = b[4:] {
			end := int64(int32(le.Uint32(b)))
			bad |= (end - last) | end
			last = end
		}
	} else {
		for b := ends; len(b) >= 8; b = b[8:] {
			end := int64(le.Uint64(b))
			bad |= (end - last) | end
			last = end
		}
	}
	if bad >= 0 && last <= items {
		return nil
	}
	last = 0
	for i := range len(ends) / width {
		end := offsetAt(ends, i, k)
		if end < last || end > items {
			return fault.Corruptf("collection %d ends at item %d, the one before at %d, of %d", i, end, last, items)
		}
		last = end
	}
	return nil
}

func offsetAt(ends []byte, i int, k Kind) int64 {
	if k == KindOffset32 {
		return int64(int32(le.Uint32(ends[4*i:])))
	}
	return int64(le.Uint64(ends[8*i:]))
}

// Cardinalities sets dst, numbers of kind k, to the numbers of items of the collections that end at the given offsets:
// those of a cluster, or of a part of it, before which previous is the last one. A number that k cannot hold is an error.
func Cardinalities(dst []byte, k Kind, ends []byte, offsets Kind, previous int64) error {
	for i := range len(ends) / kinds[offsets].width {
		end := offsetAt(ends, i, offsets)
		items := uint64(end - previous)
		previous = end
		switch {
		case k == KindUint64:
			le.PutUint64(dst[8*i:], items)
		case k == KindUint32 && items>>32 == 0:
			le.PutUint32(dst[4*i:], uint32(items))
		default:
			return fault.Unsupportedf("the %d items of collection %d do not fit %v", items, i, k)
		}
	}
	return nil
}
