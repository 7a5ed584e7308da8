package shard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/rowio"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/inspect"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

func init() { provider.Register(New(FormatOptions{})) }

// magic begins the header of each file of a shard.
var magic = []byte("amud")

// FormatOptions are those of [New]. The zero value is the default.
type FormatOptions struct {
	Open  OpenOptions   // when reading
	Scan  ScanOptions   // when reading; provider.ReadOptions replaces the options that both have
	Write WriterOptions // when writing; Store must be nil and Layout SingleFile
}

// New is the format of package provider, with some options. Reading needs random access: a shard from a pipe is copied to a temporary file first. A shard
// of several files needs a location ([provider.Input]). A [Writer] is a [provider.StripeCutter] itself.
func New(o FormatOptions) provider.Format {
	return provider.Format{
		Name: "shard", Title: "Amudai shard", Extensions: []string{".amudai.shard", ".shard", ".amudai"},
		Sniff:   func(head []byte) bool { return bytes.HasPrefix(head, magic) },
		Certain: true, Parts: []string{shardwriter.StripeSuffix, shardwriter.IndexSuffix, root.DataSuffix},
		Filters: true, Ranges: true, ExactRows: true, Recovers: true,
		Reader: func(ctx context.Context, in provider.Input, ro provider.ReadOptions) (provider.Source, error) {
			s := &formatSource{in: in}
			if err := s.open(ctx, ro, o); err != nil {
				return nil, errors.Join(err, s.Close())
			}
			return s, nil
		},
		Writer: func(ctx context.Context, out provider.Output, schema *arrow.Schema, _ provider.WriteOptions) (provider.Sink, error) {
			w, err := NewWriter(ctx, &storage.IOWriter{Context: ctx, Writer: out}, schema, o.Write)
			if err != nil {
				return nil, err
			}
			return &formatSink{rowio.NewSink(w, out), w}, nil
		},
		Verify: func(ctx context.Context, in provider.Input, vo provider.VerifyOptions) (*provider.Report, error) {
			from, err := in.Stored(vo.TempDir)
			if err != nil {
				return nil, err
			}
			r, err := Verify(ctx, from.Location, VerifyOptions{
				Open: o.openIn(from), MetadataOnly: vo.MetadataOnly, Quick: vo.Quick, MaxFindings: vo.MaxFindings, Parallelism: vo.Parallelism, Progress: vo.Progress,
			})
			if err = errors.Join(err, from.Close()); err != nil {
				return nil, err
			}
			return providerReport(r), nil
		},
		Inspect: func(ctx context.Context, in provider.Input, io provider.InspectOptions) (out *provider.Outline, err error) {
			s, err := o.open(ctx, in, io.TempDir)
			if err != nil {
				return nil, err
			}
			if out, err = inspect.File(ctx, s.file, io); err != nil || !io.Hex && !io.Nodes {
				return out, errors.Join(err, s.Close())
			}
			out.Closer = s
			return out, nil
		},
		Statistics: func(ctx context.Context, in provider.Input, columns []string) (x *provider.Statistics, err error) {
			if in.Location == "" && (in.At == nil || in.Size < 0) { // a pipe
				return nil, nil
			}
			err = o.with(ctx, in, "", func(s *Shard) error {
				x, err = s.recorded().Columns(ctx, columns)
				return err
			})
			return x, err
		},
		Explain: func(ctx context.Context, in provider.Input, eo provider.ExplainOptions) (x *provider.Explanation, err error) {
			err = o.with(ctx, in, "", func(s *Shard) error {
				do := s.Explain
				if eo.Run {
					do = s.Analyze
				}
				so := o.Scan
				so.Columns, so.Filter, so.Limit = eo.Columns, eo.Filter, eo.Limit
				x, err = do(ctx, so)
				return err
			})
			return x, err
		},
	}
}

// openIn are the options for opening a stored input.
func (o FormatOptions) openIn(from provider.Stored) OpenOptions {
	if o.Open.Store == nil {
		o.Open.Store = from.Store
	}
	return o.Open
}

// open opens the shard of an input.
func (o FormatOptions) open(ctx context.Context, in provider.Input, tempDir string) (*opened, error) {
	from, err := in.Stored(tempDir)
	if err != nil {
		return nil, err
	}
	s, err := Open(ctx, from.Location, o.openIn(from))
	if err != nil {
		return nil, errors.Join(orOther(in, err), from.Close())
	}
	return &opened{s, from}, nil
}

// opened is the shard of an input, and its bytes.
type opened struct {
	*Shard
	from provider.Stored
}

// Close closes both.
func (s *opened) Close() error { return errors.Join(s.Shard.Close(), s.from.Close()) }

// with calls do with the shard of an input.
func (o FormatOptions) with(ctx context.Context, in provider.Input, tempDir string, do func(*Shard) error) error {
	s, err := o.open(ctx, in, tempDir)
	if err != nil {
		return err
	}
	return errors.Join(do(s.Shard), s.Close())
}

// orOther describes a file that cannot be opened because it is no shard.
func orOther(in provider.Input, err error) error {
	if err == nil || in.At == nil {
		return err
	}
	head := make([]byte, 8)
	n, rerr := in.At.ReadAt(head, 0)
	switch {
	case rerr != nil && rerr != io.EOF, bytes.HasPrefix(head, magic):
		return err
	case n == 0:
		return fmt.Errorf("%s is empty", in.Name)
	}
	return fmt.Errorf("%s is not an Amudai shard: it starts with %q", in.Name, head[:n])
}

// formatSource is a shard as a [provider.Source].
type formatSource struct {
	rowio.Source
	in    provider.Input
	shard *opened // nil if it could not be opened

	rows     int64 // of the result, without a filter
	filtered bool
}

// open opens the input. Its context ends all reading.
func (s *formatSource) open(ctx context.Context, ro provider.ReadOptions, o FormatOptions) (err error) {
	if s.shard, err = o.open(ctx, s.in, ro.TempDir); err != nil {
		return err
	}
	so := o.Scan
	so.Columns, so.Filter, so.BatchRows, so.Allocator = ro.Columns, ro.Filter, ro.BatchRows, ro.Allocator
	so.Limit, so.Reuse = ro.Limit, ro.Reuse
	so.Rows, s.rows = ro.Within(s.shard.NumRows())
	s.filtered = !so.Filter.IsZero() || so.Stripes != nil
	if ro.Dictionaries && so.Strings == StringsAsRecorded {
		if so.Coded, err = s.shard.recorded().Coded(ctx, ro.Columns); err != nil {
			return err
		}
	}
	if so.Decimals64 == nil {
		if so.Decimals64, err = s.shard.only(ctx, ro.Decimals64); err != nil {
			return err
		}
	}
	rows, err := s.shard.Reader(ctx, so)
	if err != nil {
		return err
	}
	var ends []int64
	if !s.filtered && so.Rows == nil && so.Limit == 0 {
		ends = make([]int64, s.shard.NumStripes())
		for i := range ends {
			ends[i] = s.shard.StripeRows(i).To
		}
	}
	s.Source = rowio.NewSource(rows, ends)
	return nil
}

// only are the names of those top-level columns whose name no other one has.
func (s *Shard) only(ctx context.Context, paths []string) (names []string, err error) {
	if len(paths) == 0 {
		return nil, nil
	}
	full, err := s.ArrowSchema(ctx)
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

// Rows implements [provider.Source].
func (s *formatSource) Rows() (int64, bool) { return s.rows, !s.filtered }

// Close implements [provider.Source].
func (s *formatSource) Close() error {
	s.Release()
	var err error
	if s.shard != nil {
		err = s.shard.Close()
	}
	return errors.Join(err, s.in.Close())
}

// formatSink is a shard in an output as a [provider.Sink].
type formatSink struct {
	rowio.Sink
	w *Writer
}

// CutStripe implements [provider.StripeCutter].
func (s *formatSink) CutStripe(ctx context.Context) error { return s.w.CutStripe(ctx) }

// providerReport is a report in the form that all formats have.
func providerReport(r *Report) *provider.Report {
	return &provider.Report{
		Problems: errorsOf(r.Problems), Notes: errorsOf(r.Notes), Unchecked: r.Unchecked, Truncated: r.Truncated,
		Checked: []provider.Count{
			{Name: "stripe", N: int64(r.Stripes)}, {Name: "column", N: int64(r.Columns)}, {Name: "message", N: int64(r.Messages)},
			{Name: "buffer", N: int64(r.Buffers)}, {Name: "block", N: int64(r.Blocks)}, {Name: "value", N: r.Values},
			{Name: "constant", N: int64(r.Constants)}, {Name: "dictionary", N: int64(r.Dictionaries)}, {Name: "range index", N: int64(r.RangeIndexes)},
			{Name: "index", N: int64(r.Indexes)}, {Name: "filter", N: int64(r.Filters)}, {Name: "sketch", N: int64(r.Sketches)},
			{Name: "descriptor", N: int64(r.Statistics)},
		},
	}
}

// errorsOf are findings as errors, with the bits that explain them.
func errorsOf(list []Finding) []error {
	errs := make([]error, len(list))
	for i, f := range list {
		if errs[i] = f.Err; f.Bit != nil {
			errs[i] = fmt.Errorf("%w; %v", f.Err, f.Bit)
		}
	}
	return errs
}
