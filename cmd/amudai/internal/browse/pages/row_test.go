package pages

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/table/provider"
)

// oneBatch is a source of a batch.
type oneBatch struct {
	provider.Source
	b arrow.RecordBatch
}

func (s *oneBatch) Next(context.Context) (arrow.RecordBatch, error) {
	b := s.b
	s.b = nil
	return b, nil
}

func (s *oneBatch) Close() error { return nil }

// TestRow reads rows with names that two columns share, with nulls, and without columns.
func TestRow(t *testing.T) {
	ints := array.NewInt64Builder(memory.DefaultAllocator)
	ints.AppendValues([]int64{1, 2}, nil)
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	texts.Append("a<b")
	texts.AppendNull()
	s := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}, {Name: "a", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	b := array.NewRecordBatch(s, []arrow.Array{ints.NewArray(), texts.NewArray()}, 2)
	empty := array.NewRecordBatch(arrow.NewSchema(nil, nil), nil, 2)
	row := func(b arrow.RecordBatch, i int64) (names, vals []string, object string) {
		v := NewView(func(context.Context, provider.ReadOptions) (provider.Source, error) {
			return &oneBatch{b: b.NewSlice(0, b.NumRows())}, nil
		}, 2, false, filter.Expr{})
		names, vals, object, err := Row(t.Context(), v, i)
		require.NoError(t, err)
		return names, vals, object
	}
	names, vals, object := row(b, 0)
	require.Equal(t, []string{"a", "a"}, names)
	require.Equal(t, []string{"1", "a<b"}, vals)
	require.Equal(t, `{"a":1,"a":"a<b"}`, object)
	_, vals, object = row(b, 1)
	require.Equal(t, []string{"2", NullText}, vals)
	require.Equal(t, `{"a":2,"a":null}`, object)
	names, _, object = row(empty, 1)
	require.NotNil(t, names)
	require.Equal(t, "{}", object)
	names, _, _ = row(b, 2)
	require.Nil(t, names, "there is no such row")
}
