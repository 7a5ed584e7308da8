package chunk

import "github.com/apache/arrow-go/v18/parquet/compress"

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
