// Package structs turns Go structs into Arrow record batches and back. A type is looked at once, by reflection; values
// are then copied column by column between Go memory, by the offsets of fields, and Arrow buffers.
//
// arrow-go's package arreflect does the same value by value, and makes nothing of time.Time and of named types. This
// package reads the same tags.
//
//	rows []T                     a field of all, in steps of the size of T     its column
//	[{ID: 7, City: "Rome"},  →   ID:   at &rows[0].ID                      →   []int64{7, 9}
//	 {ID: 9, City: "Oslo"}]      City: at &rows[0].City                    →   "RomeOslo", offsets 0, 4, 8
package structs

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
)

// Rows are copied at a time as many as fit into the cache, and at least one.
const (
	mostRows  = 512
	mostBytes = 256 << 10
)

// Type is a struct type whose fields have Arrow types. It may be used concurrently.
type Type[T any] struct {
	root *node
}

// TypeOf looks at the fields of T. The error names the field that has no Arrow type.
func TypeOf[T any]() (*Type[T], error) {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct || known[t] {
		return nil, fmt.Errorf("%s is not a struct of columns", t)
	}
	root, err := newNode(t, tag{}, scope{name: t.Name()})
	if err != nil {
		return nil, err
	}
	return &Type[T]{root}, nil
}

// Schema is the Arrow schema of a batch of T.
func (t *Type[T]) Schema() *arrow.Schema {
	return arrow.NewSchema(t.root.dt.(*arrow.StructType).Fields(), nil)
}

// Field is a column, or a part of one, with the field of T that it belongs to.
type Field struct {
	Names []string // of the column and the parts of it that lead to this one
	Go    string   // the field, such as Order.Address.City
}

// Leaves are the parts of columns that a reader of T needs. Structs are divided into their fields, also within lists.
func (t *Type[T]) Leaves() []Field { return t.root.leaves(nil, nil) }

func (n *node) leaves(out []Field, names []string) []Field {
	in := n
	if n.shape == shapeList && n.kids[0].shape == shapeStruct {
		in = n.kids[0] // a path leads through a list
	}
	if in.shape != shapeStruct {
		return append(out, Field{slices.Clone(names), n.goName})
	}
	for _, kid := range in.kids {
		out = kid.leaves(out, append(names, kid.name))
	}
	return out
}

func someRows[T any]() int {
	var row T
	return max(1, min(mostRows, mostBytes/max(1, int(unsafe.Sizeof(row)))))
}
