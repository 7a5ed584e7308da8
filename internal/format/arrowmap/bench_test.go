package arrowmap

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/format/schema"
)

// BenchmarkManyColumns maps 50,000 columns in both directions, and one of them.
func BenchmarkManyColumns(b *testing.B) {
	types := []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Timestamp_us}
	fields := make([]arrow.Field, 50_000)
	for i := range fields {
		fields[i] = arrow.Field{Name: fmt.Sprintf("column_%05d", i), Type: types[i%len(types)], Nullable: i%3 > 0}
	}
	from := arrow.NewSchema(fields, nil)
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _, err := FromArrow(from, Options{})
			require.NoError(b, err)
		}
	})
	nodes, _, err := FromArrow(from, Options{})
	require.NoError(b, err)
	message, err := schema.Build(nodes)
	require.NoError(b, err)
	s, err := schema.Parse(message)
	require.NoError(b, err)
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _, err := ToArrow(s, ReadOptions{})
			require.NoError(b, err)
		}
	})
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Project(s, []string{"column_31415"}, ReadOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
