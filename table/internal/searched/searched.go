// Package searched finds out which columns of a table a search looks at, and its condition.
package searched

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/query"
	"github.com/amudai/amudai-go/table/provider"
)

// Positions are the positions of the n rows of the last batch of a source.
func Positions(src provider.Source, n int64) ([]int64, error) {
	rows := make([]int64, 0, n)
	for _, r := range provider.RangesOf(src) {
		for row := r.From; row < r.To && int64(len(rows)) < n; row++ {
			rows = append(rows, row)
		}
	}
	if int64(len(rows)) < n {
		return nil, errors.New("the format does not tell the positions of rows that match")
	}
	return rows, nil
}

// Question says what is searched where, as the options of a search do.
type Question struct {
	Query        *query.Query // nil if the rows that it finds are not to be found by a condition
	In, Columns  []string
	Filter       filter.Expr
	Since, Until any
	TimeColumn   string
}

// Columns are the columns of a search in a table, by path, and its condition.
type Columns struct {
	Searched, Result []string
	All              []string // those of the result and of the condition
	Filter           filter.Expr
}

// Errors of tables that lack columns.
var (
	ErrNoText  = errors.New("there is no column of strings to search")
	ErrNoTimes = errors.New("there is no column of times")
)

// Resolve finds the columns of a search in those of the table.
func Resolve(in *arrow.Schema, s Question) (*Columns, error) {
	c := &Columns{}
	if _, err := provider.Project(in, slices.Concat(s.In, s.Columns, s.Filter.Columns())); err != nil {
		return nil, err
	}
	texts := query.TextColumns(in)
	searched := s.In
	if len(searched) == 0 {
		searched = texts
	}
	if len(searched) == 0 {
		return nil, ErrNoText
	}
	if c.Result = s.Columns; c.Result == nil {
		if c.Result = texts; len(texts) == 0 {
			c.Result = searched
		}
	}
	c.Searched = searched
	if c.Filter = s.Filter; s.Query != nil {
		c.Filter = filter.And(c.Filter, s.Query.Condition(searched))
	}
	if s.Since != nil || s.Until != nil {
		times, err := s.times(in)
		if err != nil {
			return nil, err
		}
		c.Filter = filter.And(times, c.Filter)
	}
	c.All = slices.Clone(c.Result)
	for _, path := range c.Filter.Columns() {
		if !slices.Contains(c.All, path) {
			c.All = append(c.All, path)
		}
	}
	return c, nil
}

// times is the condition of Since and Until.
func (s *Question) times(in *arrow.Schema) (e filter.Expr, err error) {
	path := cmp.Or(s.TimeColumn, query.TimeColumn(in))
	if path == "" {
		return e, ErrNoTimes
	}
	p, err := provider.Project(in, []string{path})
	if err != nil {
		return e, err
	}
	t := p.Schema().Field(0).Type
	for nested, ok := t.(*arrow.StructType); ok; nested, ok = t.(*arrow.StructType) {
		t = nested.Field(0).Type
	}
	stamp, _ := t.(*arrow.TimestampType)
	literal := func(v any) any {
		if at, ok := v.(time.Time); ok && (stamp == nil || stamp.TimeZone == "") {
			return at.Local().Format("2006-01-02T15:04:05")
		}
		return v
	}
	if s.Since != nil {
		e = filter.Ge(filter.Col(path), literal(s.Since))
	}
	if s.Until != nil {
		e = filter.And(e, filter.Lt(filter.Col(path), literal(s.Until)))
	}
	return e, nil
}
