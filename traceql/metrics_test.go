package traceql_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/traceql"
)

// seriesOf evaluates a query: a line for each series, with the values of intervals by their number, from 1.
func seriesOf(t testing.TB, query string, o traceql.MetricsOptions, start int64, sources ...traceql.Source) []string {
	t.Helper()
	q, err := traceql.Parse(query)
	require.NoError(t, err, query)
	list, err := traceql.Metrics(t.Context(), q, sources, o)
	require.NoError(t, err, query)
	out := []string{}
	for _, s := range list {
		var parts []string
		for _, l := range s.Labels {
			parts = append(parts, l.Name+"="+l.Value.String())
		}
		text := strings.Join(parts, ",") + ":"
		for _, x := range s.Samples {
			if x.Value != 0 {
				text += fmt.Sprintf(" %d=%s", (x.Time.UnixNano()-start)/int64(o.Step), strconv.FormatFloat(x.Value, 'g', 5, 64))
			}
		}
		for _, e := range s.Exemplars {
			text += fmt.Sprintf(" (%d.%d %s)", last(e.TraceID), last(e.Span.ID), strconv.FormatFloat(e.Value, 'g', 5, 64))
		}
		out = append(out, text)
	}
	return out
}

// seriesLanguage has the queries of docs/traceql.md that make time series, and their values other than 0 in steps of 50 ms of shop.
var seriesLanguage = []struct{ query, want string }{
	{`{ } | rate()`, `__name__="rate": 1=120 2=20 20=20`},
	{`{ status = error } | count_over_time()`, `__name__="count_over_time": 1=2`},
	{`{ } | count_over_time() by(resource.service.name)`,
		`resource.service.name="cart": 1=3; resource.service.name="frontend": 1=2 2=1 20=1; resource.service.name="ghost": 1=1`},
	{`{ kind = client } | min_over_time(duration)`, `__name__="min_over_time": 1=0.02`},
	{`{ } | max_over_time(duration)`, `__name__="max_over_time": 1=0.1 2=0.018 20=0.005`},
	{`{ kind = client } | avg_over_time(duration) by(name)`, `name="SELECT": 1=0.027; name="load": 1=0.068`},
	{`{ } | sum_over_time(span.db.rows)`, `__name__="sum_over_time": 1=3`},
	{`{ } | quantile_over_time(duration, .5, .99)`, `p=0.5: 1=0.033554 2=0.033554 20=0.0083886; p=0.99: 1=0.13422 2=0.033554 20=0.0083886`},
	{`{ } | histogram_over_time(duration) by(kind)`, `kind=unspecified,__bucket=0.001048576: 1=1; kind=unspecified,__bucket=0.033554432: 2=1; ` +
		`kind=internal,__bucket=0.016777216: 1=1; kind=server,__bucket=0.008388608: 20=1; kind=server,__bucket=0.134217728: 1=1; ` +
		`kind=client,__bucket=0.033554432: 1=1; kind=client,__bucket=0.067108864: 1=1; kind=client,__bucket=0.134217728: 1=1`},
	{`{ } | rate() by(name) | topk(1)`, `name="GET /": 20=20; name="SELECT": 1=40; name="render": 2=20`},
	{`{ status = error } | count_over_time() by(name) | bottomk(1)`, `name="load": 1=1`},
	{`{ } | rate() by(resource.service.name) > 30`, `resource.service.name="cart": 1=60; resource.service.name="frontend": 1=40`},
	{`{ } | max_over_time(duration) by(name) > 60ms`, `name="GET /cart": 1=0.1; name="load": 1=0.068`},
	{`{ name = "load" } > { } | rate() by(span.db.rows)`, `span.db.rows=0: 1=20; span.db.rows=3: 1=20`},
	{`{ } | by(resource.service.name) | count() > 2 | rate()`, `__name__="rate": 1=100 2=20`},
	{`{ event:name = "exception" } | select(resource.region) | rate() with (exemplars=true)`, `__name__="rate": 1=20 (1.3 20)`},
	{`{ kind = client } | compare({ status = error })`,
		`__meta_type="baseline",instrumentation.lang="go": 1=1; __meta_type="baseline",instrumentation:name="sql": 1=1; …`},
}

func TestSeriesLanguage(t *testing.T) {
	const step = 50 * time.Millisecond
	base := shop()[0].start
	list := shop()
	list[0].start++ // the start of the window does not belong to it
	o := traceql.MetricsOptions{Start: time.Unix(0, base), End: time.Unix(0, base).Add(time.Second), Step: step}
	for name, sources := range map[string][]traceql.Source{
		"memory": {tableOfSpans(t, 3, list), tableOfSpans(t, 3, list[2:4])}, // some spans are there twice
		"files":  {blockpackOf(t, list[:5], blockpack.WriterOptions{BlockSpans: 2}), shardOf(t, tableOfSpans(t, 8, list[5:]))},
	} {
		for _, c := range seriesLanguage {
			got := strings.Join(seriesOf(t, c.query, o, base, sources...), "; ")
			if want, begins := strings.CutSuffix(c.want, "…"); begins {
				require.True(t, strings.HasPrefix(got, want), "%s of %s:\n%s", c.query, name, got)
				continue
			}
			require.Equal(t, c.want, got, "%s of %s", c.query, name)
		}
	}
}

func TestCompare(t *testing.T) {
	base := shop()[0].start
	src := tableOfSpans(t, 3, shop())
	o := traceql.MetricsOptions{Start: time.Unix(0, base-1), End: time.Unix(0, base).Add(time.Second), Instant: true, Step: time.Second}
	got := seriesOf(t, `{ } | compare({ status = error }, 2)`, o, base, src)
	for _, want := range []string{
		`__meta_error="__too_many_values__",name=nil:`,
		`__meta_type="baseline",name="GET /": 1=1`, `__meta_type="baseline",name="GET /cart": 1=1`,
		`__meta_type="baseline",resource.service.name="frontend": 1=4`,
		`__meta_type="baseline_total",name=nil: 1=6`,
		`__meta_type="selection",name="SELECT": 1=1`, `__meta_type="selection",resource.region="us": 1=2`,
		`__meta_type="selection_total",status=nil: 1=2`,
		`__meta_type="selection",rootName="GET /cart": 1=2`,
	} {
		require.Contains(t, got, want)
	}
	require.NotContains(t, strings.Join(got, "\n"), "duration")
	// Only spans of a time are selected.
	got = seriesOf(t, fmt.Sprintf(`{ } | compare({ status = error }, 2, %d, %d)`, base+40*ms, base+50*ms), o, base, src)
	require.Contains(t, got, `__meta_type="selection_total",status=nil: 1=1`)
	require.Contains(t, got, `__meta_type="baseline",status=error: 1=1`)
}

func TestMetricsOptions(t *testing.T) {
	base := shop()[0].start
	src := tableOfSpans(t, 3, shop())
	get := func(query string, o traceql.MetricsOptions) ([]traceql.TimeSeries, error) {
		q, err := traceql.Parse(query)
		require.NoError(t, err)
		return traceql.Metrics(t.Context(), q, []traceql.Source{src}, o)
	}
	// Without a time, all spans count.
	list, err := get(`{ } | count_over_time()`, traceql.MetricsOptions{})
	require.NoError(t, err)
	sum := 0.0
	for _, s := range list[0].Samples {
		sum += s.Value
	}
	require.Equal(t, 8.0, sum)
	require.Len(t, list[0].Samples, 21) // steps of 50 ms
	list, err = get(`{ } | rate()`, traceql.MetricsOptions{Instant: true, Start: time.Unix(0, base), End: time.Unix(0, base).Add(2 * time.Second)})
	require.NoError(t, err)
	require.Equal(t, []traceql.Sample{{Time: time.Unix(0, base).Add(2 * time.Second).UTC(), Value: 4}}, list[0].Samples)
	list, err = get(`{ name = "nothing" } | rate()`, traceql.MetricsOptions{Instant: true})
	require.NoError(t, err)
	require.Equal(t, 0.0, list[0].Samples[0].Value)
	text, err := json.Marshal(list)
	require.NoError(t, err)
	require.JSONEq(t, `[{"labels": [{"key": "__name__", "value": {"stringValue": "rate"}}], "value": 0}]`, string(text)) // as Tempo has an instant
	list, err = get(`{ name = "nothing" } | max_over_time(duration)`, traceql.MetricsOptions{Instant: true})
	require.NoError(t, err)
	require.Empty(t, list)
	list, err = get(`{ name = "nothing" } | max_over_time(duration)`, traceql.MetricsOptions{})
	require.NoError(t, err)
	require.Empty(t, list)

	_, err = get(`{ } | rate()`, traceql.MetricsOptions{Start: time.Unix(9, 0), End: time.Unix(8, 0)})
	require.ErrorContains(t, err, "before it begins")
	_, err = get(`{ } | rate()`, traceql.MetricsOptions{Step: -1})
	require.ErrorContains(t, err, "not above 0")
	_, err = get(`{ }`, traceql.MetricsOptions{})
	require.ErrorContains(t, err, "finds traces")
	for _, c := range []struct {
		query string
		o     traceql.MetricsOptions
	}{
		{`{ } | rate() by(name)`, traceql.MetricsOptions{MaxSamples: 100}},
		{`{ } | histogram_over_time(duration)`, traceql.MetricsOptions{MaxSamples: 50}},
		{`{ } | compare({ })`, traceql.MetricsOptions{MaxSamples: 50}},
		{`{ } | rate()`, traceql.MetricsOptions{Search: traceql.Options{MaxBytes: 100}}},
		{`{ } > { } | rate()`, traceql.MetricsOptions{Search: traceql.Options{MaxTraces: 1}}},
		{`{ } | rate() by(name)`, traceql.MetricsOptions{Search: traceql.Options{MaxSteps: 2}}},
	} {
		_, err = get(c.query, c.o)
		require.ErrorIs(t, err, fault.ErrLimit, c.query)
	}
	require.ErrorContains(t, searchError(t, `{ } | rate()`, traceql.Options{}, src), "time series")
}

func TestExemplars(t *testing.T) {
	base := shop()[0].start
	src := tableOfSpans(t, 3, shop())
	o := traceql.MetricsOptions{Start: time.Unix(0, base-1), End: time.Unix(0, base).Add(time.Second), Step: 50 * time.Millisecond, Exemplars: 4}
	for _, c := range []struct{ query, want string }{
		{`{ } | max_over_time(duration)`, `__name__="max_over_time": 1=0.1 2=0.068 3=0.018 21=0.005 (1.1 0.1) (1.2 0.01) (1.6 0.018) (2.1 0.005)`},
		{`{ kind = server } | quantile_over_time(duration, .1, 1)`, `p=0.1: 1=0.13422 21=0.0083886 (1.1 0.1) (2.1 0.005); p=1.0: 1=0.13422 21=0.0083886`},
		{`{ kind = server } | histogram_over_time(duration)`, `__bucket=0.008388608: 21=1 (2.1 1); __bucket=0.134217728: 1=1 (1.1 1)`},
		{`{ } | rate() by(trace:rootName)`, `trace:rootName="GET /": 21=20 (2.1 20); trace:rootName="GET /cart": 1=20 2=100 3=20 (1.1 20) (1.2 100)`},
		{`{ } | count_over_time() > 1`, `__name__="count_over_time": 2=5 (1.2 5)`},
	} {
		require.Equal(t, c.want, strings.Join(seriesOf(t, c.query, o, base-50*ms, src), "; "), c.query)
	}
	q, err := traceql.Parse(`{ status = error } | select(resource.region) | rate()`)
	require.NoError(t, err)
	o.Exemplars, o.Instant = 1, true
	list, err := traceql.Metrics(t.Context(), q, []traceql.Source{src}, o)
	require.NoError(t, err)
	got, err := json.Marshal(list[0])
	require.NoError(t, err)
	require.JSONEq(t, `{"labels": [{"key": "__name__", "value": {"stringValue": "rate"}}],
		"value": 1.9999999979999998,
		"exemplars": [{"timestampMs": "1700000000012", "value": 1.9999999979999998, "labels": [
			{"key": "trace:id", "value": {"stringValue": "00000000000000000000000000000001"}},
			{"key": "span:id", "value": {"stringValue": "0000000000000003"}},
			{"key": "name", "value": {"stringValue": "load"}},
			{"key": "status", "value": {"stringValue": "error"}},
			{"key": "resource.region", "value": {"stringValue": "us"}}]}]}`, string(got))
}

// Random pipelines, with and without need of whole traces, against counts of the spans that they find.
func TestRandomMetrics(t *testing.T) {
	counted := 0
	for seed := range uint64(sweep.Count(60, 1000)) {
		r := rand.New(rand.NewPCG(seed, 30))
		list := randomSpans(r)
		sources := scattered(t, r, list)
		for range 10 {
			q := randomPipeline(r, 2)
			if r.IntN(2) == 0 {
				q = randomFilter(r)
			}
			step := int64(1 + r.IntN(4))
			o := traceql.MetricsOptions{Start: time.Unix(0, 101), End: time.Unix(0, 108), Step: time.Duration(step)}
			want := map[string]map[int64]float64{}
			eachMatch(list, q, func(trace []span, i int) {
				if first, s := 101-101%step, trace[i]; s.start > first && s.start <= (108+step-1)/step*step {
					label := `name=` + strconv.Quote(s.name)
					if want[label] == nil {
						want[label] = map[int64]float64{}
					}
					want[label][(s.start-1-first)/step+1]++
					counted++
				}
			})
			lines := []string{}
			for _, label := range sortedKeys(want) {
				line := label + ":"
				for i := range int64(20) {
					if n := want[label][i]; n > 0 {
						line += fmt.Sprintf(" %d=%g", i, n)
					}
				}
				lines = append(lines, line)
			}
			slices.Sort(lines)
			text := q.text + " | count_over_time() by(name)"
			got := seriesOf(t, text, o, 101-101%step, sources...)
			if slices.Sort(got); !slices.Equal(got, lines) {
				t.Fatalf("seed %d: %s\n got %q\nwant %q\n%s", seed, text, got, lines, describe(list))
			}
		}
	}
	require.Positive(t, counted)
}
