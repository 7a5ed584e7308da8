package rntuple_test

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/testing/arrowtest"
	"github.com/amudai/amudai-go/rntuple"
)

// A batch with a malformed array is refused before anything walks it.
func TestWriteRefusesMalformedArrays(t *testing.T) {
	for name, arr := range arrowtest.Malformed() {
		s := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arr.DataType(), Nullable: true}}, nil)
		w, err := rntuple.NewWriter(t.Context(), &bytes.Buffer{}, s, rntuple.WriterOptions{})
		require.NoError(t, err, name)
		stored := array.NewRecordBatch(w.Schema(), []arrow.Array{arr}, int64(arr.Len()))
		require.ErrorIs(t, w.Write(t.Context(), stored), arrowutil.ErrMalformed, name)
		require.NoError(t, w.Abort(t.Context()))
	}
}
