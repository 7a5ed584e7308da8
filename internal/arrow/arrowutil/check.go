package arrowutil

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// ErrMalformed means that the buffers of an array contradict each other.
var ErrMalformed = errors.New("malformed Arrow array")

// Check checks that arr can be read without reaching beyond its buffers: their lengths,
// offsets, indices, run ends and the lengths of children. It reads offsets and indices but no
// values, and only those parts of children that arr refers to. An error wraps [ErrMalformed].
func Check(arr arrow.Array) error {
	d := arr.Data()
	if err := check(d, 0, d.Len()); err != nil {
		return fmt.Errorf("%w of type %s: %w", ErrMalformed, arr.DataType(), err)
	}
	return nil
}

// CheckBatch is [Check] of all columns of a batch. Its error names the column. Everything that takes batches from
// callers does it before it looks at them.
func CheckBatch(batch arrow.RecordBatch) error {
	for i, c := range batch.Columns() {
		err := Check(c)
		if err == nil && int64(c.Len()) != batch.NumRows() {
			err = fmt.Errorf("%w: %d values in a batch of %d rows", ErrMalformed, c.Len(), batch.NumRows())
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", batch.ColumnName(i), err)
		}
	}
	return nil
}

// CheckNulls checks that a column has no nulls if its field is not nullable. Those of unions are nulls of their alternatives.
func CheckNulls(f arrow.Field, arr arrow.Array) error {
	if n := NullN(arr); n > 0 && !f.Nullable && f.Type.ID() != arrow.NULL && kinds.Of(f.Type) != kinds.Choice {
		return fmt.Errorf("column %q has %d nulls, but its field is not nullable", f.Name, n)
	}
	return nil
}

// check checks the slots of d from lo up to hi.
func check(d arrow.ArrayData, lo, hi int) error {
	dt := kinds.Storage(d.DataType())
	if d.Len() < 0 || d.Offset() < 0 || d.Offset() > math.MaxInt-d.Len() || lo < 0 || lo > hi || hi > d.Len() {
		return fmt.Errorf("slots %d to %d of %d at offset %d", lo, hi, d.Len(), d.Offset())
	}
	l := kinds.LayoutOf(dt)
	if lo == hi || l.Form == kinds.Nothing {
		return nil
	}
	c := checker{d: d, lo: d.Offset() + lo, hi: d.Offset() + hi}
	if valid := c.buffer(0); valid != nil && valid.Len() < (c.hi+7)/8 {
		return fmt.Errorf("validity bitmap of %d bytes for %d slots", valid.Len(), c.hi)
	}
	switch l.Form {
	case kinds.Fixed:
		return c.hasRoom(l)
	case kinds.Bytes:
		_, _, err := c.offsets(l.Width, c.size(2))
		return err
	case kinds.Views:
		return c.views()
	case kinds.Rows:
		return c.list(l.Width, dt.(arrow.ListLikeType).Elem())
	case kinds.RowViews:
		if l.Width == 4 {
			return checkListView[int32](&c, dt.(arrow.ListLikeType).Elem())
		}
		return checkListView[int64](&c, dt.(arrow.ListLikeType).Elem())
	case kinds.Codes:
		return c.dictionary(dt.(*arrow.DictionaryType))
	case kinds.Runs:
		return c.runs(dt.(*arrow.RunEndEncodedType))
	case kinds.Addressed:
		return c.union(dt.(arrow.UnionType))
	case kinds.Parallel:
		if u, ok := dt.(arrow.UnionType); ok {
			return c.union(u)
		}
		if l.Each < 0 || l.Each > 0 && c.hi > math.MaxInt/l.Each {
			return fmt.Errorf("%d lists of %d items", c.hi, l.Each)
		}
		for i, f := range dt.(arrow.NestedType).Fields() {
			if err := c.child(i, f.Type, c.lo*l.Each, c.hi*l.Each); err != nil {
				return err
			}
		}
	}
	return nil
}

// checker checks a range of slots, which are counted from the start of the buffers.
type checker struct {
	d      arrow.ArrayData
	lo, hi int
}

// buffer is the i-th buffer, or nil.
func (c *checker) buffer(i int) *memory.Buffer {
	if all := c.d.Buffers(); i < len(all) {
		return all[i]
	}
	return nil
}

func (c *checker) size(i int) int {
	if b := c.buffer(i); b != nil {
		return b.Len()
	}
	return 0
}

// hasSize checks that buffer i has at least size bytes.
func (c *checker) hasSize(i, size int) error {
	if got := c.size(i); got < size {
		return fmt.Errorf("buffer %d has %d bytes, %d are needed", i, got, size)
	}
	return nil
}

// hasRoom checks that buffer 1 has room for all slots, without reading it.
func (c *checker) hasRoom(l kinds.Layout) error {
	bits, more := 8*l.Width, 0
	switch l.Form {
	case kinds.Fixed:
		bits = l.Width
	case kinds.Bytes, kinds.Rows:
		more = 1
	case kinds.Views, kinds.RowViews, kinds.Codes:
	default:
		return nil
	}
	if bits > 0 && c.hi > math.MaxInt/bits-8 {
		return fmt.Errorf("%d slots of %d bits", c.hi, bits)
	}
	return c.hasSize(1, ((c.hi+more)*bits+7)/8)
}

// slots are the values of buffer i in the range of slots, and more behind them.
func slots[T any](c *checker, i, more int) ([]T, error) {
	if err := c.hasSize(i, (c.hi+more)*sizeOf[T]()); err != nil {
		return nil, err
	}
	return As[T](c.buffer(i).Bytes())[c.lo : c.hi+more], nil
}

// checkOffsets checks that offsets ascend up to size, and returns the first and the last.
func checkOffsets[O int32 | int64](c *checker, size int) (first, last int, err error) {
	offsets, err := slots[O](c, 1, 1)
	if err != nil {
		return 0, 0, err
	}
	at, falls := offsets[0], O(0)
	for _, next := range offsets[1:] {
		falls |= next | (next - at) // negative if one is, or if they fall
		at = next
	}
	if offsets[0] < 0 || falls < 0 || int64(at) > int64(size) {
		return 0, 0, fmt.Errorf("offsets from %d to %d do not ascend within %d", offsets[0], at, size)
	}
	return int(offsets[0]), int(at), nil
}

// offsets is checkOffsets for offsets of 4 or 8 bytes.
func (c *checker) offsets(width, size int) (first, last int, err error) {
	if width == 4 {
		return checkOffsets[int32](c, size)
	}
	return checkOffsets[int64](c, size)
}

// child checks the slots of child i from lo up to hi. Its layout must be that of dt.
func (c *checker) child(i int, dt arrow.DataType, lo, hi int) error {
	children := c.d.Children()
	if i >= len(children) || children[i] == nil {
		return fmt.Errorf("child %d is missing", i)
	}
	if got := children[i].DataType(); got.ID() != dt.ID() {
		return fmt.Errorf("child %d is of type %s, not %s", i, got, dt)
	}
	if hi > children[i].Len() {
		return fmt.Errorf("child %d has %d slots, %d are needed", i, children[i].Len(), hi)
	}
	return check(children[i], lo, hi)
}

func (c *checker) list(width int, item arrow.DataType) error {
	size := 0
	if children := c.d.Children(); len(children) > 0 && children[0] != nil {
		size = children[0].Len()
	}
	first, last, err := c.offsets(width, size)
	if err != nil {
		return err
	}
	return c.child(0, item, first, last)
}

func checkListView[O int32 | int64](c *checker, item arrow.DataType) error {
	offsets, err := slots[O](c, 1, 0)
	if err != nil {
		return err
	}
	sizes, err := slots[O](c, 2, 0)
	if err != nil {
		return err
	}
	valid := validity(c)
	lo, hi := math.MaxInt, 0
	for i, o := range offsets {
		if !valid(i) || sizes[i] == 0 {
			continue
		}
		if o < 0 || sizes[i] < 0 || int64(o) > math.MaxInt64-int64(sizes[i]) {
			return fmt.Errorf("list of %d items at %d", sizes[i], o)
		}
		lo, hi = min(lo, int(o)), max(hi, int(o)+int(sizes[i]))
	}
	return c.child(0, item, min(lo, hi), hi)
}

// validity is the validity of the slots.
func validity(c *checker) func(i int) bool {
	b := c.buffer(0)
	if b == nil || c.d.NullN() == 0 {
		return func(int) bool { return true }
	}
	bits := b.Bytes()
	return func(i int) bool { return bits[(c.lo+i)/8]>>((c.lo+i)%8)&1 != 0 }
}

func (c *checker) views() error {
	views, err := slots[arrow.ViewHeader](c, 1, 0)
	if err != nil {
		return err
	}
	valid := validity(c)
	for i := range views {
		v := &views[i]
		if !valid(i) || v.IsInline() && v.Len() >= 0 {
			continue
		}
		at, in := int64(v.BufferOffset()), int64(v.BufferIndex())
		if v.Len() < 0 || at < 0 || in < 0 || in > math.MaxInt32 || at+int64(v.Len()) > int64(c.size(2+int(in))) {
			return fmt.Errorf("view of %d bytes at %d of buffer %d", v.Len(), at, in)
		}
	}
	return nil
}

func (c *checker) dictionary(dt *arrow.DictionaryType) error {
	indices, err := integers(c, dt.IndexType)
	if err != nil {
		return err
	}
	d, ok := c.d.Dictionary().(*array.Data)
	if !ok || d == nil {
		return errors.New("dictionary is missing")
	}
	if d.DataType().ID() != dt.ValueType.ID() {
		return fmt.Errorf("dictionary of type %s, not %s", d.DataType(), dt.ValueType)
	}
	valid := validity(c)
	lo, hi := int64(math.MaxInt64), int64(-1)
	for i := range c.hi - c.lo {
		if !valid(i) {
			continue
		}
		k := indices(i)
		if k < 0 || k >= int64(d.Len()) {
			return fmt.Errorf("index %d of a dictionary of %d values", k, d.Len())
		}
		lo, hi = min(lo, k), max(hi, k)
	}
	if hi < 0 {
		return nil
	}
	if err := checkSizes(d); err != nil {
		return err
	}
	if hi-lo < 4*int64(c.hi-c.lo) {
		return check(d, int(lo), int(hi+1))
	}
	for i := range c.hi - c.lo { // few slots, large dictionary
		if k := int(indices(i)); valid(i) {
			if err := check(d, k, k+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSizes checks that the buffers of d are large enough for all of its slots, without
// reading them.
func checkSizes(d arrow.ArrayData) error {
	c := checker{d: d, lo: d.Offset(), hi: d.Offset() + d.Len()}
	if err := c.hasRoom(kinds.LayoutOf(d.DataType())); err != nil && c.hi > c.lo {
		return err
	}
	for _, child := range d.Children() {
		if err := checkSizes(child); err != nil {
			return err
		}
	}
	return nil
}

// integers returns the slots of buffer 1 as numbers. Numbers of more than 63 bits become
// negative.
func integers(c *checker, dt arrow.DataType) (func(i int) int64, error) {
	if !arrow.IsInteger(dt.ID()) {
		return nil, fmt.Errorf("%s is no type of integers", dt)
	}
	if err := c.hasRoom(kinds.LayoutOf(dt)); err != nil {
		return nil, err
	}
	d := array.NewData(dt, c.hi-c.lo, []*memory.Buffer{nil, c.buffer(1)}, nil, 0, c.lo)
	defer d.Release()
	arr := array.MakeFromData(d)
	defer arr.Release()
	return Integers(arr), nil // of memory of the caller
}

// union checks type codes, and the slots of children that they, and the offsets of a dense union, refer to.
func (c *checker) union(dt arrow.UnionType) error {
	codes, err := slots[arrow.UnionTypeCode](c, 1, 0)
	if err != nil {
		return err
	}
	place := func(i int) int { return c.lo + i }
	if dt.Mode() == arrow.DenseMode {
		offsets, err := slots[int32](c, 2, 0)
		if err != nil {
			return err
		}
		place = func(i int) int { return int(offsets[i]) }
	}
	ids := dt.ChildIDs()
	used := make([]struct{ lo, hi int }, len(dt.Fields()))
	for i, code := range codes {
		if code < 0 || int(code) >= len(ids) || ids[code] == arrow.InvalidUnionChildID {
			return fmt.Errorf("type code %d, which the union lacks", code)
		}
		u, at := &used[ids[code]], place(i)
		if at < 0 {
			return fmt.Errorf("offset %d of a union", at)
		}
		if u.hi == 0 {
			u.lo = at
		}
		u.lo, u.hi = min(u.lo, at), max(u.hi, at+1)
	}
	for i, f := range dt.Fields() {
		if dt.Mode() == arrow.SparseMode {
			used[i].lo, used[i].hi = c.lo, c.hi
		}
		if err := c.child(i, f.Type, used[i].lo, used[i].hi); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) runs(dt *arrow.RunEndEncodedType) error {
	children := c.d.Children()
	if len(children) != 2 || children[0] == nil || children[1] == nil {
		return errors.New("run ends or values are missing")
	}
	ends := children[0]
	if ends.DataType().ID() != dt.RunEnds().ID() {
		return fmt.Errorf("run ends of type %s, not %s", ends.DataType(), dt.RunEnds())
	}
	if err := check(ends, 0, ends.Len()); err != nil {
		return err
	}
	end, err := integers(&checker{d: ends, lo: ends.Offset(), hi: ends.Offset() + ends.Len()}, dt.RunEnds())
	if err != nil {
		return err
	}
	first, last, before := -1, 0, int64(0)
	for i := range ends.Len() {
		e := end(i)
		if e <= before {
			return fmt.Errorf("run end %d follows %d", e, before)
		}
		if first < 0 && e > int64(c.lo) {
			first = i
		}
		if before < int64(c.hi) {
			last = i
		}
		before = e
	}
	if first < 0 || before < int64(c.hi) {
		return fmt.Errorf("runs of %d slots, %d are needed", before, c.hi)
	}
	return c.child(1, dt.Encoded(), first, last+1)
}
