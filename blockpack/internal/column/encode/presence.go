package encode

import (
	"encoding/binary"
	"math/bits"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// appendPresence appends the presence of rows rows: the length, and runs that alternate.
func appendPresence(dst []byte, present []byte, rows int) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0, column.RunsVersion, 0, 0, 0, 0)
	n := uint32(0)
	for row := 0; row < rows; {
		end, value := presenceRun(present, row, rows)
		dst = appendRun(dst, uint32(end-row), value)
		row = end
		n++
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	binary.LittleEndian.PutUint32(dst[at+5:], n)
	return dst
}

func appendRun(dst []byte, length, value uint32) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(value)<<32|uint64(length))
}

// presenceRun is the value of row, and the end of the rows from it on that have the same.
func presenceRun(present []byte, row, rows int) (end int, value uint32) {
	if present == nil {
		return rows, 1
	}
	b := bitmap.Bits{Data: present, Len: rows}
	flip := uint64(0)
	if b.At(row) {
		flip, value = ^uint64(0), 1
	}
	for row < rows {
		n := min(rows-row, 64)
		if w := b.Word(row) ^ flip; w<<(64-n) != 0 {
			return row + bits.TrailingZeros64(w), value
		}
		row += n
	}
	return rows, value
}
