package rntuple

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
)

func init() { table.Register(New(FormatOptions{Read: Options{VariantsAsStructs: true}})) }

// FormatOptions are those of [New]. The zero value is the default.
type FormatOptions struct {
	Read  Options
	Write WriterOptions // Store must be nil, and Append false
}

// New is the format of package table, with some options.
func New(o FormatOptions) table.Format {
	return table.Format{
		Name: "rntuple", Title: "RNTuple", Extensions: []string{extension},
		Sniff:   func(head []byte) bool { return bytes.HasPrefix(head, []byte("root")) },
		Filters: true,
		Reader: func(ctx context.Context, in table.Input, ro table.ReadOptions) (table.Source, error) {
			return openSource(ctx, in, ro.WithDefaults(), o.Read)
		},
		Writer: func(ctx context.Context, out table.Output, schema *arrow.Schema, wo table.WriteOptions) (table.Sink, error) {
			o := o.Write
			o.TempDir = cmp.Or(o.TempDir, wo.TempDir)
			w, err := NewWriter(ctx, &storage.IOWriter{Context: ctx, Writer: out}, schema, o)
			if err != nil {
				return nil, err
			}
			return &sink{w: w, out: out}, nil
		},
	}
}

// sink is an ntuple as a [table.Sink].
type sink struct {
	w     *Writer
	out   table.Output
	ended bool
}

// Write implements [table.Sink].
func (s *sink) Write(ctx context.Context, batch arrow.RecordBatch) error {
	return s.w.Write(ctx, batch)
}

// Close implements [table.Sink].
func (s *sink) Close(ctx context.Context) error {
	s.ended = true
	if err := s.w.Close(ctx); err != nil {
		return errors.Join(err, s.out.Abort(context.WithoutCancel(ctx)))
	}
	return s.out.Publish(ctx)
}

// Abort implements [table.Sink].
func (s *sink) Abort(ctx context.Context) error {
	if s.ended {
		return nil
	}
	s.ended = true
	return errors.Join(s.w.Abort(ctx), s.out.Abort(ctx))
}

// source is an ntuple as a [table.Source].
type source struct {
	in       table.Input
	temp     *table.Spooled
	ntuple   *NTuple
	rows     array.RecordReader
	filtered bool
}

func openSource(ctx context.Context, in table.Input, ro table.ReadOptions, o Options) (table.Source, error) {
	s := &source{in: in, filtered: !ro.Filter.IsZero()}
	if err := s.open(ctx, ro, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *source) open(ctx context.Context, ro table.ReadOptions, o Options) error {
	at, size := s.in.At, s.in.Size
	if at == nil || size < 0 {
		var err error
		if s.temp, err = table.Spool(s.in.Reader, ro.TempDir); err != nil {
			return err
		}
		at, size = s.temp, s.temp.Size()
	}
	var err error
	if s.ntuple, err = OpenReaderAt(ctx, s.in.Name, at, size, o); err != nil {
		return err
	}
	for _, f := range s.ntuple.Skipped() {
		ro.Warning(fmt.Sprintf("%s: field %q is left out: %s", s.in.Name, f.Field, f.Reason))
	}
	so := ScanOptions{Columns: ro.Columns, Filter: ro.Filter, Allocator: ro.Allocator, BatchRows: ro.BatchRows}
	s.rows, err = s.ntuple.Reader(ctx, so)
	return err
}

// Schema implements [table.Source].
func (s *source) Schema() *arrow.Schema { return s.rows.Schema() }

// Rows implements [table.Source].
func (s *source) Rows() (int64, bool) { return s.ntuple.NumEntries(), !s.filtered }

// Next implements [table.Source].
func (s *source) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !s.rows.Next() {
		if err := s.rows.Err(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	batch := s.rows.RecordBatch()
	batch.Retain() // the reader's own reference ends with the next step
	return batch, nil
}

// Close implements [table.Source].
func (s *source) Close() error {
	var errs []error
	if s.rows != nil {
		s.rows.Release()
	}
	if s.ntuple != nil {
		errs = append(errs, s.ntuple.Close())
	}
	if s.temp != nil {
		errs = append(errs, s.temp.Close())
	}
	return errors.Join(append(errs, s.in.Close())...)
}
