package tabular

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
)

// Lines is plain text, such as logs: one column "line" of text, or of bytes where the
// sample is not UTF-8. Line ends are \n or \r\n; the written ones are \n. Only a
// table with one column of text can be written as lines.
var Lines = Format{
	Name: "lines", Title: "lines of text", Extensions: []string{".log", ".txt"},
	Open: openLines, Create: createLines,
}

type lineSource struct {
	in      Input
	o       ReadOptions
	w       window
	schema  *arrow.Schema
	text    *array.StringBuilder // one of the two
	bytes   *array.BinaryBuilder
	rows    int64
	guessed int64
}

func openLines(_ context.Context, in Input, o ReadOptions) (Source, error) {
	o = o.WithDefaults()
	sample, whole, err := readSample(in.Reader, o.SampleBytes)
	if err != nil {
		in.Close()
		return nil, fmt.Errorf("%w in %s", err, in.Name)
	}
	s := &lineSource{in: in, o: o}
	s.w = window{r: io.MultiReader(bytes.NewReader(sample), in.Reader), max: o.MaxRecordBytes, line: 1}
	field := arrow.Field{Name: "line", Type: arrow.BinaryTypes.String}
	if !whole { // the last character may be cut
		sample = sample[:max(0, len(sample)-utf8.UTFMax)]
		for len(sample) > 0 && sample[len(sample)-1] >= utf8.RuneSelf {
			sample = sample[:len(sample)-1]
		}
	}
	switch {
	case len(o.Schema) > 0 && o.Schema[0].Type.ID() == arrow.BINARY, len(o.Schema) == 0 && !utf8.Valid(sample):
		field.Type = arrow.BinaryTypes.Binary
		s.bytes = array.NewBinaryBuilder(o.Allocator, arrow.BinaryTypes.Binary)
		if len(o.Schema) == 0 {
			o.Notice("the lines are kept as bytes: some are not UTF-8")
		}
	default:
		s.text = array.NewStringBuilder(o.Allocator)
	}
	s.schema = arrow.NewSchema([]arrow.Field{field}, nil)
	if n := bytes.Count(sample, []byte{'\n'}); n > 0 {
		s.guessed = int64(float64(n) * float64(max(in.Size, int64(len(sample)))) / float64(len(sample)))
	}
	return s, nil
}

// Schema implements [Source].
func (s *lineSource) Schema() *arrow.Schema { return s.schema }

// Rows implements [Source].
func (s *lineSource) Rows() (int64, bool) { return s.guessed, s.in.Size >= 0 }

// Next implements [Source].
func (s *lineSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	n, size := 0, 0
	for ; n < s.o.BatchRows && size < batchBytes; n++ {
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
			return nil, &ValueError{Column: "line", Value: clip(string(line)), Line: s.w.line - 1, Input: s.in.Name,
				Err: fmt.Errorf("%q is not valid UTF-8", clip(string(line))), Remedy: "--schema line:binary keeps the bytes"}
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
	return array.NewRecordBatch(s.schema, []arrow.Array{column}, int64(n)), nil
}

// line takes the next line, without its end.
func (s *lineSource) line() ([]byte, error) {
	from := 0
	for {
		b := s.w.bytes()
		if i := bytes.IndexByte(b[from:], '\n'); i >= 0 {
			return bytes.TrimSuffix(s.w.take(from + i + 1)[:from+i], []byte{'\r'}), nil
		}
		from = len(b)
		if err := s.w.more(); err == io.EOF && from > 0 {
			return s.w.take(from), nil
		} else if err != nil {
			return nil, err
		}
	}
}

// Close implements [Source].
func (s *lineSource) Close() error {
	if s.bytes != nil {
		s.bytes.Release()
	} else {
		s.text.Release()
	}
	return s.in.Close()
}

type lineSink struct {
	out   Output
	w     *bufio.Writer
	buf   []byte
	ended bool
}

func createLines(_ context.Context, out Output, schema *arrow.Schema, _ WriteOptions) (Sink, error) {
	if schema.NumFields() != 1 {
		return nil, fmt.Errorf("a table of %d columns cannot be written as lines of text; one column can", schema.NumFields())
	}
	return &lineSink{out: out, w: bufio.NewWriterSize(out, 256<<10)}, nil
}

// Write implements [Sink]. Values with line breaks, and nulls, are refused:
// they would not come back.
func (s *lineSink) Write(ctx context.Context, batch arrow.RecordBatch) error {
	c := batch.Column(0)
	text := Text(c)
	if b, ok := c.(*array.Binary); ok {
		text = func(dst []byte, i int) []byte { return append(dst, b.Value(i)...) }
	}
	for row := range c.Len() {
		if row%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if IsNull(c, row) {
			return errors.New("a null cannot be written as a line of text")
		}
		s.buf = text(s.buf[:0], row)
		if bytes.IndexByte(s.buf, '\n') >= 0 || bytes.HasSuffix(s.buf, []byte{'\r'}) {
			return fmt.Errorf("%q has a line break in it, and cannot be written as a line of text", clip(string(s.buf)))
		}
		if _, err := s.w.Write(append(s.buf, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// Close implements [Sink].
func (s *lineSink) Close(ctx context.Context) error {
	s.ended = true
	return finishOutput(ctx, s.w, s.out)
}

// Abort implements [Sink].
func (s *lineSink) Abort() error {
	if s.ended {
		return nil
	}
	s.ended = true
	return s.out.Abort()
}
