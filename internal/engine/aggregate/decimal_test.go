package aggregate

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// TestNarrowDecimals aggregates decimals that come with 64 bits and with 128, some batches with products of more than 64 bits, in memory and in
// temporary files.
func TestNarrowDecimals(t *testing.T) {
	dt := &arrow.Decimal128Type{Precision: 18, Scale: 2}
	wide := []arrow.Field{{Name: "k", Type: int64Type}, {Name: "a", Type: dt, Nullable: true}, {Name: "b", Type: dt, Nullable: true}}
	narrow := []arrow.Field{wide[0], arrowutil.Decimal64(wide[1]), arrowutil.Decimal64(wide[2])}
	const calls = `sum(a * b), sum(a * b * 3), sum(a + b - 1), sum(distinct a * b), max(a * b), list(a - b), sum(if(a > b, a, 0)), first(coalesce(a, b, 7)), avg(-a),
		count() filter (where a * b > a + 1), min(a % b), sum(a) filter (where case when a < b then a else b end > 3)`
	aggregate := func(fields []arrow.Field, limit int64) (rows map[string]string, spilled bool) {
		s := arrow.NewSchema(fields, nil)
		r := rand.New(rand.NewPCG(1, 1))
		a, err := New(bindQuery(t, "k", calls, s), Options{Memory: limit, TempDir: t.TempDir()})
		require.NoError(t, err)
		defer a.Close()
		for i := range 20 {
			most := int64(1000)
			if i%5 == 3 {
				most = 1e17
			}
			columns := make([]arrow.Array, 3)
			k := array.NewInt64Builder(memory.DefaultAllocator)
			for range 1500 {
				k.Append(r.Int64N(3000))
			}
			columns[0] = k.NewArray()
			for c := 1; c < 3; c++ {
				b := array.NewDecimal128Builder(memory.DefaultAllocator, dt)
				for range 1500 {
					if r.IntN(10) > 0 {
						b.Append(decimal128.FromI64(r.Int64N(2*most) - most))
					} else {
						b.AppendNull()
					}
				}
				columns[c] = b.NewArray()
				if fields[c].Type.ID() == arrow.DECIMAL64 {
					columns[c] = arrowutil.Narrow(memory.DefaultAllocator, columns[c])
				}
			}
			require.NoError(t, a.Add(t.Context(), array.NewRecordBatch(s, columns, 1500)))
		}
		rows = map[string]string{}
		require.NoError(t, a.Finish(t.Context(), nil, func(b arrow.RecordBatch) error {
			for i := range int(b.NumRows()) {
				var row []string
				for c := range int(b.NumCols()) {
					row = append(row, b.Schema().Field(c).Type.String(), b.Column(c).ValueStr(i))
				}
				rows[row[1]] = fmt.Sprint(row)
			}
			return nil
		}))
		return rows, a.spill != nil
	}
	for _, limit := range []int64{1 << 20, 1 << 30} {
		want, _ := aggregate(wide, limit)
		got, spilled := aggregate(narrow, limit)
		require.Equal(t, want, got)
		require.Equal(t, limit < 1<<30, spilled)
	}
}
