package read

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding/numeric"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/storage"
)

func (n *openNode) openBoolean(ctx context.Context) (nodeReader, error) {
	if n.field.GetPositionCount() == 0 {
		return newNullReader(n.col.Plain), nil
	}
	presence, err := n.presence(ctx)
	if err != nil {
		return nil, err
	}
	data, err := n.blocks(ctx, shardpb.BufferKind_DATA)
	if err != nil {
		return nil, err
	}
	switch n.col.Rule {
	case arrowmap.Empty:
		return &booleanReader{dt: n.col.Plain, presence: presence}, nil
	case arrowmap.Same:
		return &booleanReader{dt: n.col.Plain, data: data, presence: presence}, nil
	case arrowmap.Null:
		return nil, fault.Corruptf("a column of type null holds values")
	}
	return nil, rules.NoConversion(n.col)
}

// booleanReader reads a node of booleans, or of a type without content: nothing but nulls.
type booleanReader struct {
	dt       arrow.DataType
	data     *blocks.Reader // nil without content
	presence *presenceReader
}

func (r *booleanReader) need(w *worker, rows rowset.Set, add func(storage.ByteRange)) {
	r.presence.need(w, rows, add)
	if r.data != nil {
		r.data.Need(&w.Scratch, bytesOf(rows), add)
	}
}

func (r *booleanReader) read(ctx context.Context, w *worker, rows rowset.Set) (arrow.Array, error) {
	valid, nulls, err := r.presence.read(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	if r.data == nil {
		return rules.Empty(r.dt, int(rows.Len()), valid, nulls), nil
	}
	values := arrowutil.NewZeroBuffer(arrowutil.Reusable(w.options.Allocator), int(rows.Len()+7)/8)
	if err := readBits(ctx, w, r.data, rows, values.Bytes()); err != nil {
		build.Release(valid, values)
		return nil, err
	}
	return arrowutil.Make(r.dt, int(rows.Len()), []*memory.Buffer{valid, values}, nil, nulls), nil
}

// readBits copies the bits of rows of a bit buffer to the start of dst. The
// buffer's values are bytes of bits.
func readBits(ctx context.Context, w *worker, b *blocks.Reader, rows rowset.Set, dst []byte) error {
	at := 0
	return b.Each(ctx, &w.Scratch, bytesOf(rows), func(p *blocks.Part, block []byte) error {
		bytes := scratch.Slice(&w.bits, p.N)
		if _, err := numeric.DecodeBlock(bytes, nil, 0, block, b.Options, &w.numeric); err != nil {
			return err
		}
		start, end := int64(p.First)*8, int64(p.First+uint64(p.N))*8
		inside := rows.Clip(start, end).Shift(-start)
		pickBits(dst, at, bitmap.Bits{Data: bytes, Len: 8 * p.N}, inside)
		at += int(inside.Len())
		return nil
	})
}

// presenceReader reads the nulls of a boolean or container. A nil reader means
// that nothing is null.
type presenceReader struct {
	data *blocks.Reader
}

func (r *presenceReader) need(w *worker, rows rowset.Set, add func(storage.ByteRange)) {
	if r != nil {
		r.data.Need(&w.Scratch, bytesOf(rows), add)
	}
}

// read gives the validity bitmap of rows, nil without nulls, and the number of nulls.
func (r *presenceReader) read(ctx context.Context, w *worker, rows rowset.Set) (*memory.Buffer, int, error) {
	if r == nil {
		return nil, 0, nil
	}
	n := int(rows.Len())
	b := arrowutil.NewZeroBuffer(arrowutil.Reusable(w.options.Allocator), (n+7)/8)
	if err := readBits(ctx, w, r.data, rows, b.Bytes()); err != nil {
		b.Release()
		return nil, 0, err
	}
	nulls := bitmap.Bits{Data: b.Bytes(), Len: n}.Nulls()
	return build.OnlyNulls(b, nulls), nulls, nil
}
