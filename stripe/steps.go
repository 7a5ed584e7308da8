package stripe

import (
	"sync"
	"weak"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// mostStep is the longest length of values whose offsets are shared.
const mostStep = 64

// steps are offsets that say only that all values have the same length. Whoever
// needs them shares one buffer, which nobody changes, for as long as an array holds it.
type steps[O int32 | int64] struct {
	mu sync.Mutex
	of [mostStep + 1]weak.Pointer[memory.Buffer] // by length
}

var (
	steps32 steps[int32]
	steps64 steps[int64]
)

// stepsOf gives the offsets of n values of a length up to mostStep. They must fit into O.
func stepsOf[O int32 | int64](n, length int) *memory.Buffer {
	if sizeOf[O]() == 4 {
		return steps32.get(n, length)
	}
	return steps64.get(n, length)
}

func (s *steps[O]) get(n, length int) *memory.Buffer {
	size := (n + 1) * sizeOf[O]()
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.of[length].Value()
	if all == nil || all.Len() < size {
		all = memory.NewBufferBytes(arrowutil.Arbitrary(size))
		for i, at := 0, arrowutil.As[O](all.Bytes()); i < len(at); i++ {
			at[i] = O(i * length)
		}
		s.of[length] = weak.Make(all)
	}
	return memory.SliceBuffer(all, 0, size)
}
