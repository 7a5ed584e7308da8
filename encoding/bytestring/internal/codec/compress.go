package codec

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// Zstd, code 16, and LZ4, code 17: the value bytes, compressed as one.
//
//	0  2  10 00 or 11 00
//	2  4  u32 size of the compressed part in bytes
//	6  1  width of the offsets: 8, or 0 if values have a fixed size
//	7  1  1 if the offsets are a tree, 0 if they are raw
//	8     compressed part; zeros up to a multiple of 8
//	      offsets: tree of n+1 u64, or raw, to the end; nothing if the width is 0
//
// The compressed part of Zstd is a Zstandard stream (RFC 8878: one or more
// frames, no dictionary). That of LZ4 is the u32 size of the value bytes, then
// one LZ4 block (not the frame format). Example, "aaaaaaaa" and "" as LZ4:
//
//	11 00 | 0d 00 00 00 | 08 | 00 | 08 00 00 00 80 61 61 61 61 61 61 61 61 | 3 zeros
//	00.. 08.. 08.. (u64 each)

const compressHeader = 6

// layoutOfCompressed is that of a tree whose compressed part begins with the size of the values, in so many bytes.
func layoutOfCompressed(r *tree.Reader, prefix uint64) (valuesSize uint64, packed []byte, offsets tree.Numbers) {
	size := r.Uint(4, "compressed size")
	r.Width("offset width", offsetWidth)
	nested := r.Flag("offsets are a tree")
	if prefix > 0 {
		if size < prefix {
			r.Fail(fault.Corruptf("%d bytes have no room for the size", size))
		}
		valuesSize = r.Uint(int(prefix), "values size")
		size -= prefix
	}
	packed = r.Bytes(size, "compressed values")
	return valuesSize, packed, r.Offsets(nested)
}

// beginCompressed appends the header of a compressed tree.
func beginCompressed(dst []byte, code encoding.Code) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(code))
}

// endCompressed completes a tree after its compressed part.
func endCompressed(w *encode.Workspace, dst []byte, start int, v vector.Values, nums *encode.Numbers) ([]byte, bool) {
	const header = 2 + compressHeader
	dst = encode.EndPart(dst, start, start+header, 2) // the reference needs the zeros even if no offsets follow
	return w.AppendOffsets(dst, v, start+6, start+7, nums), true
}
