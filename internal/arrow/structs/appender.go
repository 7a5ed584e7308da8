package structs

import (
	"errors"
	"reflect"

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
	buffer []T
	bound  int // rows of buffer whose places are known
	held   int // rows in buffer
	done   int // rows of buffer that are in root, too
	rows   int // rows in root
	full   bool
	taken  bool // root's rows are in a batch of before
	eager  bool // rows refer to memory of the caller, who may change it
}

// NewAppender makes an empty Appender.
func (t *Type[T]) NewAppender() *Appender[T] {
	return &Appender[T]{
		schema: t.Schema(), root: newStructAppender(t.root), buffer: make([]T, rowsOfBuffer[T]()), eager: t.root.refers(),
	}
}

// Schema is the schema of the batches.
func (a *Appender[T]) Schema() *arrow.Schema { return a.schema }

// Append copies the first n rows, and what they refer to. It is done when Full reports false; else it must be called
// again with the other rows, even if there are none, after Batch. After an error the appender must not be used. The row of a [RowError] is counted from the first of the batch.
func (a *Appender[T]) Append(rows []T) (n int, err error) {
	a.drop()
	for n < len(rows) && !a.Full() {
		k := copy(a.buffer[a.held:], rows[n:])
		n, a.held = n+k, a.held+k
		if a.held == len(a.buffer) {
			err = a.drain()
		}
		if err != nil {
			return n, err
		}
	}
	if a.eager && !a.Full() {
		err = a.drain()
	}
	return n, err
}

// Full reports whether [Appender.Batch] should take the rows.
func (a *Appender[T]) Full() bool { return a.full && !a.taken }

// Len is the number of rows that no batch has taken.
func (a *Appender[T]) Len() int {
	a.drop()
	return a.rows + a.held - a.done
}

// Batch returns the rows of a full batch, or the last ones: no batch is left when it returns nil. The batch is valid until the
// next call of a method, and needs no Release.
func (a *Appender[T]) Batch() (arrow.RecordBatch, error) {
	a.drop()
	if err := a.drain(); err != nil || a.rows == 0 {
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

// drain moves rows from the buffer to the columns.
func (a *Appender[T]) drain() error {
	a.bind()
	for a.done < a.held && !a.full {
		if err := a.move(a.held); err != nil {
			return err
		}
		a.full = a.full || a.rows >= batchRows || a.root.bytes() >= batchBytes
	}
	if a.done == a.held {
		a.done, a.held = 0, 0
	}
	return nil
}

// move moves the rows of the buffer up to one. If they do not fit behind those of before, the batch is full; and if they
// do not fit an empty batch, fewer of them are moved.
func (a *Appender[T]) move(to int) error {
	err := a.root.append(a.done, to)
	switch {
	case errors.Is(err, errFull) && a.rows > 0:
		a.full = true
		return nil
	case errors.Is(err, errFull) && to-a.done > 1:
		a.root.reset()
		return a.move(a.done + (to-a.done)/2)
	case err != nil:
		if e := (*RowError)(nil); errors.As(err, &e) {
			return &RowError{a.rows + e.Row - a.done, e.Field, e.Err}
		}
		return err
	}
	a.rows += to - a.done
	a.done = to
	return nil
}

// bind looks up the places of the rows of the buffer, once for each row.
func (a *Appender[T]) bind() {
	rows := reflect.ValueOf(a.buffer)
	for ; a.bound < a.held; a.bound++ {
		a.root.bind(rows.Index(a.bound))
	}
}
