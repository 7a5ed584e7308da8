package table

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
)

// Project finds columns by name, for implementations of sources: their schema,
// and where they are in the given one. Of several columns of one name it takes
// the first. All columns are asked for with nil.
func Project(s *arrow.Schema, columns []string) (*arrow.Schema, []int, error) {
	keep := []int{}
	if columns == nil {
		for i := range s.NumFields() {
			keep = append(keep, i)
		}
		return s, keep, nil
	}
	fields := make([]arrow.Field, len(columns))
	for k, name := range columns {
		at := s.FieldIndices(name)
		if len(at) == 0 {
			return nil, nil, fmt.Errorf("no column named %q%s", name, text.Suggest(name, text.Names(s)))
		}
		keep = append(keep, at[0])
		fields[k] = s.Field(at[0])
	}
	meta := s.Metadata()
	return arrow.NewSchema(fields, &meta), keep, nil
}

// distinct drops the names that stood before.
func distinct(names []string) []string {
	if names == nil {
		return nil
	}
	out := make([]string, 0, len(names))
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if !seen[name] {
			out = append(out, name)
		}
		seen[name] = true
	}
	return out
}

// withFilterColumns adds the top-level columns that a filter looks at.
func withFilterColumns(columns []string, e filter.Expr) []string {
	if columns == nil {
		return nil
	}
	all := slices.Clone(columns)
	for _, path := range e.Columns() {
		all = append(all, schema.SplitPath(path)[0])
	}
	return distinct(all)
}
