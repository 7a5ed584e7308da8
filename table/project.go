package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
)

// Project finds columns by name, for implementations of sources: their schema,
// and where they are in the given one. Of several columns a the first is "a", the
// second "a#2"; the first column without a name is "#1". Filters and shards use the
// same names. A dot in a name may have a backslash before it. All columns are asked for with nil.
func Project(s *arrow.Schema, columns []string) (*arrow.Schema, []int, error) {
	keep := []int{}
	if columns == nil {
		for i := range s.NumFields() {
			keep = append(keep, i)
		}
		return s, keep, nil
	}
	names := arrowmap.UniqueNames(s.Fields())
	place := make(map[string]int, len(names))
	for i, name := range names {
		place[name] = i
	}
	fields := make([]arrow.Field, len(columns))
	for k, name := range columns {
		i, ok := place[name]
		if path := schema.SplitPath(name); !ok && len(path) == 1 {
			i, ok = place[path[0]] // a\.b
		}
		if !ok {
			return nil, nil, fmt.Errorf("no column named %q%s", name, text.Suggest(name, slices.Values(names)))
		}
		keep = append(keep, i)
		fields[k] = s.Field(i)
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

// withFilterColumns adds the top-level columns that a filter looks at. It gives all
// columns if one has a number in its name, as a#2 is only found beside the first a.
func withFilterColumns(columns []string, e filter.Expr) []string {
	if columns == nil {
		return nil
	}
	all := slices.Clone(columns)
	for _, path := range e.Columns() {
		all = append(all, schema.SplitPath(path)[0])
	}
	if slices.ContainsFunc(all, func(name string) bool { return strings.Contains(name, "#") }) {
		return nil
	}
	return distinct(all)
}
