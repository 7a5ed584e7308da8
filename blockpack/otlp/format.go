package otlp

import (
	"bytes"
	"cmp"
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/blockpack/internal/otlp"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/blockpack/internal/tempo"
	"github.com/amudai/amudai-go/blockpack/internal/wire"
	"github.com/amudai/amudai-go/table/provider"
)

func init() {
	provider.Register(New(FormatOptions{}))
	provider.Register(NewJSON(FormatOptions{}))
	provider.Register(NewTempo(FormatOptions{}))
}

// FormatOptions are those of [New], [NewJSON] and [NewTempo]. The zero value is the default.
type FormatOptions struct {
	Read ReadOptions
	// PadIDs accepts ids of traces and spans that are too short, and puts zeros in front. By default they are errors.
	PadIDs bool
	// Events reads events and links as lists of structs instead of binary.
	Events bool
	// MessageSpans is the number of spans of a message, or of a line of JSON, when writing; by default DefaultMessageSpans.
	MessageSpans int
}

// DefaultMessageSpans is the default of [FormatOptions.MessageSpans].
const DefaultMessageSpans = 1000

// New is the format of package provider for files of OTLP messages. It reads OTLP/JSON, too.
func New(o FormatOptions) provider.Format {
	f := format(o, appendFrame)
	f.Name, f.Title, f.Extensions = "otlp", "OTLP", []string{".otlp"}
	f.Sniff = sniff
	return f
}

// NewJSON is the format of package provider for OTLP/JSON. It reads files of OTLP messages, too.
func NewJSON(o FormatOptions) provider.Format {
	f := format(o, appendLine)
	f.Name, f.Title, f.Extensions, f.Text = "otlp-json", "OTLP/JSON", []string{".otlp.json", ".otlp.jsonl"}, true
	f.Sniff = func(head []byte) bool {
		return bytes.HasPrefix(skipSpace(bytes.TrimPrefix(head, bom)), []byte(`{"resourceSpans"`))
	}
	return f
}

// NewTempo is the format of package provider for blocks of Grafana Tempo in the formats vParquet4 and vParquet5, which can be read. The
// input is the file data.parquet. The file meta.json beside it names attributes, if the input has a location. Options about files of
// messages mean nothing here.
func NewTempo(o FormatOptions) provider.Format {
	return provider.Format{
		Name: "tempo", Title: "Tempo block", Sparse: true, Keys: []string{spans.TraceID},
		Folder: &provider.Folder{Data: tempo.DataFile, Mark: tempo.MetaFile}, Within: "parquet", Claims: tempo.IsBlockFile,
		Reader: func(ctx context.Context, in provider.Input, ro provider.ReadOptions) (provider.Source, error) {
			ro = ro.WithDefaults()
			names, err := tempo.ReadNames(ctx, in, ro.Warning)
			if err != nil {
				return nil, errors.Join(err, in.Close())
			}
			return newSource(ctx, in, ro, o, func(ctx context.Context, in provider.Input) (messageReader, error) {
				return tempo.Open(ctx, in, names, ro.Allocator)
			})
		},
	}
}

func format(o FormatOptions, appendMessage func(dst, msg []byte) ([]byte, error)) provider.Format {
	o.MessageSpans = cmp.Or(max(o.MessageSpans, 0), DefaultMessageSpans)
	return provider.Format{
		Sparse: true, Keys: []string{spans.TraceID},
		Reader: func(ctx context.Context, in provider.Input, ro provider.ReadOptions) (provider.Source, error) {
			ro = ro.WithDefaults()
			return newSource(ctx, in, ro, o, messagesOfFile(in, o.Read, ro.Warning))
		},
		Writer: func(ctx context.Context, out provider.Output, schema *arrow.Schema, _ provider.WriteOptions) (provider.Sink, error) {
			return create(ctx, out, schema, o, appendMessage)
		},
	}
}

// AppendTraces appends an encoded TracesData of rows of a batch of spans, all if rows is nil. Spans are grouped by resource and
// scope, in the order in which these appear first. The batch has the columns of a Blockpack file, of a source of this package, or
// some of them, of any Arrow type that holds their values; an error names a column that is no column of spans. After an error
// dst is as it was.
func AppendTraces(dst []byte, batch arrow.RecordBatch, rows []int) ([]byte, error) {
	return otlp.AppendTraces(dst, batch, rows)
}

// AppendJSON appends an encoded TracesData or ExportTraceServiceRequest as OTLP/JSON, without line breaks. Strings that are not
// UTF-8, and fields that OTLP does not have, are errors, because JSON would lose them.
func AppendJSON(dst, message []byte) ([]byte, error) {
	var j wire.JSON
	out, err := j.Append(dst, message, wire.TracesData)
	if err == nil {
		err = unknownFields(j.UnknownFields)
	}
	if err != nil {
		return dst, err
	}
	return out, nil
}
