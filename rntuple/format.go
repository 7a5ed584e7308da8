package rntuple

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/tablefile"
	"github.com/amudai/amudai-go/rntuple/internal/fields"
	"github.com/amudai/amudai-go/rntuple/internal/inspect"
	"github.com/amudai/amudai-go/rntuple/internal/read"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/rntuple/internal/tree"
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

// Options are those of reading. The zero value is the default.
type Options struct {
	// Binary reads std::string as binary. By default it is a string, and a value that is not
	// UTF-8 is an error.
	Binary bool
	// LargeOffsets gives strings, binaries and lists 64-bit offsets.
	LargeOffsets bool
	// VariantsAsStructs reads std::variant as a struct of the number of the active alternative,
	// "tag", and the alternatives "_0", "_1", ..., null but for the active one. Otherwise it
	// is a dense union with the tag as type code, where 0 is a variant without a value.
	VariantsAsStructs bool
	// NoProjected leaves out projected fields, which show the values of other fields again.
	NoProjected bool
	// NoArrowTypes reads fields that were written from Arrow types which RNTuple lacks, such as
	// timestamps, as what they are stored as. By default descriptions that name the Arrow type
	// give it back.
	NoArrowTypes bool
	// BaseClasses reads base classes as fields of their own, named ":_0", ":_1", as they are stored. By default their members
	// stand in their place, unless two members have the same name.
	BaseClasses bool
	// NoPageChecksums trusts pages without comparing their checksums.
	NoPageChecksums bool
	// CacheBytes bounds the decoded pages that are kept for the next batch, by default 64 MiB.
	CacheBytes int64
	// Parallelism is the number of fields that are decoded at the same time, in the current batch and in later ones, by
	// default GOMAXPROCS.
	Parallelism int
	// MemoryLimit bounds the bytes that a scan holds: as many entries of a cluster as fit in are decoded at a time, and batches
	// are cut from them, so that a page is unpacked once, or as often as the cluster has parts. Bytes that are read ahead
	// count, too, and one entry is always allowed; by default 512 MiB.
	MemoryLimit int64
}

func (o *Options) read() read.Options {
	return read.Options{
		Fields:  fields.Options{Binary: o.Binary, LargeOffsets: o.LargeOffsets, VariantStructs: o.VariantsAsStructs, NoProjected: o.NoProjected, NoArrowTypes: o.NoArrowTypes, BaseClasses: o.BaseClasses},
		Trusted: o.NoPageChecksums, CacheBytes: o.CacheBytes,
	}
}

const fileExtension = ".root"

// New is the format of package provider, with some options. The tables of a file are its ntuples, by their paths in its directories, and their
// attribute sets: "dir/Events" and "dir/Events:calibration".
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
			return withFile(ctx, in, "", func(f *rootfile.File) ([]provider.Entry, error) { return list(ctx, f), ctx.Err() })
		},
		Verify: func(ctx context.Context, in provider.Input, vo provider.VerifyOptions) (*provider.Report, error) {
			return withFile(ctx, in, vo.TempDir, func(f *rootfile.File) (*provider.Report, error) { return verify.File(ctx, f, in.Table, vo) })
		},
		Inspect: func(ctx context.Context, in provider.Input, io provider.InspectOptions) (*provider.Outline, error) {
			return withFile(ctx, in, io.TempDir, func(f *rootfile.File) (*provider.Outline, error) { return inspect.File(ctx, f, in.Table, io) })
		},
	})
}

// list lists the ntuples of a file, in all directories, their attribute sets, and the trees. Of ntuples that cannot be read it says why.
func list(ctx context.Context, f *rootfile.File) (all []provider.Entry) {
	for _, object := range f.NTuples() {
		path := object.Path()
		l, err := read.List(ctx, f, object)
		if err == nil {
			err = l.Err
		}
		if all = append(all, provider.Entry{Path: path, Err: err}); err != nil {
			continue
		}
		for _, a := range l.Footer.Attributes {
			all = append(all, provider.Entry{Path: read.AttributePath(path, a.Name)})
		}
	}
	for _, object := range f.Trees() {
		all = append(all, provider.Entry{Path: object.Path()})
	}
	return all
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

// openTable opens an ntuple or a tree as a table of the engine.
func (o Options) openTable(ctx context.Context, in provider.Input, from provider.Stored, ro provider.ReadOptions) (*tablefile.File, error) {
	r, err := from.Store.Open(ctx, from.Location)
	if err != nil {
		return nil, err
	}
	out, err := o.openIn(ctx, r, in, ro.WithDefaults())
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	out.Grouped, out.Close = true, r.Close
	out.Scan = scan.Options{Reuse: true, Parallelism: o.Parallelism, MemoryLimit: o.MemoryLimit}
	return out, nil
}

func (o Options) openIn(ctx context.Context, r storage.Reader, in provider.Input, ro provider.ReadOptions) (*tablefile.File, error) {
	f, err := rootfile.Open(ctx, read.Count(r))
	if err != nil {
		return nil, err
	}
	if object, ok := f.FindTree(in.Table); ok {
		t, err := tree.Open(ctx, f, object, tree.Options{Binary: o.Binary, CacheBytes: o.CacheBytes})
		if err != nil {
			return nil, err
		}
		for _, branch := range t.Skipped() {
			ro.Warning(fmt.Sprintf("%s: branch %q is left out: %s", in.Name, branch.Name, branch.Reason))
		}
		return &tablefile.File{Table: t, Prepare: t.Prepare}, nil
	}
	t, err := read.Open(ctx, f, in.Table, o.read())
	if err != nil {
		return nil, err
	}
	for _, f := range t.Skipped() {
		ro.Warning(fmt.Sprintf("%s: field %q is left out: %s", in.Name, f.Name, f.Reason))
	}
	for _, a := range t.Footer().Attributes {
		ro.Notice(fmt.Sprintf("%s: the attribute set %q is a table of its own, %s", in.Name, a.Name, read.AttributePath(t.Path(), a.Name)))
	}
	if in.Table == "" {
		for _, object := range f.Trees() {
			ro.Notice(fmt.Sprintf("%s: the tree %q is a table of its own", in.Name, object.Path()))
		}
	}
	return &tablefile.File{Table: t, Prepare: t.Prepare}, nil
}
