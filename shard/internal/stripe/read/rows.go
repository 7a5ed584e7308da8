package read

import (
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// pickBits copies the bits of rows to dst, from bit at on, and counts the clear ones.
func pickBits(dst []byte, at int, src bitmap.Bits, rows rowset.Set) (clear int) {
	for r := range rows.Ranges() {
		bits := src.Slice(int(r.From), int(r.To))
		bits.CopyTo(dst, at)
		at += bits.Len
		clear += bits.Nulls()
	}
	return clear
}

// mapped is the set of what f makes of each range of rows.
func mapped(rows rowset.Set, f func(r rowset.Range) rowset.Range) rowset.Set {
	var out []rowset.Range
	for r := range rows.Ranges() {
		out = append(out, f(r))
	}
	return rowset.Of(out...)
}

// scaled are the items of rows that have size items each.
func scaled(rows rowset.Set, size int64) rowset.Set {
	return mapped(rows, func(r rowset.Range) rowset.Range { return rowset.Range{From: r.From * size, To: r.To * size} })
}

// bytesOf are the bytes that hold the bits of rows.
func bytesOf(rows rowset.Set) rowset.Set {
	return mapped(rows, func(r rowset.Range) rowset.Range { return rowset.Range{From: r.From / 8, To: (r.To-1)/8 + 1} })
}

// offsetsOf are the positions of the offsets of rows: k+1 of them for a range of k rows.
func offsetsOf(rows rowset.Set) rowset.Set {
	return mapped(rows, func(r rowset.Range) rowset.Range { return rowset.Range{From: r.From, To: r.To + 1} })
}
