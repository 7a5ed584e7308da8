package command_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/rntuple"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// jagged are answers about a column of vectors.
type jagged struct {
	Hist                   []int64
	Two, Above, Long, High int64
	Most                   *float64
	Both                   []any
}

// TestInteropJagged compares histograms, conditions and aggregates of vectors with those of numpy and awkward over uproot.
func TestInteropJagged(t *testing.T) {
	program := python(t)
	script, err := filepath.Abs(filepath.Join("testdata", "jagged.py"))
	require.NoError(t, err)
	files, err := filepath.Glob(corpus(t, "rntuple/*.root"))
	require.NoError(t, err)
	columns, pairs := 0, 0
	for _, file := range files {
		list, err := rntuple.New(rntuple.FormatOptions{}).Tables(t.Context(), provider.Input{Name: file, Location: file})
		if err != nil {
			continue
		}
		for _, e := range list {
			location := file + ":" + e.Path
			names := vectorsOf(t, location)
			if e.Err != nil || len(names) == 0 || strings.Contains(e.Path, ":") {
				continue
			}
			c := exec.CommandContext(t.Context(), program, append([]string{script, file, e.Path}, names...)...)
			c.Stderr = os.Stderr
			raw, err := c.Output()
			require.NoError(t, err, location)
			var all map[string]jagged
			require.NoError(t, json.Unmarshal(raw, &all))
			for name, want := range all {
				columns++
				x := `"` + name + `"`
				lines := strings.Split(strings.TrimSpace(ok(t, "agg", location, fmt.Sprintf("hist(%s, -64, 192, 50)", x), "--format", "csv")), "\n")[1:]
				require.Len(t, lines, len(want.Hist))
				for i, line := range lines {
					require.Equal(t, strconv.FormatInt(want.Hist[i], 10), strings.Split(line, ",")[2], "%s of %s, bin %d", name, location, i)
				}
				count := func(where string, n int64) {
					require.Equal(t, strconv.FormatInt(n, 10), strings.TrimSpace(ok(t, "count", location, "--where", where)), "%s of %s", where, location)
				}
				count(fmt.Sprintf("count(%s > 1.5) >= 2", x), want.Two)
				count(fmt.Sprintf("len(%s) > 2", x), want.Long)
				count(fmt.Sprintf("max(%s) > 1.5", x), want.High)
				got := strings.Split(strings.Split(ok(t, "agg", location, fmt.Sprintf("sum(count(%s > 1.5)), max(max(%[1]s))", x), "--format", "csv"), "\n")[1], ",")
				require.Equal(t, strconv.FormatInt(want.Above, 10), strings.TrimSuffix(got[0], ".0"), "%s of %s", name, location)
				if want.Most != nil {
					most, err := strconv.ParseFloat(got[1], 64)
					require.NoError(t, err)
					require.Equal(t, float32(*want.Most), float32(most), "%s of %s", name, location)
				}
				if want.Both != nil {
					pairs++
					count(fmt.Sprintf(`any(%s > 1.5 and "%s" < 0.5)`, x, want.Both[0]), int64(want.Both[1].(float64)))
				}
			}
		}
	}
	t.Logf("%d columns, %d pairs", columns, pairs)
	require.Greater(t, columns, 10)
	require.Greater(t, pairs, 3)
}

// vectorsOf are the columns of a table that are lists of numbers.
func vectorsOf(t *testing.T, location string) (names []string) {
	tab, err := table.Open(t.Context(), location)
	if err != nil {
		return nil
	}
	defer tab.Close()
	s, err := tab.Schema(t.Context())
	if err != nil {
		return nil
	}
	for _, f := range s.Fields() {
		if l, ok := f.Type.(*arrow.ListType); ok && (arrow.IsInteger(l.Elem().ID()) || arrow.IsFloating(l.Elem().ID())) {
			names = append(names, f.Name)
		}
	}
	return names[:min(len(names), 12)] // the next ones are much like these
}
