package search

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/table/provider"
)

// plan is what to read of an input.
type plan struct {
	searched []string // columns, by path
	printed  []string
	filter   filter.Expr
}

// lineColumn is the column that is searched if there is one.
const lineColumn = "line"

// plan chooses the columns of an input. A nil plan means that it has no column of strings.
func (s *Search) plan(in inputs.Input, fields *arrow.Schema) (*plan, error) {
	p := &plan{searched: s.In, printed: s.Columns}
	named := slices.Concat(s.In, s.Columns)
	if s.Time != "" {
		named = append(named, s.Time)
	}
	if _, err := provider.Project(fields, named); len(named) > 0 && err != nil {
		return nil, usage.WithHint(fmt.Errorf("%s: %w", in.Location, err), "amudai schema lists the columns")
	}
	texts := textColumns(fields)
	if len(p.searched) == 0 {
		p.searched = texts
	}
	if len(p.printed) == 0 {
		p.printed = texts
	}
	if len(p.printed) == 0 {
		p.printed = p.searched
	}
	if len(p.searched) == 0 {
		return nil, nil
	}
	p.filter = s.Query.condition(p.searched)
	if s.Since.IsZero() && s.Until.IsZero() {
		return p, nil
	}
	column := s.Time
	if column == "" {
		column = timeColumn(fields)
	}
	if column == "" {
		return nil, usage.WithHint(fmt.Errorf("%s has no column of times", in.Location), "--since and --until need one")
	}
	zoned := hasZone(fields, column)
	if !s.Since.IsZero() {
		p.filter = filter.And(filter.Ge(filter.Col(column), s.Since.Literal(zoned)), p.filter)
	}
	if !s.Until.IsZero() {
		p.filter = filter.And(filter.Lt(filter.Col(column), s.Until.Literal(zoned)), p.filter)
	}
	return p, nil
}

// read is the columns that the plan needs.
func (p *plan) read() []string {
	all := slices.Clone(p.printed)
	for _, c := range p.filter.Columns() {
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// textColumns are the columns that a query is about if no others are named: the column "line", or all columns of strings.
func textColumns(s *arrow.Schema) (columns []string) {
	for i, path := range paths(s) {
		t := s.Field(i).Type
		if path == lineColumn && (isString(t) || t.ID() == arrow.BINARY) {
			return []string{path}
		}
		if isString(t) {
			columns = append(columns, path)
		}
	}
	return columns
}

func isString(dt arrow.DataType) bool {
	switch kinds.Unwrapped(dt).ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return true
	}
	return false
}

// timeColumn is the first column of times or dates, or "".
func timeColumn(s *arrow.Schema) string {
	for i, path := range paths(s) {
		switch s.Field(i).Type.ID() {
		case arrow.TIMESTAMP, arrow.DATE32, arrow.DATE64:
			return path
		}
	}
	return ""
}

// paths are the paths of top-level columns.
func paths(s *arrow.Schema) []string {
	all, seen := make([]string, s.NumFields()), map[string]int{}
	for i, f := range s.Fields() {
		all[i] = schema.Escape(f.Name)
		if seen[f.Name]++; seen[f.Name] > 1 || f.Name == "" {
			all[i] = fmt.Sprintf("%s#%d", all[i], seen[f.Name])
		}
	}
	return all
}

// hasZone reports whether the times of a column have a zone.
func hasZone(s *arrow.Schema, path string) bool {
	p, err := provider.Project(s, []string{path})
	if err != nil {
		return false
	}
	t := p.Schema().Field(0).Type
	for nested, ok := t.(*arrow.StructType); ok; nested, ok = t.(*arrow.StructType) {
		t = nested.Field(0).Type
	}
	stamp, ok := t.(*arrow.TimestampType)
	return ok && stamp.TimeZone != ""
}
