// Package diff compares two tables: their schemas, then their rows, by position or by key, in bounded memory.
package diff

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/table"
)

// Options are the options of [Tables].
type Options struct {
	Key       []*ast.Node // the values that identify a row; nil to compare rows by position
	Tolerance float64     // the most by which equal floats differ
	Inferred  bool        // the types of a table are inferred from text: they are no difference where values can be compared
	First     bool        // end with the first difference
	Order     order.Options
}

// Kind says how a row differs.
type Kind int

// The kinds of differences.
const (
	Changed Kind = iota // some values differ
	Removed             // the row is only in the old table
	Added               // the row is only in the new table
)

// Row is a row that differs. Its batches are valid during the call of [Report.Row].
type Row struct {
	Kind     Kind
	Position int64 // in its table, or in both; -1 if rows are compared by key
	Old, New Values
	Columns  []int // of a changed row: those of [Columns] whose values differ
}

// Values are the values of a row, by the columns of [Columns].
type Values struct {
	Arrays []arrow.Array // of each column; nil if the table lacks it
	Keys   []arrow.Array // of each value of the key
	Index  int           // of the row in these
}

// Report receives differences, in order. An error ends the comparison.
type Report interface {
	// Columns receives the columns of both tables, once, before the rows.
	Columns(Columns) error
	// Row receives a row that differs.
	Row(Row) error
	// Duplicate receives the second row of a key that several rows of a table have, once for each key. Rows of the same key are compared in the order of
	// their tables.
	Duplicate(inNew bool, row Values) error
}

// Quiet is a [Report] that does nothing.
type Quiet struct{}

// Columns implements [Report].
func (Quiet) Columns(Columns) error { return nil }

// Row implements [Report].
func (Quiet) Row(Row) error { return nil }

// Duplicate implements [Report].
func (Quiet) Duplicate(bool, Values) error { return nil }

// Summary does nothing.
func (Quiet) Summary(Summary) error { return nil }

// Summary has the numbers of rows.
type Summary struct {
	Columns                        Columns
	Changed, Removed, Added, Equal int64
	DuplicateKeys                  int64 // that several rows of a table have
}

// Differs reports whether the tables differ in some way.
func (s Summary) Differs() bool { return s.Columns.Changed() || s.Rows() > 0 }

// Rows is the number of rows that differ.
func (s Summary) Rows() int64 { return s.Changed + s.Removed + s.Added }

// errEnough ends a comparison at the first difference.
var errEnough = errors.New("the tables differ")

// comparison is a comparison in progress.
type comparison struct {
	o       Options
	report  Report
	columns Columns
	summary Summary
	mem     memory.Allocator
}

// Tables compares two tables, which stay the caller's.
func Tables(ctx context.Context, old, new table.Source, o Options, report Report) (Summary, error) {
	c := &comparison{o: o, report: report, mem: memory.DefaultAllocator}
	c.columns = match(old.Schema(), new.Schema(), o.Inferred)
	c.summary.Columns = c.columns
	if err := report.Columns(c.columns); err != nil {
		return c.summary, err
	}
	if o.First && c.summary.Differs() {
		return c.summary, nil
	}
	a, b := c.newSide(old, true), c.newSide(new, false)
	var err error
	if o.Key == nil {
		err = c.byPosition(ctx, a, b)
	} else {
		err = c.byKey(ctx, a, b)
	}
	if errors.Is(err, errEnough) {
		err = nil
	}
	return c.summary, err
}

// add counts and reports a difference.
func (c *comparison) add(r Row) error {
	switch r.Kind {
	case Changed:
		c.summary.Changed++
	case Removed:
		c.summary.Removed++
	case Added:
		c.summary.Added++
	}
	if err := c.report.Row(r); err != nil {
		return err
	}
	if c.o.First {
		return errEnough
	}
	return nil
}
