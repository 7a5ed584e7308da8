package otlp

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
)

// AddBatch adds the rows of a batch of spans: from a Blockpack file, or any table with such columns. After an error the
// builder has the rows that it had before. The batch stays the caller's.
func (b *Builder) AddBatch(batch arrow.RecordBatch) error { return errors.ErrUnsupported }
