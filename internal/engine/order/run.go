package order

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/tempfile"
)

const (
	runBatchBytes = 1 << 20 // about the size of a batch in a run
	mostRuns      = 64      // that are merged at a time
)

// temporary is a temporary file.
type temporary interface {
	io.Writer
	io.ReaderAt
	io.Closer // removes the file, too
}

func createTemp(dir string) (temporary, error) { return tempfile.Create(dir) }

// run is a sorted part of the rows in a temporary file: an Arrow IPC stream in frames. Its last column has the keys.
type run struct {
	file  temporary
	level int // 0, or how often it was merged
	rows  int64
	bytes int64
}

func (r *run) close() error { return r.file.Close() }

// open reads the run from its beginning.
func (r *run) open(mem memory.Allocator) (*ipc.Reader, error) {
	return ipc.NewReader(&frameReader{in: io.NewSectionReader(r.file, 0, r.bytes)}, ipc.WithAllocator(mem))
}

// runWriter writes a run.
type runWriter struct {
	run  *run
	out  *bufio.Writer
	ipc  *ipc.Writer
	mem  memory.Allocator
	kind *arrow.Schema // nil until it has rows
}

// createRun begins a run.
func (s *Sorter) createRun(level int) (*runWriter, error) {
	f, err := s.createTemp(s.o.TempDir)
	if err != nil {
		return nil, err
	}
	r := &run{file: f, level: level}
	return &runWriter{run: r, out: bufio.NewWriterSize(&frameWriter{run: r}, frameBytes), mem: s.o.Allocator}, nil
}

// write appends rows. The last column has the keys.
func (w *runWriter) write(columns []arrow.Array, rows int) error {
	if w.kind == nil {
		fields := make([]arrow.Field, len(columns))
		for i, c := range columns {
			fields[i] = arrow.Field{Name: fmt.Sprint(i), Type: c.DataType(), Nullable: true}
		}
		w.kind = arrow.NewSchema(fields, nil)
		w.ipc = ipc.NewWriter(w.out, ipc.WithSchema(w.kind), ipc.WithAllocator(w.mem))
	}
	batch := array.NewRecordBatch(w.kind, columns, int64(rows))
	defer batch.Release()
	if err := w.ipc.Write(batch); err != nil {
		return fmt.Errorf("temporary file: %w", err)
	}
	w.run.rows += int64(rows)
	return nil
}

// finish ends the run. It closes the file if it fails.
func (w *runWriter) finish() (*run, error) {
	err := w.out.Flush()
	if w.ipc != nil {
		err = errors.Join(w.ipc.Close(), w.out.Flush())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("temporary file: %w", err), w.run.close())
	}
	return w.run, nil
}

func (w *runWriter) abort() error { return w.run.close() }

// keyArray makes an array of the keys of rows.
func keyArray(mem memory.Allocator, k *Keys, rows []int64) arrow.Array {
	offsets := arrowutil.NewBuffer(mem, 8*(len(rows)+1))
	ends := arrowutil.As[int64](offsets.Bytes())
	ends[0] = 0
	for i, r := range rows {
		ends[i+1] = ends[i] + int64(len(k.Key(int(r))))
	}
	data := arrowutil.NewBuffer(mem, int(ends[len(rows)]))
	for i, r := range rows {
		copy(data.Bytes()[ends[i]:], k.Key(int(r)))
	}
	return arrowutil.Make(arrow.BinaryTypes.LargeBinary, len(rows), []*memory.Buffer{nil, offsets, data}, nil, 0)
}
