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
	{Name: TraceID, Type: column.Bytes},
	{Name: TraceState, Type: column.String},
	{Name: SpanID, Type: column.Bytes},
	{Name: ParentID, Type: column.Bytes},
	{Name: Name, Type: column.String},
	{Name: Kind, Type: column.Int64},
	{Name: Start, Type: column.Uint64},
	{Name: End, Type: column.Uint64},
	{Name: Duration, Type: column.Uint64},
	{Name: Status, Type: column.Int64},
	{Name: StatusMessage, Type: column.String},
	{Name: DroppedAttrs, Type: column.Uint64},
	{Name: DroppedEvents, Type: column.Uint64},
	{Name: DroppedLinks, Type: column.Uint64},
	{Name: ResourceSchemaURL, Type: column.String},
	{Name: ScopeSchemaURL, Type: column.String},
	{Name: Flags, Type: column.Uint64},
	{Name: Events, Type: column.Bytes},
	{Name: Links, Type: column.Bytes},
	{Name: Attrs, Type: column.Bytes},
	{Name: Unknown, Type: column.Bytes},
	{Name: ResourceDroppedAttrs, Type: column.Uint64},
	{Name: ResourceEntityRefs, Type: column.Bytes},
	{Name: ResourceAttrs, Type: column.Bytes},
	{Name: ResourceUnknown, Type: column.Bytes},
	{Name: ScopeName, Type: column.String},
	{Name: ScopeVersion, Type: column.String},
	{Name: ScopeDroppedAttrs, Type: column.Uint64},
	{Name: ScopeAttrs, Type: column.Bytes},
	{Name: ScopeUnknown, Type: column.Bytes},
}
