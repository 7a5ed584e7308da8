package stripe

import (
	"sync"

	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// loan is memory that a node writer needs only while it handles a chunk: with
// many columns, keeping it in each of them would add up.
type loan struct {
	offsets []int64
	words   []uint64
	data    []byte
	ids     []uint32
}

var loans = sync.Pool{New: func() any { return new(loan) }}

func borrow() *loan       { return loans.Get().(*loan) }
func (l *loan) giveBack() { loans.Put(l) }

// stages holds empty staging memory of mostStaged words, for columns that have
// nothing staged at the moment.
var stages sync.Pool

// takeStage is empty staging memory for at least n values: small for small n,
// else as much as a column usually stages.
func takeStage[T numeric.Value](n int) []T {
	if n < mostStaged/2 {
		return make([]T, 0, n)
	}
	p, ok := stages.Get().(*[]uint64)
	if !ok {
		words := make([]uint64, mostStaged)
		p = &words
	}
	return arrowutil.As[T](arrowutil.Bytes(*p))[:0]
}

// giveStage gives back what takeStage took.
func giveStage[T numeric.Value](stage []T) {
	if b := arrowutil.Bytes(stage[:cap(stage)]); len(b) == 8*mostStaged {
		words := arrowutil.As[uint64](b)
		stages.Put(&words)
	}
}
