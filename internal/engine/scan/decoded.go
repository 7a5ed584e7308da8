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

// hasDecoded tells whether the rows of a column need not be read: filtering them has shown
// what they are.
func (j *job) hasDecoded(col *table.Column) bool {
	return len(j.parts) > 0 && (j.parts[0].onlyEntry(col) != nil || j.allPartsHave(col))
}

func (j *job) allPartsHave(col *table.Column) bool {
	return !slices.ContainsFunc(j.parts, func(p filteredRows) bool { return p.decoded(col, p.rows) == nil })
}

// decoded gives the rows of a column by what filtering them has shown, nil if that is not
// enough.
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
	first := j.parts[0].rowFilter
	if only := first.onlyEntry(col); only != nil {
		r, err := first.reader(ctx, only.column)
		if err != nil {
			return nil, err
		}
		return r.(table.DictionaryReader).Repeat(ctx, only.entry, j.rows.Len(), &first.options)
	}
	if !j.allPartsHave(col) {
		return nil, nil
	}
	var arrays []arrow.Array
	defer func() { arrowutil.ReleaseAll(arrays) }()
	size := int64(0)
	for _, p := range j.parts {
		arr, err := p.array(col)
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, arr)
		size += int64(arr.Data().SizeInBytes())
	}
	if limit := first.options.MaxArrayBytes; len(arrays) > 1 && limit > 0 && size > limit {
		return nil, fault.ErrBatchTooLarge
	}
	arr, err := arrowutil.Concatenate(first.options.Allocator, arrays)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", fault.ErrBatchTooLarge, err)
	}
	return arr, nil
}

// array gives the rows that are left of a column that was decoded to filter them.
func (p *filteredRows) array(col *table.Column) (arrow.Array, error) {
	a := p.decoded(col, p.rows)
	if a.rows.Equal(p.rows) {
		a.physical.Retain()
		return a.physical, nil
	}
	return arrowutil.Take(p.options.Allocator, a.physical, p.rows.Indices(a.rows))
}
