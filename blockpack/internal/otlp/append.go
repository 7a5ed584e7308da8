package otlp

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
)

// AppendTraces appends an encoded TracesData of rows of a batch of spans, all if rows is nil. Spans are grouped by
// resource and scope, in the order in which these appear first.
func AppendTraces(dst []byte, batch arrow.RecordBatch, rows []int) ([]byte, error) {
	return dst, errors.ErrUnsupported
}
