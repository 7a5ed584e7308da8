package provider

import (
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/format/projection"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// Projection is the part of a schema that [ReadOptions.Columns] selects: columns, and parts of nested ones.
type Projection = projection.Projection

// Project resolves the paths of [ReadOptions.Columns] in a schema, for implementations of sources. Nil selects all
// columns.
func Project(s *arrow.Schema, paths []string) (*Projection, error) {
	return projection.New(s, paths)
}

// readColumns are the paths for the reader, which Open casts and filters afterwards. They
// include the columns of the filter. There are two cases in which all columns are read:
//
//   - A path has a number in a name: a#2 exists only beside the first a.
//   - A path names a part of a column, and there is a cast, which needs whole columns.
func (f Format) readColumns(o ReadOptions) []string {
	if o.Columns == nil || !f.castsLate(o) && !f.filtersLate(o) {
		return o.Columns
	}
	paths := slices.Clone(o.Columns)
	if f.filtersLate(o) {
		for _, path := range o.Filter.Columns() { // which may go on within the JSON texts of a column
			paths = append(paths, schema.Escape(schema.SplitPath(path)[0]))
		}
	}
	for _, path := range paths {
		if strings.Contains(path, "#") || f.castsLate(o) && len(schema.SplitPath(path)) > 1 {
			return nil
		}
	}
	return paths
}

// castsLate reports whether Open casts columns to the types of a schema.
func (f Format) castsLate(o ReadOptions) bool { return !f.Casts && len(o.Schema) > 0 }

// skipsLate reports whether Open leaves out rows by their position.
func (f Format) skipsLate(o ReadOptions) bool { return !f.Ranges && o.Rows != nil }

// filtersLate reports whether Open evaluates the filter, which comes after the positions of rows.
func (f Format) filtersLate(o ReadOptions) bool {
	return !o.Filter.IsZero() && (!f.Filters || f.skipsLate(o))
}
