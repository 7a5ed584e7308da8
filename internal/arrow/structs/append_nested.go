package structs

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// structAppender collects structs field by field.
type structAppender struct {
	n    *node
	kids []appender
}

func newStructAppender(n *node) *structAppender {
	a := &structAppender{n: n}
	for _, kid := range n.kids {
		a.kids = append(a.kids, newAppender(kid))
	}
	return a
}

func (a *structAppender) append(s span) error {
	for i, kid := range a.kids {
		if err := kid.append(s.field(a.n.kids[i].offset)); err != nil {
			return err
		}
	}
	return nil
}

func (a *structAppender) skip(n int) {
	for _, kid := range a.kids {
		kid.skip(n)
	}
}

func (a *structAppender) array(n int) arrow.Array {
	return nest(a.n.dt, n, nil, nil, a.columns(n)...)
}

func (a *structAppender) columns(n int) []arrow.Array {
	columns := make([]arrow.Array, len(a.kids))
	for i, kid := range a.kids {
		columns[i] = kid.array(n)
	}
	return columns
}

func (a *structAppender) reset() {
	for _, kid := range a.kids {
		kid.reset()
	}
}

func (a *structAppender) bytes() (n int) {
	for _, kid := range a.kids {
		n += kid.bytes()
	}
	return n
}

// nest is an array of n values that are made of kids, whose references it takes.
func nest(dt arrow.DataType, n int, valid *validity, offsets []int32, kids ...arrow.Array) arrow.Array {
	buffers, nulls := []*memory.Buffer{nil}, 0
	if valid != nil {
		buffers[0], nulls = valid.buffer(), -1
	}
	if offsets != nil {
		buffers = append(buffers, memory.NewBufferBytes(arrowutil.Bytes(offsets)))
	}
	data := make([]arrow.ArrayData, len(kids))
	for i, kid := range kids {
		data[i] = kid.Data()
	}
	return arrowutil.Make(dt, n, buffers, data, nulls)
}

// optionalAppender collects what pointers to structs and arrays point to.
type optionalAppender struct {
	n     *node
	child appender
	valid validity
}

func (a *optionalAppender) append(s span) error {
	for i := range s.n {
		p := *(*unsafe.Pointer)(s.value(i))
		a.valid.add(p != nil)
		if p == nil {
			a.child.skip(1)
		} else if err := a.child.append(span{at: p, n: 1}); err != nil {
			return inRow(err, i)
		}
	}
	return nil
}

func (a *optionalAppender) skip(n int) {
	a.child.skip(n)
	for range n {
		a.valid.add(false)
	}
}

func (a *optionalAppender) array(n int) arrow.Array {
	plain := a.child.array(n)
	defer plain.Release()
	buffers := slices.Clone(plain.Data().Buffers())
	buffers[0] = a.valid.buffer()
	for _, b := range buffers[1:] {
		b.Retain()
	}
	kids := slices.Clone(plain.Data().Children())
	for _, kid := range kids {
		kid.Retain()
	}
	return arrowutil.Make(a.n.dt, n, buffers, kids, -1)
}

func (a *optionalAppender) reset()     { a.child.reset(); a.valid.reset() }
func (a *optionalAppender) bytes() int { return a.child.bytes() + len(a.valid.bits) }

// ranges are the offsets and the validity of lists and maps.
type ranges struct {
	n       *node
	offsets []int32
	valid   validity
}

// add adds a list of some items, or a null.
func (r *ranges) add(items int, valid bool) error {
	end := int(r.offsets[len(r.offsets)-1])
	if items > maxOffset-end {
		return r.n.full()
	}
	r.offsets = append(r.offsets, int32(end+items))
	r.valid.add(valid)
	return nil
}

func (r *ranges) skip(n int) {
	for range n {
		_ = r.add(0, false) // no items fit anywhere
	}
}

func (r *ranges) reset() {
	r.offsets = r.offsets[:1]
	r.valid.reset()
}

// listAppender collects slices.
type listAppender struct {
	ranges
	child appender
}

func (a *listAppender) append(s span) error {
	for i := range s.n {
		items := *(*slice)(s.value(i))
		if err := a.add(items.len, items.at != nil); err != nil {
			return err
		}
		if err := a.child.append(span{items.at, a.n.goType.Elem().Size(), items.len}); err != nil {
			return inRow(err, i)
		}
	}
	return nil
}

func (a *listAppender) array(n int) arrow.Array {
	return nest(a.n.dt, n, &a.valid, a.offsets[:n+1], a.child.array(int(a.offsets[n])))
}

func (a *listAppender) reset()     { a.ranges.reset(); a.child.reset() }
func (a *listAppender) bytes() int { return a.child.bytes() + 4*len(a.offsets) }

// tupleAppender collects arrays of a fixed length.
type tupleAppender struct {
	n     *node
	child appender
}

func (a *tupleAppender) append(s span) error {
	for i := range s.n {
		if err := a.child.append(span{s.value(i), a.n.goType.Elem().Size(), a.n.goType.Len()}); err != nil {
			return inRow(err, i)
		}
	}
	return nil
}

func (a *tupleAppender) skip(n int) { a.child.skip(n * a.n.goType.Len()) }

func (a *tupleAppender) array(n int) arrow.Array {
	return nest(a.n.dt, n, nil, nil, a.child.array(n*a.n.goType.Len()))
}

func (a *tupleAppender) reset()     { a.child.reset() }
func (a *tupleAppender) bytes() int { return a.child.bytes() }

// mapAppender collects maps, in the order of their keys.
type mapAppender struct {
	ranges
	keys   appender
	values appender

	// Copies of the entries of a map, because those in it have no address, and the order of their keys.
	keyCopies, valueCopies reflect.Value
	order                  []int
}

func newMapAppender(n *node) *mapAppender {
	a := &mapAppender{ranges: ranges{n: n, offsets: make([]int32, 1)}, keys: newAppender(n.kids[0]), values: newAppender(n.kids[1])}
	a.makeCopies(0)
	return a
}

func (a *mapAppender) makeCopies(n int) {
	a.keyCopies, a.valueCopies = makeItems(a.n.goType.Key(), n), makeItems(a.n.goType.Elem(), n)
}

func (a *mapAppender) append(s span) error {
	defer func() { // so that they keep nothing in memory
		a.keyCopies.Clear()
		a.valueCopies.Clear()
	}()
	for i := range s.n {
		m := reflect.NewAt(a.n.goType, s.value(i)).Elem()
		if err := a.add(m.Len(), !m.IsNil()); err != nil {
			return err
		}
		if err := a.appendEntries(m); err != nil {
			return inRow(err, i)
		}
	}
	return nil
}

func (a *mapAppender) appendEntries(m reflect.Value) error {
	n := m.Len()
	if n > a.keyCopies.Len() {
		a.makeCopies(2 * n)
	}
	keys, values := a.keyCopies, a.valueCopies
	a.order = a.order[:0]
	for entry := m.MapRange(); len(a.order) < n && entry.Next(); {
		k := len(a.order)
		keys.Index(k).SetIterKey(entry)
		values.Index(k).SetIterValue(entry)
		a.order = append(a.order, k)
	}
	if len(a.order) < n {
		return errors.New("a map changes while it is written")
	}
	slices.SortFunc(a.order, func(x, y int) int { return compareKeys(keys.Index(x), keys.Index(y)) })
	for _, k := range a.order {
		if err := cmp.Or(a.keys.append(itemsOf(keys).part(k, k+1)), a.values.append(itemsOf(values).part(k, k+1))); err != nil {
			return err
		}
	}
	return nil
}

func compareKeys(a, b reflect.Value) int {
	switch {
	case a.Kind() == reflect.String:
		return cmp.Compare(a.String(), b.String())
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	}
	return cmp.Compare(a.Uint(), b.Uint())
}

func (a *mapAppender) array(n int) arrow.Array {
	items := int(a.offsets[n])
	entries := nest(a.n.dt.(*arrow.MapType).Elem(), items, nil, nil, a.keys.array(items), a.values.array(items))
	return nest(a.n.dt, n, &a.valid, a.offsets[:n+1], entries)
}

func (a *mapAppender) reset() {
	a.ranges.reset()
	a.keys.reset()
	a.values.reset()
}

func (a *mapAppender) bytes() int { return a.keys.bytes() + a.values.bytes() + 4*len(a.offsets) }
