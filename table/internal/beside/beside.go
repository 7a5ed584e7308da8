// Package beside reads tables of equal numbers of rows as one with the columns of all: rows of equal positions become one.
package beside

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/table/provider"
)

// Table is one of the tables.
type Table struct {
	Name         string
	Schema       *arrow.Schema
	Rows, Hidden int64 // positions of rows, and those without a row, if they are known before any is read
	Known        bool
	Open         func(ctx context.Context, o provider.ReadOptions) (provider.Source, error)
}

// Tables are tables side by side.
type Tables struct {
	tables []Table
	known  bool
	owner  map[string]int // of columns by their names in paths: the first table that has them
}

// New puts tables side by side. Of columns of one name that of the first table counts, which notice is told.
func New(tables []Table, notice func(string)) (*Tables, error) {
	b := &Tables{tables, true, map[string]int{}}
	for i, t := range tables {
		if t.Hidden > 0 {
			return nil, fmt.Errorf("%s has %d deleted rows, so that its rows have no common positions with those of other tables", t.Name, t.Hidden)
		}
		if first := tables[0]; t.Known && first.Known && t.Rows != first.Rows {
			return nil, fmt.Errorf("%s has %d rows, and %s %d: tables side by side have equal numbers of rows", t.Name, t.Rows, first.Name, first.Rows)
		}
		b.known = b.known && t.Known
		var again []string
		for _, name := range arrowmap.UniqueNames(t.Schema.Fields()) {
			if _, taken := b.owner[name]; taken {
				again = append(again, name)
			} else {
				b.owner[name] = i
			}
		}
		if len(again) > 0 {
			notice(fmt.Sprintf("%s: left out, as a table before has columns of these names: %s", t.Name, strings.Join(again, ", ")))
		}
	}
	return b, nil
}

// Name names all tables.
func (b *Tables) Name() string {
	names := make([]string, len(b.tables))
	for i, t := range b.tables {
		names[i] = t.Name
	}
	return strings.Join(names, " beside ")
}

// Format reads the tables, whatever the input. It has neither statistics nor a structure.
func (b *Tables) Format() provider.Format {
	return provider.Format{
		Name: "beside", Title: "tables side by side", Ranges: true, ExactRows: b.known,
		Reader: func(ctx context.Context, _ provider.Input, o provider.ReadOptions) (provider.Source, error) {
			return b.open(ctx, o)
		},
	}
}

// columns are the paths that each table is read for; nil where it is not.
func (b *Tables) columns(paths []string) ([][]string, error) {
	all := make([][]string, len(b.tables))
	if !b.known { // all are counted
		for i := range all {
			all[i] = []string{}
		}
	}
	if paths == nil {
		for i, t := range b.tables {
			for _, name := range arrowmap.UniqueNames(t.Schema.Fields()) {
				if b.owner[name] == i {
					all[i] = append(all[i], schema.Escape(name))
				}
			}
		}
	}
	for _, path := range paths {
		i, ok := b.owner[schema.SplitPath(path)[0]]
		if !ok { // an error that names columns of all
			var fields []arrow.Field
			for _, t := range b.tables {
				fields = append(fields, t.Schema.Fields()...)
			}
			_, err := provider.Project(arrow.NewSchema(fields, nil), []string{path})
			return nil, err
		}
		all[i] = append(all[i], path)
	}
	if !slices.ContainsFunc(all, func(list []string) bool { return list != nil }) {
		all[0] = []string{}
	}
	return all, nil
}

func (b *Tables) open(ctx context.Context, o provider.ReadOptions) (_ provider.Source, err error) {
	columns, err := b.columns(o.Columns)
	if err != nil {
		return nil, fmt.Errorf("%w in %s", err, b.Name())
	}
	s := &source{of: b}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	var fields []arrow.Field
	for i, paths := range columns {
		if paths == nil {
			continue
		}
		src, err := b.tables[i].Open(ctx, provider.ReadOptions{Columns: paths, Rows: o.Rows, BatchRows: o.BatchRows, Reuse: o.Reuse, Lengths: o.Lengths, Allocator: o.Allocator, TempDir: o.TempDir, Notice: o.Notice, Warning: o.Warning})
		if err != nil {
			return nil, err
		}
		s.parts = append(s.parts, part{Source: src, name: b.tables[i].Name})
		fields = append(fields, src.Schema().Fields()...)
	}
	meta := b.tables[0].Schema.Metadata()
	s.schema = arrow.NewSchema(fields, &meta)
	if s.rows = b.tables[0].Rows; o.Rows != nil {
		s.rows = rowset.Count(rowset.Clip(o.Rows, s.rows))
	}
	if s.projection, err = provider.Project(s.schema, o.Columns); err != nil {
		return nil, err
	}
	return s, nil
}

// source puts rows of equal positions side by side.
type source struct {
	of         *Tables
	parts      []part
	schema     *arrow.Schema // of all parts
	projection *provider.Projection
	rows       int64
}

// part is one of the tables, and its last batch.
type part struct {
	provider.Source
	name  string
	b     arrow.RecordBatch
	at    int64 // rows of it that were given
	ended bool
}

func (s *source) Schema() *arrow.Schema { return s.projection.Schema() }

func (s *source) Rows() (int64, bool) { return s.rows, s.of.known }

// Next implements [provider.Source].
func (s *source) Next(ctx context.Context) (arrow.RecordBatch, error) {
	var ended, more string
	n := int64(-1)
	for i := range s.parts {
		p := &s.parts[i]
		if err := p.next(ctx); err != nil {
			return nil, err
		}
		if p.b == nil {
			ended = p.name
			continue
		}
		more = p.name
		if left := p.b.NumRows() - p.at; n < 0 || left < n {
			n = left
		}
	}
	if ended != "" && more != "" {
		return nil, fmt.Errorf("%s has fewer rows than %s: tables side by side have equal numbers of rows", ended, more)
	}
	if ended != "" {
		return nil, nil
	}
	var columns []arrow.Array
	for i := range s.parts {
		p := &s.parts[i]
		for _, c := range p.b.Columns() {
			columns = append(columns, array.NewSlice(c, p.at, p.at+n))
		}
		p.at += n
	}
	b := array.NewRecordBatch(s.schema, columns, n)
	for _, c := range columns {
		c.Release()
	}
	defer b.Release()
	return s.projection.Of(b)
}

// next replaces the batch if all of its rows were given, by nil at the end.
func (p *part) next(ctx context.Context) (err error) {
	for err == nil && !p.ended && (p.b == nil || p.at == p.b.NumRows()) {
		if p.b != nil {
			p.b.Release()
		}
		p.b, err = p.Source.Next(ctx)
		p.at, p.ended = 0, p.b == nil
	}
	return err
}

// Close implements [provider.Source].
func (s *source) Close() (err error) {
	for _, p := range s.parts {
		if p.b != nil {
			p.b.Release()
		}
		err = errors.Join(err, p.Source.Close())
	}
	return err
}
