package traceql_test

import (
	"strings"
	"testing"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/traceql"
)

// Traces that are not well formed: what docs/traceql.md says about them.
func TestOddTraces(t *testing.T) {
	at := func(s span) span {
		s.start = 1000 + int64(s.id)
		s.end = s.start + 10
		return s
	}
	list := []span{
		// 1 client and server share id 2; 3 is below the server
		at(span{trace: 1, id: 1, name: "root", service: "a"}), at(span{trace: 1, id: 2, parent: 1, name: "call", kind: 3}), at(span{trace: 1, id: 2, parent: 1, name: "serve", kind: 2}),
		at(span{trace: 1, id: 3, parent: 2, name: "work"}), at(span{trace: 1, id: 3, parent: 2, name: "again"}),
		// 2 is two roots, and spans of a missing parent
		at(span{trace: 2, id: 1, name: "first", service: "a"}), at(span{trace: 2, id: 2, name: "second", service: "b"}), at(span{trace: 2, id: 3, parent: 9, name: "lost"}), at(span{trace: 2, id: 4, parent: 9, name: "lost"}),
		// 3 is a circle
		at(span{trace: 3, id: 1, parent: 2, name: "x"}), at(span{trace: 3, id: 2, parent: 1, name: "y"}),
		at(span{trace: 4, id: 1, name: "list", attrs: map[string]any{"span.v": []any{"p", "q"}}}),
	}
	few := *traceql.FewTraces
	*traceql.FewTraces = 0
	defer func() { *traceql.FewTraces = few }()
	sources := []traceql.Source{tableOfSpans(t, 3, list), blockpackOf(t, list, blockpack.WriterOptions{BlockSpans: 4})}
	for _, c := range []struct{ query, want string }{
		{`{ name = "call" } > { }`, `1: 2`},
		{`{ name = "serve" } > { }`, `1: 3`},
		{`{ kind = server } && { kind = client }`, `1: 2 2`},
		{`{ name = "root" } > { }`, `1: 2`},
		{`{ name = "root" } >> { }`, `1: 2 2 3`},
		{`{ kind = server } ~ { }`, ``},
		{`{ name = "root" } > { } ~ { }`, ``},
		{`{ name = "again" }`, ``},
		{`{ name = "lost" } ~ { }`, `2: 3 4`},
		{`{ name = "first" } !>> { name = "lost" }`, `2: 3 4`},
		{`{ } > { name = "lost" }`, ``},
		{`{ rootName = "first" && rootServiceName = "a" }`, `2: 1 2 3 4`},
		{`{ name = "x" } >> { }`, `3: 1 2`},
		{`{ name = "x" } << { }`, `3: 1 2`},
		{`{ nestedSetLeft = 0 }`, `2: 3 4; 3: 1 2`},
		{`{ resource.service.name != "z" }`, `1: 1; 2: 1 2`},
		{`{ !(resource.service.name = "z") && name = "list" }`, `4: 1`},
		{`{ span.v != "p" }`, ``},
		{`{ span.v != "z" }`, `4: 1`},
	} {
		for _, src := range sources {
			if got := strings.Join(find(t, c.query, traceql.Options{}, src), "; "); got != c.want {
				t.Errorf("%T %s\n got %s\nwant %s", src, c.query, got, c.want)
			}
		}
	}
}
