package shard

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/golden"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/storage"
)

// bytesStore is a store of one artifact, without copies.
type bytesStore struct {
	storage.Store
	b []byte
}

func (s bytesStore) Open(context.Context, string) (storage.Reader, error) {
	return storage.FromBytes("census", s.b), nil
}

// readBatches is all data of a shard.
func readBatches(b []byte) ([]arrow.RecordBatch, error) {
	ctx := context.Background()
	s, err := Open(ctx, "mem://x/census", OpenOptions{Store: bytesStore{b: b}, Types: rawTypes})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var out []arrow.RecordBatch
	for batch, err := range s.Scan(ctx, ScanOptions{Parallelism: 1}) {
		if err != nil {
			return nil, err
		}
		batch.Retain()
		out = append(out, batch)
	}
	return out, nil
}

func sameBatches(a, b []arrow.RecordBatch) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Schema().Equal(b[i].Schema()) || a[i].NumRows() != b[i].NumRows() {
			return false
		}
		for c := range a[i].Columns() {
			if arrowutil.Difference(a[i].Column(c), b[i].Column(c)) >= 0 {
				return false
			}
		}
	}
	return true
}

// census counts the effects of flips and cuts of one shard.
type census struct{ failed, same, other int }

func (c *census) try(b []byte, want []arrow.RecordBatch) error {
	got, err := readBatches(b)
	switch {
	case err != nil && !fault.Is(err):
		return fmt.Errorf("unexpected kind of error: %w", err)
	case err != nil:
		c.failed++
	case sameBatches(want, got):
		c.same++
	default:
		c.other++
		return fmt.Errorf("other data")
	}
	return nil
}

// smallShards returns shards with a few rows of each type, with profiles that lead to different encodings.
func smallShards(t *testing.T) map[string][]byte {
	out := map[string][]byte{}
	for _, group := range smallGroups() {
		for _, e := range []edition.Edition{edition.Reference, edition.E2026} {
			for _, p := range []encoding.Profile{encoding.Balanced, encoding.MinimalSize} {
				out[fmt.Sprintf("ours %v %v %v", group, e, p)] = smallShard(t, group, WriterOptions{Edition: e, Profile: p})
			}
		}
		out[fmt.Sprintf("ours %v packed", group)] = smallShard(t, append(group, arrow.PrimitiveTypes.Int16, arrow.BinaryTypes.LargeString), WriterOptions{Packed: [][]string{{"*"}}})
		out[fmt.Sprintf("ours %v apart", group)] = smallShard(t, group, WriterOptions{NullsApart: true, OffsetsApart: true})
	}
	addressed := arrow.DenseUnionOf([]arrow.Field{
		{Name: "f", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int16), Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
	}, []arrow.UnionTypeCode{0, 1})
	out["ours offsets of a union apart"] = smallShard(t, []arrow.DataType{addressed}, WriterOptions{})
	for _, g := range golden.Shards(t) {
		b, err := os.ReadFile(g.Path(t))
		require.NoError(t, err)
		if len(b) < 12<<10 && g.Layout == "SingleFile" {
			out[g.File] = b
		}
	}
	return out
}

// smallShard is a shard of a few rows in two stripes.
func smallShard(t testing.TB, types []arrow.DataType, o WriterOptions) []byte {
	o.StripeRows = 6
	return smallShardOf(t, types, 9, o)
}

// smallShardOf is a shard of random rows.
func smallShardOf(t testing.TB, types []arrow.DataType, rows int, o WriterOptions) []byte {
	store := storage.NewMemory()
	o.Store, o.CreationTime = store, created
	g := arrowgen.New(uint64(len(types)))
	g.Nulls = 0.3
	writeTable(t, "mem://x/small", randomTable(g, types, rows), o, rows)
	r, err := store.Open(context.Background(), "mem://x/small")
	require.NoError(t, err)
	b, _, err := r.ReadSuffix(context.Background(), 1<<30)
	require.NoError(t, err)
	return bytes.Clone(b)
}

func smallGroups() [][]arrow.DataType {
	return [][]arrow.DataType{
		{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64},
		{arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean},
		{arrow.ListOf(arrow.PrimitiveTypes.Int16)},
		{&arrow.Decimal128Type{Precision: 20, Scale: 3}, arrow.FixedWidthTypes.Date32},
		{arrow.StructOf(arrow.Field{Name: "a", Type: &arrow.FixedSizeBinaryType{ByteWidth: 3}, Nullable: true})},
		{arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8)},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}},
	}
}

// TestFlipAndCut flips bits of small shards and cuts them. Reading all data must give an error or the same data,
// never other data. AMUDAI_CENSUS=all flips every bit. A sweep flips one bit of every byte, a different one in
// each shard. Other runs do so for every 13th byte.
func TestFlipAndCut(t *testing.T) {
	all := os.Getenv("AMUDAI_CENSUS") == "all"
	step := sweep.Step(13)
	if all {
		step = 1
	}
	for name, b := range smallShards(t) {
		t.Run(name, func(t *testing.T) {
			want, err := readBatches(b)
			require.NoError(t, err)
			start := time.Now()
			var flips, cuts census
			for i := 0; i < len(b); i += step {
				for bit := range 8 {
					if !all && bit != (i+len(name))%8 {
						continue
					}
					b[i] ^= 1 << bit
					if err := flips.try(b, want); err != nil {
						t.Errorf("bit %d of byte %d of %d: %v", bit, i, len(b), err)
					}
					b[i] ^= 1 << bit
				}
			}
			for n := 0; n < len(b); n++ {
				if all || n%(step*5) == 0 {
					if err := cuts.try(b[:n], want); err != nil {
						t.Errorf("cut at %d of %d: %v", n, len(b), err)
					}
				}
			}
			t.Logf("%d bytes: flips %+v, cuts %+v, %v", len(b), flips, cuts, time.Since(start).Round(time.Millisecond))
		})
	}
}

// incompressible is a table of random integers and strings, with a few nulls.
func incompressible(rng *rand.Rand, rows int) table {
	data := numbered(rows, 1)
	ints, texts := array.NewInt64Builder(memory.DefaultAllocator), array.NewStringBuilder(memory.DefaultAllocator)
	for range rows {
		if rng.IntN(50) == 0 {
			ints.AppendNull()
			texts.AppendNull()
			continue
		}
		v := rng.Uint64()
		ints.Append(int64(v))
		texts.Append(fmt.Sprintf("%x %x", v*v, rng.Uint64()))
	}
	data.columns = append(data.columns, ints.NewArray(), texts.NewArray())
	data.schema = arrow.NewSchema([]arrow.Field{
		data.schema.Field(0), {Name: "i", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	return data
}

// TestFlipLarge flips random bits of a shard of about 5 MB, one at a time. The result is an error or the same
// data. AMUDAI_CENSUS=all flips 10,000 bits.
func TestFlipLarge(t *testing.T) {
	flips := sweep.Count(60, 500)
	if os.Getenv("AMUDAI_CENSUS") == "all" {
		flips = 10_000
	}
	store := storage.NewMemory()
	rng := rand.New(rand.NewPCG(1, uint64(flips)))
	data := incompressible(rng, 200_000)
	writeTable(t, "mem://x/large", data, WriterOptions{Store: store, StripeRows: 50_000, CreationTime: created}, 25_000)
	r, err := store.Open(context.Background(), "mem://x/large")
	require.NoError(t, err)
	b, _, err := r.ReadSuffix(context.Background(), 1<<30)
	require.NoError(t, err)
	b = bytes.Clone(b)
	want, err := readBatches(b)
	require.NoError(t, err)
	var c census
	for range flips {
		i, bit := rng.IntN(len(b)), rng.IntN(8)
		b[i] ^= 1 << bit
		if err := c.try(b, want); err != nil {
			t.Errorf("bit %d of byte %d of %d: %v", bit, i, len(b), err)
		}
		b[i] ^= 1 << bit
	}
	t.Logf("%d bytes: %+v", len(b), c)
}
