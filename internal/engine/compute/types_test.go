package compute_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
)

// Each expression of a column of each type is refused, has a value for each row, or fails with its position.
func TestTypes(t *testing.T) {
	templates := strings.Split(`x;-x;x + 1;1 - x;x * 1.5;x / 2;x // 2;x % 3;x + x;x * x;x - x;x % x;x = x;x < x + 1;year(x);quarter(x);month(x);day(x);dayofweek(x);dayofyear(x);week(x);
		hour(x);minute(x);second(x);epoch(x);date(x);date_trunc('month', x);date_trunc('hour', x);date_trunc('millisecond', x);lower(x);upper(x);regexp_replace(x, 'a+', 'b');length(x);len(x);substr(x, 2);substr(x, -2, 1);
		concat(x, '-', x);abs(x);round(x);round(x, 1);round(x, -1);floor(x);ceil(x);coalesce(x, x);coalesce(x, 1);coalesce(x, 'a');if(x is null, x, null);case when x = x then x end;
		x::int8;x::int64;x::uint16;x::float32;x::float64;x::float16;x::decimal(10, 2);x::utf8;x::bool;x::date;x::timestamp[ms];x::timestamp[ns, Asia/Tokyo];x::time32[s];x::duration[s];x::binary;
		x[1];x[-1];x['a'];x.a;contains(x, 'a');contains(x, 1);contains(x, x);any(x = 1);any(x = 'a');all(x is null);any(x.a > 1);x is null;x = 1;x > 'a';x in (1, x);x between x and x;x like 'a%'`, ";")
	g := arrowgen.New(3)
	g.Nulls = 0.2
	bound, failed := 0, 0
	for _, dt := range arrowgen.Types() {
		batch := g.Batch(arrow.NewSchema([]arrow.Field{{Name: "x", Type: dt, Nullable: true}}, nil), 70)
		for _, template := range templates {
			expression := strings.TrimSpace(template)
			v, err := bind(t, expression, batch.Schema())
			if err != nil {
				require.IsType(t, &ast.Error{}, err, "%s of %s: %v", expression, dt, err)
				continue
			}
			bound++
			for _, cut := range [][2]int64{{0, 70}, {3, 69}, {5, 6}, {7, 7}} {
				part := batch.NewSlice(cut[0], cut[1])
				arr, err := v.Eval(memory.DefaultAllocator, part)
				if err != nil {
					require.True(t, errors.As(err, new(*ast.Error)), "%s of %s: %v", expression, dt, err)
					failed++
					continue
				}
				require.Equal(t, int(part.NumRows()), arr.Len(), "%s of %s", expression, dt)
				require.True(t, arrow.TypeEqual(v.Type(), arr.DataType()) || expression == "x", "%s of %s: %s instead of %s", expression, dt, arr.DataType(), v.Type())
				require.LessOrEqual(t, len(jsonOf(arr)), 1<<24)
				arr.Release()
			}
		}
	}
	require.Greater(t, bound, 1000)
	require.Positive(t, failed)
}
