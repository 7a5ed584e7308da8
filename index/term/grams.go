package term

import (
	"cmp"
	"context"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/postings"
	"github.com/amudai/amudai-go/internal/text/analysis"
	"github.com/amudai/amudai-go/storage"
)

const (
	gramLen     = 3
	gramNumbers = 1 << 16
	gramBlocks  = 4   // an index of fewer blocks has no grams
	maxPages    = 256 // of grams
	gramShare   = 16  // the lists of grams take at most one part in so many of the other bytes
	gramMemory  = 8 << 20
)

// gramNumber is the number of the gram at the beginning of b.
func gramNumber(b []byte) uint16 {
	return uint16((uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])) * 0x9e3779b1 >> 16)
}

// numPages is the number of pages of grams of an index of some blocks.
func numPages(blocks int) int {
	if blocks < gramBlocks {
		return 0
	}
	return min(1<<(bits.Len(uint(blocks))-1), maxPages)
}

// gramWriter collects the blocks that have each gram.
type gramWriter struct {
	collation Collation
	memory    int                      // for lists; the longest are dropped before they take more
	seen      [gramNumbers / 64]uint64 // in the open block
	found     []uint16                 // the same
	of        []uint32                 // the list of each number, counted from 1; 0 if there is none
	lists     []gramList
	size      int // bytes of all lists
	cutBlock  bool
	cut       []uint32 // blocks with terms that may have been cut
	writer    postings.Writer
	rows      []uint32
}

// gramList is the blocks that have a gram.
type gramList struct {
	gram uint16 // its number
	n    int
	last uint32
	gaps []byte // uvarints; nil if the list was dropped
	all  bool   // the list was dropped
}

// add adds a term, of which the first bytes are those of the one before in the block.
func (g *gramWriter) add(term []byte, shared int) {
	for i := max(shared-gramLen+1, 0); i+gramLen <= len(term); i++ {
		n := gramNumber(term[i:])
		if bit := uint64(1) << (n % 64); g.seen[n/64]&bit == 0 {
			g.seen[n/64] |= bit
			g.found = append(g.found, n)
		}
	}
	g.cutBlock = g.cutBlock || analysis.MayBeCut(g.collation, term)
}

// endBlock ends the block of a number.
func (g *gramWriter) endBlock(block uint32) {
	if g.of == nil {
		g.of = make([]uint32, gramNumbers)
	}
	for _, n := range g.found {
		if g.of[n] == 0 {
			g.lists = append(g.lists, gramList{gram: n})
			g.of[n] = uint32(len(g.lists))
		}
		l := g.list(n)
		if !l.all {
			before := len(l.gaps)
			l.gaps = binary.AppendUvarint(l.gaps, uint64(block-l.last))
			g.size += len(l.gaps) - before
		}
		l.last = block
		l.n++
	}
	clear(g.seen[:])
	g.found = g.found[:0]
	if g.cutBlock {
		g.cut, g.cutBlock = append(g.cut, block), false
	}
	if g.size > g.memory {
		g.drop(g.memory/2, func(l *gramList) int { return len(l.gaps) })
	}
}

// list is the list of a gram, nil if no block has it.
func (g *gramWriter) list(number uint16) *gramList {
	if g.of == nil || g.of[number] == 0 {
		return nil
	}
	return &g.lists[g.of[number]-1]
}

// numbers are those of all grams, ascending.
func (g *gramWriter) numbers() []uint16 {
	out := make([]uint16, 0, len(g.lists))
	for i := range g.lists {
		out = append(out, g.lists[i].gram)
	}
	slices.Sort(out)
	return out
}

// drop drops the lists of the most frequent grams until the others have at most limit bytes.
func (g *gramWriter) drop(limit int, size func(*gramList) int) {
	numbers := g.numbers()
	slices.SortStableFunc(numbers, func(a, b uint16) int { return cmp.Compare(g.list(b).n, g.list(a).n) })
	g.size = 0
	for _, n := range numbers {
		g.size += size(g.list(n))
	}
	for _, n := range numbers {
		if g.size <= limit {
			return
		}
		l := g.list(n)
		g.size -= size(l)
		l.gaps, l.all = nil, true
	}
}

// blocks are those of a list.
func (l *gramList) blocks(dst []uint32) []uint32 {
	block := uint32(0)
	for b := l.gaps; len(b) > 0; {
		gap, n := binary.Uvarint(b)
		block += uint32(gap)
		dst, b = append(dst, block), b[n:]
	}
	return dst
}

// pages returns the pages of an index of some blocks, and the list of cut blocks. Their lists take up to limit bytes.
func (g *gramWriter) pages(blocks int, limit int64) [][]byte {
	n := numPages(blocks)
	if n == 0 {
		return nil
	}
	for i := range g.lists { // from here on, gaps are the list as stored
		l := &g.lists[i]
		if 2*l.n > blocks || l.all {
			l.gaps, l.all = nil, true
			continue
		}
		g.rows = l.blocks(g.rows[:0])
		l.gaps = append(l.gaps[:0], g.encode(g.rows, blocks)...)
	}
	g.drop(int(limit), func(l *gramList) int { return len(l.gaps) })
	numbers := g.numbers()
	pages := make([][]byte, n+1)
	for p, first := 0, 0; p < n; p++ {
		end := first
		for end < len(numbers) && int(numbers[end])*n/gramNumbers == p {
			end++
		}
		pages[p] = g.page(numbers[first:end], p*gramNumbers/n)
		first = end
	}
	if len(g.cut) > 0 {
		pages[n] = container.AppendChecksum(append(binary.AppendUvarint(nil, uint64(len(g.cut))), g.encode(g.cut, blocks)...), 0)
	}
	return pages
}

// encode encodes a list. The result is valid until the next call.
func (g *gramWriter) encode(rows []uint32, total int) []byte {
	g.writer.Bytes = g.writer.Bytes[:0]
	g.writer.Append(rows, total)
	g.writer.Align()
	return g.writer.Bytes
}

// page is the page of some grams, whose first number may be first.
func (g *gramWriter) page(numbers []uint16, first int) []byte {
	if len(numbers) == 0 {
		return nil
	}
	var counts, sizes, lists []byte
	out := binary.AppendUvarint(nil, uint64(len(numbers)))
	for _, number := range numbers {
		out = binary.AppendUvarint(out, uint64(int(number)-first))
		first = int(number) + 1
		l := g.list(number)
		if l.all {
			counts = append(counts, 0)
			continue
		}
		counts = binary.AppendUvarint(counts, uint64(l.n))
		sizes = binary.AppendUvarint(sizes, uint64(len(l.gaps)))
		lists = append(lists, l.gaps...)
	}
	return container.AppendChecksum(slices.Concat(out, counts, sizes, lists), 0)
}

// page is a page of grams.
type page struct {
	numbers []uint16
	counts  []uint32
	sizes   []uint32
	lists   []byte
}

// parsePage parses a page of an index of some blocks, with some numbers from first on.
func parsePage(data []byte, first, numbers, blocks int) (*page, error) {
	p := new(page)
	if len(data) == 0 {
		return p, nil
	}
	data, err := container.CutChecksum(data)
	if err != nil {
		return nil, err
	}
	n, data, ok := uvarint(data, uint64(min(numbers, len(data))))
	if !ok {
		return nil, fault.Corruptf("a page of the list of trigrams has %d of at most %d", n, numbers)
	}
	all := make([]uint32, 2*n)
	p.numbers, p.counts, p.sizes = make([]uint16, n), all[:n], all[n:]
	end, x, lists := first+numbers, uint64(0), 0
	for i := range p.numbers {
		if x, data, ok = uvarint(data, uint64(end-first-1)); !ok || first == end {
			return nil, fault.Corruptf("number of gram %d", i)
		}
		first += int(x)
		p.numbers[i] = uint16(first)
		first++
	}
	for i := range p.counts {
		if x, data, ok = uvarint(data, uint64(blocks)); !ok {
			return nil, fault.Corruptf("blocks of gram %d", i)
		}
		p.counts[i] = uint32(x)
	}
	for i := range p.sizes {
		if p.counts[i] == 0 {
			continue
		}
		if x, data, ok = uvarint(data, uint64(len(data))); !ok {
			return nil, fault.Corruptf("size of the list of gram %d", i)
		}
		p.sizes[i] = uint32(x)
		lists += int(x)
	}
	if lists != len(data) {
		return nil, fault.Corruptf("lists of grams have %d bytes of %d", lists, len(data))
	}
	p.lists = data
	return p, nil
}

// find returns the blocks of gram i of all. If they are not listed, all is true.
func (p *page) find(number uint16, blocks int) (list []uint32, all bool, err error) {
	i, ok := slices.BinarySearch(p.numbers, number)
	if !ok {
		return nil, false, nil
	}
	n := int(p.counts[i])
	if n == 0 {
		return nil, true, nil
	}
	at := uint32(0)
	for _, size := range p.sizes[:i] {
		at += size
	}
	r := postings.NewReader(p.lists[at : at+p.sizes[i]])
	list, err = r.Append(make([]uint32, 0, min(n, blocks)), n, blocks)
	return list, false, err
}

// page returns a page, from bytes that were read before if they are there.
func (x *Index) page(ctx context.Context, i int, read storage.Prefetched) (*page, error) {
	data, err := read.Read(ctx, x.file.Reader, x.file.Offset+x.pages[i], x.pages[i+1]-x.pages[i])
	if err != nil {
		return nil, err
	}
	numbers := gramNumbers / x.numPages()
	p, err := parsePage(data, i*numbers, numbers, len(x.blocks))
	return p, fault.In(err, "grams", x.pages[i])
}

// numPages is the number of pages of grams.
func (x *Index) numPages() int { return len(x.pages) - 2 }

// cutBlocks are the blocks with terms that may have been cut.
func (x *Index) cutBlocks(ctx context.Context, read storage.Prefetched) ([]uint32, error) {
	from, to := x.pages[x.numPages()], x.pages[x.numPages()+1]
	if from == to {
		return nil, nil
	}
	data, err := read.Read(ctx, x.file.Reader, x.file.Offset+from, to-from)
	if err == nil {
		data, err = container.CutChecksum(data)
	}
	if err != nil {
		return nil, fault.In(err, "list of cut blocks", from)
	}
	n, data, ok := uvarint(data, uint64(len(x.blocks)))
	if !ok || n == 0 {
		return nil, fault.Corruptf("list of %d cut blocks of %d", n, len(x.blocks))
	}
	r := postings.NewReader(data)
	return r.Append(nil, int(n), len(x.blocks))
}

// Containing are the blocks that may have terms which contain a text, or which may have been cut: all, if grams do not say. It reads the grams of the text, if
// it has any, and no blocks.
func (x *Index) Containing(ctx context.Context, text []byte) (blocks []uint32, err error) {
	if x.pages == nil || len(text) < gramLen {
		return x.allBlocks(), nil
	}
	var numbers []uint16
	for i := 0; i+gramLen <= len(text) && len(numbers) < maxGrams; i++ {
		numbers = append(numbers, gramNumber(text[i:]))
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	read, err := x.readPages(ctx, numbers)
	if err != nil {
		return nil, err
	}
	if blocks, err = x.haveAll(ctx, numbers, read); err != nil || len(blocks) == len(x.blocks) {
		return blocks, err
	}
	cut, err := x.cutBlocks(ctx, read)
	if len(cut) > 0 {
		blocks = append(blocks, cut...)
		slices.Sort(blocks)
		blocks = slices.Compact(blocks)
	}
	return blocks, err
}

func (x *Index) allBlocks() (all []uint32) {
	for i := range x.blocks {
		all = append(all, uint32(i))
	}
	return all
}

// maxGrams is how many grams of a text are looked for.
const maxGrams = 32

// readPages reads the pages of some numbers, and the list of cut blocks.
func (x *Index) readPages(ctx context.Context, numbers []uint16) (storage.Prefetched, error) {
	n := x.numPages()
	var ranges []storage.ByteRange
	for i := range n + 1 {
		wanted := i == n || slices.ContainsFunc(numbers, func(number uint16) bool { return int(number)*n/gramNumbers == i })
		if size := x.pages[i+1] - x.pages[i]; wanted && size > 0 {
			ranges = append(ranges, storage.ByteRange{Reader: x.file.Reader, Offset: x.file.Offset + x.pages[i], Size: size})
		}
	}
	return storage.Prefetch(ctx, ranges, storage.DefaultCoalesce(x.file.Reader.Capabilities().Latency))
}

// haveAll are the blocks that have all grams of some ascending numbers.
func (x *Index) haveAll(ctx context.Context, numbers []uint16, read storage.Prefetched) (blocks []uint32, err error) {
	var p *page
	for i, number := range numbers {
		of := int(number) * x.numPages() / gramNumbers
		if i == 0 || of != int(numbers[i-1])*x.numPages()/gramNumbers {
			if p, err = x.page(ctx, of, read); err != nil {
				return nil, err
			}
		}
		list, any, err := p.find(number, len(x.blocks))
		if err != nil {
			return nil, fault.In(err, "grams", x.pages[of])
		}
		switch {
		case any:
		case blocks == nil:
			blocks = append([]uint32{}, list...) // not nil, which is all
		default:
			blocks = slices.DeleteFunc(blocks, func(b uint32) bool {
				_, ok := slices.BinarySearch(list, b)
				return !ok
			})
		}
	}
	if blocks == nil {
		blocks = x.allBlocks()
	}
	return blocks, nil
}
