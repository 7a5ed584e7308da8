package bytestring

import (
	"encoding/binary"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/internal/base/decompress"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// LZ4, code 17, is laid out like Zstd (compress.go). Its compressed part is the u32 size of the value bytes, then one
// LZ4 block (not the frame format).

const (
	lz4Prefix   = 4
	lz4MaxRatio = 255 // most bytes that one byte of LZ4 can stand for
)

func parseLZ4(b *Block, tree []byte, limit int64) (uint64, error) {
	size, err := parseCompressed(b, tree, limit)
	if err != nil {
		return 0, err
	}
	if len(b.payload) < lz4Prefix {
		return 0, fault.Corruptf("%d bytes have no room for the size", len(b.payload))
	}
	if have := uint64(binary.LittleEndian.Uint32(b.payload)); have != size {
		return 0, fault.Corruptf("compressed values are %d bytes, not the %d expected", have, size)
	}
	b.payload = b.payload[lz4Prefix:]
	if size/lz4MaxRatio > uint64(len(b.payload)) {
		return 0, fault.Corruptf("%d bytes of values from %d", size, len(b.payload))
	}
	return size, nil
}

func decodeLZ4(dst, src []byte) error {
	if len(dst) == 0 {
		return nil
	}
	return decompress.LZ4(dst, src)
}

func appendLZ4(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) ([]byte, bool, error) {
	start := len(dst)
	data := in.Bytes()
	dst = binary.LittleEndian.AppendUint32(beginCompressed(dst, encoding.LZ4), uint32(len(data)))
	at := len(dst)
	dst = w.LZ4.Append(dst, data)
	w.NoteLZ(len(dst)-at, len(data))
	return endCompressed(w, dst, start, in.Values, r.Numbers)
}

var lz4Block = row{
	Row: encode.Row{
		Code:      encoding.LZ4,
		Trials:    encode.Once(encoding.Balanced, encoding.MinimalCompression, encoding.HighCompression, encoding.MinimalSize),
		Append:    appendLZ4,
		Cost:      encode.DecodeCost{PerByte: 200, PerValue: 1800},
		FixedCost: encode.DecodeCost{PerByte: 160},
	},
	parse:    parseLZ4,
	unpack:   func(b *Block, dst []byte) error { return decodeLZ4(dst, b.payload) },
	describe: func(d *describer) { describeCompressed(d, lz4Prefix) },
}
