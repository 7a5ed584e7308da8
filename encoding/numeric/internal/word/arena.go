package word

import "unsafe"

// Arena is memory that is taken piece by piece and released in the opposite order, so that nothing is allocated for
// a block. The zero value is ready. It serves one goroutine at a time.
type Arena struct {
	buf  []uint64
	used int // words of buf in use
	peak int // most words that were in use at a time
}

// Reset makes all memory free, and as large as it has been wanted.
func (a *Arena) Reset() {
	if a.peak > len(a.buf) {
		a.buf = make([]uint64, a.peak)
	}
	a.used = 0
}

// Take gives memory for n values, with any content, until Release is called with a mark from before. The caller has
// bounded n. T has no pointers.
func Take[T any](a *Arena, n int) []T {
	var v T
	words := (n*int(unsafe.Sizeof(v)) + 7) / 8
	at := a.used
	a.used += words
	a.peak = max(a.peak, a.used)
	var mem []uint64
	if a.used <= len(a.buf) {
		mem = a.buf[at:a.used:a.used]
	} else {
		mem = make([]uint64, words)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(mem))), n)
}

// Mark is what Release takes to free all that is taken from now on.
func (a *Arena) Mark() int { return a.used }

// Release frees what was taken since Mark.
func (a *Arena) Release(mark int) { a.used = mark }

// Peak is the most bytes that were in use at a time.
func (a *Arena) Peak() int { return 8 * a.peak }
