package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/traces"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/traceql"
)

// badRequest is a mistake of the client.
type badRequest struct{ text string }

func (e badRequest) Error() string { return e.text }

var errNotFound = errors.New("trace not found")

// query is a request of Tempo's read API, with the open files of its tenant.
type query struct {
	*server
	r      *http.Request
	params url.Values
	files  []traces.Source
}

func (q query) sources() (list []traceql.Source) {
	for _, f := range q.files {
		list = append(list, f.Source)
	}
	return list
}

// body is an answer that is not JSON.
type body struct {
	contentType string
	content     []byte
}

// routes are Tempo's read API.
func (s *server) routes(mux *http.ServeMux) {
	text := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			write(w, body{"text/plain; charset=utf-8", []byte(text)})
		}
	}
	mux.HandleFunc("GET /api/echo", text("echo"))
	mux.HandleFunc("GET /ready", text("ready\n"))
	mux.HandleFunc("GET /api/status/buildinfo", func(w http.ResponseWriter, _ *http.Request) {
		write(w, map[string]string{"version": app.Version, "revision": "", "branch": "", "buildUser": "amudai", "buildDate": "", "goVersion": runtime.Version()})
	})
	for path, answer := range map[string]func(query, context.Context) (any, error){
		"/api/search":                     query.search,
		"/api/search/tags":                query.tags,
		"/api/v2/search/tags":             query.tagsByScope,
		"/api/search/tag/{tag}/values":    query.values,
		"/api/v2/search/tag/{tag}/values": query.typedValues,
		"/api/metrics/query_range":        query.metricsRange,
		"/api/metrics/query":              query.metricsInstant,
		"/api/traces/{id}":                query.trace,
		"/api/v2/traces/{id}":             query.traceV2,
	} {
		mux.HandleFunc("GET "+path, s.answer(answer))
	}
}

// answer makes a handler of a query: within the limits of time and of queries at a time, on the files of its tenant.
func (s *server) answer(of func(query, context.Context) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), s.o.timeout)
		defer cancel()
		v, err := s.run(ctx, r, of)
		if err != nil {
			http.Error(w, err.Error(), statusOf(ctx, err))
			return
		}
		write(w, v)
	}
}

func (s *server) run(ctx context.Context, r *http.Request, of func(query, context.Context) (any, error)) (v any, err error) {
	defer fault.RecoverInternal(&err)
	if err := s.queries.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer s.queries.Release(1)
	params, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, badRequest{err.Error()}
	}
	f, err := s.tenants.of(ctx, r.Header.Get(tenantHeader), false)
	if err != nil {
		return nil, err
	}
	files, release, err := f.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return of(query{s, r, params, files}, ctx)
}

func statusOf(ctx context.Context, err error) int {
	switch {
	case errors.Is(err, errNotFound):
		return http.StatusNotFound
	case errors.As(err, new(badRequest)), errors.As(err, new(*traceql.Error)):
		return http.StatusBadRequest
	case ctx.Err() != nil:
		return http.StatusGatewayTimeout
	case errors.Is(err, fault.ErrLimit):
		return http.StatusUnprocessableEntity
	}
	return http.StatusInternalServerError
}

func write(w http.ResponseWriter, v any) {
	b, plain := v.(body)
	if !plain {
		content, err := json.Marshal(v)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		b = body{"application/json", content}
	}
	w.Header().Set("Content-Type", b.contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(b.content)))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(b.content) // the client may have gone
}

func (q query) search(ctx context.Context) (any, error) {
	text := q.params.Get("q")
	if text == "" {
		var err error
		if text, err = tagQuery(q.params); err != nil {
			return nil, err
		}
	}
	parsed, err := traceql.Parse(text)
	if err != nil {
		return nil, err
	}
	o := traceql.Options{Order: traceql.MostRecent, MaxBytes: q.o.memory}
	if o.Limit, err = q.count("limit", 20, q.o.results); err != nil {
		return nil, err
	}
	if o.Spans, err = q.count("spss", 3, maxSpans); err != nil {
		return nil, err
	}
	if o.Start, o.End, err = q.window(); err != nil {
		return nil, err
	}
	found := []*traceql.Trace{}
	for t, err := range traceql.Search(ctx, parsed, q.sources(), o) {
		if err != nil {
			return nil, err
		}
		found = append(found, t)
	}
	return map[string]any{"traces": found, "metrics": q.metrics()}, nil
}

const maxSpans = 10_000 // of a spanset

func (q query) metrics() any {
	return map[string]int{"totalBlocks": len(q.files), "totalJobs": 1, "completedJobs": 1}
}

// tagPair is a pair of logfmt.
var tagPair = regexp.MustCompile(`([^\s=]+)=("(?:[^"\\]|\\.)*"|\S*)`)

// tagQuery is a search by tags and durations as a query.
func tagQuery(params url.Values) (string, error) {
	var conditions []string
	for _, pair := range tagPair.FindAllStringSubmatch(params.Get("tags"), -1) {
		v := pair[2]
		if unquoted, err := strconv.Unquote(v); err == nil {
			v = unquoted
		}
		conditions = append(conditions, fieldOfTag(pair[1])+" =~ "+strconv.Quote("(?is).*"+regexp.QuoteMeta(v)+".*"))
	}
	for _, d := range []struct{ name, op string }{{"minDuration", ">="}, {"maxDuration", "<="}} {
		if text := params.Get(d.name); text != "" {
			v, err := time.ParseDuration(text)
			if err != nil {
				return "", badRequest{d.name + ": " + err.Error()}
			}
			conditions = append(conditions, fmt.Sprintf("traceDuration %s %dns", d.op, v.Nanoseconds()))
		}
	}
	return "{ " + strings.Join(conditions, " && ") + " }", nil
}

// fieldOfTag is a field of TraceQL for a tag, which has no scope, unless it is one already.
func fieldOfTag(tag string) string {
	if _, err := traceql.Parse("{ " + tag + " != nil }"); err == nil {
		return tag
	}
	return `."` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(tag) + `"`
}

// count is a parameter that is a number above 0, and the most allowed if it is more.
func (q query) count(name string, usual, most int) (int, error) {
	text := q.params.Get(name)
	if text == "" || text == "0" {
		return min(usual, most), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, badRequest{fmt.Sprintf("%s=%s is no number above 0", name, text)}
	}
	return min(n, most), nil
}

// window is the time of the parameters start and end, or since.
func (q query) window() (start, end time.Time, err error) {
	if text := q.params.Get("since"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			return start, end, badRequest{"since: " + err.Error()}
		}
		now := time.Now()
		return now.Add(-d), now, nil
	}
	if start, err = q.time("start"); err == nil {
		end, err = q.time("end")
	}
	if err == nil && !start.IsZero() && !end.IsZero() && end.Before(start) {
		err = badRequest{"end is before start"}
	}
	return start, end, err
}

// time is a parameter in seconds or nanoseconds since 1970, or in RFC 3339.
func (q query) time(name string) (t time.Time, err error) {
	text := q.params.Get(name)
	if text == "" || text == "0" {
		return t, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if n < 1e12 && n > -1e12 {
			return time.Unix(n, 0), nil
		}
		return time.Unix(0, n), nil
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && f > 0 && f < 1e12 {
		return time.Unix(0, int64(f*1e9)), nil
	}
	if t, err = time.Parse(time.RFC3339Nano, text); err != nil {
		return t, badRequest{fmt.Sprintf("%s=%s is no time", name, text)}
	}
	return t, nil
}

func (q query) names(ctx context.Context) ([]traceql.TagNames, int, error) {
	limit, err := q.count("limit", 10_000, 100_000)
	if err != nil {
		return nil, 0, err
	}
	scope := q.params.Get("scope")
	if scope == "none" {
		scope = ""
	}
	start, end, err := q.window()
	if err != nil {
		return nil, 0, err
	}
	sources, err := traceql.Within(ctx, q.sources(), start, end)
	if err != nil {
		return nil, 0, err
	}
	list, err := traceql.Names(ctx, sources, traceql.Scope(scope))
	return list, limit, err
}

func (q query) tags(ctx context.Context) (any, error) {
	list, limit, err := q.names(ctx)
	if err != nil {
		return nil, err
	}
	names := []string{}
	seen := map[string]bool{}
	for _, s := range list {
		if s.Scope == "intrinsic" && q.params.Get("scope") != "intrinsic" {
			continue
		}
		for _, name := range s.Names {
			if !seen[name] && len(names) < limit {
				names = append(names, name)
			}
			seen[name] = true
		}
	}
	return map[string]any{"tagNames": names, "metrics": q.metrics()}, nil
}

func (q query) tagsByScope(ctx context.Context) (any, error) {
	list, limit, err := q.names(ctx)
	if err != nil {
		return nil, err
	}
	type scope struct {
		Name string   `json:"name"`
		Tags []string `json:"tags"`
	}
	scopes := []scope{}
	for _, s := range list {
		if len(s.Names) > 0 {
			scopes = append(scopes, scope{string(s.Scope), s.Names[:min(limit, len(s.Names))]})
		}
	}
	return map[string]any{"scopes": scopes, "metrics": q.metrics()}, nil
}

// valuesOf are the values of a field in spans of a query, which may be incomplete.
func (q query) valuesOf(ctx context.Context, field string) (list []traceql.Value, err error) {
	o := traceql.ValuesOptions{}
	if o.Limit, err = q.count("limit", 1000, 100_000); err != nil {
		return nil, err
	}
	if o.Start, o.End, err = q.window(); err != nil {
		return nil, err
	}
	if text := q.params.Get("q"); text != "" {
		o.Filter = completed(text)
	}
	list, _, err = traceql.Values(ctx, q.sources(), field, o)
	return list, err
}

// completed is a query of what is complete in one that someone writes; nil if nothing is.
func completed(text string) *traceql.Query {
	if parsed, err := traceql.Parse(text); err == nil {
		return parsed
	}
	inside := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "{"), "}")
	var conditions []string
	for part := range strings.SplitSeq(inside, "&&") {
		if _, err := traceql.Parse("{" + part + "}"); err == nil && strings.TrimSpace(part) != "" {
			conditions = append(conditions, part)
		}
	}
	parsed, err := traceql.Parse("{" + strings.Join(conditions, "&&") + "}")
	if err != nil {
		return nil
	}
	return parsed
}

func (q query) values(ctx context.Context) (any, error) {
	list, err := q.valuesOf(ctx, fieldOfTag(q.r.PathValue("tag")))
	if err != nil {
		return nil, err
	}
	values := []string{}
	for _, v := range list {
		values = append(values, v.Plain())
	}
	return map[string]any{"tagValues": values, "metrics": q.metrics()}, nil
}

func (q query) typedValues(ctx context.Context) (any, error) {
	list, err := q.valuesOf(ctx, q.r.PathValue("tag"))
	if err != nil {
		return nil, err
	}
	type typed struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	}
	values := []typed{}
	for _, v := range list {
		kind := v.Kind().String()
		if v.Kind() == traceql.KindStatus || v.Kind() == traceql.KindSpanKind {
			kind = "keyword"
		}
		values = append(values, typed{kind, v.Plain()})
	}
	return map[string]any{"tagValues": values, "metrics": q.metrics()}, nil
}

// series are the time series of a query; by default of the last hour.
func (q query) series(ctx context.Context, o traceql.MetricsOptions) (list []traceql.TimeSeries, err error) {
	text := q.params.Get("q")
	if text == "" {
		text = q.params.Get("query")
	}
	parsed, err := traceql.Parse(text)
	if err != nil {
		return nil, err
	}
	if o.Start, o.End, err = q.window(); err != nil {
		return nil, err
	}
	if o.End.IsZero() {
		o.End = time.Now()
	}
	if o.Start.IsZero() {
		o.Start = o.End.Add(-time.Hour)
	}
	if !o.Start.Before(o.End) {
		return nil, badRequest{"end is not after start"}
	}
	o.Search.MaxBytes = q.o.memory
	return traceql.Metrics(ctx, parsed, q.sources(), o)
}

const maxExemplars = 10_000

func (q query) metricsRange(ctx context.Context) (any, error) {
	o := traceql.MetricsOptions{}
	var err error
	if q.params.Get("exemplars") != "" {
		if o.Exemplars, err = q.count("exemplars", 0, maxExemplars); err != nil {
			return nil, err
		}
	}
	if text := q.params.Get("step"); text != "" {
		if seconds, err := strconv.ParseFloat(text, 64); err == nil {
			text = strconv.FormatFloat(seconds, 'f', -1, 64) + "s"
		}
		if o.Step, err = time.ParseDuration(text); err != nil || o.Step <= 0 {
			return nil, badRequest{fmt.Sprintf("step=%s is no duration above 0", q.params.Get("step"))}
		}
	}
	list, err := q.series(ctx, o)
	if err != nil {
		return nil, err
	}
	return map[string]any{"series": append([]traceql.TimeSeries{}, list...), "metrics": q.metrics()}, nil
}

func (q query) metricsInstant(ctx context.Context) (any, error) {
	list, err := q.series(ctx, traceql.MetricsOptions{Instant: true})
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(s traceql.TimeSeries) bool { return len(s.Samples) == 0 })
	return map[string]any{"series": append([]traceql.TimeSeries{}, list...), "metrics": q.metrics()}, nil
}
