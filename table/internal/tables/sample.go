package tables

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/table/provider"
)

// random is the random numbers of a seed.
func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)) }

// Positions returns n of the row numbers below total, in ascending order. Each set of n has the same probability.
func Positions(n, total int64, seed uint64) []int64 {
	n = min(n, total)
	chosen := make(map[int64]bool, n)
	r := random(seed)
	for i := total - n; i < total; i++ { // Floyd's algorithm
		if k := r.Int64N(i + 1); !chosen[k] {
			chosen[k] = true
		} else {
			chosen[i] = true
		}
	}
	rows := make([]int64, 0, n)
	for k := range chosen {
		rows = append(rows, k)
	}
	slices.Sort(rows)
	return rows
}

// Sample returns n rows of a source, which it closes, in their order, or all if there are fewer. Each set of n rows has the
// same probability. It reads all rows, and keeps n of them.
func Sample(src provider.Source, n int64, seed uint64) provider.Source {
	return &sampleSource{Source: src, n: n, random: random(seed)}
}

// sampleSource is a reservoir of rows. A row that enters it when it is full replaces a random one.
type sampleSource struct {
	provider.Source
	n      int64
	random *rand.Rand

	slots  []slot
	chunks []arrow.RecordBatch // rows of one batch each, some of which may have left the reservoir
	stored int64               // rows in chunks
	read   int64
	weight float64
	next   int64 // position of the next row to enter the full reservoir

	done bool
	out  []arrow.RecordBatch
}

// slot is a row of the reservoir.
type slot struct {
	position int64
	chunk    int // index in chunks
	row      int64
}

func (s *sampleSource) Rows() (int64, bool) {
	n, known := s.Source.Rows()
	return min(n, s.n), known
}

func (s *sampleSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	for !s.done && s.n > 0 {
		b, err := s.Source.Next(ctx)
		switch {
		case err != nil:
		case b == nil:
			s.done = true
			err = s.finish()
		default:
			err = s.add(b)
			b.Release()
		}
		if err != nil {
			return nil, err
		}
	}
	if len(s.out) == 0 {
		return nil, nil
	}
	b := s.out[0]
	s.out = s.out[1:]
	return b, nil
}

// add lets rows of a batch enter the reservoir.
func (s *sampleSource) add(b arrow.RecordBatch) error {
	var entered []int64 // rows of the batch
	number := len(s.chunks)
	enter := func(i int, position int64) {
		s.slots[i] = slot{position, number, int64(len(entered))}
		entered = append(entered, position-s.read)
	}
	end := s.read + b.NumRows()
	position := s.read
	for ; position < end && int64(len(s.slots)) < s.n; position++ {
		s.slots = append(s.slots, slot{})
		enter(len(s.slots)-1, position)
		if int64(len(s.slots)) == s.n {
			s.weight, s.next = 1, position
			s.skip()
		}
	}
	for int64(len(s.slots)) == s.n && s.next < end {
		enter(s.random.IntN(len(s.slots)), s.next)
		s.skip()
	}
	s.read = end
	if len(entered) == 0 {
		return nil
	}
	rows, err := arrowutil.TakeRows(memory.DefaultAllocator, b, entered)
	if err != nil {
		return err
	}
	s.chunks = append(s.chunks, rows)
	if s.stored += rows.NumRows(); s.stored > 2*s.n+provider.DefaultBatchRows {
		return s.compact()
	}
	return nil
}

// skip finds the next row that enters the full reservoir (algorithm L of Li, 1994).
func (s *sampleSource) skip() {
	s.weight *= math.Exp(math.Log(s.float()) / float64(s.n))
	gap := math.Floor(math.Log(s.float()) / math.Log1p(-s.weight))
	if !(gap < math.MaxInt64/4) || s.next > math.MaxInt64/2 {
		s.next = math.MaxInt64
		return
	}
	s.next += int64(gap) + 1
}

// float is a random number above 0 and below 1.
func (s *sampleSource) float() float64 {
	for {
		if f := s.random.Float64(); f > 0 {
			return f
		}
	}
}

// compact drops the rows of chunks that have left the reservoir.
func (s *sampleSource) compact() error {
	order := s.inOrder()
	chunks := make([]arrow.RecordBatch, 0, len(s.chunks))
	defer func() { s.chunks = chunks }()
	s.stored = 0
	i := 0
	for c := range s.chunks {
		var rows []int64
		for ; i < len(order) && s.slots[order[i]].chunk == c; i++ {
			rows = append(rows, s.slots[order[i]].row)
			s.slots[order[i]].row = int64(len(rows) - 1)
			s.slots[order[i]].chunk = len(chunks)
		}
		if len(rows) > 0 {
			live, err := arrowutil.TakeRows(memory.DefaultAllocator, s.chunks[c], rows)
			if err != nil {
				chunks = append(chunks, s.chunks[c:]...)
				return err
			}
			chunks = append(chunks, live)
			s.stored += live.NumRows()
		}
		s.chunks[c].Release()
	}
	return nil
}

// inOrder are the indexes of the slots in the order of their rows, which is also that of chunks.
func (s *sampleSource) inOrder() []int {
	order := make([]int, len(s.slots))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.slots[a].position, s.slots[b].position) })
	return order
}

// finish makes the result.
func (s *sampleSource) finish() error {
	if err := s.compact(); err != nil {
		return err
	}
	s.out, s.chunks = s.chunks, nil
	return nil
}

func (s *sampleSource) Close() error {
	for _, b := range append(s.chunks, s.out...) {
		b.Release()
	}
	s.chunks, s.out = nil, nil
	return s.Source.Close()
}
