package blockpack

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/blockpack/internal/inspect"
	"github.com/amudai/amudai-go/blockpack/internal/layout"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/blockpack/internal/verify"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/tablefile"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

const fileExtension = ".blockpack"

func init() {
	provider.Register(New(FormatOptions{}))
	tablefile.OfBlockpack = func(f any) (table.Table, scan.Options) { return f.(*File).table, f.(*File).o.scan() }
}

// FormatOptions are those of [New]. The zero value is the default.
type FormatOptions struct {
	Read  Options       // Store must be nil
	Write WriterOptions // Store must be nil
}

// New is the format of package provider, with some options.
func New(o FormatOptions) provider.Format {
	magic := binary.LittleEndian.AppendUint32(nil, layout.Magic)
	return tablefile.Open(o.Read.openTable).Complete(provider.Format{
		Name: "blockpack", Title: "Blockpack", Extensions: []string{fileExtension},
		Sniff:  func(head []byte) bool { return bytes.HasPrefix(head, magic) },
		Sparse: true, Messages: true, Keys: []string{spans.TraceID},
		Writer: func(ctx context.Context, out provider.Output, _ *arrow.Schema, wo provider.WriteOptions) (provider.Sink, error) {
			w, err := NewWriter(ctx, &storage.IOWriter{Context: ctx, Writer: out}, o.Write)
			if err != nil {
				return nil, err
			}
			return messageSink{tablefile.NewSink(w, out), w, wo.Notice}, nil
		},
		Verify: func(ctx context.Context, in provider.Input, vo provider.VerifyOptions) (r *provider.Report, err error) {
			err = tablefile.WithReader(ctx, in, vo.TempDir, func(from storage.Reader) error {
				r, err = verify.File(ctx, from, vo)
				return err
			})
			return r, err
		},
		Inspect: func(ctx context.Context, in provider.Input, io provider.InspectOptions) (out *provider.Outline, err error) {
			if in.At != nil {
				in.Location = "" // dumps are read as long as the input is open
			}
			err = tablefile.WithReader(ctx, in, io.TempDir, func(from storage.Reader) error {
				out, err = inspect.File(ctx, from, io)
				return err
			})
			return out, err
		},
	})
}

// messageSink is a [provider.MessageSink].
type messageSink struct {
	provider.Sink
	w      *Writer
	notice func(string)
}

// WriteMessage implements [provider.MessageSink].
func (s messageSink) WriteMessage(ctx context.Context, message []byte) (int64, error) {
	before := s.w.builder.Stats().Spans
	err := s.w.WriteOTLP(ctx, message)
	return s.w.builder.Stats().Spans - before, err
}

// Close tells what no column keeps of messages.
func (s messageSink) Close(ctx context.Context) error {
	err := s.Sink.Close(ctx)
	if err == nil && s.notice != nil {
		s.w.builder.Stats().Tell(s.notice)
	}
	return err
}

// openTable opens a file as a table of the engine. Its blocks are too short to be kept together in copies.
func (o Options) openTable(ctx context.Context, _ provider.Input, from provider.Stored, _ provider.ReadOptions) (*tablefile.File, error) {
	o.Store = from.Store
	f, err := Open(ctx, from.Location, o)
	if err != nil {
		return nil, err
	}
	load := func(ctx context.Context, so scan.Options) (scan.Options, error) { return so, f.table.Load(ctx) }
	scans := o.scan()
	scans.Reuse = true
	return &tablefile.File{Table: f.table, Scan: scans, Prepare: load, Close: f.Close}, nil
}
