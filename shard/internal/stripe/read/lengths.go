package read

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
)

// Lengths has the characters of texts, the bytes of byte strings, the elements of lists. None of these is decoded, nor read where offsets are apart. It is nil if the reader cannot.
func (c *Column) Lengths(ctx context.Context, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	return c.withWorker(rows, o, func(w *work.Worker) (arrow.Array, error) {
		if rows.Len() > w.Limits.MaxArrayBytes/8 {
			return nil, nil
		}
		r, _ := nodeAs[nodeReader](c)
		arr, err := lengthsOf(ctx, w, r, rows, kinds.IsText(c.column.Plain) && !c.ascii)
		return arr, wrapColumn(err, &c.column)
	})
}

// isASCII reports whether statistics say that all texts are ASCII, so that their bytes are their characters.
func isASCII(f *shardpb.FieldDescriptor) bool {
	s := f.GetStringStats()
	return s != nil && s.AsciiCount != nil && f.NullCount != nil && s.GetAsciiCount() == f.GetPositionCount()-f.GetNullCount()
}

// lengthsOf are the lengths of the values of a reader. Those of texts are numbers of characters, which only their dictionary tells.
func lengthsOf(ctx context.Context, w *work.Worker, r nodeReader, rows rowset.Set, text bool) (arrow.Array, error) {
	switch r := r.(type) {
	case interface {
		Lengths(context.Context, *work.Worker, rowset.Set) (arrow.Array, error)
	}: // lists
		return r.Lengths(ctx, w, rows)
	case *presentReader:
		values, err := lengthsOf(ctx, w, r.values, rows, text)
		if values == nil || err != nil {
			return nil, err
		}
		defer values.Release()
		return r.masked(ctx, w, rows, values)
	case coded:
		entries, err := r.entries(ctx)
		if entries == nil || err != nil || int64(entries.Len()) > rows.Len() {
			return nil, err
		}
		lengths, err := arrowutil.Lengths(w.Limits.Allocator, entries)
		if err != nil {
			return nil, err
		}
		defer lengths.Release()
		return r.readMapped(ctx, w, rows, lengths)
	case measured:
		if !text {
			return r.lengths(ctx, w, rows)
		}
	}
	return nil, nil
}

// measured is a reader that tells the numbers of bytes of its values.
type measured interface {
	lengths(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error)
}

func (r *slicesReader[O]) lengths(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	lengths, err := r.offsets.Lengths(ctx, w, rows)
	if err != nil {
		return nil, err
	}
	return arrowutil.Make(arrow.PrimitiveTypes.Int64, int(rows.Len()), []*memory.Buffer{nil, lengths}, nil, 0), nil
}

// lengths parses blocks, which gives the offsets of values, and decodes none.
func (r *bytesReader[O]) lengths(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	shared, err := r.shared.Load(ctx)
	if err != nil {
		return nil, err
	}
	out, err := readFixed(ctx, w, r.data, rows, 0, 8, r.nulls, func(p *blocks.Part, block []byte, out *build.Fixed) error {
		b, err := r.parser(w, shared, p)(block, &w.Bytes)
		if err != nil {
			return err
		}
		at, lengths := 0, arrowutil.As[int64](out.Slots(p.At, p.Count))
		clear(lengths)
		for in := range p.Rows.Ranges() {
			if err := b.AddLengths(lengths[at:at+int(in.Len())], int(in.From)); err != nil {
				return err
			}
			at += int(in.Len())
		}
		if out.Bits() == nil {
			return checkNulls(b.Nulls(), r.nulls)
		}
		out.Nulls += rowset.PickBits(out.Bits(), p.At, w.Validity(b), p.Rows)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out.Array(arrow.PrimitiveTypes.Int64), nil
}

// readMapped reads rows as what other has in place of the entries of the dictionary: 64-bit integers, null for the entry of null.
func (r *codesReader[O]) readMapped(ctx context.Context, w *work.Worker, rows rowset.Set, other arrow.Array) (arrow.Array, error) {
	_, table, err := r.dict.Load(ctx)
	if err != nil {
		return nil, err
	}
	values := arrowutil.Values[int64](other)
	out, err := r.widths(ctx, w, rows, 8, func(dst []byte, codes []uint32) error {
		if err := table.Check(codes); err != nil {
			return err
		}
		for i, to := 0, arrowutil.As[int64](dst); i < len(codes); i++ {
			to[i] = values[codes[i]]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out.Array(arrow.PrimitiveTypes.Int64), nil
}
