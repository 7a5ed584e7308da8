package shard_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
)

// Of several writers that delete at once by numbers of rows, each succeeds or gets the error that another was faster; by conditions all succeed. The shard
// lacks what those who succeeded deleted.
func TestDeletesAtOnce(t *testing.T) {
	const writers = 6
	for _, byNumber := range []bool{true, false} {
		location := editable(t, 600, shard.WriterOptions{StripeRows: 250})
		failed := make([]chan error, writers)
		for i := range failed {
			failed[i] = make(chan error, 1)
			from := int64(100 * i)
			rows := shard.Rows{Where: filter.And(filter.Ge(filter.Col("id"), from), filter.Lt(filter.Col("id"), from+50))}
			if byNumber {
				rows = shard.Rows{Ranges: []shard.RowRange{{From: from, To: from + 50}}}
			}
			go func() {
				_, err := shard.Delete(t.Context(), location, shard.EditOptions{}, rows)
				failed[i] <- err
			}()
		}
		won := map[int64]bool{}
		for i, f := range failed {
			err := <-f
			if won[int64(i)] = err == nil; err != nil {
				require.True(t, byNumber && errors.Is(err, storage.ErrChanged), fmt.Sprint(err))
			}
		}
		want := []int64{}
		for id := range int64(600) {
			if id%100 >= 50 || !won[id/100] {
				want = append(want, id)
			}
		}
		require.Less(t, len(want), 600)
		require.Equal(t, want, shownIDs(t, location, filter.Expr{}))
		requireIntact(t, location)
	}
}
