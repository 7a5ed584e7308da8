package compare

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/internal/bench/suite"
)

// TestQuestionsFitTheData chooses conditions for columns of all types: about one row of a hundred matches. Columns
// without literals have no condition.
func TestQuestionsFitTheData(t *testing.T) {
	const rows = 400
	date := arrow.Date32(19000)
	for want, c := range map[string]struct {
		of     arrow.DataType
		append func(b array.Builder, i int)
	}{
		"c = 'it''s': 4 rows": {arrow.BinaryTypes.String, func(b array.Builder, i int) {
			text := "common"
			if i < 4 {
				text = "it's"
			}
			b.(*array.StringBuilder).Append(text)
		}},
		"c > 396: 3 rows":   {arrow.PrimitiveTypes.Int64, func(b array.Builder, i int) { b.(*array.Int64Builder).Append(int64(i)) }},
		"c > 395.5: 3 rows": {arrow.PrimitiveTypes.Float64, func(b array.Builder, i int) { b.(*array.Float64Builder).Append(float64(i) - 0.5) }},
		"c > 3.96: 3 rows": {&arrow.Decimal128Type{Precision: 9, Scale: 2}, func(b array.Builder, i int) {
			b.(*array.Decimal128Builder).Append(decimal128.FromI64(int64(i)))
		}},
		"c > '2023-02-08': 3 rows": {arrow.FixedWidthTypes.Date32, func(b array.Builder, i int) { b.(*array.Date32Builder).Append(date + arrow.Date32(i)) }},
		"c > '1970-01-01T00:06:36Z': 3 rows": {arrow.FixedWidthTypes.Timestamp_s, func(b array.Builder, i int) {
			b.(*array.TimestampBuilder).Append(arrow.Timestamp(i))
		}},
		": 0 rows": {arrow.FixedWidthTypes.Boolean, func(b array.Builder, i int) { b.(*array.BooleanBuilder).Append(i%100 == 0) }},
	} {
		t.Run(c.of.String(), func(t *testing.T) {
			b := array.NewBuilder(memory.DefaultAllocator, c.of)
			for i := range rows {
				c.append(b, i)
			}
			s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: c.of}}, nil)
			d := &suite.Dataset{Schema: s, Batches: []arrow.RecordBatch{array.NewRecordBatch(s, []arrow.Array{b.NewArray()}, rows)}}
			q, err := QuestionOf(d, "")
			require.NoError(t, err)
			require.Equal(t, want, q.Where+": "+terminal.Plural(q.Rows, "row"))
		})
	}
}

func TestQuestionsOfNulls(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	nulls := array.MakeArrayOfNull(memory.DefaultAllocator, arrow.BinaryTypes.String, 10)
	d := &suite.Dataset{Schema: s, Batches: []arrow.RecordBatch{array.NewRecordBatch(s, []arrow.Array{nulls}, 10)}}
	q, err := QuestionOf(d, "")
	require.NoError(t, err)
	require.Empty(t, q.Where, "nobody has a value to ask for")
	q, err = QuestionOf(d, "c is null")
	require.NoError(t, err)
	require.EqualValues(t, 10, q.Rows)
	_, err = QuestionOf(d, "d = 1")
	require.ErrorContains(t, err, "there is no column \"d\"")
}
