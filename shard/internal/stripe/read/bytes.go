package read

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/encoding/bytestring"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/build"
	"github.com/amudai/amudai-go/shard/internal/stripe/read/internal/work"
	"github.com/amudai/amudai-go/shard/internal/stripe/valuedict"
	"github.com/amudai/amudai-go/storage"
)

func (n *openNode) openBytes(ctx context.Context) (nodeReader, error) {
	if n.col.Rule != arrowmap.Same && n.col.Rule != arrowmap.Text {
		return nil, rules.NoConversion(n.col)
	}
	if n.col.Stored.FixedSize > math.MaxInt32 {
		return nil, fault.Limitf("values of %d bytes", n.col.Stored.FixedSize)
	}
	switch n.col.Plain.ID() {
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return openByteStrings[int64](ctx, n)
	}
	return openByteStrings[int32](ctx, n)
}

// openByteStrings opens byte strings, with a value dictionary if the descriptor has the size of one.
func openByteStrings[O int32 | int64](ctx context.Context, n *openNode) (nodeReader, error) {
	if n.offsetsApart() {
		return openSlices[O](ctx, n)
	}
	fixed := int(n.col.Stored.FixedSize)
	if n.field.DictionarySize != nil {
		return openCodes[O](ctx, n, fixed, nil)
	}
	data, err := n.data(ctx, shardpb.BufferKind_OPAQUE_DICTIONARY, shardpb.BufferKind_PRESENCE)
	if err != nil {
		return nil, err
	}
	r := &bytesReader[O]{dt: n.col.Plain, data: data, fixed: fixed, nulls: n.nullable(), mean: n.meanLength(data), kept: work.Parsed{Kept: n.options.Kept, Buffer: n.options.Kept.Buffer()}}
	if b := stripe.FindBuffer(n.buffers, shardpb.BufferKind_OPAQUE_DICTIONARY); b != nil {
		if r.shared, err = valuedict.OpenShared(ctx, n.src, n.node(), b, n.options.Prefetched); err != nil {
			return nil, err
		}
		const perByte = 17 // at most: a token of a byte takes as many
		n.size.Add(perByte * r.shared.Size())
	}
	return r, nil
}

// meanLength is the expected length of a value, for the sizes of buffers: that of the descriptor as far as the encoded bytes make it plausible.
func (n *openNode) meanLength(data *blocks.Reader) int {
	if n.col.Stored.FixedSize > 0 {
		return int(n.col.Stored.FixedSize)
	}
	count := n.field.GetPositionCount()
	if count == 0 {
		return 0
	}
	const most = 64 // times the encoded size
	encoded := uint64(data.Map.DataSize())/count + 1
	return int(min(n.field.GetRawDataSize()/count+1, most*encoded, 1<<20))
}

// bytesReader reads a node of byte strings without dictionary: String, Binary, Guid, FixedSizeBinary. O is the width
// of Arrow's offsets.
type bytesReader[O int32 | int64] struct {
	dt    arrow.DataType
	data  *blocks.Reader
	fixed int  // length of every value, 0 if it varies
	nulls bool // a value may be null
	mean  int  // expected length of a value
	spare atomic.Pointer[spareBytes]

	kept work.Parsed // a read that keeps what it parses, to be copied

	shared *valuedict.Shared // dictionary of all blocks, nil if there is none
}

// spareBytes is decoded values of a block of byte strings; see [spareBlock].
type spareBytes struct {
	first    uint64 // of the block
	from, to int    // these of its values
	data     []byte
	offsets  []int64 // where each begins, and the last ends, or none for fixed lengths
	valid    []byte  // of the whole block
}

func (r *bytesReader[O]) Need(w *work.Worker, rows rowset.Set, add func(storage.ByteRange)) {
	r.data.Need(&w.Scratch, rows, add)
}

func (r *bytesReader[O]) Read(ctx context.Context, w *work.Worker, rows rowset.Set) (arrow.Array, error) {
	shared, err := r.shared.Load(ctx)
	if err != nil {
		return nil, err
	}
	c, err := build.NewBytes[O](w.Limit(), int(rows.Len()), r.fixed, r.likely(rows), r.nulls)
	if err != nil {
		return nil, err
	}
	const few = 64
	parsed := r.kept
	if rows.Len() > few {
		parsed.Kept = nil
	}
	known := func(p *blocks.Part) bool { return p.Sparse() && parsed.Known(p) }
	err = r.data.EachBut(ctx, &w.Scratch, rows, known, func(p *blocks.Part, block []byte) error {
		switch {
		case p.Whole():
			return r.decode(w, shared, p, block, c)
		case p.Sparse():
			return parsed.Use(block, &w.Bytes, r.parser(w, shared, p), func(b *bytestring.Block) error { return r.decodeRows(w, p, b, c) })
		}
		return r.decodePart(w, shared, p, block, c)
	})
	if err != nil {
		c.Release()
		return nil, err
	}
	return c.Array(r.dt, int(rows.Len())), nil
}

// likely is the expected size of the values of rows, and a reserve, by the encoded size of their blocks. Memory that
// was too small would be copied.
func (r *bytesReader[O]) likely(rows rowset.Set) int64 {
	n := rows.Len()
	if r.fixed > 0 || n == 0 || r.data.Map.DataSize() <= 0 {
		return n * int64(r.mean)
	}
	bounds := rows.Bounds()
	from, to := uint64(bounds.From), uint64(bounds.To)
	if to > r.data.Map.Values() || to-from > 2*uint64(n) {
		return n * int64(r.mean)
	}
	first, _, start, _ := r.data.Map.Block(r.data.Map.Find(from))
	last, count, end, size := r.data.Map.Block(r.data.Map.Find(to - 1))
	perRow := float64(end-start+int64(size)) / float64(last-first+uint64(count))
	mean := float64(r.data.Map.DataSize()) / float64(r.data.Map.Values())
	return int64(float64(n) * float64(r.mean) * min(perRow/mean, 2) * 9 / 8)
}

// parser parses the block of a part.
func (r *bytesReader[O]) parser(w *work.Worker, shared *bytestring.Dictionary, p *blocks.Part) func([]byte, *bytestring.Scratch) (*bytestring.Block, error) {
	return func(block []byte, memory *bytestring.Scratch) (*bytestring.Block, error) {
		return bytestring.Parse(block, p.N, r.fixed,
			bytestring.BlockOptions{Checksums: r.data.Options.Checksums, MaxDecoded: w.Limits.BlockBytes(len(block)), Dictionary: shared}, memory)
	}
}

// decode decodes a whole block to its final place.
func (r *bytesReader[O]) decode(w *work.Worker, shared *bytestring.Dictionary, p *blocks.Part, block []byte, c *build.Bytes[O]) error {
	b, err := r.parser(w, shared, p)(block, &w.Bytes)
	if err != nil {
		return err
	}
	dst, err := c.Room(b.DataLen())
	if err != nil {
		return err
	}
	if err := bytestring.Decode(b, dst, c.Ends(p.At, p.N), c.Size()); err != nil {
		return err
	}
	c.Grow(len(dst))
	if c.Bits() != nil {
		b.Validity(c.Bits(), p.At)
	}
	c.Nulls += b.Nulls()
	return checkNulls(b.Nulls(), r.nulls)
}

// decodeRows decodes the rows of a part out of a parsed block.
func (r *bytesReader[O]) decodeRows(w *work.Worker, p *blocks.Part, b *bytestring.Block, c *build.Bytes[O]) error {
	b.Want(int(p.Rows.Bounds().To))
	at := p.At
	for rows := range p.Rows.Ranges() {
		from, to := int(rows.From), int(rows.To)
		dst, err := c.Room(b.RangeLen(from, to))
		if err != nil {
			return err
		}
		if err := bytestring.DecodeRange(b, from, to, dst, c.Ends(at, to-from), c.Size()); err != nil {
			return err
		}
		c.Grow(len(dst))
		at += to - from
	}
	if c.Bits() != nil && b.Nulls() > 0 {
		c.Nulls += rowset.PickBits(c.Bits(), p.At, w.Validity(b), p.Rows)
		return nil
	}
	if c.Bits() != nil {
		bitmap.SetRange(c.Bits(), p.At, p.Count)
	}
	return checkNulls(b.Nulls(), r.nulls)
}

// decodePart decodes the values of a block from the first to the last that is needed, and copies the needed ones. If it is the
// beginning of the block, the next batch probably has the rest of it, so that all is decoded.
func (r *bytesReader[O]) decodePart(w *work.Worker, shared *bytestring.Dictionary, p *blocks.Part, block []byte, c *build.Bytes[O]) error {
	bounds := p.Rows.Bounds()
	from, to := int(bounds.From), int(bounds.To)
	if from == 0 {
		to = p.N
	}
	s := r.spare.Swap(nil)
	if s == nil {
		s = &spareBytes{}
	}
	if s.first != p.First || from < s.from || to > s.to {
		if err := r.decodeSpare(w, shared, p, block, s, from, to); err != nil {
			return err
		}
	}
	defer r.spare.Store(s)
	at, values := p.At, bytestring.Values{Data: s.data, Offsets: s.offsets, Fixed: r.fixed, N: s.to - s.from}
	for rows := range p.Rows.Ranges() {
		if err := c.Append(at, values.Slice(int(rows.From)-s.from, int(rows.To)-s.from)); err != nil {
			return err
		}
		at += int(rows.To - rows.From)
	}
	if c.Bits() != nil {
		c.Nulls += rowset.PickBits(c.Bits(), p.At, bitmap.Bits{Data: s.valid, Len: p.N}, p.Rows)
	}
	return nil
}

func (r *bytesReader[O]) decodeSpare(w *work.Worker, shared *bytestring.Dictionary, p *blocks.Part, block []byte, s *spareBytes, from, to int) error {
	b, err := r.parser(w, shared, p)(block, &w.Bytes)
	if err != nil {
		return err
	}
	s.first, s.from, s.to = p.First, from, to
	var ends []int64
	if r.fixed == 0 {
		scratch.Slice(&s.offsets, to-from+1)[0] = 0
		ends = s.offsets[1:]
	}
	b.Want(to)
	if err := bytestring.DecodeRange(b, from, to, scratch.Slice(&s.data, b.RangeLen(from, to)), ends, int64(0)); err != nil {
		return err
	}
	clear(scratch.Slice(&s.valid, (p.N+7)/8))
	b.Validity(s.valid, 0)
	return checkNulls(b.Nulls(), r.nulls)
}
