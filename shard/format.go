package shard

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/scan"
	enginetable "github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/tablefile"
	"github.com/amudai/amudai-go/shard/internal/inspect"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

func init() {
	provider.Register(New(FormatOptions{}))
	tablefile.OfShard = func(s any) enginetable.Table { return s.(*Shard).table }
}

// FormatOptions are those of [New]. The zero value is the default.
type FormatOptions struct {
	Open  OpenOptions   // when reading
	Scan  ScanOptions   // when reading; provider.ReadOptions replaces the options that both have
	Write WriterOptions // when writing; Store must be nil and Layout SingleFile
}

// New is the format of package provider, with some options. Reading needs random access: a shard from a pipe is copied to a temporary file first. A shard
// of several files needs a location ([provider.Input]). A [Writer] is a [provider.StripeCutter] itself.
func New(o FormatOptions) provider.Format {
	return tablefile.Open(o.openFile).Complete(provider.Format{
		Name: "shard", Title: "Amudai shard", Extensions: []string{".amudai.shard", ".shard", ".amudai"},
		Sniff:   func(head []byte) bool { return bytes.HasPrefix(head, inspect.Magic) },
		Certain: true, Parts: []string{shardwriter.StripeSuffix, shardwriter.IndexSuffix, root.DataSuffix}, Recovers: true,
		Tables: o.tables,
		Writer: func(ctx context.Context, out provider.Output, schema *arrow.Schema, _ provider.WriteOptions) (provider.Sink, error) {
			w, err := NewWriter(ctx, &storage.IOWriter{Context: ctx, Writer: out}, schema, o.Write)
			if err != nil {
				return nil, err
			}
			return tablefile.NewGroupedSink(w, out, w.CutStripe), nil
		},
		Verify: func(ctx context.Context, in provider.Input, vo provider.VerifyOptions) (*provider.Report, error) {
			from, err := in.Stored(vo.TempDir)
			if err != nil {
				return nil, err
			}
			var r *provider.Report
			open, err := o.openIn(ctx, in, from)
			if err == nil {
				r, err = Verify(ctx, from.Location, open, vo)
			}
			if err = errors.Join(err, from.Close()); err != nil {
				return nil, err
			}
			return r, nil
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
			err = o.with(ctx, in, func(s *Shard) error {
				x, err = s.recorded().Columns(ctx, columns)
				return err
			})
			return x, err
		},
	})
}

// openIn are the options for opening the shard of a stored input.
func (o FormatOptions) openIn(ctx context.Context, in provider.Input, from provider.Stored) (OpenOptions, error) {
	o.Open.Store = cmp.Or(o.Open.Store, from.Store)
	if in.Table == "" {
		return o.Open, nil
	}
	found, err := Directories(ctx, from.Location, in.Table, o.Open)
	if err == nil {
		o.Open.Directory = &found[0]
	}
	return o.Open, err
}

// openStored opens the shard of a stored input, and returns how to close it.
func (o FormatOptions) openStored(ctx context.Context, in provider.Input, from provider.Stored) (*Shard, func() error, error) {
	s, end, err := provider.OpenShared(in, func() (*Shard, error) {
		open, err := o.openIn(ctx, in, from)
		if err != nil {
			return nil, err
		}
		return Open(ctx, from.Location, open)
	})
	return s, end, inspect.OrOther(in, err)
}

// tables are the shards of an input by their numbers.
func (o FormatOptions) tables(ctx context.Context, in provider.Input) (all []provider.Entry, err error) {
	err = o.with(ctx, in, func(s *Shard) error {
		ranges, err := s.file.Shards(ctx)
		for i := range ranges {
			all = append(all, provider.Entry{Path: strconv.Itoa(i)})
		}
		return err
	})
	return all, err
}

// open opens the shard of an input.
func (o FormatOptions) open(ctx context.Context, in provider.Input, tempDir string) (*opened, error) {
	from, err := in.Stored(tempDir)
	if err != nil {
		return nil, err
	}
	s, end, err := o.openStored(ctx, in, from)
	if err != nil {
		return nil, errors.Join(err, from.Close())
	}
	return &opened{s, func() error { return errors.Join(end(), from.Close()) }}, nil
}

// opened is the shard of an input, and its bytes.
type opened struct {
	*Shard
	end func() error
}

// Close closes both.
func (s *opened) Close() error { return s.end() }

// with calls do with the shard of an input.
func (o FormatOptions) with(ctx context.Context, in provider.Input, do func(*Shard) error) error {
	s, err := o.open(ctx, in, "")
	if err != nil {
		return err
	}
	return errors.Join(do(s.Shard), s.Close())
}

// openFile opens a shard for the engine.
func (o FormatOptions) openFile(ctx context.Context, in provider.Input, from provider.Stored, ro provider.ReadOptions) (*tablefile.File, error) {
	s, end, err := o.openStored(ctx, in, from)
	if err != nil {
		return nil, err
	}
	if ro.Columns == nil {
		left, err := s.schema.Nameless()
		if err != nil {
			return nil, errors.Join(err, end())
		}
		for _, kind := range left {
			ro.Notice(fmt.Sprintf("column %q has no name, and is left out unless it is asked for", kind))
		}
	}
	so := o.Scan.options()
	so.Reuse, so.BatchRows = true, scan.DefaultBatchRows
	return &tablefile.File{Table: s.table, Grouped: true, Scan: so, Close: end, Prepare: func(ctx context.Context, so scan.Options) (_ scan.Options, err error) {
		if ro.Dictionaries && so.Strings == StringsAsRecorded {
			if so.Coded, err = s.recorded().Coded(ctx, so.Columns); err != nil {
				return so, err
			}
		}
		if so.Decimals64 == nil {
			so.Decimals64, err = s.table.Only(ctx, ro.Decimals64)
		}
		so.Lengths, so.AnyOrder = ro.Lengths, ro.AnyOrder
		return so, err
	}}, nil
}
