// Package pageindex reads the range index of a column as Arrow values: the least and the greatest value of every page of
// rows.
package pageindex

import (
	"context"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/shard/internal/index/numrange"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/storage"
)

// Pages are the least and the greatest values of every numrange.BlockLen rows of a
// column.
type Pages struct {
	// Lo and Hi have a value for each page, of the column's physical type (see
	// [stripe.Physical]). It is null where all rows of the page are null or NaN.
	Lo, Hi arrow.Array
	// Invalid counts the nulls and NaNs of each page; nil if there are none.
	Invalid []uint16
}

// Open reads the range index of a column, which may lie inside of structs. The
// result is nil if there is none, and if anything in it is not as expected:
// in shards of other writers, no checksum covers its header. have are bytes that were read before.
func Open(ctx context.Context, src stripe.Source, col arrowmap.Column, have storage.Prefetched) (p *Pages, err error) {
	defer fault.Recover(&err)
	d, err := src.Descriptor(ctx, col.ID)
	rows := d.GetField().GetPositionCount()
	if err != nil || rows != uint64(src.Rows()) || rows == 0 {
		return nil, err
	}
	b := stripe.FindBuffer(stripe.NativeEncoding(d).GetBuffers(), shardpb.BufferKind_RANGE_INDEX)
	if b == nil {
		return nil, nil
	}
	raw, err := Read(ctx, src, col.ID, b, rows, have)
	if raw == nil || err != nil {
		return nil, err
	}
	s := scratch.Get().(*numeric.Scratch)
	defer scratch.Put(s)
	physical, _ := stripe.Physical(col)
	if p, err = parse(&physical, raw, rows, s); err != nil || blocks.CheckWhole(raw, b.GetChecksums()) != nil {
		return nil, nil
	}
	return p, nil
}

var scratch = sync.Pool{New: func() any { return new(numeric.Scratch) }}

// Read reads all bytes of the RANGE_INDEX buffer b of the node id, nil if there are more
// than its positions can need.
func Read(ctx context.Context, src stripe.Source, id uint32, b *shardpb.EncodedBuffer, positions uint64, have storage.Prefetched) ([]byte, error) {
	r, err := src.Artifact(ctx, id, b.GetBuffer())
	if err != nil {
		return nil, err
	}
	size, err := r.Size(ctx)
	if err != nil {
		return nil, err
	}
	start, end, err := blocks.RangeOf(b.GetBuffer(), size)
	if err != nil {
		return nil, err
	}
	if most, ok := numrange.MaxSize(positions, decimal.Width); !ok || end-start > most {
		return nil, nil
	}
	return have.Read(ctx, r, start, end-start)
}

// pages are the functions for stored numbers.
var pages = stripe.PerNumber[func(*arrowmap.Column, []byte, uint64, *numeric.Scratch) (*Pages, error)]{
	pagesOf[int8], pagesOf[int16], pagesOf[int32], pagesOf[int64],
	pagesOf[uint8], pagesOf[uint16], pagesOf[uint32], pagesOf[uint64],
	pagesOf[float32], pagesOf[float64],
}

func parse(col *arrowmap.Column, raw []byte, rows uint64, s *numeric.Scratch) (*Pages, error) {
	if number, ok := pages.Of(col.Stored.Type, col.Stored.Signed); ok {
		return number(col, raw, rows, s)
	}
	if !col.Stored.IsDecimal() || col.Rule != arrowmap.Decimal {
		return nil, fault.Unsupportedf("range index of stored type %v", col.Stored.Type)
	}
	x, err := numrange.ParseDecimal(raw, rows, s)
	if err != nil {
		return nil, err
	}
	store, err := rules.DecimalStorer(col)
	if err != nil {
		return nil, err
	}
	return newPages(col.Plain, x, store)
}

func pagesOf[T numeric.Value](col *arrowmap.Column, raw []byte, rows uint64, s *numeric.Scratch) (*Pages, error) {
	x, err := numrange.Parse[T](raw, byte(col.Stored.Type), rows, s)
	if err != nil {
		return nil, err
	}
	store, err := rules.StorerOf[T](col)
	if err != nil {
		return nil, err
	}
	return newPages(col.Plain, x, store)
}

// newPages turns the bounds into Arrow values.
func newPages[T any](dt arrow.DataType, x *numrange.Index[T], store rules.Storer[T]) (*Pages, error) {
	valid := make([]byte, (x.Len()+7)/8)
	nulls := 0
	for i := range x.Len() {
		if _, _, invalid, n := x.Block(i); invalid < n {
			valid[i/8] |= 1 << (i % 8)
		} else {
			nulls++
		}
	}
	p := &Pages{Invalid: x.Invalid}
	for i, values := range [][]T{x.Lo, x.Hi} {
		out := arrowutil.NewZeroBuffer(memory.DefaultAllocator, len(values)*store.Width)
		if store.Convert == nil {
			copy(out.Bytes(), arrowutil.Bytes(values))
		} else if err := store.Convert(out.Bytes(), values, bitmap.Bits{Data: valid, Len: len(values)}); err != nil {
			return nil, err
		}
		arr := arrowutil.Make(dt, len(values), []*memory.Buffer{memory.NewBufferBytes(valid), out}, nil, nulls)
		if i == 0 {
			p.Lo = arr
		} else {
			p.Hi = arr
		}
	}
	return p, nil
}
