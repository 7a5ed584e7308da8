package eval

import (
	"slices"
	"time"

	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/spans"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Span is a row of a batch.
type Span struct {
	Batch *spans.Batch
	Row   int
	Start int64 // 0 if it is missing
}

// ID is the id of the span.
func (s *Span) ID() []byte { return s.Batch.SpanID(s.Row) }

// Parent is the id of its parent; nil for a root span.
func (s *Span) Parent() []byte { return s.Batch.Parent(s.Row) }

func (s *Span) kind() int64 { return s.Batch.Kind(s.Row) }

// Kinds of spans in OTLP that may share an id: both sides of a call have one in Zipkin.
const (
	serverKind = 2
	clientKind = 3
)

// Trace is all spans of a trace.
type Trace struct {
	Spans []Span // by start and id
	Looks int64  // conditions that were evaluated on single spans

	root  int // see Root
	tree  *tree
	times *times // nil until they are needed
}

type times struct {
	start    int64
	duration time.Duration
}

// NewTrace makes a trace of its spans, which are sorted in place. Of several spans with one id and kind, the first is kept. scratch is nil, or memory
// of other traces that is used again.
func NewTrace(list []Span, scratch *Scratch) *Trace {
	if scratch == nil {
		scratch = &Scratch{}
	}
	list = scratch.distinct(list)
	scratch.sort(list)
	return &Trace{Spans: list, root: slices.IndexFunc(list, func(s Span) bool { return s.Parent() == nil })}
}

// Root is the first span without a parent, or -1.
func (t *Trace) Root() int { return t.root }

// RootName and RootService describe the root span; they are nil without one.
func (t *Trace) RootName() value.Value {
	if i := t.Root(); i >= 0 {
		return value.OfString(t.Spans[i].Batch.Text(spans.Name, t.Spans[i].Row))
	}
	return value.Value{}
}

var rootService = &lang.Field{Scope: lang.ResourceScope, Name: "service.name"}

// RootService is resource.service.name of the root span.
func (t *Trace) RootService() (value.Value, error) {
	if i := t.Root(); i >= 0 {
		return t.Spans[i].Batch.Value(rootService, t.Spans[i].Row)
	}
	return value.Value{}, nil
}

// Times are the start of the trace in nanoseconds, and the time to the end of its last span. Spans without a start do not count.
func (t *Trace) Times() (start int64, d time.Duration) {
	if t.times != nil {
		return t.times.start, t.times.duration
	}
	first, last := int64(0), int64(0)
	for i := range t.Spans {
		s := &t.Spans[i]
		if s.Start == 0 {
			continue
		}
		end := s.Batch.End(s.Row)
		if first == 0 {
			first, last = s.Start, end
		}
		first, last = min(first, s.Start), max(last, end)
	}
	t.times = &times{first, time.Duration(last - first)}
	return t.Times()
}

// Value is the value of a field of span i.
func (t *Trace) Value(f *lang.Field, i int) (value.Value, error) {
	if f.Parent {
		p := int(t.treeOf().parent[i])
		if p < 0 {
			return value.Value{}, nil
		}
		own := *f
		own.Parent = false
		return t.Value(&own, p)
	}
	switch f.Intrinsic {
	case lang.TraceDuration:
		_, d := t.Times()
		return value.OfDuration(d), nil
	case lang.TraceRootName:
		return t.RootName(), nil
	case lang.TraceRootService:
		return t.RootService()
	case lang.SpanChildCount:
		return value.OfInt(int64(len(t.treeOf().children(i)))), nil
	case lang.NestedSetLeft, lang.NestedSetRight, lang.NestedSetParent:
		return value.OfInt(t.treeOf().nestedSet(f.Intrinsic, i)), nil
	}
	return t.Spans[i].Batch.Value(f, t.Spans[i].Row)
}

// encoded is the number of bytes of messages in which Value looks for a field.
func (t *Trace) encoded(f *lang.Field, i int) int64 {
	if f.Parent {
		if i = int(t.treeOf().parent[i]); i < 0 {
			return 0
		}
	}
	return t.Spans[i].Batch.Encoded(f, t.Spans[i].Row)
}
