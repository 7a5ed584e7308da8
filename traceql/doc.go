// Package traceql finds traces by TraceQL, the query language of traces, in any table with a row for each span. docs/traceql.md
// has the language.
//
// # Tables
//
// Columns have the names of Blockpack: "trace:id", "span:id", "span:parent_id", "span:name", "span:kind", "span:start", "span:end",
// "span:duration", "span:status", "span:status_message", "scope:name", "scope:version", the attributes "span.http.method",
// "resource.service.name" and "scope.x", the protobuf "span:events" and "span:links", and "span:attrs_ext" and its like for arrays. All
// but "trace:id" and "span:id" may be missing. If a name has values of several types, each type is a field of its own, with the name
// in the metadata "blockpack.name".
//
// A trace may be spread over several sources. A span that several sources have, by its trace and span id and its kind, counts
// once, as in the first of them.
package traceql
