package simd

import "unsafe"

// word is a type that Repeat repeats.
type word interface{ ~uint32 | ~uint64 }

// Repeat writes values[i] lengths[i] times to dst, one run behind the other, as long as runs
// fit with some space behind them. It returns the number of runs and of values written. It may
// overwrite dst behind them. lengths is at least as long as values; T has no pointers.
func Repeat[T any](dst []T, values []T, lengths []uint32) (runs, n int) {
	lengths = lengths[:len(values)]
	var v T
	switch unsafe.Sizeof(v) {
	case 4:
		return repeatFast(as[uint32](dst), as[uint32](values), lengths)
	case 8:
		return repeatFast(as[uint64](dst), as[uint64](values), lengths)
	}
	return 0, 0
}

// as views memory as values of another type of the same size.
func as[U, T any](values []T) []U {
	return unsafe.Slice((*U)(unsafe.Pointer(unsafe.SliceData(values))), len(values))
}
