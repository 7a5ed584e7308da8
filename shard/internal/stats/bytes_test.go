package stats

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/encoding/bytestring"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/hll"
	"github.com/amudai/amudai-go/sbbf"
)

func genStrings(t *rapid.T, fixed int) bytestring.Values {
	n := rapid.IntRange(0, 1300).Draw(t, "n")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	distinct := rapid.SampledFrom([]int{1, 2, 50, 5000}).Draw(t, "distinct")
	length := rapid.SampledFrom([]int{1, 20, 127, 130}).Draw(t, "length")
	v := bytestring.Values{N: n, Fixed: fixed}
	if fixed == 0 {
		v.Offsets = []int64{0}
	}
	for range n {
		s := fmt.Sprint(r.IntN(distinct))
		if r.IntN(50) == 0 && distinct > 1 {
			s += "é"
		}
		if fixed > 0 {
			s = fmt.Sprintf("%-*.*s", fixed, fixed, s)
			v.Data = append(v.Data, s[:fixed]...)
			continue
		}
		if length > 20 {
			s += string(bytes.Repeat([]byte("x"), length))
		}
		v.Data = append(v.Data, s...)
		v.Offsets = append(v.Offsets, int64(len(v.Data)))
	}
	return v
}

// Values one by one, and values counted by a dictionary, have the same statistics.
func TestBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fixed := rapid.SampledFrom([]int{0, 0, 16}).Draw(t, "fixed")
		v := genStrings(t, fixed)
		valid := genValid(t, v.N)
		o := BytesOptions{String: rapid.Bool().Draw(t, "string"), NoFilter: rapid.Bool().Draw(t, "no filter")}
		c, d := NewBytes(o), NewBytes(o)
		inParts(t, v.N, func(from, to int) { c.Add(v.Slice(from, to), valid.Slice(from, to)) })

		dictionary := map[string]int64{}
		var order []string
		f := &shardpb.FieldDescriptor{}
		total, ascii := 0, 0
		for i := range v.N {
			if !valid.At(i) {
				d.AddNulls(1)
				continue
			}
			s := string(v.At(i))
			if dictionary[s]++; dictionary[s] == 1 {
				order = append(order, s)
			}
			total += len(s)
			if !bytes.ContainsRune([]byte(s), 'é') {
				ascii++
			}
		}
		for _, s := range order {
			d.AddRepeated([]byte(s), dictionary[s])
		}
		g := &shardpb.FieldDescriptor{}
		c.Fill(f)
		d.Fill(g)
		require.True(t, proto.Equal(f, g), "%v\n%v", f, g)

		require.Equal(t, len(dictionary) > 0, f.Cardinality != nil)
		require.Equal(t, len(dictionary) > 0 && len(dictionary) <= 1024 && !o.NoFilter, f.MembershipFilters != nil)
		if o.String {
			require.EqualValues(t, ascii, f.GetStringStats().GetAsciiCount())
		}
		if filter := f.MembershipFilters.GetSbbf(); filter != nil {
			require.EqualValues(t, len(dictionary), filter.NumValues)
			ask, ok := sbbf.Open(filter.HashAlgorithm, filter.HashSeed, filter.Data)
			require.True(t, ok)
			for s := range dictionary {
				require.True(t, ask.MayContain([]byte(s)))
			}
		}
		if f.Cardinality != nil {
			s, err := hll.Parse(f.Cardinality.HllSketch.BitsPerIndex, f.Cardinality.HllSketch.Counters)
			require.NoError(t, err)
			require.Equal(t, s.Estimate(), f.Cardinality.GetCount())
		}
		nulls := valid.Nulls()
		switch {
		case v.N == 0:
			require.Nil(t, f.ConstantValue)
		case nulls == v.N:
			require.NotNil(t, f.ConstantValue.GetNullValue())
		default:
			require.Equal(t, nulls == 0 && len(dictionary) == 1 && len(order[0]) <= 128, f.ConstantValue != nil)
		}
		if nulls == 0 || nulls == v.N {
			require.EqualValues(t, total, f.GetRawDataSize())
		} else {
			require.EqualValues(t, total+(v.N+7)/8, f.GetRawDataSize())
		}
	})
}

// All values are within the bounds, which are short, valid, and exact where possible.
func TestBytesRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		isString := rapid.Bool().Draw(t, "string")
		gen := rapid.SliceOfN(rapid.ByteRange(0xfe, 0xff), 0, 70)
		if isString {
			runes := rapid.SampledFrom([]rune{0, 'a', 'b', 0xd7ff, 0xe000, 0x10ffff, 0x10fffe, 0xfffd})
			gen = rapid.Map(rapid.SliceOfN(runes, 0, 70), func(r []rune) []byte { return []byte(string(r)) })
			if rapid.IntRange(0, 9).Draw(t, "invalid") == 0 {
				gen = rapid.SliceOfN(rapid.Byte(), 0, 70)
			}
		}
		prefix := bytes.Repeat([]byte{'a'}, rapid.SampledFrom([]int{0, 7, 60, 63, 64}).Draw(t, "prefix"))
		c := NewBytes(BytesOptions{String: isString, Bound: StoredBound})
		values := rapid.SliceOfN(gen, 0, 12).Draw(t, "values")
		valid := true
		for i := range values {
			values[i] = append(bytes.Clone(prefix), values[i]...)
			valid = valid && utf8.Valid(values[i])
			c.AddRepeated(values[i], 1)
		}
		f := &shardpb.FieldDescriptor{}
		c.Fill(f)
		_, err := proto.Marshal(f)
		require.NoError(t, err)
		if len(values) == 0 {
			require.True(t, proto.Equal(rangeOf(nil, nil), f.RangeStats))
			return
		}
		if f.RangeStats == nil {
			require.True(t, !valid || bytes.Contains(slices.MaxFunc(values, bytes.Compare), []byte(string(rune(0x10ffff)))) ||
				bytes.Equal(slices.MaxFunc(values, bytes.Compare)[:1], []byte{0xff}))
			return
		}
		bound := func(v *commonpb.AnyValue) []byte {
			if isString {
				return []byte(v.GetStringValue())
			}
			return v.GetBytesValue()
		}
		lo, hi := bound(f.RangeStats.MinValue), bound(f.RangeStats.MaxValue)
		require.LessOrEqual(t, max(len(lo), len(hi)), StoredBound)
		least, greatest := slices.MinFunc(values, bytes.Compare), slices.MaxFunc(values, bytes.Compare)
		if f.RangeStats.MinInclusive {
			require.True(t, bytes.Equal(least, lo))
		} else {
			require.Negative(t, bytes.Compare(lo, least))
		}
		if f.RangeStats.MaxInclusive {
			require.True(t, bytes.Equal(greatest, hi))
		} else {
			require.Positive(t, bytes.Compare(hi, greatest))
		}
	})
}

// The character after U+007F is longer: an upper bound that ends in it must not grow beyond StoredBound.
func TestBytesRangeOfLongerSuccessor(t *testing.T) {
	for _, last := range []rune{0x7f, 0x7ff, 0xffff} {
		end := string(last)
		value := strings.Repeat("a", StoredBound-len(end)) + end + "a"
		c := NewBytes(BytesOptions{String: true, Bound: StoredBound})
		c.AddRepeated([]byte(value), 1)
		f := &shardpb.FieldDescriptor{}
		c.Fill(f)
		require.Equal(t, strings.Repeat("a", StoredBound-len(end)-1)+"b", f.RangeStats.MaxValue.GetStringValue())
	}
}

func TestStringConstantOfInvalidUTF8(t *testing.T) {
	for _, isString := range []bool{true, false} {
		c := NewBytes(BytesOptions{String: isString})
		c.AddRepeated([]byte{0xff}, 3)
		f := &shardpb.FieldDescriptor{}
		c.Fill(f)
		require.Equal(t, isString, f.ConstantValue == nil)
		_, err := proto.Marshal(f)
		require.NoError(t, err)
	}
}
