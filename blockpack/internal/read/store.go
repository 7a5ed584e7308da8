package read

import (
	"context"

	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
)

// Requests implements [table.Table].
func (t *Table) Requests() table.Requests { return t.reader.Requests() }

// Over a network, blocks of up to wholeBytes are read whole, several in a request, and kept until their columns are opened. A
// request for a part of them would take about as long.
const (
	wholeBytes = 2 << 20
	aheadBytes = 64 << 20
)

// PrefetchStripes implements [table.Table]: it reads heads of blocks or, over a network, blocks.
func (t *Table) PrefetchStripes(ctx context.Context, stripes []int) error {
	if t.Latency() != storage.LatencyHigh {
		return nil
	}
	_, err := t.readHeads(ctx, stripes)
	return err
}

// prefetchBlocks reads those of some blocks that are short, and not read yet.
func (t *Table) prefetchBlocks(ctx context.Context, blocks []int) error {
	l := &t.blocks
	var ranges []storage.ByteRange
	var ids []int
	for _, i := range blocks {
		if b := &l.meta.Blocks[i]; b.HasSpans() && b.Length <= wholeBytes && !t.whole.Has(i) {
			ids = append(ids, i)
			ranges = append(ranges, t.byteRange(b.Offset, b.Length))
		}
	}
	have, err := storage.Prefetch(ctx, append([]storage.ByteRange(nil), ranges...), storage.DefaultCoalesce(t.Latency()))
	if err != nil {
		return err
	}
	for k, i := range ids {
		data, err := have.Read(ctx, ranges[k].Reader, ranges[k].Offset, ranges[k].Size)
		if err != nil {
			return err
		}
		t.whole.Put(i, data, int64(len(data)))
	}
	return nil
}

func (t *Table) byteRange(offset, n int64) storage.ByteRange {
	return storage.ByteRange{Reader: t.reader, Offset: offset, Size: n}
}

// blockBytes reads n bytes of a block from an offset in it on. The caller must not change them.
type blockBytes func(ctx context.Context, offset, n int64) ([]byte, error)

// bytesOf reads a block of which some bytes may have been read before.
func (t *Table) bytesOf(block int, have storage.Prefetched) blockBytes {
	return func(ctx context.Context, offset, n int64) ([]byte, error) {
		if whole, ok := t.whole.Get(block); ok && offset+n <= int64(len(whole)) {
			return whole[offset : offset+n : offset+n], nil
		}
		at := t.blocks.meta.Blocks[block].Offset + offset
		if b := have.Bytes(t.reader, at, n); b != nil {
			return b, nil
		}
		return storage.ReadRange(ctx, t.reader, at, n)
	}
}
