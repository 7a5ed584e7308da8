package cast

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
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

// column is what a field of a table of spans is for: an attribute, the type of its values, and its number in the list, which is 1 in any file of ours.
type column struct {
	name, values string
	number       int
}

// columnsOf are the columns of fields; those of other tables have no type.
func columnsOf(fields []arrow.Field) []column {
	list := make([]column, len(fields))
	seen := map[column]int{}
	for i, f := range fields {
		c := column{name: f.Name}
		if values, ok := f.Metadata.GetValue(arrowutil.ColumnType); ok {
			c.values = values
			if name, ok := f.Metadata.GetValue(arrowutil.ColumnName); ok {
				c.name = name
			}
		}
		seen[c]++
		list[i], list[i].number = c, seen[c]
	}
	return list
}

// metadata say what column of a table of spans a field is.
func (c column) metadata(field string) arrow.Metadata {
	if c.name == field && !strings.Contains(field, "#") {
		return arrow.NewMetadata([]string{arrowutil.ColumnType}, []string{c.values})
	}
	return arrow.NewMetadata([]string{arrowutil.ColumnType, arrowutil.ColumnName}, []string{c.values, c.name})
}

// Apart names fields of tables of spans so that those of one name are for the same type of values: an attribute has a column for each type, of which any may be
// the first of a file. The second of a name is called after its type, as in "span.code#int64". Fields of other tables stay as they are.
func Apart(lists [][]arrow.Field) [][]arrow.Field {
	ofSpans := func(f arrow.Field) bool { return f.Metadata.FindKey(arrowutil.ColumnType) >= 0 }
	if !slices.ContainsFunc(lists, func(fields []arrow.Field) bool { return slices.ContainsFunc(fields, ofSpans) }) {
		return lists
	}
	names, taken, owners := map[column]string{}, map[string]bool{}, map[string]column{}
	for _, fields := range lists {
		for i, c := range columnsOf(fields) {
			owners[fields[i].Name] = c
		}
	}
	out := make([][]arrow.Field, len(lists))
	for list, fields := range lists {
		out[list] = slices.Clone(fields)
		for i, c := range columnsOf(fields) {
			if c.values == "" {
				continue
			}
			name, known := names[c]
			if !known {
				if name = fields[i].Name; taken[name] {
					for name = c.name + "#" + c.values; taken[name] || owners[name] != c && owners[name] != (column{}); name += "#" {
					}
				}
				names[c], taken[name] = name, true
			}
			out[list][i].Name, out[list][i].Metadata = name, c.metadata(name)
		}
	}
	return out
}

// Unite gives the columns of several lists, in the order of their first appearance. Columns of the same name are one, of the type that [Common] tells, or else the
// error is a [*TypeError]; those of tables of spans are named by [Apart] before.
func Unite(lists [][]arrow.Field, exact bool) ([]Column, error) {
	lists = Apart(lists)
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
	same, ofSpans := true, c.Field.Metadata.FindKey(arrowutil.ColumnType) >= 0 // whose metadata hold whatever the type of the arrays is
	for part, i := range c.In {
		if i < 0 {
			c.Field.Nullable = true
			continue
		}
		f := lists[part][i]
		types = append(types, f.Type)
		c.Field.Nullable = c.Field.Nullable || f.Nullable || f.Type.ID() == arrow.NULL
		same = same && f.Metadata.Equal(c.Field.Metadata) && (ofSpans || arrow.TypeEqual(f.Type, c.Field.Type))
	}
	if c.Field.Type, c.Mixed, err = Common(types, exact); err != nil {
		return &TypeError{c.Field.Name, err}
	}
	if !same {
		c.Field.Metadata = arrow.Metadata{}
	}
	return nil
}
