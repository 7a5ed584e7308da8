package shard

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/stripe"
)

// has tells whether the rows of a field of the shard need not be read.
func (j *job) has(col *arrowmap.Column) bool {
	return len(j.parts) > 0 && (j.parts[0].entry(col) != nil || j.holds(col))
}

// holds tells whether all that has chosen the rows of a job has those of a field.
func (j *job) holds(col *arrowmap.Column) bool {
	return !slices.ContainsFunc(j.parts, func(p choosePart) bool { return p.selection.holds(col, p.rows) == nil })
}

// pick gives the rows of a field of the shard by what choosing them has shown, nil
// if that is not enough.
func (j *job) pick(ctx context.Context, col *arrowmap.Column) (arrow.Array, error) {
	if len(j.parts) == 0 {
		return nil, nil
	}
	bare, err := j.pickBare(ctx, col)
	if bare == nil || err != nil {
		return nil, err
	}
	defer bare.Release()
	return stripe.Logical(j.parts[0].options.Allocator, bare, *col)
}

func (j *job) pickBare(ctx context.Context, col *arrowmap.Column) (arrow.Array, error) {
	first := j.parts[0].selection
	if only := first.entry(col); only != nil {
		r, err := first.reader(ctx, only.column)
		if err != nil {
			return nil, err
		}
		return r.With(first.options).Repeat(ctx, only.entry, j.rows.Len())
	}
	if !j.holds(col) {
		return nil, nil
	}
	var arrays []arrow.Array
	defer func() { releaseAll(arrays) }()
	size := int64(0)
	for _, p := range j.parts {
		arr, err := p.pick(col)
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, arr)
		size += int64(arr.Data().SizeInBytes())
	}
	if limit := first.options.MaxArrayBytes; len(arrays) > 1 && limit > 0 && size > limit {
		return nil, stripe.ErrBatchTooLarge
	}
	return concatenate(first.options.Allocator, arrays)
}

// pick gives the chosen rows of a field that was decoded to choose them.
func (p *choosePart) pick(col *arrowmap.Column) (arrow.Array, error) {
	a := p.holds(col, p.rows)
	if a.rows.Equal(p.rows) {
		a.bare.Retain()
		return a.bare, nil
	}
	return arrowutil.Take(p.options.Allocator, a.bare, p.rows.Indices(a.rows))
}

// concatenate joins arrays, at least one, of one type.
func concatenate(mem memory.Allocator, arrays []arrow.Array) (arrow.Array, error) {
	if len(arrays) == 1 {
		arrays[0].Retain()
		return arrays[0], nil
	}
	arr, err := array.Concatenate(arrays, mem)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", stripe.ErrBatchTooLarge, err)
	}
	return arr, nil
}
