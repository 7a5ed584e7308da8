package ranking

import (
	"cmp"
	"container/heap"
	"context"
	"math/bits"
	"slices"
	"sort"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/text/analysis"
)

// Postings are the rows that have a word, in blocks. Calls are of one goroutine at a time.
type Postings interface {
	Blocks() int
	// Last is the last row of a block.
	Last(block int) uint32
	// Bounds are those of the rows of a block.
	Bounds(block int) analysis.Bounds
	// Rows is the rows of a block in their order, in the memory of rows if it is large enough. They are not to be changed.
	Rows(block int, rows []uint32) ([]uint32, error)
	// Counts is how often each row of the block that was read last has the word less 1, likewise.
	Counts(block int, counts []uint32) ([]uint32, error)
}

// Rows are the rows of postings.
func Rows(ctx context.Context, p Postings) (rowset.Set, error) {
	var all, rows []uint32
	for i := range p.Blocks() {
		err := ctx.Err()
		if err == nil {
			rows, err = p.Rows(i, rows)
		}
		if err != nil {
			return rowset.Set{}, err
		}
		all = append(all, rows...)
	}
	return rowset.FromPositions(all), nil
}

// Term is a word in a column.
type Term struct {
	Postings Postings
	Scorer   *Scorer
	Lengths  []uint8 // length codes of the column by row; 0 behind the end
}

// Hit is a row with its score.
type Hit struct {
	Row   uint32
	Score Score
}

// Top returns the k rows with the highest scores, which are the sums of those of their words, the best first and of equal ones the first row. Rows that are not among
// some, or have no more than a score of floor, are left out; nil is all rows.
//
// It looks at windows of rows, in which the bounds of blocks tell which words cannot bring a row among the best by themselves: only rows with another word are
// scored (H. Turtle, J. Flood, Query evaluation: Strategies and optimizations, 1995; S. Ding, T. Suel, Faster top-k document retrieval using
// block-max indexes, 2011).
func Top(ctx context.Context, terms []Term, among *rowset.Set, k int, floor Score) ([]Hit, error) {
	t := top{k: k, threshold: floor, among: among}
	end := uint32(0)
	for _, one := range terms {
		if n := one.Postings.Blocks(); n > 0 && k > 0 {
			t.words = append(t.words, newCursor(one, n))
			end = max(end, one.Postings.Last(n-1))
		}
	}
	if len(t.words) == 0 {
		return nil, nil
	}
	essential := t.words
	for start := uint64(0); start <= uint64(end); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to := t.window(uint32(start), end, essential)
		first := t.divide(uint32(start), to)
		if essential = t.words[first:]; len(essential) > 1 {
			to = min(to, uint32(start)+windowRows-1)
		}
		if err := t.score(uint32(start), to, first); err != nil {
			return nil, err
		}
		start = uint64(to) + 1
	}
	slices.SortFunc(t.hits, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row, b.Row)) })
	return t.hits, nil
}

// windowRows is the most rows of a window whose scores are added up in an array.
const windowRows = 4096

// top is a search for the best rows.
type top struct {
	words     []*cursor // those with the lowest bounds in the window first
	among     *rowset.Set
	k         int
	threshold Score // a row needs more
	hits      hits
	sums      [windowRows]Score
	some      [windowRows / 64]uint64 // rows with a sum
}

// hits are a heap with the worst at the front.
type hits []Hit

func (h hits) Len() int { return len(h) }
func (h hits) Less(i, j int) bool {
	return h[i].Score < h[j].Score || h[i].Score == h[j].Score && h[i].Row > h[j].Row
}
func (h hits) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *hits) Push(x any)   { *h = append(*h, x.(Hit)) }
func (h *hits) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// window returns the last row up to which each essential word has one block.
func (t *top) window(start, end uint32, essential []*cursor) uint32 {
	if len(essential) == 0 {
		essential = t.words[len(t.words)-1:]
	}
	for _, c := range essential {
		if c.seek(start); c.block < len(c.bounds) {
			end = min(end, c.Postings.Last(c.block))
		}
	}
	return max(end, start)
}

// divide orders the words by their bounds in a window, and returns the number of those that are not enough together.
func (t *top) divide(start, to uint32) (first int) {
	for _, c := range t.words {
		c.bound = c.most(start, to)
	}
	slices.SortFunc(t.words, func(a, b *cursor) int { return cmp.Compare(a.bound, b.bound) })
	sum := Score(0)
	for _, c := range t.words {
		if sum += c.bound; sum > t.threshold {
			break
		}
		c.sum = sum
		first++
	}
	if len(t.words)-first < 2 {
		return first
	}
	blocks := 0
	for _, c := range t.words[first:] {
		blocks += len(c.bounds)
	}
	for first > 0 && len(t.words[first-1].bounds) <= blocks { // to score all of its rows takes less time than to look for it in those of the others
		first--
		blocks += len(t.words[first].bounds)
	}
	return first
}

// score scores the rows of a window with one of the words from the first essential one on.
func (t *top) score(start, to uint32, first int) error {
	essential := t.words[first:]
	if len(essential) == 0 || t.among != nil && t.among.Clip(int64(start), int64(to)+1).Empty() {
		return nil
	}
	rest := Score(0) // the most that the words before add
	if first > 0 {
		rest = t.words[first-1].sum
	}
	if len(essential) == 1 {
		c := essential[0]
		return c.each(start, to, func(rows, counts []uint32) error {
			for i, row := range rows {
				if s := c.score(row, counts[i]); s+rest > t.threshold {
					if err := t.candidate(row, s, first); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	for _, c := range essential {
		err := c.each(start, to, func(rows, counts []uint32) error {
			for i, row := range rows {
				at := row - start
				t.sums[at] += c.score(row, counts[i])
				t.some[at/64] |= 1 << (at % 64)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for i := range t.some[:(to-start)/64+1] {
		for w := t.some[i]; w != 0; w &= w - 1 {
			at := uint32(64*i) + uint32(bits.TrailingZeros64(w))
			s := t.sums[at]
			if t.sums[at] = 0; s+rest > t.threshold {
				if err := t.candidate(start+at, s, first); err != nil {
					return err
				}
			}
		}
		t.some[i] = 0
	}
	return nil
}

// candidate adds the scores of the words before the essential ones to that of a row, as long as it may be among the best.
func (t *top) candidate(row uint32, s Score, first int) error {
	if t.among != nil && !t.among.Contains(int64(row)) {
		return nil
	}
	for i := first - 1; i >= 0; i-- {
		c := t.words[i]
		if c.seek(row); c.block == len(c.bounds) {
			continue
		}
		if s+c.sum-c.bound+c.bounds[c.block] <= t.threshold {
			return nil
		}
		one, err := c.scoreOf(row)
		if err != nil {
			return err
		}
		s += one
	}
	if s <= t.threshold {
		return nil
	}
	heap.Push(&t.hits, Hit{row, s})
	if len(t.hits) > t.k {
		heap.Pop(&t.hits)
	}
	if len(t.hits) == t.k {
		t.threshold = max(t.threshold, t.hits[0].Score)
	}
	return nil
}

// cursor is a word at a block of its rows.
type cursor struct {
	Term
	bounds  []Score      // of the blocks
	scores  [][256]Score // by count and length code; nil for few rows
	block   int          // the first that does not end before the window
	decoded int          // block whose rows are there, -1 for none
	counted bool         // its counts are there, too
	rows    []uint32
	counts  []uint32
	at      int   // in rows
	bound   Score // in the window
	sum     Score // of this word and those before in the window
}

// A word of many blocks has the scores of low frequencies in a table.
const (
	tableBlocks = 32
	tableCounts = 4
)

func newCursor(t Term, blocks int) *cursor {
	c := &cursor{Term: t, bounds: make([]Score, blocks), decoded: -1}
	for i := range c.bounds {
		c.bounds[i] = t.Scorer.most(t.Postings.Bounds(i))
	}
	if blocks >= tableBlocks {
		c.scores = make([][256]Score, tableCounts)
		for count := range c.scores {
			for length := range c.scores[count] {
				c.scores[count][length] = t.Scorer.Score(uint32(count+1), uint8(length))
			}
		}
	}
	return c
}

// seek goes to the block with the first row from a row on.
func (c *cursor) seek(row uint32) {
	if c.block == len(c.bounds) || c.Postings.Last(c.block) >= row {
		return
	}
	step := 1
	for c.block+step < len(c.bounds) && c.Postings.Last(c.block+step) < row {
		step *= 2
	}
	from := c.block + step/2
	c.block = from + sort.Search(min(c.block+step, len(c.bounds))-from, func(i int) bool { return c.Postings.Last(from+i) >= row })
}

// most is the most that a row of a window can score.
func (c *cursor) most(start, to uint32) (most Score) {
	c.seek(start)
	for i := c.block; i < len(c.bounds); i++ {
		most = max(most, c.bounds[i])
		if c.Postings.Last(i) >= to {
			break
		}
	}
	return most
}

// decode reads the rows of the block.
func (c *cursor) decode() (err error) {
	if c.decoded == c.block {
		return nil
	}
	c.decoded, c.counted, c.at = -1, false, 0
	if c.rows, err = c.Postings.Rows(c.block, c.rows); err == nil {
		c.decoded = c.block
	}
	return err
}

// count reads how often the rows of the block have the word.
func (c *cursor) count() (err error) {
	if !c.counted {
		c.counts, err = c.Postings.Counts(c.block, c.counts)
		c.counted = err == nil
	}
	return err
}

// each calls visit with the rows of a window, and how often each has the word less 1.
func (c *cursor) each(start, to uint32, visit func(rows, counts []uint32) error) error {
	for c.seek(start); c.block < len(c.bounds); c.block++ {
		err := c.decode()
		if err == nil {
			err = c.count()
		}
		if err != nil {
			return err
		}
		c.skip(start)
		from, last := c.at, c.Postings.Last(c.block)
		if c.at = len(c.rows); last > to {
			c.at = from + sort.Search(len(c.rows)-from, func(i int) bool { return c.rows[from+i] > to })
		}
		if err := visit(c.rows[from:c.at], c.counts[from:c.at]); err != nil || last >= to {
			return err
		}
	}
	return nil
}

// scoreOf is the score of a row of the block, 0 if it does not have the word. Rows come in ascending order.
func (c *cursor) scoreOf(row uint32) (Score, error) {
	if err := c.decode(); err != nil {
		return 0, err
	}
	if c.skip(row); c.at == len(c.rows) || c.rows[c.at] != row {
		return 0, nil
	}
	if err := c.count(); err != nil {
		return 0, err
	}
	return c.score(row, c.counts[c.at]), nil
}

// near is how many rows are looked at one after the other, which is faster than to divide them, as most candidates are near the one before.
const near = 8

// skip goes to the first row of the block from a row on.
func (c *cursor) skip(row uint32) {
	for range near {
		if c.at == len(c.rows) || c.rows[c.at] >= row {
			return
		}
		c.at++
	}
	rest := c.rows[c.at:]
	c.at += sort.Search(len(rest), func(i int) bool { return rest[i] >= row })
}

// score is the score of a row that has the word once more than count.
func (c *cursor) score(row, count uint32) Score {
	length := uint8(0)
	if int(row) < len(c.Lengths) {
		length = c.Lengths[row]
	}
	if int(count) < len(c.scores) {
		return c.scores[count][length]
	}
	return c.Scorer.Score(count+1, length)
}
