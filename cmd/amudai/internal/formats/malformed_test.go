package formats_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/table/provider"
)

// Every format that takes a type refuses malformed arrays of it.
func TestSinksRefuseMalformedArrays(t *testing.T) {
	taken := map[string]int{}
	for name, arr := range arrowtest.Malformed() {
		s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arr.DataType(), Nullable: true}}, nil)
		batch := array.NewRecordBatch(s, []arrow.Array{arr}, int64(arr.Len()))
		for _, f := range provider.Registered() {
			sink, err := f.Create(t.Context(), &tabletest.Output{}, s, provider.WriteOptions{})
			if err != nil {
				continue // a format without such a type, or without a writer
			}
			taken[f.Name]++
			require.ErrorIs(t, sink.Write(t.Context(), batch), arrowutil.ErrMalformed, "%s: %s", f.Name, name)
			require.NoError(t, sink.Abort(t.Context()))
		}
	}
	require.Greater(t, len(taken), 6, "%v", taken)
}
