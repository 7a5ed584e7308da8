package aggregate

import (
	"bytes"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/column"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/keys"
	"github.com/amudai/amudai-go/internal/engine/order"
)

// extremes is the least or greatest ordinal of each group.
type extremes struct {
	perGroup[int64]
	greatest bool
}

func newExtremes(greatest bool) *extremes {
	e := &extremes{greatest: greatest}
	if e.first = math.MaxInt64; greatest {
		e.first = math.MinInt64
	}
	return e
}

func (e *extremes) add(groups []uint32, arg *argument) error {
	v, _ := arg.column.Ordinals()
	best := e.n
	if e.greatest {
		for i, g := range groups {
			best[g] = max(best[g], v[i])
		}
		return nil
	}
	for i, g := range groups {
		best[g] = min(best[g], v[i])
	}
	return nil
}

// numberExtremes is the least or greatest decimal of each group.
type numberExtremes struct {
	perGroup[decimal128.Num]
	greatest bool
}

func newNumberExtremes(greatest bool) *numberExtremes {
	e := &numberExtremes{greatest: greatest}
	if e.first = decimal128.New(math.MaxInt64, math.MaxUint64); greatest {
		e.first = decimal128.New(math.MinInt64, 0)
	}
	return e
}

func (e *numberExtremes) add(groups []uint32, arg *argument) error {
	v, _ := arg.column.Numbers()
	for i, g := range groups {
		if best := &e.n[g]; e.greatest && best.Less(v[i]) || !e.greatest && v[i].Less(*best) {
			*best = v[i]
		}
	}
	return nil
}

// picks is one value of each group, of any type: the first or last one, or the least or greatest by its encoding.
type picks struct {
	mem             memory.Allocator
	which           which
	perGroup[int64]               // the row in chunks, or -1
	chunks          []arrow.Array // of the type of arguments
	rows            int64         // of all chunks
	bytes           int64         // of all chunks
	encoder         *order.Encoder
	best            perGroup[[]byte] // encoded; for least and greatest
	coded           int64            // bytes of best
	code            []byte
	taken           []int64

	dictionary arrow.ArrayData // of the last batch; the reference keeps its address from another one
	seen       []uint64        // a bit for each group and entry of it, set for those that were compared
	fresh      []uint32        // groups of rows that are compared
}

const mostSeen = 1 << 24 // bits

type which int

const (
	first which = iota
	last
	least
	greatest
)

func newPicks(mem memory.Allocator, dt arrow.DataType, w which) (*picks, error) {
	p := &picks{mem: mem, which: w, perGroup: perGroup[int64]{first: -1}}
	if w == first || w == last {
		return p, nil
	}
	var err error
	p.encoder, err = order.NewEncoder([]order.Key{{Type: dt}})
	return p, err
}

func (p *picks) grow(groups int) {
	p.perGroup.grow(groups)
	if p.encoder != nil {
		p.best.grow(groups)
	}
}

func (p *picks) size() int64 {
	return p.perGroup.size() + p.best.size() + p.coded + p.bytes + int64(8*cap(p.seen))
}

func (p *picks) release() {
	arrowutil.ReleaseAll(p.chunks)
	p.chunks = nil
}

// add marks the row of each group first, and takes the marked ones then.
func (p *picks) add(groups []uint32, arg *argument) error {
	arr, base := arg.column.Array, p.rows
	switch p.which {
	case first:
		for i, g := range groups {
			if p.n[g] < 0 {
				p.n[g] = base + int64(i)
			}
		}
	case last:
		for i, g := range groups {
			p.n[g] = base + int64(i)
		}
	default:
		var err error
		if arr, groups, err = p.candidates(groups, arg.arr); err != nil {
			return err
		}
		defer arr.Release()
		p.compare(groups, arr)
	}
	p.n[keys.None] = 0
	p.taken = p.taken[:0]
	for i, g := range groups {
		if g != keys.None && p.n[g] == base+int64(i) {
			p.n[g] = base + int64(len(p.taken))
			p.taken = append(p.taken, int64(i))
		}
	}
	if len(p.taken) == 0 {
		return nil
	}
	chunk, err := arrowutil.Take(p.mem, arr, p.taken)
	if err != nil {
		return err
	}
	return p.keep(chunk)
}

// candidates are the rows that may be the least or greatest, without wrappers, and their groups. A value of a dictionary is compared once for each group.
func (p *picks) candidates(groups []uint32, arr arrow.Array) (arrow.Array, []uint32, error) {
	d, ok := arrowutil.Storage(arr).(*array.Dictionary)
	if !ok || d.DataType().(*arrow.DictionaryType).IndexType.(arrow.FixedWidthDataType).Bytes() != 4 ||
		len(p.n)*d.Dictionary().Len() > mostSeen {
		plain, err := arrowutil.Plain(p.mem, arr)
		return plain, groups, err
	}
	if p.dictionary != d.Dictionary().Data() {
		p.dictionary, p.seen = d.Dictionary().Data(), p.seen[:0]
	}
	entries := uint64(d.Dictionary().Len())
	if more := (len(p.n)*int(entries)+63)/64 - len(p.seen); more > 0 {
		p.seen = append(p.seen, make([]uint64, more)...)
	}
	p.taken, p.fresh = p.taken[:0], p.fresh[:0]
	codes := arrowutil.Values[uint32](d.Indices())
	for i, g := range groups {
		if g == keys.None {
			continue
		}
		if code := uint64(codes[i]); code < entries { // others are an error below
			at := uint64(g)*entries + code
			if p.seen[at/64]>>(at%64)&1 != 0 {
				continue
			}
			p.seen[at/64] |= 1 << (at % 64)
		}
		p.taken, p.fresh = append(p.taken, int64(i)), append(p.fresh, g)
	}
	plain, err := column.TakePlain(p.mem, arr, p.taken)
	return plain, p.fresh, err
}

// compare marks rows that are better than all before them.
func (p *picks) compare(groups []uint32, arr arrow.Array) {
	row := p.encoder.Rows(arr)
	for i, g := range groups {
		if g == keys.None {
			continue
		}
		p.code = row(p.code[:0], i)
		if best := p.best.n[g]; best != nil {
			if c := bytes.Compare(p.code, best); p.which == least && c >= 0 || p.which == greatest && c <= 0 {
				continue
			}
		}
		p.coded += int64(len(p.code) - len(p.best.n[g]))
		p.best.n[g] = append(p.best.n[g][:0], p.code...)
		p.n[g] = p.rows + int64(i)
	}
}

// keep adds a chunk. Values that are no longer picked are dropped once they are most.
func (p *picks) keep(chunk arrow.Array) error {
	p.chunks = append(p.chunks, chunk)
	p.rows += int64(chunk.Len())
	p.bytes += column.SizeOf(chunk)
	if p.rows < int64(4*len(p.n)+1<<16) {
		return nil
	}
	kept, err := p.values(1, len(p.n))
	if err != nil {
		return err
	}
	p.release()
	p.chunks, p.rows, p.bytes = []arrow.Array{kept}, int64(kept.Len()), column.SizeOf(kept)
	for g := 1; g < len(p.n); g++ {
		if p.n[g] >= 0 {
			p.n[g] = int64(g - 1)
		}
	}
	return nil
}

// values are the picked values of groups, null for a group without any.
func (p *picks) values(from, to int) (arrow.Array, error) {
	if len(p.chunks) == 0 {
		return nil, nil
	}
	all, err := arrowutil.Concatenate(p.mem, p.chunks)
	if err != nil {
		return nil, err
	}
	defer all.Release()
	return arrowutil.Take(p.mem, all, p.n[from:to])
}
