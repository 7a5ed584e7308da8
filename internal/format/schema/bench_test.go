package schema_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/format/schema"
)

// BenchmarkOpenOneOfMany opens a schema of 50,000 fields and finds one.
func BenchmarkOpenOneOfMany(b *testing.B) {
	fields := make([]schema.Field, 50_000)
	for i := range fields {
		fields[i] = schema.Field{Name: fmt.Sprintf("column_%05d", i), Type: schema.Float64}
	}
	b.Run("build", func(b *testing.B) {
		for b.Loop() {
			_, err := schema.Build(fields)
			require.NoError(b, err)
		}
	})
	message, err := schema.Build(fields)
	require.NoError(b, err)
	b.Run("find", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s, err := schema.Parse(message)
			if err != nil {
				b.Fatal(err)
			}
			if _, ok, err := s.Find("column_40000"); !ok || err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("walk", func(b *testing.B) {
		s, err := schema.Parse(message)
		require.NoError(b, err)
		for b.Loop() {
			require.NoError(b, s.Walk(func(string, schema.Node) error { return nil }))
		}
	})
}
