package shard_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table/provider"
)

// A few rows of each block are deleted: one in 125 and, in the middle, some that follow each other.
const deletedFew = "id % 125 = 1 or id >= 70000 and id < 71000"

func isDeletedFew(id int) bool { return id%125 == 1 || id >= 70_000 && id < 71_000 }

// fewDeleted are rows of several widths, some of them null, that keep wants. The instant of row 1 lies beyond those that nanoseconds can tell.
func fewDeleted(rows int, keep func(id int) bool) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "time", Type: arrow.FixedWidthTypes.Timestamp_us, Nullable: true}, {Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "small", Type: arrow.PrimitiveTypes.Int16}, {Name: "ratio", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
		{Name: "price", Type: &arrow.Decimal128Type{Precision: 12, Scale: 2}}, {Name: "code", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "flag", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}, {Name: "key", Type: &arrow.FixedSizeBinaryType{ByteWidth: 5}},
		{Name: "tiny", Type: arrow.PrimitiveTypes.Uint8}, {Name: "same", Type: arrow.PrimitiveTypes.Int32},
	}, nil))
	for id := range rows {
		if !keep(id) {
			continue
		}
		switch t := b.Field(0).(*array.TimestampBuilder); {
		case id == 1:
			t.Append(arrow.Timestamp(100_000_000_000_000_000)) // in the year 5138
		case id%77 == 0:
			t.AppendNull()
		default:
			t.Append(arrow.Timestamp(1_700_000_000_000_000 + 1_000_003*int64(id)))
		}
		b.Field(1).(*array.Int64Builder).Append(int64(id))
		b.Field(2).(*array.Int16Builder).Append(int16(id * id % 999))
		if r := b.Field(3).(*array.Float32Builder); id%11 == 5 {
			r.AppendNull()
		} else {
			r.Append(float32(id%5003) / 8)
		}
		b.Field(4).(*array.Decimal128Builder).Append(decimal128.FromI64(int64(id) * 31 % 100_003))
		switch s := b.Field(5).(*array.StringBuilder); {
		case id%125 == 1: // a value that no row has afterwards
			s.Append("DDD")
		case id%17 == 3:
			s.AppendNull()
		default:
			s.Append([]string{"AAA", "BBB", "CCC"}[id%3])
		}
		if f := b.Field(6).(*array.BooleanBuilder); id%13 == 4 {
			f.AppendNull()
		} else {
			f.Append(id%7 < 3)
		}
		b.Field(7).(*array.FixedSizeBinaryBuilder).Append(fmt.Appendf(nil, "%05d", id%100_000))
		b.Field(8).(*array.Uint8Builder).Append(uint8(id % 251))
		b.Field(9).(*array.Int32Builder).Append(7)
	}
	return b.NewRecordBatch()
}

// withFewDeleted writes rows, and deletes some.
func withFewDeleted(t testing.TB, rows int) (location string) {
	location = filepath.Join(t.TempDir(), "x.amudai.shard")
	all := fewDeleted(rows, func(int) bool { return true })
	w, err := shard.Create(t.Context(), location, all.Schema(), shard.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), all))
	require.NoError(t, w.Close(t.Context()))
	return location
}

func deleteFew(t testing.TB, location string) {
	where, err := filter.Parse(deletedFew)
	require.NoError(t, err)
	_, err = shard.Delete(t.Context(), location, shard.EditOptions{}, shard.Rows{Where: where})
	require.NoError(t, err)
}

// Blocks of which few rows are deleted are decoded to their place. A deleted value that has no place in the Arrow type is no error then.
func TestFewDeleted(t *testing.T) {
	const rows = 200_000
	location := withFewDeleted(t, rows)
	nanos := arrowmap.ReadOptions{IgnoreAnnotations: true, DateTimes: arrowmap.TicksAsNanos}
	count := func(types arrowmap.ReadOptions, check func(at int64, batch arrow.RecordBatch)) (n int64, err error) {
		s, err := shard.Open(t.Context(), location, shard.OpenOptions{Types: types})
		require.NoError(t, err)
		defer s.Close()
		for batch, err := range s.Scan(t.Context(), shard.ScanOptions{}) {
			if err != nil {
				return n, err
			}
			check(n, batch.RecordBatch)
			n += batch.NumRows()
		}
		return n, nil
	}
	unchecked := func(int64, arrow.RecordBatch) {}
	_, err := count(nanos, unchecked)
	require.ErrorContains(t, err, "cannot be held as ns")
	deleteFew(t, location)
	want := fewDeleted(rows, func(id int) bool { return !isDeletedFew(id) })
	n, err := count(arrowmap.ReadOptions{}, func(at int64, batch arrow.RecordBatch) {
		require.True(t, array.RecordEqual(want.NewSlice(at, at+batch.NumRows()), batch), "rows from %d on", at)
		require.Equal(t, want.NewSlice(at, at+batch.NumRows()).Column(3).NullN(), batch.Column(3).NullN())
	})
	require.NoError(t, err)
	require.Equal(t, want.NumRows(), n)
	n, err = count(nanos, unchecked)
	require.NoError(t, err)
	require.Equal(t, want.NumRows(), n)
}

// Rows in any order are those in order. A hidden value that has no place in the Arrow type is no error.
func TestDeletedInAnyOrder(t *testing.T) {
	location := withFewDeleted(t, 200_000)
	deleteFew(t, location)
	f := shard.New(shard.FormatOptions{Open: shard.OpenOptions{Types: arrowmap.ReadOptions{IgnoreAnnotations: true, DateTimes: arrowmap.TicksAsNanos}}})
	read := func(columns []string, any bool) (arrow.Table, []int64) {
		o := provider.ReadOptions{AnyOrder: any, Dictionaries: true, Decimals64: []string{"price"}, Columns: columns}
		rows, err := tabletest.Read(t, f, provider.Input{Name: location, Location: location}, o)
		require.NoError(t, err)
		ids, err := arrowutil.Concatenate(memory.DefaultAllocator, rows.Column(0).Data().Chunks())
		require.NoError(t, err)
		return rows, arrowutil.Values[int64](ids)
	}
	for name, columns := range map[string][]string{
		"of fixed width": {"id", "time", "small", "price", "code", "flag", "key", "tiny", "same"},
		"with floats":    {"id", "ratio"},
	} {
		t.Run(name, func(t *testing.T) {
			want, ids := read(columns, false)
			got, found := read(columns, true)
			require.Equal(t, name == "with floats", slices.IsSorted(found))
			order := make([]int64, len(found))
			for i := range order {
				order[i] = int64(i)
			}
			slices.SortFunc(order, func(a, b int64) int { return cmp.Compare(found[a], found[b]) })
			require.Len(t, found, len(ids))
			for i, f := range want.Schema().Fields() {
				var arrays [2]arrow.Array
				for k, c := range []*arrow.Chunked{want.Column(i).Data(), got.Column(i).Data()} {
					plain := make([]arrow.Array, len(c.Chunks()))
					for j, chunk := range c.Chunks() {
						var err error
						plain[j], err = arrowutil.Plain(memory.DefaultAllocator, chunk)
						require.NoError(t, err)
					}
					var err error
					arrays[k], err = arrowutil.Concatenate(memory.DefaultAllocator, plain)
					require.NoError(t, err)
				}
				sorted, err := arrowutil.Take(memory.DefaultAllocator, arrays[1], order)
				require.NoError(t, err)
				require.True(t, array.Equal(arrays[0], sorted), f.Name)
			}
		})
	}
}

// BenchmarkFewDeleted scans all columns before and after a delete.
func BenchmarkFewDeleted(b *testing.B) {
	location := withFewDeleted(b, 1_000_000)
	for _, when := range []string{"before", "after"} {
		b.Run(when, func(b *testing.B) {
			for b.Loop() {
				s, err := shard.Open(b.Context(), location, shard.OpenOptions{})
				require.NoError(b, err)
				for batch, err := range s.Scan(b.Context(), shard.ScanOptions{}) {
					require.NoError(b, err)
					batch.Release()
				}
				require.NoError(b, s.Close())
			}
		})
		deleteFew(b, location)
	}
}
