package projection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
)

// Missing is the error of a column whose type a caller sets, but that an input with certain fields lacks. It lists
// their names. For the path of a nested field, its hint is the type of the whole column.
func Missing(column arrow.Field, input string, fields []arrow.Field) error {
	names := make([]string, 0, len(fields))
	for _, f := range fields {
		if names = append(names, f.Name); len(names) > mostNames {
			names[mostNames] = "…"
			break
		}
	}
	list := " (its columns: " + strings.Join(names, ", ") + ")"
	path := schema.SplitPath(column.Name)
	i := slices.IndexFunc(fields, func(f arrow.Field) bool { return f.Name == path[0] })
	if len(path) == 1 || i < 0 {
		return fmt.Errorf("column %q of the schema is not in %s%s", column.Name, input, list)
	}
	err := fmt.Errorf("%q of the schema is no column of %s, only a path in the column %q%s", column.Name, input, path[0], list)
	if t, ok := retypedAt(fields[i].Type, path[1:], column.Type); ok {
		return &wholeColumn{err, text.Field(arrowutil.Retyped(fields[i], t))}
	}
	return err
}

// mostNames is the number of columns that an error lists.
const mostNames = 12

// retypedAt is a type with another type for the field at a path through structs.
func retypedAt(t arrow.DataType, path []string, to arrow.DataType) (arrow.DataType, bool) {
	if len(path) == 0 {
		return to, true
	}
	s, ok := t.(*arrow.StructType)
	if !ok {
		return nil, false
	}
	i, ok := s.FieldIdx(path[0])
	if !ok {
		return nil, false
	}
	fields := s.Fields()
	if fields[i].Type, ok = retypedAt(fields[i].Type, path[1:], to); !ok {
		return nil, false
	}
	return arrow.StructOf(fields...), true
}

// wholeColumn is an error about a nested field, with the column around it.
type wholeColumn struct {
	error
	column string
}

// Hint sets the type of the whole column.
func (e *wholeColumn) Hint() string {
	return fmt.Sprintf("--schema '%s' sets the type of the whole column", e.column)
}
