package spans

import "github.com/amudai/amudai-go/blockpack/internal/column"

// Columns of fields of a span, its resource and its scope (section 11.1 of the specification).
const (
	TraceID           = "trace:id"
	TraceState        = "trace:state"
	SpanID            = "span:id"
	ParentID          = "span:parent_id"
	Name              = "span:name"
	Kind              = "span:kind"
	Start             = "span:start"
	End               = "span:end"
	Duration          = "span:duration"
	Status            = "span:status"
	StatusMessage     = "span:status_message"
	DroppedAttrs      = "span:dropped_attrs"
	DroppedEvents     = "span:dropped_events"
	DroppedLinks      = "span:dropped_links"
	ResourceSchemaURL = "resource:schema_url"
	ScopeSchemaURL    = "scope:schema_url"
)

// Extension columns: what OTLP has and section 11.1 has not.
const (
	Flags                = "span:flags"
	Events               = "span:events"    // a Span with only its events, as protobuf
	Links                = "span:links"     // a Span with only its links, as protobuf
	Attrs                = "span:attrs_ext" // a Span with only the attributes that have no column, as protobuf
	Unknown              = "span:unknown"   // fields of a Span that have no column, as protobuf
	ResourceDroppedAttrs = "resource:dropped_attrs"
	ResourceEntityRefs   = "resource:entity_refs" // a Resource with only its entity references, as protobuf
	ResourceAttrs        = "resource:attrs_ext"   // a Resource with only the attributes that have no column, as protobuf
	ResourceUnknown      = "resource:unknown"     // fields of a ResourceSpans that have no column, as protobuf
	ScopeName            = "scope:name"
	ScopeVersion         = "scope:version"
	ScopeDroppedAttrs    = "scope:dropped_attrs"
	ScopeAttrs           = "scope:attrs_ext" // an InstrumentationScope with only the attributes that have no column, as protobuf
	ScopeUnknown         = "scope:unknown"   // fields of a ScopeSpans that have no column, as protobuf
)

// Prefixes of columns of attributes.
const (
	SpanPrefix     = "span."
	ResourcePrefix = "resource."
	ScopePrefix    = "scope."
)

// Intrinsics are the columns of fields, in the order of Arrow schemas: those of the specification first, then
// extensions.
var Intrinsics = []Field{
	{TraceID, column.Bytes, 0},
	{TraceState, column.String, 0},
	{SpanID, column.Bytes, 0},
	{ParentID, column.Bytes, 0},
	{Name, column.String, 0},
	{Kind, column.Int64, 0},
	{Start, column.Uint64, 0},
	{End, column.Uint64, 0},
	{Duration, column.Uint64, 0},
	{Status, column.Int64, 0},
	{StatusMessage, column.String, 0},
	{DroppedAttrs, column.Uint64, 0},
	{DroppedEvents, column.Uint64, 0},
	{DroppedLinks, column.Uint64, 0},
	{ResourceSchemaURL, column.String, 0},
	{ScopeSchemaURL, column.String, 0},
	{Flags, column.Uint64, 0},
	{Events, column.Bytes, 0},
	{Links, column.Bytes, 0},
	{Attrs, column.Bytes, 0},
	{Unknown, column.Bytes, 0},
	{ResourceDroppedAttrs, column.Uint64, 0},
	{ResourceEntityRefs, column.Bytes, 0},
	{ResourceAttrs, column.Bytes, 0},
	{ResourceUnknown, column.Bytes, 0},
	{ScopeName, column.String, 0},
	{ScopeVersion, column.String, 0},
	{ScopeDroppedAttrs, column.Uint64, 0},
	{ScopeAttrs, column.Bytes, 0},
	{ScopeUnknown, column.Bytes, 0},
}
