package structs

import (
	"reflect"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// places are the addresses of values in Go memory.
type places interface {
	// bind adds an addressable value of the node's type.
	bind(v reflect.Value)
	// unbind forgets all places.
	unbind()
}

// typedPlaces are places of values of type X, or of pointers to X, which are nil for null.
type typedPlaces[X any] interface {
	places
	// gather appends the values at the places [from, to), and whether they are not null.
	gather(dst []X, valid *validity, from, to int) []X
	// scatter sets the places from at on to values. Where valid is not set they are null, which may be an error with
	// the number of the value as its row.
	scatter(n *node, at int, values []X, valid bitmap.Bits) error
	// bindItems adds the places of a slice of X, and false of any other.
	bindItems(items reflect.Value) bool
}

// placesOf makes the places of a node whose underlying type is X.
func placesOf[X any](n *node) typedPlaces[X] {
	switch {
	case !n.pointer:
		return &cells[X]{}
	case n.goType == reflect.TypeFor[X]():
		return &pointers[X]{}
	}
	return &namedPointers[X]{}
}

// bindItems adds the places of all items of a slice.
func bindItems(p places, items reflect.Value) {
	if quick, ok := p.(interface{ bindItems(reflect.Value) bool }); ok && quick.bindItems(items) {
		return
	}
	for i := range items.Len() {
		p.bind(items.Index(i))
	}
}

// cells are places of values that are not null.
type cells[X any] struct{ at []*X }

func (c *cells[X]) bind(v reflect.Value) { c.at = append(c.at, address[X](v)) }
func (c *cells[X]) unbind()              { clear(c.at); c.at = c.at[:0] }

func (c *cells[X]) bindItems(items reflect.Value) bool {
	values, ok := reflect.TypeAssert[[]X](items)
	for i := range values {
		c.at = append(c.at, &values[i])
	}
	return ok
}

// address is the address of a value of type X, or of a named type that is made of X.
func address[X any](v reflect.Value) *X {
	p, ok := reflect.TypeAssert[*X](v.Addr())
	if !ok {
		p, _ = reflect.TypeAssert[*X](v.Addr().Convert(reflect.TypeFor[*X]()))
	}
	return p
}

func (c *cells[X]) gather(dst []X, _ *validity, from, to int) []X {
	for _, p := range c.at[from:to] {
		dst = append(dst, *p)
	}
	return dst
}

func (c *cells[X]) scatter(n *node, at int, values []X, valid bitmap.Bits) error {
	if valid.Nulls() > 0 {
		return nullError(n, valid)
	}
	to := c.at[at : at+len(values)]
	for i, p := range to {
		*p = values[i]
	}
	return nil
}

// nullError is the error of the first null.
func nullError(n *node, valid bitmap.Bits) error {
	row := 0
	for valid.At(row) {
		row++
	}
	return n.failed(row, "the value is null, which %s cannot be; *%s can", n.goType, n.goType)
}

// pointers are places of pointers to X, which are nil for null.
type pointers[X any] struct{ cells[*X] }

func (p *pointers[X]) gather(dst []X, valid *validity, from, to int) []X {
	for _, v := range p.at[from:to] {
		var x X
		if *v != nil {
			x = **v
		}
		valid.add(*v != nil)
		dst = append(dst, x)
	}
	return dst
}

func (p *pointers[X]) scatter(_ *node, at int, values []X, valid bitmap.Bits) error {
	fresh := slices.Clone(values)
	for i, v := range p.at[at : at+len(values)] {
		*v = nil
		if valid.At(i) {
			*v = &fresh[i]
		}
	}
	return nil
}

// namedPointers are places of pointers to a named type that is made of X, which are nil for null.
type namedPointers[X any] struct{ variables }

func (p *namedPointers[X]) bindItems(reflect.Value) bool { return false }

func (p *namedPointers[X]) gather(dst []X, valid *validity, from, to int) []X {
	for _, v := range p.at[from:to] {
		var x X
		if !v.IsNil() {
			x = *address[X](v.Elem())
		}
		valid.add(!v.IsNil())
		dst = append(dst, x)
	}
	return dst
}

func (p *namedPointers[X]) scatter(n *node, at int, values []X, valid bitmap.Bits) error {
	fresh := reflect.MakeSlice(reflect.SliceOf(n.goType), len(values), len(values))
	for i, v := range p.at[at : at+len(values)] {
		v.SetZero()
		if valid.At(i) {
			x := fresh.Index(i)
			*address[X](x) = values[i]
			v.Set(x.Addr())
		}
	}
	return nil
}

// validity tells which of some values are not null.
type validity struct {
	bits []byte
	n    int
}

func (v *validity) add(valid bool) {
	if v.n&7 == 0 {
		v.bits = append(v.bits, 0)
	}
	if valid {
		v.bits[v.n>>3] |= 1 << (v.n & 7)
	}
	v.n++
}

func (v *validity) reset() { v.bits, v.n = v.bits[:0], 0 }

func (v *validity) addIf(nullable, valid bool) {
	if nullable {
		v.add(valid)
	}
}

func (v *validity) at(i int) bool { return v.bits[i>>3]>>(i&7)&1 != 0 }

// buffer is nil for values that cannot be null.
func (v *validity) buffer() *memory.Buffer {
	if v.n == 0 {
		return nil
	}
	return memory.NewBufferBytes(v.bits)
}

// slots are places of slices of bytes, which are nil for null.
type slots struct{ cells[[]byte] }

func (s *slots) gather(dst [][]byte, valid *validity, from, to int) [][]byte {
	for _, p := range s.at[from:to] {
		valid.add(*p != nil)
		dst = append(dst, *p)
	}
	return dst
}

func (s *slots) scatter(_ *node, at int, values [][]byte, valid bitmap.Bits) error {
	for i, p := range s.at[at : at+len(values)] {
		*p = nil
		if valid.At(i) {
			*p = slices.Clip(values[i]) // so that appending to one does not change its neighbour
		}
	}
	return nil
}

// views are places of arrays of bytes, as slices of them.
type views struct{ at [][]byte }

func (v *views) bind(a reflect.Value) { v.at = append(v.at, a.Bytes()) }
func (v *views) unbind()              { clear(v.at); v.at = v.at[:0] }

// variables are places of other values.
type variables struct{ at []reflect.Value }

func (v *variables) bind(p reflect.Value) { v.at = append(v.at, p) }
func (v *variables) unbind()              { clear(v.at); v.at = v.at[:0] }
