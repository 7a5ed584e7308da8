package structs

import "github.com/apache/arrow-go/v18/arrow"

// Reader copies the rows of batches of one schema to values of T. It belongs to one goroutine.
type Reader[T any] struct {
	root   *structReader
	held   held
	buffer []T
}

// NewReader makes a reader. The error names a field of T and what is wrong with its column. Other columns are left out.
func (t *Type[T]) NewReader(s *arrow.Schema) (*Reader[T], error) {
	r := &Reader[T]{buffer: make([]T, someRows[T]())}
	var err error
	r.root, err = newStructReader(t.root, arrow.StructOf(s.Fields()...), &r.held)
	return r, err
}

// Open begins a batch, which must stay valid until Close or the next call.
func (r *Reader[T]) Open(batch arrow.RecordBatch) error {
	r.Close()
	return r.root.openFields(batch.Column)
}

// Close releases what the reader holds of a batch.
func (r *Reader[T]) Close() { r.held.release() }

// Read returns rows from one on, up to another or fewer. The slice is valid until the next call, its rows longer.
func (r *Reader[T]) Read(from, to int) ([]T, error) {
	rows := r.buffer[:min(to-from, len(r.buffer))]
	if err := r.root.readFields(from, spanOf(rows)); err != nil {
		return nil, shift(err, from)
	}
	return rows, nil
}
