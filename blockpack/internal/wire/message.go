package wire

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// MaxDepth bounds the nesting of messages, as most programs that read Protocol Buffers do.
const MaxDepth = 100

// Message describes a type of messages: its fields by number.
type Message struct {
	fields [17]definition
	oneof  bool // a message has one of the fields, which may be zero
}

// definition is a field of a type of messages. Fields without a name do not exist.
type definition struct {
	name  string // in JSON
	proto string // in the definition of the messages, accepted in JSON, too
	kind  kind
	list  bool
	of    *Message // of messages
}

// kind is how a field is stored, and what it is in JSON.
type kind uint8

const (
	str     kind = iota // a string
	hexID               // bytes, in JSON hexadecimal digits
	octets              // bytes, in JSON in base 64
	message             // a message
	boolean             // a varint
	signed              // a varint, in JSON the digits of an int64 in a string
	count               // a varint, in JSON a number of 32 bits
	kinds               // a varint: a SpanKind
	status              // a varint: a StatusCode
	nanos               // 8 bytes, in JSON the digits of a uint64 in a string
	double              // 8 bytes
	flags               // 4 bytes, in JSON a number
)

// wireTypes are the types of fields on the wire.
var wireTypes = [...]protowire.Type{
	str: protowire.BytesType, hexID: protowire.BytesType, octets: protowire.BytesType, message: protowire.BytesType,
	boolean: protowire.VarintType, signed: protowire.VarintType, count: protowire.VarintType, kinds: protowire.VarintType, status: protowire.VarintType,
	nanos: protowire.Fixed64Type, double: protowire.Fixed64Type, flags: protowire.Fixed32Type,
}

// The messages of OTLP traces. A TracesData and an ExportTraceServiceRequest have the same bytes.
var (
	TracesData = &Message{fields: [17]definition{
		1: {"resourceSpans", "resource_spans", message, true, ResourceSpans},
	}}
	ResourceSpans = &Message{fields: [17]definition{
		1: {"resource", "resource", message, false, resource},
		2: {"scopeSpans", "scope_spans", message, true, ScopeSpans},
		3: {"schemaUrl", "schema_url", str, false, nil},
	}}
	resource = &Message{fields: [17]definition{
		1: {"attributes", "attributes", message, true, KeyValueMessage},
		2: {"droppedAttributesCount", "dropped_attributes_count", count, false, nil},
		3: {"entityRefs", "entity_refs", message, true, EntityRef},
	}}
	ScopeSpans = &Message{fields: [17]definition{
		1: {"scope", "scope", message, false, scope},
		2: {"spans", "spans", message, true, Span},
		3: {"schemaUrl", "schema_url", str, false, nil},
	}}
	scope = &Message{fields: [17]definition{
		1: {"name", "name", str, false, nil},
		2: {"version", "version", str, false, nil},
		3: {"attributes", "attributes", message, true, KeyValueMessage},
		4: {"droppedAttributesCount", "dropped_attributes_count", count, false, nil},
	}}
	Span = &Message{fields: [17]definition{
		1:  {"traceId", "trace_id", hexID, false, nil},
		2:  {"spanId", "span_id", hexID, false, nil},
		3:  {"traceState", "trace_state", str, false, nil},
		4:  {"parentSpanId", "parent_span_id", hexID, false, nil},
		5:  {"name", "name", str, false, nil},
		6:  {"kind", "kind", kinds, false, nil},
		7:  {"startTimeUnixNano", "start_time_unix_nano", nanos, false, nil},
		8:  {"endTimeUnixNano", "end_time_unix_nano", nanos, false, nil},
		9:  {"attributes", "attributes", message, true, KeyValueMessage},
		10: {"droppedAttributesCount", "dropped_attributes_count", count, false, nil},
		11: {"events", "events", message, true, Event},
		12: {"droppedEventsCount", "dropped_events_count", count, false, nil},
		13: {"links", "links", message, true, Link},
		14: {"droppedLinksCount", "dropped_links_count", count, false, nil},
		15: {"status", "status", message, false, statusMessage},
		16: {"flags", "flags", flags, false, nil},
	}}
	statusMessage = &Message{fields: [17]definition{
		2: {"message", "message", str, false, nil},
		3: {"code", "code", status, false, nil},
	}}
	Event = &Message{fields: [17]definition{
		1: {"timeUnixNano", "time_unix_nano", nanos, false, nil},
		2: {"name", "name", str, false, nil},
		3: {"attributes", "attributes", message, true, KeyValueMessage},
		4: {"droppedAttributesCount", "dropped_attributes_count", count, false, nil},
	}}
	Link = &Message{fields: [17]definition{
		1: {"traceId", "trace_id", hexID, false, nil},
		2: {"spanId", "span_id", hexID, false, nil},
		3: {"traceState", "trace_state", str, false, nil},
		4: {"attributes", "attributes", message, true, KeyValueMessage},
		5: {"droppedAttributesCount", "dropped_attributes_count", count, false, nil},
		6: {"flags", "flags", flags, false, nil},
	}}
	EntityRef = &Message{fields: [17]definition{
		1: {"schemaUrl", "schema_url", str, false, nil},
		2: {"type", "type", str, false, nil},
		3: {"idKeys", "id_keys", str, true, nil},
		4: {"descriptionKeys", "description_keys", str, true, nil},
	}}
	KeyValueMessage = &Message{fields: [17]definition{
		1: {"key", "key", str, false, nil},
		2: {"value", "value", message, false, AnyValue},
	}}
	AnyValue   = &Message{oneof: true}
	arrayValue = &Message{fields: [17]definition{1: {"values", "values", message, true, AnyValue}}}
	mapValue   = &Message{fields: [17]definition{1: {"values", "values", message, true, KeyValueMessage}}}
)

func init() { // because these messages contain each other
	AnyValue.fields = [17]definition{
		1: {"stringValue", "string_value", str, false, nil},
		2: {"boolValue", "bool_value", boolean, false, nil},
		3: {"intValue", "int_value", signed, false, nil},
		4: {"doubleValue", "double_value", double, false, nil},
		5: {"arrayValue", "array_value", message, false, arrayValue},
		6: {"kvlistValue", "kvlist_value", message, false, mapValue},
		7: {"bytesValue", "bytes_value", octets, false, nil},
	}
}

// definition is that of a field, nil if the messages have no such field.
func (m *Message) definition(num protowire.Number) *definition {
	if int(num) < len(m.fields) && m.fields[num].name != "" {
		return &m.fields[num]
	}
	return nil
}

// Check checks the wire types of the fields of a message at an offset, and of the messages in it. Fields that OTLP does not
// have may be anything. depth is the number of messages around it.
func (m *Message) Check(b []byte, base, depth int) error {
	if depth > MaxDepth {
		return fault.In(fault.Limitf("messages are nested deeper than %d", MaxDepth), "", int64(base))
	}
	r := NewReader(b, base)
	var f Field
	for r.Next(&f) {
		d := m.definition(f.Num)
		if d == nil {
			continue
		}
		if !r.Is(&f, wireTypes[d.kind]) {
			break
		}
		if d.of != nil {
			if err := d.of.Check(f.Data, f.At, depth+1); err != nil {
				return err
			}
		}
	}
	return r.Err
}
