package cast

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
)

// Column is a column of several lists of columns.
type Column struct {
	Field arrow.Field
	Mixed bool  // its values have only their text in common
	In    []int // by list: the position in it, or -1
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

// Unite gives the columns of several lists, in the order of their first appearance. Columns of the same name are one, of the type that [Common] tells, or else the
// error is a [*TypeError].
func Unite(lists [][]arrow.Field, exact bool) ([]Column, error) {
	var columns []Column
	at := map[Key]int{}
	for part, fields := range lists {
		for i, k := range KeysOf(fields) {
			c, ok := at[k]
			if !ok {
				c = len(columns)
				at[k] = c
				columns = append(columns, Column{Field: fields[i], In: slices.Repeat([]int{-1}, len(lists))})
			}
			columns[c].In[part] = i
		}
	}
	for c := range columns {
		if err := columns[c].Settle(lists, exact); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// TypeError is the error of a column whose types have nothing in common.
type TypeError struct {
	Column string
	Err    error
}

// Error names the column and the types.
func (e *TypeError) Error() string { return fmt.Sprintf("column %q: %v", e.Column, e.Err) }

// Unwrap returns the error about the types.
func (e *TypeError) Unwrap() error { return e.Err }

// Settle finds the type of a column by those of lists.
func (c *Column) Settle(lists [][]arrow.Field, exact bool) (err error) {
	var types []arrow.DataType
	same := true
	for part, i := range c.In {
		if i < 0 {
			c.Field.Nullable = true
			continue
		}
		f := lists[part][i]
		types = append(types, f.Type)
		c.Field.Nullable = c.Field.Nullable || f.Nullable || f.Type.ID() == arrow.NULL
		same = same && f.Metadata.Equal(c.Field.Metadata) && arrow.TypeEqual(f.Type, c.Field.Type)
	}
	if c.Field.Type, c.Mixed, err = Common(types, exact); err != nil {
		return &TypeError{c.Field.Name, err}
	}
	if !same {
		c.Field.Metadata = arrow.Metadata{}
	}
	return nil
}
