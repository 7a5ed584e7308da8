package otlp

import "errors"

// JSONStats count what a conversion from JSON left out.
type JSONStats struct {
	UnknownKeys int64 // members of objects that OTLP does not have
}

// AppendWire appends the wire bytes of a TracesData or ExportTraceServiceRequest in OTLP/JSON.
func AppendWire(dst, json []byte, stats *JSONStats) ([]byte, error) {
	return dst, errors.ErrUnsupported
}

// AppendJSON appends an encoded TracesData or ExportTraceServiceRequest as OTLP/JSON, without line breaks.
func AppendJSON(dst, wire []byte) ([]byte, error) { return dst, errors.ErrUnsupported }
