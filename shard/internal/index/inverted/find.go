package inverted

import (
	"context"
	"iter"
	"math"
	"sort"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/text/analysis"
)

// place is an entry of a leaf.
type place struct {
	page int64
	i    int
}

// Find yields the entries of a term, or of all terms with a prefix, in their order. Case does not matter, whatever the collation. A term may
// have several entries.
func (x *Index) Find(ctx context.Context, term []byte, prefix bool) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		at, err := x.seek(ctx, term)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for e, err := range x.from(ctx, at) {
			same := err == nil && analysis.CaseInsensitive.HasPrefix(e.Term, term) &&
				(prefix || analysis.CaseInsensitive.Compare(e.Term, term) == 0)
			if err == nil && !same || !yield(e, err) {
				return
			}
		}
	}
}

// All yields all entries in their order.
func (x *Index) All(ctx context.Context) iter.Seq2[Entry, error] { return x.from(ctx, place{}) }

// seek finds the first entry that is not before a term, whatever the case.
func (x *Index) seek(ctx context.Context, term []byte) (place, error) {
	at := x.Pages - 1
	for at >= 0 {
		p, err := x.page(ctx, at)
		if err != nil {
			return place{}, err
		}
		i := sort.Search(len(p.entries), func(i int) bool { return analysis.CaseInsensitive.Compare(p.entries[i].Term, term) >= 0 })
		if p.leaf {
			return place{at, i}, nil
		}
		at = p.children[min(i, len(p.children)-1)]
	}
	return place{}, nil
}

// from yields the entries from a place on.
func (x *Index) from(ctx context.Context, at place) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for ; at.page < x.Pages; at = (place{page: at.page + 1}) {
			p, err := x.page(ctx, at.page)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for i := at.i; p.leaf && i < len(p.entries); i++ {
				if !yield(p.entries[i], nil) {
					return
				}
			}
		}
	}
}

// Before is the last list before the entries of a term, or of a prefix: its last row may have these terms, too, if the reference wrote
// the index. ok is false if there is none.
func (x *Index) Before(ctx context.Context, term []byte) (l List, ok bool, err error) {
	at, err := x.seek(ctx, term)
	if err != nil {
		return l, false, err
	}
	for end := at.i; at.page >= 0 && x.Pages > 0; at.page, end = at.page-1, math.MaxInt {
		p, err := x.page(ctx, at.page)
		if err != nil {
			return l, false, err
		}
		for i := min(end, len(p.entries)) - 1; p.leaf && i >= 0; i-- {
			if lists := p.entries[i].Lists; len(lists) > 0 {
				return lists[len(lists)-1], true, nil
			}
		}
	}
	return l, false, nil
}

// Last is the last row of a list; ok is false if it is empty.
func (x *Index) Last(ctx context.Context, l List) (row int64, ok bool, err error) {
	if l.from == l.to {
		return 0, false, nil
	}
	err = x.numbers(ctx, l.to-1, l.to, func(v []uint64) error {
		row = int64(v[0])
		if l.Form != Rows {
			row--
		}
		return x.check(l, uint64(row), uint64(row)+1)
	})
	return row, true, err
}

// Set returns the rows of a list from from up to (not including) to. Of an approximate list, only some of them have the term.
func (x *Index) Set(ctx context.Context, l List, from, to int64) (rowset.Set, error) {
	var ranges []rowset.Range
	next, first := uint64(0), uint64(0) // rows before next were seen
	odd := false
	add := func(begin, end uint64) error {
		if err := x.check(l, begin, end); err != nil || begin < next {
			return fault.Corruptf("rows from %d up to %d in a list of %d rows, behind %d", begin, end, x.Rows, next)
		}
		next = end
		r := rowset.Range{From: max(int64(begin), from), To: min(int64(end), to)}
		if n := len(ranges); n > 0 && r.From < r.To && ranges[n-1].To == r.From {
			ranges[n-1].To = r.To
		} else if r.From < r.To {
			ranges = append(ranges, r)
		}
		return nil
	}
	err := x.numbers(ctx, l.from, l.to, func(values []uint64) error {
		for _, v := range values {
			switch {
			case l.Form == Rows:
				if err := add(v, v+1); err != nil {
					return err
				}
			case odd:
				if err := add(first, v); err != nil {
					return err
				}
			default:
				first = v
			}
			odd = !odd
		}
		return nil
	})
	return rowset.Of(ranges...), err
}

// check checks that rows are some of the shard.
func (x *Index) check(l List, begin, end uint64) error {
	if begin >= end || end > uint64(x.Rows) {
		return fault.Corruptf("rows from %d up to %d in a list of form %d, of %d rows", begin, end, l.Form, x.Rows)
	}
	return nil
}

// readNumbers is how many numbers are read at once.
const readNumbers = 1 << 16

// numbers calls yield with numbers of the positions shard. A slice is valid until the next call.
func (x *Index) numbers(ctx context.Context, from, to uint64, yield func([]uint64) error) error {
	for from < to {
		n := min(to-from, readNumbers)
		arr, err := x.positions.Read(ctx, int64(from), int64(from+n))
		if err != nil {
			return err
		}
		a, ok := arr.(*array.Uint64)
		if !ok || a.NullN() > 0 {
			err = fault.Corruptf("positions of %v with nulls", arr.DataType())
		} else {
			err = yield(a.Uint64Values())
		}
		arr.Release()
		if err != nil {
			return fault.In(err, "positions", -1)
		}
		from += n
	}
	return nil
}
