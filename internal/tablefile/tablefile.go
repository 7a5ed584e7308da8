// Package tablefile makes formats of package provider of files that the engine reads as tables: their sources, plans, and numbers of rows.
package tablefile

import (
	"cmp"
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// File is an open file.
type File struct {
	Table   table.Table
	Grouped bool // rows of a stripe may stay together in a copy
	// Scan has the options of the format for scans. Reuse is a permission, and BatchRows the default.
	Scan scan.Options
	// Prepare reads what a scan needs and opening does not, and completes its options. It may be nil.
	Prepare func(ctx context.Context, o scan.Options) (scan.Options, error)
	// Place names the file in an error. It may be nil.
	Place func(error) error
	Close func() error
}

// OfShard is the table of an open shard.Shard, for packages of this module that ask it what only the engine tells. Package shard sets it.
var OfShard func(shard any) table.Table

// OfBlockpack is likewise that of a blockpack.File whose schema was read, and its options of scans. Package blockpack sets it.
var OfBlockpack func(file any) (table.Table, scan.Options)

// Open opens a table of an input for a scan with some options. The input stays the caller's.
type Open func(ctx context.Context, in provider.Input, from provider.Stored, o provider.ReadOptions) (*File, error)

// Complete sets how a format reads and explains, and how it tells the number of rows.
func (open Open) Complete(f provider.Format) provider.Format {
	f.Filters, f.Ranges, f.ExactRows = true, true, true
	f.Reader, f.Explain = open.source, open.explain
	if f.Statistics == nil {
		f.Statistics = open.statistics
	}
	return f
}

func (f *File) placed(err error) error {
	if err != nil && f.Place != nil {
		err = f.Place(err)
	}
	return err
}

// scan completes the options of a scan.
func (f *File) scan(ctx context.Context, o provider.ReadOptions) (scan.Options, error) {
	so := f.Scan
	so.Columns, so.Filter, so.Limit, so.Allocator, so.Reuse = o.Columns, o.Filter.Node(), o.Limit, o.Allocator, so.Reuse && o.Reuse
	so.BatchRows = cmp.Or(o.BatchRows, so.BatchRows, provider.DefaultBatchRows)
	if f.Prepare == nil {
		return so, nil
	}
	return f.Prepare(ctx, so)
}

// source is a file as a [provider.Source].
type source struct {
	in     provider.Input
	from   provider.Stored
	file   *File
	reader array.RecordReader
	rows   int64 // of the result
	known  bool  // there is no filter

	positions int64 // of rows, hidden ones included

	ends  []int64 // the numbers of rows up to the end of each group; nil if the reader gives only some of the rows
	next  int64   // rows of all batches so far
	group int     // of the last batch
}

func (open Open) source(ctx context.Context, in provider.Input, o provider.ReadOptions) (provider.Source, error) {
	s := &source{in: in}
	batchRows := o.BatchRows
	o = o.WithDefaults()
	o.BatchRows = batchRows
	if err := s.open(ctx, open, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *source) open(ctx context.Context, open Open, o provider.ReadOptions) (err error) {
	if s.from, err = s.in.Stored(o.TempDir); err != nil {
		return err
	}
	if s.file, err = open(ctx, s.in, s.from, o); err != nil {
		return err
	}
	if o.Choose != nil {
		all, err := s.file.Table.Project(ctx, nil)
		if err != nil {
			return s.file.placed(err)
		}
		if o, err = o.Chosen(all.Schema); err != nil {
			return err
		}
	}
	so, err := s.file.scan(ctx, o)
	if err != nil {
		return err
	}
	t := s.file.Table
	so.Rows, s.positions = o.Within(t.NumRows())
	all := so.Rows
	if all == nil {
		all = []provider.RowRange{{To: t.NumRows()}}
	}
	if s.rows, err = table.CountVisible(ctx, t, rowset.Of(all...)); err != nil {
		return s.file.placed(err)
	}
	hides := s.rows < rowset.Count(all)
	if o.Limit > 0 {
		s.rows = min(s.rows, o.Limit)
	}
	s.known = so.Filter == nil && so.Stripes == nil
	if s.reader, err = scan.NewReader(ctx, t, so); err != nil {
		return s.file.placed(err)
	}
	if s.file.Grouped && s.known && !hides && so.Rows == nil && so.Limit == 0 {
		s.ends = make([]int64, t.NumStripes())
		for i := range s.ends {
			s.ends[i] = t.Stripe(i).Position() + t.Stripe(i).Rows()
		}
	}
	return nil
}

// Schema implements [provider.Source].
func (s *source) Schema() *arrow.Schema { return s.reader.Schema() }

// Next implements [provider.Source].
func (s *source) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !s.reader.Next() {
		return nil, s.reader.Err()
	}
	batch := s.reader.RecordBatch()
	batch.Retain() // the reader releases its own reference at the next step
	for s.group+1 < len(s.ends) && s.next >= s.ends[s.group] {
		s.group++
	}
	s.next += batch.NumRows()
	return batch, nil
}

// Group implements [provider.Grouped].
func (s *source) Group() int {
	if s.ends == nil {
		return -1
	}
	return s.group
}

// Ranges implements [provider.Numbered].
func (s *source) Ranges() []provider.RowRange { return s.reader.(scan.Ranged).RowRanges() }

func (s *source) Rows() (int64, bool) { return s.rows, s.known }

// Positions implements [provider.Hiding].
func (s *source) Positions() int64 { return s.positions }

func (s *source) Close() error {
	if s.reader != nil {
		s.reader.Release()
	}
	var err error
	if s.file != nil {
		err = s.file.Close()
	}
	return errors.Join(err, s.from.Close(), s.in.Close())
}

// with calls do with an open file.
func (open Open) with(ctx context.Context, in provider.Input, o provider.ReadOptions, do func(f *File) error) error {
	from, err := in.Stored(o.TempDir)
	if err != nil {
		return err
	}
	f, err := open(ctx, in, from, o)
	if err == nil {
		err = errors.Join(do(f), f.Close())
	}
	return errors.Join(err, from.Close())
}

func (open Open) explain(ctx context.Context, in provider.Input, eo provider.ExplainOptions) (x *provider.Explanation, err error) {
	o := provider.ReadOptions{Columns: eo.Columns, Filter: eo.Filter, Limit: eo.Limit, Notice: func(string) {}, Warning: func(string) {}}
	do := scan.Explain
	if eo.Run {
		do = scan.Analyze
	}
	err = open.with(ctx, in, o, func(f *File) error {
		so, err := f.scan(ctx, o)
		if err == nil {
			x, err = do(ctx, f.Table, so)
		}
		return f.placed(err)
	})
	return x, err
}

// statistics are those of a file that records the number of its rows, and nothing of its columns.
func (open Open) statistics(ctx context.Context, in provider.Input, columns []string) (out *provider.Statistics, err error) {
	if IsPipe(in) || len(columns) > 0 {
		return nil, nil
	}
	err = open.with(ctx, in, provider.ReadOptions{Columns: []string{}, Warning: func(string) {}}, func(f *File) error {
		out = &provider.Statistics{Rows: f.Table.NumRows()}
		return nil
	})
	return out, err
}

// IsPipe reports whether an input can be read only once.
func IsPipe(in provider.Input) bool { return in.Location == "" && (in.At == nil || in.Size < 0) }

// WithReader calls do with a reader of the bytes of an input. A pipe is copied to a temporary file in tempDir.
func WithReader(ctx context.Context, in provider.Input, tempDir string, do func(storage.Reader) error) error {
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

// sink passes batches to a writer, and publishes its output once it is closed.
type sink struct {
	provider.Sink
	out   provider.Output
	ended bool
}

// grouped is a sink that stores rows in groups.
type grouped struct {
	*sink
	cut func(context.Context) error
}

// NewSink makes a sink of a writer that does not publish its output.
func NewSink(w provider.Sink, out provider.Output) provider.Sink { return &sink{Sink: w, out: out} }

// NewGroupedSink makes a [provider.StripeCutter] of a writer with a method that ends a group.
func NewGroupedSink(w provider.Sink, out provider.Output, cut func(context.Context) error) provider.Sink {
	return grouped{&sink{Sink: w, out: out}, cut}
}

// CutStripe implements [provider.StripeCutter].
func (s grouped) CutStripe(ctx context.Context) error { return s.cut(ctx) }

// Close closes the writer, then publishes the output, or drops it after an error.
func (s *sink) Close(ctx context.Context) error {
	s.ended = true
	if err := s.Sink.Close(ctx); err != nil {
		return errors.Join(err, s.out.Abort(context.WithoutCancel(ctx)))
	}
	return s.out.Publish(ctx)
}

// Abort drops writer and output. After Close or Abort it does nothing.
func (s *sink) Abort(ctx context.Context) error {
	if s.ended {
		return nil
	}
	s.ended = true
	return errors.Join(s.Sink.Abort(ctx), s.out.Abort(ctx))
}
