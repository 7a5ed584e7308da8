package order

import (
	"bytes"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// below lists the rows whose keys are less than a threshold, and appends their keys.
func (e *Encoder) below(columns []arrow.Array, rows int, threshold []byte, k *Keys) (below []int64) {
	appenders := e.bind(columns)
	e.mayBeBelow(columns, rows, threshold, func(row int) {
		from := len(k.bytes)
		for _, a := range appenders {
			k.bytes = a(k.bytes, row)
			if bytes.Compare(k.bytes[from:], threshold) >= 0 {
				k.bytes = k.bytes[:from] // values of the other keys do not matter
				return
			}
		}
		k.ends = append(k.ends, len(k.bytes))
		below = append(below, int64(row))
	})
	return below
}

// nearRows is the number of rows between two ranges that cost less than another range.
const nearRows = 64

// Candidates are the rows that may be among the first ones, as far as the values of the first keys tell, and some others.
func (s *Sorter) Candidates(columns []arrow.Array) (rows []rowset.Range) {
	if s.threshold == nil {
		return []rowset.Range{{To: int64(columns[0].Len())}}
	}
	s.encoder.mayBeBelow(columns, columns[0].Len(), s.threshold, func(i int) {
		row := int64(i)
		if last := len(rows) - 1; last >= 0 && row < rows[last].To+nearRows {
			rows[last].To = row + 1
		} else {
			rows = append(rows, rowset.Range{From: row, To: row + 1})
		}
	})
	return rows
}

// mayBeBelow calls f for the rows whose keys may be less than a threshold. Most others are excluded by the first eight bytes of their first key, which
// need no encoding, or by those of the second one, if the first is that of the threshold. Rows of equal keys are, too, if these bytes are all of them.
func (e *Encoder) mayBeBelow(columns []arrow.Array, rows int, threshold []byte, f func(row int)) {
	first, most, size := e.firstWindows(0, columns[0], threshold)
	var second func(dst []uint64, row int)
	var most2 uint64
	if size > 0 && len(columns) > 1 {
		second, most2, _ = e.firstWindows(1, columns[1], threshold[size:])
	}
	var buf, buf2 [512]uint64
	for begin := 0; begin < rows; begin += len(buf) {
		part := buf[:min(len(buf), rows-begin)]
		first(part, begin)
		asked := second == nil
		for i, w := range part {
			if w > most {
				continue
			}
			if w == most && second != nil {
				if !asked {
					asked = true
					second(buf2[:len(part)], begin)
				}
				if buf2[i] > most2 {
					continue
				}
			}
			f(begin + i)
		}
	}
}

// firstWindows returns a function that finds lower bounds of eight bytes of a key of rows, and those bytes of the threshold: the first ones, or those
// of numbers, without the byte before them that tells nulls. If these are all bytes of the key, and others follow, size is their number, else 0. Of
// the last key, they may be exact: no greater than most for the rows below the threshold alone.
func (e *Encoder) firstWindows(key int, arr arrow.Array, threshold []byte) (windows func(dst []uint64, row int), most uint64, size int) {
	if threshold[0] == present && kinds.Nulls(arr) == nil {
		if numbers, n := e.keys[key].numbers(arr); numbers != nil {
			most = window(threshold[:1+n], 1)
			if len(threshold) == 1+n && most > 0 { // the last key
				return numbers, most - 1, 0
			}
			return numbers, most, 1 + n
		}
	}
	if a, ok := arr.(*array.Dictionary); ok && key == len(e.keys)-1 && e.dicts[key].of == a.Dictionary().Data() {
		return e.keys[key].codedBelow(a, &e.dicts[key], threshold), 0, 0
	}
	return e.keys[key].windows(arr, &e.dicts[key]), window(threshold, 0), 0
}

// codedBelow is windows of the last key: 0 of values that are below a threshold, else 1.
func (k Key) codedBelow(arr *array.Dictionary, d *dictionary, threshold []byte) func(dst []uint64, row int) {
	below := make([]uint64, d.values.Len())
	for i := range below {
		if bytes.Compare(d.values.Key(i), threshold) >= 0 {
			below[i] = 1
		}
	}
	null := uint64(1)
	if k.null() < threshold[0] {
		null = 0
	}
	return byCode(arr, below, null)
}

// byCode looks up values by code.
func byCode(arr *array.Dictionary, table []uint64, null uint64) func(dst []uint64, row int) {
	code, valid := arrowutil.Integers(arr.Indices()), arrowutil.Validity(arr)
	return func(dst []uint64, row int) {
		for i := range dst {
			if valid.Data != nil && !valid.At(row+i) {
				dst[i] = null
			} else {
				dst[i] = table[code(row+i)]
			}
		}
	}
}

// windows returns a function that finds lower bounds of the first windows of keys, from a row on, given the first of their
// values.
func (k Key) windows(arr arrow.Array, d *dictionary) func(dst []uint64, row int) {
	if a, ok := arr.(*array.Dictionary); ok && d.of == a.Dictionary().Data() {
		return k.codedWindows(a, d)
	}
	values := k.valueWindows(arr)
	if values == nil {
		return func(dst []uint64, _ int) { clear(dst) }
	}
	isNull := kinds.Nulls(arr)
	if isNull == nil {
		return values
	}
	null := uint64(k.null()) << 56
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
	return byCode(arr, table, uint64(k.null())<<56)
}

// valueWindows is windows of numbers and texts that are not null, or nil for other types.
func (k Key) valueWindows(arr arrow.Array) func(dst []uint64, row int) {
	if numbers, _ := k.numbers(arr); numbers != nil {
		return func(dst []uint64, row int) {
			numbers(dst, row)
			for i, n := range dst {
				dst[i] = present<<56 | n>>8
			}
		}
	}
	if a, ok := arr.(*array.String); ok {
		return func(dst []uint64, row int) {
			for i := range dst {
				dst[i] = present<<56 | stringWindow(a.Value(row+i), k.flip())
			}
		}
	}
	return nil
}

// flip has the bits of values that their keys have inverted.
func (k Key) flip() uint64 {
	if k.Descending {
		return math.MaxUint64
	}
	return 0
}

// numbers returns a function that finds the bytes of the keys of numbers that are not null, of which there are up to eight, from a row on. It is nil for
// other types.
func (k Key) numbers(arr arrow.Array) (bytes func(dst []uint64, row int), size int) {
	flip := k.flip()
	if floats := arrowutil.Floats(arr); floats != nil {
		return func(dst []uint64, row int) {
			for i := range dst {
				dst[i] = floatBits(floats(row+i)) ^ flip
			}
		}, 8
	}
	integers := arrowutil.Integers(arr)
	if integers == nil {
		return nil, 0
	}
	bits := arr.DataType().(arrow.FixedWidthDataType).BitWidth()
	if !arrow.IsUnsignedInteger(arr.DataType().ID()) {
		flip ^= 1 << (bits - 1) // the sign
	}
	return func(dst []uint64, row int) {
		for i := range dst {
			dst[i] = (uint64(integers(row+i)) ^ flip) << (64 - bits)
		}
	}, bits / 8
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
