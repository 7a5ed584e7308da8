package stats_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/encoding/bytestring"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/bitmap"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/internal/testing/goldenwalk"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/shard/internal/stats"
)

// differs lists the nodes for which the reference's statistics differ from ours, with the reason.
var differs = map[string]string{
	"constant": "the reference makes a constant of values that are not the same bits: NaNs, 0 and -0, 1.0 and 1.00 among them",
}

// The statistics of every node of every golden shard, computed from the input of the reference, equal the stored ones
// bit for bit, including sketches and filters.
func TestGoldenStatistics(t *testing.T) {
	nodes, filters, sketches := 0, 0, 0
	known := map[string]int{}
	goldenwalk.Walk(t, func(n *goldenwalk.Node) {
		c := collect(t, n)
		if c == nil {
			return
		}
		got := &shardpb.FieldDescriptor{}
		c.Fill(got)
		want := proto.CloneOf(n.Desc.Field)
		want.DictionarySize, want.CustomProperties = nil, nil
		if want.ConstantValue != nil && got.ConstantValue == nil && (got.GetFloatingStats() != nil || got.GetDecimalStats() != nil) {
			known["constant"]++
			want.ConstantValue = nil
		}
		sameZeros(got.RangeStats, want.RangeStats)
		require.True(t, proto.Equal(want, got), "%s stripe %d %s %s\nreference %v\nours      %v", n.File, n.Stripe, n.Path, n.Type, want, got)
		nodes++
		if want.Cardinality != nil {
			sketches++
		}
		if want.MembershipFilters != nil {
			filters++
		}
	})
	if testdata.AllGoldens(t) {
		require.Greater(t, nodes, 2500)
	}
	t.Logf("%d nodes equal, %d with a sketch, %d with a filter", nodes, sketches, filters)
	for k, n := range known {
		t.Logf("%d differ: %s", n, differs[k])
	}
}

// sameZeros makes bounds of 0 and -0 equal, because the reference keeps the first of them.
func sameZeros(a, b *shardpb.RangeStats) {
	if a == nil || b == nil {
		return
	}
	if a.MinValue.GetDoubleValue() == 0 && b.MinValue.GetDoubleValue() == 0 {
		a.MinValue = b.MinValue
	}
	if a.MaxValue.GetDoubleValue() == 0 && b.MaxValue.GetDoubleValue() == 0 {
		a.MaxValue = b.MaxValue
	}
}

func validity(a arrow.Array) bitmap.Bits {
	if a.NullN() == 0 {
		return bitmap.All(a.Len())
	}
	return bitmap.Bits{Data: a.NullBitmapBytes(), Off: a.Data().Offset(), Len: a.Len()}
}

// parts adds n positions in two parts, as a writer does with batches.
func parts(n int, add func(from, to int)) {
	add(0, n/3)
	add(n/3, n)
}

// collect adds the values of a node to its collector. It returns nil for types without statistics.
func collect(t *testing.T, n *goldenwalk.Node) stats.Collector {
	valid := validity(n.Values)
	switch a := n.Values.(type) {
	case *array.Int8:
		return feed(&stats.Numeric[int8]{}, a.Int8Values(), valid)
	case *array.Int16:
		return feed(&stats.Numeric[int16]{}, a.Int16Values(), valid)
	case *array.Int32:
		return feed(&stats.Numeric[int32]{}, a.Int32Values(), valid)
	case *array.Int64:
		return feed(&stats.Numeric[int64]{}, a.Int64Values(), valid)
	case *array.Uint8:
		return feed(&stats.Numeric[uint8]{}, a.Uint8Values(), valid)
	case *array.Uint16:
		return feed(&stats.Numeric[uint16]{}, a.Uint16Values(), valid)
	case *array.Uint32:
		return feed(&stats.Numeric[uint32]{}, a.Uint32Values(), valid)
	case *array.Uint64:
		return feed(&stats.Numeric[uint64]{}, a.Uint64Values(), valid)
	case *array.Timestamp, *array.Date32, *array.Date64:
		return feed(&stats.Numeric[uint64]{}, ticks(a, valid), valid)
	case *array.Float32:
		return feed(&stats.Float[float32]{}, a.Float32Values(), valid)
	case *array.Float64:
		return feed(&stats.Float[float64]{}, a.Float64Values(), valid)
	case *array.Boolean:
		c := &stats.Bool{}
		bits := bitmap.Bits{Data: make([]byte, (a.Len()+7)/8), Len: a.Len()}
		for i := range a.Len() {
			if a.Value(i) {
				bitmap.SetRange(bits.Data, i, 1)
			}
		}
		parts(a.Len(), func(from, to int) { c.Add(bits.Slice(from, to), valid.Slice(from, to)) })
		return c
	case *array.Struct, *array.FixedSizeList:
		c := &stats.Presence{}
		parts(a.Len(), func(from, to int) { c.Add(valid.Slice(from, to)) })
		return c
	case array.ListLike:
		c := &stats.List{}
		offsets := make([]uint64, a.Len()+1)
		for i := range a.Len() {
			lo, hi := a.ValueOffsets(i)
			offsets[i], offsets[i+1] = uint64(lo), uint64(hi)
		}
		parts(a.Len(), func(from, to int) { c.Add(offsets[from:to+1], valid.Slice(from, to)) })
		return c
	}
	if strings.HasSuffix(n.Type, "[KustoDecimal]") {
		return feed(&stats.Decimal{}, decimals(t, n.Values), valid)
	}
	return collectBytes(t, n, valid)
}

type adder[T any] interface {
	stats.Collector
	Add(values []T, valid bitmap.Bits)
}

func feed[T any](c adder[T], values []T, valid bitmap.Bits) stats.Collector {
	parts(len(values), func(from, to int) { c.Add(values[from:to], valid.Slice(from, to)) })
	return c
}

func collectBytes(t *testing.T, n *goldenwalk.Node, valid bitmap.Bits) stats.Collector {
	base, _, _ := strings.Cut(n.Type, "(")
	base, _, _ = strings.Cut(base, "[")
	require.Contains(t, []string{"String", "Binary", "FixedSizeBinary", "Guid"}, base, n.Type)
	c := stats.NewBytes(stats.BytesOptions{String: base == "String", NoFilter: n.Profile == "Plain" && base != "Guid"})
	v := bytestring.Values{N: n.Values.Len(), Offsets: []int64{0}}
	for i := range v.N {
		if n.Values.IsValid(i) {
			v.Data = append(v.Data, valueBytes(t, n.Values, i)...)
		}
		v.Offsets = append(v.Offsets, int64(len(v.Data)))
	}
	parts(v.N, func(from, to int) { c.Add(v.Slice(from, to), valid.Slice(from, to)) })
	return c
}

func valueBytes(t *testing.T, a arrow.Array, i int) []byte {
	switch a := a.(type) {
	case interface{ Value(int) string }:
		return []byte(a.Value(i))
	case interface{ Value(int) []byte }:
		return a.Value(i)
	}
	t.Fatalf("bytes of %T", a)
	return nil
}

// ticks are 100 ns since 0001-01-01. A remainder is dropped, and earlier times are null.
func ticks(a arrow.Array, valid bitmap.Bits) []uint64 {
	const epoch = 621355968000000000
	out := make([]uint64, a.Len())
	for i := range out {
		if !valid.At(i) {
			continue
		}
		switch a := a.(type) {
		case *array.Date32:
			out[i] = uint64(int64(a.Value(i))*864000000000 + epoch)
		case *array.Date64:
			out[i] = uint64(int64(a.Value(i))*10000 + epoch)
		case *array.Timestamp:
			v := int64(a.Value(i))
			switch a.DataType().(*arrow.TimestampType).Unit {
			case arrow.Second:
				v *= 10_000_000
			case arrow.Millisecond:
				v *= 10_000
			case arrow.Microsecond:
				v *= 10
			default:
				v /= 100
			}
			out[i] = uint64(v + epoch)
		}
	}
	return out
}

// decimals converts numbers to the stored decimals of the reference.
func decimals(t *testing.T, a arrow.Array) []decimal.Decimal {
	out := make([]decimal.Decimal, a.Len())
	for i := range out {
		if a.IsNull(i) {
			continue
		}
		switch a := a.(type) {
		case *array.FixedSizeBinary:
			copy(out[i][:], a.Value(i))
		case *array.Decimal128:
			out[i] = reduced(t, a.Value(i).BigInt(), int(a.DataType().(*arrow.Decimal128Type).Scale))
		case *array.Decimal256:
			out[i] = reduced(t, a.Value(i).BigInt(), int(a.DataType().(*arrow.Decimal256Type).Scale))
		default:
			t.Fatalf("decimals of %T", a)
		}
	}
	return out
}

func reduced(t *testing.T, v *big.Int, scale int) decimal.Decimal {
	if scale < 0 {
		v.Mul(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-scale)), nil))
		scale = 0
	}
	// The reference rounds to 34 digits, half to even.
	ten := big.NewInt(10)
	for limit := new(big.Int).Exp(ten, big.NewInt(34), nil); v.CmpAbs(limit) >= 0; scale-- {
		drop := len(new(big.Int).Abs(v).String()) - 34
		unit := new(big.Int).Exp(ten, big.NewInt(int64(drop)), nil)
		q, r := new(big.Int).QuoRem(v, unit, new(big.Int))
		twice := new(big.Int).Abs(new(big.Int).Lsh(r, 1))
		if c := twice.Cmp(unit); c > 0 || c == 0 && q.Bit(0) == 1 {
			q.Add(q, big.NewInt(int64(v.Sign())))
		}
		v = q
		scale -= drop - 1
	}
	abs := new(big.Int).Abs(v)
	d, ok := decimal.FromCoefficient(v.Sign() < 0, new(big.Int).Rsh(abs, 64).Uint64(), abs.Uint64(), -scale)
	require.True(t, ok)
	return d.Reduce()
}

// Merging the stripes of each golden shard gives the descriptors of the shard.
func TestGoldenMerge(t *testing.T) {
	fields := 0
	for _, s := range goldenwalk.Shards(t) {
		shardFields, stripes := s.Fields(), s.Stripes()
		for id, want := range shardFields {
			var got *shardpb.FieldDescriptor
			seen := false
			for _, stripe := range stripes {
				if id < len(stripe) && stripe[id] != nil {
					seen = true
					got = stats.Merge(got, stripe[id].Field)
				}
			}
			require.Equal(t, want != nil, seen)
			if got == nil && seen {
				got = &shardpb.FieldDescriptor{}
			}
			require.True(t, proto.Equal(want, got), "%s field %d\nreference %v\nours      %v", s.File, id, want, got)
			fields++
		}
	}
	if testdata.AllGoldens(t) {
		require.Greater(t, fields, 2300)
	}
	t.Logf("%d fields equal", fields)
}
