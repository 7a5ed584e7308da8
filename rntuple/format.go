package rntuple

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/rowio"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/tablefile"
	"github.com/amudai/amudai-go/rntuple/internal/inspect"
	"github.com/amudai/amudai-go/rntuple/internal/read"
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
	return tablefile.Open(o.Read.openTable).Complete(provider.Format{
		Name: "rntuple", Title: "RNTuple", Extensions: []string{fileExtension},
		Sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte("root")) },
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
	})
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
	return tablefile.WithReader(ctx, in, tempDir, func(r storage.Reader) error {
		f, err := rootfile.Open(ctx, read.Count(r))
		if err != nil {
			return err
		}
		return do(f)
	})
}

// openTable opens an ntuple as a table of the engine.
func (o Options) openTable(ctx context.Context, in provider.Input, from provider.Stored, ro provider.ReadOptions) (*tablefile.File, error) {
	file, reader, err := openFile(ctx, from.Location, from.Store)
	if err != nil {
		return nil, err
	}
	o.Path = cmp.Or(in.Table, o.Path)
	n, err := fromFile(ctx, file, reader, o)
	if err != nil {
		return nil, err
	}
	for _, f := range n.Skipped() {
		ro.Warning(fmt.Sprintf("%s: field %q is left out: %s", in.Name, f.Field, f.Reason))
	}
	return &tablefile.File{Table: n.table, Grouped: true, Scan: scan.Options{Reuse: true}, Prepare: n.prepare, Close: n.Close}, nil
}
