package codec

import (
	"fmt"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/patterns"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// Writing a block takes no memory once there is enough.
func TestAllocs(t *testing.T) {
	if testing.Short() {
		t.Skip("-short, as with the race detector, which allocates")
	}
	for _, c := range []struct {
		row   *encode.Row
		form  string
		level zstd.EncoderLevel
	}{
		{&radixPack, "%d", 0}, {&radixPack, "%012d", 0}, {&patterns.Template, "host took %d ms", 0}, {&patterns.Template, "host took %d ms", zstd.SpeedFastest},
	} {
		v := vector.Values{Offsets: []int64{0}, N: 5000}
		for i := range v.N {
			v.Data = fmt.Appendf(v.Data, c.form, i*i)
			v.Offsets = append(v.Offsets, int64(len(v.Data)))
		}
		w := new(encode.Workspace)
		r := encode.Request{Numbers: &encode.Numbers{Options: encoding.Options{Features: edition.E2026.Features()}}, Level: c.level}
		in := &encode.Input{Values: v, Valid: bitmap.All(v.N)}
		var tree []byte
		var ok bool
		write := func() { tree, ok = c.row.Append(w, tree[:0], in, r) }
		write()
		require.True(t, ok)
		write()
		require.LessOrEqual(t, testing.AllocsPerRun(5, write), 2.0)
	}
}
