//go:build cgo && duckdb_arrow

package sql_test

import (
	"context"
	databasesql "database/sql"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/internal/testing/fakes3"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/sql"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/s3"
	"github.com/amudai/amudai-go/table"
)

const events = `select i, i % 7 as k, 'name ' || i % 11 as s, if(i % 5 = 0, null, 'a text that is longer: ' || i) as long, i / 8 as f, i % 3 = 0 as b,
	(i * 1.25)::decimal(15, 2) as d, date '2024-01-01' + (i % 400)::int as day from range(5000) r(i)`

// questions are asked of all formats and stores. Their answers differ if a row is lost.
var questions = []string{
	"select count(*), sum(i), count(long), min(s), max(long), sum(f), sum(d) from %s",
	"select k, s, count(*), sum(d), max(day) from %s where b and i < 4000 group by all",
	"from %s where s = 'name 3' and day > '2024-06-01'",
	"select a.i, b.long from %s a join %s b on a.i = b.k where a.k = 2",
	"from %s order by i desc limit 7",
	"from %s where long like '%9' order by long limit 3",
}

// TestFormats asks the same of files in all formats, by path, in a folder and on S3.
func TestFormats(t *testing.T) {
	t.Chdir(t.TempDir())
	server := fakes3.New(t)
	var requests, refused atomic.Int64 // of one of these
	server.Fault = func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		if requests.Add(1) != refused.Load() {
			return false
		}
		fakes3.Fail(w, http.StatusForbidden, "AccessDenied")
		return true
	}
	storage.Register("s3", s3.New(s3.Options{Backoff: time.Millisecond}))
	db := open(t, sql.Options{})
	_, err := db.Exec("create table events as " + events + "; copy events to 'e.parquet'; copy events to 'e.csv'; copy events to 'e.json'")
	require.NoError(t, err)
	require.NoError(t, os.Mkdir("folder", 0o755))
	for _, path := range []string{"e.amudai.shard", "e.root", "s3://bucket/e.amudai.shard", "s3://bucket/e.root"} {
		write(t, db, "from events", path, shard.WriterOptions{})
	}
	for _, folder := range []string{"folder/", "s3://bucket/folder/"} {
		write(t, db, "from events where i < 1234", folder+"1.amudai.shard", shard.WriterOptions{})
		write(t, db, "from events where i >= 1234", folder+"2.amudai.shard", shard.WriterOptions{StripeRows: 1000})
	}
	locations := []string{
		"'e.amudai.shard'", "ntuple('e.root', 'Events')", "'e.root:Events'", "'e.root'", "'folder/'", "'folder/*.shard'",
		"'s3://bucket/e.amudai.shard'", "ntuple('s3://bucket/e.root', 'Events')", "'s3://bucket/folder/'", "'s3://bucket/folder/*.shard'",
		"'e.parquet'", "amudai_scan('e.parquet')", "amudai_scan('e.csv')", "amudai_scan('e.json')",
	}
	for _, from := range locations {
		for _, query := range questions {
			columns := ""
			if strings.HasPrefix(query, "from") { // types of JSON and CSV are guesses
				columns = "select i::bigint as i, k::bigint as k, s, long, f::double as f, b::boolean as b, d::double as d, day::date as day "
			}
			query = columns + strings.NewReplacer("sum(d)", "sum(d)::double", "count(*)", "count(*)").Replace(query)
			sameRows(t, db, strings.ReplaceAll(query, "%s", "events"), db, strings.ReplaceAll(query, "%s", from))
		}
	}
	for _, from := range []string{"'s3://bucket/folder/'", "'s3://bucket/e.root'"} { // each request is refused once
		for _, query := range questions[:2] {
			query = strings.ReplaceAll(query, "%s", from)
			want, err := rows(t.Context(), db, query)
			require.NoError(t, err)
			slices.Sort(want)
			for n := int64(1); ; n++ {
				requests.Store(0)
				refused.Store(n)
				got, err := rows(t.Context(), db, query)
				if requests.Load() < n {
					require.NoError(t, err)
					require.Greater(t, n, int64(3))
					break
				}
				if err == nil { // it was asked for ahead
					slices.Sort(got)
					require.Equal(t, want, got, query)
				}
			}
			refused.Store(0)
		}
	}
}

// TestSpans asks spans in a Blockpack file, by name.
func TestSpans(t *testing.T) {
	b, err := os.ReadFile("../testdata/traces/shop.otlp.jsonl")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("shop.otlp.jsonl", b, 0o644))
	in, err := table.Open(t.Context(), "shop.otlp.jsonl")
	require.NoError(t, err)
	defer in.Close()
	w, err := blockpack.Create(t.Context(), "shop.blockpack", blockpack.WriterOptions{BlockSpans: 10})
	require.NoError(t, err)
	for batch, err := range in.Scan(t.Context(), table.ScanOptions{}) {
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), batch))
	}
	require.NoError(t, w.Close(t.Context()))
	db := open(t, sql.Options{})
	for _, query := range []string{
		`select "resource.service.name", "span:name", count(*), max("span:duration") from %s group by all`,
		`select p."span:name", c."span:name" from %s c join %s p on c."span:parent_id" = p."span:id" where c."span:name" <> p."span:name"`,
		`select count(*) from %s where "resource.service.name" = 'frontend'`,
		`select "span:id", "span:start" + to_milliseconds(1), epoch_ns("span:end") from %s where "span:start" >= '2025-01-01'`,
	} {
		sameRows(t, db, strings.ReplaceAll(query, "%s", "amudai_scan('shop.otlp.jsonl')"), db, strings.ReplaceAll(query, "%s", "'shop.blockpack'"))
	}
}

// TestFaults asks questions while reads fail, are short, or another process changes the files: an answer has all rows, or is an error.
func TestFaults(t *testing.T) {
	dir := t.TempDir()
	db := open(t, sql.Options{NoHints: true})
	_, err := db.Exec("create table events as " + events)
	require.NoError(t, err)
	write(t, db, "from events", filepath.Join(dir, "e.amudai.shard"), shard.WriterOptions{StripeRows: 1500})
	write(t, db, "from events", filepath.Join(dir, "e.root"), shard.WriterOptions{})
	t.Chdir(dir)
	var uses []faultstore.Use
	for _, from := range []string{"'e.amudai.shard'", "ntuple('e.root', 'Events')"} {
		for _, query := range questions {
			query := strings.ReplaceAll(query, "%s", from)
			uses = append(uses, faultstore.Use{Name: query, Run: func(string) (string, error) {
				got, err := ask(t.Context(), query)
				slices.Sort(got)
				return strings.Join(got, "\n"), err
			}})
		}
	}
	faultstore.Sweep(t, dir, []faultstore.Op{faultstore.Read, faultstore.Open}, 3, uses)
}

// ask asks a question in a database of its own.
func ask(ctx context.Context, query string) ([]string, error) {
	c, err := sql.NewConnector("?threads=2", sql.Options{})
	if err != nil {
		return nil, err
	}
	db := databasesql.OpenDB(c)
	defer db.Close()
	return rows(ctx, db, query)
}
