package rntuple

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/rowio"
	"github.com/amudai/amudai-go/rntuple/internal/inspect"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/rntuple/internal/verify"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

func init() { provider.Register(New(FormatOptions{Read: Options{VariantsAsStructs: true}})) }

// FormatOptions are those of [New]. The zero value is the default.
type FormatOptions struct {
	Read  Options
	Write WriterOptions // Store must be nil, and Append false
}

// New is the format of package provider, with some options.
func New(o FormatOptions) provider.Format {
	return provider.Format{
		Name: "rntuple", Title: "RNTuple", Extensions: []string{fileExtension},
		Sniff:   func(head []byte) bool { return bytes.HasPrefix(head, []byte("root")) },
		Filters: true, Ranges: true, ExactRows: true,
		Reader: func(ctx context.Context, in provider.Input, ro provider.ReadOptions) (provider.Source, error) {
			return openSource(ctx, in, ro.WithDefaults(), o.Read)
		},
		Writer: func(ctx context.Context, out provider.Output, schema *arrow.Schema, wo provider.WriteOptions) (provider.Sink, error) {
			o := o.Write
			o.TempDir = cmp.Or(o.TempDir, wo.TempDir)
			w, err := NewWriter(ctx, &storage.IOWriter{Context: ctx, Writer: out}, schema, o)
			if err != nil {
				return nil, err
			}
			return &sink{rowio.NewSink(w, out), w}, nil
		},
		Tables: func(ctx context.Context, in provider.Input) (list []provider.Entry, err error) {
			err = withFile(ctx, in, "", func(f *rootfile.File) error {
				for _, i := range listFile(ctx, f) {
					list = append(list, provider.Entry{Path: i.Path, Err: i.Err})
				}
				return ctx.Err()
			})
			return list, err
		},
		Verify: func(ctx context.Context, in provider.Input, vo provider.VerifyOptions) (r *provider.Report, err error) {
			err = withFile(ctx, in, vo.TempDir, func(f *rootfile.File) error {
				r, err = verify.File(ctx, f, in.Table, vo)
				return err
			})
			return r, err
		},
		Inspect: func(ctx context.Context, in provider.Input, io provider.InspectOptions) (out *provider.Outline, err error) {
			err = withFile(ctx, in, io.TempDir, func(f *rootfile.File) error {
				out, err = inspect.File(ctx, f, in.Table, io)
				return err
			})
			return out, err
		},
		Statistics: func(ctx context.Context, in provider.Input, columns []string) (*provider.Statistics, error) {
			return statistics(ctx, in, columns, o.Read)
		},
		Explain: func(ctx context.Context, in provider.Input, eo provider.ExplainOptions) (x *provider.Explanation, err error) {
			ro := o.Read
			ro.Path = cmp.Or(in.Table, ro.Path)
			if ro.Store == nil {
				ro.Store = in.Store
			}
			n, err := Open(ctx, in.Location, ro)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, n.Close()) }()
			explain := n.Explain
			if eo.Run {
				explain = n.Analyze
			}
			return explain(ctx, ScanOptions{Columns: eo.Columns, Filter: eo.Filter, Limit: eo.Limit})
		},
	}
}

// sink is an ntuple as a [provider.Sink].
type sink struct {
	rowio.Sink
	w *Writer
}

// CutStripe implements [provider.StripeCutter]: it ends the cluster.
func (s *sink) CutStripe(ctx context.Context) error { return s.w.CutCluster(ctx) }

// withFile calls do with the file of an input.
func withFile(ctx context.Context, in provider.Input, tempDir string, do func(*rootfile.File) error) error {
	from, err := in.Stored(tempDir)
	if err != nil {
		return err
	}
	f, r, err := openFile(ctx, from.Location, from.Store)
	if err == nil {
		err = errors.Join(do(f), r.Close())
	}
	return errors.Join(err, from.Close())
}

// source is an ntuple as a [provider.Source].
type source struct {
	rowio.Source
	in       provider.Input
	from     provider.Stored
	ntuple   *NTuple
	rows     int64 // of the result, without a filter
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
	file, reader, err := openFile(ctx, s.from.Location, s.from.Store)
	if err != nil {
		return err
	}
	o.Path = cmp.Or(s.in.Table, o.Path)
	if s.ntuple, err = fromFile(ctx, file, reader, o); err != nil {
		return err
	}
	clusters, err := s.ntuple.Clusters(ctx)
	if err != nil {
		return err
	}
	for _, f := range s.ntuple.Skipped() {
		ro.Warning(fmt.Sprintf("%s: field %q is left out: %s", s.in.Name, f.Field, f.Reason))
	}
	so := ScanOptions{Columns: ro.Columns, Filter: ro.Filter, Limit: ro.Limit, Allocator: ro.Allocator, BatchRows: ro.BatchRows, Reuse: ro.Reuse}
	so.Entries, s.rows = ro.Within(s.ntuple.NumEntries())
	rows, err := s.ntuple.Reader(ctx, so)
	if err != nil {
		return err
	}
	var ends []int64
	if !s.filtered && so.Entries == nil && so.Limit == 0 {
		ends = make([]int64, len(clusters))
		for i, c := range clusters {
			ends[i] = c.To
		}
	}
	s.Source = rowio.NewSource(rows, ends)
	return nil
}

func (s *source) Rows() (int64, bool) { return s.rows, !s.filtered }

func (s *source) Close() error {
	s.Release()
	var errs []error
	if s.ntuple != nil {
		errs = append(errs, s.ntuple.Close())
	}
	return errors.Join(append(errs, s.from.Close(), s.in.Close())...)
}

// statistics implements [provider.Format.Statistics]: an ntuple records its number of entries, and nothing of its fields.
func statistics(ctx context.Context, in provider.Input, columns []string, o Options) (_ *provider.Statistics, err error) {
	if in.Location == "" && (in.At == nil || in.Size < 0) || len(columns) > 0 {
		return nil, nil
	}
	from, err := in.Stored("")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	file, reader, err := openFile(ctx, from.Location, from.Store)
	if err != nil {
		return nil, err
	}
	o.Path = cmp.Or(in.Table, o.Path)
	n, err := fromFile(ctx, file, reader, o)
	if err != nil {
		return nil, err
	}
	return &provider.Statistics{Rows: n.NumEntries()}, n.Close()
}
