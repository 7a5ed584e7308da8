package shard

import (
	"cmp"
	"context"
	"fmt"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/selection"
)

// Rows says which rows of a shard are meant: those that meet all of the conditions. The zero value means all rows.
//
//	type Rows struct {
//		Where  filter.Expr // a condition that is true for them
//		Ranges []RowRange  // ranges of their numbers, in any order
//		// Keys has rows whose columns are columns of the shard, by path and with the same types. A row of the shard is meant if its values of these
//		// columns are those of a row of Keys. Nothing is equal to null. All distinct keys are held in memory. Keys is read once.
//		Keys iter.Seq2[arrow.RecordBatch, error]
//	}
type Rows = selection.Rows

// Delete marks rows of a shard as deleted, and returns how many were not before. No question shows them any more: scans, takes, counts, aggregates, searches,
// statistics. The other rows keep their numbers, and the bytes of deleted ones stay in the shard, until [Compact] writes their stripes anew. A new root is
// published that has a bitmap for each stripe with deleted rows, and refers to the same data (see [AddIndex]). [Undelete] takes a delete back.
//
// If another writer was faster, the rows are found anew. After several attempts, and if rows with numbers may have others now, as after [Compact], the error wraps
// [storage.ErrChanged].
//
// A shard of [EditionReference] is refused, as its readers refuse deleted rows.
func Delete(ctx context.Context, location string, o EditOptions, rows Rows) (deleted int64, err error) {
	return mark(ctx, location, o, rows, "delete", func(already, rows rowset.Set) rowset.Set { return already.Or(rows) })
}

// Undelete brings deleted rows back, and returns how many.
func Undelete(ctx context.Context, location string, o EditOptions, rows Rows) (restored int64, err error) {
	return mark(ctx, location, o, rows, "restore", rowset.Set.Minus)
}

// mark changes which rows are deleted, and returns the number of rows that are now and were not, or the other way round.
func mark(ctx context.Context, location string, o EditOptions, rows Rows, did string, change func(already, rows rowset.Set) rowset.Set) (n int64, err error) {
	var first root.Numbers
	err = replace(ctx, location, o, mostAttempts, func(s *Shard, r root.Root) (root.Root, error) {
		if rows.Ranges != nil {
			if err := first.Keep(ctx, s.file, r); err != nil {
				return r, err
			}
		}
		changed, by, err := rows.Marked(ctx, s.table, change)
		if n = by; err != nil || n == 0 {
			return r, cmp.Or(err, root.ErrNoChange)
		}
		r.Change = fmt.Sprintf("%s %d %s", did, n, text.Plural(n, "row"))
		return r.WithDeleted(changed)
	})
	return n, err
}
