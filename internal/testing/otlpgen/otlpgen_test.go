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
		s := firstSpan(b)
		if s == nil {
			return
		}
		s.Name += "x"
		if Diff([]*tracev1.TracesData{a}, []*tracev1.TracesData{b}) == "" {
			t.Fatal("a changed name is not seen")
		}
	})
}

func TestCorpus(t *testing.T) {
	if n := NumSpans(Parse(t, Corpus(t, "zipkin_lens.otlp"))); n != 1118 {
		t.Fatal(n, "spans")
	}
}

func firstSpan(td *tracev1.TracesData) *tracev1.Span {
	for _, rs := range td.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			if len(ss.Spans) > 0 {
				return ss.Spans[0]
			}
		}
	}
	return nil
}
