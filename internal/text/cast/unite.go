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
	own   identity
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

// identity is what columns of several lists share that are one: name, number among those of this name, and in tables of spans the type of the values, as an
// attribute has a column for each type.
type identity struct {
	Key
	values string
}

func identitiesOf(fields []arrow.Field) []identity {
	list := make([]identity, len(fields))
	seen := map[identity]int{}
	for i, f := range fields {
		id := identity{Key: Key{Name: f.Name}}
		if values, ok := f.Metadata.GetValue(arrowutil.ColumnType); ok {
			id.values = values
			if name, ok := f.Metadata.GetValue(arrowutil.ColumnName); ok {
				id.Name = name
			}
		}
		seen[id]++
		list[i], list[i].Number = id, seen[id]
	}
	return list
}

// metadata say what column of a table of spans a field is; they are empty for other tables.
func (id identity) metadata(field string) arrow.Metadata {
	switch {
	case id.values == "":
		return arrow.Metadata{}
	case id.Name == field && !strings.Contains(field, "#"):
		return arrow.NewMetadata([]string{arrowutil.ColumnType}, []string{id.values})
	}
	return arrow.NewMetadata([]string{arrowutil.ColumnType, arrowutil.ColumnName}, []string{id.values, id.Name})
}

// uniting is columns of several lists.
type uniting struct {
	columns []Column
	at      map[identity]int
	byField map[string]int      // of the first column with a name
	owners  map[string]identity // of names in all lists
}

// place is the column of a field in a list. One that does not tell the type of its values is the column of its name.
func (u *uniting) place(id identity, f arrow.Field, list, lists int) int {
	c, ok := u.at[id]
	if other, taken := u.byField[f.Name]; !ok && taken && u.columns[other].In[list] < 0 && (id.values == "") != (u.columns[other].own.values == "") {
		c, ok = other, true
	}
	if ok {
		return c
	}
	c = len(u.columns)
	if _, taken := u.byField[f.Name]; taken && id.values != "" {
		for f.Name = id.Name + "#" + id.values; !u.isFree(f.Name, id); f.Name += "#" {
		}
		f.Metadata = id.metadata(f.Name)
	}
	u.columns = append(u.columns, Column{Field: f, In: slices.Repeat([]int{-1}, lists), own: id})
	u.at[id] = c
	if _, taken := u.byField[f.Name]; !taken {
		u.byField[f.Name] = c
	}
	return c
}

func (u *uniting) isFree(name string, id identity) bool {
	_, taken := u.byField[name]
	owner, known := u.owners[name]
	return !taken && (!known || owner == id)
}

// Unite gives the columns of several lists, in the order of their first appearance. Columns of the same name are one, of the type that [Common] tells, or else the
// error is a [*TypeError]. Columns of spans are one only if they are for the same type of values; the second of a name is called after its type, as in
// "span.code#int64".
func Unite(lists [][]arrow.Field, exact bool) ([]Column, error) {
	u := uniting{at: map[identity]int{}, byField: map[string]int{}, owners: map[string]identity{}}
	for _, fields := range lists {
		for i, id := range identitiesOf(fields) {
			u.owners[fields[i].Name] = id
		}
	}
	for list, fields := range lists {
		for i, id := range identitiesOf(fields) {
			u.columns[u.place(id, fields[i], list, len(lists))].In[list] = i
		}
	}
	for c := range u.columns {
		if err := u.columns[c].Settle(lists, exact); err != nil {
			return nil, err
		}
	}
	return u.columns, nil
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
		c.Field.Metadata = c.own.metadata(c.Field.Name)
	}
	return nil
}
