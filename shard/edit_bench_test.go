package shard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/shard"
)

// BenchmarkEdit changes a column of 10,000 ones of a shard on disk; "second" and "added" are drops after another one was added.
func BenchmarkEdit(b *testing.B) {
	const columns, rows = 10_000, 100
	var fields []arrow.Field
	var arrays []arrow.Array
	for i := range columns {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: arrow.PrimitiveTypes.Int64, Nullable: true})
		arrays = append(arrays, numbers(arrow.PrimitiveTypes.Int64, rows, i))
	}
	s := arrow.NewSchema(fields, nil)
	before := b.TempDir()
	w, err := shard.Create(b.Context(), filepath.Join(before, "wide.shard"), s, shard.WriterOptions{})
	require.NoError(b, err)
	require.NoError(b, w.Write(b.Context(), array.NewRecordBatch(s, arrays, rows)))
	require.NoError(b, w.Close(b.Context()))
	for _, x := range []struct {
		name  string
		first []shard.Change
		timed shard.Change
	}{
		{"drop", nil, shard.DropColumns("c5000")},
		{"rename", nil, shard.RenameColumn("c5000", "other")},
		{"add", nil, shard.AddColumn("sum", "c1 + c2")},
		{"second", []shard.Change{shard.AddColumn("sum", "c1 + c2")}, shard.DropColumns("c7")},
		{"added", []shard.Change{shard.AddColumn("sum", "c1 + c2")}, shard.DropColumns("sum")},
	} {
		b.Run(x.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				dir := b.TempDir()
				require.NoError(b, os.CopyFS(dir, os.DirFS(before)))
				location := filepath.Join(dir, "wide.shard")
				_, err := shard.Edit(b.Context(), location, shard.EditOptions{}, x.first...)
				require.NoError(b, err)
				b.StartTimer()
				_, err = shard.Edit(b.Context(), location, shard.EditOptions{}, x.timed)
				require.NoError(b, err)
			}
		})
	}
}
