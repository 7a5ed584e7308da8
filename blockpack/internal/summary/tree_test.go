package summary

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack/internal/column"
	"github.com/amudai/amudai-go/blockpack/internal/ranges"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// A trace index may name a trace that no block has.
func TestTraceWithoutSpans(t *testing.T) {
	var b Builder
	sections, err := b.Sections([]uint32{0, 1})
	require.NoError(t, err)
	s, err := Parse(sections[ranges.TracesColumn][0], 0)
	require.NoError(t, err)
	require.Equal(t, 2, s.Len())
	require.Zero(t, s.Trace(1))
	require.Empty(t, sections[ranges.TreesColumn])
}

// The places of random spans, written and parsed, tell of each pair of spans of a trace what walks from parent to parent do.
func TestPlaces(t *testing.T) {
	for seed := range uint64(sweep.Count(200, 5000)) {
		r := rand.New(rand.NewPCG(seed, 3))
		n, traces := 1+r.IntN(40), 1+r.IntN(4)
		numbers, ids, parents := make([]uint32, n), make([]uint64, n), make([]uint64, n)
		for i := range n {
			numbers[i] = uint32(r.IntN(traces))
			ids[i] = uint64(r.IntN(30)) // 0: none; now and then one is there twice
			if r.IntN(8) > 0 {
				ids[i] = uint64(100 + i)
				parents[i] = pickOf(r, 0, uint64(50+r.IntN(3)), uint64(100+r.IntN(i+1)), uint64(100+r.IntN(n)))
			}
		}
		var b Builder
		b.Block(0, numbers, func(name string, _ column.Type) *column.Column {
			switch name {
			case "span:id":
				return idColumn(ids)
			case "span:parent_id":
				return idColumn(parents)
			}
			return nil
		})
		sections, err := b.Sections([]uint32{0, 1, 2, 3}[:traces])
		require.NoError(t, err)
		require.Len(t, sections[ranges.TreesColumn], 1)
		places, err := ParsePlaces(sections[ranges.TreesColumn][0], 0)
		require.NoError(t, err)
		require.Len(t, places, n)

		up := func(i int) int { // the parent of a span, -1 without one
			for k := range n {
				if parents[i] != 0 && numbers[k] == numbers[i] && ids[k] == parents[i] {
					return k
				}
			}
			return -1
		}
		odd := make([]bool, traces)
		for i := range n {
			steps, at := 0, i
			for ; at >= 0 && steps <= n; steps++ {
				at = up(at)
			}
			odd[numbers[i]] = odd[numbers[i]] || steps > n
			for k := range i {
				odd[numbers[i]] = odd[numbers[i]] || numbers[k] == numbers[i] && ids[k] == ids[i] && ids[i] != 0
			}
		}
		for i := range n {
			require.Equal(t, odd[numbers[i]], places[i].Left == 0, "seed %d, span %d", seed, i)
			for k := range n {
				if numbers[i] != numbers[k] || odd[numbers[i]] || i == k {
					continue
				}
				below := false
				for at := up(i); at >= 0; at = up(at) {
					below = below || at == k
				}
				p, q := places[i], places[k]
				require.NotEqual(t, p.Left, q.Left)
				require.Equal(t, below, p.Left > q.Left && p.Left <= q.Right, "seed %d: span %d below %d", seed, i, k)
				require.Equal(t, up(i) == k, p.Parent == q.Left)
				require.Equal(t, parents[i] == parents[k], p.Parent == q.Parent)
				require.Equal(t, parents[i] == 0, p.Parent == 0)
			}
		}
	}
}

func pickOf(r *rand.Rand, list ...uint64) uint64 { return list[r.IntN(len(list))] }

// idColumn has ids of 8 bytes; 0 is none.
func idColumn(ids []uint64) *column.Column {
	c := &column.Column{Type: column.Bytes, Rows: len(ids), Values: column.Values{Offsets: []uint32{0}}}
	for _, id := range ids {
		if id != 0 {
			c.Values.Data = binary.LittleEndian.AppendUint64(c.Values.Data, id)
		}
		c.Values.Offsets = append(c.Values.Offsets, uint32(len(c.Values.Data)))
	}
	return c
}
