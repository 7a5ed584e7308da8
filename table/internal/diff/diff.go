// Package diff compares two tables: their schemas, then their rows, by position or by key, in bounded memory.
package diff

import (
	"context"
	"errors"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/table/provider"
)

// Options are the options of [New].
type Options struct {
	Key       []*ast.Node // the values that identify a row; nil to compare rows by position
	Numbers   bool        // pairs rows of equal numbers in both tables
	Tolerance float64     // the most by which equal floats differ
	Inferred  bool        // the types of a table are inferred from text: they are no difference where values can be compared
	Order     order.Options
}

// Kind says how a row differs.
type Kind int

// The kinds of differences.
const (
	Changed   Kind = iota // some values differ
	Removed               // the row is only in the old table
	Added                 // the row is only in the new table
	Duplicate             // the row is the second one of its table with its key
)

// Row is a row that differs, or the second row of a key. Package table, which has aliases of these types, tells more.
type Row struct {
	Kind     Kind
	Position int64 // in its table, or in both; -1 if rows are compared by key
	Old, New Values
	Columns  []int // of a changed row: those of [Columns] whose values differ
}

// Values are the values of a row, by the columns of [Columns]. They are zero if there is no such row in the table.
type Values struct {
	Arrays []arrow.Array // of each column; nil if the table lacks it
	Keys   []arrow.Array // of each value of the key
	Index  int           // of the row in these
}

// Summary has the numbers of rows.
type Summary struct {
	Changed, Removed, Added, Equal int64
	DuplicateKeys                  int64 // that several rows of a table have
}

// Rows is the number of rows that differ.
func (s Summary) Rows() int64 { return s.Changed + s.Removed + s.Added }

// Comparison compares two tables.
type Comparison struct {
	Columns Columns
	Summary Summary // of the rows so far

	o        Options
	old, new provider.Source
	mem      memory.Allocator
	yield    func(Row, error) bool
	ended    bool // by the reader of the rows
}

// New compares the columns of two tables, which stay the caller's.
func New(old, new provider.Source, o Options) *Comparison {
	return &Comparison{Columns: match(old.Schema(), new.Schema(), o.Inferred), o: o, old: old, new: new, mem: memory.DefaultAllocator}
}

// Rows compares the rows, and returns those that differ, and repeated keys. An error ends the loop. Rows can be read once.
func (c *Comparison) Rows(ctx context.Context) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		c.yield = yield
		a, b := c.newSide(c.old, true), c.newSide(c.new, false)
		compare := c.byPosition
		if c.o.Key != nil {
			compare = c.byKey
		}
		if err := compare(ctx, a, b); err != nil && !c.ended {
			yield(Row{}, err)
		}
	}
}

// errEnded ends a comparison whose rows are no longer read.
var errEnded = errors.New("the loop has ended")

// add counts and returns a row.
func (c *Comparison) add(r Row) error {
	switch r.Kind {
	case Changed:
		c.Summary.Changed++
	case Removed:
		c.Summary.Removed++
	case Added:
		c.Summary.Added++
	case Duplicate:
		c.Summary.DuplicateKeys++
	}
	if c.ended = c.ended || !c.yield(r, nil); c.ended {
		return errEnded
	}
	return nil
}
