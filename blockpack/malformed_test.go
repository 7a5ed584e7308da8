package blockpack_test

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/testing/arrowtest"
)

// Columns of spans that are malformed arrays are refused, as attributes and as events.
func TestWriteRefusesMalformedArrays(t *testing.T) {
	for name, arr := range arrowtest.Malformed() {
		for _, column := range []string{"span.k", "event:name"} {
			s := arrow.NewSchema([]arrow.Field{{Name: column, Type: arr.DataType(), Nullable: true}}, nil)
			w, err := blockpack.NewWriter(ctx, &bytes.Buffer{}, blockpack.WriterOptions{})
			require.NoError(t, err)
			err = w.Write(ctx, array.NewRecordBatch(s, []arrow.Array{arr}, int64(arr.Len())))
			require.ErrorIs(t, err, arrowutil.ErrMalformed, "%s: %s", column, name)
			require.NoError(t, w.Abort(ctx))
		}
	}
}
