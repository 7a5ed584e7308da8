package tables

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
)

// column is a column of a union.
type column struct {
	field arrow.Field
	mixed bool  // its values have only their text in common
	in    []int // by part: the position of its column, or -1
}

// Key is the name of a column, and its number among the columns of this name, from 1.
type Key struct {
	Name   string
	Number int
}

// KeysOf are the keys of columns.
func KeysOf(fields []arrow.Field) []Key {
	seen := map[string]int{}
	keys := make([]Key, len(fields))
	for i, f := range fields {
		seen[f.Name]++
		keys[i] = Key{f.Name, seen[f.Name]}
	}
	return keys
}

// unite gives the columns of several lists, in the order of their first appearance. Columns of the same name are one.
func unite(lists [][]arrow.Field) ([]column, error) {
	var columns []column
	at := map[Key]int{}
	for part, fields := range lists {
		for i, k := range KeysOf(fields) {
			c, ok := at[k]
			if !ok {
				c = len(columns)
				at[k] = c
				columns = append(columns, column{field: fields[i], in: missing(len(lists))})
			}
			columns[c].in[part] = i
		}
	}
	for c := range columns {
		if err := columns[c].settle(lists); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

func missing(n int) []int {
	in := make([]int, n)
	for i := range in {
		in[i] = -1
	}
	return in
}

// typeError is the error of a column whose types have nothing in common.
type typeError struct {
	column string
	err    error
}

func (e *typeError) Error() string { return fmt.Sprintf("column %q: %v", e.column, e.err) }
func (e *typeError) Unwrap() error { return e.err }

// settle finds the type of a column.
func (c *column) settle(lists [][]arrow.Field) (err error) {
	var types []arrow.DataType
	same := true
	for part, i := range c.in {
		if i < 0 {
			c.field.Nullable = true
			continue
		}
		f := lists[part][i]
		types = append(types, f.Type)
		c.field.Nullable = c.field.Nullable || f.Nullable || f.Type.ID() == arrow.NULL
		same = same && f.Metadata.Equal(c.field.Metadata) && arrow.TypeEqual(f.Type, c.field.Type)
	}
	if c.field.Type, c.mixed, err = common(types); err != nil {
		return &typeError{c.field.Name, err}
	}
	if !same {
		c.field.Metadata = arrow.Metadata{}
	}
	return nil
}
