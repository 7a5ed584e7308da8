package parquet

import "github.com/apache/arrow-go/v18/parquet/compress"

// emptySnappy is Snappy that decodes nothing to nothing: pages that hold only
// nulls have no compressed bytes at all in the files of some writers.
type emptySnappy struct{ codec }

// codec is what arrow-go's own Snappy is.
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
