package codec

import (
	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/internal/base/decompress"
)

// Zstd, code 16 (compress.go): its compressed part is a Zstandard stream (RFC 8878: one or more frames, no dictionary).

// zstdTree is the memory of a block that is compressed with Zstandard.
type zstdTree struct{ decoder decompress.Zstd }

func parseZstd(t *tree.Tree, r *tree.Reader, _ int64) (uint64, error) {
	_, packed, offsets := layoutOfCompressed(r, 0)
	if r.Err != nil {
		return 0, r.Err
	}
	t.Payload = packed
	return t.ReadOffsets(offsets)
}

func appendZstd(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) ([]byte, bool) {
	start := len(dst)
	dst = w.AppendZstd(beginCompressed(dst, encoding.Zstd), in.Bytes(), r.Level)
	return endCompressed(w, dst, start, in.Values, r.Numbers)
}

var zstandard = encode.Row{
	Row: tree.Row{
		Code:   encoding.Zstd,
		Layout: func(r *tree.Reader) { layoutOfCompressed(r, 0) },
		Parse:  parseZstd,
		Unpack: func(t *tree.Tree, dst []byte) error { return tree.State[zstdTree](t).decoder.Decode(dst, t.Payload) },
	},
	Trials: encode.Trials{
		encoding.Balanced:        {zstd.SpeedFastest},
		encoding.HighCompression: {zstd.SpeedFastest, zstd.SpeedDefault},
		encoding.MinimalSize:     {zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBetterCompression, zstd.SpeedBestCompression},
	},
	Costly: true,
	Quick:  true,
	Append: appendZstd,
	Burden: func(level zstd.EncoderLevel, cost int64) int64 {
		if level == zstd.SpeedBestCompression {
			return cost / 20 // it takes five times as long as the level below
		}
		return 0
	},
	Cost:      encode.DecodeCost{PerByte: 600, PerStored: 800, PerValue: 1800},
	FixedCost: encode.DecodeCost{PerByte: 330, PerStored: 450},
	Leveled:   true,
	Level:     zstd.SpeedDefault,
}
