package read

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
	"github.com/amudai/amudai-go/storage"
)

// constant gives the reader of a node whose values are all equal or all null
// (docs/format.md §10.2), nil if the node is not constant.
func (n *openNode) constant() (nodeReader, error) {
	switch n.col.Stored.Type {
	case schema.List, schema.Map, schema.Struct, schema.FixedSizeList, schema.Union:
		return nil, nil
	}
	f := n.field
	if f.DictionarySize != nil {
		return nil, nil
	}
	allNull := f.NullCount != nil && f.GetNullCount() == f.GetPositionCount()
	if _, isNull := f.GetConstantValue().GetKind().(*commonpb.AnyValue_NullValue); isNull || f.ConstantValue == nil {
		if isNull && f.NullCount != nil && !allNull {
			return nil, fault.Corruptf("constant null, but %d nulls among %d positions", f.GetNullCount(), f.GetPositionCount())
		}
		if isNull || allNull {
			return newNullReader(n.col.Plain), nil
		}
		return nil, nil
	}
	if f.GetNullCount() > 0 {
		return nil, fault.Corruptf("constant value, but %d nulls among %d positions", f.GetNullCount(), f.GetPositionCount())
	}
	one, err := rules.Constant(n.col, f.GetConstantValue())
	if err != nil {
		return nil, err
	}
	return newConstantReader(one), nil
}

// ValueOf is an array of one value out of statistics, of the column's physical type
// (see [stripe.Physical]): the bound of a range, or a constant.
func ValueOf(col arrowmap.Column, v *commonpb.AnyValue) (arr arrow.Array, err error) {
	defer fault.Recover(&err)
	physical, _ := stripe.Physical(col)
	return rules.Constant(&physical, v)
}

// freeReader repeats a value, or null, that takes no bytes in the file.
type freeReader struct {
	size int64 // of a value
	fill func(mem memory.Allocator, n int) (arrow.Array, error)
}

func newConstantReader(one arrow.Array) *freeReader {
	r := &freeReader{size: 16, fill: func(mem memory.Allocator, n int) (arrow.Array, error) { return arrowutil.Repeat(mem, one, n) }}
	for _, b := range one.Data().Buffers() {
		if b != nil {
			r.size += int64(b.Len())
		}
	}
	return r
}

func newNullReader(dt arrow.DataType) *freeReader {
	return &freeReader{build.NullBytes(dt), func(mem memory.Allocator, n int) (arrow.Array, error) { return arrowutil.Nulls(mem, dt, n), nil }}
}

func (r *freeReader) Need(*work.Worker, rowset.Set, func(storage.ByteRange)) {}

func (r *freeReader) Read(_ context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	if err := w.Limits.CheckFree(rows.Len(), r.size); err != nil {
		return nil, err
	}
	return r.fill(w.Limits.Allocator, int(rows.Len()))
}
