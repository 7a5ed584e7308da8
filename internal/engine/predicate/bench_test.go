package predicate_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// benchArray returns rows values of a type: numbers below 1000, three-letter codes, and lines of a log.
func benchArray(dt arrow.DataType, rows int) arrow.Array {
	r := rand.New(rand.NewPCG(1, 1))
	b := array.NewBuilder(memory.DefaultAllocator, dt)
	defer b.Release()
	for range rows {
		n := r.IntN(1000)
		switch b := b.(type) {
		case *array.Int64Builder:
			b.Append(int64(n))
		case *array.Int16Builder:
			b.Append(int16(n))
		case *array.Float64Builder:
			b.Append(float64(n))
		case *array.Decimal128Builder:
			b.Append(decimal128.FromI64(int64(n)))
		case *array.StringBuilder:
			b.Append(string([]byte{'A' + byte(n%20), 'A' + byte(n/20%10), 'O'}))
		case *array.LargeStringBuilder:
			b.Append(fmt.Sprintf("2024-05-%02d 10:11:%02d INFO dfs.DataNode$PacketResponder: Received block blk_%d of size 67108864 from /10.250.%d.7", n%30, n%60, r.Int64(), n%256))
		}
	}
	return b.NewArray()
}

func BenchmarkEval(b *testing.B) {
	const rows = 1 << 16
	decimal := &arrow.Decimal128Type{Precision: 12, Scale: 2}
	for _, c := range []struct {
		dt         arrow.DataType
		dictionary bool
		condition  string
	}{
		{arrow.PrimitiveTypes.Int64, false, "x > 300"},
		{arrow.PrimitiveTypes.Int16, false, "x > 300"},
		{arrow.PrimitiveTypes.Int64, false, "x in (1, 500, 900)"},
		{arrow.PrimitiveTypes.Int64, false, "x in (1, 51, 101, 151, 201, 251, 301, 351, 401, 451, 501, 551)"},
		{arrow.PrimitiveTypes.Float64, false, "x > 300"},
		{arrow.PrimitiveTypes.Float64, false, "x <> 300"},
		{decimal, false, "x > 3"},
		{arrow.BinaryTypes.String, false, "x = 'SFO'"},
		{arrow.BinaryTypes.String, true, "x = 'SFO'"},
		{arrow.BinaryTypes.String, false, "x > 'M'"},
		{arrow.BinaryTypes.String, false, "x in ('SFO', 'SAO', 'ABO')"},
		{arrow.BinaryTypes.String, false, "x in ('SFO', 'SAO', 'ABO', 'ACO', 'ADO', 'AEO', 'AFO', 'AGO', 'AHO')"},
		{arrow.BinaryTypes.String, false, "x like '_FO'"},
		{arrow.BinaryTypes.String, false, "x ends with 'FO'"},
		{arrow.BinaryTypes.LargeString, false, "x starts with '2024-05-1'"},
		{arrow.BinaryTypes.LargeString, false, "x contains 'blk_12345'"},
		{arrow.BinaryTypes.LargeString, false, "x contains 'block blk_'"},
		{arrow.BinaryTypes.LargeString, false, "x like '%block blk_9%size%'"},
		{arrow.BinaryTypes.LargeString, false, "x icontains 'BLK_12345'"},
		{arrow.BinaryTypes.LargeString, false, "x matches 'blk_12345[0-9]*0 of'"},
		{arrow.BinaryTypes.LargeString, false, "x matches '[0-9]7 INFO'"},
	} {
		arr := benchArray(c.dt, rows)
		name := fmt.Sprintf("%s/%s", c.dt, c.condition)
		size := int64(0)
		for _, buf := range arr.Data().Buffers() {
			if buf != nil {
				size += int64(buf.Len())
			}
		}
		if c.dictionary {
			name = "dictionary/" + c.condition
			arr, _ = arrowutil.EncodeDictionary(memory.DefaultAllocator, arr, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: c.dt})
			size = 4 * rows
		}
		bound, err := predicate.BindText(c.condition, arrow.NewSchema([]arrow.Field{{Name: "x", Type: arr.DataType()}}, nil))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			dst := make([]byte, predicate.BitmapLen(rows))
			columns := []arrow.Array{arr}
			microbench.Output(b, int(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bound.Eval(dst, columns, rows); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
