package chunk

import (
	"encoding/binary"
	"errors"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/pierrec/lz4/v4"
)

// hadoopLZ4 is the codec LZ4 of old files, which arrow-go lacks. Hadoop puts blocks into frames of its own,
// parquet-cpp does not. Both are read:
//
//	u32 BE decoded length | u32 BE length | LZ4 block | …     or one LZ4 block
//
// Files written today use LZ4_RAW.
type hadoopLZ4 struct{ compress.Codec } // LZ4_RAW

func init() {
	raw, err := compress.GetCodec(compress.Codecs.Lz4Raw)
	if _, missing := compress.GetCodec(compress.Codecs.Lz4); missing != nil && err == nil {
		compress.RegisterCodec(compress.Codecs.Lz4, hadoopLZ4{raw})
	}
}

var errLZ4 = errors.New("invalid LZ4 data")

// DecodeWithError decodes src into dst, which has the length of the result.
func (hadoopLZ4) DecodeWithError(dst, src []byte) ([]byte, error) {
	if n, ok := decodeFrames(dst, src); ok {
		return dst[:n], nil
	}
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil {
		return nil, errLZ4
	}
	return dst[:n], nil
}

func decodeFrames(dst, src []byte) (n int, ok bool) {
	for len(src) > 0 {
		if len(src) < 8 {
			return 0, false
		}
		decoded, encoded := uint64(binary.BigEndian.Uint32(src)), uint64(binary.BigEndian.Uint32(src[4:]))
		src = src[8:]
		if encoded > uint64(len(src)) || decoded > uint64(len(dst)-n) {
			return 0, false
		}
		got, err := lz4.UncompressBlock(src[:encoded], dst[n:n+int(decoded)])
		if err != nil || uint64(got) != decoded {
			return 0, false
		}
		src = src[encoded:]
		n += got
	}
	return n, true
}

// Decode is DecodeWithError, with nil for an error.
func (c hadoopLZ4) Decode(dst, src []byte) []byte {
	out, err := c.DecodeWithError(dst, src)
	if err != nil {
		return nil
	}
	return out
}

// emptySnappy is Snappy that accepts empty input: some writers store pages of nulls without any compressed bytes.
type emptySnappy struct{ codec }

// codec has the methods of arrow-go's Snappy.
type codec interface {
	compress.Codec
	compress.StreamingCodec
}

func init() {
	found, err := compress.GetCodec(compress.Codecs.Snappy)
	if s, ok := found.(codec); ok && err == nil {
		compress.RegisterCodec(compress.Codecs.Snappy, emptySnappy{s})
	}
}

// DecodeWithError decodes src into dst, which has the length of the result.
func (s emptySnappy) DecodeWithError(dst, src []byte) ([]byte, error) {
	if len(dst) == 0 && len(src) == 0 {
		return dst, nil
	}
	return compress.Decode(s.codec, dst, src)
}
