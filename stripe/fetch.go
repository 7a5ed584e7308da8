package stripe

import (
	"context"
	"slices"
	"sort"

	"github.com/amudai/amudai-go/rowset"
	"github.com/amudai/amudai-go/storage"
)

// Piece is a range of bytes of an artifact that a read needs.
type Piece struct {
	Reader storage.Reader
	Offset int64
	Size   int64
}

// Need appends the pieces that reading rows takes, as far as that is known
// beforehand: not the items of lists, which only offsets tell, nor a value
// dictionary.
func (c *Column) Need(dst []Piece, rows rowset.Set) []Piece {
	w := workers.Get().(*worker)
	defer workers.Put(w)
	w.options = &c.options
	c.reader.need(w, rows, func(p Piece) { dst = append(dst, p) })
	return dst
}

// DataSize is how many bytes the blocks of the column take that Need tells of.
func (c *Column) DataSize() (n int64) {
	if c.rows == 0 {
		return 0
	}
	for _, p := range c.Need(nil, rowset.All(c.rows)) {
		n += p.Size
	}
	return n
}

// need gives the pieces of the blocks that hold rows. What is wrong with them is
// found when they are read.
func (br *blockReader) need(w *worker, rows rowset.Set, add func(Piece)) {
	parts, err := br.parts(w, rows)
	if err != nil {
		return
	}
	for len(parts) > 0 {
		n, size := run(parts)
		add(Piece{br.r, br.start + parts[0].Offset, int64(size)})
		parts = parts[n:]
	}
}

// Fetched holds bytes that were read at once for several columns. It does not
// change, and may be used by many goroutines.
type Fetched struct{ regions []region } // by reader, then by offset

type region struct {
	reader int // its number among the readers of the pieces
	r      storage.Reader
	offset int64
	bytes  []byte
}

// Fetch reads pieces: those with at most gap bytes between them in one request, of
// about limit bytes at most, unless what belongs together is larger. Any that fails
// is an error.
func Fetch(ctx context.Context, pieces []Piece, gap, limit int64) (*Fetched, error) {
	number := map[storage.Reader]int{}
	for _, p := range pieces {
		if _, ok := number[p.Reader]; !ok {
			number[p.Reader] = len(number)
		}
	}
	slices.SortFunc(pieces, func(a, b Piece) int {
		switch na, nb := number[a.Reader], number[b.Reader]; {
		case na != nb:
			return na - nb
		case a.Offset != b.Offset:
			return int(min(max(a.Offset-b.Offset, -1), 1))
		}
		return int(min(max(a.Size-b.Size, -1), 1))
	})
	f := &Fetched{}
	for len(pieces) > 0 {
		first := pieces[0]
		end, n := first.Offset+first.Size, 1
		for _, p := range pieces[1:] {
			between := p.Offset - end
			full := p.Offset+p.Size-first.Offset > limit && between > readGap // a column reads through less
			if p.Reader != first.Reader || between > max(gap, readGap) || full {
				break
			}
			end = max(end, p.Offset+p.Size)
			n++
		}
		pieces = pieces[n:]
		b := make([]byte, end-first.Offset)
		if err := first.Reader.ReadAt(ctx, b, first.Offset); err != nil {
			return nil, err
		}
		f.regions = append(f.regions, region{number[first.Reader], first.Reader, first.Offset, b})
	}
	return f, nil
}

// bytes are those of a range, nil if they were not fetched.
func (f *Fetched) bytes(r storage.Reader, offset int64, n int) []byte {
	if f == nil {
		return nil
	}
	for i := 0; i < len(f.regions); {
		if f.regions[i].r != r { // the next reader
			i += sort.Search(len(f.regions)-i, func(k int) bool { return f.regions[i+k].reader > f.regions[i].reader })
			continue
		}
		k := i + sort.Search(len(f.regions)-i, func(k int) bool {
			g := &f.regions[i+k]
			return g.reader != f.regions[i].reader || g.offset+int64(len(g.bytes)) >= offset+int64(n)
		})
		if k == len(f.regions) || f.regions[k].r != r || f.regions[k].offset > offset {
			return nil
		}
		from := offset - f.regions[k].offset
		return f.regions[k].bytes[from : from+int64(n) : from+int64(n)]
	}
	return nil
}
