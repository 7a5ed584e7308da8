package blockpack

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/blockpack/internal/layout"
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
		Filters: true,
		Reader: func(ctx context.Context, in table.Input, ro table.ReadOptions) (table.Source, error) {
			return openSource(ctx, in, ro.WithDefaults(), o.Read)
		},
		Writer: func(ctx context.Context, out table.Output, _ *arrow.Schema, _ table.WriteOptions) (table.Sink, error) {
			w, err := NewWriter(ctx, &storage.IOWriter{Context: ctx, Writer: out}, o.Write)
			if err != nil {
				return nil, err
			}
			return &sink{rowio.NewSink(w, out), w}, nil
		},
		Verify: func(ctx context.Context, in table.Input, vo table.VerifyOptions) (r *table.Report, err error) {
			err = withReader(ctx, in, vo.TempDir, func(from storage.Reader) error {
				r, err = verify.File(ctx, from, vo)
				return err
			})
			return r, err
		},
	}
}

// sink is a file as a [table.Sink].
type sink struct {
	rowio.Sink
	w *Writer
}

// CutStripe implements [table.StripeCutter]: it ends the block.
func (s *sink) CutStripe(ctx context.Context) error { return s.w.Flush(ctx) }

// input is the bytes of a [table.Input] in a store: its own if the input has a location, so that reads over a network are joined
// as the store likes it.
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

// withReader calls do with a reader of an input.
func withReader(ctx context.Context, in table.Input, tempDir string, do func(storage.Reader) error) error {
	from, err := openInput(in, tempDir)
	if err != nil {
		return err
	}
	r, err := from.store.Open(ctx, from.location)
	if err == nil {
		err = errors.Join(do(r), r.Close())
	}
	return errors.Join(err, from.temp.Close())
}

// source is a file as a [table.Source].
type source struct {
	rowio.Source
	in       table.Input
	from     input
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
	if s.from, err = openInput(s.in, ro.TempDir); err != nil {
		return err
	}
	o.Store = s.from.store
	if s.file, err = Open(ctx, s.from.location, o); err != nil {
		return err
	}
	blocks, err := s.file.Blocks(ctx)
	if err != nil {
		return err
	}
	so := ScanOptions{Columns: ro.Columns, Filter: ro.Filter, Allocator: ro.Allocator, BatchRows: ro.BatchRows}
	rows, err := s.file.Reader(ctx, so)
	if err != nil {
		return err
	}
	var ends []int64
	for _, b := range blocks {
		s.rows += b.Spans
		if !s.filtered {
			ends = append(ends, s.rows)
		}
	}
	s.Source = rowio.NewSource(rows, ends)
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
	return errors.Join(append(errs, s.from.temp.Close(), s.in.Close())...)
}
