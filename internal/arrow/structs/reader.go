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

// Each yields the rows of a batch, each with a nil error, and reports whether others should follow. Rows may be kept.
func (r *Reader[T]) Each(batch arrow.RecordBatch, yield func(T, error) bool) (more bool, err error) {
	defer r.held.release()
	if err := r.root.openFields(batch.Column); err != nil {
		return false, err
	}
	for from := 0; from < int(batch.NumRows()); {
		rows := r.buffer[:min(int(batch.NumRows())-from, len(r.buffer))]
		if err := r.root.readFields(from, spanOf(rows)); err != nil {
			return false, shift(err, from)
		}
		for i := range rows {
			if !yield(rows[i], nil) {
				return false, nil
			}
		}
		from += len(rows)
	}
	return true, nil
}
