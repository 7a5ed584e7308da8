package table

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/option"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/internal/diff"
	"github.com/amudai/amudai-go/table/internal/recorded"
	"github.com/amudai/amudai-go/table/provider"
)

// DiffOptions are the options of [Diff]. The zero value compares all rows by their positions.
type DiffOptions struct {
	// Old and New choose the rows and columns of each table that are compared.
	Old, New ScanOptions
	// Key are columns, or expressions such as lower(name), separated by commas, whose values identify a row: rows of equal keys are compared,
	// in any order of the tables. Without a key, the first rows of both are compared, then the second ones, and so on.
	Key string
	// Numbers compares rows with equal numbers in both tables, instead of the first rows, then the second ones: rows that are deleted in one of two versions of a
	// shard are then removed or added. It has no effect with a key.
	Numbers bool
	// Tolerance is the most by which floats differ that are equal. NaN is equal to NaN.
	Tolerance float64
	// Memory is the bytes of rows held in memory with a key, up to 1 GiB; the rest goes to temporary files; default DefaultMemory.
	Memory int64
}

// DiffColumn is a column of the old table, the new one, or both.
//
//	type DiffColumn struct {
//		Name     string
//		Old, New arrow.DataType // nil if the table lacks it
//		Common   arrow.DataType // the type that values are compared in; nil if they cannot be compared
//		Changed  bool           // it is in one table only, or has different types
//	}
type DiffColumn = diff.Column

// DiffColumns are the columns of two tables. Its method Changed reports whether they differ, and Orders lists those of both tables in
// the order of each.
//
//	type DiffColumns struct {
//		All     []DiffColumn // those of the old table, then those that are only in the new one
//		Ordered bool         // those of both tables have the same order in both
//	}
type DiffColumns = diff.Columns

// DiffKind says how a row differs.
type DiffKind = diff.Kind

// The kinds of a [DiffRow].
const (
	RowChanged   DiffKind = diff.Changed   // some values differ
	RowRemoved   DiffKind = diff.Removed   // the row is only in the old table
	RowAdded     DiffKind = diff.Added     // the row is only in the new table
	RowDuplicate DiffKind = diff.Duplicate // no difference: the row is the second one of its table, Old or New, with its key
)

// DiffRow is a row that differs. Its arrays are valid until the next step of the loop.
//
//	type DiffRow struct {
//		Kind     DiffKind
//		Position int64      // in its table, or in both; -1 if rows are compared by key
//		Old, New DiffValues // zero if there is no such row
//		Columns  []int      // of a changed row: those of DiffColumns.All whose values differ
//	}
type DiffRow = diff.Row

// DiffValues are the values of a row of one table, in the types of the comparison.
//
//	type DiffValues struct {
//		Arrays []arrow.Array // of each of DiffColumns.All; nil if the table lacks it
//		Keys   []arrow.Array // of each value of the key
//		Index  int           // of the row in these
//	}
type DiffValues = diff.Values

// DiffSummary has numbers of rows. Its method Rows is the number of those that differ.
//
//	type DiffSummary struct {
//		Changed, Removed, Added, Equal int64
//		DuplicateKeys                  int64 // that several rows of a table have
//	}
type DiffSummary = diff.Summary

// Comparison is two tables that are compared. It belongs to one goroutine. Close it before the tables.
type Comparison struct {
	engine *diff.Comparison
	keys   []string
	sides  [2]side
}

// Diff compares two tables. Their columns are compared at once, the rows by [Comparison.Rows].
//
// Values of different types are compared in a type that holds both: 1 as int32 is equal to 1 as int64. If one table is text, such as CSV, its
// columns are read in the types of the other one where the text alone does not tell them, and types are no difference where values can be
// compared; this may read these columns of the text at once.
//
// A key that is no expression, or a bad tolerance, is an [OptionError]. The tables stay the caller's, and may be the same.
func Diff(ctx context.Context, old, new *Table, o DiffOptions) (_ *Comparison, err error) {
	eo, err := o.engine()
	if err != nil {
		return nil, err
	}
	c := &Comparison{sides: [2]side{{table: old, scan: o.Old}, {table: new, scan: o.New}}}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	for i := range c.sides {
		if err := c.sides[i].open(ctx); err != nil {
			return nil, err
		}
	}
	for i := range c.sides {
		if err := c.sides[i].fit(ctx, &c.sides[1-i]); err != nil {
			return nil, err
		}
	}
	eo.Inferred = old.isInferred() || new.isInferred()
	for _, n := range eo.Key {
		c.keys = append(c.keys, n.String())
	}
	c.engine = diff.New(c.sides[0].src, c.sides[1].src, eo)
	return c, nil
}

// engine checks the options.
func (o DiffOptions) engine() (eo diff.Options, err error) {
	if eo.Tolerance = o.Tolerance; !(o.Tolerance >= 0) || math.IsInf(o.Tolerance, 0) {
		return eo, &OptionError{Option: "Tolerance", Value: strconv.FormatFloat(o.Tolerance, 'g', -1, 64), Err: errors.New("use a number from 0")}
	}
	if o.Key != "" {
		if eo.Key, err = ast.ParseValues(o.Key); err != nil {
			return eo, &OptionError{Option: "Key", Err: err}
		}
	}
	eo.Numbers = o.Numbers
	eo.Order = order.Options{Memory: o.Memory}
	return eo, option.SetDefault("Memory", &eo.Order.Memory, DefaultMemory)
}

// Columns are the columns of both tables.
func (c *Comparison) Columns() DiffColumns { return c.engine.Columns }

// Keys are the expressions of the key, one for each of [DiffValues].Keys.
func (c *Comparison) Keys() []string { return c.keys }

// Rows compares the rows, and returns those that differ, in the order of positions or keys, and the second row of a key that several
// rows of a table have, once for each key: such rows are compared in their order. Equal rows are only counted. An error ends the loop. Rows can
// be read once; a loop that is left early ends all reading.
func (c *Comparison) Rows(ctx context.Context) iter.Seq2[DiffRow, error] { return c.engine.Rows(ctx) }

// Summary has the numbers of rows: of all, once Rows has ended.
func (c *Comparison) Summary() DiffSummary { return c.engine.Summary }

// Differs reports whether columns or rows were found to differ.
func (c *Comparison) Differs() bool { return c.engine.Columns.Changed() || c.engine.Summary.Rows() > 0 }

// DiffStored is what two tables store.
//
//	type DiffStored struct {
//		Old, New int64 // bytes of all inputs
//		Fields   []struct{ Old, New *StoredField } // nil if the table lacks it
//	}
type DiffStored = recorded.Pairs

// Stored compares what the tables store: fields of the old one, then those that are only in the new one. It fails if an input of a table does not tell.
// Such differences are none of the tables.
func (c *Comparison) Stored(ctx context.Context) (*DiffStored, error) {
	var both [2]*Stored
	for i := range c.sides {
		var err error
		if both[i], err = c.sides[i].table.Stored(ctx); err != nil {
			return nil, err
		}
		if both[i] == nil {
			return nil, fmt.Errorf("%s does not tell the stored size of its columns", storage.Redact(strings.Join(c.sides[i].table.locations, ", ")))
		}
	}
	return recorded.Compare(both[0], both[1]), nil
}

// Close ends all reading.
func (c *Comparison) Close() error { return errors.Join(c.sides[0].close(), c.sides[1].close()) }

// side is one of the tables of a comparison.
type side struct {
	table *Table
	scan  ScanOptions
	src   provider.Source
	own   *Table // with the types of the other one; nil if these are not needed
}

func (s *side) open(ctx context.Context) (err error) {
	s.src, err = s.table.Reader(ctx, s.scan)
	return err
}

func (s *side) close() (err error) {
	if s.src != nil {
		err = s.src.Close()
	}
	if s.own != nil {
		err = errors.Join(err, s.own.Close())
	}
	s.src, s.own = nil, nil
	return err
}

// fit opens a table of text again, with the types of another table for columns whose text alone does not tell them.
func (s *side) fit(ctx context.Context, other *side) error {
	if !s.table.isInferred() || other.table.isInferred() || !s.table.Rereadable() || len(s.table.pipes) > 0 {
		return nil
	}
	fields, err := s.fitting(ctx, diff.Untold(s.src.Schema(), other.src.Schema()))
	if err != nil || len(fields) == 0 {
		return err
	}
	if err := s.close(); err != nil {
		return err
	}
	if s.own, err = s.table.typed(ctx, fields); err != nil {
		return err
	}
	scan := s.scan
	scan.Silent = true
	s.src, err = s.own.Reader(ctx, scan)
	return err
}

// fitting lists the fields that all values of a text fit. It reads these columns.
func (s *side) fitting(ctx context.Context, fields []arrow.Field) ([]arrow.Field, error) {
	for len(fields) > 0 {
		err := s.read(ctx, fields)
		var misfit *provider.ValueError
		if err == nil || ctx.Err() != nil {
			return fields, err
		}
		if !errors.As(err, &misfit) {
			return nil, nil // text cannot have these types, or the comparison will meet the error again
		}
		n := len(fields)
		fields = slices.DeleteFunc(fields, func(f arrow.Field) bool { return strings.HasPrefix(misfit.Column, f.Name) })
		if len(fields) == n {
			return nil, nil
		}
	}
	return nil, nil
}

// read reads columns to their end.
func (s *side) read(ctx context.Context, fields []arrow.Field) (err error) {
	t, err := s.table.typed(ctx, fields)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	o := s.scan
	o.Columns, o.Silent = make([]string, len(fields)), true
	for i, f := range fields {
		o.Columns[i] = schema.Escape(f.Name)
	}
	return seq.Each(t.Scan(ctx, o), func(arrow.RecordBatch) error { return nil })
}

// isInferred reports whether the types of all inputs, which were opened, are inferred from text.
func (t *Table) isInferred() bool {
	return !slices.ContainsFunc(t.Formats(), func(f provider.Format) bool { return !f.Casts || !f.Text })
}

// typed is the same table with types of more columns, and without messages.
func (t *Table) typed(ctx context.Context, fields []arrow.Field) (*Table, error) {
	o := t.o
	o.Schema, o.Notice, o.Warning, o.Versions = slices.Clone(t.o.Schema), nil, nil, t.find.Versions.Known()
	for _, f := range fields {
		if !slices.ContainsFunc(o.Schema, func(g arrow.Field) bool { return g.Name == f.Name }) {
			o.Schema = append(o.Schema, f)
		}
	}
	return OpenWith(ctx, o, t.locations...)
}
