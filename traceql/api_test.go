package traceql_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/traceql"
)

func TestOrderAndLimit(t *testing.T) {
	src := tableOfSpans(t, 3, shop())
	for _, c := range []struct {
		query string
		o     traceql.Options
		want  string
	}{
		{`{ kind = server }`, traceql.Options{}, "1: 1; 2: 1"},
		{`{ kind = server }`, traceql.Options{Limit: 1}, "1: 1"},
		{`{ kind = server }`, traceql.Options{Order: traceql.MostRecent}, "2: 1; 1: 1"},
		{`{ kind = server }`, traceql.Options{Order: traceql.MostRecent, Limit: 1}, "2: 1"},
		{`{ kind = server } with (most_recent=true)`, traceql.Options{Limit: 1}, "2: 1"},
		{`{ kind = server } with (most_recent=false)`, traceql.Options{Limit: 1}, "1: 1"},
		{`{ } `, traceql.Options{Limit: 1, Spans: 2}, "1: 1 2"},
	} {
		require.Equal(t, c.want, strings.Join(find(t, c.query, c.o, src), "; "), c.query)
	}
}

func TestResult(t *testing.T) {
	q, err := traceql.Parse(`{ status = error && span.http.status_code > 100 } | by(resource.service.name) | select(resource.region, span.tags, span.db.rows)`)
	require.NoError(t, err)
	src := tableOfSpans(t, 3, shop())
	for trace, err := range traceql.Search(t.Context(), q, []traceql.Source{src}, traceql.Options{}) {
		require.NoError(t, err)
		require.Equal(t, 7, trace.Spans)
		require.Equal(t, "frontend", trace.RootService)
		require.Equal(t, "GET /cart", trace.RootName)
		got, err := json.Marshal(trace)
		require.NoError(t, err)
		set := `{"matched": 1, "attributes": [{"key": "by(resource.service.name)", "value": {"stringValue": "cart"}}],
			"spans": [{"spanID": "0000000000000003", "name": "load", "startTimeUnixNano": "1700000000012000000", "durationNanos": "68000000",
				"attributes": [
					{"key": "status", "value": {"stringValue": "error"}},
					{"key": "http.status_code", "value": {"doubleValue": 200}},
					{"key": "service.name", "value": {"stringValue": "cart"}},
					{"key": "region", "value": {"stringValue": "us"}},
					{"key": "tags", "value": {"arrayValue": {"values": [{"stringValue": "a"}, {"stringValue": "b"}, {"intValue": "7"}]}}}
				]}]}`
		require.JSONEq(t, `{
			"traceID": "00000000000000000000000000000001", "rootServiceName": "frontend", "rootTraceName": "GET /cart",
			"startTimeUnixNano": "1700000000000000000", "durationMs": 100,
			"spanSet": `+set+`, "spanSets": [`+set+`]}`, string(got))
	}
}

// counted is a source whose scans are counted.
type counted struct {
	*memorySource
	scans int
}

func (c *counted) Scan(ctx context.Context, columns []string, f filter.Expr, rows []table.RowRange) iter.Seq2[traceql.Rows, error] {
	c.scans++
	return c.memorySource.Scan(ctx, columns, f, rows)
}

// searchError is the error of a search.
func searchError(t *testing.T, query string, o traceql.Options, sources ...traceql.Source) error {
	t.Helper()
	q, err := traceql.Parse(query)
	require.NoError(t, err)
	for _, err := range traceql.Search(t.Context(), q, sources, o) {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestLimits(t *testing.T) {
	var list []span
	for trace := range byte(100) {
		for id := range byte(20) {
			list = append(list, span{trace: trace + 1, id: id + 1, parent: id, name: strings.Repeat("n", 100), start: 1, end: 2})
		}
	}
	src := tableOfSpans(t, 64, list)
	for _, query := range []string{`{ }`, `{ duration > 0ns }`, `{ trace:duration > 0ns } > { childCount = 1 } && { name != "" }`} {
		err := searchError(t, query, traceql.Options{MaxTraces: 99}, src)
		require.ErrorIs(t, err, fault.ErrLimit, query)
		require.ErrorContains(t, err, "more than 99 traces may match")
		require.NoError(t, searchError(t, query, traceql.Options{MaxTraces: 100}, src), query)
		require.NoError(t, searchError(t, query, traceql.Options{MaxTraces: 99, Limit: 10}, src, src), "a search that ends early meets no limit")
	}
	// A group of traces that is too large is read in parts, a trace that is too large is an error.
	require.Len(t, find(t, `{ }`, traceql.Options{MaxBytes: 20_000}, src), 100)
	err := searchError(t, `{ }`, traceql.Options{MaxBytes: 2000}, src)
	require.ErrorIs(t, err, fault.ErrLimit)
	require.ErrorContains(t, err, "trace 00000000000000000000000000000001 need more than 2000 bytes")
}

// A limit ends a search before all traces are read.
func TestLimitEndsEarly(t *testing.T) {
	var list []span
	for trace := range byte(200) {
		list = append(list, span{trace: trace + 1, id: 1, name: "a", start: 1, end: 2})
	}
	src := &counted{memorySource: tableOfSpans(t, 8, list)}
	require.Len(t, find(t, `{ name = "a" }`, traceql.Options{Limit: 8}, src), 8)
	require.Equal(t, 3, src.scans, "one scan for candidates, one for the spans of eight traces, one for what is shown of them")
}

// broken is a source that fails after some batches.
type broken struct {
	*memorySource
	after int
}

var errBroken = errors.New("broken")

func (b *broken) Scan(ctx context.Context, columns []string, f filter.Expr, rows []table.RowRange) iter.Seq2[traceql.Rows, error] {
	return func(yield func(traceql.Rows, error) bool) {
		for rec, err := range b.memorySource.Scan(ctx, columns, f, rows) {
			if b.after--; b.after < 0 {
				yield(traceql.Rows{}, errBroken)
				return
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

func TestErrorsOfSources(t *testing.T) {
	for after := range 5 {
		src := &broken{tableOfSpans(t, 2, shop()), after}
		require.ErrorIs(t, searchError(t, `{ } >> { status = error }`, traceql.Options{}, src), errBroken, after)
		_, _, err := traceql.Values(t.Context(), []traceql.Source{&broken{tableOfSpans(t, 1, shop()), 0}}, "span.http.status_code", traceql.ValuesOptions{})
		require.ErrorIs(t, err, errBroken)
	}
}

// misfit is a source whose batches have other columns than were asked for.
type misfit struct{ *memorySource }

func (o *misfit) Scan(ctx context.Context, columns []string, f filter.Expr, rows []table.RowRange) iter.Seq2[traceql.Rows, error] {
	if len(columns) == 1 {
		return o.memorySource.Scan(ctx, []string{"span:name"}, f, rows)
	}
	return o.memorySource.Scan(ctx, columns[:1], f, rows)
}

func TestSourcesWithOtherColumns(t *testing.T) {
	src := &misfit{tableOfSpans(t, 3, shop())}
	require.ErrorContains(t, searchError(t, `{ }`, traceql.Options{}, src), "returned column trace:id as utf8 instead of fixed_size_binary")
	require.ErrorContains(t, searchError(t, `{ }`, traceql.Options{Order: traceql.MostRecent, Limit: 1}, src), "returned 1 column instead of 2")
}

func TestTablesWithoutSpans(t *testing.T) {
	for _, c := range []struct {
		columns []column
		message string
	}{
		{[]column{{name: "a", typ: text}}, "no table of spans: there is no column trace:id"},
		{[]column{{name: "trace:id", typ: text}}, "column trace:id has type utf8, not binary"},
		{[]column{{name: "trace:id", typ: id16}}, "there is no column span:id"},
		{[]column{{name: "trace:id", typ: id16}, {name: "span:id", typ: id8}, {name: "span:start", typ: text}}, "column span:start has type utf8"},
		{[]column{{name: "trace:id", typ: id16}, {name: "span:id", typ: id8}, {name: "span:events", typ: arrow.ListOf(text)}},
			"column span:events has type list<item: utf8, nullable>"},
	} {
		err := searchError(t, `{ }`, traceql.Options{}, tableOf(t, 1, c.columns...))
		require.ErrorContains(t, err, c.message)
	}
	require.NoError(t, searchError(t, `{ }`, traceql.Options{}, tableOf(t, 1)), "a file without spans has no columns")
}

// Damaged protobuf is an error that names the column, never a span less.
func TestDamagedEvents(t *testing.T) {
	src := tableOf(t, 1, column{name: "trace:id", typ: id16, values: []any{traceID(1)}}, column{name: "span:id", typ: id8, values: []any{spanID(1)}},
		column{name: "span:events", typ: arrow.BinaryTypes.Binary, values: []any{[]byte{11<<3 | 2, 9, 1}}},
		column{name: "span:attrs_ext", typ: arrow.BinaryTypes.Binary, values: []any{[]byte("a\xff\xff")}})
	for _, query := range []string{`{ event:name != "x" }`, `{ span.a = "x" }`, `{ event:timeSinceStart > 1s } | count() > 3`} {
		require.ErrorIs(t, searchError(t, query, traceql.Options{}, src), fault.ErrCorrupt, query)
	}
	require.NoError(t, searchError(t, `{ status = unset }`, traceql.Options{}, src))
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	q, err := traceql.Parse(`{ }`)
	require.NoError(t, err)
	n := 0
	for _, err = range traceql.Search(ctx, q, []traceql.Source{tableOfSpans(t, 3, shop())}, traceql.Options{Limit: 2}) {
		n++
		cancel()
	}
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 2, n, "one trace and the error")
}

func TestNames(t *testing.T) {
	sources := []traceql.Source{tableOfSpans(t, 3, shop()[:3]), tableOfSpans(t, 3, shop()[3:])}
	names, err := traceql.Names(t.Context(), sources, "")
	require.NoError(t, err)
	require.Equal(t, "[{span [cached db.rows foo bar http.method http.status_code region tags]} {resource [region service.name]} "+
		"{instrumentation [lang]} {event [exception.message level retry]} {link [why]}]", fmt.Sprint(names[:5]))
	require.Equal(t, traceql.Scope("intrinsic"), names[5].Scope)
	require.Contains(t, names[5].Names, "span:name")
	names, err = traceql.Names(t.Context(), sources, "event")
	require.NoError(t, err)
	require.Len(t, names, 1)
	_, err = traceql.Names(t.Context(), sources, "evnt")
	require.ErrorContains(t, err, "there is no such scope")
}

func TestValues(t *testing.T) {
	list := shop()
	for name, sources := range map[string][]traceql.Source{
		"memory": {tableOfSpans(t, 3, list[:3]), tableOfSpans(t, 3, list[3:])},
		"files":  {blockpackOf(t, list[:5], blockpack.WriterOptions{BlockSpans: 2}), shardOf(t, tableOfSpans(t, 8, list[5:]))},
	} {
		for _, c := range []struct{ attribute, filter, want string }{
			{`resource.service.name`, ``, `["cart" "frontend" "ghost"]`},
			{`resource.service.name`, `{}`, `["cart" "frontend" "ghost"]`},
			{`.service.name`, ``, `["cart" "frontend" "ghost"]`},
			{`span.http.status_code`, ``, `["200" 200 500 200.0]`},
			{`.region`, ``, `["eu" "local" "us"]`},
			{`.region`, `{ status = error }`, `["us"]`},
			{`span.tags`, ``, `["a" "b" 7]`},
			{`event:name`, ``, `["exception" "log"]`},
			{`event.retry`, ``, `[2]`},
			{`name`, `{ kind = client }`, `["SELECT" "load"]`},
			{`status`, ``, `[unset ok error]`},
			{`span:kind`, `{ name =~ "GET.*" }`, `[server]`},
			{`trace:rootName`, ``, `["GET /" "GET /cart"]`},
			{`instrumentation:name`, `{ name = "SELECT" }`, `["sql"]`},
			{`span.missing`, ``, `[]`},
			{`span.cached`, ``, `[false true]`},
			{`span:childCount`, `{ } | count() > 1`, `[0 2 3]`},
		} {
			o := traceql.ValuesOptions{}
			if c.filter != "" {
				q, err := traceql.Parse(c.filter)
				require.NoError(t, err)
				o.Filter = q
			}
			values, more, err := traceql.Values(t.Context(), sources, c.attribute, o)
			require.NoError(t, err, c.attribute)
			require.Equal(t, c.want, fmt.Sprint(values), "%s of %s %s", name, c.attribute, c.filter)
			require.False(t, more)
		}
		values, more, err := traceql.Values(t.Context(), sources, "name", traceql.ValuesOptions{Limit: 2})
		require.NoError(t, err)
		require.True(t, more)
		require.Len(t, values, 2)
		_, _, err = traceql.Values(t.Context(), sources, "foo", traceql.ValuesOptions{})
		require.ErrorContains(t, err, "no intrinsic")
	}
}

// The first seven spans began in 81 ms, the last one a second after the first.
func TestTagsWithin(t *testing.T) {
	list := shop()
	at := func(n int) time.Time { return time.Unix(0, list[0].start+int64(n)*ms) }
	for name, sources := range map[string][]traceql.Source{
		"memory": {tableOfSpans(t, 3, list[:3]), tableOfSpans(t, 3, list[3:])},
		"files":  {blockpackOf(t, list[:5], blockpack.WriterOptions{BlockSpans: 2}), shardOf(t, tableOfSpans(t, 8, list[5:]))},
	} {
		for _, c := range []struct {
			start, end        time.Time
			attribute, filter string
			want              string
			sources           int
		}{
			{time.Time{}, time.Time{}, "span.http.status_code", "", `["200" 200 500 200.0]`, 2},
			{at(-5), at(2000), "span.http.status_code", "", `["200" 200 500 200.0]`, 2},
			{at(0), at(0), "span.http.status_code", "", `[500]`, 1},
			{at(12), time.Time{}, "span.http.status_code", "", `[200 200.0]`, 2},
			{time.Time{}, at(11), "resource.region", "", `["eu"]`, 1},
			{at(500), at(2000), "resource.region", "", `["eu"]`, 1},
			{at(500), at(2000), "name", "", `["GET /"]`, 1},
			{at(500), at(600), "name", "", `[]`, 0},
			{at(12), at(12), "name", "{ kind = client }", `["SELECT" "load"]`, 1}, // of the trace
			{at(500), at(2000), "name", "{ kind = client }", `[]`, 1},
			{at(500), at(2000), "trace:rootName", "", `["GET /"]`, 1},
		} {
			o := traceql.ValuesOptions{Start: c.start, End: c.end}
			if c.filter != "" {
				q, err := traceql.Parse(c.filter)
				require.NoError(t, err)
				o.Filter = q
			}
			values, _, err := traceql.Values(t.Context(), sources, c.attribute, o)
			require.NoError(t, err)
			require.Equal(t, c.want, fmt.Sprint(values), "%s: %+v", name, c)
			within, err := traceql.Within(t.Context(), sources, c.start, c.end)
			require.NoError(t, err)
			require.Len(t, within, c.sources, "%s: %+v", name, c)
		}
	}
}

func TestExplain(t *testing.T) {
	sources := []traceql.Source{blockpackOf(t, shop(), blockpack.WriterOptions{BlockSpans: 2}), tableOfSpans(t, 3, shop()[7:])}
	q, err := traceql.Parse(`{ resource.service.name = "frontend" } >> { span.db.rows = 0 && event:name = nil }`)
	require.NoError(t, err)
	e, err := traceql.Explain(t.Context(), q, sources, traceql.Options{})
	require.NoError(t, err)
	require.Nil(t, e.Run)
	text := e.String()
	for _, part := range []string{
		`candidates: { resource.service.name = "frontend" } and { span.db.rows = 0 && event:name = nil }`,
		`source 0: "resource.service.name" = 'frontend'`, "source 1: no span can match", "then span by span",
	} {
		require.Contains(t, text, part)
	}
	require.NotNil(t, e.Scans[0].Sources[0].Plan, "the file describes its scan")
	e, err = traceql.Analyze(t.Context(), q, sources, traceql.Options{})
	require.NoError(t, err)
	require.Equal(t, traceql.Run{Candidates: 1, Fetched: 1, Spans: 7, Evaluated: 1, Steps: 30, Traces: 1}, *e.Run)
	require.Contains(t, e.String(), "1 candidates, 1 traces read with 7 spans")
}

// The rarest condition is looked for first.
func TestExplainOrder(t *testing.T) {
	src := blockpackOf(t, shop(), blockpack.WriterOptions{BlockSpans: 1})
	for _, query := range []string{`{ resource.region = "eu" } && { name = "auth" }`, `{ name = "auth" } && { resource.region = "eu" }`} {
		q, err := traceql.Parse(query)
		require.NoError(t, err)
		e, err := traceql.Explain(t.Context(), q, []traceql.Source{src}, traceql.Options{})
		require.NoError(t, err)
		order := []string{e.Scans[0].Condition, e.Scans[1].Condition}
		require.Equal(t, []string{`{ name = "auth" }`, `{ resource.region = "eu" }`}, order)
	}
}

// Conditions become filters that exclude what they can.
func TestLowered(t *testing.T) {
	src := tableOfSpans(t, 8, shop())
	for _, c := range []struct {
		condition, filter string
		exact             bool
	}{
		{`name = "x"`, `"span:name" = 'x'`, true},
		{`name = ""`, `"span:name" = '' or "span:name" is null`, true},
		{`duration > 5ms && kind = server`, `"span:duration" > '5ms' and "span:kind" = 2`, true},
		{`status = unset`, `"span:status" = 0 or "span:status" is null`, true},
		{`resource.region = "eu"`, `"resource.region" = 'eu'`, true},
		{`!(resource.region = "eu")`, `"resource.region" is null or not "resource.region" = 'eu'`, true},
		{`resource.region =~ "e.*"`, `"resource.region" matches '^(?:e.*)$'`, true},
		{`span.cached`, `"span.cached" = true or "span:attrs_ext" contains 'cached'`, false},
		{`span.http.status_code > 200`,
			`"span.http.status_code" > 200 or "span.http.status_code#float64" > 200 or "span:attrs_ext" contains 'http.status_code'`, false},
		{`resource.region != nil`, `"resource.region" is not null`, true},
		{`trace:id = "1f"`, `"trace:id" in (x'0000000000000000000000000000001f')`, true},
		{`event.exception.message = "no rows"`, `"span:events" contains 'exception.message' and "span:events" contains 'no rows'`, false},
		{`parent = nil`, `"span:parent_id" is null or "span:parent_id" in (x'0000000000000000')`, true},
		{`rootName = "a" && status = error`, `"span:status" = 2`, false},
		{`resource.region = resource.service.name`, `"resource.region" is not null and "resource.service.name" is not null`, false},
	} {
		q, err := traceql.Parse("{ " + c.condition + " }")
		require.NoError(t, err)
		e, err := traceql.Explain(t.Context(), q, []traceql.Source{src}, traceql.Options{})
		require.NoError(t, err)
		got := e.Scans[0].Sources[0]
		require.Equal(t, c.filter, got.Filter.String(), c.condition)
		require.Equal(t, c.exact, got.Exact, c.condition)
	}
}

// The evaluation of a trace is limited.
func TestMaxSteps(t *testing.T) {
	src := tableOfSpans(t, 8, shop())
	const query = `{ } | by(span:id) | ({ } !> { name != "" }) | count() > 0`
	q, err := traceql.Parse(query)
	require.NoError(t, err)
	e, err := traceql.Analyze(t.Context(), q, []traceql.Source{src}, traceql.Options{})
	require.NoError(t, err)
	require.NoError(t, searchError(t, query, traceql.Options{MaxSteps: e.Run.Steps}, src))
	err = searchError(t, query, traceql.Options{MaxSteps: 50}, src)
	require.ErrorIs(t, err, fault.ErrLimit)
	require.ErrorContains(t, err, "trace 00000000000000000000000000000001: limit exceeded: the evaluation of the query needs more than 50 steps")
}

// Two lists take as many steps as they have pairs.
func TestStepsOfLists(t *testing.T) {
	one := span{trace: 1, id: 1, name: "a", start: 1, end: 2}
	for i := range int64(1000) {
		one.events = append(one.events, event{"e", 1, map[string]any{"a": i, "b": -1 - i}})
	}
	const query = `{ event.a = event.b }`
	src := tableOfSpans(t, 1, []span{one})
	require.NoError(t, searchError(t, query, traceql.Options{}, src))
	require.ErrorIs(t, searchError(t, query, traceql.Options{MaxSteps: 1_000_000}, src), fault.ErrLimit)
}

// Long queries take neither much time nor stack.
func TestLongQueries(t *testing.T) {
	src := tableOfSpans(t, 8, shop())
	for _, link := range []string{` || name = "%d"`, ` || trace:rootName = "%d"`, ` && parent.name != "%d"`, ` && span.a%d = nil`, ` || .a%d = 1`} {
		var query strings.Builder
		query.WriteString(`{ name = "auth"`)
		for i := range 500 {
			fmt.Fprintf(&query, link, i)
		}
		query.WriteString(" }")
		require.Equal(t, []string{"1: 2"}, find(t, query.String(), traceql.Options{}, src), link)
	}
	sets := strings.Repeat(`{ name = "auth" } || `, 500) + `{ }`
	require.Len(t, find(t, sets, traceql.Options{}, src), 2)
}
