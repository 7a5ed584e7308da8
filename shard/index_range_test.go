package shard

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
)

var rangeIndexes = []IndexDefinition{{Type: RangeIndex, Columns: []string{"key", "session"}}, {Type: RangeIndex, Columns: []string{"who.host"}}}

// writeKeys writes a shard with a sorted column of strings, a clustered one, and one in no order, which is in a struct.
func writeKeys(t testing.TB, location string, rows int) {
	who := arrow.StructOf(arrow.Field{Name: "host", Type: arrow.BinaryTypes.String, Nullable: true})
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "key", Type: arrow.BinaryTypes.String}, {Name: "session", Type: arrow.BinaryTypes.StringView, Nullable: true}, {Name: "who", Type: who, Nullable: true},
	}, nil))
	defer b.Release()
	r := rand.New(rand.NewPCG(1, 2))
	host := b.Field(2).(*array.StructBuilder)
	for i := range rows {
		b.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("2026-%02d-%02d/req-%012d-%06x", 1+i/1_400_000, 1+i/50_000%28, 7*i, r.Uint32()>>8))
		if i/2000%5 == 4 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.StringViewBuilder).Append(fmt.Sprintf("sess-%08x-%04x", uint32(i/2000)^5, r.Uint32()>>16))
		}
		if i%10_000 < 2000 {
			host.AppendNull()
		} else {
			host.Append(true)
			host.FieldBuilder(0).(*array.StringBuilder).Append(fmt.Sprintf("host-%09d", r.IntN(200_000)*4999))
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	w, err := Create(t.Context(), location, batch.Schema(), WriterOptions{Layout: TwoLevel, StripeRows: 900_000})
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), batch))
	require.NoError(t, w.Close(t.Context()))
	require.NoError(t, AddIndex(t.Context(), location, EditOptions{}, rangeIndexes...))
}

// rangeQuestions are conditions with the most rows that an index may leave of 20,000.
var rangeQuestions = map[string]int64{
	"key = '2026-01-01/req-000000070007-123456'":                                  512,
	"key starts with '2026-01-01/req-0000000'":                                    14_592,
	"key < '2026-01-01/req-000000007' or key > '2026-01-01/req-00000013'":         4096,
	"key between '2026-01-01/req-000000070000' and '2026-01-01/req-000000070700'": 2048,
	"key like '2026-01-01/req-00000007%6'":                                        3072,
	"key matches '^2026-01-01/req-00000007'":                                      3072,
	"key in ('2026-01-01/req-000000070007-', '2026-01-01/req-000000140000-')":     2048,
	"session starts with 'sess-00000001'":                                         4608,
	"session is null":                                                             4608,
	"session is not null and key < '2026-01-01/req-000000007'":                    2048,
	"key not like 'zzz%a' and key like '2026-01-01/req-0000000%1'":                14_592,
	"who.host is null":        8192,
	"who.host < 'host-'":      0,
	"not who.host >= 'host-'": 0,
}

// Bounds of strings leave few rows of sorted and clustered columns, and the right ones.
func TestRangeIndex(t *testing.T) {
	location := filepath.Join(t.TempDir(), "x.shard")
	writeKeys(t, location, 20_000)
	requireSound(t, location)
	s, err := Open(t.Context(), location, OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	for where, most := range rangeQuestions {
		want, _ := rowsWhere(t, location, where, OpenOptions{}, Indexes)
		got, unusable := rowsWhere(t, location, where, OpenOptions{}, 0)
		require.True(t, slices.Equal(want, got), where)
		require.Empty(t, unusable, where)
		e, err := filter.Parse(where)
		require.NoError(t, err)
		x, err := s.explain(t.Context(), ScanOptions{Filter: e, Disable: Statistics})
		require.NoError(t, err)
		last := x.Stripes[0].Steps[len(x.Stripes[0].Steps)-1]
		require.Contains(t, last.Note, RangeIndex, where)
		require.LessOrEqual(t, last.Left, most, where)
	}
}

// Range filters with and without an index, on one core.
func BenchmarkRangeIndex(b *testing.B) {
	location := filepath.Join(b.TempDir(), "x.shard")
	writeKeys(b, location, 2_000_000)
	s, err := Open(b.Context(), location, OpenOptions{})
	require.NoError(b, err)
	defer s.Close()
	list, err := s.Indexes(b.Context())
	require.NoError(b, err)
	for _, x := range list {
		b.Log(x.Columns, x.Size, "bytes")
	}
	for name, where := range map[string]string{
		"equal":   "key = '2026-01-20/req-000007000700-2c7dc8'",
		"prefix":  "session starts with 'sess-00000001'",
		"in":      "session in ('sess-00000101-0000', 'sess-000001a7-1111')",
		"between": "key between '2026-01-10' and '2026-01-11'",
		"or":      "key < '2026-01-01/req-000000007' or key > '2026-02-12/req-00001399'",
	} {
		e, err := filter.Parse(where)
		require.NoError(b, err)
		for with, disable := range map[string]Sources{"index": 0, "none": Indexes} {
			b.Run(strings.Join([]string{name, with}, "/"), func(b *testing.B) {
				for b.Loop() {
					for _, err := range s.Scan(b.Context(), ScanOptions{Filter: e, Disable: disable, Parallelism: 1, Columns: []string{}}) {
						require.NoError(b, err)
					}
				}
			})
		}
	}
}
