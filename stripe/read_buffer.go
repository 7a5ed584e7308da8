package stripe

import (
	"context"
	"slices"
	"sync"

	"github.com/amudai/amudai-go/encoding/blockmap"
	"github.com/amudai/amudai-go/encoding/bytestring"
	"github.com/amudai/amudai-go/encoding/numeric"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/storage"
)

// readSpan is how many bytes of neighbouring blocks are read in one request at
// most, unless one block is larger: little enough to decode them from cache.
const readSpan = 128 << 10

// worker holds the scratch memory of one goroutine that reads; it belongs to
// no column for longer than a read.
type worker struct {
	options *ReadOptions // of the column that is being read
	raw     []byte
	entries []blockmap.Entry
	parts   []part
	numeric numeric.Scratch
	bytes   bytestring.Scratch
	codes   []uint32
	words   []uint64
	found   []uint64
	bits    []byte
	held    []byte
	chosen  []byte // a bit for each of the rows that are asked about
	marked  []byte
}

var workers = sync.Pool{New: func() any { return new(worker) }}

// slice gives n elements of *s, whose content is arbitrary.
func slice[T any](s *[]T, n int) []T {
	*s = slices.Grow((*s)[:0], n)[:n]
	return *s
}

// blockReader finds and reads the blocks of one encoded buffer. It is safe for
// concurrent use.
type blockReader struct {
	r       storage.Reader
	start   int64 // of the buffer in its artifact
	blocks  *blockmap.Map
	mapSize int64
	options numeric.BlockOptions
	name    string // kind of the buffer, for errors
}

// bufferRange checks that ref lies inside the artifact of size bytes.
func bufferRange(ref *commonpb.DataRef, size int64) (start, end int64, err error) {
	s, e := ref.GetRange().GetStart(), ref.GetRange().GetEnd()
	if s > e || e > uint64(size) {
		return 0, 0, fault.Corruptf("range %d to %d of an artifact of %d bytes", s, e, size)
	}
	return int64(s), int64(e), nil
}

// OpenBlocks gives the artifact that a buffer of a node lies in, and its block map.
func OpenBlocks(ctx context.Context, src Source, node schema.Node, b *shardpb.EncodedBuffer) (storage.Reader, *blockmap.Map, error) {
	d, err := src.Descriptor(ctx, node.ID())
	if err != nil {
		return nil, nil, err
	}
	br, err := openBlocks(ctx, src, node.ID(), b, bufferValues(node.Type(), b.GetKind(), d.GetField()), nil)
	if err != nil {
		return nil, nil, err
	}
	return br.r, br.blocks, nil
}

// openBlocks reads the block map of a buffer, which should hold some number of values.
func openBlocks(ctx context.Context, src Source, id uint32, b *shardpb.EncodedBuffer, values uint64, f storage.Prefetched) (*blockReader, error) {
	name := b.GetKind().String()
	r, err := src.Artifact(ctx, id, b.GetBuffer())
	if err != nil {
		return nil, fault.InBuffer(err, name, -1)
	}
	br := &blockReader{r: r, options: numeric.BlockOptions{Checksums: b.GetBlockChecksums()}, name: name}
	if err := br.readMap(ctx, b, values, f); err != nil {
		return nil, fault.Of(fault.InBuffer(err, name, br.start), r.Name())
	}
	return br, nil
}

// IsSingleBlock tells whether a buffer is one block without a block map (docs/format.md
// §6.1). Its values are as many as the positions of its node say.
func IsSingleBlock(b *shardpb.EncodedBuffer) bool {
	return b.BlockMap == nil && len(b.GetInlineBlockMap()) == 0 && b.GetBlockCount() == 1
}

// HasBlocks tells whether a buffer is made of blocks.
func HasBlocks(b *shardpb.EncodedBuffer) bool {
	return b.GetBlockMap() != nil || len(b.GetInlineBlockMap()) > 0 || IsSingleBlock(b)
}

func (br *blockReader) readMap(ctx context.Context, b *shardpb.EncodedBuffer, values uint64, f storage.Prefetched) error {
	size, err := br.r.Size(ctx)
	if err != nil {
		return err
	}
	if b.GetBuffer() == nil || !HasBlocks(b) {
		return fault.Corruptf("buffer without a range or a block map")
	}
	start, end, err := bufferRange(b.GetBuffer(), size)
	if err != nil {
		return err
	}
	br.start = start
	if IsSingleBlock(b) {
		br.blocks, err = blockmap.Single(values, end-start)
		return err
	}
	raw, mapStart := b.GetInlineBlockMap(), end
	if b.BlockMap != nil {
		if raw, mapStart, err = br.fetchMap(ctx, b, size, end, f); err != nil {
			return err
		}
	}
	br.mapSize = int64(len(raw))
	if br.blocks, err = blockmap.Parse(raw, mapStart-start); err != nil {
		return fault.In(err, "block map", mapStart)
	}
	if b.BlockCount != nil && b.GetBlockCount() != uint64(br.blocks.Len()) {
		return fault.Corruptf("descriptor counts %d blocks, the block map %d", b.GetBlockCount(), br.blocks.Len())
	}
	return nil
}

// fetchMap reads a block map that lies in its buffer, which ends at end, and says where.
func (br *blockReader) fetchMap(ctx context.Context, b *shardpb.EncodedBuffer, size, end int64, f storage.Prefetched) (raw []byte, at int64, err error) {
	mapStart, mapEnd, err := bufferRange(b.GetBlockMap(), size)
	if err != nil {
		return nil, 0, err
	}
	if mapStart < br.start || mapEnd > end || b.GetBlockMap().GetUrl() != b.GetBuffer().GetUrl() {
		return nil, 0, fault.Corruptf("block map at %d to %d outside its buffer at %d to %d", mapStart, mapEnd, br.start, end)
	}
	raw, err = f.Read(ctx, br.r, mapStart, mapEnd-mapStart)
	return raw, mapStart, err
}

// each reads the blocks that hold rows, in order, and calls f with the bytes of
// each and what is needed of it; both are valid during the call. Rows past the end
// of the buffer are an error.
func (br *blockReader) each(ctx context.Context, w *worker, rows rowset.Set, f func(p *part, block []byte) error) error {
	parts, err := br.parts(w, rows)
	if err != nil {
		return err
	}
	for len(parts) > 0 {
		n, size := run(parts)
		first := parts[0].Offset
		raw := w.options.Prefetched.Bytes(br.r, br.start+first, int64(size))
		if raw == nil {
			raw = slice(&w.raw, size)
			if err := br.r.ReadAt(ctx, raw, br.start+first); err != nil {
				return br.wrap(err)
			}
		}
		w.options.Counters.add(br, parts[:n])
		for i := range parts[:n] {
			p := &parts[i]
			at := int(p.Offset - first)
			if err := f(p, raw[at:at+p.Size:at+p.Size]); err != nil {
				at := br.start + p.Offset
				err = placeValue(err, p.position)
				return br.wrap(fault.InBlock(fault.Shift(err, at), p.ordinal, at))
			}
		}
		parts = parts[n:]
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Counters) add(br *blockReader, parts []part) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[place]struct{}{}
	}
	for i := range parts {
		p := &parts[i]
		c.seen[place{br.r, br.start + p.Offset}] = struct{}{}
		c.Blocks.Add(1)
		c.Bytes.Add(int64(p.Size))
		c.Values.Add(int64(p.n))
		if p.whole() {
			c.Whole.Add(1)
		}
	}
}

// checkNulls refuses nulls in a column that has none.
func checkNulls(nulls int, nullable bool) error {
	if nulls > 0 && !nullable {
		return fault.Corruptf("%d nulls in a column whose descriptor counts none", nulls)
	}
	return nil
}

func (br *blockReader) wrap(err error) error {
	return fault.Of(fault.InBuffer(err, br.name, br.start), br.r.Name())
}
