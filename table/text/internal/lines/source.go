package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/records"
)

// Names of columns.
const (
	timeColumn  = "time"
	levelColumn = "level"
	lineColumn  = "line"
)

type source struct {
	records.Source
	live       bool
	w          records.Window
	recognizer *recognizer
	text       *array.StringBuilder // the builders by their use; nil: none
	bytes      *array.BinaryBuilder
	times      *array.TimestampBuilder
	levels     *array.StringBuilder
	perSecond  int64
	number     int64 // of the last line, from 1
	failed     error // of the line behind the last batch
	only       *narrow
}

func open(ctx context.Context, in provider.Input, ro provider.ReadOptions, o Options) (provider.Source, error) {
	s := &source{Source: records.Source{In: in, Options: ro.WithDefaults(), Text: o.Text}, live: o.Live}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(s.Wrap(err), s.Close())
	}
	return s, nil
}

func (s *source) open(ctx context.Context) error {
	size := s.Text.SampleBytes
	if len(s.Options.Schema) > 0 && slices.Equal(s.Options.Columns, []string{lineColumn}) { // nothing has to be recognized
		if size = min(size, 64<<10); s.live {
			size = 0
		}
	}
	sample, whole, err := records.ReadSample(ctx, s.In.Reader, size)
	if err != nil && len(sample) == 0 {
		return err
	}
	rest := s.In.Reader
	if err != nil { // the lines before it can be read
		rest = failing{err}
	}
	s.recognizer = newRecognizer(sample, whole, s.Text.SampleRows)
	s.w = records.NewWindow(io.MultiReader(bytes.NewReader(sample), rest), s.Text.MaxRecordBytes)
	all, err := s.chooseSchema(isText(sample, whole))
	if err != nil {
		return err
	}
	wanted, err := provider.Project(all, s.Options.Columns)
	if err != nil {
		return err
	}
	s.Out = wanted.Schema()
	s.makeBuilders()
	s.tell(sample)
	s.Guess(int64(bytes.Count(sample, []byte{'\n'})), int64(len(sample)), max(s.In.Size, int64(len(sample))))
	return nil
}

// failing is a reader that has failed.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// isText reports whether a sample is UTF-8. Without its end, the last character may be incomplete.
func isText(sample []byte, whole bool) bool {
	if !whole {
		sample = sample[:max(0, len(sample)-utf8.UTFMax)]
		for len(sample) > 0 && sample[len(sample)-1] >= utf8.RuneSelf {
			sample = sample[:len(sample)-1]
		}
	}
	return utf8.Valid(sample)
}

// chooseSchema finds the columns: those that were recognized, and those that the caller names.
func (s *source) chooseSchema(isText bool) (*arrow.Schema, error) {
	asked := map[string]arrow.DataType{}
	for _, f := range s.Options.Schema {
		asked[f.Name] = f.Type
	}
	var fields []arrow.Field
	timeType, err := s.timeType(asked[timeColumn])
	if err != nil {
		return nil, err
	}
	if timeType != nil {
		fields = append(fields, arrow.Field{Name: timeColumn, Type: timeType, Nullable: true})
	}
	if asked[levelColumn] != nil || s.recognizer.level != nil {
		fields = append(fields, arrow.Field{Name: levelColumn, Type: arrow.BinaryTypes.String, Nullable: true})
	}
	line := arrow.Field{Name: lineColumn, Type: arrow.BinaryTypes.String}
	if t := asked[lineColumn]; t != nil && t.ID() == arrow.BINARY || t == nil && !isText {
		line.Type = arrow.BinaryTypes.Binary
	}
	fields = append(fields, line)
	for _, f := range s.Options.Schema {
		i := slices.IndexFunc(fields, func(g arrow.Field) bool { return g.Name == f.Name })
		if i < 0 {
			return nil, fmt.Errorf("there is no column %q of the schema", f.Name)
		}
		if !arrow.TypeEqual(f.Type, fields[i].Type) {
			return nil, fmt.Errorf("column %q cannot be %s: it is %s", f.Name, text.Type(f.Type), text.Type(fields[i].Type))
		}
	}
	return arrow.NewSchema(fields, nil), nil
}

// timeType is the type of the column of times: that of the caller, or else microseconds, or nanoseconds if the sample has more than six
// digits. It is nil if there are no times.
func (s *source) timeType(asked arrow.DataType) (arrow.DataType, error) {
	p := s.recognizer.stamp
	known := p != nil && p.layout.hasYear()
	if asked == nil {
		if !known {
			return nil, nil
		}
		t := &arrow.TimestampType{Unit: arrow.Microsecond}
		if s.recognizer.digits > 6 {
			t.Unit = arrow.Nanosecond
		}
		if p.zoned {
			t.TimeZone = "UTC"
		}
		return t, nil
	}
	t, ok := asked.(*arrow.TimestampType)
	if !ok {
		return nil, fmt.Errorf("column %q cannot be %s: it is a timestamp", timeColumn, text.Type(asked))
	}
	if zoned := t.TimeZone != ""; known && p.zoned != zoned {
		return nil, fmt.Errorf("times such as %q cannot be %s: one of them has a zone, the other has none", s.recognizer.time, text.Type(asked))
	}
	return t, nil
}

// makeBuilders makes the builders of the columns that are wanted.
func (s *source) makeBuilders() {
	s.Builder = array.NewRecordBuilder(s.Options.Allocator, s.Out)
	for i, f := range s.Out.Fields() {
		switch b := s.Builder.Field(i).(type) {
		case *array.TimestampBuilder:
			s.times, s.perSecond = b, text.PerSecond(f.Type.(*arrow.TimestampType).Unit)
		case *array.BinaryBuilder:
			s.bytes = b
		case *array.StringBuilder:
			if f.Name == lineColumn {
				s.text = b
			} else {
				s.levels = b
			}
		}
	}
}

// tell gives notices about what the sample shows.
func (s *source) tell(sample []byte) {
	r := s.recognizer
	if s.bytes != nil && len(s.Options.Schema) == 0 {
		s.Options.Notice("the lines are kept as bytes: some are not UTF-8")
	}
	if bytes.HasPrefix(sample, []byte("\xff\xfe")) || bytes.HasPrefix(sample, []byte("\xfe\xff")) {
		s.Options.Warning(s.In.Name + " looks like UTF-16, which is not converted (iconv -f UTF-16 -t UTF-8 converts it)")
	} else if bytes.IndexByte(sample, '\n') < 0 && bytes.IndexByte(bytes.TrimSuffix(sample, []byte{'\r'}), '\r') >= 0 {
		s.Options.Warning(s.In.Name + ` is a single line with carriage returns, which do not end lines here (tr '\r' '\n' converts them)`)
	}
	if f, ok := provider.Registered().Sniff(sample[:min(len(sample), provider.SniffBytes)]); ok && s.Options.Columns == nil {
		s.Options.Notice(fmt.Sprintf("the lines look like %s: --from %s reads its columns", f.Title, f.Name))
	}
	leave := ""
	if s.Options.Columns == nil {
		leave = "; --columns line leaves it out"
	}
	if s.times != nil && r.time != "" {
		understood := text.AppendTimestamp(nil, r.at.secs*1e9+r.at.nanos, 1e9, r.at.zoned)
		s.Options.Notice(fmt.Sprintf(`times such as %q are in a column "time", as %s%s`, r.time, understood, leave))
	} else if r.stamp != nil && !r.stamp.layout.hasYear() && s.Options.Columns == nil {
		s.Options.Notice(fmt.Sprintf(`times such as %q have no year, and are not made a column`, r.time))
	}
	if s.levels != nil && r.name != "" {
		s.Options.Notice(fmt.Sprintf(`levels such as %q are in a column "level"%s`, r.name, leave))
	}
}

func (s *source) Rows() (int64, bool) { return s.Estimate(s.w.Used()) }

// Next implements [provider.Source]. The lines before one that cannot be read are a batch of their own.
func (s *source) Next(ctx context.Context) (arrow.RecordBatch, error) {
	s.w.During(ctx)
	next := s.line
	if s.only != nil {
		s.only.ranges = s.only.ranges[:0]
		next = s.candidate
	}
	wait := true // for the first line
	n, err := s.Fill(ctx, func() (int, error) {
		if s.failed != nil {
			return 0, io.EOF
		}
		line, err := next(wait || !s.live)
		wait = false
		if err == errNoLine || err == io.EOF {
			return 0, io.EOF
		}
		if err = s.Wrap(err); err == nil {
			s.number++
			err = s.add(line)
		}
		if s.failed = err; err != nil {
			return 0, io.EOF
		}
		return len(line), nil
	})
	switch {
	case n == 0 && err == nil:
		return nil, s.failed
	case n == 0:
		return nil, err
	case s.Out.NumFields() == 0:
		return array.NewRecordBatch(s.Out, nil, n), nil
	}
	return s.Builder.NewRecordBatch(), nil
}

// add adds a row, or nothing after an error.
func (s *source) add(line []byte) error {
	if s.text != nil && !utf8.Valid(line) {
		return s.valueError(lineColumn, line, errors.New("is not valid UTF-8"), arrow.BinaryTypes.Binary)
	}
	if s.times != nil || s.levels != nil {
		if err := s.addFields(line); err != nil {
			return err
		}
	}
	if s.bytes != nil {
		s.bytes.Append(line)
	} else if s.text != nil {
		s.text.BinaryBuilder.Append(line)
	}
	return nil
}

// addFields adds the time and the level of a line.
func (s *source) addFields(line []byte) error {
	f := s.recognizer.find(line)
	if s.times != nil && f.timed && s.recognizer.stamp.layout.hasYear() {
		v, err := text.Scale(f.stamp.secs, f.stamp.nanos, s.perSecond)
		if err != nil {
			zone := s.times.Type().(*arrow.TimestampType).TimeZone
			return s.valueError(timeColumn, f.text, err, &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: zone})
		}
		s.times.Append(arrow.Timestamp(v))
	} else if s.times != nil {
		s.times.AppendNull()
	}
	if s.levels != nil && f.level != nil {
		s.levels.BinaryBuilder.Append(f.level)
	} else if s.levels != nil {
		s.levels.AppendNull()
	}
	return nil
}

// valueError is the error about a value of the last line, which another type holds.
func (s *source) valueError(column string, value []byte, err error, other arrow.DataType) error {
	clipped := text.Clip(string(value))
	return &provider.ValueError{Column: column, Value: clipped, Line: s.number, Input: s.In.Name,
		Err: fmt.Errorf("%q %w", clipped, err), Remedy: fmt.Sprintf("--schema %s holds it", records.ShellQuote(column+":"+text.Type(other)))}
}

// errNoLine means that the next line has not arrived.
var errNoLine = errors.New("no line")

// line returns the next line, without its end. It may wait for it.
func (s *source) line(wait bool) ([]byte, error) {
	from := 0
	for {
		b := s.w.Bytes()
		if i := bytes.IndexByte(b[from:], '\n'); i >= 0 {
			return bytes.TrimSuffix(s.w.Take(from + i + 1)[:from+i], []byte{'\r'}), nil
		}
		if !wait {
			return nil, errNoLine
		}
		from = len(b)
		if err := s.w.More(); err == io.EOF && from > 0 {
			return s.w.Take(from), nil
		} else if err != nil {
			return nil, err
		}
	}
}
