package tables

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// A column that some part gives with 64 bits only because it may has its recorded type in the union, too.
func TestNarrowParts(t *testing.T) {
	wide := arrow.Field{Name: "a", Type: &arrow.Decimal128Type{Precision: 15, Scale: 2}}
	native := arrow.Field{Name: "a", Type: &arrow.Decimal64Type{Precision: 12, Scale: 3}}
	narrow := arrowutil.Decimal64(wide)
	for _, c := range []struct{ a, b arrow.Field }{{wide, narrow}, {narrow, narrow}, {native, narrow}, {narrow, native}, {native, native}} {
		got, err := unite([][]arrow.Field{{c.a}, {c.b}})
		require.NoError(t, err)
		want, err := unite([][]arrow.Field{{recorded(c.a)}, {recorded(c.b)}})
		require.NoError(t, err)
		require.Equal(t, want[0].field.Type, arrowutil.RecordedType(got[0].field))
	}
}

func recorded(f arrow.Field) arrow.Field {
	return arrow.Field{Name: f.Name, Type: arrowutil.RecordedType(f)}
}
