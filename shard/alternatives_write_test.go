package shard

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/filter"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// descriptors are those of all nodes and stripes.
func descriptors(t *testing.T, s *Shard) (all []*shardpb.StripeFieldDescriptor) {
	stored, err := s.file.Schema(t.Context())
	require.NoError(t, err)
	for id := range stored.IDCount() {
		for i := range s.file.NumStripes() {
			d, err := s.file.Stripe(i).Descriptor(t.Context(), id)
			require.NoError(t, err)
			all = append(all, d)
		}
	}
	return all
}

// numbersOfEncodings counts the nodes by the number of their encodings.
func numbersOfEncodings(t *testing.T, s *Shard) map[int]int {
	counts := map[int]int{}
	for _, d := range descriptors(t, s) {
		counts[len(d.Encodings)]++
	}
	return counts
}

// firstEncodings are the schema, and the statistics of nodes and the bytes of their first encodings.
func firstEncodings(t *testing.T, s *Shard) (all []string) {
	stored, err := s.file.Schema(t.Context())
	require.NoError(t, err)
	all = append(all, string(stored.Bytes()))
	for _, d := range descriptors(t, s) {
		all = append(all, d.Field.String())
		for _, b := range d.Encodings[0].GetNative().GetBuffers() {
			r, err := s.file.Artifact(t.Context(), "")
			require.NoError(t, err)
			at := b.Buffer.Range
			require.Zero(t, at.Start%container.Alignment)
			raw := make([]byte, at.End-at.Start)
			require.NoError(t, r.ReadAt(t.Context(), raw, int64(at.Start)))
			all = append(all, b.Kind.String(), string(raw))
		}
	}
	return all
}

// Shards with two encodings of each field have the values of both: they are read, verified and copied, whatever the pair of options. Those with an
// encoding of edition reference have everything but the second encodings as in that edition.
func TestAlternativesWritten(t *testing.T) {
	for i, o := range []WriterOptions{
		{Alternative: &Alternative{Edition: EditionReference}},
		{Edition: EditionReference, Alternative: &Alternative{Profile: encoding.MinimalSize}, NullsApart: true, OffsetsApart: true},
		{Profile: encoding.ProfilePlain, Alternative: &Alternative{Profile: encoding.HighCompression}},
		{Profile: encoding.MinimalSize, Alternative: &Alternative{Edition: EditionReference, Profile: encoding.ProfilePlain}, BlockValues: 8192},
		{Alternative: &Alternative{Profile: encoding.Balanced}, MemoryBytes: 1},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			g := arrowgen.New(uint64(i))
			g.Nulls = 0.2
			reference := o.Edition == EditionReference || o.Alternative.Edition == EditionReference
			g.Unions = !reference
			types := slices.DeleteFunc(arrowgen.Types(), func(dt arrow.DataType) bool {
				return reference && editionFor([]arrow.DataType{dt}, EditionReference) != EditionReference
			})
			for range 20 {
				types = append(types, g.Type(3))
			}
			data := randomTable(g, types, 1500)
			o.StripeRows = 1000
			store := storage.NewMemory()
			single := WriterOptions{Edition: EditionReference, Profile: o.Profile, StripeRows: o.StripeRows, BlockValues: o.BlockValues}
			if o.Edition != EditionReference {
				single.Profile = o.Alternative.Profile
			}
			o.Store, single.Store = store, store
			writeTable(t, "mem://x/s", data, o, 191)
			s, err := Open(t.Context(), "mem://x/s", OpenOptions{Store: store})
			require.NoError(t, err)
			defer s.Close()
			requireScan(t, s, data, ScanOptions{})
			requireLengths(t, s, data)
			alone := o
			alone.Alternative = nil
			writeTable(t, "mem://x/alone", data, alone, 191)
			p, err := Open(t.Context(), "mem://x/alone", OpenOptions{Store: store})
			require.NoError(t, err)
			defer p.Close()
			for i, column := range data.columns {
				e, err := filter.Parse(fmt.Sprintf("c%d is null", i))
				require.NoError(t, err)
				want, err := p.Count(t.Context(), e)
				require.NoError(t, err)
				n, err := s.Count(t.Context(), e)
				require.NoError(t, err)
				require.Equal(t, want, n, "%v", column.DataType())
			}
			rep, err := Verify(t.Context(), "mem://x/s", OpenOptions{Store: store}, provider.VerifyOptions{})
			require.NoError(t, err)
			require.True(t, rep.OK() && rep.Unchecked == 0, "%v %v", rep.Problems, rep.Notes)
			require.Empty(t, rep.Notes)
			counts := numbersOfEncodings(t, s)
			require.Subset(t, []int{1, 2}, slices.Collect(maps.Keys(counts)))
			properties, err := s.Properties(t.Context())
			require.NoError(t, err)
			if i == 4 { // twice the same bytes
				require.Zero(t, counts[2])
				require.NotContains(t, fmt.Sprint(properties.Standard), "alternatives")
				return
			}
			require.Greater(t, counts[2], 40, counts)
			require.Contains(t, fmt.Sprint(properties.Standard), "alternatives")
			require.NoError(t, Pack(t.Context(), "mem://x/copy", PackOptions{Store: store}, s))
			c, err := Open(t.Context(), "mem://x/copy", OpenOptions{Store: store})
			require.NoError(t, err)
			defer c.Close()
			require.Equal(t, counts, numbersOfEncodings(t, c))
			requireScan(t, c, data, ScanOptions{})
			if !reference {
				return
			}
			writeTable(t, "mem://x/single", data, single, 191)
			one, err := Open(t.Context(), "mem://x/single", OpenOptions{Store: store})
			require.NoError(t, err)
			defer one.Close()
			require.Equal(t, firstEncodings(t, one), firstEncodings(t, s))
		})
	}
}
