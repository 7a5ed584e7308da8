package stripe_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/bench/measure"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
	"github.com/amudai/amudai-go/storage"
)

// orderLines has columns like those of the table lineitem of TPC-H.
func orderLines(rows int) arrow.RecordBatch {
	long, short, text := arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String
	day, money := arrow.FixedWidthTypes.Date32, &arrow.Decimal128Type{Precision: 15, Scale: 2}
	var fields []arrow.Field
	for _, f := range []struct {
		name string
		t    arrow.DataType
	}{
		{"order", long}, {"part", long}, {"supplier", long}, {"line", short}, {"quantity", money}, {"price", money}, {"discount", money}, {"tax", money},
		{"flag", text}, {"status", text}, {"shipped", day}, {"committed", day}, {"received", day}, {"instruction", text}, {"mode", text}, {"comment", text},
	} {
		fields = append(fields, arrow.Field{Name: f.name, Type: f.t})
	}
	s := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	r := rand.New(rand.NewPCG(4, 4))
	words := []string{"quick", "final", "deposits", "sleep", "according", "to", "the", "regular", "accounts", "furiously", "express", "requests"}
	instructions := []string{"DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"}
	modes := []string{"AIR", "MAIL", "RAIL", "SHIP", "TRUCK", "FOB", "REG AIR"}
	number := func(i int, v int64) { b.Field(i).(*array.Int64Builder).Append(v) }
	amount := func(i, v int) { b.Field(i).(*array.Decimal128Builder).Append(decimal128.FromI64(int64(v))) }
	date := func(i, v int) { b.Field(i).(*array.Date32Builder).Append(arrow.Date32(v)) }
	word := func(i int, v string) { b.Field(i).(*array.StringBuilder).Append(v) }
	order, line := int64(1), int32(0)
	for range rows {
		if line++; line > 7 || r.IntN(4) == 0 {
			order, line = order+1+int64(r.IntN(2))*24, 1
		}
		part, quantity, shipped := r.IntN(200_000), 1+r.IntN(50), 8036+r.IntN(2500)
		number(0, order)
		number(1, int64(part))
		number(2, int64(part%10_000+r.IntN(4)*2500))
		b.Field(3).(*array.Int32Builder).Append(line)
		amount(4, 100*quantity)
		amount(5, quantity*(90_000+part%1000*100+part/10))
		amount(6, r.IntN(11))
		amount(7, r.IntN(9))
		word(8, "ANR"[r.IntN(3):][:1])
		word(9, "FO"[r.IntN(2):][:1])
		date(10, shipped)
		date(11, shipped+r.IntN(120)-60)
		date(12, shipped+1+r.IntN(30))
		word(13, instructions[r.IntN(len(instructions))])
		word(14, modes[r.IntN(len(modes))])
		comment := ""
		for range 2 + r.IntN(5) {
			comment += words[r.IntN(len(words))] + " "
		}
		word(15, comment)
	}
	return b.NewRecordBatch()
}

// BenchmarkBatches writes the same rows in batches of several sizes: small ones should hardly take longer.
func BenchmarkBatches(b *testing.B) {
	const rows = 1_000_000
	whole := orderLines(rows)
	defer whole.Release()
	_, columns, err := arrowmap.FromArrow(whole.Schema(), arrowmap.Options{})
	require.NoError(b, err)
	ctx := context.Background()
	for _, size := range []int64{1024, 8192, 65_536} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			var batches []arrow.RecordBatch
			for from := int64(0); from < rows; from += size {
				batch := whole.NewSlice(from, min(from+size, rows))
				defer batch.Release()
				batches = append(batches, batch)
			}
			b.ReportAllocs()
			before := measure.CPU()
			for b.Loop() {
				w, err := write.NewWriter(columns, write.Options{
					Parallelism: 1, Budget: storage.NewBudget(1 << 30), Encoding: encoding.Options{Features: edition.E2026.Features()},
				})
				require.NoError(b, err)
				for _, batch := range batches {
					require.NoError(b, w.Write(ctx, batch.Columns(), int(batch.NumRows())))
				}
				f, err := w.Finish(ctx)
				require.NoError(b, err)
				f.Release()
			}
			b.ReportMetric(rows*float64(b.N)/(measure.CPU()-before)/1e6, "Mrows/cpu-s")
		})
	}
}
