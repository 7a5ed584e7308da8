package scan

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/table"
)

// hasDecoded reports whether the rows of a column are known from filtering, and need not be read.
func (j *job) hasDecoded(col *table.Column) bool {
	return len(j.parts) > 0 && (j.parts[0].Constant(col) != nil || j.allPartsHave(col))
}

func (j *job) allPartsHave(col *table.Column) bool {
	return !slices.ContainsFunc(j.parts, func(p filteredRows) bool { return p.Decoded(col, p.rows) == nil })
}

// decoded is the rows of a column as far as filtering has decoded them, nil if it has not decoded all.
func (sc *scanner) decoded(j *job, col *table.Column) (arrow.Array, error) {
	if len(j.parts) == 0 {
		return nil, nil
	}
	physical, err := j.decodedPhysical(sc.ctx, col)
	if physical == nil || err != nil {
		return nil, err
	}
	defer physical.Release()
	return sc.table.Logical(sc.o.Allocator, physical, col)
}

func (j *job) decodedPhysical(ctx context.Context, col *table.Column) (arrow.Array, error) {
	first := j.parts[0].Rows
	if constant := first.Constant(col); constant != nil {
		return constant(ctx, j.rows.Len())
	}
	if !j.allPartsHave(col) {
		return nil, nil
	}
	var arrays []arrow.Array
	defer func() { arrowutil.ReleaseAll(arrays) }()
	size := int64(0)
	for _, p := range j.parts {
		arr, err := p.Decoded(col, p.rows)()
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, arr)
		size += int64(arr.Data().SizeInBytes())
	}
	if limit := first.Options.MaxArrayBytes; len(arrays) > 1 && limit > 0 && size > limit {
		return nil, fault.ErrBatchTooLarge
	}
	arr, err := arrowutil.Concatenate(first.Options.Allocator, arrays)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", fault.ErrBatchTooLarge, err)
	}
	return arr, nil
}
