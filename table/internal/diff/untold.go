package diff

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
)

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
