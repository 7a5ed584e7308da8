package decompress

import (
	"fmt"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The start of each frame of a stream is unpacked alone, whoever wrote it; of one that is damaged, there is an error, or bytes that are as many.
func TestFrames(t *testing.T) {
	var text []byte
	for i := range 60_000 {
		text = fmt.Appendf(text, "%d: %x\n", i%700, uint32(i)*2654435761)
	}
	var encoders []*zstd.Encoder
	for _, options := range [][]zstd.EOption{{}, {zstd.WithEncoderLevel(zstd.SpeedFastest)}, {zstd.WithEncoderCRC(false)}, {zstd.WithSingleSegment(true)}, {zstd.WithWindowSize(4 << 10), zstd.WithEncoderCRC(false)}} {
		e, err := zstd.NewWriter(nil, append(options, zstd.WithZeroFrames(true))...)
		require.NoError(t, err)
		encoders = append(encoders, e)
	}
	var z Zstd
	rapid.Check(t, func(t *rapid.T) {
		var stream, want []byte
		for range rapid.IntRange(1, 4).Draw(t, "frames") {
			from := rapid.IntRange(0, len(text)).Draw(t, "from")
			part := text[from:min(len(text), from+rapid.OneOf(rapid.IntRange(0, 300), rapid.IntRange(0, 1<<20)).Draw(t, "bytes"))]
			want = append(want, part...)
			stream = rapid.SampledFrom(encoders).Draw(t, "encoder").EncodeAll(part, stream)
		}
		bad := rapid.Bool().Draw(t, "bad")
		if bad {
			stream[rapid.IntRange(0, len(stream)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "by"))
		}
		at := 0
		for _, f := range Frames(nil, stream, len(want)) {
			require.Equal(t, at, f.Start)
			at = f.End
			if f.Start == f.End {
				continue
			}
			n := rapid.IntRange(1, f.End-f.Start).Draw(t, "start")
			out, err := z.AppendStart([]byte("before"), &f, n)
			if !bad {
				require.NoError(t, err)
				require.GreaterOrEqual(t, len(out), 6+n)
				require.Equal(t, string(want[f.Start:][:len(out)-6]), string(out[6:]))
			} else if err == nil {
				require.GreaterOrEqual(t, len(out), 6+n)
			}
		}
		require.Equal(t, len(want), at)
	})
}
