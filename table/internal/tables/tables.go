// Package tables reads several tables as one. Columns are united by name: a column has the smallest type that holds the
// values of all parts exactly, whatever their order, and is null in the parts that lack it. Package tables also reads
// ranges of rows, the last rows of a table, and random samples.
package tables

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"golang.org/x/sync/errgroup"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/cast"
	"github.com/amudai/amudai-go/table/provider"
)

// Part is one of the tables that are read as one.
type Part struct {
	Name string // for errors
	Once bool   // it can be opened only once
	Open func(ctx context.Context, o provider.ReadOptions) (provider.Source, provider.Format, error)
}

// Union is a list of tables as one. It has no open files.
type Union struct {
	parts           []Part
	looks           []look // of several parts
	columns         []cast.Column
	schema          *arrow.Schema
	casts           []arrow.Field
	notice, warning func(string) // of messages about parts that are still to come; may be nil

	keepGroups func(provider.Format) bool
}

// KeepGroups has the groups of rows of parts in some formats be groups of the sources that Open returns, for
// [provider.Grouped]. Each part begins a group in any case.
func (u *Union) KeepGroups(of func(provider.Format) bool) { u.keepGroups = of }

// Once returns functions that leave out messages that were given before.
func Once() func(say func(string)) func(string) {
	var said sync.Map
	return func(say func(string)) func(string) {
		return func(text string) {
			if _, before := said.LoadOrStore(text, true); !before && say != nil {
				say(text)
			}
		}
	}
}

// look is what is known of a part.
type look struct {
	schema *arrow.Schema // of its rows as they are read, with the casts
	names  []string      // of its columns in paths
	casts  []arrow.Field // of its columns
	format provider.Format
	empty  []bool // by column: its type is a guess without any value
	rows   int64  // positions of rows
	hidden int64  // positions without a row
	known  bool
}

// New unites tables, of which there is at least one. It opens each of several parts for its schema. Of the options, those
// about types and messages count, and Columns for the latter.
func New(ctx context.Context, parts []Part, o provider.ReadOptions) (*Union, error) {
	u := &Union{parts: parts, casts: o.Schema}
	if len(parts) == 1 {
		return u, nil
	}
	warning := o.Warning
	if o.Columns != nil { // messages about other columns do not matter
		u.notice, u.warning = o.Notice, o.Warning
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
	if u.columns, err = cast.Unite(lists, false); err == nil {
		err = u.settleEmpty()
	}
	if err != nil {
		return nil, u.explain(err)
	}
	fields := make([]arrow.Field, len(u.columns))
	for i, c := range u.columns {
		fields[i] = c.Field
		if c.Mixed && warning != nil && isNamed(o.Columns, c.Field.Name) {
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
		if u.columns[i].Field.Type.ID() == arrow.NULL {
			if err := u.columns[i].Settle(lists, false); err != nil {
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

// looksAtOnce is the number of parts that are opened beside each other: each waits for its store, or infers its types.
const looksAtOnce = 8

// lookAtAll opens all parts for their schemas. Messages come in the order of parts, up to the first that cannot be opened.
func lookAtAll(ctx context.Context, parts []Part, o provider.ReadOptions) ([]look, error) {
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
func lookAt(ctx context.Context, p Part, o provider.ReadOptions) (l look, err error) {
	ro := provider.ReadOptions{Allocator: o.Allocator, TempDir: o.TempDir}
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
	if s, ok := src.(provider.Sampled); ok {
		for i, f := range l.schema.Fields() {
			l.empty = append(l.empty, s.NoValues(i) && !hasCast(l.casts, f.Name))
		}
	}
	l.names = arrowmap.UniqueNames(l.schema.Fields())
	shown, _ := src.Rows()
	l.rows, l.known = provider.PositionsOf(src)
	l.hidden, l.known = l.rows-shown, l.known && format.ExactRows
	return l, src.Close()
}

// observed are the columns, of type null without any value. A column that is cast tells nothing about the type of its values in a table of spans.
func (l *look) observed() []arrow.Field {
	fields := l.schema.Fields()
	for i, f := range fields {
		if hasCast(l.casts, f.Name) {
			fields[i].Metadata = arrow.Metadata{}
		}
	}
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
	if !l.format.Inferred {
		return
	}
	fields := l.schema.Fields()
	for _, c := range u.columns {
		at := c.In[i]
		isEmpty := at >= 0 && at < len(l.empty) && l.empty[at]
		if at < 0 || !c.Mixed && !isEmpty || len(l.schema.FieldIndices(c.Field.Name)) > 1 || hasCast(l.casts, c.Field.Name) {
			continue
		}
		if isEmpty {
			fields[at].Type = c.Field.Type
		} else {
			fields[at].Type = textLeaves(fields[at].Type, c.Field.Type)
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
	if united.ID() == arrow.STRING && !kinds.IsText(t) {
		return united
	}
	shape, fields, to := kinds.Of(t), kinds.Fields(t), kinds.Fields(united)
	if shape != kinds.Of(united) || shape != kinds.Record && t.ID() != arrow.LIST {
		return t
	}
	for i := range fields {
		at := slices.IndexFunc(to, func(f arrow.Field) bool { return shape == kinds.List || f.Name == fields[i].Name })
		if at >= 0 {
			fields[i].Type = textLeaves(fields[i].Type, to[at].Type)
		}
	}
	return kinds.With(t, fields)
}

// mixture is the notice about a column whose values are read as text.
func (u *Union) mixture(c cast.Column) string {
	var types []string
	for part, i := range c.In {
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
	return fmt.Sprintf("column %q is read as text: it is %s; --schema '%s:TYPE' sets a type", c.Field.Name, strings.Join(types, ", "), text.Name(c.Field.Name))
}

// explain adds the inputs to an error about the types of a column.
func (u *Union) explain(err error) error {
	var e *cast.TypeError
	if !errors.As(err, &e) {
		return err
	}
	first, firstType := -1, arrow.DataType(nil)
	for part, l := range u.looks {
		at := l.schema.FieldIndices(e.Column)
		if len(at) == 0 {
			continue
		}
		t := l.schema.Field(at[0]).Type
		if first < 0 {
			first, firstType = part, t
		} else if !arrow.TypeEqual(t, firstType) {
			return advice.WithHint(
				fmt.Errorf("column %q is %s in %s, but %s in %s", e.Column, text.Type(firstType), u.parts[first].Name, text.Type(t), u.parts[part].Name),
				"--schema '%s:TYPE' gives it one type", text.Name(e.Column))
		}
	}
	return err
}

// Open opens the union for reading. It may be called again, unless a part can be opened only once. Negative positions in a
// single range of rows count from the end.
func (u *Union) Open(ctx context.Context, o provider.ReadOptions) (provider.Source, error) {
	src, _, err := u.openExact(ctx, o)
	return src, err
}

// openExact is Open. exact reports whether the source knows its number of rows, unless there is a filter.
func (u *Union) openExact(ctx context.Context, o provider.ReadOptions) (src provider.Source, exact bool, err error) {
	late, err := fromEnd(o.Rows)
	if err != nil {
		return nil, false, err
	}
	if late {
		rows, known, err := u.fromStart(ctx, o.Rows[0])
		if err != nil {
			return nil, false, err
		}
		if !known {
			src, err := u.openFromEnd(ctx, o)
			return src, false, err
		}
		o.Rows = rows
	}
	if len(u.parts) > 1 {
		src, err := u.open(ctx, o)
		return src, !slices.ContainsFunc(u.looks, func(l look) bool { return !l.known }), err
	}
	o.Schema = u.casts
	src, f, err := u.parts[0].Open(ctx, o)
	return src, f.ExactRows, err
}

// once reports whether the union can be opened only once.
func (u *Union) once() bool { return len(u.parts) == 1 && u.parts[0].Once }

// fromStart is a range that is counted from the end of the rows that are shown as one of positions, if their number is known without reading them.
func (u *Union) fromStart(ctx context.Context, r provider.RowRange) (rows []provider.RowRange, known bool, err error) {
	if u.once() {
		return nil, false, nil
	}
	n, hidden, known, err := u.Positions(ctx)
	if err != nil || !known {
		return nil, false, err
	}
	r = resolve(r, n-hidden)
	if r.To = min(r.To, n-hidden); hidden == 0 || r.From >= r.To {
		return []provider.RowRange{r}, true, nil
	}
	shown, err := u.ShownBut(ctx, hidden)
	if err != nil {
		return nil, false, err
	}
	return []provider.RowRange{{From: shown.Position(r.From), To: shown.Position(r.To-1) + 1}}, true, nil
}

// openFromEnd opens a range of rows that depends on an unknown number of rows.
func (u *Union) openFromEnd(ctx context.Context, o provider.ReadOptions) (provider.Source, error) {
	rows := o.Rows[0]
	o.Rows = nil
	late := provider.Format{
		Casts: true, Ranges: true,
		Reader: func(ctx context.Context, _ provider.Input, ro provider.ReadOptions) (provider.Source, error) {
			all := o
			all.Filter, all.Limit, all.Columns = ro.Filter, 0, ro.Columns
			all.Reuse = false // batches are kept
			src, err := u.Open(ctx, all)
			if err != nil {
				return nil, err
			}
			return &endSource{Source: src, rows: rows}, nil
		},
	}
	return late.Open(ctx, provider.Input{Name: u.name()}, o)
}

// name is for errors about rows.
func (u *Union) name() string {
	if len(u.parts) == 1 {
		return u.parts[0].Name
	}
	return fmt.Sprintf("%d inputs", len(u.parts))
}

// NumRows is the number of rows that the options choose, if it is known without reading any and no row is hidden. The union must not consist
// of a part that can be opened only once.
func (u *Union) NumRows(ctx context.Context, o provider.ReadOptions) (n int64, known bool, err error) {
	n, hidden, known, err := u.positions(ctx, o)
	return n, known && hidden == 0, err
}

// Positions is the number of positions of rows, and of those that are hidden, if it is known without reading any, as NumRows.
func (u *Union) Positions(ctx context.Context) (n, hidden int64, known bool, err error) {
	return u.positions(ctx, provider.ReadOptions{})
}

// positions is the number of positions that the options choose, and of those without a row.
func (u *Union) positions(ctx context.Context, o provider.ReadOptions) (n, hidden int64, known bool, err error) {
	o.Columns = []string{}
	src, exact, err := u.openExact(ctx, o)
	if err != nil {
		return 0, 0, false, err
	}
	shown, _ := src.Rows()
	n, known = provider.PositionsOf(src)
	return n, n - shown, known && exact && o.Filter.IsZero(), src.Close()
}

// Count returns the number of rows that the options choose. It reads only parts that do not record their number of rows,
// or the columns of the filter.
func (u *Union) Count(ctx context.Context, o provider.ReadOptions) (n int64, err error) {
	o.Columns = []string{}
	src, exact, err := u.openExact(ctx, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	if n, known := src.Rows(); known && exact && o.Filter.IsZero() {
		return n, nil
	}
	for b, err := range provider.Batches(ctx, src) {
		if err != nil {
			return 0, err
		}
		n += b.NumRows()
	}
	return n, nil
}
