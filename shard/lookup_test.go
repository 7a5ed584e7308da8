package shard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/storage"
)

const lookupRows = 6000

// lookupBatch has columns of the types that keys may have, with some values in several rows, and some nulls.
func lookupBatch() arrow.RecordBatch {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "row", Type: arrow.PrimitiveTypes.Int64},
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "small", Type: arrow.PrimitiveTypes.Uint16},
		{Name: "user.name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "float", Type: arrow.PrimitiveTypes.Float64},
		{Name: "time", Type: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32},
		{Name: "price", Type: &arrow.Decimal128Type{Precision: 12, Scale: 2}},
		{Name: "bytes", Type: arrow.BinaryTypes.Binary},
		{Name: "level", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}},
		{Name: "flag", Type: arrow.FixedWidthTypes.Boolean},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for i := range lookupRows {
		id := idOf(i / 2 * 2) // each value is in two rows
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.Int64Builder).Append(id)
		b.Field(2).(*array.Uint16Builder).Append(uint16(i % 1000))
		b.Field(3).(*array.StringBuilder).Append(fmt.Sprintf("user-%x", id))
		b.Field(4).(*array.Float64Builder).Append([]float64{float64(i), 0, math.Copysign(0, -1), math.NaN(), float64(i) / 7}[i%5])
		b.Field(5).(*array.TimestampBuilder).Append(arrow.Timestamp(i * 1_234_567))
		b.Field(6).(*array.Date32Builder).Append(arrow.Date32(i % 700))
		b.Field(7).(*array.Decimal128Builder).Append(decimal128.FromI64(int64(i%900) - 300))
		b.Field(8).(*array.BinaryBuilder).Append([]byte{byte(i), byte(i >> 8), 0xff})
		if err := b.Field(9).(*array.BinaryDictionaryBuilder).AppendString([]string{"debug", "info", "warn"}[i%3]); err != nil {
			panic(err)
		}
		b.Field(10).(*array.BooleanBuilder).Append(i%2 == 0)
	}
	return b.NewRecordBatch()
}

// match is a row of a lookup, and its key.
type match struct {
	row int64
	key int
}

// lookupNaively compares all rows with all keys.
func lookupNaively(values, keys arrow.Array, row func(i int) bool) (found []match) {
	texts := map[string][]int{}
	textOf := func(arr arrow.Array, i int) string {
		if f, ok := arr.(*array.Float64); ok && f.Value(i) == 0 {
			return "0"
		}
		return arr.ValueStr(i)
	}
	for k := range keys.Len() {
		if f, ok := keys.(*array.Float64); !keys.IsNull(k) && (!ok || f.Value(k) == f.Value(k)) {
			texts[textOf(keys, k)] = append(texts[textOf(keys, k)], k)
		}
	}
	for i := range values.Len() {
		if row(i) && !values.IsNull(i) {
			for _, k := range texts[textOf(values, i)] {
				found = append(found, match{int64(i), k})
			}
		}
	}
	return found
}

// lookedUp collects a lookup, and compares the values of its rows with those of a batch.
func lookedUp(t *testing.T, s *Shard, batch arrow.RecordBatch, column string, keys arrow.Array, o ScanOptions) (found []match, err error) {
	for f, err := range s.Lookup(t.Context(), column, keys, o) {
		if err != nil {
			return found, err
		}
		require.Len(t, f.Rows, int(f.NumRows()))
		if o.Columns != nil {
			require.Len(t, f.Columns(), len(o.Columns))
		}
		for c, field := range f.Schema().Fields() {
			want, err := arrowutil.Take(memory.DefaultAllocator, batch.Column(batch.Schema().FieldIndices(field.Name)[0]), f.Rows)
			require.NoError(t, err)
			if array.Equal(want, f.Column(c)) {
				continue // texts of values take most of the test
			}
			for i := range want.Len() { // those of dictionaries, or not equal
				require.Equal(t, want.ValueStr(i), f.Column(c).ValueStr(i), field.Name)
			}
		}
		for i, row := range f.Rows {
			found = append(found, match{row, f.Keys[i]})
		}
	}
	return found, nil
}

// keysOf are some values of a column, some of them twice, and others that it lacks.
func keysOf(t *testing.T, values arrow.Array, many int) arrow.Array {
	if d, ok := values.(*array.Dictionary); ok {
		values = d.Dictionary()
	}
	rows := []int64{-1}
	for i := range many {
		rows = append(rows, int64((i*7919+i/many)%values.Len()))
	}
	rows = append(rows, rows[len(rows)/2:]...)
	keys, err := arrowutil.Take(memory.DefaultAllocator, values, rows)
	require.NoError(t, err)
	return keys
}

func TestLookup(t *testing.T) {
	batch := lookupBatch()
	for _, kind := range []string{"", HashIndex, HashmapIndex, TermIndex} {
		location := filepath.Join(t.TempDir(), "s")
		o := WriterOptions{StripeRows: 2500}
		switch kind {
		case "":
		case TermIndex:
			o.Indexes = []IndexDefinition{{Columns: []string{`user\.name`}}}
		default:
			o.Indexes = []IndexDefinition{{Type: kind, Columns: []string{"id", "small", `user\.name`, "float", "time", "day", "price", "bytes", "level"}}}
		}
		writeBatch(t, location, batch, o)
		for _, deleted := range []bool{false, true} {
			row := func(int) bool { return true }
			if deleted {
				_, err := Delete(t.Context(), location, EditOptions{}, Rows{Where: filter.Between(filter.Col("row"), 1000, 1500)})
				require.NoError(t, err)
				row = func(i int) bool { return i < 1000 || i > 1500 }
			}
			s, err := Open(t.Context(), location, OpenOptions{})
			require.NoError(t, err)
			for c, field := range batch.Schema().Fields() {
				for k, many := range []int{1, 40, 300} {
					if c >= 9 {
						many = 2 // of few values
					}
					keys := keysOf(t, batch.Column(c), many)
					o := []ScanOptions{
						{},
						{Columns: []string{"row"}},
						{Columns: []string{schema.Escape(field.Name)}},
						{Columns: []string{}},
						{Columns: []string{"row"}, BatchRows: 7, Parallelism: 1},
					}[(c+k)%5]
					got, err := lookedUp(t, s, batch, field.Name, keys, o)
					require.NoError(t, err)
					require.Equal(t, lookupNaively(batch.Column(c), keys, row), got, "%s %s %d", kind, field.Name, many)
				}
			}
			keys := keysOf(t, batch.Column(1), 60)
			got, err := lookedUp(t, s, batch, "id", keys, ScanOptions{Filter: filter.Ge(filter.Col("row"), 3000)})
			require.NoError(t, err)
			require.Equal(t, lookupNaively(batch.Column(1), keys, func(i int) bool { return i >= 3000 }), got)
			got, err = lookedUp(t, s, batch, "id", keysOf(t, batch.Column(1), 0), ScanOptions{})
			require.NoError(t, err)
			require.Empty(t, got)
			require.NoError(t, s.Close())
		}
	}
}

// More keys than one scan takes, with a limit.
func TestLookupOfManyKeys(t *testing.T) {
	batch := lookupBatch()
	location := filepath.Join(t.TempDir(), "s")
	writeBatch(t, location, batch, WriterOptions{})
	s, err := Open(t.Context(), location, OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	b := array.NewInt64Builder(memory.DefaultAllocator)
	for i := range 3 * (1 << 15) {
		b.Append(idOf(i))
	}
	keys := b.NewArray()
	want := lookupNaively(batch.Column(1), keys, func(int) bool { return true })
	got, err := lookedUp(t, s, batch, "id", keys, ScanOptions{})
	require.NoError(t, err)
	require.Equal(t, want, got)
	got, err = lookedUp(t, s, batch, "id", keys, ScanOptions{Limit: 77})
	require.NoError(t, err)
	require.Equal(t, want[:77], got)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range s.Lookup(ctx, "id", keys, ScanOptions{}) {
		require.ErrorIs(t, err, context.Canceled)
	}
}

func TestLookupErrors(t *testing.T) {
	batch := lookupBatch()
	location := filepath.Join(t.TempDir(), "s")
	writeBatch(t, location, batch, WriterOptions{})
	s, err := Open(t.Context(), location, OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	for _, c := range []struct {
		column string
		keys   arrow.Array
		want   string
	}{
		{"absent", batch.Column(1), `lookup: 0 top-level columns have the name "absent"`},
		{"small", batch.Column(1), `lookup: keys of type int64 for the column "small" of type uint16`},
	} {
		n := 0
		for _, err := range s.Lookup(t.Context(), c.column, c.keys, ScanOptions{}) {
			require.EqualError(t, err, c.want)
			n++
		}
		require.Equal(t, 1, n)
	}
}

// Keys of many blocks of the index and of the columns are looked up with three requests. A fault of any of them is an error, unless a scan without the index takes its place.
func TestLookupRequests(t *testing.T) {
	const rows = 400_000
	columns := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "name", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, columns)
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(idOf(i))
		b.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("user-%x", idOf(i)*idOf(i)))
	}
	batch := b.NewRecordBatch()
	location := filepath.Join(t.TempDir(), "s")
	writeBatch(t, location, batch, WriterOptions{BlockValues: 8192, Indexes: []IndexDefinition{{Type: HashIndex, Columns: []string{"id"}}}})
	var places []int64
	for i := range int64(100) {
		places = append(places, i*3989)
	}
	take := func(rows []int64) arrow.Array {
		keys, err := arrowutil.Take(memory.DefaultAllocator, batch.Column(0), rows)
		require.NoError(t, err)
		return keys
	}
	keys := take(places)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	// ask looks the keys up in an open shard that has answered before, so that the index is open and the columns are known.
	ask := func(wait func(context.Context) error) (n int, err error) {
		store := &slowStore{Store: storage.Local{}}
		x, err := Open(ctx, location, OpenOptions{Store: store})
		require.NoError(t, err)
		defer func() { require.NoError(t, x.Close()) }()
		for _, err := range x.Lookup(ctx, "id", take([]int64{7, 200_000}), ScanOptions{}) {
			require.NoError(t, err)
		}
		before := store.reads.Load()
		store.wait = wait
		var found []int64
		for f, err := range x.Lookup(ctx, "id", keys, ScanOptions{}) {
			if err != nil {
				return 0, err
			}
			found = append(found, f.Rows...)
		}
		require.Equal(t, places, found)
		return int(store.reads.Load() - before), nil
	}
	n, err := ask(nil)
	require.NoError(t, err)
	require.LessOrEqual(t, n, 3, "requests, of which each may wait for the one before")
	for k := range n {
		var reads atomic.Int64
		failed := errors.New("no answer")
		_, err := ask(func(context.Context) error {
			if reads.Add(1) == int64(k+1) {
				return failed
			}
			return nil
		})
		require.GreaterOrEqual(t, reads.Load(), int64(k+1))
		if err != nil {
			require.ErrorIs(t, err, failed)
		}
	}
}
