package read

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/numeric"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/index/numrange"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/stripe"
	"github.com/amudai/amudai-go/stripe/blocks"
	"github.com/amudai/amudai-go/stripe/internal/rules"
)

// ValueOf is an array of one value that statistics hold, of the column's physical type
// (see [stripe.Physical]): the bound of a range, a constant.
func ValueOf(col arrowmap.Column, v *commonpb.AnyValue) (arr arrow.Array, err error) {
	defer fault.Recover(&err)
	physical, _ := stripe.Physical(col)
	n := &openNode{col: &physical}
	return rules.Constant(n.col, v)
}

// Pages are the least and the greatest values of every numrange.BlockLen rows of a
// column, from its range index.
type Pages struct {
	// Lo and Hi have a value a page, of the column's physical type. It is null where no
	// row of the page has a value, nulls and NaNs being none.
	Lo, Hi arrow.Array
	// Invalid are the nulls and NaNs of each page; nil if there are none.
	Invalid []uint16
}

// OpenPages reads the range index of a column, which may be one inside of structs,
// nil if there is none. Nor is there one if anything in it is not as expected:
// no checksum covers its header.
func OpenPages(ctx context.Context, src stripe.Source, col arrowmap.Column, f storage.Prefetched) (p *Pages, err error) {
	defer fault.Recover(&err)
	d, err := src.Descriptor(ctx, col.ID)
	if err != nil || d.GetField().GetPositionCount() != uint64(src.Rows()) || src.Rows() == 0 {
		return nil, err
	}
	physical, _ := stripe.Physical(col)
	n := &openNode{opener: &opener{src: src, options: Options{Prefetched: f}}, col: &physical, field: d.GetField(), buffers: stripe.NativeEncoding(d).GetBuffers()}
	b := n.find(shardpb.BufferKind_RANGE_INDEX)
	if b == nil {
		return nil, nil
	}
	raw, err := n.readIndex(ctx, b)
	if raw == nil || err != nil {
		return nil, err
	}
	w := getWorker(&n.options)
	defer w.put()
	p, err = n.pages(raw, &w.numeric)
	if err != nil {
		return nil, nil // the column does without
	}
	return p, nil
}

// readIndex reads all bytes of a range index, nil if there are more than its positions
// can need.
func (n *openNode) readIndex(ctx context.Context, b *shardpb.EncodedBuffer) ([]byte, error) {
	r, err := n.src.Artifact(ctx, n.col.ID, b.GetBuffer())
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
	if most, ok := numrange.MaxSize(n.field.GetPositionCount(), decimal.Width); !ok || end-start > most {
		return nil, nil
	}
	return n.options.Prefetched.Read(ctx, r, start, end-start)
}

func (n *openNode) pages(raw []byte, s *numeric.Scratch) (*Pages, error) {
	signed := n.col.Stored.Signed
	switch n.col.Stored.Type {
	case schema.Int8:
		if signed {
			return pagesOf[int8](n, raw, s)
		}
		return pagesOf[uint8](n, raw, s)
	case schema.Int16:
		if signed {
			return pagesOf[int16](n, raw, s)
		}
		return pagesOf[uint16](n, raw, s)
	case schema.Int32:
		if signed {
			return pagesOf[int32](n, raw, s)
		}
		return pagesOf[uint32](n, raw, s)
	case schema.Int64:
		if signed {
			return pagesOf[int64](n, raw, s)
		}
		return pagesOf[uint64](n, raw, s)
	case schema.DateTime:
		return pagesOf[uint64](n, raw, s)
	case schema.Float32:
		return pagesOf[float32](n, raw, s)
	case schema.Float64:
		return pagesOf[float64](n, raw, s)
	}
	if !n.col.Stored.IsDecimal() || n.col.Rule != arrowmap.Decimal {
		return nil, fault.Unsupportedf("range index of stored type %v", n.col.Stored.Type)
	}
	x, err := numrange.ParseDecimal(raw, n.field.GetPositionCount(), s)
	if err != nil {
		return nil, err
	}
	store, err := rules.DecimalStorer(n.col)
	if err != nil {
		return nil, err
	}
	return newPages(n.col.Plain, x, store)
}

func pagesOf[T numeric.Value](n *openNode, raw []byte, s *numeric.Scratch) (*Pages, error) {
	x, err := numrange.Parse[T](raw, byte(n.col.Stored.Type), n.field.GetPositionCount(), s)
	if err != nil {
		return nil, err
	}
	store, err := rules.StorerOf[T](n.col)
	if err != nil {
		return nil, err
	}
	return newPages(n.col.Plain, x, store)
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
