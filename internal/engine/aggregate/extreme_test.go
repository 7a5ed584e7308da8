package aggregate

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/ast"
)

// The least and greatest values of groups are those of all batches, whether these share a dictionary or not, and when groups follow.
func TestExtremesOfDictionaries(t *testing.T) {
	mem := memory.DefaultAllocator
	r := rand.New(rand.NewPCG(3, 5))
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{{Name: "g", Type: arrow.PrimitiveTypes.Int64}, {Name: "d", Type: dt, Nullable: true}}, nil)
	keys, err := ast.ParseKeys("g")
	require.NoError(t, err)
	calls, err := ast.ParseCalls("min(d), max(d)")
	require.NoError(t, err)
	q, err := Bind(keys, calls, schema)
	require.NoError(t, err)
	for _, size := range []int{3, 70, 5000, 1 << 20} { // the last one has too many pairs
		a, err := New(q, Options{})
		require.NoError(t, err)
		want := map[int64][2]string{}
		var values arrow.Array
		for batch := range 12 {
			if batch%4 == 0 {
				b := array.NewStringBuilder(mem)
				for range size {
					b.Append(fmt.Sprintf("%06x", r.IntN(1<<24)))
				}
				values = b.NewArray()
			}
			groups, codes := array.NewInt64Builder(mem), array.NewUint32Builder(mem)
			for range 500 {
				g := int64(r.IntN(4 + 8*batch))
				groups.Append(g)
				if r.IntN(7) == 0 {
					codes.AppendNull()
					continue
				}
				code := r.IntN(size)
				codes.Append(uint32(code))
				v := values.(*array.String).Value(code)
				w, ok := want[g]
				if !ok {
					w = [2]string{v, v}
				}
				want[g] = [2]string{min(w[0], v), max(w[1], v)}
			}
			columns := []arrow.Array{groups.NewArray(), array.NewDictionaryArray(dt, codes.NewArray(), values)}
			require.NoError(t, a.Add(t.Context(), array.NewRecordBatch(schema, columns, 500)))
		}
		got := map[int64][2]string{}
		require.NoError(t, a.Finish(t.Context(), nil, func(b arrow.RecordBatch) error {
			for i := range int(b.NumRows()) {
				got[b.Column(0).(*array.Int64).Value(i)] = [2]string{b.Column(1).ValueStr(i), b.Column(2).ValueStr(i)}
			}
			return nil
		}))
		a.Close()
		require.Equal(t, want, got, "%d entries", size)
	}
}
