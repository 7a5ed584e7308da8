package command_test

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// planned is the part of the JSON of plan that these tests look at.
type planned struct {
	Rows   *int64
	Inputs []struct {
		Location string
		Rows     *int64
		Stripes  []struct {
			Stripe        int
			FirstRow      int64  `json:"first_row"`
			Rows          *int64 `json:"rows"`
			SelectedRows  *int64 `json:"selected_rows"`
			SelectedBytes *int64 `json:"selected_bytes"`
		}
	}
}

// TestPlan reads random tables stripe by stripe, as engines do, and as a whole.
func TestPlan(t *testing.T) {
	t.Chdir(t.TempDir())
	r := rand.New(rand.NewPCG(16, 2))
	for i := range sweep.Count(8, 60) {
		g := arrowgen.New(uint64(i))
		writeNumbered(t, g, []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.BinaryTypes.String}, 100+r.IntN(900), "t.arrow")
		name := "t.amudai.shard"
		args := []string{"convert", "-q", "--force", "t.arrow", name, "--stripe-rows", strconv.Itoa(50 + r.IntN(200))}
		if i%2 == 1 {
			name = "t.parquet"
			args = []string{"convert", "-q", "--force", "t.arrow", name, "--row-group-rows", strconv.Itoa(50 + r.IntN(200))}
		}
		ok(t, args...)
		for range 4 {
			where := []string{"row < " + strconv.Itoa(r.IntN(1000)), "c0 > " + strconv.Itoa(r.IntN(250)-125), "row >= 300 and c1 is not null", "c1 = 'none'"}[r.IntN(4)]
			var p planned
			require.NoError(t, json.Unmarshal([]byte(ok(t, "plan", "--json", name, "--where", where, "--columns", "row")), &p))
			var parts strings.Builder
			next := int64(0)
			for _, s := range p.Inputs[0].Stripes {
				require.Equal(t, next, s.FirstRow)
				next += *s.Rows
				part := ok(t, "cat", name, "--where", where, "--columns", "row", "--stripes", strconv.Itoa(s.Stripe))
				_, part, _ = strings.Cut(part, "\n")
				parts.WriteString(part)
				require.LessOrEqual(t, int64(strings.Count(part, "\n")), *s.SelectedRows)
				if *s.SelectedRows == 0 {
					require.Zero(t, *s.SelectedBytes)
				}
			}
			require.Equal(t, *p.Rows, next)
			_, whole, _ := strings.Cut(ok(t, "cat", "t.arrow", "--where", where, "--columns", "row"), "\n")
			require.Equal(t, whole, parts.String(), where)
		}
	}
}

// TestPlanUnion plans inputs of different columns as one table.
func TestPlanUnion(t *testing.T) {
	t.Chdir(t.TempDir())
	writeNumbered(t, arrowgen.New(1), []arrow.DataType{arrow.PrimitiveTypes.Int8}, 100, "a.arrow")
	writeNumbered(t, arrowgen.New(2), []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String}, 50, "b.arrow")
	ok(t, "convert", "-q", "a.arrow", "a.amudai.shard")
	ok(t, "convert", "-q", "b.arrow", "b.amudai.shard")
	for _, where := range []string{"c1 = 'x'", "c0 > 1000", "row > 1000000"} {
		var p planned
		require.NoError(t, json.Unmarshal([]byte(ok(t, "plan", "--json", "a.amudai.shard", "b.amudai.shard", "--where", where, "--columns", "c1,row")), &p))
		require.EqualValues(t, 150, *p.Rows)
		require.Len(t, p.Inputs, 2)
	}
}

// TestTake takes rows of formats with and without random access.
func TestTake(t *testing.T) {
	t.Chdir(t.TempDir())
	writeNumbered(t, arrowgen.New(3), []arrow.DataType{arrow.BinaryTypes.String, arrow.ListOf(arrow.PrimitiveTypes.Int32)}, 700, "t.arrow")
	ok(t, "convert", "-q", "t.arrow", "t.amudai.shard", "--stripe-rows", "100")
	ok(t, "convert", "-q", "t.arrow", "t.parquet")
	lines := strings.SplitAfter(ok(t, "cat", "t.arrow", "--format", "jsonl"), "\n")
	r := rand.New(rand.NewPCG(16, 3))
	for _, n := range []int{1, 2, 50, 2000} {
		args := []string{"--format", "jsonl"}
		var want strings.Builder
		for range n {
			row := r.IntN(700)
			args = append(args, strconv.Itoa(row))
			want.WriteString(lines[row])
		}
		for _, name := range []string{"t.arrow", "t.amudai.shard", "t.parquet"} {
			require.Equal(t, want.String(), ok(t, append([]string{"take", name}, args...)...), name)
		}
	}
}
