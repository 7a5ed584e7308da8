package traceql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/amudai/amudai-go/traceql"
)

// find runs a query; the result is "TRACE:SPANS…", with the spans of each set, and " | " between sets.
func find(t testing.TB, query string, o traceql.Options, sources ...traceql.Source) []string {
	t.Helper()
	q, err := traceql.Parse(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	var out []string
	for trace, err := range traceql.Search(context.Background(), q, sources, o) {
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		var sets []string
		for _, set := range trace.Sets {
			var ids []string
			for _, s := range set.Spans {
				ids = append(ids, fmt.Sprint(last(s.ID)))
			}
			text := strings.Join(ids, " ")
			for _, a := range set.Attributes {
				text += fmt.Sprintf(" %s=%s", a.Name, a.Value)
			}
			sets = append(sets, text)
		}
		out = append(out, fmt.Sprintf("%d: %s", last(trace.ID), strings.Join(sets, " | ")))
	}
	return out
}

// language is the table of docs/traceql.md: a query and the spans that it finds in shop.
var language = []struct{ query, want string }{
	{`{ }`, `1: 1 2 3 4 5 9 6; 2: 1`},
	{`{ name = "SELECT" }`, `1: 4 5`},
	{`{ span:name = "SELECT" }`, `1: 4 5`},
	{`{ span.http.status_code = 200 }`, `1: 3; 2: 1`},
	{`{ span.http.status_code = "200" }`, `1: 2`},
	{`{ span.http.status_code >= 200 }`, `1: 1 3; 2: 1`},
	{`{ span.http.status_code != 200 }`, `1: 1`},
	{`{ !(span.http.status_code = 200) }`, `1: 1 2 4 5 9 6`},
	{`{ span.http.status_code = nil }`, `1: 4 5 9 6`},
	{`{ .region = "us" }`, `1: 3 5`},
	{`{ resource.region = "us" }`, `1: 3 4 5`},
	{`{ .region = "local" }`, `1: 4`},
	{`{ !(.region = "us") }`, `1: 1 2 4 9 6; 2: 1`},
	{`{ status = error }`, `1: 3 5`},
	{`{ status != error }`, `1: 1 2 4 9 6; 2: 1`},
	{`{ kind = client && duration > 30ms }`, `1: 3 5`},
	{`{ kind = unspecified }`, `1: 9 6`},
	{`{ statusMessage =~ "no.*" }`, `1: 3`},
	{`{ name =~ "GET" }`, ``},
	{`{ name =~ "GET.*" }`, `1: 1; 2: 1`},
	{`{ name !~ "GET.*|SELECT" }`, `1: 2 3 9 6`},
	{`{ span.cached }`, `1: 2`},
	{`{ !span.cached }`, `1: 1 3 4 5 9 6; 2: 1`},
	{`{ span.cached = false }`, `1: 6`},
	{`{ span.tags = "b" }`, `1: 3`},
	{`{ span.tags = 7 }`, `1: 3`},
	{`{ span.tags != "b" }`, ``},
	{`{ span.tags != "z" }`, `1: 3`},
	{`{ span.tags != nil }`, `1: 3`},
	{`{ span."foo bar" = "x" }`, `1: 1`},
	{`{ event:name = "exception" }`, `1: 3`},
	{`{ event.exception.message =~ "no.*" }`, `1: 3`},
	{`{ event.level != nil }`, `1: 3`},
	{`{ event:timeSinceStart > 50ms }`, `1: 3`},
	{`{ event.retry * 2 = 4 }`, `1: 3`},
	{`{ link:traceID = "2" }`, `1: 5`},
	{`{ link:spanID = "0000000000000001" }`, `1: 5`},
	{`{ link.why = "retry" }`, `1: 5`},
	{`{ instrumentation:name = "sql" && instrumentation:version = "1.2" && instrumentation.lang = "go" }`, `1: 4 5`},
	{`{ trace:id = "02" }`, `2: 1`},
	{`{ span:id = "3" }`, `1: 3`},
	{`{ span:parentID = "3" }`, `1: 4 5`},
	{`{ span:parentID = "" }`, `1: 1; 2: 1`},
	{`{ parent = nil }`, `1: 1; 2: 1`},
	{`{ parent != nil }`, `1: 2 3 4 5 9 6`},
	{`{ nestedSetParent < 0 }`, `1: 1; 2: 1`},
	{`{ nestedSetLeft = 5 }`, `1: 4`},
	{`{ span:childCount = 3 }`, `1: 1`},
	{`{ childCount = 0 && kind = client }`, `1: 4 5`},
	{`{ parent.name = "load" }`, `1: 4 5`},
	{`{ parent.resource.service.name != resource.service.name }`, `1: 3`},
	{`{ parent.duration - duration > 30ms }`, `1: 2 3 4 5 6`},
	{`{ trace:duration > 50ms }`, `1: 1 2 3 4 5 9 6`},
	{`{ traceDuration < 50ms }`, `2: 1`},
	{`{ rootName = "GET /" }`, `2: 1`},
	{`{ trace:rootService = "frontend" && status = error }`, `1: 3 5`},
	{`{ rootServiceName = "cart" }`, ``},
	{`{ span.db.rows + 1 > 2 * 2 - 1 }`, `1: 4`},
	{`{ span.db.rows / 2 = 1.5 }`, `1: 4`},
	{`{ span.db.rows ^ 2 = 9 || -span.db.rows = -3 }`, `1: 4`},
	{`{ 3 = span.db.rows }`, `1: 4`},
	{`{ span.region = resource.region }`, ``},
	{`{ span.region != resource.region }`, `1: 4`},
	{`{ resource.service.name = "frontend" } && { status = error }`, `1: 1 2 3 5 6`},
	{`{ name = "auth" } || { status = error }`, `1: 2 3 5`},
	{`{ name = "load" } > { status = error }`, `1: 5`},
	{`{ name = "GET /cart" } >> { status = error }`, `1: 3 5`},
	{`{ status = error } < { }`, `1: 1 3`},
	{`{ name = "SELECT" } << { kind = server }`, `1: 1`},
	{`{ name = "auth" } ~ { }`, `1: 3 6`},
	{`{ status = error } !< { status = error }`, `1: 5`},
	{`{ name = "load" } !> { name = "SELECT" }`, ``},
	{`{ kind = server } !>> { }`, `1: 1 9; 2: 1`},
	{`{ name = "SELECT" } !<< { kind = client }`, `1: 4 5`},
	{`{ name = "auth" } !~ { kind = client }`, `1: 4 5`},
	{`{ name = "load" } &> { status = error }`, `1: 3 5`},
	{`{ kind = server } &>> { status = error }`, `1: 1 3 5`},
	{`{ status = error } &< { name = "load" }`, `1: 3 5`},
	{`{ name = "SELECT" } &<< { kind = server }`, `1: 1 4 5`},
	{`{ name = "auth" } &~ { status = error }`, `1: 2 3`},
	{`{ name = "auth" } || { name = "load" } && { name = "nothing" }`, ``},
	{`{ name = "auth" } || ({ name = "load" } && { name = "nothing" })`, `1: 2`},
	{`{ kind = server } > { kind = client } > { status = error }`, `1: 5`},
	{`{ } | count() > 3`, `1: 1 2 3 4 5 9 6 count()=7`},
	{`count() = 1`, `2: 1 count()=1`},
	{`{ kind = client } | avg(duration) > 40ms`, `1: 3 4 5 avg(duration)=40666666ns`},
	{`{ } | sum(span.db.rows) = 3`, `1: 1 2 3 4 5 9 6 sum(span.db.rows)=3`},
	{`{ } | min(duration) < 2ms | max(duration) >= 100ms`, `1: 1 2 3 4 5 9 6 min(duration)=1ms max(duration)=100ms`},
	{`{ } | max(duration) - min(duration) = 99ms`, `1: 1 2 3 4 5 9 6 max(duration)=100ms min(duration)=1ms`},
	{`{ } | by(resource.service.name) | count() > 2`,
		`1: 1 2 6 by(resource.service.name)="frontend" count()=3 | 3 4 5 by(resource.service.name)="cart" count()=3`},
	{`{ kind = client } | by(span.db.rows)`, `1: 3 by(span.db.rows)=nil | 4 by(span.db.rows)=3 | 5 by(span.db.rows)=0`},
	{`{ } | by(kind) | count() > 1 | coalesce() | count() = 5`, `1: 3 4 5 9 6 count()=5`},
	{`{ resource.service.name = "cart" } | { status = error }`, `1: 3 5`},
	{`{ status = error } | select(span.db.rows, resource.region)`, `1: 3 5`},
	{`({ status = error } | count() > 1) && ({ kind = server } | count() = 1)`, `1: 1 3 5`},
	{`({ status = error } | count() > 1) >> { name = "SELECT" }`, `1: 4 5`},
	{`{ name = "auth" } with (most_recent=true)`, `1: 2`},
}

func TestLanguage(t *testing.T) {
	src := tableOfSpans(t, 3, shop())
	for _, c := range language {
		if got := strings.Join(find(t, c.query, traceql.Options{}, src), "; "); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.query, got, c.want)
		}
	}
}
