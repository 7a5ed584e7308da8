// Package suite compares shards with other formats on the same data: every operation of every
// contender in turn, round by round, and their memory in separate processes. Package bench and
// the command "amudai bench" provide data and contenders.
package suite

import (
	"context"
	"os"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/table/provider"
)

// BatchRows is the length of all batches, written and read.
const BatchRows = 1 << 16

// Contender is a format and a way to write and read it.
type Contender interface {
	Name() string
	// Can reports whether the contender takes part in an operation on a data set.
	Can(d *Dataset, op string) bool
	Write(ctx context.Context, path string, s *arrow.Schema, next Source, threads int) error
	Read(ctx context.Context, path string, q Query, out *Outcome) error
}

// Timer is a contender that measures itself, in CPU seconds.
type Timer interface {
	Time(d *Dataset, op, path string) (float64, error)
}

// Source returns one batch after the other, and nil at the end.
type Source func() (arrow.RecordBatch, error)

// Each calls f with every batch.
func (next Source) Each(f func(arrow.RecordBatch) error) error {
	for {
		b, err := next()
		if err != nil || b == nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
	}
}

// WriteTo gives every batch to a sink, and closes it. After an error there is no output.
func (next Source) WriteTo(ctx context.Context, sink provider.Sink) error {
	defer sink.Abort(context.WithoutCancel(ctx))
	if err := next.Each(func(b arrow.RecordBatch) error { return sink.Write(ctx, b) }); err != nil {
		return err
	}
	return sink.Close(ctx)
}

// Query selects columns and rows to read.
type Query struct {
	Columns []string // nil for all
	Where   string   // the text of a filter, "" for all rows
	Count   bool     // only the number of rows
	Take    []int64  // rows in ascending order, nil for all
	Threads int
	Reuse   bool // batches may share memory with those before
	Views   bool // strings as string_view
}

// filter is the condition of a query, which is true for all rows if it has none.
func (q Query) filter() (where filter.Expr, err error) {
	if q.Where != "" {
		where, err = filter.Parse(q.Where)
	}
	return where, err
}

// Outcome receives the rows of a query.
type Outcome struct {
	Rows int64
	sum  *checksum // nil unless results are compared
}

// Batch takes a batch.
func (o *Outcome) Batch(b arrow.RecordBatch) {
	o.Rows += b.NumRows()
	if o.sum != nil {
		o.sum.add(b)
	}
}

// Create opens a new file for writing and closes it after f.
func Create(path string, f func(*os.File) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := f(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
