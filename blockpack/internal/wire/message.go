package wire

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// MaxDepth bounds the nesting of messages, as most programs that read Protocol Buffers do.
const MaxDepth = 100

// MaxField is greater than the numbers of all fields.
const MaxField = 17

// Message describes a type of messages: its fields by number.
type Message struct {
	Name   string
	fields [MaxField]Definition
	oneof  bool // a message has one of the fields, which may be zero
}

// Definition is a field of a type of messages. Fields without a name do not exist.
type Definition struct {
	name  string // in JSON
	proto string // in the definition of the messages, accepted in JSON, too
	Kind  Kind
	List  bool
	Of    *Message // of messages
}

// Kind is how a field is stored, and what it is in JSON.
type Kind uint8

// The kinds of fields.
const (
	Text       Kind = iota // a string
	ID                     // bytes, in JSON hexadecimal digits
	Octets                 // bytes, in JSON in base 64
	Group                  // a message
	Bool                   // a varint
	Signed                 // a varint, in JSON the digits of an int64 in a string
	Count                  // a varint, in JSON a number of 32 bits
	SpanKind               // a varint
	StatusCode             // a varint
	Nanos                  // 8 bytes, in JSON the digits of a uint64 in a string
	Double                 // 8 bytes
	Flags                  // 4 bytes, in JSON a number
)

// wireTypes are the types of fields on the wire.
var wireTypes = [...]protowire.Type{
	Text: protowire.BytesType, ID: protowire.BytesType, Octets: protowire.BytesType, Group: protowire.BytesType,
	Bool: protowire.VarintType, Signed: protowire.VarintType, Count: protowire.VarintType, SpanKind: protowire.VarintType,
	StatusCode: protowire.VarintType, Nanos: protowire.Fixed64Type, Double: protowire.Fixed64Type, Flags: protowire.Fixed32Type,
}

// Type is the type of a kind of fields on the wire.
func (k Kind) Type() protowire.Type { return wireTypes[k] }

// The messages of OTLP traces. A TracesData and an ExportTraceServiceRequest have the same bytes.
var (
	TracesData = &Message{Name: "TracesData", fields: [MaxField]Definition{
		1: {"resourceSpans", "resource_spans", Group, true, ResourceSpans},
	}}
	ResourceSpans = &Message{Name: "ResourceSpans", fields: [MaxField]Definition{
		1: {"resource", "resource", Group, false, Resource},
		2: {"scopeSpans", "scope_spans", Group, true, ScopeSpans},
		3: {"schemaUrl", "schema_url", Text, false, nil},
	}}
	Resource = &Message{Name: "Resource", fields: [MaxField]Definition{
		1: {"attributes", "attributes", Group, true, KeyValueMessage},
		2: {"droppedAttributesCount", "dropped_attributes_count", Count, false, nil},
		3: {"entityRefs", "entity_refs", Group, true, EntityRef},
	}}
	ScopeSpans = &Message{Name: "ScopeSpans", fields: [MaxField]Definition{
		1: {"scope", "scope", Group, false, Scope},
		2: {"spans", "spans", Group, true, Span},
		3: {"schemaUrl", "schema_url", Text, false, nil},
	}}
	Scope = &Message{Name: "InstrumentationScope", fields: [MaxField]Definition{
		1: {"name", "name", Text, false, nil},
		2: {"version", "version", Text, false, nil},
		3: {"attributes", "attributes", Group, true, KeyValueMessage},
		4: {"droppedAttributesCount", "dropped_attributes_count", Count, false, nil},
	}}
	Span = &Message{Name: "Span", fields: [MaxField]Definition{
		1:  {"traceId", "trace_id", ID, false, nil},
		2:  {"spanId", "span_id", ID, false, nil},
		3:  {"traceState", "trace_state", Text, false, nil},
		4:  {"parentSpanId", "parent_span_id", ID, false, nil},
		5:  {"name", "name", Text, false, nil},
		6:  {"kind", "kind", SpanKind, false, nil},
		7:  {"startTimeUnixNano", "start_time_unix_nano", Nanos, false, nil},
		8:  {"endTimeUnixNano", "end_time_unix_nano", Nanos, false, nil},
		9:  {"attributes", "attributes", Group, true, KeyValueMessage},
		10: {"droppedAttributesCount", "dropped_attributes_count", Count, false, nil},
		11: {"events", "events", Group, true, Event},
		12: {"droppedEventsCount", "dropped_events_count", Count, false, nil},
		13: {"links", "links", Group, true, Link},
		14: {"droppedLinksCount", "dropped_links_count", Count, false, nil},
		15: {"status", "status", Group, false, Status},
		16: {"flags", "flags", Flags, false, nil},
	}}
	Status = &Message{Name: "Status", fields: [MaxField]Definition{
		2: {"message", "message", Text, false, nil},
		3: {"code", "code", StatusCode, false, nil},
	}}
	Event = &Message{Name: "Event", fields: [MaxField]Definition{
		1: {"timeUnixNano", "time_unix_nano", Nanos, false, nil},
		2: {"name", "name", Text, false, nil},
		3: {"attributes", "attributes", Group, true, KeyValueMessage},
		4: {"droppedAttributesCount", "dropped_attributes_count", Count, false, nil},
	}}
	Link = &Message{Name: "Link", fields: [MaxField]Definition{
		1: {"traceId", "trace_id", ID, false, nil},
		2: {"spanId", "span_id", ID, false, nil},
		3: {"traceState", "trace_state", Text, false, nil},
		4: {"attributes", "attributes", Group, true, KeyValueMessage},
		5: {"droppedAttributesCount", "dropped_attributes_count", Count, false, nil},
		6: {"flags", "flags", Flags, false, nil},
	}}
	EntityRef = &Message{Name: "EntityRef", fields: [MaxField]Definition{
		1: {"schemaUrl", "schema_url", Text, false, nil},
		2: {"type", "type", Text, false, nil},
		3: {"idKeys", "id_keys", Text, true, nil},
		4: {"descriptionKeys", "description_keys", Text, true, nil},
	}}
	KeyValueMessage = &Message{Name: "KeyValue", fields: [MaxField]Definition{
		1: {"key", "key", Text, false, nil},
		2: {"value", "value", Group, false, AnyValue},
	}}
	AnyValue   = &Message{oneof: true}
	arrayValue = &Message{fields: [MaxField]Definition{1: {"values", "values", Group, true, AnyValue}}}
	mapValue   = &Message{fields: [MaxField]Definition{1: {"values", "values", Group, true, KeyValueMessage}}}
)

func init() { // because these messages contain each other
	AnyValue.fields = [MaxField]Definition{
		1: {"stringValue", "string_value", Text, false, nil},
		2: {"boolValue", "bool_value", Bool, false, nil},
		3: {"intValue", "int_value", Signed, false, nil},
		4: {"doubleValue", "double_value", Double, false, nil},
		5: {"arrayValue", "array_value", Group, false, arrayValue},
		6: {"kvlistValue", "kvlist_value", Group, false, mapValue},
		7: {"bytesValue", "bytes_value", Octets, false, nil},
	}
}

// Field is the definition of a field, nil if the messages have no such field.
func (m *Message) Field(num protowire.Number) *Definition {
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
		d := m.Field(f.Num)
		if d == nil {
			continue
		}
		if !r.Is(&f, d.Kind.Type()) {
			break
		}
		if d.Of != nil {
			if err := d.Of.Check(f.Data, f.At, depth+1); err != nil {
				return err
			}
		}
	}
	return r.Err
}
