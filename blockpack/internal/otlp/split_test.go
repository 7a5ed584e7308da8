package otlp

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/testing/otlpgen"
)

// TestSplit compares the parts of a block with blocks that were taken one after the other.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, two := NewBuilder(Options{}), NewBuilder(Options{})
		for _, m := range rapid.SliceOfN(otlpgen.Traces(), 1, 5).Draw(t, "messages") {
			wire, err := proto.Marshal(m)
			require.NoError(t, err)
			require.NoError(t, one.AddTraces(wire))
			require.NoError(t, two.AddTraces(wire))
		}
		var ends []int
		for end := 0; end < one.Rows(); {
			end = min(end+rapid.IntRange(1, 10).Draw(t, "rows"), one.Rows())
			ends = append(ends, end)
		}
		if len(ends) == 0 {
			return
		}
		from := 0
		for i, got := range one.Finish().Split(ends) {
			want := taken(t, two, ends[i]-from)
			from = ends[i]
			require.Equal(t, rowsOf(want), rowsOf(got))
			require.Len(t, got.Columns, len(want.Columns))
			for k, c := range got.Columns {
				require.Equal(t, want.Columns[k].Values.Len(), c.Values.Len(), "no values without a row")
			}
		}
	})
}

// rowsOf are the values of each row, by column.
func rowsOf(b Block) []map[string]any {
	out := make([]map[string]any, b.Rows)
	for _, c := range b.Columns {
		k := 0
		for i := range out {
			if out[i] == nil {
				out[i] = map[string]any{}
			}
			if c.Present != nil && c.Present[i/8]>>(i%8)&1 == 0 {
				continue
			}
			at := k
			if c.Codes != nil {
				at = int(c.Codes[k])
			}
			k++
			name := c.Name + c.Type.String()
			if c.Type.Textual() {
				out[i][name] = string(c.Values.Bytes(at))
			} else {
				out[i][name] = c.Values.Numbers[at]
			}
		}
	}
	return out
}
