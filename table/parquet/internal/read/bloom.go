package read

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/cespare/xxhash/v2"

	"github.com/amudai/amudai-go/sbbf"
	"github.com/amudai/amudai-go/table/parquet/internal/chunk"
	"github.com/amudai/amudai-go/table/parquet/internal/thrift"
)

// bloomHeader is in front of a Bloom filter:
//
//	1 i32 bytes of the filter, 2 { 1 split blocks }, 3 { 1 xxhash }, 4 { 1 uncompressed }
func bloomHeader(b []byte) (header, size int64, ok bool) {
	t := thrift.NewReader(b)
	known := 0
	t.Fields(func(id int16, kind thrift.Kind) bool {
		switch {
		case id == 1 && kind == thrift.I32:
			size = t.Int()
			return true
		case id >= 2 && id <= 4 && kind == thrift.Struct:
			t.Fields(func(member int16, _ thrift.Kind) bool {
				if member == 1 {
					known++
				}
				return false
			})
			return true
		}
		return false
	})
	return int64(t.At()), size, t.Err == nil && known == 3 && size > 0 && size%bloomBlock == 0
}

const (
	bloomBlock = 32  // bytes
	bloomHead  = 256 // bytes that have any header
	// wholeBloom is the size up to which a filter is read as a whole, in bytes. Of a larger one a block is read for each
	// value.
	wholeBloom = 1 << 20
)

// bloom opens the Bloom filter of a chunk of byte strings. It is nil if there is none, or if it cannot be read: then the
// values are.
func bloom(ctx context.Context, c *chunk.Chunk, stored arrow.DataType) func() func(value []byte) bool {
	at := c.Meta.BloomFilterOffset()
	if at <= 0 || at >= c.Source.Size || !isText(stored) || c.Rows == 0 {
		return nil
	}
	return func() func([]byte) bool {
		b, err := c.Source.BytesAt(ctx, nil, at, min(bloomHead, c.Source.Size-at))
		if err != nil {
			return nil
		}
		header, size, ok := bloomHeader(b)
		begin := at + header
		if !ok || size > c.Source.Size-begin {
			return nil
		}
		if size > wholeBloom {
			return func(value []byte) bool {
				h := xxhash.Sum64(value)
				block := int64((h >> 32) * uint64(size/bloomBlock) >> 32)
				b, err := c.Source.BytesAt(ctx, nil, begin+block*bloomBlock, bloomBlock)
				if err != nil {
					return true
				}
				f, ok := sbbf.Open(sbbf.Algorithm, 0, b)
				return !ok || f.MayContainHash(h)
			}
		}
		if b, err = c.Source.BytesAt(ctx, nil, begin, size); err != nil {
			return nil
		}
		f, ok := sbbf.Open(sbbf.Algorithm, 0, b)
		if !ok {
			return nil
		}
		return func(value []byte) bool { return f.MayContainHash(xxhash.Sum64(value)) }
	}
}

// isText reports whether values of a type are the stored byte strings.
func isText(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW, arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW, arrow.FIXED_SIZE_BINARY:
		return true
	}
	return false
}
