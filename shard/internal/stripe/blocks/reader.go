// Package blocks finds and reads the blocks of one encoded buffer (docs/format.md §6.1). It does not decode their
// content.
package blocks

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/numeric"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/internal/rules"
	"github.com/amudai/amudai-go/storage"
)

// Reader reads the blocks of one encoded buffer. It may be used concurrently, with a [Scratch] for each goroutine.
type Reader struct {
	Map     *encoding.BlockMap   // positions of the blocks in the buffer
	Options numeric.BlockOptions // how to decode them

	artifact storage.Reader
	start    int64 // of the buffer in its artifact
	mapSize  int64
	maxBytes func(n int) int64 // the maximum size of a block of n values; a larger one is refused before memory for it is allocated
	sums     []byte            // checksum of each block, 4 bytes each; none in buffers of other writers
	name     string            // kind of the buffer, for errors

	group  bool // the blocks are super-blocks of a packed group
	member int  // of each only the block of this member is read, of all if it is negative
}

// MapSize is the number of bytes of the block map.
func (r *Reader) MapSize() int64 { return r.mapSize }

// Artifact is where the bytes are.
func (r *Reader) Artifact() storage.Reader { return r.artifact }

// Bound reports whether the descriptor has checksums of the blocks, by which they belong to their places.
func (r *Reader) Bound() bool { return len(r.sums) > 0 }

// Scratch is the memory of one goroutine that reads blocks.
type Scratch struct {
	// Prefetched and Counters are those of the column that is being read.
	Prefetched storage.Prefetched
	Counters   *Counters
	Known      []storage.ByteRange // that are read anyway

	raw     []byte
	entries []encoding.BlockEntry
	parts   []Part
}

// Node is a node of the schema whose buffers are read.
type Node struct {
	ID        uint32
	Parent    uint32 // schema id of the parent, in whose packed group the node may be
	Type      schema.BasicType
	Signed    bool
	FixedSize uint32 // bytes of every value, 0 if it varies
	// OffsetsApart tells that DATA has bytes, see [stripe.OffsetsApart].
	OffsetsApart bool
}

// RangeOf returns the range of bytes of ref, which must be within an artifact of size bytes.
func RangeOf(ref *commonpb.DataRef, size int64) (start, end int64, err error) {
	s, e := ref.GetRange().GetStart(), ref.GetRange().GetEnd()
	if s > e || e > uint64(size) {
		return 0, 0, fault.Corruptf("range %d to %d of an artifact of %d bytes", s, e, size)
	}
	return int64(s), int64(e), nil
}

// open reads the block map of the buffer b of the node with the given schema id. A buffer without a map is a single
// block with the given number of values.
func open(ctx context.Context, src stripe.Source, id uint32, b *shardpb.EncodedBuffer, count uint64, f storage.Prefetched) (*Reader, error) {
	name := b.GetKind().String()
	artifact, err := src.Artifact(ctx, id, b.GetBuffer())
	if err != nil {
		return nil, fault.InBuffer(err, name, -1)
	}
	r := &Reader{artifact: artifact, Options: numeric.BlockOptions{Checksums: b.GetBlockChecksums()}, sums: b.GetChecksums(), name: name}
	if err := r.readMap(ctx, b, count, f); err != nil {
		return nil, r.Wrap(err)
	}
	return r, nil
}

func (r *Reader) readMap(ctx context.Context, b *shardpb.EncodedBuffer, count uint64, f storage.Prefetched) error {
	size, err := r.artifact.Size(ctx)
	if err != nil {
		return err
	}
	if b.GetBuffer() == nil || !stripe.HasBlocks(b) {
		return fault.Corruptf("buffer without a range or a block map")
	}
	start, end, err := RangeOf(b.GetBuffer(), size)
	if err != nil {
		return err
	}
	r.start = start
	if stripe.IsSingleBlock(b) {
		if count == stripe.AnyValues {
			return fault.Corruptf("a single block of bytes without a block map, which alone could count them")
		}
		if r.Map, err = encoding.SingleBlockMap(count, end-start); err != nil {
			return err
		}
		return r.checkSums()
	}
	raw, mapStart := b.GetInlineBlockMap(), end
	if b.BlockMap != nil {
		if raw, mapStart, err = r.readMapBytes(ctx, b, size, end, count, f); err != nil {
			return err
		}
	}
	r.mapSize = int64(len(raw))
	if r.Map, err = encoding.ParseBlockMap(raw, mapStart-start); err != nil {
		return fault.In(err, "block map", mapStart)
	}
	if b.BlockCount != nil && b.GetBlockCount() != uint64(r.Map.Len()) {
		return fault.Corruptf("descriptor counts %d blocks, the block map %d", b.GetBlockCount(), r.Map.Len())
	}
	return r.checkSums()
}

func (r *Reader) checkSums() error {
	if n := len(r.sums); n != 0 && n != encoding.BlockChecksumLen*r.Map.Len() {
		return fault.Corruptf("descriptor has %d bytes of checksums, the block map %d blocks", n, r.Map.Len())
	}
	return nil
}

// CheckWhole checks that a buffer without blocks has the checksum in its descriptor, if there is one.
func CheckWhole(raw, sum []byte) error {
	if len(sum) == 0 {
		return nil
	}
	if got := binary.LittleEndian.AppendUint32(nil, encoding.BlockChecksum(raw)); !bytes.Equal(got, sum) {
		return fault.Corruptf("not the bytes that were written here: their checksum is %x, that in the descriptor %x", got, sum)
	}
	return nil
}

// block is what is wanted of block i, whose bytes are raw: all of it, or the block of a member at an offset in it. have may hold these bytes.
func (r *Reader) block(have storage.Prefetched, e encoding.BlockEntry, i int, raw []byte) (block []byte, offset int, err error) {
	if !r.group {
		return raw, 0, r.belongs(i, raw)
	}
	check := func(raw []byte) error {
		if err := checkGroup(raw); err != nil {
			return err
		}
		return r.belongs(i, raw)
	}
	checked, err := have.Checked(r.artifact, r.start+e.Offset, int64(e.Size), check)
	if checked == nil {
		err = check(raw)
	}
	if err != nil {
		return raw, 0, err
	}
	if r.member < 0 {
		return raw, 0, nil
	}
	if block, offset = memberOf(raw, r.member); block == nil {
		return raw, 0, fault.Corruptf("super-block without a block of member %d", r.member)
	}
	if int64(len(block)) > r.maxBytes(e.N) {
		return raw, offset, fault.Limitf("block of %d values in %d bytes, more than %d", e.N, len(block), r.maxBytes(e.N))
	}
	return block, offset, nil
}

// belongs checks that the bytes of block i are those that were written there. If their own checksum is wrong, the decoder reports that.
func (r *Reader) belongs(i int, raw []byte) error {
	if len(r.sums) == 0 || len(raw) < encoding.BlockChecksumLen {
		return nil
	}
	want, got := r.sums[encoding.BlockChecksumLen*i:][:encoding.BlockChecksumLen], raw[len(raw)-encoding.BlockChecksumLen:]
	if r.group {
		got = GroupSum(raw)
	}
	if bytes.Equal(want, got) || !r.intact(raw) {
		return nil
	}
	return fault.Corruptf("a block of another place: its checksum is %#08x, that in the descriptor %#08x", binary.LittleEndian.Uint32(got), binary.LittleEndian.Uint32(want))
}

// intact reports whether the checksums in a block, or in those of all members, are right.
func (r *Reader) intact(raw []byte) bool {
	if !r.group {
		_, err := encoding.ParseBlock(raw, true)
		return err == nil
	}
	for _, block := range membersOf(raw) {
		if _, err := encoding.ParseBlock(block, true); err != nil {
			return false
		}
	}
	return true
}

// readMapBytes reads a block map, which must lie in its buffer. It returns the offset
// of the map, too.
func (r *Reader) readMapBytes(ctx context.Context, b *shardpb.EncodedBuffer, size, end int64, count uint64, f storage.Prefetched) (raw []byte, at int64, err error) {
	mapStart, mapEnd, err := RangeOf(b.GetBlockMap(), size)
	if err != nil {
		return nil, 0, err
	}
	if mapStart < r.start || mapEnd > end || b.GetBlockMap().GetUrl() != b.GetBuffer().GetUrl() {
		return nil, 0, fault.Corruptf("block map at %d to %d outside its buffer at %d to %d", mapStart, mapEnd, r.start, end)
	}
	if n := mapEnd - mapStart; n > maxMapBytes(count) {
		return nil, 0, fault.Limitf("block map of %d bytes for %d values", n, count)
	}
	raw, err = f.Read(ctx, r.artifact, mapStart, mapEnd-mapStart)
	return raw, mapStart, err
}

// maxMapBytes returns the maximum size of the block map of a buffer with a number of values: its size with blocks of
// one value, but at most 64 MiB, which are enough for millions of blocks.
func maxMapBytes(count uint64) int64 {
	const (
		footer   = 4 << 10
		perBlock = 48
		most     = 64 << 20
	)
	return footer + perBlock*int64(min(count, most/perBlock))
}

// Each reads the blocks that hold rows, in order. It calls f with the bytes of each and its needed rows, which are
// valid during the call. Rows past the end of the buffer are an error.
func (r *Reader) Each(ctx context.Context, s *Scratch, rows rowset.Set, f func(p *Part, block []byte) error) error {
	return r.EachBut(ctx, s, rows, nil, f)
}

// EachBut is [Reader.Each] which asks known, before it calls f with a part, whether f needs no bytes of it, and then gives it none. A nil known asks for all.
func (r *Reader) EachBut(ctx context.Context, s *Scratch, rows rowset.Set, known func(p *Part) bool, f func(p *Part, block []byte) error) error {
	parts, err := r.parts(s, rows)
	if err != nil {
		return err
	}
	for len(parts) > 0 {
		n, first := 1, parts[0].Offset
		var raw []byte
		if known == nil || !known(&parts[0]) {
			size := 0
			n, size = request(parts)
			if raw = s.Prefetched.Bytes(r.artifact, r.start+first, int64(size)); raw == nil {
				if raw, err = storage.ReadInto(ctx, r.artifact, s.raw, r.start+first, int64(size)); err != nil {
					return r.Wrap(err)
				}
				s.raw = raw
			}
			s.Counters.add(r, parts[:n])
		}
		for i := range parts[:n] {
			p := &parts[i]
			var b []byte
			inside := 0
			if at := int(p.Offset - first); raw != nil && (i == 0 || known == nil || !known(p)) {
				b, inside, err = r.block(s.Prefetched, p.BlockEntry, p.ordinal, raw[at:at+p.Size:at+p.Size])
			}
			if err == nil {
				err = f(p, b)
			}
			if err != nil {
				at := r.start + p.Offset + int64(inside)
				err = rules.Misfit(rules.PlaceRow(err, p.position))
				return r.Wrap(fault.InBlock(fault.Shift(err, at), p.ordinal, at))
			}
		}
		parts = parts[n:]
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// ReadBlock reads block i of the map into the memory of buf, as [storage.ReadInto] does. It checks only the size in
// the header of the block. at is the offset of the block in the artifact.
func (r *Reader) ReadBlock(ctx context.Context, i int, buf []byte) (raw []byte, at int64, err error) {
	var e encoding.BlockEntry
	e.First, e.N, e.Offset, e.Size = r.Map.Block(i)
	at = r.start + e.Offset
	if err = r.check(e); err == nil {
		raw, err = storage.ReadInto(ctx, r.artifact, buf, at, int64(e.Size))
	}
	if err == nil {
		var inside int
		raw, inside, err = r.block(nil, e, i, raw)
		at += int64(inside)
	}
	return raw, at, r.Wrap(fault.InBlock(err, i, at))
}

// Need calls add with the byte ranges of the blocks that hold rows, unless they are those of a packed group that s knows
// already. Rows and blocks that do not fit each other are an error only when they are read.
func (r *Reader) Need(s *Scratch, rows rowset.Set, add func(storage.ByteRange)) {
	parts, err := r.parts(s, rows)
	if err != nil {
		return
	}
	if r.group && r.known(s, parts) {
		return
	}
	for len(parts) > 0 {
		n, size := request(parts)
		add(storage.ByteRange{Reader: r.artifact, Offset: r.start + parts[0].Offset, Size: int64(size)})
		parts = parts[n:]
	}
}

// known reports whether other members of the group have asked for the parts. It looks for the first range of bytes, behind which are the others then.
func (r *Reader) known(s *Scratch, parts []Part) bool {
	at := -1
	for len(parts) > 0 {
		n, size := request(parts)
		want := storage.ByteRange{Reader: r.artifact, Offset: r.start + parts[0].Offset, Size: int64(size)}
		if at < 0 {
			at = slices.Index(s.Known, want)
		}
		if at < 0 || at == len(s.Known) || s.Known[at] != want {
			return false
		}
		parts, at = parts[n:], at+1
	}
	return true
}

// Wrap adds the buffer and its artifact to an error.
func (r *Reader) Wrap(err error) error {
	err = fault.Of(fault.InBuffer(err, r.name, r.start), r.artifact.Name())
	if a, ok := r.artifact.(interface{ Doubt(error) error }); ok {
		err = a.Doubt(err)
	}
	return err
}
