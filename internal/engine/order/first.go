package order

import (
	"bytes"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// below lists the rows whose keys are less than a threshold, and appends their keys. Most rows are excluded by the first
// eight bytes of their keys, which need no encoding.
func (e *Encoder) below(columns []arrow.Array, rows int, threshold []byte, k *Keys) (below []int64) {
	appenders := e.bind(columns)
	windows := e.keys[0].windows(columns[0], &e.dicts[0])
	most := window(threshold, 0)
	var buf [512]uint64
	for begin := 0; begin < rows; begin += len(buf) {
		part := buf[:min(len(buf), rows-begin)]
		windows(part, begin)
		for i, w := range part {
			if w > most {
				continue
			}
			row, from := begin+i, len(k.bytes)
			isBelow := true
			for _, a := range appenders {
				k.bytes = a(k.bytes, row)
				if isBelow = bytes.Compare(k.bytes[from:], threshold) < 0; !isBelow {
					break // values of the other keys do not matter
				}
			}
			if !isBelow {
				k.bytes = k.bytes[:from]
				continue
			}
			k.ends = append(k.ends, len(k.bytes))
			below = append(below, int64(row))
		}
	}
	return below
}

// windows returns a function that finds lower bounds of the first windows of keys, from a row on, given the first of their
// values.
func (k Key) windows(arr arrow.Array, d *dictionary) func(dst []uint64, row int) {
	if a, ok := arr.(*array.Dictionary); ok && d.of == a.Dictionary().Data() {
		return k.codedWindows(a, d)
	}
	values := k.numberWindows(arr)
	if values == nil {
		return func(dst []uint64, _ int) { clear(dst) }
	}
	isNull := kinds.Nulls(arr)
	if isNull == nil {
		return values
	}
	null := uint64(nullLast) << 56
	if k.NullsFirst {
		null = nullFirst << 56
	}
	return func(dst []uint64, row int) {
		values(dst, row)
		for i := range dst {
			if isNull(row + i) {
				dst[i] = null
			}
		}
	}
}

// codedWindows looks windows up by code.
func (k Key) codedWindows(arr *array.Dictionary, d *dictionary) func(dst []uint64, row int) {
	table := make([]uint64, d.values.Len())
	for i := range table {
		table[i] = window(d.values.Key(i), 0)
	}
	null := uint64(nullLast) << 56
	if k.NullsFirst {
		null = nullFirst << 56
	}
	return func(dst []uint64, row int) {
		for i := range dst {
			if arr.IsNull(row + i) {
				dst[i] = null
			} else {
				dst[i] = table[arr.GetValueIndex(row+i)]
			}
		}
	}
}

// numberWindows is windows of numbers that are not null, or nil for other types.
func (k Key) numberWindows(arr arrow.Array) func(dst []uint64, row int) {
	flip := uint64(0)
	if k.Descending {
		flip = ^flip
	}
	switch arr.DataType().ID() {
	case arrow.INT8:
		return fixedWindows(arr, 8, func(v int8) uint64 { return uint64(v) ^ 1<<7 ^ flip })
	case arrow.INT16:
		return fixedWindows(arr, 16, func(v int16) uint64 { return uint64(v) ^ 1<<15 ^ flip })
	case arrow.INT32, arrow.DATE32, arrow.TIME32, arrow.DECIMAL32:
		return fixedWindows(arr, 32, func(v int32) uint64 { return uint64(v) ^ 1<<31 ^ flip })
	case arrow.INT64, arrow.DATE64, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION, arrow.DECIMAL64:
		return fixedWindows(arr, 64, func(v int64) uint64 { return uint64(v) ^ 1<<63 ^ flip })
	case arrow.UINT8:
		return fixedWindows(arr, 8, func(v uint8) uint64 { return uint64(v) ^ flip })
	case arrow.UINT16:
		return fixedWindows(arr, 16, func(v uint16) uint64 { return uint64(v) ^ flip })
	case arrow.UINT32:
		return fixedWindows(arr, 32, func(v uint32) uint64 { return uint64(v) ^ flip })
	case arrow.UINT64:
		return fixedWindows(arr, 64, func(v uint64) uint64 { return v ^ flip })
	case arrow.FLOAT32:
		return fixedWindows(arr, 64, func(v float32) uint64 { return floatBits(float64(v)) ^ flip })
	case arrow.FLOAT64:
		return fixedWindows(arr, 64, func(v float64) uint64 { return floatBits(v) ^ flip })
	}
	if a, ok := arr.(*array.String); ok {
		return func(dst []uint64, row int) {
			for i := range dst {
				dst[i] = present<<56 | stringWindow(a.Value(row+i), flip)
			}
		}
	}
	return nil
}

// stringWindow has the first seven bytes of an encoded string, or 0 for strings with zero bytes, whose encoding is longer.
func stringWindow(s string, flip uint64) (w uint64) {
	n := min(len(s), 7)
	for i := range n {
		if s[i] == 0 {
			return 0
		}
		w = w<<8 | uint64(s[i])
	}
	n = min(n+2, 7) // with the end
	w <<= 8 * (n - min(len(s), 7))
	return ((w ^ flip) & (1<<(8*n) - 1)) << (8 * (7 - n))
}

// fixedWindows puts the lowest bits of encoded values behind the mark of a value.
func fixedWindows[T any](arr arrow.Array, bits int, encode func(T) uint64) func(dst []uint64, row int) {
	v := arrowutil.Values[T](arr)
	return func(dst []uint64, row int) {
		for i, x := range v[row : row+len(dst)] {
			dst[i] = present<<56 | encode(x)<<(64-bits)>>8
		}
	}
}
