// Package arrowipc reads and writes Arrow IPC files and streams. What is read is
// checked: arrow-go's reader trusts its input.
package arrowipc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/ipccheck"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/table/provider"
)

// Format is the Arrow IPC file format. When reading, a stream under the same name
// is understood too.
var Format = provider.Format{
	Name: "arrow", Title: "Arrow IPC file", Extensions: []string{".arrow", ".feather", ".ipc"},
	Sniff: func(head []byte) bool { return bytes.HasPrefix(head, fileMagic) }, Certain: true,
	Reader: open, Writer: createFile,
}

// Stream is the Arrow IPC stream format.
var Stream = provider.Format{
	Name: "arrows", Title: "Arrow IPC stream", Extensions: []string{".arrows"},
	Sniff: func(head []byte) bool { return bytes.HasPrefix(head, streamStart) }, Doubtful: true,
	Reader: open, Writer: createStream,
}

var (
	fileMagic   = []byte("ARROW1")
	streamStart = []byte{0xff, 0xff, 0xff, 0xff}
)

func init() {
	provider.Register(Format)
	provider.Register(Stream)
}

// Limits of one message of an IPC file or stream. Batches are held as a whole.
const (
	maxArrowMetadata = 256 << 20
	maxArrowBody     = 4 << 30
)

// open distinguishes files from streams by their first bytes.
func open(_ context.Context, in provider.Input, o provider.ReadOptions) (src provider.Source, err error) {
	defer func() {
		if err != nil {
			in.Close()
		}
	}()
	o = o.WithDefaults()
	head := make([]byte, 8)
	n, err := io.ReadFull(in.Reader, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, err
	}
	if n == 0 {
		return nil, fmt.Errorf("%s is empty: not an Arrow IPC file or stream", in.Name)
	}
	rest := io.MultiReader(bytes.NewReader(head[:n]), in.Reader)
	if bytes.HasPrefix(head[:n], fileMagic) {
		return openFile(in, rest, o)
	}
	if !bytes.HasPrefix(head[:n], streamStart) {
		// Streams before Arrow 0.15 begin with the length of the schema.
		if first := binary.LittleEndian.Uint32(head); n < 8 || first > maxArrowMetadata || in.Size >= 0 && int64(first) > in.Size {
			return nil, fmt.Errorf("%s is not an Arrow IPC file or stream: it starts with %q", in.Name, head[:n])
		}
	}
	return openStream(in, rest, o)
}

// source reads batches one after the other.
type source struct {
	in     provider.Input
	wanted *provider.Projection
	read   func(i int) (arrow.RecordBatch, error) // none at the end; the caller releases it
	close  func() error
	count  int // of batches; -1: not known
	next   int
	rows   int64
}

// openFile reads the batches of a file by number.
func openFile(in provider.Input, rest io.Reader, o provider.ReadOptions) (provider.Source, error) {
	var temp *provider.Spooled
	at, size := in.At, in.Size
	if at == nil || size < 0 {
		var err error
		if temp, err = provider.Spool(rest, o.TempDir); err != nil {
			return nil, err
		}
		at, size = temp, temp.Size()
	}
	s := &source{in: in}
	var r *ipc.FileReader
	err := ipccheck.File(at, size)
	if err == nil {
		err = guard(func() (err error) {
			r, err = ipc.NewFileReader(io.NewSectionReader(at, 0, size), ipc.WithAllocator(o.Allocator),
				ipc.WithMetadataSizeLimit(min(size, maxArrowMetadata)), ipc.WithBodySizeLimit(min(size, maxArrowBody)))
			if err == nil {
				s.count = r.NumRecords()
			}
			return err
		})
	}
	if err == nil {
		s.wanted, err = provider.Project(r.Schema(), o.Columns)
	}
	if err != nil {
		temp.Close()
		return nil, fmt.Errorf("%w in %s", err, in.Name)
	}
	s.read = func(i int) (arrow.RecordBatch, error) {
		if i == s.count {
			return nil, nil
		}
		return r.RecordBatchAt(i)
	}
	s.close = func() error { return errors.Join(guard(r.Close), temp.Close()) }
	return s, nil
}

// guard turns a panic of a reader on bad bytes into an error.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("invalid data: %v", r)
		}
	}()
	return f()
}

// plainly removes the text that arrow-go adds to an error of package fault.
func plainly(err error) error {
	if !errors.Is(err, fault.ErrCorrupt) && !errors.Is(err, fault.ErrLimit) {
		return err
	}
	for inner := errors.Unwrap(err); inner != nil && (errors.Is(inner, fault.ErrCorrupt) || errors.Is(inner, fault.ErrLimit)); inner = errors.Unwrap(inner) {
		err = inner
	}
	return err
}

// checked returns the requested columns of a batch, and checks that their buffers are complete, which arrow-go's
// reader does not.
func checked(batch arrow.RecordBatch, wanted *provider.Projection) (out arrow.RecordBatch, err error) {
	err = guard(func() error {
		columns := make([]arrow.Array, wanted.NumColumns())
		for k := range columns {
			name := batch.ColumnName(wanted.Index(k))
			columns[k] = mended(batch.Column(wanted.Index(k)))
			if err := arrowutil.ValidateFull(columns[k]); err != nil {
				return fmt.Errorf("invalid data in column %q: %w", name, err)
			}
			if int64(columns[k].Len()) != batch.NumRows() {
				return fmt.Errorf("column %q has %d rows, its batch has %d", name, columns[k].Len(), batch.NumRows())
			}
		}
		out, err = wanted.Batch(columns, batch.NumRows())
		return err
	})
	return out, err
}

// mended returns an array whose null arrays have the empty buffer that arrow-go's check requires and its reader
// omits.
func mended(a arrow.Array) arrow.Array {
	if !kinds.HasID(a.DataType(), arrow.NULL) {
		return a
	}
	return array.MakeFromData(mendedData(a.Data()))
}

func mendedData(d arrow.ArrayData) arrow.ArrayData {
	buffers := d.Buffers()
	if d.DataType().ID() == arrow.NULL && len(buffers) == 0 {
		buffers = []*memory.Buffer{nil}
	}
	children := make([]arrow.ArrayData, len(d.Children()))
	for i, c := range d.Children() {
		children[i] = mendedData(c)
	}
	out := array.NewData(d.DataType(), d.Len(), buffers, children, d.NullN(), d.Offset())
	if dict, ok := d.Dictionary().(*array.Data); ok && dict != nil {
		out.SetDictionary(mendedData(dict))
	}
	return out
}

func openStream(in provider.Input, from io.Reader, o provider.ReadOptions) (provider.Source, error) {
	s := &source{in: in, count: -1}
	most := int64(maxArrowBody)
	if in.Size >= 0 {
		most = min(most, in.Size)
	}
	var r *ipc.Reader
	err := guard(func() (err error) {
		// ipc.NewReader would not pass the limits on.
		messages := ipc.NewMessageReader(ipccheck.Stream(from), ipc.WithAllocator(o.Allocator),
			ipc.WithMetadataSizeLimit(min(most, maxArrowMetadata)), ipc.WithBodySizeLimit(most))
		r, err = ipc.NewReaderFromMessageReader(messages, ipc.WithAllocator(o.Allocator))
		return err
	})
	if err == nil {
		s.wanted, err = provider.Project(r.Schema(), o.Columns)
	}
	if err != nil {
		return nil, fmt.Errorf("%w in %s", plainly(err), in.Name)
	}
	s.read = func(int) (arrow.RecordBatch, error) {
		if !r.Next() {
			return nil, plainly(r.Err())
		}
		r.RecordBatch().Retain() // the reader releases its own reference at the next step
		return r.RecordBatch(), nil
	}
	s.close = func() error { r.Release(); return nil }
	return s, nil
}

func (s *source) Schema() *arrow.Schema { return s.wanted.Schema() }

// Rows implements [provider.Source]. A file does not record the number.
func (s *source) Rows() (int64, bool) {
	if s.next == 0 || s.count < 0 {
		return 0, s.count == 0
	}
	return s.rows * int64(s.count) / int64(s.next), true
}

// Next implements [provider.Source]. Batches are those of the input, without empty ones.
func (s *source) Next(ctx context.Context) (arrow.RecordBatch, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var batch, out arrow.RecordBatch
		err := guard(func() (err error) { batch, err = s.read(s.next); return err })
		if err == nil && batch == nil {
			return nil, nil
		}
		if err == nil {
			s.rows += batch.NumRows()
			out, err = checked(batch, s.wanted)
			batch.Release()
		}
		if err != nil {
			return nil, fmt.Errorf("batch %d: %w in %s", s.next, err, s.in.Name)
		}
		s.next++
		if out.NumRows() > 0 {
			return out, nil
		}
		out.Release()
	}
}

func (s *source) Close() error { return errors.Join(s.close(), s.in.Close()) }
