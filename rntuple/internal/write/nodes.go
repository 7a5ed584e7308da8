package write

import (
	"errors"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// A span is the rows of an array from one up to another.
type span struct{ from, to int }

// spans are rows of an array, in their order.
type spans []span

func (s spans) add(from, to int) spans {
	if from == to {
		return s
	}
	if n := len(s); n > 0 && s[n-1].to == from {
		s[n-1].to = to
		return s
	}
	return append(s, span{from, to})
}

// around is the least span that has all rows.
func (s spans) around() span {
	if len(s) == 0 {
		return span{}
	}
	all := s[0]
	for _, r := range s {
		all = span{min(all.from, r.from), max(all.to, r.to)}
	}
	return all
}

// A node appends rows of an array to the columns of a field and those below it. The array was checked, and
// none of the rows is null.
type node interface {
	append(e *encoder, arr arrow.Array, rows spans) error
	reset() // begins a cluster
}

// A field is a node with what the schema says of it.
type field struct {
	node
	id       uint32
	typeName string // of C++
	path     string // as in projections
	nullable bool   // the node is an optional
}

// put appends rows of an array of any layout.
func (f *field) put(e *encoder, arr arrow.Array, rows spans) error {
	if len(rows) == 0 {
		return nil
	}
	if wrapped(arr) {
		all := rows.around()
		slice := array.NewSlice(arr, int64(all.from), int64(all.to))
		defer slice.Release()
		plain, err := arrowutil.Plain(memory.DefaultAllocator, slice)
		if err != nil {
			return in(err, f.path)
		}
		defer plain.Release()
		shifted := make(spans, len(rows))
		for i, r := range rows {
			shifted[i] = span{r.from - all.from, r.to - all.from}
		}
		arr, rows = plain, shifted
	}
	if _, union := arr.(array.Union); !f.nullable && !union && arrowutil.NullN(arr) > 0 {
		valid := arrowutil.Validity(arr)
		for _, r := range rows {
			if valid.Slice(r.from, r.to).Nulls() > 0 {
				return in(fault.Unsupportedf("a null, where the field is not nullable"), f.path)
			}
		}
	}
	return in(f.append(e, arr, rows), f.path)
}

// in names a field in an error that names none yet.
func in(err error, path string) error {
	var named *fault.Error
	if err == nil || errors.As(err, &named) && named.Column != "" {
		return err
	}
	return fault.InColumn(err, path)
}

// wrapped tells whether an array is none of a plain layout.
func wrapped(arr arrow.Array) bool {
	dt := arr.DataType()
	return kinds.Of(dt) == kinds.Wrap || arrowutil.WithoutView(dt) != dt
}

// values are numbers, truth values, or arrays of so many bytes, which are the elements of their column.
type values struct {
	c     *col
	width int // elements of a value
}

func (n *values) reset() {}

func (n *values) append(e *encoder, arr arrow.Array, rows spans) error {
	d := arr.Data()
	src := d.Buffers()[1].Bytes()
	for _, r := range rows {
		if err := n.c.values(e, src, n.width*(d.Offset()+r.from), n.width*(r.to-r.from)); err != nil {
			return err
		}
	}
	return nil
}

// byteStrings are texts or binary values.
type byteStrings struct{ index, content *col }

func (n *byteStrings) reset() {}

func (n *byteStrings) append(e *encoder, arr arrow.Array, rows spans) error {
	items, err := collections(n.index, e, arr, rows, n.content.count)
	if err != nil {
		return err
	}
	var src []byte
	if b := arr.Data().Buffers()[2]; b != nil {
		src = b.Bytes()
	}
	for _, r := range items {
		if err := n.content.values(e, src, r.from, r.to-r.from); err != nil {
			return err
		}
	}
	return nil
}

// collections appends the ends of rows of texts, binary values or lists to an index column. The first begins behind so many items. The
// result is the rows of their items.
func collections(index *col, e *encoder, arr arrow.Array, rows spans, before int64) (items spans, err error) {
	if id := arr.DataType().ID(); id == arrow.LARGE_STRING || id == arrow.LARGE_BINARY || id == arrow.LARGE_LIST {
		return collectionsBetween(index, e, arrowutil.Offsets[int64](arr), rows, before)
	}
	return collectionsBetween(index, e, arrowutil.Offsets[int32](arr), rows, before)
}

func collectionsBetween[O int32 | int64](index *col, e *encoder, off []O, rows spans, before int64) (items spans, err error) {
	for _, r := range rows {
		if err := offsets(index, e, off[r.from:r.to+1], before); err != nil {
			return nil, err
		}
		items = items.add(int(off[r.from]), int(off[r.to]))
		before += int64(off[r.to] - off[r.from])
	}
	return items, nil
}

// indexed are values that have any number of items.
type indexed struct {
	index *col
	item  *field
	items int64 // of the cluster
}

func (n *indexed) reset() {
	n.items = 0
	n.item.reset()
}

// list is a collection.
type list struct{ indexed }

func (n *list) append(e *encoder, arr arrow.Array, rows spans) error {
	items, err := collections(n.index, e, arr, rows, n.items)
	if err != nil {
		return err
	}
	for _, r := range items {
		n.items += int64(r.to - r.from)
	}
	return n.item.put(e, arr.(array.ListLike).ListValues(), items)
}

// fixedList is an array of so many items.
type fixedList struct {
	item *field
	n    int
}

func (n *fixedList) reset() { n.item.reset() }

func (n *fixedList) append(e *encoder, arr arrow.Array, rows spans) error {
	items := make(spans, 0, len(rows))
	at := arr.Data().Offset()
	for _, r := range rows {
		items = items.add((at+r.from)*n.n, (at+r.to)*n.n)
	}
	return n.item.put(e, arr.(*array.FixedSizeList).ListValues(), items)
}

// record is a struct.
type record struct{ fields []*field }

func (n *record) reset() {
	for _, f := range n.fields {
		f.reset()
	}
}

func (n *record) append(e *encoder, arr arrow.Array, rows spans) error {
	s := arr.(*array.Struct)
	for i, f := range n.fields {
		if err := f.put(e, s.Field(i), rows); err != nil {
			return err
		}
	}
	return nil
}

// optional is a collection of the values that are not null.
type optional struct{ indexed }

func (n *optional) append(e *encoder, arr arrow.Array, rows spans) error {
	if arrowutil.NullN(arr) == 0 {
		for _, r := range rows {
			if err := n.index.ends(e, r.to-r.from, func(i int) int64 { return n.items + int64(i) + 1 }); err != nil {
				return err
			}
			n.items += int64(r.to - r.from)
		}
		return n.item.append(e, arr, rows)
	}
	valid := arrowutil.Validity(arr)
	present := make(spans, 0, len(rows))
	for _, r := range rows {
		err := n.index.ends(e, r.to-r.from, func(i int) int64 {
			if valid.At(r.from + i) {
				n.items++
			}
			return n.items
		})
		if err != nil {
			return err
		}
		present = validSpans(present, valid, r)
	}
	return n.item.append(e, arr, present)
}

// validSpans adds those of a span whose bits are set.
func validSpans(dst spans, valid bitmap.Bits, r span) spans {
	for at := r.from; at < r.to; at += 64 {
		w := valid.Slice(at, min(at+64, r.to)).Word(0)
		for i := 0; w != 0; {
			skip := bits.TrailingZeros64(w)
			w >>= skip
			n := bits.TrailingZeros64(^w)
			i += skip
			dst = dst.add(at+i, at+i+n)
			i += n
			if n == 64 {
				break
			}
			w >>= n
		}
	}
	return dst
}

// only is the one field of a struct, which stands for the struct: Arrow has no nullable value that is
// nullable itself.
type only struct{ *field }

func (n only) append(e *encoder, arr arrow.Array, rows spans) error {
	return n.put(e, arr.(*array.Struct).Field(0), rows)
}
