package scan

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// hasDecoded tells whether the rows of a column need not be read: filtering them has shown
// what they are.
func (j *job) hasDecoded(col *Column) bool {
	return len(j.parts) > 0 && (j.parts[0].onlyEntry(col) != nil || j.allPartsHave(col))
}

func (j *job) allPartsHave(col *Column) bool {
	return !slices.ContainsFunc(j.parts, func(p filteredRows) bool { return p.decoded(col, p.rows) == nil })
}

// decoded gives the rows of a column by what filtering them has shown, nil if that is not
// enough.
func (sc *scanner) decoded(j *job, col *Column) (arrow.Array, error) {
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

func (j *job) decodedPhysical(ctx context.Context, col *Column) (arrow.Array, error) {
	first := j.parts[0].rowFilter
	if only := first.onlyEntry(col); only != nil {
		r, err := first.reader(ctx, only.column)
		if err != nil {
			return nil, err
		}
		return r.(DictionaryReader).Repeat(ctx, only.entry, j.rows.Len(), &first.options)
	}
	if !j.allPartsHave(col) {
		return nil, nil
	}
	var arrays []arrow.Array
	defer func() { releaseAll(arrays) }()
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
	return concatenate(first.options.Allocator, arrays)
}

// array gives the rows that are left of a column that was decoded to filter them.
func (p *filteredRows) array(col *Column) (arrow.Array, error) {
	a := p.decoded(col, p.rows)
	if a.rows.Equal(p.rows) {
		a.physical.Retain()
		return a.physical, nil
	}
	return arrowutil.Take(p.options.Allocator, a.physical, p.rows.Indices(a.rows))
}

// concatenate joins arrays, at least one, of one physical type: in runs and dictionaries
// Arrow would compare values, and merge floats of different bits.
func concatenate(mem memory.Allocator, arrays []arrow.Array) (arrow.Array, error) {
	if len(arrays) == 1 {
		arrays[0].Retain()
		return arrays[0], nil
	}
	arr, err := array.Concatenate(arrays, mem)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", fault.ErrBatchTooLarge, err)
	}
	return arr, nil
}
