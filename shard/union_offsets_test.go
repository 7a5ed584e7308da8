package shard_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/filter"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/format/projection"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// addressedUnion has alternatives of numbers, fixed-size lists and texts, which are stored with offsets.
func addressedUnion(mode arrow.UnionMode) arrow.DataType {
	i64 := arrow.PrimitiveTypes.Int64
	return arrow.UnionOf(mode, []arrow.Field{
		{Name: "n", Type: i64, Nullable: true}, {Name: "f", Type: arrow.FixedSizeListOf(3, i64), Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
	}, []arrow.UnionTypeCode{4, 2, 7})
}

// unionShard is a shard of a column u.
func unionShard(t testing.TB, dt arrow.DataType, rows int, nulls float64, o shard.WriterOptions) (Kind, arrow.RecordBatch) {
	g := arrowgen.New(7)
	g.Nulls = nulls
	batch := g.Batch(arrow.NewSchema([]arrow.Field{{Name: "u", Type: dt, Nullable: true}}, nil), rows)
	return NewKind(t, "union", batch, o), batch
}

// readUnions scans a shard of one column.
func readUnions(t testing.TB, root []byte, o shard.ScanOptions) (arrow.Array, error) {
	s, err := shard.Open(t.Context(), Location, shard.OpenOptions{Store: OneFile(root)})
	require.NoError(t, err)
	defer s.Close()
	var parts []arrow.Array
	for b, err := range s.Scan(t.Context(), o) {
		if err != nil {
			return nil, err
		}
		b.Retain()
		parts = append(parts, b.Column(0))
	}
	if len(parts) == 0 {
		return nil, nil
	}
	return arrowutil.Concatenate(memory.DefaultAllocator, parts)
}

// Unions with fixed-size lists among their alternatives are stored with offsets, at any depth, and come back. Their bytes do not depend on
// batches.
func TestUnionsWithOffsets(t *testing.T) {
	for _, mode := range []arrow.UnionMode{arrow.DenseMode, arrow.SparseMode} {
		u := addressedUnion(mode)
		for name, dt := range map[string]arrow.DataType{
			"alone": u, "in lists": arrow.ListOf(u), "in fixed-size lists": arrow.FixedSizeListOf(2, u),
			"in structs": arrow.StructOf(arrow.Field{Name: "a", Type: u, Nullable: true}, arrow.Field{Name: "b", Type: u, Nullable: true}),
			"in unions":  arrow.UnionOf(mode, []arrow.Field{{Name: "a", Type: u, Nullable: true}, {Name: "b", Type: arrow.ListOf(u), Nullable: true}}, []arrow.UnionTypeCode{0, 1}),
		} {
			for profile := encoding.ProfilePlain; profile <= encoding.MinimalSize; profile++ {
				for _, nulls := range []float64{0, 0.3, 1} {
					t.Run(fmt.Sprint(mode, name, profile, nulls), func(t *testing.T) {
						o := shard.WriterOptions{Profile: profile, StripeRows: 700}
						k, batch := unionShard(t, dt, 1000, nulls, o)
						require.Contains(t, usedFeatures(t, k.Root), "union-offsets")
						got, err := readUnions(t, k.Root, shard.ScanOptions{BatchRows: 300})
						require.NoError(t, err)
						require.Equal(t, -1, arrowutil.Difference(batch.Column(0), got))
						report, err := shard.Verify(t.Context(), Location, shard.OpenOptions{Store: OneFile(k.Root)}, provider.VerifyOptions{})
						require.NoError(t, err)
						require.Empty(t, report.Problems)
						require.True(t, bytes.Equal(k.Root, inSlices(t, batch, o)), "other batches give other bytes")
						takeSome(t, k.Root, batch)
					})
				}
			}
		}
	}
}

func usedFeatures(t testing.TB, root []byte) string {
	s, err := shard.Open(t.Context(), Location, shard.OpenOptions{Store: OneFile(root)})
	require.NoError(t, err)
	defer s.Close()
	p, err := s.Properties(t.Context())
	require.NoError(t, err)
	return fmt.Sprint(p.Standard)
}

func inSlices(t testing.TB, batch arrow.RecordBatch, o shard.WriterOptions) []byte {
	store := storage.NewMemory()
	o.Store, o.CreationTime = store, Created
	w, err := shard.Create(t.Context(), Location, batch.Schema(), o)
	require.NoError(t, err)
	for from := int64(0); from < batch.NumRows(); {
		to := min(from+1+from%90, batch.NumRows())
		require.NoError(t, w.Write(t.Context(), batch.NewSlice(from, to)))
		from = to
	}
	require.NoError(t, w.Close(t.Context()))
	r, err := store.Open(t.Context(), Location)
	require.NoError(t, err)
	b, _, err := r.ReadSuffix(t.Context(), math.MaxInt32)
	require.NoError(t, err)
	return b
}

func takeSome(t testing.TB, root []byte, batch arrow.RecordBatch) {
	s, err := shard.Open(t.Context(), Location, shard.OpenOptions{Store: OneFile(root)})
	require.NoError(t, err)
	defer s.Close()
	rows := []int64{3, 999, 4, 4, 701, 12}
	got, err := s.Take(t.Context(), rows, shard.TakeOptions{})
	require.NoError(t, err)
	want, err := arrowutil.Take(memory.DefaultAllocator, batch.Column(0), rows)
	require.NoError(t, err)
	require.Equal(t, -1, arrowutil.Difference(want, got.Column(0)))
}

// Conditions on alternatives with positions of their own are true for the rows of a scan that they are true for, with all sources of facts and
// with any order of offsets.
func TestFilterUnionsWithOffsets(t *testing.T) {
	const rows = 20_000 // several pages of a range index
	for _, mode := range []arrow.UnionMode{arrow.DenseMode, arrow.SparseMode} {
		for _, nulls := range []float64{0, 0.3} {
			k, batch := unionShard(t, addressedUnion(mode), rows, nulls, shard.WriterOptions{})
			p, err := Split(k.Root)
			require.NoError(t, err)
			reversed := withOffsets(p, batch.Column(0), func(_ int, at, n uint64) uint64 { return n - 1 - at })
			for name, root := range map[string][]byte{"as written": k.Root, "in reverse": reversed} {
				all, err := readUnions(t, root, shard.ScanOptions{})
				require.NoError(t, err)
				if name == "as written" {
					require.Equal(t, -1, arrowutil.Difference(batch.Column(0), all))
				}
				report, err := shard.Verify(t.Context(), Location, shard.OpenOptions{Store: OneFile(root)}, provider.VerifyOptions{})
				require.NoError(t, err)
				require.Empty(t, report.Problems)
				whole := array.NewRecordBatch(batch.Schema(), []arrow.Array{all}, rows)
				for _, text := range []string{
					"u.n > 0", "u.n <= 0", "u.n is null", "u.n is not null", "u.s is null", "u.s >= 'm'", "u.s = 'x'", "u.f is null", "u.f is not null", "u is null", "u.n > 0 or u.s < 'c'",
					"length(u.s) > 3", "u.n = 5 or u.f is not null",
				} {
					e, err := filter.Parse(text)
					require.NoError(t, err)
					bound, err := filter.Bind(e, batch.Schema())
					require.NoError(t, err)
					bits, err := bound.Select(whole)
					require.NoError(t, err)
					indices := slices.Collect(rowset.FromBits(bits, 0, rows, 0).Rows())
					rowsOf, err := arrowutil.Take(memory.DefaultAllocator, all, indices)
					require.NoError(t, err)
					got, err := readUnions(t, root, shard.ScanOptions{Filter: e})
					require.NoError(t, err, text)
					if got == nil {
						require.Empty(t, indices, text)
						continue
					}
					require.Equal(t, -1, arrowutil.Difference(rowsOf, got), "%s, %s", text, name)
				}
				for _, column := range []string{"u.n", "u.f", "u.s"} {
					part, err := projection.New(batch.Schema(), []string{column})
					require.NoError(t, err)
					want, err := part.Of(whole)
					require.NoError(t, err)
					got, err := readUnions(t, root, shard.ScanOptions{Columns: []string{column}})
					require.NoError(t, err)
					require.Equal(t, -1, arrowutil.Difference(want.Column(0), got), column)
				}
			}
		}
	}
}

// withOffsets is a shard whose only column is a union, with other offsets: of each row one of the at'th of n values of its alternative.
func withOffsets(p *Parts, arr arrow.Array, of func(row int, at, n uint64) uint64) []byte {
	v := kinds.Open(arr)
	var counts [256]uint64
	offsets, parts := make([]uint64, arr.Len()), make([]int, arr.Len())
	for i := range offsets {
		parts[i], _ = v.Choice(i)
		offsets[i] = counts[parts[i]]
		counts[parts[i]]++
	}
	for i := range offsets {
		offsets[i] = of(i, offsets[i], counts[parts[i]])
	}
	b, one := buffer(p, 0, shardpb.BufferKind_OFFSETS), uint64(1)
	b.Desc.BlockCount = &one
	b.Blocks = []BlockPart{{N: len(offsets), Bytes: Numbers(offsets)}}
	root := p.Join()
	Mend(root)
	return root
}

// Offsets beyond an alternative, and numbers of alternatives that there are not, are corrupt data with their place. Offsets that repeat are
// read, as far as memory allows.
func TestDamagedUnionOffsets(t *testing.T) {
	const rows = 600
	for _, mode := range []arrow.UnionMode{arrow.DenseMode, arrow.SparseMode} {
		k, batch := unionShard(t, addressedUnion(mode), rows, 0.2, shard.WriterOptions{})
		parts := func() *Parts {
			p, err := Split(k.Root)
			require.NoError(t, err)
			return p
		}
		for name, beyond := range map[string]func(n uint64) uint64{
			"one beyond": func(n uint64) uint64 { return n }, "huge": func(uint64) uint64 { return math.MaxUint64 }, "as int64": func(uint64) uint64 { return math.MaxInt64 },
		} {
			root := withOffsets(parts(), batch.Column(0), func(row int, at, n uint64) uint64 {
				if row == 300 {
					return beyond(n)
				}
				return at
			})
			for _, columns := range [][]string{nil, {"u.n", "u.f", "u.s"}} {
				_, err := readUnions(t, root, shard.ScanOptions{Columns: columns})
				require.ErrorIs(t, err, shard.ErrCorrupt, name)
				require.ErrorContains(t, err, "at row 300 of those asked for")
				require.ErrorContains(t, err, `column "u"`)
			}
			report, err := shard.Verify(t.Context(), Location, shard.OpenOptions{Store: OneFile(root)}, provider.VerifyOptions{})
			require.NoError(t, err)
			require.NotEmpty(t, report.Problems)
		}
		p := parts()
		chosen := slices.Repeat([]uint8{3}, rows)
		buffer(p, 0, data).Blocks = []BlockPart{{N: rows, Bytes: Numbers(chosen)}}
		root := p.Join()
		Mend(root)
		_, err := readUnions(t, root, shard.ScanOptions{})
		require.ErrorIs(t, err, shard.ErrCorrupt)
		require.ErrorContains(t, err, "alternative 3 of a union of 3 at row 0")

		root = withOffsets(parts(), batch.Column(0), func(int, uint64, uint64) uint64 { return 0 })
		for _, limit := range []int64{0, 4000} {
			got, err := readUnions(t, root, shard.ScanOptions{MemoryLimit: limit})
			require.NoError(t, err)
			require.Equal(t, rows, got.Len())
			v, first := kinds.Open(got), map[int]arrow.Array{}
			for row := range rows {
				part, at := v.Choice(row)
				value := array.NewSlice(v.Parts[part], int64(at), int64(at)+1)
				if first[part] == nil {
					first[part] = value
				}
				require.True(t, array.Equal(first[part], value))
			}
		}
	}
}
