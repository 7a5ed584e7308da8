// Package diff prints differences of two tables, as text and JSON.
package diff

import (
	"context"
	"slices"

	"github.com/amudai/amudai-go/table"
)

// Printer prints differences, in order.
type Printer interface {
	// Columns receives the columns of both tables, once, before the rows.
	Columns(table.DiffColumns) error
	// Stored receives what both tables store, if it is compared, before the rows.
	Stored(*table.DiffStored) error
	// Row receives a row that differs, or the second row of a key.
	Row(table.DiffRow) error
	// Summary receives the numbers of rows. differs tells whether columns or rows differ.
	Summary(s table.DiffSummary, differs bool) error
}

// Print compares two tables to their end, and what they store if stored is set.
func Print(ctx context.Context, c *table.Comparison, stored bool, p Printer) error {
	if err := p.Columns(c.Columns()); err != nil {
		return err
	}
	if stored {
		s, err := c.Stored(ctx)
		if err == nil {
			err = p.Stored(s)
		}
		if err != nil {
			return err
		}
	}
	for r, err := range c.Rows(ctx) {
		if err == nil {
			err = p.Row(r)
		}
		if err != nil {
			return err
		}
	}
	return p.Summary(c.Summary(), c.Differs())
}

// second is the second row of a key, and whether it is in the new table.
func second(r table.DiffRow) (row table.DiffValues, inNew bool) {
	if r.New.Arrays != nil {
		return r.New, true
	}
	return r.Old, false
}

// storedAlike reports whether a field has the same bytes and encodings in both tables.
func storedAlike(old, new *table.StoredField) bool {
	return old != nil && new != nil && old.Bytes == new.Bytes && slices.Equal(old.Encodings, new.Encodings)
}
