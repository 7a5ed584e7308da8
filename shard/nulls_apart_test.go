package shard

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/filter"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// Nulls and offsets in buffers of their own: the same values, the same answers, sound shards; and none of it in edition reference.
func TestNullsApart(t *testing.T) {
	apart := checkApart(t, WriterOptions{NullsApart: true})
	require.Greater(t, apart[Edition2026].nulls, apart[EditionReference].nulls+20) // Booleans always have them apart
	apart = checkApart(t, WriterOptions{OffsetsApart: true})
	require.Zero(t, apart[EditionReference].offsets)
	require.Greater(t, apart[Edition2026].offsets, 10)
	for _, p := range []encoding.Profile{encoding.ProfilePlain, encoding.MinimalCompression, encoding.HighCompression, encoding.MinimalSize} {
		checkApart(t, WriterOptions{NullsApart: true, OffsetsApart: true, Profile: p})
	}
}

// buffersApart counts the nodes with nulls and offsets beside their values.
type buffersApart struct{ nulls, offsets int }

func checkApart(t *testing.T, o WriterOptions) map[Edition]buffersApart {
	types := arrowgen.Types()
	const rows = 900
	g := arrowgen.New(7)
	g.Nulls = 0.3
	data := randomTable(g, types, rows)
	store := storage.NewMemory()
	apart := map[Edition]buffersApart{}
	for _, e := range []Edition{Edition2026, EditionReference} {
		data := data
		if editionFor(types, e) != e {
			data = randomTable(g, types[:10], rows)
		}
		location := fmt.Sprintf("mem://x/%v", e)
		o.Store, o.Edition, o.StripeRows = store, e, 500
		writeTable(t, location, data, o, 191)
		rep, err := Verify(t.Context(), location, OpenOptions{Store: store}, provider.VerifyOptions{})
		require.NoError(t, err)
		require.True(t, rep.OK() && rep.Unchecked == 0, "%v %v", rep.Problems, rep.Notes)
		s, err := Open(t.Context(), location, OpenOptions{Store: store})
		require.NoError(t, err)
		defer s.Close()
		writeTable(t, location+"/inside", data, WriterOptions{Store: store, Edition: e, StripeRows: 500}, 191)
		inside, err := Open(t.Context(), location+"/inside", OpenOptions{Store: store})
		require.NoError(t, err)
		defer inside.Close()
		requireScan(t, s, data, ScanOptions{BatchRows: 128})
		requireRows(t, s, data, between(400, 700), ScanOptions{Rows: []RowRange{{From: 400, To: 700}}})
		for i := range data.columns {
			column := filter.Col(fmt.Sprintf("c%d", i))
			for _, f := range []filter.Expr{filter.IsNull(column), filter.Not(filter.IsNull(column))} {
				o := ScanOptions{Filter: f, Columns: []string{}}
				require.Equal(t, rowsOf(t, inside, o), rowsOf(t, s, o), "%v", f)
				o.Columns = []string{fmt.Sprintf("c%d", (i+1)%len(data.columns)), fmt.Sprintf("c%d", i)}
				picked := table{schema: data.schema, rows: rows, columns: []arrow.Array{data.columns[(i+1)%len(data.columns)], data.columns[i]}}
				requireRows(t, s, picked, rowsOf(t, inside, o), o)
			}
		}
		for k := range s.NumStripes() {
			for id := range s.schema.IDCount() {
				d, err := s.file.Stripe(k).Descriptor(t.Context(), id)
				require.NoError(t, err)
				buffers := stripe.NativeEncoding(d).GetBuffers()
				data := stripe.FindBuffer(buffers, shardpb.BufferKind_DATA)
				n := apart[e]
				if data != nil && !data.GetEmbeddedPresence() && stripe.FindBuffer(buffers, shardpb.BufferKind_PRESENCE) != nil {
					n.nulls++
				}
				if data != nil && stripe.FindBuffer(buffers, shardpb.BufferKind_OFFSETS) != nil {
					n.offsets++
				}
				apart[e] = n
			}
		}
	}
	return apart
}

// rowsOf are the rows of a scan.
func rowsOf(t *testing.T, s *Shard, o ScanOptions) (rows []int64) {
	for batch, err := range s.Scan(t.Context(), o) {
		require.NoError(t, err)
		rows = slices.AppendSeq(rows, rowset.Of(batch.RowRanges()...).Rows())
	}
	return rows
}
