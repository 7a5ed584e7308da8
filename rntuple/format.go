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

	"github.com/amudai/amudai-go/rntuple/internal/inspect"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/rntuple/internal/verify"
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
		Tables: func(ctx context.Context, in table.Input) (list []table.Entry, err error) {
			err = withFile(ctx, in, "", func(f *rootfile.File) error {
				for _, i := range listFile(ctx, f) {
					list = append(list, table.Entry{Path: i.Path, Err: i.Err})
				}
				return ctx.Err()
			})
			return list, err
		},
		Verify: func(ctx context.Context, in table.Input, vo table.VerifyOptions) (r *table.Report, err error) {
			err = withFile(ctx, in, vo.TempDir, func(f *rootfile.File) error {
				r, err = verify.File(ctx, f, in.Table, vo)
				return err
			})
			return r, err
		},
		Inspect: func(ctx context.Context, in table.Input, io table.InspectOptions) (out *table.Outline, err error) {
			err = withFile(ctx, in, io.TempDir, func(f *rootfile.File) error {
				out, err = inspect.File(ctx, f, in.Table, io)
				return err
			})
			return out, err
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

// CutStripe implements [table.StripeCutter]: it ends the cluster.
func (s *sink) CutStripe(ctx context.Context) error { return s.w.CutCluster(ctx) }

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

// input is the bytes of a [table.Input] in a store: its own if the input has a location, so that reads
// over a network are joined as the store likes it.
type input struct {
	location string
	store    storage.Store
	temp     *table.Spooled // nil unless the input is a pipe
}

func openInput(in table.Input, tempDir string) (input, error) {
	if in.Location != "" {
		store, err := storage.ForLocation(in.Location)
		return input{in.Location, store, nil}, err
	}
	if in.At != nil && in.Size >= 0 {
		return input{in.Name, storage.FromReaderAt(in.Name, in.At, in.Size), nil}, nil
	}
	temp, err := table.Spool(in.Reader, tempDir)
	if err != nil {
		return input{}, err
	}
	return input{in.Name, storage.FromReaderAt(in.Name, temp, temp.Size()), temp}, nil
}

// withFile calls do with the file of an input.
func withFile(ctx context.Context, in table.Input, tempDir string, do func(*rootfile.File) error) error {
	from, err := openInput(in, tempDir)
	if err != nil {
		return err
	}
	f, r, err := openFile(ctx, from.location, from.store)
	if err == nil {
		err = errors.Join(do(f), r.Close())
	}
	return errors.Join(err, from.temp.Close())
}

// source is an ntuple as a [table.Source].
type source struct {
	in       table.Input
	from     input
	ntuple   *NTuple
	rows     array.RecordReader
	filtered bool

	clusters []EntryRange
	next     int64 // entries of all batches so far
	cluster  int   // of the last batch
}

func openSource(ctx context.Context, in table.Input, ro table.ReadOptions, o Options) (table.Source, error) {
	s := &source{in: in, filtered: !ro.Filter.IsZero()}
	if err := s.open(ctx, ro, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *source) open(ctx context.Context, ro table.ReadOptions, o Options) error {
	var err error
	if s.from, err = openInput(s.in, ro.TempDir); err != nil {
		return err
	}
	file, reader, err := openFile(ctx, s.from.location, s.from.store)
	if err != nil {
		return err
	}
	o.Path = cmp.Or(s.in.Table, o.Path)
	if s.ntuple, err = fromFile(ctx, file, reader, o); err != nil {
		return err
	}
	if s.clusters, err = s.ntuple.Clusters(ctx); err != nil {
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
	for s.cluster < len(s.clusters) && s.next >= s.clusters[s.cluster].To {
		s.cluster++
	}
	s.next += batch.NumRows()
	return batch, nil
}

// Group implements [table.Grouped]: it is the number of the cluster.
func (s *source) Group() int {
	if s.filtered {
		return -1
	}
	return s.cluster
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
	return errors.Join(append(errs, s.from.temp.Close(), s.in.Close())...)
}
