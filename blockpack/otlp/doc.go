// Package otlp reads and writes OpenTelemetry traces in the messages of OTLP, as tables of spans with a row for each span. It is a
// format of package provider: importing it registers ".otlp" and ".otlp.json", and blocks of Grafana Tempo, which it reads.
//
// # Files
//
// These forms are recognized by their first bytes. They may be compressed as a whole, for the command.
//
//	messages   a 32-bit length, lowest byte first, and an encoded TracesData or ExportTraceServiceRequest, repeated
//	message    an encoded TracesData or ExportTraceServiceRequest, which fills the file
//	OTLP/JSON  TracesData objects one after the other, as the file exporter of the OpenTelemetry collector writes them
//
// ".otlp" is written as messages, ".otlp.json" and ".otlp.jsonl" as OTLP/JSON with an object a line.
//
// # Columns
//
// A column has a colon in its name if it is a field of OTLP, or a dot if it is an attribute:
//
//	trace:id, span:id, span:parent_id                 fixed_size_binary[16] and [8]
//	trace:state, span:name, span:status_message       utf8
//	span:kind, span:status                            int64, as numbered in OTLP
//	span:start, span:end                              timestamp[ns, UTC]; uint64 if some are 2^63 or more
//	span:duration                                     duration[ns]; 0 for a span that ends before it starts
//	span:dropped_attrs, _events, _links               uint64
//	resource:schema_url, scope:schema_url             utf8
//	span.KEY, resource.KEY, scope.KEY                 utf8, int64, float64, bool or binary
//
//	span:flags, resource:dropped_attrs, scope:dropped_attrs   uint64
//	scope:name, scope:version                                 utf8
//	span:events, span:links                                   binary: a Span with only these, as Protocol Buffers
//	span:attrs_ext, resource:attrs_ext, scope:attrs_ext       binary: likewise, attributes that are arrays, maps or empty, and those
//	                                                          whose key their list had before
//	resource:entity_refs                                      binary: likewise
//	span:unknown, resource:unknown, scope:unknown             binary: fields that OTLP does not have
//
// Fields that are zero are null, but for name, kind, start, end, duration and status. A key with values of two types has two columns,
// "span.code" and "span.code#int64". The metadata of an Arrow field has the type of its column, "blockpack.type", and its name if that
// is another one, "blockpack.name". Strings that are not UTF-8 make their column binary.
//
// Converting back gives an equal set of spans. Not kept are the order of attributes with different keys, the grouping of spans
// into messages, and resources and scopes without spans, which a warning counts.
package otlp
