package structs

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
)

// nest sets shape, type and kids of a nested type. The option of a tag is that of the items of a list.
func (n *node) nest(o tag, at scope) (err error) {
	switch t := n.goType; t.Kind() {
	case reflect.Struct:
		n.shape = shapeStruct
		if err = n.addFields(t, 0, at, map[string]string{}); err == nil && len(n.kids) == 0 {
			err = at.errorf("%s has no exported fields", t)
		}
		if err == nil {
			n.dt = arrow.StructOf(n.fields()...)
		}
	case reflect.Slice:
		n.shape, n.nullable = shapeList, true
		if err = n.addKid("item", t.Elem(), o, at); err == nil {
			n.dt = arrow.ListOfField(n.kids[0].field())
		}
	case reflect.Array:
		n.shape = shapeTuple
		if t.Len() > math.MaxInt32 {
			return at.errorf("%s has too many items", t)
		}
		if err = n.addKid("item", t.Elem(), o, at); err == nil {
			n.dt = arrow.FixedSizeListOfField(int32(t.Len()), n.kids[0].field())
		}
	default:
		n.shape, n.nullable = shapeMap, true
		if !ordered(t.Key()) {
			return at.errorf("keys of maps are strings or integers, not %s", t.Key())
		}
		if err = n.addKid("key", t.Key(), o, at); err == nil {
			err = n.addKid("value", t.Elem(), o, at)
		}
		if err == nil {
			n.dt = arrow.MapOfFields(n.kids[0].field(), n.kids[1].field())
		}
	}
	return err
}

// ordered reports whether keys have an order, in which they are written, so that the same rows give the same bytes.
func ordered(key reflect.Type) bool {
	return key.Kind() == reflect.String || key.Kind() >= reflect.Int && key.Kind() <= reflect.Uint64
}

func (n *node) addKid(name string, t reflect.Type, o tag, at scope) error {
	at.name += map[string]string{"item": "[]", "key": "[key]", "value": "[value]"}[name]
	kid, err := newNode(t, o, at)
	if err == nil {
		kid.name = name
		n.kids = append(n.kids, kid)
	}
	return err
}

// addFields adds the fields of a struct, and those of embedded structs without a tag, as encoding/json does. named has
// the Go fields by the names of their columns.
func (n *node) addFields(t reflect.Type, offset uintptr, at scope, named map[string]string) error {
	for f := range t.Fields() {
		in := at
		in.name = at.name + "." + f.Name
		text, tagged := f.Tag.Lookup("arrow")
		o, err := parseTag(text)
		if err != nil {
			return in.errorf("%w", err)
		}
		switch {
		case o.skip:
		case f.Anonymous && !tagged && f.Type.Kind() == reflect.Struct && !known[f.Type]:
			err = n.addFields(f.Type, offset+f.Offset, in, named)
		case f.Anonymous && !tagged && f.Type.Kind() == reflect.Pointer:
			err = in.errorf("an embedded pointer needs a tag with the name of its column")
		case f.IsExported():
			err = n.addField(f, o, offset+f.Offset, in, named)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (n *node) addField(f reflect.StructField, o tag, offset uintptr, at scope, named map[string]string) error {
	name := f.Name
	if o.name != "" {
		name = o.name
	}
	if other := named[name]; other != "" {
		return at.errorf("its column %q is also that of field %s", name, other)
	}
	named[name] = at.name
	kid, err := newNode(f.Type, o, at)
	if err != nil {
		return err
	}
	kid.name, kid.offset = name, offset
	n.kids = append(n.kids, kid)
	return nil
}

// refers reports whether values have parts elsewhere in memory that may change.
func (n *node) refers() bool {
	return n.nullable || slices.ContainsFunc(n.kids, (*node).refers)
}

func (n *node) field() arrow.Field {
	return arrow.Field{Name: n.name, Type: n.dt, Nullable: n.nullable}
}

func (n *node) fields() []arrow.Field {
	fields := make([]arrow.Field, len(n.kids))
	for i, kid := range n.kids {
		fields[i] = kid.field()
	}
	return fields
}

// RowError is an error of a value.
type RowError struct {
	Row   int    // number of the row in its batch
	Field string // such as Order.Address.City
	Err   error
}

func (e *RowError) Error() string { return fmt.Sprintf("row %d: field %s: %v", e.Row, e.Field, e.Err) }

func (e *RowError) Unwrap() error { return e.Err }

func (n *node) failed(row int, format string, args ...any) error {
	return &RowError{row, n.goName, fmt.Errorf(format, args...)}
}

// shift adds to the row of an error.
func shift(err error, by int) error {
	if e := (*RowError)(nil); errors.As(err, &e) {
		return &RowError{e.Row + by, e.Field, e.Err}
	}
	return err
}

// inRow is the error of a part of a row.
func inRow(err error, row int) error {
	if e := (*RowError)(nil); errors.As(err, &e) {
		return &RowError{row, e.Field, e.Err}
	}
	return err
}
