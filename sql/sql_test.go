//go:build cgo && duckdb_arrow

package sql_test

import (
	"context"
	databasesql "database/sql"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/rntuple"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/sql"
	_ "github.com/amudai/amudai-go/table/formats"
)

// open opens a database in memory.
func open(t testing.TB, o sql.Options) *databasesql.DB {
	t.Helper()
	c, err := sql.NewConnector("", o)
	require.NoError(t, err)
	db := databasesql.OpenDB(c)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// writer is what a format has to write with.
type writer interface {
	Write(ctx context.Context, batch arrow.RecordBatch) error
	Close(ctx context.Context) error
}

// write writes the answer to a question as a shard, or as the ntuple Events of a ROOT file.
func write(t testing.TB, db *databasesql.DB, query, path string, o shard.WriterOptions) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.Raw(func(c any) error {
		rows, err := c.(*sql.Conn).QueryArrow(t.Context(), query)
		if err != nil {
			return err
		}
		defer rows.Release()
		var w writer
		if strings.HasSuffix(path, ".root") {
			w, err = rntuple.Create(t.Context(), path, rows.Schema(), rntuple.WriterOptions{Name: "Events"})
		} else {
			w, err = shard.Create(t.Context(), path, rows.Schema(), o)
		}
		if err != nil {
			return err
		}
		for rows.Next() {
			if err := w.Write(t.Context(), rows.RecordBatch()); err != nil {
				return err
			}
		}
		require.NoError(t, rows.Err())
		return w.Close(t.Context())
	}))
}

// rows are the rows of an answer as texts, floats with twelve digits.
func rows(ctx context.Context, db *databasesql.DB, query string) ([]string, error) {
	r, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	names, err := r.Columns()
	if err != nil {
		return nil, err
	}
	out := []string{}
	for r.Next() {
		values, to := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			to[i] = &values[i]
		}
		if err := r.Scan(to...); err != nil {
			return nil, err
		}
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = fmt.Sprint(v)
			if f, ok := v.(float64); ok && !math.IsNaN(f) {
				texts[i] = strconv.FormatFloat(f, 'g', 10, 64)
			}
		}
		out = append(out, strings.Join(texts, "|"))
	}
	return out, r.Err()
}

var tpchTables = []string{"customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier"}

// tpch makes the tables of TPC-H in a database of DuckDB, and as shards in the current folder, under the same names without an extension.
func tpch(t testing.TB, scale string) (duck *databasesql.DB) {
	t.Helper()
	folder := t.TempDir()
	generate(t, scale, folder)
	duck = open(t, sql.Options{NoHints: true})
	t.Chdir(t.TempDir())
	load(t, duck, folder, ".")
	return duck
}

// generate makes the tables of TPC-H as Parquet files.
func generate(t testing.TB, scale, folder string) {
	t.Helper()
	program := os.Getenv("AMUDAI_TPCHGEN")
	if program == "" {
		require.Empty(t, os.Getenv("CI"), "AMUDAI_TPCHGEN is not set")
		t.Skip("AMUDAI_TPCHGEN names no program tpchgen-cli: make test-sql sets it")
	}
	out, err := exec.Command(program, "parquet", "-s", scale, "-o", folder).CombinedOutput()
	require.NoError(t, err, string(out))
}

// load reads Parquet files into tables of a database and into shards.
func load(t testing.TB, duck *databasesql.DB, folder, shards string) {
	t.Helper()
	for _, name := range tpchTables {
		_, err := duck.Exec("create table " + name + " as from '" + filepath.Join(folder, name+".parquet") + "'")
		require.NoError(t, err)
		write(t, duck, "from "+name, filepath.Join(shards, name), shard.WriterOptions{})
	}
}

// TestTPCH asks the 22 questions of TPC-H. The answers are those of DuckDB on its own tables.
func TestTPCH(t *testing.T) {
	duck := tpch(t, "0.01")
	ours := open(t, sql.Options{})
	for file, want := range map[string]int{"tpch.sql": 22, "questions.sql": 38} {
		text, err := os.ReadFile(filepath.Join(testFolder, file))
		require.NoError(t, err)
		n := 0
		for query := range strings.SplitSeq(string(text), ";") {
			if query = strings.TrimSpace(query); query != "" {
				same(t, duck, ours, query)
				n++
			}
		}
		require.Equal(t, want, n)
	}
}

// testFolder is known before a test changes the folder.
var testFolder, _ = filepath.Abs("testdata")

// same requires the same rows of both, in any order.
func same(t testing.TB, duck, ours *databasesql.DB, query string) {
	t.Helper()
	sameRows(t, duck, query, ours, query)
}

// sameRows requires the same answers to two questions, in any order of rows.
func sameRows(t testing.TB, duck *databasesql.DB, wanted string, ours *databasesql.DB, query string) {
	t.Helper()
	want, err := rows(t.Context(), duck, wanted)
	require.NoError(t, err, wanted)
	got, err := rows(t.Context(), ours, query)
	require.NoError(t, err, query)
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(t, want, got, query)
}

// TestTypes reads values of all types that both have, as DuckDB wrote them: the extreme ones, and of times some, because DuckDB has years that shards
// have not.
func TestTypes(t *testing.T) {
	db := open(t, sql.Options{})
	t.Chdir(t.TempDir())
	_, err := db.Exec(`create type enum_type as enum ('yes', 'no'); create table times as select * from (values
		(date '1970-01-01', timestamp_s '2024-02-29 23:59:59', timestamp_ms '1999-12-31 23:59:59.999', timestamp '2001-01-01 00:00:00.000001', timestamp_ns '2001-01-01 00:00:00.000000001',
			timestamptz '2024-06-01 12:00:00.5+02', time '23:59:59.999999', {'a': [date '2024-01-01', null], 'b': map {'x': 1.5::decimal(38, 10)}}, [[1, null], null, []], 'yes'::enum_type,
			uuid '01234567-89ab-cdef-0123-456789abcdef'),
		(date '9999-12-31', timestamp_s '0001-01-01 00:00:00', timestamp_ms '1969-12-31 23:59:59.999', timestamp '1900-01-01 00:00:00.5', timestamp_ns '1900-01-01', timestamptz '1900-01-01 00:00:00+00', time '00:00:00',
			{'a': null, 'b': map {}}, [], 'no'::enum_type, uuid 'ffffffff-ffff-ffff-ffff-ffffffffffff'), (null, null, null, null, null, null, null, null, null, null, null))
		t(d, s, ms, us, ns, tz, tod, nested, lists, word, id)`)
	require.NoError(t, err)
	tables := map[string]string{"times": "", "(from test_all_types())": "bit bignum time_tz hugeint uhugeint time_ns interval geometry variant dec38_10 date timestamp timestamp_s timestamp_ms timestamp_ns timestamp_tz date_array timestamp_array timestamptz_array"}
	found := 0
	for from, left := range tables {
		names, err := rows(t.Context(), db, "select column_name from (describe from "+from+")")
		require.NoError(t, err)
		for _, name := range names {
			if slices.Contains(strings.Fields(left), name) {
				continue
			}
			path := name + ".amudai.shard"
			column := `"` + name + `"`
			write(t, db, "select "+column+" from "+from, path, shard.WriterOptions{})
			want, err := rows(t.Context(), db, "select "+column+"::varchar, typeof("+column+") from "+from)
			require.NoError(t, err)
			got, err := rows(t.Context(), db, "select "+column+"::varchar, typeof("+column+") from '"+path+"'")
			require.NoError(t, err, name)
			if text := strings.Join(want, ""); strings.Contains(text, "ENUM") || strings.Contains(text, "UUID") { // which DuckDB writes as words
				for i := range want {
					want[i], _, _ = strings.Cut(want[i], "|")
					got[i], _, _ = strings.Cut(got[i], "|")
				}
			}
			require.Equal(t, want, got, name)
			found++
		}
	}
	require.Greater(t, found, 35)
}

// TestUnkeptTypes refuses results that DuckDB would change: 2^128-1 as -1, times without their zone. Other integers of 128 bits become decimals.
func TestUnkeptTypes(t *testing.T) {
	db := open(t, sql.Options{})
	t.Chdir(t.TempDir())
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	for query, kind := range map[string]string{
		"1::uhugeint as v": "UHUGEINT", "'12:00:00+02'::timetz as v": "TIME WITH TIME ZONE", "'101'::bit as v": "BIT", "1::bignum as v": "BIGNUM",
		"[1::uhugeint] as v": "UHUGEINT", "{'a': map {1: array['1'::bit]}} as v": "BIT", "union_value(a := {'b': 1::bignum}) as v": "BIGNUM",
	} {
		require.NoError(t, conn.Raw(func(c any) error {
			_, err := c.(*sql.Conn).QueryArrow(t.Context(), "select 1 as a, "+query)
			require.EqualError(t, err, `column "v" has values of type `+kind+`, which Arrow has no type for: cast them, for example to VARCHAR`)
			return nil
		}))
	}
	require.NoError(t, conn.Close())
	const wide = "9999999999999999999999999999999999" // as many digits as a shard has room for
	write(t, db, "select "+wide+"::hugeint as v union all select -"+wide, "x.amudai.shard", shard.WriterOptions{})
	got, err := rows(t.Context(), db, "select v::varchar, typeof(v) from 'x.amudai.shard'")
	require.NoError(t, err)
	require.Equal(t, []string{wide + "|DECIMAL(38,0)", "-" + wide + "|DECIMAL(38,0)"}, got)
}

// TestUnsupportedType names the column.
func TestUnsupportedType(t *testing.T) {
	db := open(t, sql.Options{})
	t.Chdir(t.TempDir())
	s := arrow.NewSchema([]arrow.Field{{Name: "when", Type: arrow.FixedWidthTypes.Time64ns}}, nil)
	w, err := shard.Create(t.Context(), "x.amudai.shard", s, shard.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Close(t.Context()))
	_, err = rows(t.Context(), db, "from 'x.amudai.shard'")
	require.ErrorContains(t, err, `x.amudai.shard: column "when": time64[ns] has no type in DuckDB`)
}

// TestZonedNanoseconds keeps all digits of timestamps, also within lists and structs.
func TestZonedNanoseconds(t *testing.T) {
	db := open(t, sql.Options{})
	t.Chdir(t.TempDir())
	zoned := &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "Europe/Berlin"}
	s := arrow.NewSchema([]arrow.Field{{Name: "at", Type: zoned, Nullable: true}, {Name: "all", Type: arrow.ListOf(arrow.StructOf(arrow.Field{Name: "of", Type: zoned}))}}, nil)
	b, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, strings.NewReader(`[{"at": "2024-06-01T12:00:00.123456789Z", "all": [{"of": "1969-12-31T23:59:59.999999999Z"}, {"of": "2024-01-01T00:00:00Z"}]},
		{"at": null, "all": []}]`))
	require.NoError(t, err)
	defer b.Release()
	w, err := shard.Create(t.Context(), "x.amudai.shard", s, shard.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), b))
	require.NoError(t, w.Close(t.Context()))
	got, err := rows(t.Context(), db, `select "at"::varchar, epoch_ns("at"), "all"::varchar, typeof("at") from 'x.amudai.shard'`)
	require.NoError(t, err)
	require.Equal(t, []string{"2024-06-01 12:00:00.123456789|1717243200123456789|[{'of': '1969-12-31 23:59:59.999999999'}, {'of': '2024-01-01 00:00:00'}]|TIMESTAMP_NS", "<nil>|<nil>|[]|TIMESTAMP_NS"}, got)
	got, err = rows(t.Context(), db, `select count(*) from 'x.amudai.shard' where "at" = '2024-06-01 12:00:00.123456789'`)
	require.NoError(t, err)
	require.Equal(t, []string{"1"}, got)
}

// TestLocations reads folders, patterns, several files, and names errors.
func TestLocations(t *testing.T) {
	db := open(t, sql.Options{})
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("f", 0o755))
	write(t, db, "select 1 as a, 'x' as b", "f/one.amudai.shard", shard.WriterOptions{})
	write(t, db, "select 2 as a, 3 as c", "f/two.amudai.shard", shard.WriterOptions{})
	for _, from := range []string{"'f/'", "'f/*.shard'", "amudai_scan('f')"} {
		got, err := rows(t.Context(), db, "select a, b, c from "+from+" order by a")
		require.NoError(t, err, from)
		require.Equal(t, []string{"1|x|<nil>", "2|<nil>|3"}, got, from)
	}
	got, err := rows(t.Context(), db, "select count(*) from 'f/'")
	require.NoError(t, err)
	require.Equal(t, []string{"2"}, got)
	_, err = rows(t.Context(), db, "from 'f/none.amudai.shard'")
	require.ErrorContains(t, err, "f/none.amudai.shard does not exist")
	_, err = rows(t.Context(), db, "from none")
	require.ErrorContains(t, err, "Table with name none does not exist")
	require.NoError(t, os.WriteFile("bad.amudai.shard", []byte("no shard"), 0o644))
	_, err = rows(t.Context(), db, "from 'bad.amudai.shard'")
	require.ErrorContains(t, err, "bad.amudai.shard")
	_, err = rows(t.Context(), db, "from ntuple('bad.root', 'Events')")
	require.ErrorContains(t, err, "bad.root")
}

// TestDeletedRows asks a shard with deleted rows, whose numbers and statistics still count them.
func TestDeletedRows(t *testing.T) {
	db := open(t, sql.Options{})
	t.Chdir(t.TempDir())
	const path = "x.amudai.shard"
	write(t, db, "select i, i % 7 as k, 'n' || i % 5 as s from range(10000) r(i)", path, shard.WriterOptions{})
	_, err := shard.Delete(t.Context(), path, shard.EditOptions{}, shard.Rows{Ranges: []shard.RowRange{{From: 0, To: 100}, {From: 5000, To: 5001}, {From: 9000, To: 10000}}})
	require.NoError(t, err)
	_, err = db.Exec("create table kept as select i, i % 7 as k, 'n' || i % 5 as s from range(10000) r(i) where i >= 100 and i <> 5000 and i < 9000")
	require.NoError(t, err)
	for _, query := range []string{
		"select count(*) from %s", "select min(i), max(i), count(i), sum(i) from %s", "from %s where i < 110 or i > 8990", "from %s where i = 5000", "from %s where i in (99, 100, 5001)",
		"select k, s, count(*) from %s group by all", "select distinct s from %s where k = 3", "from %s order by i desc limit 3", "from %s order by i limit 3 offset 4900",
		"select count(*) from %s a join %s b on a.i = b.i",
	} {
		sameRows(t, db, strings.ReplaceAll(query, "%s", "kept"), db, strings.ReplaceAll(query, "%s", "'"+path+"'"))
	}
}

// TestPrepared asks a prepared question with several values.
func TestPrepared(t *testing.T) {
	db := open(t, sql.Options{})
	t.Chdir(t.TempDir())
	write(t, db, "select i, i % 7 as k from range(10000) r(i)", "x.amudai.shard", shard.WriterOptions{})
	stmt, err := db.PrepareContext(t.Context(), "select count(*) from 'x.amudai.shard' where i < ? and k = ?")
	require.NoError(t, err)
	defer stmt.Close()
	for _, limit := range []int{0, 700, 7000} {
		var n int
		require.NoError(t, stmt.QueryRow(limit, 3).Scan(&n))
		require.Equal(t, limit/7, n)
		require.NoError(t, db.QueryRow("select count(*) from 'x.amudai.shard' where i < ? and k = ?", limit, 3).Scan(&n))
		require.Equal(t, limit/7, n)
	}
}

// TestCancel ends a question that would take hours, and leaves nothing behind.
func TestCancel(t *testing.T) {
	db := open(t, sql.Options{})
	t.Chdir(t.TempDir())
	write(t, db, "select i from range(100000) r(i)", "x.amudai.shard", shard.WriterOptions{})
	_, err := rows(t.Context(), db, "select count(*) from 'x.amudai.shard'")
	require.NoError(t, err)
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err = rows(ctx, db, "select count(*) from 'x.amudai.shard' a, 'x.amudai.shard' b, 'x.amudai.shard' c where a.i + b.i * c.i = 77")
	require.ErrorIs(t, err, context.Canceled)
	noMoreGoroutines(t, before)
	_, err = rows(t.Context(), db, "select * from 'x.amudai.shard' limit 3") // a scan that is left early
	require.NoError(t, err)
	noMoreGoroutines(t, before)
}

// noMoreGoroutines waits until those that a question began have ended. Eventually of testify would count its own.
func noMoreGoroutines(t *testing.T, before int) {
	t.Helper()
	for range 5000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}

// TestHints holds answers with and without conditions in scans equal, and counts the rows that are read.
func TestHints(t *testing.T) {
	var read atomic.Int64
	with := open(t, sql.Options{Scanned: func(n int64) { read.Add(n) }})
	without := open(t, sql.Options{NoHints: true})
	t.Chdir(t.TempDir())
	write(t, with, `select i::int as a, (1000 - i)::int as b, 'n' || i % 100 as s, (i / 4)::decimal(9, 2) as d, if(i % 10 = 0, 'nan'::double, i / 2) as f,
		if(i % 3 = 0, null, i) as n, date '2024-01-01' + i::int as day, timestamp '2024-01-01 00:00:00' + interval (i) hour as "at",
		"at"::timestamp_s as s3, "at"::timestamp_ms as ms, "at"::timestamp_ns as ns, i % 2 = 0 as even, (1000 - i)::int as "a>=1 AND b"
		from range(1000) r(i)`, "x", shard.WriterOptions{})
	write(t, with, `select * exclude ("a>=1 AND b") from x`, "y", shard.WriterOptions{})
	for _, c := range []struct {
		query string
		rows  int64 // that are read
	}{
		{"from y where a = 7", 1},
		{"from y where a between 10 and 19 and s in ('n12', 'n13', 'n50')", 2},
		{"from y where s like 'n9%'", 110},
		{"from y where s like '%9'", 100},
		{"from y where d >= 200.5 and d < 201", 2},
		{"from y where f > 499", 101},
		{"from y where f <= 1", 2},
		{"from y where f <> 1", 999},
		{"from y where n is null", 334},
		{"from y where n is not null and even", 333},
		{"from y where day < date '2024-02-01'", 31},
		{"from y where s3 < '2024-01-01 05:00:00' and ms >= '2024-01-01 04:00:00' and ns < '2024-01-01 06:00:00'", 1},
		{"from y where \"at\" >= '2024-01-02' and \"at\" < '2024-01-03'", 24},
		{"select b from (select a as b, b as a from y) where b > 997", 2}, // names change
		{"from y as t(b, a) where b > 997", 2},                            // as here
		{"select * from y p join y q on p.a = q.b where p.a = 5", 4},      // each scan of the table reads what either needs
		{"select * from y where a = 5 union all select * from y where b = 5", 4},
		{"with t as (from y) select * from t p, t q where p.a = 5 and q.a = 6", -1},
		{"from y where a = 5 or b = 6", 1000},
		{"from y where a = (select max(b) from y where a > 10)", -1},
		{"from y where day > current_date - 100000", 1000}, // has another value later
		{"from y where random() >= 0", 1000},
		{`from x where "a>=1 AND b" > 5`, 1000}, // a name like a condition
		{"from y where s collate nocase = 'N5'", 1000},
		{"from y where s = 'error'", 0},
		{"select * from y p join amudai_scan('y') q on p.a = q.b where p.a = 5", 2000}, // a scan without a name
		{"from y where s = 'N5' or s = e'\\\\' or s = 'it''s'", -1},
	} {
		read.Store(0)
		same(t, without, with, c.query)
		if c.rows >= 0 {
			require.Equal(t, c.rows, read.Load(), c.query)
		}
	}
	for _, setting := range []string{"set default_collation = 'nocase'", "set default_collation = ''; create macro prefix(a, b) as true"} {
		for _, db := range []*databasesql.DB{with, without} {
			_, err := db.Exec(setting)
			require.NoError(t, err)
		}
		same(t, without, with, "from y where s = 'N5'")
		same(t, without, with, "from y where prefix(s, 'n1')")
	}
	for _, view := range []string{"create view x as select b as a, a as b from y", "create or replace view x as select a + 1 as a, b from amudai_scan('x')"} { // names of files
		for _, db := range []*databasesql.DB{with, without} {
			_, err := db.Exec(view)
			require.NoError(t, err)
		}
		same(t, without, with, "select a, b from x where a = 5")
		same(t, without, with, "select x.a, X.b, y.a, y.b from X, amudai_scan('y') y where x.a = 5 and y.a = 5")
	}
}
