// Package lines reads and writes plain text, such as logs. A line is a value of the column "line", which is text, or bytes if the
// sample is not UTF-8. Lines end in \n or \r\n when read, and in \n when written. Only a table with a single column of text can
// be written as lines.
//
// Where nearly all lines of the sample have a time, or a level such as INFO, at the same place and written in the same way, further
// columns have them: "time", a timestamp, in UTC if the lines tell their zone, and "level", as it is spelled. Both are null for lines
// without such a time, such as those of stack traces. Times without a year are no column, because any year would be a guess.
// A notice tells what was recognized, and ReadOptions.Columns with only "line" leaves it out. A column that ReadOptions.Schema
// names exists even if nothing was recognized.
package lines

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/records"
)

func init() { provider.Register(New(Options{})) }

// Options are the options that only lines of text have. The zero value is the default.
type Options struct {
	Text provider.TextOptions
	// Live returns lines as they arrive, in smaller batches, for pipes that others are still writing to. Only if ReadOptions asks for nothing but the
	// column "line", and says its type, there is no wait for a sample.
	Live bool
	// Whole reads only the column "line", unless ReadOptions asks for columns: no times and levels, which are recognized in lines.
	Whole bool
}

// New returns the format with some options.
func New(o Options) provider.Format {
	o.Text = o.Text.WithDefaults()
	return provider.Format{
		Name: "lines", Title: "lines of text", Extensions: []string{".log", ".txt"},
		Reader: func(ctx context.Context, in provider.Input, ro provider.ReadOptions) (provider.Source, error) {
			if o.Whole && ro.Columns == nil {
				ro.Columns = []string{lineColumn}
			}
			return open(ctx, in, ro, o)
		},
		Writer: create,
		Casts:  true, Text: true, Prose: true,
	}
}

type sink struct {
	out   provider.Output
	to    *storage.IOWriter // out
	w     *bufio.Writer     // to
	buf   []byte
	ended bool
}

func create(ctx context.Context, out provider.Output, schema *arrow.Schema, _ provider.WriteOptions) (provider.Sink, error) {
	if schema.NumFields() != 1 {
		err := fmt.Errorf("lines of text need a table of one column, not of %d", schema.NumFields())
		if schema.HasField(lineColumn) {
			return nil, &columnError{err}
		}
		return nil, err
	}
	to := &storage.IOWriter{Context: ctx, Writer: out}
	return &sink{out: out, to: to, w: bufio.NewWriterSize(to, 256<<10)}, nil
}

// columnError is the error about a table of lines and other columns.
type columnError struct{ error }

// Hint names the column of lines.
func (columnError) Hint() string { return "--columns line chooses the lines" }

// Write implements [provider.Sink]. It refuses values with line breaks, and nulls, which would not come back.
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
