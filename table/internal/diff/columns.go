package diff

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/cast"
	"github.com/amudai/amudai-go/internal/text/values"
)

// Column is a column of the old table, the new one, or both.
type Column struct {
	Name     string
	Old, New arrow.DataType // nil if the table lacks it
	Common   arrow.DataType // the type that values are compared in; nil if they cannot be compared
	Changed  bool           // it is in one table only, or has different types

	old, new int // positions, or -1
}

// Columns are the columns of two tables: those of the old one, then those that are only in the new one.
type Columns struct {
	All     []Column
	Ordered bool // those of both tables have the same order in both
}

// Changed reports whether the schemas differ.
func (c Columns) Changed() bool {
	return !c.Ordered || slices.ContainsFunc(c.All, func(c Column) bool { return c.Changed })
}

// label is a name for people: the second column a is a#2.
func label(k cast.Key) string {
	if k.Number > 1 {
		return fmt.Sprintf("%s#%d", k.Name, k.Number)
	}
	return k.Name
}

// match pairs the columns of two schemas by name. If the types of one are inferred, those that can be compared are no change.
func match(old, new *arrow.Schema, inferred bool) Columns {
	out := Columns{Ordered: true}
	at := map[cast.Key]int{}
	for i, n := range cast.KeysOf(new.Fields()) {
		at[n] = i
	}
	last := -1
	for i, n := range cast.KeysOf(old.Fields()) {
		c := Column{Name: label(n), Old: old.Field(i).Type, Changed: true, old: i, new: -1}
		if k, ok := at[n]; ok {
			c.new, c.New = k, new.Field(k).Type
			var mixed bool
			c.Common, mixed = common(c.Old, c.New)
			c.Changed = !arrow.TypeEqual(withoutLayout(c.Old), withoutLayout(c.New)) && !(inferred && c.Common != nil && (!mixed || isJSON(c.Old) || isJSON(c.New)))
			out.Ordered = out.Ordered && k > last
			last = k
			delete(at, n)
		}
		out.All = append(out.All, c)
	}
	for k, n := range cast.KeysOf(new.Fields()) {
		if _, ok := at[n]; ok {
			out.All = append(out.All, Column{Name: label(n), New: new.Field(k).Type, Changed: true, old: -1, new: k})
		}
	}
	return out
}

// isJSON reports whether a type is of JSON texts, which formats of text do not tell from other texts.
func isJSON(t arrow.DataType) bool {
	ext, ok := t.(arrow.ExtensionType)
	return ok && ext.ExtensionName() == "arrow.json"
}

// Orders lists the columns of both tables, in the order of each.
func (c Columns) Orders() (old, new []string) {
	new = make([]string, 0, len(c.All))
	at := map[int]string{}
	last := 0
	for _, column := range c.All {
		if column.Old != nil && column.New != nil {
			old = append(old, column.Name)
			at[column.new] = column.Name
			last = max(last, column.new)
		}
	}
	for i := 0; i <= last; i++ {
		if n, ok := at[i]; ok {
			new = append(new, n)
		}
	}
	return old, new
}

// Untold lists columns with the types that they have in another table, if their text may be of this type, but was not
// inferred as it.
func Untold(inferred, typed *arrow.Schema) (fields []arrow.Field) {
	for _, f := range inferred.Fields() {
		at := typed.FieldIndices(f.Name)
		if len(at) != 1 || len(inferred.FieldIndices(f.Name)) != 1 {
			continue
		}
		if t := withoutLayout(typed.Field(at[0]).Type); mayBe(f.Type, t) && hasText(t) {
			fields = append(fields, arrow.Field{Name: f.Name, Type: t, Nullable: true})
		}
	}
	return fields
}

// mayBe reports whether text that was inferred as a type may be values of another one.
func mayBe(inferred, t arrow.DataType) bool {
	id := t.ID()
	switch {
	case arrow.IsInteger(inferred.ID()) || inferred.ID() == arrow.FLOAT64:
		return arrow.IsFloating(id) || arrow.IsDecimal(id)
	case inferred.ID() == arrow.STRING:
		switch id {
		case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW, arrow.NULL, arrow.BOOL, arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP:
			return false // it would have been inferred
		}
		return true
	}
	_, nested := inferred.(arrow.NestedType)
	return nested || inferred.ID() == arrow.EXTENSION
}

// hasText reports whether values of a type are read from text.
func hasText(t arrow.DataType) bool {
	b := array.NewBuilder(memory.DefaultAllocator, t)
	defer b.Release()
	_, err := values.NewCellSetter(b, text.Lenient)
	return err == nil
}
