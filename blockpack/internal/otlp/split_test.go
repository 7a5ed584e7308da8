package otlp

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/blockpack/internal/column"
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

// TestSpread has an attribute whose strings are hardly ever there twice, in some spans, beside one that repeats, with a message that is taken back, and blocks that are taken
// from the front.
func TestSpread(t *testing.T) {
	b := NewBuilder(Options{})
	of := func(i int) *tracev1.Span {
		s := &tracev1.Span{Name: "x", Attributes: []*commonv1.KeyValue{textOf("same", fmt.Sprint(i%7))}}
		if i%3 != 0 {
			s.Attributes = append(s.Attributes, textOf("unique", fmt.Sprintf("value %d", i/2)))
		}
		return s
	}
	bad := of(1)
	bad.SpanId = []byte("short")
	next := 0
	for range 2 { // the second block begins anew
		added := 0
		for ; added < 5*spreadMin; added++ {
			require.NoError(t, b.AddTraces(message(t, of(next+added))))
			if added%1000 == 0 {
				require.Error(t, b.AddTraces(message(t, of(1), bad)))
			}
		}
		require.True(t, b.attrs[ofSpan].keys["unique"].columns[column.String].spread)
		require.False(t, b.attrs[ofSpan].keys["same"].columns[column.String].spread)
		for _, n := range []int{added / 2, added - added/2} {
			block, err := b.Take(n)
			require.NoError(t, err)
			for row, values := range rowsOf(block) {
				require.Equal(t, fmt.Sprint((next+row)%7), values["span.sameString"])
				if want := fmt.Sprintf("value %d", (next+row)/2); (next+row)%3 != 0 {
					require.Equal(t, want, values["span.uniqueString"])
				} else {
					require.NotContains(t, values, "span.uniqueString")
				}
			}
			next += n
		}
	}
}
