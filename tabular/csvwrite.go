package tabular

import (
	"bufio"
	"context"
	"errors"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// csvSink writes one batch after the other, a row at a time.
type csvSink struct {
	out   Output
	w     *bufio.Writer
	o     WriteOptions
	names []string
	buf   []byte
	ended bool
}

func createCSV(_ context.Context, out Output, schema *arrow.Schema, o WriteOptions) (Sink, error) {
	if o.CSV.Delimiter == 0 {
		o.CSV.Delimiter = ','
	}
	s := &csvSink{out: out, w: bufio.NewWriterSize(out, 256<<10), o: o}
	for _, f := range schema.Fields() {
		s.names = append(s.names, f.Name)
	}
	if o.CSV.NoHeader || len(s.names) == 0 {
		return s, nil
	}
	for i, name := range s.names {
		if i > 0 {
			s.buf = append(s.buf, o.CSV.Delimiter)
		}
		start := len(s.buf)
		s.buf = s.quote(append(s.buf, name...), start)
	}
	_, err := s.w.Write(append(s.buf, '\n'))
	return s, err
}

// quote quotes the field that starts at position start, if it needs it: if it
// has a delimiter, quote or line end in it, is empty, or reads as a null.
func (s *csvSink) quote(dst []byte, start int) []byte {
	field := dst[start:]
	special := len(field) == 0 || s.o.CSV.Null != "" && string(field) == s.o.CSV.Null
	doubled := false
	for _, c := range field {
		if c == '"' {
			special, doubled = true, true
		}
		if c == s.o.CSV.Delimiter || c == '\n' || c == '\r' {
			special = true
		}
	}
	if !special {
		return dst
	}
	quoted := string(field)
	if doubled {
		quoted = strings.ReplaceAll(quoted, `"`, `""`)
	}
	return append(append(append(dst[:start], '"'), quoted...), '"')
}

// Write implements [Sink].
func (s *csvSink) Write(ctx context.Context, batch arrow.RecordBatch) error {
	columns := make([]appender, batch.NumCols())
	plain := make([]bool, batch.NumCols())
	for i, c := range batch.Columns() {
		if err := validUTF8(s.names[i], c); err != nil {
			return err
		}
		columns[i], plain[i] = Text(c), needsNoQuotes(c.DataType())
	}
	for row := range int(batch.NumRows()) {
		if row%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		dst := s.buf[:0]
		for i, c := range batch.Columns() {
			if i > 0 {
				dst = append(dst, s.o.CSV.Delimiter)
			}
			if IsNull(c, row) {
				dst = append(dst, s.o.CSV.Null...)
				continue
			}
			start := len(dst)
			if dst = columns[i](dst, row); !plain[i] || s.o.CSV.Null != "" || s.o.CSV.Delimiter != ',' {
				dst = s.quote(dst, start)
			}
		}
		s.buf = append(dst, '\n')
		if _, err := s.w.Write(s.buf); err != nil {
			return err
		}
	}
	return nil
}

// needsNoQuotes tells whether no value of a type has characters that CSV with
// commas quotes.
func needsNoQuotes(t arrow.DataType) bool {
	switch id := t.ID(); id {
	case arrow.BOOL, arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64, arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64,
		arrow.TIMESTAMP, arrow.DURATION, arrow.INTERVAL_MONTHS, arrow.INTERVAL_DAY_TIME, arrow.INTERVAL_MONTH_DAY_NANO:
		return true
	default:
		return arrow.IsInteger(id) || arrow.IsDecimal(id)
	}
}

// Close implements [Sink].
func (s *csvSink) Close(ctx context.Context) error {
	s.ended = true
	return finishOutput(ctx, s.w, s.out)
}

// Abort implements [Sink].
func (s *csvSink) Abort() error {
	if s.ended {
		return nil
	}
	s.ended = true
	return s.out.Abort()
}

// finishOutput flushes and publishes, or aborts.
func finishOutput(ctx context.Context, w *bufio.Writer, out Output) error {
	err := w.Flush()
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		return out.Publish(ctx)
	}
	return errors.Join(err, out.Abort())
}
