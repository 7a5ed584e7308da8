// Package bins has the rows of a result whose last column is a histogram.
package bins

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/histogram"
	"github.com/amudai/amudai-go/table/provider"
)

// rows has a row for each bin.
type rows struct {
	provider.Source
	schema *arrow.Schema
}

// Of makes a row of each bin if the only aggregate is a histogram, the last column of a source: behind its other columns.
func Of(src provider.Source, calls []ast.Call) provider.Source {
	if len(calls) != 1 || calls[0].Name != "hist" {
		return src
	}
	fields := src.Schema().Fields()
	return &rows{src, arrow.NewSchema(append(fields[:len(fields)-1], histogram.Type.Elem().(*arrow.StructType).Fields()...), nil)}
}

func (r *rows) Schema() *arrow.Schema { return r.schema }

func (r *rows) Rows() (int64, bool) { return 0, false }

func (r *rows) Next(ctx context.Context) (arrow.RecordBatch, error) {
	b, err := r.Source.Next(ctx)
	if b == nil || err != nil {
		return nil, err
	}
	defer b.Release()
	last := int(b.NumCols()) - 1
	list := b.Column(last).(*array.List)
	first, end := int64(0), int64(0)
	var groups []int64
	for i := range list.Len() {
		lo, hi := list.ValueOffsets(i)
		if i == 0 {
			first = lo
		}
		end = hi
		for range hi - lo {
			groups = append(groups, int64(i))
		}
	}
	var columns []arrow.Array
	defer func() { arrowutil.ReleaseAll(columns) }()
	for i := range last {
		keys, err := arrowutil.Take(memory.DefaultAllocator, b.Column(i), groups)
		if err != nil {
			return nil, err
		}
		columns = append(columns, keys)
	}
	bins := list.ListValues().(*array.Struct)
	for i := range bins.NumField() {
		columns = append(columns, array.NewSlice(bins.Field(i), first, end))
	}
	return array.NewRecordBatch(r.schema, columns, int64(len(groups))), nil
}
