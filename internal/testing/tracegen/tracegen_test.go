package tracegen_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/otlpgen"
	"github.com/amudai/amudai-go/internal/testing/tracegen"
)

// TestRepeat checks that copies are those spans again, with ids of their own that belong together as before, and later.
func TestRepeat(t *testing.T) {
	messages := otlpgen.Corpus(t, "zipkin_lens.otlp")
	var copies [][]byte
	for m := range tracegen.Repeat(messages, 3) {
		copies = append(copies, append([]byte(nil), m...))
	}
	require.Equal(t, messages, copies[:len(messages)])
	type key struct{ trace, span string }
	ids := map[key]int{}
	parents := [3]int{}
	var from, to [3]uint64
	all := otlpgen.Parse(t, copies)
	for pass := range 2 { // ids, then parents
		for i, td := range all {
			n := i / len(messages)
			for _, rs := range td.ResourceSpans {
				for _, ss := range rs.ScopeSpans {
					for _, s := range ss.Spans {
						k := key{string(s.TraceId), string(s.SpanId)}
						if old, ok := ids[k]; ok {
							require.Equal(t, old, n)
						}
						ids[k] = n
						if from[n] == 0 || s.StartTimeUnixNano < from[n] {
							from[n] = s.StartTimeUnixNano
						}
						to[n] = max(to[n], s.StartTimeUnixNano)
						k.span = string(s.ParentSpanId)
						if _, ok := ids[k]; pass == 1 && ok {
							parents[n]++
						}
					}
				}
			}
		}
	}
	require.Positive(t, parents[0])
	require.Equal(t, parents[0], parents[1])
	require.Equal(t, parents[0], parents[2])
	require.Less(t, to[0], from[1])
	require.Less(t, to[1], from[2])
}
