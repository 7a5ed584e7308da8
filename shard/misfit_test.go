package shard

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// decimals returns a column of unscaled numbers. -1 is null, with 10^17 under it.
func decimals(dt arrow.DataType, values ...int64) table {
	b := array.NewBuilder(memory.DefaultAllocator, dt)
	valid := make([]bool, len(values))
	for i, v := range values {
		if valid[i] = v != -1; !valid[i] {
			v = 1e17
		}
		switch b := b.(type) {
		case *array.Decimal32Builder:
			b.Append(arrow.Decimal32Traits.CastFromBytes(arrow.Int32Traits.CastToBytes([]int32{int32(v)}))[0])
		case *array.Decimal64Builder:
			b.Append(arrow.Decimal64Traits.CastFromBytes(arrow.Int64Traits.CastToBytes([]int64{v}))[0])
		case *array.Decimal128Builder:
			b.Append(decimal128.FromI64(v))
		case *array.Decimal256Builder:
			b.Append(decimal256.FromI64(v))
		}
	}
	data := b.NewArray().Data()
	bits := memory.NewBufferBytes(make([]byte, len(valid)/8+1))
	for i, v := range valid {
		if v {
			bits.Bytes()[i/8] |= 1 << (i % 8)
		}
	}
	column := array.MakeFromData(array.NewData(dt, len(values), []*memory.Buffer{bits, data.Buffers()[1]}, nil, array.UnknownNullCount, 0))
	return table{schema: arrow.NewSchema([]arrow.Field{{Name: "d", Type: dt, Nullable: true}}, nil), columns: []arrow.Array{column}, rows: len(values)}
}

// A number with more digits than its type allows is an error with its column and row. Values under nulls are not
// checked.
func TestPrecisionOnWrite(t *testing.T) {
	ctx := context.Background()
	for _, dt := range []arrow.DataType{
		&arrow.Decimal32Type{Precision: 4, Scale: 2}, &arrow.Decimal64Type{Precision: 4, Scale: 2},
		&arrow.Decimal128Type{Precision: 4, Scale: 2}, &arrow.Decimal256Type{Precision: 4, Scale: 2},
	} {
		for _, bad := range []int64{10000, -10000, 1 << 30} {
			location := filepath.Join(t.TempDir(), "d")
			fits := decimals(dt, 0, 9999, -9999, -1, 1)
			w, err := Create(ctx, location, fits.schema, WriterOptions{})
			require.NoError(t, err)
			require.NoError(t, w.Write(ctx, fits.batch(0, 5)))
			long := decimals(dt, 5, -1, bad, 7)
			err = w.Write(ctx, long.batch(0, 4))
			if err == nil {
				err = w.Close(ctx)
			}
			require.ErrorContains(t, err, `column "d"`, "%s %d", dt, bad)
			require.ErrorContains(t, err, "row 7 of the shard")
			require.ErrorContains(t, err, "more than 4 digits")
			require.NoError(t, w.Abort(ctx))
		}
	}
}

// The same when a shard is read as decimals with fewer digits than its values.
func TestPrecisionOnRead(t *testing.T) {
	ctx := context.Background()
	data := decimals(&arrow.Decimal128Type{Precision: 18, Scale: 2}, 0, 9999, -9999, -1, 100, 10000, 3)
	for _, e := range []edition.Edition{edition.Reference, edition.E2026} {
		location := filepath.Join(t.TempDir(), "d")
		w, err := Create(ctx, location, data.schema, WriterOptions{Edition: e})
		require.NoError(t, err)
		require.NoError(t, w.Write(ctx, data.batch(0, data.rows)))
		require.NoError(t, w.Close(ctx))
		for _, form := range []arrowmap.DecimalType{arrowmap.DecimalsAs128, arrowmap.DecimalsAs256} {
			for _, c := range []struct {
				precision, scale int32
				from, to         int
				err              string
			}{
				{5, 2, 0, 7, ""},
				{4, 2, 0, 5, ""},
				{4, 2, 0, 7, "row 5"},
				{6, 4, 0, 5, ""},
				{6, 4, 2, 7, "row 5"},
			} {
				name := fmt.Sprint(e, form, c)
				s, err := Open(ctx, location, OpenOptions{Types: arrowmap.ReadOptions{IgnoreAnnotations: true, Decimals: form, DecimalPrecision: c.precision, DecimalScale: c.scale}})
				require.NoError(t, err, name)
				rows := 0
				err = nil
				for batch, e := range s.Scan(ctx, ScanOptions{Rows: []RowRange{{From: int64(c.from), To: int64(c.to)}}}) {
					if err = e; err == nil {
						rows += int(batch.NumRows())
					}
				}
				if c.err == "" {
					require.NoError(t, err, name)
					require.Equal(t, c.to-c.from, rows)
				} else {
					require.ErrorContains(t, err, c.err+" of the table", name)
					require.ErrorContains(t, err, "100.00 does not fit", name)
					require.ErrorContains(t, err, `"d"`, name)
				}
				require.NoError(t, s.Close())
			}
		}
	}
}

// A time that does not fit the requested Arrow type is an error with its row in the shard, wherever the scan
// began. This also holds for a constant.
func TestRowsOfTimesThatDoNotFit(t *testing.T) {
	ctx := context.Background()
	dt := &arrow.TimestampType{Unit: arrow.Second}
	b := array.NewTimestampBuilder(memory.DefaultAllocator, dt)
	for i := range 30_000 {
		b.Append(arrow.Timestamp(i))
	}
	for range 10_000 {
		b.Append(1 << 40) // year 36812
	}
	values := b.NewTimestampArray().TimestampValues()
	values[21_234] = 1 << 36 // year 4147
	times := array.MakeFromData(array.NewData(dt, len(values), []*memory.Buffer{nil, memory.NewBufferBytes(arrow.TimestampTraits.CastToBytes(values))}, nil, 0, 0))
	data := table{schema: arrow.NewSchema([]arrow.Field{{Name: "t", Type: dt}}, nil), columns: []arrow.Array{times}, rows: len(values)}
	location := filepath.Join(t.TempDir(), "d")
	writeTable(t, location, data, WriterOptions{StripeRows: 10_000}, 10_000)
	s, err := Open(ctx, location, OpenOptions{Types: arrowmap.ReadOptions{IgnoreAnnotations: true, DateTimes: arrowmap.TicksAsNanos}})
	require.NoError(t, err)
	defer s.Close()
	for _, c := range []struct {
		from, to int64
		err      string
	}{
		{0, 21_234, ""},
		{0, 30_000, "row 21234 of the table"},
		{21_000, 30_000, "row 21234 of the table"},
		{21_235, 30_000, ""},
		{30_005, 30_010, "row 30000 of the table"}, // of a constant, the first one
	} {
		var err error
		for _, e := range s.Scan(ctx, ScanOptions{Rows: []RowRange{{From: c.from, To: c.to}}, BatchRows: 3000}) {
			err = e
		}
		if c.err == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.err)
			require.ErrorContains(t, err, "cannot be held as ns")
		}
	}
}
