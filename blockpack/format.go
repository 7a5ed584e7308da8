package blockpack

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/blockpack/internal/inspect"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/blockpack/internal/verify"
	"github.com/amudai/amudai-go/internal/arrow/rowio"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
)

const fileExtension = ".blockpack"

func init() { table.Register(New(FormatOptions{})) }

// FormatOptions are those of [New]. The zero value is the default.
type FormatOptions struct {
	Read  Options       // Store must be nil
	Write WriterOptions // Store must be nil
}

// New is the format of package table, with some options.
func New(o FormatOptions) table.Format {
	magic := binary.LittleEndian.AppendUint32(nil, layout.Magic)
	return table.Format{
		Name: "blockpack", Title: "Blockpack", Extensions: []string{fileExtension},
		Sniff:   func(head []byte) bool { return bytes.HasPrefix(head, magic) },
		Filters: true, Ranges: true, ExactRows: true, Sparse: true, Keys: []string{spans.TraceID},
		Reader: func(ctx context.Context, in table.Input, ro table.ReadOptions) (table.Source, error) {
			return openSource(ctx, in, ro.WithDefaults(), o.Read)
		},
		Writer: func(ctx context.Context, out table.Output, _ *arrow.Schema, _ table.WriteOptions) (table.Sink, error) {
			w, err := NewWriter(ctx, &storage.IOWriter{Context: ctx, Writer: out}, o.Write)
			if err != nil {
				return nil, err
			}
			sink := rowio.NewSink(w, out)
			return &sink, nil
		},
		Verify: func(ctx context.Context, in table.Input, vo table.VerifyOptions) (r *table.Report, err error) {
			err = withReader(ctx, in, vo.TempDir, func(from storage.Reader) error {
				r, err = verify.File(ctx, from, vo)
				return err
			})
			return r, err
		},
		Statistics: func(ctx context.Context, in table.Input, columns []string) (*table.Statistics, error) {
			return statistics(ctx, in, columns, o.Read)
		},
		Explain: func(ctx context.Context, in table.Input, eo table.ExplainOptions) (x *table.Explanation, err error) {
			ro := o.Read
			if ro.Store == nil {
				ro.Store = in.Store
			}
			f, err := Open(ctx, in.Location, ro)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, f.Close()) }()
			explain := f.Explain
			if eo.Run {
				explain = f.Analyze
			}
			return explain(ctx, ScanOptions{Columns: eo.Columns, Filter: eo.Filter, Limit: eo.Limit})
		},
		Inspect: func(ctx context.Context, in table.Input, io table.InspectOptions) (out *table.Outline, err error) {
			if in.At != nil {
				in.Location = "" // dumps are read as long as the input is open
			}
			err = withReader(ctx, in, io.TempDir, func(from storage.Reader) error {
				out, err = inspect.File(ctx, from, io)
				return err
			})
			return out, err
		},
	}
}

// withReader calls do with a reader of an input.
func withReader(ctx context.Context, in table.Input, tempDir string, do func(storage.Reader) error) error {
	from, err := in.Stored(tempDir)
	if err != nil {
		return err
	}
	r, err := from.Store.Open(ctx, from.Location)
	if err == nil {
		err = errors.Join(do(r), r.Close())
	}
	return errors.Join(err, from.Close())
}

// source is a file as a [table.Source].
type source struct {
	rowio.Source
	in       table.Input
	from     table.Stored
	file     *File
	rows     int64
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
	var err error
	if s.from, err = s.in.Stored(ro.TempDir); err != nil {
		return err
	}
	o.Store = s.from.Store
	if s.file, err = Open(ctx, s.from.Location, o); err != nil {
		return err
	}
	if s.rows, err = s.file.NumSpans(ctx); err != nil {
		return err
	}
	so := ScanOptions{Columns: ro.Columns, Filter: ro.Filter, Allocator: ro.Allocator, BatchRows: ro.BatchRows}
	if !ro.Rows.IsAll() {
		r := ro.Rows.Within(s.rows)
		so.Rows, s.rows = []RowRange{{From: r.Begin, To: r.End}}, r.End-r.Begin
	}
	if so.Limit = ro.Limit; ro.Limit > 0 {
		s.rows = min(s.rows, ro.Limit)
	}
	rows, err := s.file.Reader(ctx, so)
	if err != nil {
		return err
	}
	s.Source = rowio.NewSource(rows, nil) // blocks are too short for stripes
	return nil
}

// Rows implements [table.Source].
func (s *source) Rows() (int64, bool) { return s.rows, !s.filtered }

// Close implements [table.Source].
func (s *source) Close() error {
	s.Release()
	var errs []error
	if s.file != nil {
		errs = append(errs, s.file.Close())
	}
	return errors.Join(append(errs, s.from.Close(), s.in.Close())...)
}

// statistics implements [table.Format.Statistics]: of a file, the number of spans is known without reading columns.
func statistics(ctx context.Context, in table.Input, columns []string, o Options) (_ *table.Statistics, err error) {
	if in.Location == "" && (in.At == nil || in.Size < 0) || len(columns) > 0 {
		return nil, nil
	}
	from, err := in.Stored("")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	o.Store = from.Store
	f, err := Open(ctx, from.Location, o)
	if err != nil {
		return nil, err
	}
	n, err := f.NumSpans(ctx)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return &table.Statistics{Rows: n}, nil
}
