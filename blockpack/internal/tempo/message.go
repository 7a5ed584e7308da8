package tempo

import (
	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of fields of OTLP messages.
const (
	tracesResourceSpans protowire.Number = 1

	resourceSpansResource   protowire.Number = 1
	resourceSpansScopeSpans protowire.Number = 2

	resourceAttributes protowire.Number = 1
	resourceDropped    protowire.Number = 2

	scopeSpansScope protowire.Number = 1
	scopeSpansSpans protowire.Number = 2

	scopeName       protowire.Number = 1
	scopeVersion    protowire.Number = 2
	scopeAttributes protowire.Number = 3
	scopeDropped    protowire.Number = 4

	spanTraceID       protowire.Number = 1
	spanSpanID        protowire.Number = 2
	spanTraceState    protowire.Number = 3
	spanParentID      protowire.Number = 4
	spanName          protowire.Number = 5
	spanKind          protowire.Number = 6
	spanStart         protowire.Number = 7
	spanEnd           protowire.Number = 8
	spanAttributes    protowire.Number = 9
	spanDropped       protowire.Number = 10
	spanEvents        protowire.Number = 11
	spanDroppedEvents protowire.Number = 12
	spanLinks         protowire.Number = 13
	spanDroppedLinks  protowire.Number = 14
	spanStatus        protowire.Number = 15

	statusMessage protowire.Number = 2
	statusCode    protowire.Number = 3

	eventTime       protowire.Number = 1
	eventName       protowire.Number = 2
	eventAttributes protowire.Number = 3
	eventDropped    protowire.Number = 4

	linkTraceID    protowire.Number = 1
	linkSpanID     protowire.Number = 2
	linkTraceState protowire.Number = 3
	linkAttributes protowire.Number = 4
	linkDropped    protowire.Number = 5
)

// traces has the columns of a batch of traces.
type traces struct {
	id        texts
	resources list
	resource  resources
}

type resources struct {
	attrs     attributes
	known     []known
	service   texts // empty if there is none
	dedicated dedicated
	dropped   numbers
	scopes    list
	scope     scopes
}

type scopes struct {
	name, version texts
	attrs         attributes
	dropped       numbers
	spans         list
	span          spans
}

type spans struct {
	id, parent, name, state, statusText texts
	kind, status, start, duration       numbers
	dropped                             numbers
	droppedEvents, droppedLinks         numbers
	attrs                               attributes
	known                               []known
	dedicated                           dedicated
	events                              list
	event                               events
	links                               list
	link                                links
}

type events struct {
	sinceStart, dropped numbers
	name                texts
	attrs               attributes
	dedicated           dedicated
}

type links struct {
	trace, span, state texts
	attrs              attributes
	dropped            numbers
}

// bind finds the columns of a batch.
func bind(batch arrow.RecordBatch, names *Names) (*traces, error) {
	var err error
	root := columns{arrays: map[string]arrow.Array{}, err: &err}
	for i, f := range batch.Schema().Fields() {
		root.arrays[f.Name] = batch.Column(i)
	}
	t := &traces{id: root.texts("TraceID")}
	rows, items, _ := root.list("rs")
	t.resources = rows
	in := columnsOf("rs", items, &err)
	t.resource = in.group("Resource").resources(names)
	t.resource.scopes, items, _ = in.list("ss")
	t.resource.scope = columnsOf("rs.ss", items, &err).scopes(names)
	return t, err
}

func (c columns) resources(names *Names) resources {
	return resources{
		attrs: c.attributes(), dropped: c.numbers("DroppedAttributesCount"), dedicated: c.dedicated(ofResource, names),
		service: c.texts("ServiceName"),
		known: c.known(kindString, [][2]string{
			{"Cluster", "cluster"}, {"Namespace", "namespace"}, {"Pod", "pod"}, {"Container", "container"},
			{"K8sClusterName", "k8s.cluster.name"}, {"K8sNamespaceName", "k8s.namespace.name"},
			{"K8sPodName", "k8s.pod.name"}, {"K8sContainerName", "k8s.container.name"},
		}...),
	}
}

func (c columns) scopes(names *Names) (s scopes) {
	scope := c.group("Scope")
	s.name, s.version = scope.texts("Name"), scope.texts("Version")
	s.attrs, s.dropped = scope.attributes(), scope.numbers("DroppedAttributesCount")
	rows, items, ok := c.list("Spans")
	if !ok {
		c.need("Spans")
		return s
	}
	s.spans = rows
	s.span = columnsOf(c.path+".Spans", items, c.err).spans(names)
	return s
}

func (c columns) spans(names *Names) (s spans) {
	c.need("SpanID", "Name", "StartTimeUnixNano", "DurationNano")
	s = spans{
		id: c.texts("SpanID"), parent: c.texts("ParentSpanID"), name: c.texts("Name"),
		state: c.texts("TraceState"), statusText: c.texts("StatusMessage"),
		kind: c.numbers("Kind"), status: c.numbers("StatusCode"),
		start: c.numbers("StartTimeUnixNano"), duration: c.numbers("DurationNano"),
		dropped:       c.numbers("DroppedAttributesCount"),
		droppedEvents: c.numbers("DroppedEventsCount"), droppedLinks: c.numbers("DroppedLinksCount"),
		attrs: c.attributes(), dedicated: c.dedicated(ofSpan, names),
	}
	s.known = append(c.known(kindString, [2]string{"HttpMethod", "http.method"}, [2]string{"HttpUrl", "http.url"}),
		c.known(kindInt, [2]string{"HttpStatusCode", "http.status_code"})...)
	rows, items, ok := c.list("Events")
	if s.events = rows; ok {
		s.event = columnsOf(c.path+".Events", items, c.err).events(names)
	}
	rows, items, ok = c.list("Links")
	if s.links = rows; ok {
		s.link = columnsOf(c.path+".Links", items, c.err).links()
	}
	return s
}

func (c columns) events(names *Names) events {
	return events{
		sinceStart: c.numbers("TimeSinceStartNano"), dropped: c.numbers("DroppedAttributesCount"),
		name: c.texts("Name"), attrs: c.attributes(), dedicated: c.dedicated(ofEvent, names),
	}
}

func (c columns) links() links {
	return links{
		trace: c.texts("TraceID"), span: c.texts("SpanID"), state: c.texts("TraceState"),
		attrs: c.attributes(), dropped: c.numbers("DroppedAttributesCount"),
	}
}

// message appends row i as a TracesData.
func (t *traces) message(dst []byte, i int) ([]byte, error) {
	id, _ := t.id.get(i)
	from, to := t.resources.span(i)
	var err error
	for r := from; r < to; r++ {
		dst, err = appendMessage(dst, tracesResourceSpans, func(dst []byte) ([]byte, error) { return t.resource.message(dst, id, r) })
		if err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// message appends row i as a ResourceSpans.
func (r *resources) message(dst []byte, trace string, i int) ([]byte, error) {
	dst, err := appendMessage(dst, resourceSpansResource, func(dst []byte) ([]byte, error) {
		dst, err := r.attrs.appendTo(dst, resourceAttributes, i)
		dst = r.dedicated.appendTo(dst, resourceAttributes, i)
		if service, _ := r.service.get(i); service != "" {
			dst, _ = appendAttribute(dst, resourceAttributes, "service.name", func(dst []byte) ([]byte, error) {
				return appendText(dst, anyString, service), nil
			})
		}
		dst = appendKnown(dst, resourceAttributes, r.known, i)
		return appendCount(dst, resourceDropped, r.dropped.or0(i)), err
	})
	from, to := r.scopes.span(i)
	for s := from; s < to && err == nil; s++ {
		dst, err = appendMessage(dst, resourceSpansScopeSpans, func(dst []byte) ([]byte, error) { return r.scope.message(dst, trace, s) })
	}
	return dst, err
}

// message appends row i as a ScopeSpans.
func (s *scopes) message(dst []byte, trace string, i int) ([]byte, error) {
	dst, err := appendMessage(dst, scopeSpansScope, func(dst []byte) ([]byte, error) {
		dst = s.name.appendTo(dst, scopeName, i)
		dst = s.version.appendTo(dst, scopeVersion, i)
		dst, err := s.attrs.appendTo(dst, scopeAttributes, i)
		return appendCount(dst, scopeDropped, s.dropped.or0(i)), err
	})
	from, to := s.spans.span(i)
	for k := from; k < to && err == nil; k++ {
		dst, err = appendMessage(dst, scopeSpansSpans, func(dst []byte) ([]byte, error) { return s.span.message(dst, trace, k) })
	}
	return dst, err
}

// message appends row i as a Span.
func (s *spans) message(dst []byte, trace string, i int) ([]byte, error) {
	start := s.start.or0(i)
	dst = appendText(dst, spanTraceID, trace)
	dst = s.id.appendTo(dst, spanSpanID, i)
	dst = s.state.appendTo(dst, spanTraceState, i)
	dst = s.parent.appendTo(dst, spanParentID, i)
	dst = s.name.appendTo(dst, spanName, i)
	dst = appendNumber(dst, spanKind, s.kind.or0(i))
	dst = appendTime(dst, spanStart, start)
	dst = appendTime(dst, spanEnd, start+s.duration.or0(i))
	dst, err := s.attrs.appendTo(dst, spanAttributes, i)
	dst = s.dedicated.appendTo(dst, spanAttributes, i)
	dst = appendKnown(dst, spanAttributes, s.known, i)
	dst = appendCount(dst, spanDropped, s.dropped.or0(i))
	from, to := s.events.span(i)
	for k := from; k < to && err == nil; k++ {
		dst, err = appendMessage(dst, spanEvents, func(dst []byte) ([]byte, error) { return s.event.message(dst, start, k) })
	}
	dst = appendCount(dst, spanDroppedEvents, s.droppedEvents.or0(i))
	from, to = s.links.span(i)
	for k := from; k < to && err == nil; k++ {
		dst, err = appendMessage(dst, spanLinks, func(dst []byte) ([]byte, error) { return s.link.message(dst, k) })
	}
	dst = appendCount(dst, spanDroppedLinks, s.droppedLinks.or0(i))
	message, _ := s.statusText.get(i)
	if code := s.status.or0(i); code != 0 || message != "" {
		dst, _ = appendMessage(dst, spanStatus, func(dst []byte) ([]byte, error) {
			return appendNumber(appendText(dst, statusMessage, message), statusCode, code), nil
		})
	}
	return dst, err
}

// message appends row i as an Event of a span that starts at a time.
func (e *events) message(dst []byte, start uint64, i int) ([]byte, error) {
	dst = appendTime(dst, eventTime, start+e.sinceStart.or0(i))
	dst = e.name.appendTo(dst, eventName, i)
	dst, err := e.attrs.appendTo(dst, eventAttributes, i)
	dst = e.dedicated.appendTo(dst, eventAttributes, i)
	return appendCount(dst, eventDropped, e.dropped.or0(i)), err
}

// message appends row i as a Link.
func (l *links) message(dst []byte, i int) ([]byte, error) {
	dst = l.trace.appendTo(dst, linkTraceID, i)
	dst = l.span.appendTo(dst, linkSpanID, i)
	dst = l.state.appendTo(dst, linkTraceState, i)
	dst, err := l.attrs.appendTo(dst, linkAttributes, i)
	return appendCount(dst, linkDropped, l.dropped.or0(i)), err
}
