// Package tables reads several tables as one. Columns are united by name: a column has the smallest type that holds the
// values of all parts exactly, whatever their order, and is null in the parts that lack it. Package tables also reads
// ranges of rows, the last rows of a table, and random samples.
package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"golang.org/x/sync/errgroup"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/table"
)

// Part is one of the tables that are read as one.
type Part struct {
	Name string // for errors
	Once bool   // it can be opened only once
	Open func(ctx context.Context, o table.ReadOptions) (table.Source, table.Format, error)
}

// Options are the options of [Union.Open].
type Options struct {
	table.ReadOptions // Rows is not used
	Range             Range
	// Ranges are the rows instead of Range, unless it is nil. They have ends, ascend, and are within the table.
	Ranges []table.RowRange
}

// Union is a list of tables as one. It has no open files.
type Union struct {
	parts   []Part
	looks   []look // of several parts
	columns []column
	schema  *arrow.Schema
	casts   []arrow.Field
	exact   bool // the part that was opened last, if it is the only one, knows its number of rows

	notice, warning func(string) // of messages about parts that are still to come; may be nil

	reread     func(table.Format) bool
	keepGroups func(table.Format) bool
}

// KeepGroups has the groups of rows of parts in some formats be groups of the sources that Open returns, for
// [table.Grouped]. Each part begins a group in any case.
func (u *Union) KeepGroups(of func(table.Format) bool) { u.keepGroups = of }

// look is what is known of a part.
type look struct {
	schema *arrow.Schema // of its rows as they are read, with the casts
	names  []string      // of its columns in paths
	casts  []arrow.Field // of its columns
	format table.Format
	empty  []bool // by column: its type is a guess without any value
	rows   int64
	known  bool
}

// New unites tables, of which there is at least one. It opens each of several parts for its schema. Of the options, those
// about types and messages count, and Columns for the latter. reread tells which formats can read any column as text.
func New(ctx context.Context, parts []Part, o table.ReadOptions, reread func(table.Format) bool) (*Union, error) {
	u := &Union{parts: parts, casts: o.Schema, reread: reread}
	if len(parts) == 1 {
		return u, nil
	}
	warning := o.Warning
	u.notice, u.warning = once(o.Notice), once(o.Warning)
	if o.Columns == nil {
		o.Notice, o.Warning = u.notice, u.warning
		u.notice, u.warning = nil, nil
	} else { // messages about other columns do not matter
		o.Notice, o.Warning = nil, nil
	}
	var err error
	if u.looks, err = lookAtAll(ctx, parts, o); err != nil {
		return nil, err
	}
	var lists [][]arrow.Field
	found := map[string]bool{}
	for _, l := range u.looks {
		lists = append(lists, l.observed())
		for _, f := range l.casts {
			found[f.Name] = true
		}
	}
	for _, f := range o.Schema {
		if !found[f.Name] {
			return nil, fmt.Errorf("column %q of the schema is in none of the %d inputs", f.Name, len(parts))
		}
	}
	if u.columns, err = unite(lists); err == nil {
		err = u.settleEmpty()
	}
	if err != nil {
		return nil, u.explain(err)
	}
	fields := make([]arrow.Field, len(u.columns))
	for i, c := range u.columns {
		fields[i] = c.field
		if c.mixed && warning != nil && isNamed(o.Columns, c.field.Name) {
			warning(u.mixture(c))
		}
	}
	meta := u.looks[0].schema.Metadata()
	u.schema = arrow.NewSchema(fields, &meta)
	for i := range u.looks {
		u.readAsText(i)
	}
	return u, nil
}

// settleEmpty gives the types of the parts to columns without any value.
func (u *Union) settleEmpty() error {
	var lists [][]arrow.Field
	for _, l := range u.looks {
		lists = append(lists, l.schema.Fields())
	}
	for i := range u.columns {
		if u.columns[i].field.Type.ID() == arrow.NULL {
			if err := u.columns[i].settle(lists); err != nil {
				return err
			}
		}
	}
	return nil
}

// isNamed reports whether paths, unless they are nil, name a column.
func isNamed(paths []string, column string) bool {
	return paths == nil || slices.ContainsFunc(paths, func(p string) bool { return p == column || schema.SplitPath(p)[0] == column })
}

// once leaves out messages that were given before.
func once(notice func(string)) func(string) {
	if notice == nil {
		return nil
	}
	seen := map[string]bool{}
	return func(s string) {
		if !seen[s] {
			seen[s] = true
			notice(s)
		}
	}
}

// looksAtOnce is the number of parts that are opened beside each other: each waits for its store, or infers its types.
const looksAtOnce = 8

// lookAtAll opens all parts for their schemas. Messages come in the order of parts, up to the first that cannot be opened.
func lookAtAll(ctx context.Context, parts []Part, o table.ReadOptions) ([]look, error) {
	looks, errs := make([]look, len(parts)), make([]error, len(parts))
	said := make([][]func(), len(parts))
	later := func(i int, say func(string)) func(string) {
		if say == nil {
			return nil
		}
		return func(s string) { said[i] = append(said[i], func() { say(s) }) }
	}
	var failed atomic.Bool
	var g errgroup.Group
	g.SetLimit(looksAtOnce)
	for i, p := range parts {
		if failed.Load() {
			break // all parts before the one that failed have begun
		}
		g.Go(func() (err error) {
			defer func() {
				if errs[i] = err; err != nil {
					failed.Store(true)
				}
			}()
			defer fault.RecoverInternal(&err)
			mine := o
			mine.Notice, mine.Warning = later(i, o.Notice), later(i, o.Warning)
			looks[i], err = lookAt(ctx, p, mine)
			return err
		})
	}
	_ = g.Wait() // the first part's error comes first
	for i, err := range errs {
		for _, say := range said[i] {
			say()
		}
		if err != nil {
			return nil, err
		}
	}
	return looks, nil
}

// lookAt opens a part for its schema.
func lookAt(ctx context.Context, p Part, o table.ReadOptions) (l look, err error) {
	ro := table.ReadOptions{Allocator: o.Allocator, TempDir: o.TempDir, Dictionaries: o.Dictionaries, Decimals64: o.Decimals64}
	if len(o.Schema) == 0 {
		ro.Notice, ro.Warning = o.Notice, o.Warning
	}
	src, format, err := p.Open(ctx, ro)
	if err != nil {
		return l, err
	}
	l.format = format
	for _, f := range o.Schema {
		if src.Schema().HasField(f.Name) {
			l.casts = append(l.casts, f)
		}
	}
	if len(o.Schema) > 0 { // messages may be about the types that it sets
		if err := src.Close(); err != nil {
			return l, err
		}
		ro.Notice, ro.Warning, ro.Schema = o.Notice, o.Warning, l.casts
		if src, _, err = p.Open(ctx, ro); err != nil {
			return l, err
		}
	}
	l.schema = src.Schema()
	if s, ok := src.(table.Sampled); ok {
		for i, f := range l.schema.Fields() {
			l.empty = append(l.empty, s.NoValues(i) && !hasCast(l.casts, f.Name))
		}
	}
	l.names = arrowmap.UniqueNames(l.schema.Fields())
	l.rows, l.known = src.Rows()
	l.known = l.known && format.ExactRows
	return l, src.Close()
}

// observed are the columns, of type null without any value.
func (l *look) observed() []arrow.Field {
	fields := l.schema.Fields()
	for i, empty := range l.empty {
		if empty {
			fields[i].Type = arrow.Null
		}
	}
	return fields
}

// readAsText has a part of text read the values as text that other parts have as other types. Columns without any value in the
// sample are read as those of other parts.
func (u *Union) readAsText(i int) {
	l := &u.looks[i]
	if !u.reread(l.format) {
		return
	}
	fields := l.schema.Fields()
	for _, c := range u.columns {
		at := c.in[i]
		isEmpty := at >= 0 && at < len(l.empty) && l.empty[at]
		if at < 0 || !c.mixed && !isEmpty || len(l.schema.FieldIndices(c.field.Name)) > 1 || hasCast(l.casts, c.field.Name) {
			continue
		}
		if isEmpty {
			fields[at].Type = c.field.Type
		} else {
			fields[at].Type = textLeaves(fields[at].Type, c.field.Type)
		}
		l.casts = append(slices.Clip(l.casts), fields[at])
	}
	meta := l.schema.Metadata()
	l.schema = arrow.NewSchema(fields, &meta)
}

func hasCast(casts []arrow.Field, name string) bool {
	return slices.ContainsFunc(casts, func(f arrow.Field) bool { return f.Name == name })
}

// textLeaves is a type with strings wherever the united type has strings.
func textLeaves(t, united arrow.DataType) arrow.DataType {
	if united.ID() == arrow.STRING && kindOf(t) != isText {
		return united
	}
	switch t := t.(type) {
	case *arrow.StructType:
		to, ok := united.(*arrow.StructType)
		if !ok {
			return t
		}
		fields := t.Fields()
		for i := range fields {
			if f, ok := to.FieldByName(fields[i].Name); ok {
				fields[i].Type = textLeaves(fields[i].Type, f.Type)
			}
		}
		return arrow.StructOf(fields...)
	case *arrow.ListType:
		if to, ok := united.(arrow.ListLikeType); ok {
			f := t.ElemField()
			f.Type = textLeaves(f.Type, to.Elem())
			return arrow.ListOfField(f)
		}
	}
	return t
}

// mixture is the notice about a column whose values are read as text.
func (u *Union) mixture(c column) string {
	var types []string
	for part, i := range c.in {
		if i < 0 {
			continue
		}
		l := u.looks[part]
		if i < len(l.empty) && l.empty[i] {
			continue
		}
		name := text.Type(l.schema.Field(i).Type)
		if !slices.ContainsFunc(types, func(s string) bool { return strings.HasPrefix(s, name+" in ") }) {
			types = append(types, name+" in "+u.parts[part].Name)
		}
	}
	return fmt.Sprintf("column %q is read as text: it is %s; --schema '%s:TYPE' sets a type", c.field.Name, strings.Join(types, ", "), text.Name(c.field.Name))
}

// explain adds the inputs to an error about the types of a column.
func (u *Union) explain(err error) error {
	var e *typeError
	if !errors.As(err, &e) {
		return err
	}
	first, firstType := -1, arrow.DataType(nil)
	for part, l := range u.looks {
		at := l.schema.FieldIndices(e.column)
		if len(at) == 0 {
			continue
		}
		t := l.schema.Field(at[0]).Type
		if first < 0 {
			first, firstType = part, t
		} else if !arrow.TypeEqual(t, firstType) {
			return &hintError{
				fmt.Errorf("column %q is %s in %s, but %s in %s", e.column, text.Type(firstType), u.parts[first].Name, text.Type(t), u.parts[part].Name),
				fmt.Sprintf("--schema '%s:TYPE' gives it one type", text.Name(e.column)),
			}
		}
	}
	return err
}

// hintError is an error with a way out.
type hintError struct {
	error
	hint string
}

// Hint is the way out.
func (e *hintError) Hint() string { return e.hint }

// Open opens the union for reading. It may be called again, unless a part can be opened only once.
func (u *Union) Open(ctx context.Context, o Options) (table.Source, error) {
	switch {
	case len(o.Ranges) > 1:
		return u.openRanges(ctx, o)
	case o.Ranges != nil:
		o.ReadOptions.Rows = none
		if len(o.Ranges) == 1 {
			o.ReadOptions.Rows = o.Ranges[0]
		}
	case o.Range.fromEnd():
		n, known, err := u.count(ctx)
		if err != nil {
			return nil, err
		}
		if !known {
			return u.openFromEnd(ctx, o)
		}
		o.ReadOptions.Rows = o.Range.resolve(n)
	default:
		o.ReadOptions.Rows = o.Range.resolve(0)
	}
	if len(u.parts) > 1 {
		return u.open(o.ReadOptions)
	}
	o.Schema = u.casts
	src, f, err := u.parts[0].Open(ctx, o.ReadOptions)
	u.exact = f.ExactRows
	return src, err
}

// count is the number of rows of all parts, if it is known without reading them.
func (u *Union) count(ctx context.Context) (n int64, known bool, err error) {
	if len(u.parts) > 1 {
		for _, l := range u.looks {
			n += l.rows
			if !l.known {
				return 0, false, nil
			}
		}
		return n, true, nil
	}
	if u.parts[0].Once {
		return 0, false, nil
	}
	src, f, err := u.parts[0].Open(ctx, table.ReadOptions{Columns: []string{}})
	if err != nil {
		return 0, false, err
	}
	n, known = src.Rows()
	return n, known && f.ExactRows, src.Close()
}

// openFromEnd opens a range of rows that depends on an unknown number of rows.
func (u *Union) openFromEnd(ctx context.Context, o Options) (table.Source, error) {
	late := table.Format{
		Casts: true, Ranges: true,
		Reader: func(ctx context.Context, _ table.Input, ro table.ReadOptions) (table.Source, error) {
			all := o.ReadOptions
			all.Filter, all.Limit, all.Columns = ro.Filter, 0, ro.Columns
			src, err := u.Open(ctx, Options{ReadOptions: all})
			if err != nil {
				return nil, err
			}
			return &endSource{Source: src, rows: o.Range}, nil
		},
	}
	return late.Open(ctx, table.Input{Name: u.name()}, o.ReadOptions)
}

// name is for errors about rows.
func (u *Union) name() string {
	if len(u.parts) == 1 {
		return u.parts[0].Name
	}
	return fmt.Sprintf("%d inputs", len(u.parts))
}

// NumRows is the number of rows that the options choose, if it is known without reading any. The union must not consist of a
// part that can be opened only once.
func (u *Union) NumRows(ctx context.Context, o Options) (n int64, known bool, err error) {
	o.Columns = []string{}
	src, err := u.Open(ctx, o)
	if err != nil {
		return 0, false, err
	}
	n, known = u.rowsOf(src, o)
	return n, known, src.Close()
}

// rowsOf is the number of rows of a source of the union, if it is exact.
func (u *Union) rowsOf(src table.Source, o Options) (n int64, known bool) {
	exact := u.exact
	if len(u.parts) > 1 {
		exact = !slices.ContainsFunc(u.looks, func(l look) bool { return !l.known })
	}
	n, known = src.Rows()
	return n, known && exact && o.Filter.IsZero()
}

// Count returns the number of rows that the options choose. It reads only parts that do not record their number of rows,
// or the columns of the filter.
func (u *Union) Count(ctx context.Context, o Options) (n int64, err error) {
	o.Columns = []string{}
	src, err := u.Open(ctx, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	if n, known := u.rowsOf(src, o); known {
		return n, nil
	}
	for {
		b, err := src.Next(ctx)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
		n += b.NumRows()
		b.Release()
	}
}
