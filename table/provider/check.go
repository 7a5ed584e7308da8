package provider

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

// checkedSink looks at batches before the sink of a format reads them.
type checkedSink struct {
	Sink
	schema *arrow.Schema
}

// checkedCutter is a checkedSink whose format stores rows in groups.
type checkedCutter struct {
	checkedSink
	cutter StripeCutter
}

// checkedMessages is a checkedSink whose format takes messages.
type checkedMessages struct {
	checkedSink
	messages MessageSink
}

func (s checkedSink) Write(ctx context.Context, batch arrow.RecordBatch) error {
	if n := len(s.schema.Fields()); int(batch.NumCols()) != n {
		return fmt.Errorf("batch has %d columns, the table %d", batch.NumCols(), n)
	}
	for i, f := range s.schema.Fields() {
		if got := batch.Column(i).DataType(); !arrow.TypeEqual(got, f.Type) {
			return fmt.Errorf("column %d of the batch is of type %v, column %q of the table of type %v", i, got, f.Name, f.Type)
		}
	}
	if err := arrowutil.CheckBatch(batch); err != nil {
		return err
	}
	return s.Sink.Write(ctx, batch)
}

func (s checkedCutter) CutStripe(ctx context.Context) error { return s.cutter.CutStripe(ctx) }

func (s checkedMessages) WriteMessage(ctx context.Context, message []byte) (int64, error) {
	return s.messages.WriteMessage(ctx, message)
}
