// Package lines reads and writes plain text, such as logs, as one column "line" of text, or of bytes if the sample is
// not UTF-8. Lines end in \n or \r\n when read, and in \n when written. Only a table with a single column of text can
// be written as lines.
package lines

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/internal/records"
)

func init() { table.Register(New(Options{})) }

// Options are the options that only lines of text have. The zero value is the default.
type Options struct {
	Text table.TextOptions
}

// New returns the format with some options.
func New(o Options) table.Format {
	o.Text = o.Text.WithDefaults()
	return table.Format{
		Name: "lines", Title: "lines of text", Extensions: []string{".log", ".txt"},
		Reader: func(ctx context.Context, in table.Input, ro table.ReadOptions) (table.Source, error) {
			return open(ctx, in, ro, o)
		},
		Writer: create,
		Casts:  true,
	}
}

type source struct {
	in      table.Input
	o       table.ReadOptions
	w       records.Window
	schema  *arrow.Schema
	wanted  *table.Projection
	text    *array.StringBuilder // one of the two
	bytes   *array.BinaryBuilder
	rows    int64
	guessed int64
}

func open(ctx context.Context, in table.Input, ro table.ReadOptions, o Options) (table.Source, error) {
	ro = ro.WithDefaults()
	sample, whole, err := records.ReadSample(ctx, in.Reader, o.Text.SampleBytes)
	if err != nil {
		in.Close()
		return nil, fmt.Errorf("%w in %s", err, in.Name)
	}
	s := &source{in: in, o: ro}
	s.w = records.NewWindow(io.MultiReader(bytes.NewReader(sample), in.Reader), o.Text.MaxRecordBytes)
	field := arrow.Field{Name: "line", Type: arrow.BinaryTypes.String}
	if !whole { // the last character may be incomplete
		sample = sample[:max(0, len(sample)-utf8.UTFMax)]
		for len(sample) > 0 && sample[len(sample)-1] >= utf8.RuneSelf {
			sample = sample[:len(sample)-1]
		}
	}
	switch {
	case len(ro.Schema) > 0 && ro.Schema[0].Type.ID() == arrow.BINARY, len(ro.Schema) == 0 && !utf8.Valid(sample):
		field.Type = arrow.BinaryTypes.Binary
		s.bytes = array.NewBinaryBuilder(ro.Allocator, arrow.BinaryTypes.Binary)
		if len(ro.Schema) == 0 {
			ro.Notice("the lines are kept as bytes: some are not UTF-8")
		}
	default:
		s.text = array.NewStringBuilder(ro.Allocator)
	}
	s.schema = arrow.NewSchema([]arrow.Field{field}, nil)
	if s.wanted, err = table.Project(s.schema, ro.Columns); err != nil {
		return nil, errors.Join(fmt.Errorf("%w in %s", err, in.Name), s.Close())
	}
	if bytes.IndexByte(sample, '\n') < 0 && bytes.IndexByte(bytes.TrimSuffix(sample, []byte{'\r'}), '\r') >= 0 {
		ro.Warning(in.Name + ` is a single line with carriage returns, which do not end lines here (tr '\r' '\n' converts them)`)
	}
	if n := bytes.Count(sample, []byte{'\n'}); n > 0 {
		s.guessed = int64(float64(n) * float64(max(in.Size, int64(len(sample)))) / float64(len(sample)))
	}
	return s, nil
}

// Schema implements [table.Source].
func (s *source) Schema() *arrow.Schema { return s.wanted.Schema() }

// Rows implements [table.Source].
func (s *source) Rows() (int64, bool) { return s.guessed, s.in.Size >= 0 }

// Next implements [table.Source].
func (s *source) Next(ctx context.Context) (arrow.RecordBatch, error) {
	s.w.During(ctx)
	n, size := 0, 0
	for ; n < s.o.BatchRows && size < records.BatchBytes; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		line, err := s.line()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w in %s", err, s.in.Name)
		}
		size += len(line)
		if s.bytes != nil {
			s.bytes.Append(line)
			continue
		}
		if !utf8.Valid(line) {
			return nil, &table.ValueError{Column: "line", Value: text.Clip(string(line)), Line: s.w.Line - 1, Input: s.in.Name,
				Err: fmt.Errorf("%q is not valid UTF-8", text.Clip(string(line))), Remedy: "--schema line:binary keeps the bytes"}
		}
		s.text.BinaryBuilder.Append(line)
	}
	if n == 0 {
		return nil, io.EOF
	}
	s.rows += int64(n)
	var column arrow.Array
	if s.bytes != nil {
		column = s.bytes.NewArray()
	} else {
		column = s.text.NewArray()
	}
	defer column.Release()
	whole := array.NewRecordBatch(s.schema, []arrow.Array{column}, int64(n))
	defer whole.Release()
	return s.wanted.Of(whole), nil
}

// line returns the next line, without its end.
func (s *source) line() ([]byte, error) {
	from := 0
	for {
		b := s.w.Bytes()
		if i := bytes.IndexByte(b[from:], '\n'); i >= 0 {
			return bytes.TrimSuffix(s.w.Take(from + i + 1)[:from+i], []byte{'\r'}), nil
		}
		from = len(b)
		if err := s.w.More(); err == io.EOF && from > 0 {
			return s.w.Take(from), nil
		} else if err != nil {
			return nil, err
		}
	}
}

// Close implements [table.Source].
func (s *source) Close() error {
	if s.bytes != nil {
		s.bytes.Release()
	} else {
		s.text.Release()
	}
	return s.in.Close()
}

type sink struct {
	out   table.Output
	to    *storage.IOWriter // out
	w     *bufio.Writer     // to
	buf   []byte
	ended bool
}

func create(ctx context.Context, out table.Output, schema *arrow.Schema, _ table.WriteOptions) (table.Sink, error) {
	if schema.NumFields() != 1 {
		return nil, fmt.Errorf("lines of text need a table of one column, not of %d", schema.NumFields())
	}
	to := &storage.IOWriter{Context: ctx, Writer: out}
	return &sink{out: out, to: to, w: bufio.NewWriterSize(to, 256<<10)}, nil
}

// Write implements [table.Sink]. It refuses values with line breaks, and nulls, which would not come back.
func (s *sink) Write(ctx context.Context, batch arrow.RecordBatch) error {
	s.to.Context = ctx
	c := batch.Column(0)
	write := values.Text(c)
	if b, ok := c.(*array.Binary); ok {
		write = func(dst []byte, i int) []byte { return append(dst, b.Value(i)...) }
	}
	for row := range c.Len() {
		if row%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if values.IsNull(c, row) {
			return errors.New("a null cannot be written as a line of text")
		}
		s.buf = write(s.buf[:0], row)
		if bytes.IndexByte(s.buf, '\n') >= 0 || bytes.HasSuffix(s.buf, []byte{'\r'}) {
			return fmt.Errorf("%q has a line break, and cannot be written as a line of text", text.Clip(string(s.buf)))
		}
		if _, err := s.w.Write(append(s.buf, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// Close implements [table.Sink].
func (s *sink) Close(ctx context.Context) error {
	s.to.Context = ctx
	s.ended = true
	return records.FinishOutput(ctx, s.w, s.out)
}

// Abort implements [table.Sink].
func (s *sink) Abort(ctx context.Context) error {
	if s.ended {
		return nil
	}
	s.ended = true
	return s.out.Abort(ctx)
}
