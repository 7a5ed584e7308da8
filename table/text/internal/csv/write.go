package csv

import (
	"bufio"
	"context"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/records"
)

// sink writes one batch after the other, a row at a time.
type sink struct {
	out   provider.Output
	to    *storage.IOWriter // out
	w     *bufio.Writer     // to
	o     Options
	names []string
	buf   []byte
	ended bool
}

func create(ctx context.Context, out provider.Output, schema *arrow.Schema, o Options) (provider.Sink, error) {
	to := &storage.IOWriter{Context: ctx, Writer: out}
	s := &sink{out: out, to: to, w: bufio.NewWriterSize(to, 256<<10), o: o}
	for _, f := range schema.Fields() {
		s.names = append(s.names, f.Name)
	}
	if o.Header == HeaderAbsent || len(s.names) == 0 {
		return s, nil
	}
	for i, name := range s.names {
		if i > 0 {
			s.buf = append(s.buf, o.Delimiter)
		}
		start := len(s.buf)
		s.buf = s.quote(append(s.buf, name...), start)
	}
	_, err := s.w.Write(append(s.buf, '\n'))
	return s, err
}

// quote quotes the field that starts at position start if it contains a delimiter, quote or line end, is empty, or
// would be read as a null.
func (s *sink) quote(dst []byte, start int) []byte {
	field := dst[start:]
	special := len(field) == 0 || s.o.Null != "" && string(field) == s.o.Null
	doubled := false
	for _, c := range field {
		if c == '"' {
			special, doubled = true, true
		}
		if c == s.o.Delimiter || c == '\n' || c == '\r' {
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

// Write implements [provider.Sink].
func (s *sink) Write(ctx context.Context, batch arrow.RecordBatch) error {
	s.to.Context = ctx
	columns := make([]values.Appender, batch.NumCols())
	plain := make([]bool, batch.NumCols())
	for i, c := range batch.Columns() {
		if err := values.CheckUTF8(s.names[i], c); err != nil {
			return err
		}
		columns[i], plain[i] = values.Text(c), needsNoQuotes(c.DataType())
	}
	for row := range int(batch.NumRows()) {
		if row%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		dst := s.buf[:0]
		for i, c := range batch.Columns() {
			if i > 0 {
				dst = append(dst, s.o.Delimiter)
			}
			if values.IsNull(c, row) {
				dst = append(dst, s.o.Null...)
				continue
			}
			start := len(dst)
			if dst = columns[i](dst, row); !plain[i] || s.o.Null != "" || s.o.Delimiter != ',' {
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

// needsNoQuotes reports whether no value of a type needs quotes with commas as delimiters.
func needsNoQuotes(t arrow.DataType) bool {
	switch id := t.ID(); id {
	case arrow.BOOL, arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64, arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64,
		arrow.TIMESTAMP, arrow.DURATION, arrow.INTERVAL_MONTHS, arrow.INTERVAL_DAY_TIME, arrow.INTERVAL_MONTH_DAY_NANO:
		return true
	default:
		return arrow.IsInteger(id) || arrow.IsDecimal(id)
	}
}

// Close implements [provider.Sink].
func (s *sink) Close(ctx context.Context) error {
	s.to.Context = ctx
	s.ended = true
	return records.FinishOutput(ctx, s.w, s.out)
}

// Abort implements [provider.Sink].
func (s *sink) Abort(ctx context.Context) error {
	if s.ended {
		return nil
	}
	s.ended = true
	return s.out.Abort(ctx)
}
