// Package tempo reads blocks of Grafana Tempo, in the formats vParquet4 and vParquet5, as OTLP.
//
// A block is a folder with data.parquet, which has one row for each trace, and meta.json:
//
//	TraceID                            16 bytes
//	rs                                 list: spans of one resource
//	├─ Resource
//	│  ├─ Attrs                        attributes, see attribute.go
//	│  ├─ ServiceName, Cluster, …      attributes with columns of their own
//	│  └─ DedicatedAttributes          attributes that meta.json names: String01, …, Int01, …
//	└─ ss                              list: spans of one instrumentation scope
//	   ├─ Scope                        Name, Version, Attrs
//	   └─ Spans                        list
//	      ├─ SpanID, ParentSpanID, Name, Kind, TraceState, StatusCode, StatusMessage
//	      ├─ StartTimeUnixNano         nanoseconds since 1970
//	      ├─ DurationNano              nanoseconds
//	      ├─ Attrs, HttpMethod, …, DedicatedAttributes
//	      ├─ Events                    list: TimeSinceStartNano, Name, Attrs, DedicatedAttributes
//	      └─ Links                     list: TraceID, SpanID, TraceState, Attrs
//
// vParquet5 has dedicated columns of integers, of events and of arrays, and lists without Parquet's LIST annotation.
// The first version of vParquet4 has a number ValueType in place of IsArray. Columns are found by name, so a block
// may lack those that its version does not have. Columns that Tempo derives from others are not read: the nested set
// model, statistics of services, and rounded times.
package tempo

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/table/parquet"
	"github.com/amudai/amudai-go/table/provider"
)

// Names of the files of a block.
const (
	DataFile = "data.parquet"
	MetaFile = "meta.json"
)

// A batch has about batchBytes bytes of the file, and at most maxBatchRows traces.
const (
	batchBytes   = 1 << 20
	maxBatchRows = 256
)

// Reader returns the traces of a block. It is used by one goroutine.
type Reader struct {
	name  string
	src   provider.Source
	names *Names
	batch arrow.RecordBatch // nil: the next one is to be read
	bound appender          // of the rows of the batch
	row   int               // the next row in the batch
	first int64             // number of the first row of the batch in the block
	buf   []byte
}

// isBlock reports whether a Parquet file with this schema is the data of a block.
func isBlock(schema *arrow.Schema) bool {
	if len(schema.FieldIndices("TraceID")) != 1 {
		return false
	}
	rs := schema.FieldIndices("rs")
	if len(rs) != 1 {
		return false
	}
	list, ok := schema.Field(rs[0]).Type.(arrow.ListLikeType)
	if !ok {
		return false
	}
	spans, ok := list.Elem().(*arrow.StructType)
	if !ok {
		return false
	}
	_, resource := spans.FieldByName("Resource")
	_, scopes := spans.FieldByName("ss")
	return resource && scopes
}

// IsBlockFile reports whether a Parquet file is the data of a block. It does not close the input. A pipe is not looked at, and a damaged
// file is none. The error is one of reading.
func IsBlockFile(ctx context.Context, in provider.Input) (bool, error) {
	if in.At == nil || in.Size < 0 {
		return false, nil
	}
	in.Closer, in.Reader = nil, io.NewSectionReader(in.At, 0, in.Size)
	src, err := parquet.New(parquet.Options{}).Open(ctx, in, provider.ReadOptions{})
	if fault.Is(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return isBlock(src.Schema()), src.Close()
}

// Open opens the file data.parquet of a block, which can be read at any place. The reader closes in, and Open does if it fails. Damaged
// files are errors of package fault or of the Parquet reader.
func Open(ctx context.Context, in provider.Input, names *Names, mem memory.Allocator) (*Reader, error) {
	ro := provider.ReadOptions{Columns: []string{"TraceID", "rs"}, Allocator: mem}
	var err error
	if ro.BatchRows, err = batchRows(ctx, in, ro); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	src, err := parquet.New(parquet.Options{}).Open(ctx, in, ro)
	if err != nil {
		return nil, notBlock(in.Name, err)
	}
	if !isBlock(src.Schema()) {
		return nil, errors.Join(notBlock(in.Name, nil), src.Close())
	}
	return &Reader{name: in.Name, src: src, names: names}, nil
}

func notBlock(name string, err error) error {
	if err == nil {
		return fmt.Errorf("not a block of Tempo: column rs is no list of resources with spans (in %s)", name)
	}
	return fmt.Errorf("cannot read a block of Tempo: %w (in %s)", err, name)
}

// batchRows chooses the number of traces in a batch by the size of the file.
func batchRows(ctx context.Context, in provider.Input, ro provider.ReadOptions) (int, error) {
	in.Closer = nil
	src, err := parquet.New(parquet.Options{}).Open(ctx, in, ro)
	if err != nil {
		return 0, notBlock(in.Name, err)
	}
	rows, _ := src.Rows()
	if err := src.Close(); err != nil {
		return 0, err
	}
	perRow := max(1, in.Size/max(1, rows))
	return int(min(max(1, batchBytes/perRow), maxBatchRows)), nil
}

// Next returns the next trace as the bytes of an OTLP message TracesData. The bytes are valid until the next call. At the end, ok is
// false.
func (r *Reader) Next(ctx context.Context) (message []byte, ok bool, err error) {
	for r.batch == nil {
		if more, err := r.nextBatch(ctx); err != nil || !more {
			return nil, false, err
		}
	}
	defer func() {
		if err != nil {
			err = fault.Of(fault.In(err, fmt.Sprintf("trace %d", r.first+int64(r.row)), -1), r.name)
		}
	}()
	defer fault.Recover(&err)
	if r.buf, err = r.bound(r.buf[:0], r.row); err != nil {
		return nil, false, err
	}
	if r.row++; int64(r.row) == r.batch.NumRows() {
		r.release()
	}
	return r.buf, true, nil
}

// nextBatch reads a batch, if there is one, and finds its columns. A batch without rows is skipped.
func (r *Reader) nextBatch(ctx context.Context) (more bool, err error) {
	batch, err := r.src.Next(ctx)
	if err != nil || batch == nil {
		return false, err
	}
	if batch.NumRows() == 0 {
		batch.Release()
		return true, nil
	}
	if r.bound, err = bind(batch, r.names); err != nil {
		batch.Release()
		return false, fault.Of(err, r.name)
	}
	r.batch, r.row = batch, 0
	return true, nil
}

func (r *Reader) release() {
	if r.batch != nil {
		r.first += r.batch.NumRows()
		r.batch.Release()
		r.batch, r.bound = nil, nil
	}
}

// Close closes the input.
func (r *Reader) Close() error {
	r.release()
	return r.src.Close()
}
