// Package otlp converts OTLP messages to columns of spans and back.
package otlp

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/blockpack/internal/column"
)

// Options are those of a [Builder]. The zero value is the default.
type Options struct {
	PadIDs    bool // trace ids of 8 bytes are padded with zeros on the left; by default they are errors
	Truncate  bool // values that are too long are cut and counted; by default they are errors
	Strict    bool // no columns but those of the specification; Stats.Lost counts what has none
	ArrayText bool // arrays and maps among attributes of spans have a column of their JSON text, too

	MaxColumns  int // by default 10,000, the limit of the format
	MaxValueLen int // bytes of a string, by default 10 MiB, the limit of the format
	MaxNameLen  int // bytes of the name of a column, by default 1024, the limit of the format
}

// Stats count what a [Builder] took.
type Stats struct {
	Spans          int64
	EmptyResources int64 // ResourceSpans without spans, which no column keeps
	EmptyScopes    int64 // ScopeSpans without spans, likewise
	Truncated      int64 // values that were cut
	Padded         int64 // trace ids that were padded
	Lost           int64 // fields without a column, with Options.Strict
}

// ErrTooManyColumns means that spans have more different attributes than a block can hold. The spans before them fit.
var ErrTooManyColumns = errors.New("too many columns")

// ValueTooLongError means that a string exceeds a limit of the format.
type ValueTooLongError struct {
	Column string
	Len    int // bytes
	Limit  int
}

func (e *ValueTooLongError) Error() string {
	return fmt.Sprintf("value of %d bytes in column %q: the limit is %d", e.Len, e.Column, e.Limit)
}

// Block is the columns of some spans, sorted by name and type.
type Block struct {
	Rows    int
	Columns []*column.Column
}

// Builder collects spans in columns. It is used by one goroutine.
type Builder struct{}

// NewBuilder makes an empty builder.
func NewBuilder(o Options) *Builder { return &Builder{} }

// AddTraces adds the spans of an encoded TracesData or ExportTraceServiceRequest, which have the same bytes. After an
// error the builder has the rows that it had before. wire is not kept.
func (b *Builder) AddTraces(wire []byte) error { return errors.ErrUnsupported }

// AddBatch adds the rows of a batch of spans: from a Blockpack file, or any table with such columns. After an error the
// builder has the rows that it had before. The batch stays the caller's.
func (b *Builder) AddBatch(batch arrow.RecordBatch) error { return errors.ErrUnsupported }

// Rows is the number of spans.
func (b *Builder) Rows() int { return 0 }

// Bytes estimates the memory of the builder.
func (b *Builder) Bytes() int { return 0 }

// Stats are the counts since the builder was made.
func (b *Builder) Stats() Stats { return Stats{} }

// Take removes the first n spans and returns them.
func (b *Builder) Take(n int) Block { return Block{} }

// Finish removes all spans and returns them. The builder may be used for others.
func (b *Builder) Finish() Block { return Block{} }
