// Package around finds the rows that a search returns: matches, and rows around them. It numbers the rows that are shown; others, such as deleted ones, have
// positions only.
package around

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/table/provider"
)

// Window finds the rows of matches with their context.
type Window struct {
	Before, After int64               // rows of context
	Ranges        []provider.RowRange // rows that are to be returned
	Matches       []int64             // those of them that match

	next int64 // the first row that may be added
	due  int64 // the end of the context of the last match
}

// Add adds the rows up to a match.
func (w *Window) Add(match int64) {
	w.Flush(match)
	w.append(max(w.next, match-w.Before), match+1)
	w.Matches = append(w.Matches, match)
	w.due = match + 1 + min(w.After, math.MaxInt64-match-1)
}

// Flush adds the rows before end that are context of the last match. It reports whether there are more of these.
func (w *Window) Flush(end int64) bool {
	if to := min(w.due, end); to > w.next {
		w.append(w.next, to)
	}
	return w.due > end
}

// append adds rows behind those of Ranges.
func (w *Window) append(from, to int64) {
	if last := len(w.Ranges) - 1; last >= 0 && w.Ranges[last].To == from {
		w.Ranges[last].To = to
	} else {
		w.Ranges = append(w.Ranges, provider.RowRange{From: from, To: to})
	}
	w.next = to
}

// Take takes the next n rows: their numbers, and which of them are context.
func (w *Window) Take(n int64) (rows []int64, context []bool) {
	rows, context = make([]int64, n), make([]bool, n)
	for i := range rows {
		next := &w.Ranges[0]
		rows[i] = next.From
		if next.From++; next.From == next.To {
			w.Ranges = w.Ranges[1:]
		}
		if len(w.Matches) > 0 && w.Matches[0] == rows[i] {
			w.Matches = w.Matches[1:]
		} else {
			context[i] = true
		}
	}
	return rows, context
}

// Kept are the last rows that were read, of which some may become context of a match that is still to come.
type Kept struct {
	Window
	End     int64 // the number of the row behind them
	batches []arrow.RecordBatch
}

// Keep keeps the rows of a batch, which it owns then.
func (k *Kept) Keep(b arrow.RecordBatch) {
	k.batches = append(k.batches, b)
	k.End += b.NumRows()
}

// first is the number of the first row.
func (k *Kept) first() int64 {
	first := k.End
	for _, b := range k.batches {
		first -= b.NumRows()
	}
	return first
}

// Drop drops the batches of rows before one.
func (k *Kept) Drop(before int64) {
	for first := k.first(); len(k.batches) > 0 && first+k.batches[0].NumRows() <= before; {
		first += k.batches[0].NumRows()
		k.batches[0].Release()
		k.batches = k.batches[1:]
	}
}

// Give calls f with the rows that are to be returned.
func (k *Kept) Give(f func(arrow.RecordBatch) error) error {
	first := k.first()
	for _, b := range k.batches {
		rows, err := provider.ChooseRows(b, rowset.Shift(k.Ranges, first))
		if err != nil {
			return err
		}
		if first += b.NumRows(); rows == nil {
			continue
		}
		err = f(rows)
		rows.Release()
		if err != nil {
			return err
		}
	}
	return nil
}
