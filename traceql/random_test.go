package traceql_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/traceql"
)

func randomSpans(r *rand.Rand) (list []span) {
	for trace := byte(1); trace <= byte(1+r.IntN(4)); trace++ {
		n := 1 + r.IntN(6)
		for id := byte(1); id <= byte(n); id++ {
			s := span{
				trace: trace, id: id, name: pick(r, words...), kind: int64(r.IntN(6)), status: int64(r.IntN(3)),
				start: int64(100 + r.IntN(10)), attrs: map[string]any{},
			}
			s.end = s.start + pick(r, int64(0), 1, 2, 3, 200)
			if id > 1 {
				s.parent = byte(r.IntN(n + 3)) // perhaps a missing one, or a circle
			}
			if r.IntN(2) == 0 {
				s.message, s.scope = pick(r, words...), pick(r, words...)
			}
			if r.IntN(3) > 0 {
				s.service = pick(r, "a", "b")
			}
			for _, name := range []string{"span.a", "span.b", "resource.a", "scope.a"} {
				if r.IntN(3) == 0 {
					s.attrs[name] = randomValue(r)
				}
			}
			for range max(0, r.IntN(6)-3) {
				e := event{name: pick(r, words...), time: s.start + pick(r, ints...)}
				if r.IntN(2) == 0 {
					e.attrs = map[string]any{"a": randomScalar(r)}
				}
				s.events = append(s.events, e)
			}
			if r.IntN(6) == 0 {
				s.links = append(s.links, link{1, 1, map[string]any{"a": randomScalar(r)}})
			}
			list = append(list, s)
		}
	}
	return list
}

// eachTrace evaluates a query by its meaning.
func eachTrace(list []span, q stage, visit func(trace []span, sets [][]int)) {
	traces := map[byte][]span{}
	for _, s := range list {
		traces[s.trace] = append(traces[s.trace], s)
	}
	for _, trace := range traces {
		slices.SortFunc(trace, func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.id, b.id)) })
		all := make([]int, len(trace))
		for i := range all {
			all[i] = i
		}
		visit(trace, q.run(trace, [][]int{all}))
	}
}

func eachMatch(list []span, q stage, visit func(trace []span, i int)) {
	eachTrace(list, q, func(trace []span, sets [][]int) {
		for _, set := range sets {
			for _, i := range set {
				visit(trace, i)
			}
		}
	})
}

// expected is the result of a query by its meaning.
func expected(list []span, q stage) (out []string) {
	eachTrace(list, q, func(trace []span, found [][]int) {
		var sets []string
		for _, set := range found {
			var ids []string
			for _, i := range set {
				ids = append(ids, fmt.Sprint(trace[i].id))
			}
			sets = append(sets, strings.Join(ids, " "))
		}
		if len(sets) > 0 {
			out = append(out, fmt.Sprintf("%d: %s", trace[0].trace, strings.Join(sets, " | ")))
		}
	})
	slices.Sort(out)
	return out
}

// found runs a query, and writes its result as expected does.
func found(t *testing.T, text string, o traceql.Options, sources ...traceql.Source) []string {
	t.Helper()
	q, err := traceql.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var out []string
	for trace, err := range traceql.Search(context.Background(), q, sources, o) {
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var sets []string
		for _, set := range trace.Sets {
			var ids []string
			for _, s := range set.Spans {
				ids = append(ids, fmt.Sprint(s.ID[7]))
			}
			sets = append(sets, strings.Join(ids, " "))
		}
		out = append(out, fmt.Sprintf("%d: %s", trace.ID[15], strings.Join(sets, " | ")))
	}
	return out
}

// scattered puts spans in some sources in random order, some of them in two.
func scattered(t *testing.T, r *rand.Rand, list []span) (sources []traceql.Source) {
	parts := make([][]span, 1+r.IntN(3))
	for _, i := range r.Perm(len(list)) {
		k := r.IntN(len(parts))
		parts[k] = append(parts[k], list[i])
		if r.IntN(10) == 0 {
			k = r.IntN(len(parts))
			parts[k] = append(parts[k], list[i])
		}
	}
	for _, part := range parts {
		sources = append(sources, tableOfSpans(t, 1+r.IntN(9), part))
	}
	return sources
}

func TestRandomQueries(t *testing.T) {
	matches := 0
	for seed := range uint64(sweep.Count(60, 1000)) {
		r := rand.New(rand.NewPCG(seed, 14))
		list := randomSpans(r)
		sources := scattered(t, r, list)
		for range 10 {
			q := randomPipeline(r, 2)
			want := expected(list, q)
			matches += len(want)
			for _, o := range []traceql.Options{{}, {Order: traceql.MostRecent}} {
				got := found(t, q.text, o, sources...)
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Fatalf("seed %d, order %d: %s\n got %q\nwant %q\n%s", seed, o.Order, q.text, got, want, describe(list))
				}
			}
			all := found(t, q.text, traceql.Options{Order: traceql.MostRecent}, sources...)
			limit := 1 + r.IntN(3)
			latest := found(t, q.text, traceql.Options{Order: traceql.MostRecent, Limit: limit}, sources...)
			if !slices.Equal(latest, all[:min(limit, len(all))]) {
				t.Fatalf("seed %d, limit %d: %s\n got %q\n of %q\n%s", seed, limit, q.text, latest, all, describe(list))
			}
		}
	}
	if matches == 0 {
		t.Error("no query matches a trace")
	}
}

func describe(list []span) string {
	var b bytes.Buffer
	for _, s := range list {
		fmt.Fprintf(&b, "%+v\n", s)
	}
	return b.String()
}
