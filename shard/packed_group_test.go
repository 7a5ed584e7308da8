package shard

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// Packed groups: the same values, the same answers, and sound shards; none of it in edition reference.
func TestPackedGroups(t *testing.T) {
	types := arrowgen.Types()
	for _, c := range []struct {
		nulls  float64
		rows   int
		packed [][]string
	}{
		{0.3, 900, [][]string{{"*"}}}, {0, 700, [][]string{{"c1", "c2", "c3", "c4"}, {"*"}}}, {1, 601, [][]string{{"*"}}},
	} {
		g := arrowgen.New(7)
		g.Nulls = c.nulls
		data := randomTable(g, types, c.rows)
		for _, p := range []encoding.Profile{encoding.Balanced, encoding.ProfilePlain, encoding.HighCompression, encoding.MinimalSize} {
			t.Run(fmt.Sprint(c.nulls, p), func(t *testing.T) {
				store := storage.NewMemory()
				writeTable(t, "mem://x/packed", data, WriterOptions{Store: store, StripeRows: 500, Profile: p, Packed: c.packed, NullsApart: p == encoding.Balanced}, 191)
				writeTable(t, "mem://x/plain", data, WriterOptions{Store: store, StripeRows: 500, Profile: p}, 191)
				rep, err := Verify(t.Context(), "mem://x/packed", OpenOptions{Store: store}, provider.VerifyOptions{})
				require.NoError(t, err)
				require.True(t, rep.OK() && rep.Unchecked == 0, "%v %v", rep.Problems, rep.Notes)
				packed, plain := openTest(t, store, "mem://x/packed"), openTest(t, store, "mem://x/plain")
				members := membersOf(t, packed)
				if c.nulls < 1 {
					require.Greater(t, members, 2*len(types)/3, "of %d columns in 2 stripes", len(types))
				}
				require.Zero(t, membersOf(t, plain))
				for _, gap := range []int64{0, 1 << 20} {
					requireScan(t, packed, data, ScanOptions{BatchRows: 128, FetchGap: gap})
					requireRows(t, packed, data, between(400, 600), ScanOptions{Rows: []RowRange{{From: 400, To: 600}}, FetchGap: gap})
					for i := range data.columns {
						column := filter.Col(fmt.Sprintf("c%d", i))
						for _, f := range []filter.Expr{filter.IsNull(column), filter.Not(filter.IsNull(column))} {
							o := ScanOptions{Filter: f, Columns: []string{}, FetchGap: gap}
							require.Equal(t, rowsOf(t, plain, o), rowsOf(t, packed, o), "%v", f)
						}
					}
				}
			})
		}
	}
}

func openTest(t *testing.T, store storage.Store, location string) *Shard {
	s, err := Open(t.Context(), location, OpenOptions{Store: store})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// membersOf is the number of buffers in packed groups, in all stripes.
func membersOf(t *testing.T, s *Shard) (n int) {
	for k := range s.NumStripes() {
		for id := range s.schema.IDCount() {
			d, err := s.file.Stripe(k).Descriptor(t.Context(), id)
			require.NoError(t, err)
			for _, b := range stripe.NativeEncoding(d).GetBuffers() {
				if stripe.IsMember(b) {
					n++
				}
			}
		}
	}
	return n
}
