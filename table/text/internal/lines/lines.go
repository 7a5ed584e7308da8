// Package lines is the format of lines of package text, which says what is recognized in them.
package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/tablefile"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/table/provider"
	"github.com/amudai/amudai-go/table/text/internal/records"
)

func init() { provider.Register(New(Options{})) }

// Options are those of package text, which has their meaning.
type Options struct {
	Text        provider.TextOptions
	Live, Whole bool
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

type sink struct{ records.Sink }

func create(ctx context.Context, out provider.Output, schema *arrow.Schema, _ provider.WriteOptions) (provider.Sink, error) {
	if schema.NumFields() != 1 {
		err := fmt.Errorf("lines of text need a table of one column, not of %d", schema.NumFields())
		if schema.HasField(lineColumn) {
			err = advice.WithHint(err, "--columns line chooses the lines")
		}
		return nil, err
	}
	s, err := records.NewSink(ctx, out, nil)
	return tablefile.NewSink(&sink{s}, out), err
}

// Write implements [provider.Sink]. It refuses values with line breaks, and nulls, which would not come back.
func (s *sink) Write(ctx context.Context, batch arrow.RecordBatch) error {
	c := batch.Column(0)
	write := values.Text(c)
	if b, ok := c.(*array.Binary); ok {
		write = func(dst []byte, i int) []byte { return append(dst, b.Value(i)...) }
	}
	return s.WriteRows(ctx, c.Len(), func(dst []byte, row int) ([]byte, error) {
		if values.IsNull(c, row) {
			return dst, errors.New("a null cannot be written as a line of text")
		}
		dst = write(dst, row)
		if bytes.IndexByte(dst, '\n') >= 0 || bytes.HasSuffix(dst, []byte{'\r'}) {
			return dst, fmt.Errorf("%q has a line break, and cannot be written as a line of text", text.Clip(string(dst)))
		}
		return append(dst, '\n'), nil
	})
}
