package traceql_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/traceql"
)

// recordedSpans are traces for which testdata/tempo.txt has the answers of Tempo's engine: one that is well formed, and one for each way in which traces are not.
func recordedSpans() []span {
	base := int64(1_700_000_000_000_000_000)
	at := func(trace, id, parent byte, name, service string, attrs map[string]any) span {
		from := base + int64(trace)*1000*ms + int64(id)*ms
		return span{trace: trace, id: id, parent: parent, name: name, service: service, start: from, end: from + int64(20-id)*ms, attrs: attrs}
	}
	with := func(s span, change func(*span)) span { change(&s); return s }
	a := func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	return []span{
		// 1: root ─ mid ─ leaf, leaf; root ─ side ─ leaf
		with(at(1, 1, 0, "root", "web", a("span.n", int64(1), "span.s", "x", "resource.zone", "eu")), func(s *span) { s.kind = 2 }),
		with(at(1, 2, 1, "mid", "web", a("span.n", int64(2), "span.f", 0.5, "resource.zone", "eu", "span.zone", "us")), func(s *span) { s.kind, s.status, s.message = 3, 2, "no rows" }),
		with(at(1, 3, 2, "leaf", "db", a("span.n", int64(3), "span.b", true, "resource.zone", "us")), func(s *span) {
			s.kind, s.scope, s.version = 2, "sql", "1.2"
			s.events = []event{{"exception", s.start + ms, a("message", "lost", "tries", int64(2))}, {"log", s.start + 2*ms, a("message", "again")}}
		}),
		with(at(1, 4, 2, "leaf", "db", a("span.n", 3.5, "span.b", false, "resource.zone", "us")), func(s *span) { s.status, s.links = 1, []link{{2, 1, a("why", "retry")}} }),
		with(at(1, 5, 1, "side", "web", a("span.n", "4", "span.s", "y", "resource.zone", "eu")), func(s *span) { s.kind = 1 }),
		with(at(1, 6, 5, "leaf", "db", a("span.s", "", "resource.zone", "us")), func(s *span) { s.kind, s.status = 4, 2 }),
		// 2: two roots
		at(2, 1, 0, "root", "web", nil), at(2, 2, 1, "mid", "web", nil), at(2, 3, 0, "other", "db", nil), at(2, 4, 3, "leaf", "db", nil),
		// 3: the parent 9 is missing
		at(3, 1, 0, "root", "web", nil), at(3, 2, 1, "leaf", "web", nil), at(3, 3, 9, "lost", "db", nil), at(3, 4, 3, "leaf", "db", nil), at(3, 5, 9, "lost", "db", nil),
		// 4: 1 and 2 are parents of each other
		at(4, 1, 2, "loop", "web", nil), at(4, 2, 1, "loop", "web", nil), at(4, 3, 1, "leaf", "db", nil), at(4, 4, 0, "root", "web", nil), at(4, 5, 4, "leaf", "db", nil),
		// 5: client and server share an id
		at(5, 1, 0, "root", "web", nil), with(at(5, 2, 1, "call", "web", nil), func(s *span) { s.kind = 3 }), with(at(5, 2, 1, "serve", "db", nil), func(s *span) { s.kind = 2 }),
		at(5, 3, 2, "leaf", "db", nil),
		// 6: the root is missing
		at(6, 2, 1, "mid", "web", nil), at(6, 3, 2, "leaf", "db", nil),
		// 7: services that are missing or empty
		at(7, 1, 0, "root", "web", nil), at(7, 2, 1, "mid", "", nil), at(7, 3, 2, "leaf", "", a("resource.service.name", "")),
		// 8: arrays
		at(8, 1, 0, "root", "web", a("span.v", []any{"p", "q"}, "span.i", []any{int64(1), int64(5)})), at(8, 2, 1, "mid", "web", a("span.v", []any{"p"}, "span.i", int64(5))),
		at(8, 3, 2, "leaf", "db", a("span.v", "p", "span.i", []any{int64(5)})), at(8, 4, 2, "leaf", "db", a("span.v", []any{"q", "r"}, "span.i", []any{0.5, 5.5})),
		// 9: a span is its own parent
		at(9, 1, 1, "loop", "web", nil), at(9, 2, 1, "leaf", "db", nil),
	}
}

// A query in testdata/tempo.txt ("Q") has one answer ("="), or Tempo's ("T") and ours ("A"), with the reasons ("R") that docs/traceql.md explains.
func TestRecordedAnswers(t *testing.T) {
	raw, err := os.ReadFile("testdata/tempo.txt")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/traceql.md")
	if err != nil {
		t.Fatal(err)
	}
	few := *traceql.FewTraces
	*traceql.FewTraces = 0
	defer func() { *traceql.FewTraces = few }()
	list := recordedSpans()
	sources := []traceql.Source{tableOfSpans(t, 3, list), blockpackOf(t, list, blockpack.WriterOptions{BlockSpans: 8})}
	queries, equal, query, theirs := 0, 0, "", ""
	for line := range strings.Lines(string(raw)) {
		switch mark, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); mark {
		case "Q":
			query = rest
		case "T":
			theirs = rest
		case "R":
			for reason := range strings.SplitSeq(rest, ", ") {
				if !strings.Contains(string(page), "\n| "+reason+" | ") {
					t.Errorf("%s: %q is not in docs/traceql.md", query, reason)
				}
			}
		case "=", "A":
			queries++
			if mark == "=" {
				equal++
			} else if rest == theirs {
				t.Errorf("%s: an exception that is none", query)
			}
			for _, src := range sources {
				if got := answer(t, query, src); got != rest {
					t.Errorf("%T %s\n got %s\nwant %s", src, query, got, rest)
				}
			}
		}
	}
	if want := fmt.Sprintf("%d are equal", equal); !strings.Contains(string(page), want) || !strings.Contains(string(page), fmt.Sprintf("%d queries", queries)) {
		t.Errorf("docs/traceql.md does not say that of %d queries %s", queries, want)
	}
}

// answer is what a query finds: the traces by id, and the spans of their sets.
func answer(t *testing.T, query string, src traceql.Source) string {
	var traces []string
	for _, text := range find(t, query, traceql.Options{}, src) {
		id, sets, _ := strings.Cut(text, ": ")
		var list []string
		for set := range strings.SplitSeq(sets, " | ") {
			spans := slices.DeleteFunc(strings.Fields(set), func(s string) bool { return strings.Contains(s, "=") })
			slices.Sort(spans)
			list = append(list, strings.Join(spans, " "))
		}
		slices.Sort(list)
		traces = append(traces, fmt.Sprintf("%s: %s", id, strings.Join(list, " | ")))
	}
	slices.Sort(traces)
	return strings.Join(traces, "; ")
}
