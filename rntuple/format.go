package rntuple

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

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
			return tablefile.NewGroupedSink(w, out, w.CutCluster), nil
		},
		Tables: func(ctx context.Context, in provider.Input) ([]provider.Entry, error) {
			return withFile(ctx, in, "", func(f *rootfile.File) (list []provider.Entry, err error) {
				for _, i := range listFile(ctx, f) {
					list = append(list, provider.Entry{Path: i.Path, Err: i.Err})
				}
				return list, ctx.Err()
			})
		},
		Verify: func(ctx context.Context, in provider.Input, vo provider.VerifyOptions) (*provider.Report, error) {
			return withFile(ctx, in, vo.TempDir, func(f *rootfile.File) (*provider.Report, error) { return verify.File(ctx, f, in.Table, vo) })
		},
		Inspect: func(ctx context.Context, in provider.Input, io provider.InspectOptions) (*provider.Outline, error) {
			return withFile(ctx, in, io.TempDir, func(f *rootfile.File) (*provider.Outline, error) { return inspect.File(ctx, f, in.Table, io) })
		},
	})
}

// withFile is what do makes of the file of an input.
func withFile[T any](ctx context.Context, in provider.Input, tempDir string, do func(*rootfile.File) (T, error)) (out T, err error) {
	err = tablefile.WithReader(ctx, in, tempDir, func(r storage.Reader) error {
		f, err := rootfile.Open(ctx, read.Count(r))
		if err == nil {
			out, err = do(f)
		}
		return err
	})
	return out, err
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
