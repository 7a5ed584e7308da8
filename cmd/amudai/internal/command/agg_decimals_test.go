package command_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/arrowgen"
)

// TestAggDecimals aggregates decimals that a shard gives as 64 bits, alone and together with other formats, as those of 128 bits of
// an Arrow file.
func TestAggDecimals(t *testing.T) {
	t.Chdir(t.TempDir())
	g := arrowgen.New(5)
	g.Nulls = 0.1
	d := &arrow.Decimal128Type{Precision: 15, Scale: 2}
	writeNumbered(t, g, []arrow.DataType{d, d, arrow.FixedWidthTypes.Boolean}, 5000, "a.arrow")
	ok(t, "convert", "--quiet", "a.arrow", "a.amudai.shard")
	ok(t, "convert", "--quiet", "a.arrow", "a.parquet")
	const both = "sum(c0), avg(c0), count(c0), stddev(c0), sum(c1)"
	for _, flags := range [][]string{
		{both}, {both, "--by", "c2"}, {both, "--by", "c1,c2"}, {"min(c0), max(c0), first(c1), last(c1), any_value(c0), count(distinct c0), count()", "--by", "c1,c2"},
		{"median(c0), min(c0), list(c1)", "--by", "c1"}, {both, "--by", "c1"}, {both + ", max(c0)", "--by", "c2"}, {both, "--by", "c2", "--where", "c0 > 10.5"},
		{both, "--by", "row", "--memory", "30000"}, {both, "--by", "c2", "--having", "sum(c0) is not null"},
	} {
		for _, files := range [][]string{{"a.arrow"}, {"a.arrow", "a.arrow"}} {
			want := ok(t, append(append([]string{"agg", "--format", "csv"}, files...), flags...)...)
			files[0] = "a.amudai.shard"
			require.Equal(t, want, ok(t, append(append([]string{"agg", "--format", "csv"}, files...), flags...)...), flags)
			if len(files) > 1 {
				files[1] = "a.parquet"
				require.Equal(t, want, ok(t, append(append([]string{"agg", "--format", "csv"}, files...), flags...)...), flags)
			}
		}
	}
}
