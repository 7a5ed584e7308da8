package bytestring

import (
	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/encoding"
)

// Zstd, code 16 (compress.go): its compressed part is a Zstandard stream (RFC 8878: one or more frames, no dictionary).

func appendZstd(w *workspace, dst []byte, in *input, r request) ([]byte, bool, error) {
	start := len(dst)
	dst, err := w.zstdAppend(beginCompressed(dst, encoding.Zstd), in.Bytes(), r.level)
	if err != nil {
		return dst, false, err
	}
	return w.endCompressed(dst, start, in.Values, r.numbers)
}

var zstandard = row{
	code:     encoding.Zstd,
	parse:    parseCompressed,
	unpack:   func(b *Block, dst []byte) error { return b.s.zstd.Decode(dst, b.payload) },
	describe: func(d *describer) { describeCompressed(d, 0) },
	tries: trials{
		encoding.Balanced:        {zstd.SpeedFastest},
		encoding.HighCompression: {zstd.SpeedFastest, zstd.SpeedDefault},
		encoding.MinimalSize:     {zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBetterCompression, zstd.SpeedBestCompression},
	},
	append: appendZstd,
	burden: func(level zstd.EncoderLevel, cost int64) int64 {
		if level == zstd.SpeedBestCompression {
			return cost / 20 // it takes five times as long as the level below
		}
		return 0
	},
	cost:      decodeCost{600, 800, 1800},
	fixedCost: decodeCost{330, 450, 0},
	leveled:   true,
	level:     zstd.SpeedDefault,
}
