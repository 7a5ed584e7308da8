package otlpgen

import (
	"testing"

	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

func TestDiffSeesChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Traces().Draw(t, "a")
		wire, err := proto.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		b := &tracev1.TracesData{}
		if err := proto.Unmarshal(wire, b); err != nil {
			t.Fatal(err)
		}
		if d := Diff([]*tracev1.TracesData{a}, []*tracev1.TracesData{b}); d != "" {
			t.Fatal(d)
		}
		for _, rs := range b.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					s.Name += "x"
					if Diff([]*tracev1.TracesData{a}, []*tracev1.TracesData{b}) == "" {
						t.Fatal("a changed name is not seen")
					}
					return
				}
			}
		}
	})
}

func TestCorpus(t *testing.T) {
	if n := NumSpans(Parse(t, Corpus(t, "zipkin_lens.otlp"))); n != 1118 {
		t.Fatal(n, "spans")
	}
}
