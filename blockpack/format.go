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
	"github.com/amudai/amudai-go/table/provider"
)

const fileExtension = ".blockpack"

func init() { provider.Register(New(FormatOptions{})) }

// FormatOptions are those of [New]. The zero value is the default.
type FormatOptions struct {
	Read  Options       // Store must be nil
	Write WriterOptions // Store must be nil
}

// New is the format of package provider, with some options.
func New(o FormatOptions) provider.Format {
	magic := binary.LittleEndian.AppendUint32(nil, layout.Magic)
	return provider.Format{
		Name: "blockpack", Title: "Blockpack", Extensions: []string{fileExtension},
		Sniff:   func(head []byte) bool { return bytes.HasPrefix(head, magic) },
		Filters: true, Ranges: true, ExactRows: true, Sparse: true, Keys: []string{spans.TraceID},
		Reader: func(ctx context.Context, in provider.Input, ro provider.ReadOptions) (provider.Source, error) {
			return openSource(ctx, in, ro.WithDefaults(), o.Read)
		},
		Writer: func(ctx context.Context, out provider.Output, _ *arrow.Schema, _ provider.WriteOptions) (provider.Sink, error) {
			w, err := NewWriter(ctx, &storage.IOWriter{Context: ctx, Writer: out}, o.Write)
			if err != nil {
				return nil, err
			}
			sink := rowio.NewSink(w, out)
			return &sink, nil
		},
		Verify: func(ctx context.Context, in provider.Input, vo provider.VerifyOptions) (r *provider.Report, err error) {
			err = withReader(ctx, in, vo.TempDir, func(from storage.Reader) error {
				r, err = verify.File(ctx, from, vo)
				return err
			})
			return r, err
		},
		Statistics: func(ctx context.Context, in provider.Input, columns []string) (*provider.Statistics, error) {
			return statistics(ctx, in, columns, o.Read)
		},
		Explain: func(ctx context.Context, in provider.Input, eo provider.ExplainOptions) (x *provider.Explanation, err error) {
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
		Inspect: func(ctx context.Context, in provider.Input, io provider.InspectOptions) (out *provider.Outline, err error) {
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
func withReader(ctx context.Context, in provider.Input, tempDir string, do func(storage.Reader) error) error {
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

// source is a file as a [provider.Source].
type source struct {
	rowio.Source
	in       provider.Input
	from     provider.Stored
	file     *File
	rows     int64
	filtered bool
}

func openSource(ctx context.Context, in provider.Input, ro provider.ReadOptions, o Options) (provider.Source, error) {
	s := &source{in: in, filtered: !ro.Filter.IsZero()}
	if err := s.open(ctx, ro, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *source) open(ctx context.Context, ro provider.ReadOptions, o Options) error {
	var err error
	if s.from, err = s.in.Stored(ro.TempDir); err != nil {
		return err
	}
	o.Store = s.from.Store
	if s.file, err = Open(ctx, s.from.Location, o); err != nil {
		return err
	}
	n, err := s.file.NumSpans(ctx)
	if err != nil {
		return err
	}
	so := ScanOptions{Columns: ro.Columns, Filter: ro.Filter, Limit: ro.Limit, Allocator: ro.Allocator, BatchRows: ro.BatchRows, Reuse: ro.Reuse}
	so.Rows, s.rows = ro.Within(n)
	rows, err := s.file.Reader(ctx, so)
	if err != nil {
		return err
	}
	s.Source = rowio.NewSource(rows, nil) // blocks are too short for stripes
	return nil
}

// Rows implements [provider.Source].
func (s *source) Rows() (int64, bool) { return s.rows, !s.filtered }

// Close implements [provider.Source].
func (s *source) Close() error {
	s.Release()
	var errs []error
	if s.file != nil {
		errs = append(errs, s.file.Close())
	}
	return errors.Join(append(errs, s.from.Close(), s.in.Close())...)
}

// statistics implements [provider.Format.Statistics]: of a file, the number of spans is known without reading columns.
func statistics(ctx context.Context, in provider.Input, columns []string, o Options) (_ *provider.Statistics, err error) {
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
	return &provider.Statistics{Rows: n}, nil
}
