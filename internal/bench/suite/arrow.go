package suite

import (
	"context"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/amudai/amudai-go/internal/bench/measure"
)

// ArrowFile is an Arrow IPC file, whose buffers are compressed if the options say so. It reads whole batches only, so that
// only scans are measured.
type ArrowFile struct {
	Title   string
	Options []ipc.Option
}

// Name implements [Contender].
func (k ArrowFile) Name() string { return k.Title }

// Can implements [Contender].
func (k ArrowFile) Can(d *Dataset, op string) bool {
	return d.Times <= 1 && (op == measure.OpWrite || op == measure.OpScan || op == measure.OpOpen || measure.IsPeak(op))
}

// Write implements [Contender].
func (k ArrowFile) Write(_ context.Context, path string, s *arrow.Schema, next Source, _ int) error {
	return Create(path, func(f *os.File) error {
		w, err := ipc.NewFileWriter(f, append([]ipc.Option{ipc.WithSchema(s)}, k.Options...)...)
		if err != nil {
			return err
		}
		if err := next.Each(w.Write); err != nil {
			return err
		}
		return w.Close()
	})
}

// Read implements [Contender].
func (k ArrowFile) Read(ctx context.Context, path string, _ Query, out *Outcome) error {
	return openArrow(path, func(r *ipc.FileReader) error {
		for i := range r.NumRecords() {
			b, err := r.RecordBatchAt(i)
			if err != nil {
				return err
			}
			out.Batch(b)
			b.Release()
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
}

// openArrow calls f with the reader of an Arrow IPC file.
func openArrow(path string, f func(*ipc.FileReader) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r, err := ipc.NewFileReader(file)
	if err != nil {
		return err
	}
	defer r.Close()
	return f(r)
}
