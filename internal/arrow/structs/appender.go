package structs

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// A batch is full with this many rows, or once its values take this many bytes. With fewer rows the stages of stripe/write,
// which hold twice as many, grow in more steps: 8192 rows take a third longer to write.
const (
	batchRows  = 32768
	batchBytes = 16 << 20
)

// Appender collects rows for record batches. It belongs to one goroutine.
type Appender[T any] struct {
	schema *arrow.Schema
	root   *structAppender
	buffer []T // rows that are not in root yet; none if T refers to memory of the caller, who may change it
	rows   int // rows in root
	full   bool
	taken  bool // root's rows are in a batch of before
}

// NewAppender makes an empty Appender.
func (t *Type[T]) NewAppender() *Appender[T] {
	a := &Appender[T]{schema: t.Schema(), root: newStructAppender(t.root)}
	if !t.root.refers() { // rows one by one take a third of the time
		a.buffer = make([]T, 0, someRows[T]())
	}
	return a
}

// Schema is the schema of the batches.
func (a *Appender[T]) Schema() *arrow.Schema { return a.schema }

// Append copies the first n rows, and what they refer to. It is done when Full reports false; else it must be called
// again with the other rows after Batch. After an error the appender must not be used. The row of a [RowError] is counted from the first of the batch.
func (a *Appender[T]) Append(rows []T) (n int, err error) {
	a.drop()
	if len(a.buffer)+len(rows) <= cap(a.buffer) {
		a.buffer = append(a.buffer, rows...)
		return len(rows), nil
	}
	if err := a.flush(); err != nil || a.full {
		return 0, err
	}
	return a.move(rows)
}

// Full reports whether [Appender.Batch] should take the rows.
func (a *Appender[T]) Full() bool { return a.full && !a.taken }

// Len is the number of rows that no batch has taken.
func (a *Appender[T]) Len() int {
	a.drop()
	return a.rows + len(a.buffer)
}

// Batch returns the rows of a full batch, or the last ones: no batch is left when it returns nil. The batch is valid until the
// next call of a method, and needs no Release.
func (a *Appender[T]) Batch() (arrow.RecordBatch, error) {
	a.drop()
	if err := a.flush(); err != nil || a.rows == 0 {
		return nil, err
	}
	a.taken = true
	return array.NewRecordBatch(a.schema, a.root.columns(a.rows), int64(a.rows)), nil
}

// drop forgets the rows of the batch of before.
func (a *Appender[T]) drop() {
	if a.taken {
		a.root.reset()
		a.rows, a.full, a.taken = 0, false, false
	}
}

// flush moves rows of the buffer to the columns, as far as the batch has room.
func (a *Appender[T]) flush() error {
	n, err := a.move(a.buffer)
	a.buffer = a.buffer[:copy(a.buffer, a.buffer[n:])]
	return err
}

// move copies rows to the columns until the batch is full. If some do not fit behind those of before, it is full; and if they do not fit an
// empty batch, fewer of them are copied at a time.
func (a *Appender[T]) move(rows []T) (n int, err error) {
	for k := someRows[T](); n < len(rows) && !a.full; {
		k = min(k, len(rows)-n)
		err := a.root.append(spanOf(rows[n : n+k]))
		switch {
		case errors.Is(err, errFull) && a.rows > 0:
			a.full = true
			return n, nil
		case errors.Is(err, errFull) && k > 1:
			a.root.reset()
			k /= 2
			continue
		case err != nil:
			return n, shift(err, a.rows)
		}
		n, a.rows = n+k, a.rows+k
		a.full = a.rows >= batchRows || a.root.bytes() >= batchBytes
	}
	return n, nil
}
