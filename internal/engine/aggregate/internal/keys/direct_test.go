package keys

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// keyTexts are dictionaries of two batches, with values in common.
var keyTexts = [2][]string{{"a", "b", "c"}, {"d", "b", "a", "e"}}

// randomKeys makes a column of keys around a number, and a comparable value for each row.
func randomKeys(r *rand.Rand, kind, rows int, center int64, nulls bool) (arrow.Array, []any) {
	var b array.Builder
	values := make([]any, rows)
	texts := keyTexts[r.IntN(2)]
	switch kind {
	case 0:
		b = array.NewInt64Builder(memory.DefaultAllocator)
	case 1:
		b = array.NewDate32Builder(memory.DefaultAllocator)
	case 2:
		b = array.NewDecimal128Builder(memory.DefaultAllocator, &arrow.Decimal128Type{Precision: 15, Scale: 2})
	default:
		b = array.NewUint32Builder(memory.DefaultAllocator)
	}
	defer b.Release()
	for i := range values {
		v := center + int64(r.IntN(50))
		if nulls && r.IntN(9) == 0 {
			b.AppendNull()
			continue
		}
		values[i] = v
		switch b := b.(type) {
		case *array.Int64Builder:
			b.Append(v)
		case *array.Date32Builder:
			values[i] = int64(int32(v))
			b.Append(arrow.Date32(v))
		case *array.Decimal128Builder:
			b.Append(decimal128.FromI64(v))
		case *array.Uint32Builder:
			code := r.IntN(len(texts))
			values[i] = texts[code]
			b.Append(uint32(code))
		}
	}
	arr := b.NewArray()
	if kind < 3 {
		return arr, values
	}
	s := array.NewStringBuilder(memory.DefaultAllocator)
	defer s.Release()
	s.AppendStringValues(texts, nil)
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.String}
	return array.NewDictionaryArray(dt, arr, s.NewArray()), values
}

// Keys get numbers in the order of their first appearance, whatever their kinds and ranges, and how these change. Once the keyer is
// full, unknown ones get None.
func TestKeyNumbers(t *testing.T) {
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Int64, arrow.FixedWidthTypes.Date32, &arrow.Decimal128Type{Precision: 15, Scale: 2},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.String},
	}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		kinds := []int{r.IntN(4), r.IntN(4)}[:1+r.IntN(2)]
		dts := make([]arrow.DataType, len(kinds))
		for i, k := range kinds {
			dts[i] = types[k]
		}
		k, err := New(memory.DefaultAllocator, dts, Options{Kept: len(kinds) != 2 || kinds[0] == 2 || kinds[1] == 2, Room: 1 << 20})
		require.NoError(t, err)
		known := map[[2]any]uint32{}
		centers := []int64{0, 40, 90, -300, 70_000, 1 << 40, math.MaxInt64 - 60, math.MinInt64, math.MaxInt64 - 49}[:4+r.IntN(6)]
		for batch := range 12 {
			k.Full = batch > 8
			rows := 1 + r.IntN(300)
			columns, values := make([]arrow.Array, len(kinds)), make([][]any, len(kinds))
			for i, kind := range kinds {
				columns[i], values[i] = randomKeys(r, kind, rows, centers[r.IntN(len(centers))], r.IntN(3) == 0)
			}
			got := make([]uint32, rows)
			// Keys are too far apart for words only together, and then they cannot be encoded without those so far.
			if err := k.Find(got, columns); err != nil {
				require.ErrorContains(t, err, "distinct values")
				break
			}
			for row, id := range got {
				key := [2]any{}
				for i := range kinds {
					key[i] = values[i][row]
				}
				want, ok := known[key]
				if !ok && !k.Full {
					want = uint32(len(known) + 1)
					known[key] = want
				}
				require.Equal(t, want, id, "seed %d, batch %d, row %d: %v", seed, batch, row, key)
			}
			for _, c := range columns {
				c.Release()
			}
		}
		k.Release()
	}
}

// A dictionary without a value of an index is an error.
func TestKeyWithoutEntry(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	text := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.String}
	for _, second := range []int{0, 3} {
		types := []arrow.DataType{text, arrow.PrimitiveTypes.Int64}
		if second == 3 {
			types[1] = text
		}
		k, err := New(memory.DefaultAllocator, types, Options{Room: 1 << 20})
		require.NoError(t, err)
		first, _ := randomKeys(r, 3, 100, 0, false)
		other, _ := randomKeys(r, second, 100, 0, false)
		require.NoError(t, k.Find(make([]uint32, 100), []arrow.Array{first, other}))
		arrow.Uint32Traits.CastFromBytes(first.Data().Buffers()[1].Bytes())[50] = 1 << 20
		require.ErrorIs(t, k.Find(make([]uint32, 100), []arrow.Array{first, other}), errNoEntry)
	}
}

// Keys keep their numbers when the keyer is full and a value needs more bits than words have.
func TestFullKeyerMeetsWideValues(t *testing.T) {
	dt := &arrow.Decimal128Type{Precision: 38, Scale: 0}
	keys := func(values ...decimal128.Num) arrow.Array {
		b := array.NewDecimal128Builder(memory.DefaultAllocator, dt)
		defer b.Release()
		b.AppendValues(values, nil)
		return b.NewArray()
	}
	k, err := New(memory.DefaultAllocator, []arrow.DataType{dt}, Options{Kept: true, Room: 1 << 20})
	require.NoError(t, err)
	defer k.Release()
	out := make([]uint32, 3)
	require.NoError(t, k.Find(out, []arrow.Array{keys(decimal128.FromI64(5), decimal128.FromI64(-7), decimal128.FromI64(5))}))
	require.Equal(t, []uint32{1, 2, 1}, out)
	k.Full = true
	require.NoError(t, k.Find(out, []arrow.Array{keys(decimal128.New(1<<60, 3), decimal128.FromI64(-7), decimal128.FromI64(5))}))
	require.Equal(t, []uint32{None, 2, 1}, out)
}
