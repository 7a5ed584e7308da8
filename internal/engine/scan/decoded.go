package scan

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/table"
)

// hasDecoded reports whether the rows of a column are known from filtering, and need not be read.
func (j *job) hasDecoded(col *table.Column) bool {
	return len(j.parts) > 0 && (j.parts[0].Constant(col) != nil || j.decodedParts(col) != nil)
}

// decodedParts has a function for the rows of a column in each part, nil if filtering has not decoded all.
func (j *job) decodedParts(col *table.Column) []func() (arrow.Array, error) {
	parts := make([]func() (arrow.Array, error), len(j.parts))
	for i, p := range j.parts {
		if parts[i] = p.Decoded(col, p.rows); parts[i] == nil {
			return nil
		}
	}
	return parts
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
	var arrays []arrow.Array
	defer func() { arrowutil.ReleaseAll(arrays) }()
	size := int64(0)
	for _, part := range j.decodedParts(col) {
		arr, err := part()
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, arr)
		size += int64(arr.Data().SizeInBytes())
	}
	if len(arrays) == 0 {
		return nil, nil
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
