package tables

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// Shown has the positions of the rows that are shown: others, such as deleted ones, have positions only. The zero value is for a table that shows all rows.
type Shown struct {
	ranges []provider.RowRange
	before []int64 // rows before each of them
}

// Shown finds the rows that are shown. No column is read.
func (u *Union) Shown(ctx context.Context) (*Shown, error) {
	_, hidden, _, err := u.Positions(ctx)
	if err != nil {
		return nil, err
	}
	return u.ShownBut(ctx, hidden)
}

// ShownBut is Shown of a table with so many other rows.
func (u *Union) ShownBut(ctx context.Context, hidden int64) (s *Shown, err error) {
	s = &Shown{}
	if hidden == 0 {
		return s, nil
	}
	src, err := u.Open(ctx, provider.ReadOptions{Columns: []string{}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	for b, err := range provider.Batches(ctx, src) {
		if err != nil {
			return nil, err
		}
		s.Add(b.NumRows(), provider.RangesOf(src))
	}
	return s, nil
}

// Add adds the next n rows, which are the first ones of some positions. Without positions they follow the last row.
func (s *Shown) Add(n int64, at []provider.RowRange) {
	rows, end := int64(0), int64(0)
	if last := len(s.ranges) - 1; last >= 0 {
		end = s.ranges[last].To
		rows = s.before[last] + s.ranges[last].Len()
	}
	if at == nil {
		at = []provider.RowRange{{From: end, To: end + n}}
	}
	for _, r := range at {
		if r.To = min(r.To, r.From+n); r.From >= r.To {
			return
		}
		n -= r.Len()
		if last := len(s.ranges) - 1; last >= 0 && s.ranges[last].To == r.From {
			s.ranges[last].To = r.To
		} else {
			s.ranges, s.before = append(s.ranges, r), append(s.before, rows)
		}
		rows += r.Len()
	}
}

// Number replaces positions of rows by their numbers. The error wraps [storage.ErrChanged]: a row that another read found is not shown any more.
func (s *Shown) Number(rows []int64) error {
	if s.ranges == nil {
		return nil
	}
	for k, row := range rows {
		i := sort.Search(len(s.ranges), func(i int) bool { return s.ranges[i].To > row })
		if i == len(s.ranges) || row < s.ranges[i].From {
			return fmt.Errorf("row %d was there, and is not any more: %w", row, storage.ErrChanged)
		}
		rows[k] = s.before[i] + row - s.ranges[i].From
	}
	return nil
}

// Position is the position of the row with a number. Those behind the last row follow it.
func (s *Shown) Position(number int64) int64 {
	if s.ranges == nil {
		return number
	}
	i := sort.Search(len(s.before), func(i int) bool { return s.before[i] > number }) - 1
	return s.ranges[i].From + number - s.before[i]
}

// Locate replaces numbers of rows by their positions.
func (s *Shown) Locate(rows []int64) {
	for i, row := range rows {
		rows[i] = s.Position(row)
	}
}
