package inverted

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/shard/internal/index/internal/columns"
)

// page is a page in memory. It does not change.
type page struct {
	leaf     bool
	entries  []Entry
	children []int64 // of a page that is no leaf
}

// page reads page i.
func (x *Index) page(ctx context.Context, i int64) (*page, error) {
	if p, ok := x.cache.Get(i); ok {
		return p, nil
	}
	p, size, err := x.readPage(ctx, i)
	if err != nil {
		return nil, fault.In(err, "inverted index", -1)
	}
	x.cache.Put(i, p, size)
	return p, nil
}

func (x *Index) readPage(ctx context.Context, i int64) (*page, int64, error) {
	levels, err := readRow[*array.Uint8](ctx, x.level, i)
	if err != nil {
		return nil, 0, err
	}
	defer levels.Release()
	starts, err := readRow[*array.Uint64](ctx, x.start, i)
	if err != nil {
		return nil, 0, err
	}
	defer starts.Release()
	lists, err := readRow[*array.LargeList](ctx, x.entries, i)
	if err != nil {
		return nil, 0, err
	}
	defer lists.Release()
	p := &page{leaf: levels.Value(0) == 0}
	if levels.IsNull(0) || starts.IsValid(0) != p.leaf || lists.IsNull(0) {
		return nil, 0, fault.Corruptf("page %d of level %d is not complete", i, levels.Value(0))
	}
	size, err := x.parse(p, i, starts.Value(0), lists)
	return p, size, err
}

// readRow reads a row of a column as an array of a type.
func readRow[A interface {
	Release()
}](ctx context.Context, c *columns.Column, row int64) (out A, err error) {
	arr, err := c.Read(ctx, row, row+1)
	if err != nil {
		return out, err
	}
	out, ok := arr.(A)
	if !ok {
		arr.Release()
		return out, fault.Corruptf("pages of the type %v", arr.DataType())
	}
	return out, nil
}

// items are the structs of a list, and a part of them.
type items struct {
	*array.Struct
	from, to int
}

// itemsOf are the items of a list.
func itemsOf(list *array.LargeList, i int) (items, error) {
	s, ok := list.ListValues().(*array.Struct)
	if !ok {
		return items{}, fault.Corruptf("list of %v", list.DataType())
	}
	from, to := list.ValueOffsets(i)
	return items{s, int(from), int(to)}, nil
}

// parse parses the entries of page i, and returns about how much memory they take.
func (x *Index) parse(p *page, i int64, start uint64, list *array.LargeList) (size int64, err error) {
	e, err := itemsOf(list, 0)
	if err != nil {
		return 0, err
	}
	terms, children := e.Field(0).(*array.LargeBinary), e.Field(1).(*array.Uint64)
	byStripe := e.Field(2).(*array.LargeList)
	if e.from == e.to {
		return 0, fault.Corruptf("page %d is empty", i)
	}
	for k := e.from; k < e.to; k++ {
		if terms.IsNull(k) {
			return 0, fault.Corruptf("page %d has no term %d", i, k-e.from)
		}
		entry := Entry{Term: append([]byte(nil), terms.Value(k)...)}
		size += int64(len(entry.Term)) + 64
		if n := len(p.entries); n > 0 && x.Collation.Compare(p.entries[n-1].Term, entry.Term) > 0 {
			return 0, fault.Corruptf("page %d has the term %q too late", i, entry.Term)
		}
		if p.leaf {
			if entry.Lists, start, err = x.lists(byStripe, k, start); err != nil {
				return 0, fault.In(err, "term", -1)
			}
			size += 32 * int64(len(entry.Lists))
		} else {
			child := children.Value(k)
			if children.IsNull(k) || child >= uint64(i) { // pages follow their children
				return 0, fault.Corruptf("page %d has a child %d", i, child)
			}
			p.children = append(p.children, int64(child))
		}
		p.entries = append(p.entries, entry)
	}
	return size, nil
}

// lists parses the lists of an entry, which begin at start, and returns where they end.
func (x *Index) lists(byStripe *array.LargeList, k int, start uint64) (out []List, end uint64, err error) {
	s, err := itemsOf(byStripe, k)
	if err != nil {
		return nil, 0, err
	}
	stripes, byField := s.Field(0).(*array.Uint16), s.Field(1).(*array.LargeList)
	for i := s.from; i < s.to; i++ {
		f, err := itemsOf(byField, i)
		if err != nil {
			return nil, 0, err
		}
		ids, forms, ends := f.Field(0).(*array.Uint32), f.Field(1).(*array.Uint8), f.Field(2).(*array.Uint64)
		for j := f.from; j < f.to; j++ {
			l := List{Stripe: stripes.Value(i), Field: ids.Value(j), Form: Form(forms.Value(j)), from: start, to: ends.Value(j)}
			if l.Form > Approximate || l.to < l.from || l.to > uint64(x.Positions) || l.Form != Rows && (l.to-l.from)%2 != 0 {
				return nil, 0, fault.Corruptf("list of form %d from %d up to %d of %d", l.Form, l.from, l.to, x.Positions)
			}
			out, start = append(out, l), l.to
		}
	}
	return out, start, nil
}

// The rules by which the reference shortens lists.
const (
	maxRows   = 64 // rows before a list is of ranges, if any two are consecutive
	maxRanges = 64 // ranges before a list is approximate, if any gap is small
	maxGap    = 3  // rows between ranges of an approximate list that become one
)

// span is a range of rows.
type span struct{ from, to uint32 }

// list is a list of rows in the making.
type list struct {
	form  Form
	rows  []uint32 // of the form Rows
	spans []span   // of other forms
	near  bool     // Rows: two of them are consecutive; Ranges: a gap is small
}

// add adds a row behind the others; the last one again changes nothing.
func (l *list) add(row uint32) {
	if l.form == Rows {
		l.addRow(row)
		return
	}
	gap := uint32(0)
	if l.form == Approximate {
		gap = maxGap
	}
	last := &l.spans[len(l.spans)-1]
	if row <= last.to+gap {
		last.to = max(last.to, row+1)
	} else {
		l.near = l.near || row <= last.to+maxGap
		l.spans = append(l.spans, span{row, row + 1})
	}
	if l.form == Ranges && len(l.spans) > maxRanges && l.near {
		l.form, l.spans = Approximate, joined(l.spans, maxGap)
	}
}

func (l *list) addRow(row uint32) {
	if n := len(l.rows); n > 0 {
		if l.rows[n-1] == row {
			return
		}
		l.near = l.near || l.rows[n-1]+1 == row
	}
	l.rows = append(l.rows, row)
	if len(l.rows) <= maxRows || !l.near {
		return
	}
	for _, r := range l.rows {
		l.spans = append(l.spans, span{r, r + 1})
	}
	l.form, l.rows, l.spans = Ranges, l.rows[:0], joined(l.spans, 0)
	l.near = false
	for i := range l.spans[1:] {
		l.near = l.near || l.spans[i+1].from <= l.spans[i].to+maxGap
	}
}

// joined joins spans with a gap between them, in place.
func joined(spans []span, gap uint32) []span {
	out := spans[:1]
	for _, s := range spans[1:] {
		if last := &out[len(out)-1]; s.from <= last.to+gap {
			last.to = s.to
		} else {
			out = append(out, s)
		}
	}
	return out
}

// each calls yield with the numbers that are stored.
func (l *list) each(yield func(uint64)) {
	for _, r := range l.rows {
		yield(uint64(r))
	}
	for _, s := range l.spans {
		yield(uint64(s.from))
		yield(uint64(s.to))
	}
}
