package rootfile

import (
	"context"
	"encoding/binary"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// A blob is what an anchor or a locator refers to, by the offset of its first byte: an
// envelope, or a page with its checksum. It lies in the payload of a key RBlob, alone or
// among others. The key says nothing about it, so it is never read.
//
// A blob of more bytes than the anchor's Max Key Size is split, and only its first chunk
// referred to. That one is full, and lies behind the others; its last bytes say where those are.
//
//	key │ chunk 2 │ key │ chunk 3 │ key │ chunk 1 │ u64 chunk 2, u64 chunk 3
//	      ▲ max           ▲ rest         ▲
//	      └───────────────┴──────────────┼── little-endian offsets
//	                                     └── the blob's offset
//
// Example, 247 bytes and a Max Key Size of 128: 120 bytes and one offset, then 127 bytes.

// chunks is the number of chunks of a blob of size bytes, 0 if the offsets of the others do
// not fit in the first one. A maxKey of 0 means that blobs are not split.
func chunks(size, maxKey uint64) uint64 {
	if maxKey == 0 || size <= maxKey {
		return 1
	}
	n := (size-1)/maxKey + 1
	if maxKey/8 <= n {
		return 0
	}
	if room := (maxKey - size%maxKey) % maxKey; 8*(n-1) > room {
		n++
	}
	return n
}

// BlobRanges are the ranges of bytes that a blob of size bytes from offset on consists
// of, in order. maxKey is Max Key Size. Only a split blob is looked at.
func (f *File) BlobRanges(ctx context.Context, offset, size, maxKey uint64) ([]storage.ByteRange, error) {
	ranges, err := f.blobRanges(ctx, offset, size, maxKey)
	return ranges, fault.Of(fault.In(err, "blob", place(offset)), f.Name())
}

// place is an offset for a message.
func place(offset uint64) int64 { return max(int64(offset), -1) }

func (f *File) blobRanges(ctx context.Context, offset, size, maxKey uint64) ([]storage.ByteRange, error) {
	n := chunks(size, maxKey)
	switch n {
	case 0:
		return nil, fault.Corruptf("a blob of %d bytes cannot be split by a Max Key Size of %d", size, maxKey)
	case 1:
		if err := f.checkBlob(offset, size); err != nil {
			return nil, err
		}
		return []storage.ByteRange{{Reader: f.edges, Offset: int64(offset), Size: int64(size)}}, nil
	}
	if err := f.checkBlob(offset, maxKey); err != nil {
		return nil, err
	}
	if size > uint64(f.header.End) {
		return nil, fault.Corruptf("a blob of %d bytes in a file of %d", size, f.header.End)
	}
	table := 8 * (n - 1)
	offsets, err := f.read(ctx, int64(offset+maxKey-table), int64(table))
	if err != nil {
		return nil, err
	}
	ranges := make([]storage.ByteRange, 0, n)
	ranges = append(ranges, storage.ByteRange{Reader: f.edges, Offset: int64(offset), Size: int64(maxKey - table)})
	size -= maxKey - table
	for ; len(offsets) > 0; offsets = offsets[8:] {
		at, part := binary.LittleEndian.Uint64(offsets), min(size, maxKey)
		if err := f.checkBlob(at, part); err != nil {
			return nil, err
		}
		ranges = append(ranges, storage.ByteRange{Reader: f.edges, Offset: int64(at), Size: int64(part)})
		size -= part
	}
	return ranges, nil
}

// checkBlob tells whether a range lies among the records.
func (f *File) checkBlob(offset, size uint64) error {
	if end := uint64(f.header.End); offset < uint64(f.header.Begin) || offset > end || size > end-offset {
		return fault.Corruptf("%d bytes from %d on lie outside of the file's records, %d to %d", size, offset, f.header.Begin, end)
	}
	return nil
}

// Joined are the bytes of ranges that were read, one behind the other. They must not be changed.
func Joined(have storage.Prefetched, ranges []storage.ByteRange) []byte {
	if len(ranges) == 1 {
		return have.Bytes(ranges[0].Reader, ranges[0].Offset, ranges[0].Size)
	}
	var b []byte
	for _, r := range ranges {
		b = append(b, have.Bytes(r.Reader, r.Offset, r.Size)...)
	}
	return b
}

// Blob reads a blob of size bytes from offset on. The bytes must not be changed.
func (f *File) Blob(ctx context.Context, offset, size, maxKey uint64) ([]byte, error) {
	ranges, err := f.BlobRanges(ctx, offset, size, maxKey)
	if err != nil {
		return nil, err
	}
	have, err := f.readAll(ctx, ranges)
	return Joined(have, ranges), fault.Of(fault.In(err, "blob", place(offset)), f.Name())
}
