package eval

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/spans"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Span is a row of a batch.
type Span struct {
	Batch *spans.Batch
	Row   int32
	Start int64 // 0 if it is missing
}

// ID is the id of the span.
func (s *Span) ID() []byte { return s.Batch.SpanID(int(s.Row)) }

// Parent is the id of its parent; nil for a root span.
func (s *Span) Parent() []byte { return s.Batch.Parent(int(s.Row)) }

func (s *Span) kind() int64 { return s.Batch.Kind(int(s.Row)) }

// Kinds of spans in OTLP that may share an id: both sides of a call have one in Zipkin.
const (
	serverKind = 2
	clientKind = 3
)

// Trace is all spans of a trace.
type Trace struct {
	Spans []Span
	Looks int64 // conditions that were evaluated on single spans
	// Summary describes the whole trace, of which Spans are those that match; nil if Spans are all.
	Summary *Summary
	// Details are rows with the columns of a result, for spans that it has. nil if Spans have them.
	Details []Span

	sorted  bool // by start and id, otherwise as they are stored
	root    int  // see Root
	tree    *tree
	times   *times // nil until they are needed
	scratch *Scratch
}

// Summary is what a source says of a whole trace.
type Summary struct {
	Spans                 int
	Start                 int64
	Duration              time.Duration
	RootName, RootService string // "" without a root span
}

type times struct {
	start    int64
	duration time.Duration
}

// NewTrace makes a trace of its spans, which are changed in place. Of several spans with one id and kind, the first is kept. scratch is memory of
// other traces that is used again.
func (p *Program) NewTrace(list []Span, scratch *Scratch) *Trace {
	list, shared := scratch.distinct(list)
	t := &Trace{Spans: list, sorted: p.ordered || shared, root: -1, scratch: scratch}
	scratch.of = t
	if t.sorted {
		scratch.sort(list)
	}
	for i := range list {
		if list[i].Parent() == nil && (t.root < 0 || !t.sorted && t.before(i, t.root) < 0) {
			t.root = i
		}
	}
	return t
}

// NewSummarized makes a trace of its spans that match, none of which has the id and kind of another span of the trace.
func (p *Program) NewSummarized(list []Span, s *Summary, scratch *Scratch) *Trace {
	if p.ordered {
		scratch.sort(list)
	}
	return &Trace{Spans: list, Summary: s, sorted: p.ordered, root: -1, times: &times{s.Start, s.Duration}, scratch: scratch}
}

// Len is the number of spans of the whole trace.
func (t *Trace) Len() int {
	if t.Summary != nil {
		return t.Summary.Spans
	}
	return len(t.Spans)
}

// Parent is the parent of span i, or -1.
func (t *Trace) Parent(i int) int { return int(t.treeOf().parent[i]) }

// before compares two spans by start and id.
func (t *Trace) before(a, b int) int {
	x, y := &t.Spans[a], &t.Spans[b]
	if x.Start != y.Start {
		return cmp.Compare(x.Start, y.Start)
	}
	return cmp.Or(bytes.Compare(x.ID(), y.ID()), cmp.Compare(a, b))
}

// Sort sorts spans by start and id.
func (t *Trace) Sort(list []int) {
	if !t.sorted {
		slices.SortFunc(list, t.before)
	}
}

// row is where the columns of the result are that span i has.
func (t *Trace) row(i int) (*spans.Batch, int) {
	s := &t.Spans[i]
	if t.Details != nil {
		s = &t.Details[i]
	}
	return s.Batch, int(s.Row)
}

// Name is the name of span i.
func (t *Trace) Name(i int) string {
	b, row := t.row(i)
	return b.Text(spans.Name, row)
}

// Duration is the time from the start of span i to its end.
func (t *Trace) Duration(i int) time.Duration {
	b, row := t.row(i)
	return b.Duration(row)
}

// Root is the first span without a parent, or -1.
func (t *Trace) Root() int { return t.root }

// RootName and RootService describe the root span; they are nil without one.
func (t *Trace) RootName() value.Value {
	if t.Summary != nil {
		return value.OfString(t.Summary.RootName)
	}
	if i := t.Root(); i >= 0 {
		return value.OfString(t.Name(i))
	}
	return value.Value{}
}

// RootService is the name of the service of a span.
var RootService = &lang.Field{Scope: lang.ResourceScope, Name: "service.name"}

// RootService is resource.service.name of the root span.
func (t *Trace) RootService() (value.Value, error) {
	if t.Summary != nil {
		return value.OfString(t.Summary.RootService), nil
	}
	if i := t.Root(); i >= 0 {
		b, row := t.row(i)
		return b.Value(RootService, row)
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
		end := s.Batch.End(int(s.Row))
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
		p := t.Parent(i)
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
	b, row := t.row(i)
	return b.Value(f, row)
}

// encoded is the number of bytes of messages in which Value looks for a field.
func (t *Trace) encoded(f *lang.Field, i int) int64 {
	if f.Parent {
		if i = t.Parent(i); i < 0 {
			return 0
		}
	}
	b, row := t.row(i)
	return b.Encoded(f, row)
}
