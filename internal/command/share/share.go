// Package share hands Arrow data to the process that has started this one through memory of both, which is several times as fast
// as a pipe. [Variable] names two file descriptors: an empty file in memory, and the readable end of a pipe. For the schema, and
// then for each batch, the command puts an IPC stream into the file and prints its place:
//
//	 0        8        16
//	┌────────┬────────┐
//	│ offset │ length │   little-endian; offsets are multiples of 2 MiB
//	└────────┴────────┘
//
// The other process answers through the pipe with numbers of 8 bytes: the offset, when it has taken the stream over, so that
// the command may make another one, and the offset plus one, when the bytes may be overwritten.
package share

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/table"
)

// Variable is the name of the environment variable with the descriptors, such as "3,4".
const Variable = "AMUDAI_SHARED_MEMORY"

// Memory is what two processes share.
type Memory struct {
	regions *regions
	places  io.Writer // where places are printed
}

// Open opens the descriptors that the value of the variable names.
func Open(variable string, places io.Writer) (*Memory, error) {
	data, returns, _ := strings.Cut(variable, ",")
	d, derr := strconv.ParseUint(data, 10, 31)
	r, rerr := strconv.ParseUint(returns, 10, 31)
	if derr != nil || rerr != nil {
		return nil, fmt.Errorf("%s=%s: not two numbers of files", Variable, variable)
	}
	f, p := os.NewFile(uintptr(d), "shared memory"), os.NewFile(uintptr(r), "returned memory")
	if f == nil || p == nil {
		return nil, fmt.Errorf("%s=%s: no such files", Variable, variable)
	}
	return New(f, p, places), nil
}

// New shares data. It reads returns until they end.
func New(data *os.File, returns io.Reader, places io.Writer) *Memory {
	m := &Memory{newRegions(data), places}
	go func() {
		var err error
		defer func() { m.regions.leave(err) }()
		defer fault.RecoverInternal(&err)
		err = m.regions.receive(returns)
	}()
	return m
}

// Create returns a sink of batches in a format, which is that of IPC streams.
func (m *Memory) Create(ctx context.Context, format table.Format, schema *arrow.Schema, o table.WriteOptions) (table.Sink, error) {
	s := &sink{m, format, schema, o}
	return s, s.share(ctx, nil)
}

type sink struct {
	*Memory
	format  table.Format
	schema  *arrow.Schema
	options table.WriteOptions
}

// Write implements [table.Sink].
func (s *sink) Write(ctx context.Context, batch arrow.RecordBatch) error { return s.share(ctx, batch) }

// Close implements [table.Sink].
func (s *sink) Close(ctx context.Context) error { return ctx.Err() }

// Abort implements [table.Sink].
func (s *sink) Abort(context.Context) error { return nil }

// share puts a stream with at most one batch into the shared memory.
func (s *sink) share(ctx context.Context, batch arrow.RecordBatch) error {
	var size counter
	if err := s.write(ctx, &size, batch); err != nil {
		return err
	}
	out, err := s.regions.take(ctx, int64(size))
	if err != nil {
		return err
	}
	if err := s.write(ctx, out, batch); err != nil {
		return err
	}
	place := binary.LittleEndian.AppendUint64(nil, uint64(out.offset))
	_, err = s.places.Write(binary.LittleEndian.AppendUint64(place, uint64(out.at)))
	return err
}

// write writes a whole stream.
func (s *sink) write(ctx context.Context, out table.Output, batch arrow.RecordBatch) error {
	stream, err := s.format.Create(ctx, out, s.schema, s.options)
	if err != nil {
		return err
	}
	if batch != nil {
		if err := stream.Write(ctx, batch); err != nil {
			return errors.Join(err, stream.Abort(context.WithoutCancel(ctx)))
		}
	}
	return stream.Close(ctx)
}

// counter is an output that counts bytes.
type counter int64

func (c *counter) Write(_ context.Context, p []byte) error {
	*c += counter(len(p))
	return nil
}
func (*counter) Publish(context.Context) error { return nil }
func (*counter) Abort(context.Context) error   { return nil }
