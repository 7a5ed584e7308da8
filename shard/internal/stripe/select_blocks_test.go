package stripe_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
)

// eachNullable opens columns of 6,000 values of a type with some, no and many nulls. It also passes their physical
// arrays.
func eachNullable(t *testing.T, dt arrow.DataType, seed uint64, f func(c *testColumn, all arrow.Array, r *rand.Rand)) {
	ctx := context.Background()
	for i, e := range []edition.Edition{edition.Reference, edition.E2026, edition.E2026} {
		s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: dt, Nullable: true}}, nil)
		g := arrowgen.New(uint64(i))
		g.Nulls = []float64{0.1, 0, 0.9}[i]
		a, columns := writeStripe(t, s, []arrow.RecordBatch{g.Batch(s, 3000), g.Batch(s, 3000)}, write.Options{Encoding: encoding.Options{Features: e.Features()}})
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		physical, _ := stripe.Physical(columns[0])
		c, err := openColumn(ctx, a, physical, mem)
		require.NoError(t, err)
		all, err := c.Read(ctx, 0, 6000)
		require.NoError(t, err)
		f(c, all, rand.New(rand.NewPCG(uint64(i), seed)))
		all.Release()
		mem.AssertSize(t, 0)
	}
}

// requireSet compares rows with a set.
func requireSet(t *testing.T, want []int64, got rowset.Set, what ...any) {
	t.Helper()
	require.Equal(t, want, slices.Collect(got.Rows()), what...)
}

// oddly is true for values whose text has an odd sum of bytes.
func oddly(arr arrow.Array, i int) bool {
	if arr.IsNull(i) {
		return false
	}
	sum := 0
	for _, b := range []byte(arr.ValueStr(i)) {
		sum += int(b)
	}
	return sum%2 == 1
}

// FindInBlocks returns the rows for which the condition is true when they are read.
func TestSelectBlocks(t *testing.T) {
	ctx := context.Background()
	for k, dt := range []arrow.DataType{
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, &arrow.FixedSizeBinaryType{ByteWidth: 5}, arrow.BinaryTypes.StringView,
	} {
		eachNullable(t, dt, uint64(k), func(c *testColumn, all arrow.Array, r *rand.Rand) {
			for _, chance := range []float64{0, 0.001, 0.05, 0.9, 1} {
				set, rows := randomRows(r, 6000, chance, 40)
				var want []int64
				for _, i := range rows {
					if oddly(all, int(i)) {
						want = append(want, i)
					}
				}
				got, ok, err := c.FindInBlocks(ctx, set, func(_ []byte, values arrow.Array) ([]byte, error) {
					require.True(t, arrow.TypeEqual(all.DataType(), values.DataType()))
					dst := make([]byte, (values.Len()+63)/64*8)
					for i := range values.Len() {
						if oddly(values, i) {
							dst[i/8] |= 1 << (i % 8)
						}
					}
					return dst, nil
				}, table.Required{})
				require.NoError(t, err)
				require.True(t, ok)
				requireSet(t, want, got)
			}
		})
	}
}

// If all matches of a condition contain some text, only strings that may contain this text are decoded, in strings
// with numbers, too.
func TestSelectBlocksContaining(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(1, 2))
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	var lines []string
	for i := range 10_000 {
		line := fmt.Sprintf("%d done by %d", r.IntN(100), i)
		if i%3 == 0 {
			line = fmt.Sprintf("task-%04d took %d ms", i, r.IntN(5000))
		}
		if lines = append(lines, line); i%50 == 7 {
			lines[i] = ""
			b.AppendNull()
			continue
		}
		b.Append(line)
	}
	arr := b.NewArray()
	s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	a, columns := writeStripe(t, s, []arrow.RecordBatch{array.NewRecordBatch(s, []arrow.Array{arr}, int64(len(lines)))},
		write.Options{Encoding: encoding.Options{Features: edition.E2026.Features()}})
	physical, _ := stripe.Physical(columns[0])
	c, err := openColumn(ctx, a, physical, nil)
	require.NoError(t, err)
	for _, part := range []string{"task-0303", "3 ms", "77", "task-", " by 41", "nowhere", "0", ""} {
		for _, chance := range []float64{1, 0.5, 0.01} {
			set, rows := randomRows(r, int64(len(lines)), chance, 40)
			var want []int64
			for _, i := range rows {
				if part != "" && strings.Contains(lines[i], part) {
					want = append(want, i)
				}
			}
			seen := 0
			got, ok, err := c.FindInBlocks(ctx, set, func(_ []byte, values arrow.Array) ([]byte, error) {
				seen += values.Len()
				dst := make([]byte, (values.Len()+63)/64*8)
				for i := range values.Len() {
					if part != "" && strings.Contains(values.ValueStr(i), part) && values.IsValid(i) {
						dst[i/8] |= 1 << (i % 8)
					}
				}
				return dst, nil
			}, table.Required{Parts: [][]byte{[]byte(part), nil}})
			require.NoError(t, err)
			require.True(t, ok)
			requireSet(t, want, got, part)
			if strings.HasPrefix(part, "task-") {
				require.LessOrEqual(t, 2*seen, len(rows), part)
			}
		}
	}
}
