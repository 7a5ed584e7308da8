package command_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
)

// noText are types that text does not tell: without values, with two fields of a name, and extensions without a text.
var noText = regexp.MustCompile(`struct<>|b\.c|bool8|opaque|json`)

// TestDiffFormats writes random tables in several formats, and compares all pairs of these, by position and by key. They
// are equal. So are the differences from the same table without a row.
func TestDiffFormats(t *testing.T) {
	t.Chdir(t.TempDir())
	types := arrowgen.ReferenceTypes()
	step := sweep.Count(12, 2)
	for i := 0; i < len(types); i += step {
		g := arrowgen.New(uint64(i))
		var chosen []arrow.DataType
		for _, dt := range types[i:min(i+step, len(types))] {
			if dt.ID() != arrow.NULL && !noText.MatchString(dt.String()) {
				chosen = append(chosen, dt)
			}
		}
		writeNumbered(t, g, chosen, 60, "t.arrow")
		files := []string{"t.arrow"}
		for _, to := range []string{"t.amudai.shard", "t.parquet", "t.csv", "t.jsonl"} {
			if r := run(t, "convert", "-q", "--force", "t.arrow", to); r.code == 0 {
				files = append(files, to)
			}
		}
		require.Greater(t, len(files), 2, "%v", chosen)
		for a, old := range files {
			for _, changed := range files[a+1:] {
				if strings.HasSuffix(old, ".csv") && strings.HasSuffix(changed, ".jsonl") {
					continue // neither tells that "1.50" is a decimal
				}
				for _, more := range [][]string{nil, {"--key", "row"}} {
					note := fmt.Sprint(old, " ", changed, " ", more, " ", chosen)
					r := run(t, append([]string{"diff", old, changed, "--columns", columnsOf(len(chosen))}, more...)...)
					require.Equal(t, "no difference in 60 rows\n", r.out, "%s\n%s", note, r.errout)
					require.Equal(t, app.ExitOK, r.code, note)
				}
				r := run(t, "diff", old, changed, "--key", "row", "--where", "row <> 7", "--format", "jsonl")
				require.Contains(t, r.out, `"changed":0,"removed":0,"added":0,"equal":59`, changed)
			}
		}
	}
}

func columnsOf(n int) string {
	out := "row"
	for i := range n {
		out += fmt.Sprint(",c", i)
	}
	return out
}
