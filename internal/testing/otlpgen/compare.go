package otlpgen

import (
	"cmp"
	"fmt"
	"slices"

	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	resourcev1 "go.opentelemetry.io/proto/otlp/resource/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Diff describes a span that one of two sets of spans has and the other has not; it is empty if both are equal. Spans are
// equal if all of their fields are, those of resource and scope, and unknown fields. The order of spans, and the order of
// attributes with different keys, do not count; a missing resource or scope is an empty one. Diff sorts attributes by key.
func Diff(want, got []*tracev1.TracesData) string {
	a, b := canonical(want), canonical(got)
	if len(a) != len(b) {
		return fmt.Sprintf("%d spans, want %d", len(b), len(a))
	}
	for i := range a {
		switch c := cmp.Compare(a[i], b[i]); {
		case c < 0:
			return fmt.Sprintf("lacks a span, the next one is another:\n%s\ngot:\n%s", spell(a[i]), spell(b[i]))
		case c > 0:
			return fmt.Sprintf("has a span that should not be:\n%s\nwant:\n%s", spell(b[i]), spell(a[i]))
		}
	}
	return ""
}

// NumSpans counts the spans of messages.
func NumSpans(all []*tracev1.TracesData) int {
	n := 0
	for _, td := range all {
		for _, rs := range td.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				n += len(ss.Spans)
			}
		}
	}
	return n
}

// canonical are the spans, each as the encoded ResourceSpans of itself alone, sorted.
func canonical(all []*tracev1.TracesData) []string {
	var out []string
	for _, td := range all {
		for _, rs := range td.ResourceSpans {
			one := &tracev1.ResourceSpans{Resource: rs.Resource, SchemaUrl: rs.SchemaUrl}
			one.ProtoReflect().SetUnknown(rs.ProtoReflect().GetUnknown())
			if one.Resource == nil {
				one.Resource = &resourcev1.Resource{}
			}
			sortKeys(one.Resource.Attributes)
			resource := encode(one)
			for _, ss := range rs.ScopeSpans {
				scope := &tracev1.ScopeSpans{Scope: ss.Scope, SchemaUrl: ss.SchemaUrl}
				scope.ProtoReflect().SetUnknown(ss.ProtoReflect().GetUnknown())
				if scope.Scope == nil {
					scope.Scope = &commonv1.InstrumentationScope{}
				}
				sortKeys(scope.Scope.Attributes)
				around := encode(scope)
				for _, s := range ss.Spans {
					sortKeys(s.Attributes)
					inner := protowire.AppendBytes(protowire.AppendTag(slices.Clone(around), 2, protowire.BytesType), encode(s))
					out = append(out, string(protowire.AppendBytes(protowire.AppendTag(slices.Clone(resource), 2, protowire.BytesType), inner)))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

func sortKeys(list []*commonv1.KeyValue) {
	slices.SortStableFunc(list, func(a, b *commonv1.KeyValue) int { return cmp.Compare(a.GetKey(), b.GetKey()) })
}

func encode(m proto.Message) []byte {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

func spell(wire string) string {
	var m tracev1.ResourceSpans
	if err := proto.Unmarshal([]byte(wire), &m); err != nil {
		return err.Error()
	}
	return prototext.Format(&m)
}
