package tabular

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

const batchBytes = 32 << 20 // of input text in one batch

// recordSource is what sources of text share: records are read one after the
// other into a builder, and how many there are is guessed from a sample.
type recordSource struct {
	in      Input
	o       ReadOptions
	schema  *arrow.Schema
	builder *array.RecordBuilder
	rows    int64 // read so far
	guessed int64 // estimate of the rows before any is read
}

// Schema implements [Source].
func (s *recordSource) Schema() *arrow.Schema { return s.schema }

// guess estimates the rows by those of a sample, which take used bytes. The whole
// input has total bytes, -1 if that is not known.
func (s *recordSource) guess(rows, used, total int64) {
	if used > 0 {
		s.guessed = int64(math.Round(float64(rows) * float64(total) / float64(used)))
	}
}

// estimate is how many rows there are in all, by the bytes used so far.
func (s *recordSource) estimate(used int64) (int64, bool) {
	if s.rows > int64(s.o.SampleRows) && used > 0 && s.in.Size > 0 {
		return int64(float64(s.rows) * float64(s.in.Size) / float64(used)), true
	}
	return s.guessed, s.in.Size >= 0
}

// fill calls next, which adds one record and says how many bytes it has, until a
// batch is full or io.EOF. It returns the number of records, or io.EOF if there are none.
func (s *recordSource) fill(ctx context.Context, next func() (int, error)) (int64, error) {
	n, size := 0, 0
	for ; n < s.o.BatchRows && size < batchBytes; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		bytes, err := next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, err
		}
		size += bytes
	}
	if n == 0 {
		return 0, io.EOF
	}
	s.rows += int64(n)
	return int64(n), nil
}

// wrap says which input an error is about.
func (s *recordSource) wrap(err error) error {
	if err == nil || err == io.EOF || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%w in %s", err, s.in.Name)
}

// Close implements [Source].
func (s *recordSource) Close() error {
	if s.builder != nil {
		s.builder.Release()
		s.builder = nil
	}
	return s.in.Close()
}
