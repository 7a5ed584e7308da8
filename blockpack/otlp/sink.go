package otlp

import (
	"bufio"
	"context"
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/blockpack/internal/otlp"
	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/tablefile"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// sink writes spans as messages. Its owner publishes the output.
type sink struct {
	to     *storage.IOWriter
	w      *bufio.Writer // to
	append func(dst, msg []byte) ([]byte, error)
	spans  int // of a message
	rows   []int
	msg    []byte
	buf    []byte
}

func create(ctx context.Context, out provider.Output, schema *arrow.Schema, o FormatOptions, appendMessage func(dst, msg []byte) ([]byte, error)) (provider.Sink, error) {
	for _, f := range schema.Fields() {
		if _, err := spans.Of(f); err != nil {
			return nil, err
		}
	}
	to := &storage.IOWriter{Context: ctx, Writer: out}
	return tablefile.NewSink(&sink{to: to, w: bufio.NewWriterSize(to, 256<<10), append: appendMessage, spans: o.MessageSpans}, out), nil
}

// appendFrame appends a message behind its length.
func appendFrame(dst, msg []byte) ([]byte, error) {
	if int64(len(msg)) > math.MaxUint32 {
		return dst, fault.Limitf("a message of %d bytes", len(msg))
	}
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(msg))), msg...), nil
}

// appendLine appends a message as a line of JSON.
func appendLine(dst, msg []byte) ([]byte, error) {
	dst, err := AppendJSON(dst, msg)
	return append(dst, '\n'), err
}

func unknownFields(n int64) error {
	if n > 0 {
		return fault.Unsupportedf("fields that OTLP does not have, and JSON cannot hold: %d", n)
	}
	return nil
}

// Write implements [provider.Sink].
func (s *sink) Write(ctx context.Context, batch arrow.RecordBatch) error {
	s.to.Context = ctx
	n := int(batch.NumRows())
	e, err := otlp.NewEncoder(batch)
	if err != nil {
		return err
	}
	for from := 0; from < n; from += s.spans {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.rows = s.rows[:0]
		for row := from; row < min(from+s.spans, n); row++ {
			s.rows = append(s.rows, row)
		}
		if s.msg, err = e.Append(s.msg[:0], s.rows); err != nil {
			return err
		}
		if s.buf, err = s.append(s.buf[:0], s.msg); err != nil {
			return err
		}
		if _, err := s.w.Write(s.buf); err != nil {
			return err
		}
	}
	return nil
}

// Close implements [provider.Sink].
func (s *sink) Close(ctx context.Context) error {
	s.to.Context = ctx
	return s.w.Flush()
}

// Abort implements [provider.Sink].
func (s *sink) Abort(context.Context) error { return nil }
