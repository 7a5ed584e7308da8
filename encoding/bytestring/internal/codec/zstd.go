package codec

import (
	"sort"

	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/internal/base/decompress"
)

// Zstd, code 16 (compress.go): its compressed part is a Zstandard stream (RFC 8878: one or more frames, no dictionary).

// zstdTree is the memory of a block that is compressed with Zstandard.
type zstdTree struct {
	decoder decompress.Zstd
	frames  []decompress.Frame // none before they are needed
}

func parseZstd(t *tree.Tree, r *tree.Reader, _ int64) (uint64, error) {
	_, packed, offsets := layoutOfCompressed(r, 0)
	if r.Err != nil {
		return 0, r.Err
	}
	z := tree.State[zstdTree](t)
	t.Payload, z.frames = packed, z.frames[:0]
	return t.ReadOffsets(offsets)
}

// unpackFrames unpacks the frames that have some bytes, the last of them as far as it will be asked for.
func unpackFrames(t *tree.Tree, buf *[]byte, start, end, last int) (int, error) {
	z := tree.State[zstdTree](t)
	if len(z.frames) == 0 {
		z.frames = decompress.Frames(z.frames, t.Payload, t.DataLen)
	}
	first := sort.Search(len(z.frames), func(i int) bool { return z.frames[i].End > start })
	*buf = (*buf)[:0]
	for i := first; i < len(z.frames) && z.frames[i].Start < end; i++ {
		var err error
		if *buf, err = z.decoder.AppendStart(*buf, &z.frames[i], last-z.frames[i].Start); err != nil {
			return 0, err
		}
	}
	return z.frames[first].Start, nil
}

const (
	framePacked = 8 << 10   // about the fewest bytes that a frame takes, so that its beginning, which has nothing to refer to, counts little
	framesFrom  = 384 << 10 // bytes of values; fewer are one frame
)

func appendZstd(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) ([]byte, bool) {
	start, v, bytes := len(dst), in.Values, 0
	if r.Frame > 0 && v.Size() >= framesFrom {
		bytes = r.Frame
		r.Level = max(r.Level, zstd.SpeedDefault) // which makes up for what frames do not know of each other
	}
	dst = beginCompressed(dst, encoding.Zstd)
	for first := true; first || v.N > 0; first = false {
		frame := v.Slice(0, frameLen(v, bytes))
		at := len(dst)
		dst = w.AppendZstd(dst, frame.Bytes(), r.Level)
		if bytes > 0 {
			bytes = max(r.Frame, bytes*framePacked/max(len(dst)-at, framePacked/2))
		}
		v = v.Slice(frame.N, v.N)
	}
	return endCompressed(w, dst, start, in.Values, r.Numbers)
}

// frameLen is how many of the values are in a frame that ends with the value that reaches so many bytes, 0 for all. The last one is
// up to half as long again.
func frameLen(v vector.Values, bytes int) int {
	if bytes == 0 || 2*v.Size() < 3*int64(bytes) {
		return v.N
	}
	return min(v.N, 1+sort.Search(v.N, func(i int) bool { return v.Slice(0, i+1).Size() >= int64(bytes) }))
}

var zstandard = encode.Row{
	Row: tree.Row{
		Code:       encoding.Zstd,
		Layout:     func(r *tree.Reader) { layoutOfCompressed(r, 0) },
		Parse:      parseZstd,
		Unpack:     func(t *tree.Tree, dst []byte) error { return tree.State[zstdTree](t).decoder.Decode(dst, t.Payload) },
		UnpackSome: unpackFrames,
	},
	Trials: encode.Trials{
		encoding.Balanced:        {zstd.SpeedFastest},
		encoding.HighCompression: {zstd.SpeedFastest, zstd.SpeedDefault},
		encoding.MinimalSize:     {zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBetterCompression, zstd.SpeedBestCompression},
	},
	Costly:   true,
	Quick:    true,
	Replaces: encoding.LZ4,
	Append:   appendZstd,
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
