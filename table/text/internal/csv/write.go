package csv

import (
	"context"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/tablefile"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/records"
)

// sink writes one batch after the other, a row at a time.
type sink struct {
	records.Sink
	o     Options
	names []string
}

func create(ctx context.Context, out provider.Output, schema *arrow.Schema, o Options) (provider.Sink, error) {
	s := &sink{o: o}
	var header []byte
	for _, f := range schema.Fields() {
		s.names = append(s.names, f.Name)
	}
	if o.Header != HeaderAbsent && len(s.names) > 0 {
		for i, name := range s.names {
			if i > 0 {
				header = append(header, o.Delimiter)
			}
			start := len(header)
			header = s.quote(append(header, name...), start)
		}
		header = append(header, '\n')
	}
	var err error
	s.Sink, err = records.NewSink(ctx, out, header)
	return tablefile.NewSink(s, out), err
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

func (s *sink) Write(ctx context.Context, batch arrow.RecordBatch) error {
	columns := make([]values.Appender, batch.NumCols())
	plain := make([]bool, batch.NumCols())
	for i, c := range batch.Columns() {
		if err := values.CheckUTF8(s.names[i], c); err != nil {
			return err
		}
		columns[i], plain[i] = values.TextOf(batch.Schema().Field(i), c), needsNoQuotes(c.DataType())
	}
	return s.WriteRows(ctx, int(batch.NumRows()), func(dst []byte, row int) ([]byte, error) {
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
		return append(dst, '\n'), nil
	})
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
