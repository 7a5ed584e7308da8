package table

import (
	"context"

	"github.com/amudai/amudai-go/internal/engine/ranking"
	"github.com/amudai/amudai-go/internal/engine/rowset"
)

// Ranked is a table with indexes that rows can be ranked by.
type Ranked interface {
	// Rankings are the words of columns in all rows, part by part in the order of rows; nil if there are columns without such an index.
	Rankings(ctx context.Context, columns []FilterColumn) ([]Ranking, error)
}

// Ranking is the words of columns in consecutive rows.
type Ranking struct {
	Rows    rowset.Range
	Columns []ranking.Column
}

// Visible is the rows of a table that are not hidden; nil if none is.
func Visible(ctx context.Context, t Table) (*rowset.Set, error) {
	all, hides := rowset.Set{}, false
	for i := range t.NumStripes() {
		st := t.Stripe(i)
		rows := rowset.All(st.Rows())
		visible, err := st.Visible(ctx)
		if err != nil {
			return nil, err
		}
		if visible != nil {
			rows, hides = *visible, true
		}
		all = all.Or(rows.Shift(st.Position()))
	}
	if !hides {
		return nil, nil
	}
	return &all, nil
}
