package aggregate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/aggregate"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/testing/microbench"
)

// BenchmarkAdd adds a batch of 64 Ki rows, with keys of several kinds.
func BenchmarkAdd(b *testing.B) {
	batch := benchBatch()
	defer batch.Release()
	for _, query := range [][2]string{
		{"", "sum(a)"}, {"day", "count()"}, {"day", "count(), sum(a)"}, {"day", "count(), sum(a), sum(b)"}, {"day", "count(), sum(a), sum(b), avg(c)"},
		{"wide", "count()"}, {"price", "count()"}, {"code", "count()"}, {"code, day", "count()"}, {"code, other", "count()"}, {"text", "count()"},
		{"text, wide", "count()"}, {"", "count(distinct text)"}, {"code", "min(text), max(real)"}, {"code", "approx_distinct(text)"},
	} {
		b.Run(fmt.Sprintf("%s by %s", query[1], query[0]), func(b *testing.B) {
			keys, err := ast.ParseValues(query[0])
			require.NoError(b, err)
			calls, err := ast.ParseCalls(query[1])
			require.NoError(b, err)
			q, err := aggregate.Bind(keys, calls, batch.Schema())
			require.NoError(b, err)
			a, err := aggregate.New(q, aggregate.Options{Parallelism: 1})
			require.NoError(b, err)
			defer a.Close()
			microbench.Output(b, 8*int(batch.NumRows()))
			for b.Loop() {
				require.NoError(b, a.Add(context.Background(), batch))
			}
		})
	}
}

func benchBatch() arrow.RecordBatch {
	const rows = 1 << 16
	r := rand.New(rand.NewPCG(1, 2))
	mem := memory.DefaultAllocator
	ints := func(dt arrow.DataType, most int64) arrow.Array {
		b := array.NewInt64Builder(mem)
		for range rows {
			b.Append(r.Int64N(most))
		}
		arr := b.NewArray()
		if dt.ID() != arrow.INT64 {
			n := array.NewBuilder(mem, dt)
			for i := range rows {
				_ = n.AppendValueFromString(fmt.Sprint(arr.(*array.Int64).Value(i)))
			}
			arr = n.NewArray()
		}
		return arr
	}
	words := func(n int64) arrow.Array {
		b := array.NewStringBuilder(mem)
		for range rows {
			b.Append(fmt.Sprintf("the word %d", r.Int64N(n)))
		}
		return b.NewArray()
	}
	coded := func(n int64) arrow.Array {
		b := array.NewDictionaryBuilder(mem, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}).(*array.BinaryDictionaryBuilder)
		for range rows {
			_ = b.AppendString(fmt.Sprintf("code %d", r.Int64N(n)))
		}
		return b.NewArray()
	}
	reals := func() arrow.Array {
		b := array.NewFloat64Builder(mem)
		for range rows {
			b.Append(r.NormFloat64())
		}
		return b.NewArray()
	}
	columns := []arrow.Array{
		ints(arrow.PrimitiveTypes.Int32, 60), ints(arrow.PrimitiveTypes.Int64, 1<<40), ints(&arrow.Decimal128Type{Precision: 18}, 1000),
		ints(arrow.PrimitiveTypes.Int64, 1000), ints(arrow.PrimitiveTypes.Int64, 1000), ints(arrow.PrimitiveTypes.Int32, 1000),
		coded(200), coded(30), words(20_000), reals(),
	}
	var fields []arrow.Field
	for i, name := range []string{"day", "wide", "price", "a", "b", "c", "code", "other", "text", "real"} {
		fields = append(fields, arrow.Field{Name: name, Type: columns[i].DataType()})
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, rows)
}
