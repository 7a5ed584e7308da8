package command_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestImportByReference has questions to a shard of references answered as those to its files are, from a web server too.
func TestImportByReference(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("data/more", 0o777))
	for i, name := range []string{"data/a.parquet", "data/more/b c.parquet", "data/more/d.parquet"} {
		var csv strings.Builder
		csv.WriteString("n,word\n")
		for k := range 1000 {
			fmt.Fprintf(&csv, "%d,word %d\n", 1000*i+k, k%17)
		}
		require.NoError(t, os.WriteFile("in.csv", []byte(csv.String()), 0o666))
		ok(t, "convert", "-q", "in.csv", name)
	}
	ok(t, "import", "--by-reference", "data", "-o", "all.amudai.shard")
	server := httptest.NewServer(http.FileServer(http.Dir(".")))
	defer server.Close()
	for _, location := range []string{"all.amudai.shard", server.URL + "/all.amudai.shard"} {
		require.Equal(t, run(t, "cat", "data").out, run(t, "cat", location).out)
		require.Equal(t, "3000\n", run(t, "count", location).out)
		for _, where := range []string{"n = 1500", "word = 'word 3' and n > 900", "word is null"} {
			require.Equal(t, run(t, "cat", "data", "--where", where).out, run(t, "cat", location, "--where", where).out, where)
		}
		require.Equal(t, run(t, "agg", "data", "--by", "word", "count(), sum(n), min(n)", "--sort", "word").out, run(t, "agg", location, "--by", "word", "count(), sum(n), min(n)", "--sort", "word").out)
		require.Equal(t, run(t, "take", "data", "2999", "5").out, run(t, "take", location, "2999", "5").out)
	}
	ok(t, "verify", "-q", "all.amudai.shard")

	for args, says := range map[string]string{
		"import data/a.parquet -o x":                               "--by-reference",
		"import --by-reference data/a.parquet":                     "needs the name of the shard",
		"import --by-reference data/a.parquet -o data/more/x":      "outside of the shard's container",
		"import --by-reference in.csv -o x":                        "not a Parquet file",
		"import --by-reference data/none.parquet -o x":             "data/none.parquet",
		"import --by-reference data/a.parquet -o all.amudai.shard": "exists already",
	} {
		r := run(t, strings.Fields(args)...)
		require.NotZero(t, r.code, args)
		require.Contains(t, r.errout, says, args)
	}
	require.NoError(t, os.Remove("data/a.parquet"))
	r := run(t, "cat", "all.amudai.shard")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errout, "a.parquet")
}
