package codec

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/patterns"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// The bytes that encoders get, in trials and to be written, are a bounded multiple of those of the column: one that is a little longer than a segment
// is not tried anew at its end.
func TestWorkOfTrials(t *testing.T) {
	work := 0
	var rows []*encode.Row
	for _, r := range []*encode.Row{&plain, &singleValue, &decimalRow, &dictionary, &patterns.Template, &flatLZ, &lz4Block, &radixPack, &fsstStream, &zstandard, &patterns.Fields, &frontCoding, &onPair, &sharedPair} {
		counted := *r
		counted.Append = func(w *encode.Workspace, dst []byte, in *encode.Input, q encode.Request) ([]byte, bool) {
			work += len(in.Bytes())
			return r.Append(w, dst, in, q)
		}
		rows = append(rows, &counted)
	}
	const segment = 64 << 10
	for _, c := range []struct {
		brief bool
		k     int
		most  float64
	}{{true, 1, 2.5}, {false, 1, 5}, {false, 2, 4}, {false, 3, 3.5}} {
		work = 0
		e := encode.New(encode.NewTable(rows...), encoding.Options{Features: edition.E2026.Features()}, 0)
		total, from, all := 0, 0, c.k*segment+1000
		for from < all {
			n := min(segment, all-from)
			if c.brief {
				n = all - from
			}
			v := vector.Values{N: n, Offsets: make([]int64, 1, n+1)}
			for i := range n {
				v.Data = fmt.Appendf(v.Data, "A/A%02d/A%05d_%d.jpg", (from+i)*7/10000, (from+i)*7/5, (from+i)%11)
				v.Offsets = append(v.Offsets, int64(len(v.Data)))
			}
			e.Brief(c.brief && from == 0, true)
			for at := 0; at < n; {
				block := e.Plan(int64(from+at), v.Slice(at, n), bitmap.All(n-at))
				_, err := e.AppendBlock(nil, v.Slice(at, at+block), bitmap.All(block))
				require.NoError(t, err)
				at += block
			}
			total, from = total+len(v.Data), from+n
		}
		t.Logf("%+v: %.2f", c, float64(work)/float64(total))
		require.LessOrEqual(t, float64(work)/float64(total), c.most, "%+v", c)
	}
}
