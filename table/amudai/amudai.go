// Package amudai is the table format of Amudai shards: it implements the interfaces of package provider with package
// shard.
//
// Reading needs random access: a shard from a pipe is copied to a temporary file first. A
// shard of several files needs a location ([provider.Input]).
package amudai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/rowio"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

func init() { provider.Register(New(Options{})) }

// Options are the options of shards. The zero value is the default.
type Options struct {
	Open  shard.OpenOptions   // when reading
	Scan  shard.ScanOptions   // when reading; provider.ReadOptions replaces the options that both have
	Write shard.WriterOptions // when writing; Store must be nil and Layout SingleFile
}

// New is the format with some options. Its sinks are of type *[Sink].
func New(o Options) provider.Format {
	return provider.Format{
		Name: "shard", Title: "Amudai shard", Extensions: []string{".amudai.shard", ".shard", ".amudai"},
		Sniff:   func(head []byte) bool { return bytes.HasPrefix(head, []byte("amud")) },
		Certain: true, Parts: shard.PartSuffixes(),
		Filters: true, Ranges: true, ExactRows: true, Recovers: true,
		Reader: func(ctx context.Context, in provider.Input, ro provider.ReadOptions) (provider.Source, error) {
			return open(ctx, in, ro, o)
		},
		Writer: func(ctx context.Context, out provider.Output, schema *arrow.Schema, _ provider.WriteOptions) (provider.Sink, error) {
			w, err := shard.NewWriter(ctx, &storage.IOWriter{Context: ctx, Writer: out}, schema, o.Write)
			if err != nil {
				return nil, err
			}
			return newSink(w, out), nil
		},
		Verify: func(ctx context.Context, in provider.Input, vo provider.VerifyOptions) (*provider.Report, error) {
			return verify(ctx, in, vo, o)
		},
		Inspect: func(ctx context.Context, in provider.Input, io provider.InspectOptions) (*provider.Outline, error) {
			return inspect(ctx, in, io, o)
		},
		Statistics: func(ctx context.Context, in provider.Input, columns []string) (*provider.Statistics, error) {
			return statistics(ctx, in, columns, o)
		},
		Explain: func(ctx context.Context, in provider.Input, eo provider.ExplainOptions) (*provider.Explanation, error) {
			return explain(ctx, in, eo, o)
		},
	}
}

// source reads the rows of a shard.
type source struct {
	rowio.Source
	in    provider.Input
	temp  *provider.Spooled
	shard *shard.Shard
	all   bool // rows are all of the shard

	rows    int64 // of the result
	counted bool  // rows is exact
}

// open opens an input. Its context ends all reading.
func open(ctx context.Context, in provider.Input, ro provider.ReadOptions, o Options) (provider.Source, error) {
	s := &source{in: in}
	if err := s.open(ctx, ro, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *source) open(ctx context.Context, ro provider.ReadOptions, o Options) (err error) {
	in := s.in
	if isPipe(in) {
		if s.temp, err = provider.Spool(in.Reader, ro.TempDir); err != nil {
			return err
		}
		in.At, in.Size = s.temp, s.temp.Size()
	}
	if s.shard, err = openShard(ctx, in, o.Open); err != nil {
		return err
	}
	so := o.Scan
	so.Columns, so.Filter, so.BatchRows, so.Allocator = ro.Columns, ro.Filter, ro.BatchRows, ro.Allocator
	so.Limit, so.Reuse = ro.Limit, ro.Reuse
	so.Rows, s.rows = ro.Within(s.shard.NumRows())
	if ro.Dictionaries && so.Strings == shard.StringsAsRecorded {
		if so.Coded, err = s.coded(ctx, ro.Columns); err != nil {
			return err
		}
	}
	if so.Decimals64 == nil {
		if so.Decimals64, err = s.only(ctx, ro.Decimals64); err != nil {
			return err
		}
	}
	s.all = so.Filter.IsZero() && so.Rows == nil && so.Stripes == nil && so.Limit == 0
	s.counted = so.Filter.IsZero() && so.Stripes == nil
	rows, err := s.shard.Reader(ctx, so)
	if err != nil {
		return err
	}
	var ends []int64
	if s.all {
		ends = make([]int64, s.shard.NumStripes())
		for i := range ends {
			ends[i] = s.shard.StripeRows(i).To
		}
	}
	s.Source = rowio.NewSource(rows, ends)
	return nil
}

// coded are the columns of a projection that are stored as codes of a dictionary in the first stripe.
func (s *source) coded(ctx context.Context, columns []string) (names []string, err error) {
	if s.shard.NumStripes() == 0 {
		return nil, nil
	}
	full, err := s.shard.ArrowSchema(ctx)
	if err != nil {
		return nil, err
	}
	if columns == nil {
		for _, name := range arrowmap.UniqueNames(full.Fields()) {
			columns = append(columns, schema.JoinPath("", name))
		}
	}
	for _, name := range columns {
		path := schema.SplitPath(name)
		if at := full.FieldIndices(path[0]); len(path) > 1 || len(at) != 1 || arrow.IsNested(full.Field(at[0]).Type.ID()) {
			continue
		}
		stored, err := s.shard.StripeStatistics(ctx, 0, name)
		if err != nil {
			return nil, err
		}
		if stored.DictionaryEntries > 0 {
			names = append(names, path[0])
		}
	}
	return names, nil
}

// only are the names of those top-level columns whose name no other one has.
func (s *source) only(ctx context.Context, paths []string) (names []string, err error) {
	if len(paths) == 0 {
		return nil, nil
	}
	full, err := s.shard.ArrowSchema(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		if path := schema.SplitPath(p); len(path) == 1 && len(full.FieldIndices(path[0])) == 1 {
			names = append(names, path[0])
		}
	}
	return names, nil
}

// isPipe reports whether an input has no random access.
func isPipe(in provider.Input) bool { return in.Location == "" && (in.At == nil || in.Size < 0) }

// openShard opens an input with random access.
func openShard(ctx context.Context, in provider.Input, o shard.OpenOptions) (*shard.Shard, error) {
	if in.Location == "" {
		s, err := shard.OpenReaderAt(ctx, in.At, in.Size, o)
		return s, orOther(in, err)
	}
	if o.Store == nil {
		o.Store = in.Store
	}
	s, err := shard.Open(ctx, in.Location, o)
	return s, orOther(in, err)
}

// orOther describes a file that cannot be opened because it is no shard.
func orOther(in provider.Input, err error) error {
	if err == nil || in.At == nil {
		return err
	}
	head := make([]byte, 8)
	n, rerr := in.At.ReadAt(head, 0)
	switch {
	case rerr != nil && rerr != io.EOF, bytes.HasPrefix(head, []byte("amud")):
		return err
	case n == 0:
		return fmt.Errorf("%s is empty", in.Name)
	}
	return fmt.Errorf("%s is not an Amudai shard: it starts with %q", in.Name, head[:n])
}

// explain describes how a scan finds its rows.
func explain(ctx context.Context, in provider.Input, eo provider.ExplainOptions, o Options) (x *provider.Explanation, err error) {
	s, err := openShard(ctx, in, o.Open)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	do := s.Explain
	if eo.Run {
		do = s.Analyze
	}
	so := o.Scan
	so.Columns, so.Filter, so.Limit = eo.Columns, eo.Filter, eo.Limit
	return do(ctx, so)
}

// Rows implements [provider.Source].
func (s *source) Rows() (int64, bool) { return s.rows, s.counted }

// Close implements [provider.Source].
func (s *source) Close() error {
	s.Release()
	var err error
	if s.shard != nil {
		err = s.shard.Close()
	}
	return errors.Join(err, s.temp.Close(), s.in.Close())
}

// Sink writes a shard. It is used by one goroutine.
type Sink struct {
	rowio.Sink
	w *shard.Writer
}

func newSink(w *shard.Writer, out rowio.Output) *Sink { return &Sink{rowio.NewSink(w, out), w} }

// Create makes the sink of a shard at a location, of either layout.
func Create(ctx context.Context, location string, schema *arrow.Schema, o shard.WriterOptions) (*Sink, error) {
	w, err := shard.Create(ctx, location, schema, o)
	if err != nil {
		return nil, err
	}
	return newSink(w, nil), nil
}

// CutStripe ends the stripe, so that the next rows begin another one.
func (s *Sink) CutStripe(ctx context.Context) error { return s.w.CutStripe(ctx) }
