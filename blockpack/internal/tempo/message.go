package tempo

import (
	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/blockpack/internal/wire"
)

// appender appends what row i of some columns has as fields of a message of OTLP.
type appender func(dst []byte, i int) ([]byte, error)

// inOrder appends one after the other.
func inOrder(parts ...appender) appender {
	return func(dst []byte, i int) (_ []byte, err error) {
		for _, p := range parts {
			if dst, err = p(dst, i); err != nil {
				return dst, err
			}
		}
		return dst, nil
	}
}

func nothing(dst []byte, _ int) ([]byte, error) { return dst, nil }

// text is a field of a string or bytes, which is left out if it is empty.
func (c columns) text(num protowire.Number, name string) appender {
	t := c.texts(name)
	return func(dst []byte, i int) ([]byte, error) { return wire.AppendText(dst, num, t.get(i)), nil }
}

// number is a field of an enum, which is left out if it is 0.
func (c columns) number(num protowire.Number, name string) appender {
	n := c.numbers(name)
	return func(dst []byte, i int) ([]byte, error) {
		return wire.AppendNumber(dst, num, wire.SpanKind, uint64(n.get(i))), nil
	}
}

// count is a count, which Tempo stores as int32, and OTLP has as uint32.
func (c columns) count(num protowire.Number, name string) appender {
	n := c.numbers(name)
	return func(dst []byte, i int) ([]byte, error) {
		return wire.AppendNumber(dst, num, wire.Count, uint64(uint32(n.get(i)))), nil
	}
}

// message is a message of the columns of a struct.
func (c columns) message(num protowire.Number, name string, of func(columns) appender) appender {
	body := of(c.group(name))
	return func(dst []byte, i int) ([]byte, error) {
		return appendMessage(dst, num, func(dst []byte) ([]byte, error) { return body(dst, i) })
	}
}

// messages are those of a list of structs. Without the column there are none.
func (c columns) messages(num protowire.Number, name string, of func(columns) appender) appender {
	rows, items, ok := c.list(name)
	if !ok {
		return nothing
	}
	path := name
	if c.path != "" {
		path = c.path + "." + name
	}
	body := of(columnsOf(path, items, c.err))
	return func(dst []byte, i int) (_ []byte, err error) {
		from, to := rows.span(i)
		for k := from; k < to && err == nil; k++ {
			dst, err = appendMessage(dst, num, func(dst []byte) ([]byte, error) { return body(dst, k) })
		}
		return dst, err
	}
}

// appendMessage appends a message as a field of another one.
func appendMessage(dst []byte, num protowire.Number, body func(dst []byte) ([]byte, error)) ([]byte, error) {
	dst = protowire.AppendTag(dst, num, protowire.BytesType)
	start := len(dst)
	dst, err := body(dst)
	return wire.InsertLen(dst, start), err
}

// binder finds the columns for the fields of each type of messages.
type binder struct {
	names *Names
	trace []byte // id of the trace that is appended
	start uint64 // of the span that is appended
}

// bind finds the columns of a batch. A row of it is a TracesData.
func bind(batch arrow.RecordBatch, names *Names) (appender, error) {
	var err error
	root := columns{arrays: map[string]arrow.Array{}, err: &err}
	for i, f := range batch.Schema().Fields() {
		root.arrays[f.Name] = batch.Column(i)
	}
	b := &binder{names: names}
	id := root.texts("TraceID")
	resources := root.messages(1, "rs", b.resourceSpans)
	return func(dst []byte, i int) ([]byte, error) {
		b.trace = id.get(i)
		return resources(dst, i)
	}, err
}

const droppedAttributes = "DroppedAttributesCount"

func (b *binder) resourceSpans(c columns) appender {
	return inOrder(c.message(1, "Resource", b.resource), c.messages(2, "ss", b.scopeSpans))
}

func (b *binder) resource(c columns) appender {
	service := c.texts("ServiceName") // empty if there is none
	return inOrder(c.attributes(1), c.dedicated(1, ofResource, b.names),
		func(dst []byte, i int) ([]byte, error) {
			v := service.get(i)
			if len(v) == 0 {
				return dst, nil
			}
			return appendAttribute(dst, 1, "service.name", func(dst []byte) ([]byte, error) { return wire.AppendText(dst, anyString, v), nil })
		},
		c.known(1, kindString, [][2]string{
			{"Cluster", "cluster"}, {"Namespace", "namespace"}, {"Pod", "pod"}, {"Container", "container"},
			{"K8sClusterName", "k8s.cluster.name"}, {"K8sNamespaceName", "k8s.namespace.name"},
			{"K8sPodName", "k8s.pod.name"}, {"K8sContainerName", "k8s.container.name"},
		}...),
		c.count(2, droppedAttributes))
}

func (b *binder) scopeSpans(c columns) appender {
	c.need("Spans")
	return inOrder(c.message(1, "Scope", b.scope), c.messages(2, "Spans", b.span))
}

func (b *binder) scope(c columns) appender {
	return inOrder(c.text(1, "Name"), c.text(2, "Version"), c.attributes(3), c.count(4, droppedAttributes))
}

func (b *binder) span(c columns) appender {
	c.need("SpanID", "Name", "StartTimeUnixNano", "DurationNano")
	start, duration := c.numbers("StartTimeUnixNano"), c.numbers("DurationNano")
	return inOrder(
		func(dst []byte, i int) ([]byte, error) {
			b.start = uint64(start.get(i))
			return wire.AppendText(dst, 1, b.trace), nil
		},
		c.text(2, "SpanID"), c.text(3, "TraceState"), c.text(4, "ParentSpanID"), c.text(5, "Name"), c.number(6, "Kind"),
		func(dst []byte, i int) ([]byte, error) {
			dst = wire.AppendNumber(dst, 7, wire.Nanos, b.start)
			return wire.AppendNumber(dst, 8, wire.Nanos, b.start+uint64(duration.get(i))), nil
		},
		c.attributes(9), c.dedicated(9, ofSpan, b.names),
		c.known(9, kindString, [2]string{"HttpMethod", "http.method"}, [2]string{"HttpUrl", "http.url"}),
		c.known(9, kindInt, [2]string{"HttpStatusCode", "http.status_code"}),
		c.count(10, droppedAttributes), c.messages(11, "Events", b.event), c.count(12, "DroppedEventsCount"),
		c.messages(13, "Links", b.link), c.count(14, "DroppedLinksCount"), b.status(c))
}

// status is the Status of a span that has a code or a message.
func (b *binder) status(c columns) appender {
	fields := inOrder(c.text(2, "StatusMessage"), c.number(3, "StatusCode"))
	var body []byte
	return func(dst []byte, i int) ([]byte, error) {
		body, _ = fields(body[:0], i)
		if len(body) == 0 {
			return dst, nil
		}
		return protowire.AppendBytes(protowire.AppendTag(dst, 15, protowire.BytesType), body), nil
	}
}

func (b *binder) event(c columns) appender {
	since := c.numbers("TimeSinceStartNano")
	return inOrder(
		func(dst []byte, i int) ([]byte, error) {
			return wire.AppendNumber(dst, 1, wire.Nanos, b.start+uint64(since.get(i))), nil
		},
		c.text(2, "Name"), c.attributes(3), c.dedicated(3, ofEvent, b.names), c.count(4, droppedAttributes))
}

func (b *binder) link(c columns) appender {
	return inOrder(c.text(1, "TraceID"), c.text(2, "SpanID"), c.text(3, "TraceState"), c.attributes(4), c.count(5, droppedAttributes))
}
