package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/structs"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
)

// WriterOf writes a shard whose rows are structs of type T. Each exported field is a column. [CreateOf] and [NewWriterOf]
// begin one. Like a [Writer] it belongs to one goroutine, and ends with Close or Abort. table.RowsOf reads such rows.
//
// The tag of a field has the name of its column, by default that of the field, and options:
//
//	type Order struct {
//		ID      int64           `arrow:"id"`
//		Shipped time.Time       `arrow:"shipped,date32"` // a day
//		Price   decimal128.Num  `arrow:"price,decimal(12,2)"`
//		Note    *string         `arrow:"note"`           // nil is null
//		Items   []Item          `arrow:"items"`          // a list of structs
//		Key     [16]byte        `arrow:"key,uuid"`
//		cache   map[string]int                           // no column
//		Total   float64         `arrow:"-"`              // no column
//	}
//
// Types of Go become these of Arrow:
//
//	bool, string, floats, integers      the same; int and uint have 64 bits
//	[]byte, [N]byte                     binary, fixed_size_binary; with option uuid the extension arrow.uuid
//	time.Time                           timestamp in UTC, in ns or as the option says: timestamp(s), timestamp(ms),
//	                                    timestamp(us), date32, date64
//	time.Duration                       duration in ns, or duration(us), …; time32 or time64 for the time of a day
//	decimal128.Num, and those of        decimal of scale 0, or decimal(precision,scale)
//	32, 64 and 256 bits
//	struct                              struct; the fields of an embedded one without a tag are columns of their own
//	[]V, [N]V, map[K]V                  list, fixed_size_list, map in the order of its keys, which are strings or integers
//	*V                                  the type of V, nullable
//
// Slices and maps are null if they are nil. Named types are stored as what they are made of. A field of any other
// type is an error.
//
// Times must be exact: one with a fraction of the unit, outside of its range, or not at midnight in UTC for a date, is an
// error. The zero time.Time is out of the range of nanoseconds, which is 1678 to 2262.
type WriterOf[T any] struct {
	w    *Writer
	rows *structs.Appender[T]
	err  error
}

// CreateOf is [Create] for rows of T. The error names a field of T that has no column type.
func CreateOf[T any](ctx context.Context, location string, o WriterOptions) (*WriterOf[T], error) {
	return newWriterOf[T](func(s *arrow.Schema) (*Writer, error) { return Create(ctx, location, s, o) })
}

// NewWriterOf is [NewWriter] for rows of T.
func NewWriterOf[T any](ctx context.Context, out io.Writer, o WriterOptions) (*WriterOf[T], error) {
	return newWriterOf[T](func(s *arrow.Schema) (*Writer, error) { return NewWriter(ctx, out, s, o) })
}

func newWriterOf[T any](create func(*arrow.Schema) (*Writer, error)) (*WriterOf[T], error) {
	t, err := structs.TypeOf[T]()
	if err != nil {
		return nil, err
	}
	rows := t.NewAppender()
	w, err := create(rows.Schema())
	if err != nil {
		return nil, err
	}
	return &WriterOf[T]{w: w, rows: rows}, nil
}

// Schema is the Arrow schema of the columns.
func (w *WriterOf[T]) Schema() *arrow.Schema { return w.w.Schema() }

// Rows is the number of rows written so far.
func (w *WriterOf[T]) Rows() int64 { return w.w.Rows() + int64(w.rows.Len()) }

// Write appends rows, of which it keeps no reference. An error names the row and the field, perhaps of an earlier call;
// the writer can then only be aborted.
func (w *WriterOf[T]) Write(ctx context.Context, rows ...T) error {
	for more := true; more && w.err == nil; {
		n, err := w.rows.Append(rows)
		rows, w.err = rows[n:], w.place(err)
		if more = w.rows.Full(); more && err == nil {
			_, w.err = w.flush(ctx)
		}
	}
	return cmp.Or(w.err, ctx.Err())
}

// flush writes a batch of rows, if there are any.
func (w *WriterOf[T]) flush(ctx context.Context) (more bool, err error) {
	b, err := w.rows.Batch()
	if b == nil || err != nil {
		return false, w.place(err)
	}
	defer b.Release()
	return true, w.w.Write(ctx, b)
}

// place counts the row of an error from the first of the shard.
func (w *WriterOf[T]) place(err error) error {
	if e := (*structs.RowError)(nil); errors.As(err, &e) {
		return fmt.Errorf("row %d of the shard: field %s: %w", w.w.Rows()+int64(e.Row), e.Field, e.Err)
	}
	return err
}

// Close writes the last rows, and publishes the shard as [Writer.Close] does.
func (w *WriterOf[T]) Close(ctx context.Context) error {
	for more := true; more && w.err == nil; {
		more, w.err = w.flush(ctx)
	}
	if w.err != nil {
		return errors.Join(w.err, w.w.Abort(context.WithoutCancel(ctx)))
	}
	w.err = shardwriter.ErrEnded
	return w.w.Close(ctx)
}

// Abort discards the shard as [Writer.Abort] does. After Close it does nothing.
func (w *WriterOf[T]) Abort(ctx context.Context) error {
	w.err = shardwriter.ErrEnded
	return w.w.Abort(ctx)
}
