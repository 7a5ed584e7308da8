package codec

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/internal/base/decompress"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// LZ4, code 17, is laid out like Zstd (compress.go). Its compressed part is the u32 size of the value bytes, then one
// LZ4 block (not the frame format).

const lz4Prefix = 4

func parseLZ4(t *tree.Tree, r *tree.Reader, _ int64) (uint64, error) {
	have, packed, offsets := layoutOfCompressed(r, lz4Prefix)
	if r.Err != nil {
		return 0, r.Err
	}
	size, err := t.ReadOffsets(offsets)
	switch t.Payload = packed; {
	case err != nil:
		return 0, err
	case have != size:
		return 0, fault.Corruptf("compressed values are %d bytes, not the %d expected", have, size)
	case size/decompress.LZ4MaxRatio > uint64(len(packed)):
		return 0, fault.Corruptf("%d bytes of values from %d", size, len(packed))
	}
	return size, nil
}

func appendLZ4(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) ([]byte, bool) {
	start := len(dst)
	data := in.Bytes()
	dst = binary.LittleEndian.AppendUint32(beginCompressed(dst, encoding.LZ4), uint32(len(data)))
	at := len(dst)
	dst = w.LZ4.Append(dst, data)
	w.NoteLZ(len(dst)-at, len(data))
	return endCompressed(w, dst, start, in.Values, r.Numbers)
}

var lz4Block = encode.Row{
	Row: tree.Row{
		Code:   encoding.LZ4,
		Layout: func(r *tree.Reader) { layoutOfCompressed(r, lz4Prefix) },
		Parse:  parseLZ4,
		Unpack: func(t *tree.Tree, dst []byte) error {
			if len(dst) == 0 {
				return nil
			}
			return decompress.LZ4(dst, t.Payload)
		},
	},
	Trials:    encode.Once(encoding.Balanced, encoding.MinimalCompression, encoding.HighCompression, encoding.MinimalSize),
	Append:    appendLZ4,
	Cost:      encode.DecodeCost{PerByte: 200, PerValue: 1800},
	FixedCost: encode.DecodeCost{PerByte: 160},
}
