package scan_test

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
)

// openRows writes and opens a shard of row numbers, of numbers that repeat every thousand rows, and of texts.
func openRows(t *testing.T, rows, stripeRows int) table.Table {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "row", Type: arrow.PrimitiveTypes.Int64},
		{Name: "delay", Type: arrow.PrimitiveTypes.Float64},
		{Name: "text", Type: arrow.BinaryTypes.String},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.Float64Builder).Append(float64(i % 1000))
		b.Field(2).(*array.StringBuilder).Append(fmt.Sprintf("%x", int64(i)*2654435761))
	}
	return openBatch(t, b.NewRecordBatch(), stripeRows)
}

// openBatch writes and opens a shard of a batch.
func openBatch(t *testing.T, b arrow.RecordBatch, stripeRows int) table.Table {
	ctx := context.Background()
	location := filepath.Join(t.TempDir(), "s")
	w, err := shard.Create(ctx, location, b.Schema(), shard.WriterOptions{StripeRows: int64(stripeRows)})
	require.NoError(t, err)
	require.NoError(t, w.Write(ctx, b))
	require.NoError(t, w.Close(ctx))
	s, err := shard.Open(ctx, location, shard.OpenOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	// Packages outside of shard see the table of a shard by its methods only.
	field := reflect.ValueOf(s).Elem().FieldByName("table")
	return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Interface().(table.Table)
}

func where(t *testing.T, text string) *ast.Node {
	n, err := ast.Parse(text)
	require.NoError(t, err)
	return n
}

// TestBudget scans with little memory. At every step, the bytes that are read ahead and decoded stay within the
// limit.
func TestBudget(t *testing.T) {
	rowTable := openRows(t, 300_000, 120_000)
	for _, o := range []scan.Options{{}, {AsReady: true}, {Filter: where(t, "delay < 900")}, {Filter: where(t, "row >= 150000"), AsReady: true}} {
		o.MemoryLimit, o.FetchBytes, o.BatchRows, o.Parallelism = 4<<20, 1<<20, 4096, 4
		o.FetchGap = storage.RemoteGap
		sc, err := scan.NewScanner(context.Background(), rowTable, o)
		require.NoError(t, err)
		rows, most := int64(0), int64(0)
		for {
			b, err := sc.Next()
			require.NoError(t, err)
			if b == nil {
				break
			}
			rows += b.NumRows()
			all, ahead, windows := sc.Held()
			require.GreaterOrEqual(t, ahead, int64(0))
			most = max(most, all)
			require.LessOrEqual(t, windows, 6)
			b.Release()
		}
		require.LessOrEqual(t, most, o.MemoryLimit)
		require.Positive(t, rows)
		sc.Leave()
		require.Zero(t, sc.AheadAfter(), "bytes that were counted and not dropped")
		sc.Close()
	}
}
