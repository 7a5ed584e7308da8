package main

import (
	"context"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// arrowFile is an Arrow IPC file with compressed buffers. It cannot read less
// than a whole batch, so that only scans are worth measuring.
type arrowFile struct {
	title string
	codec ipc.Option
}

func (k arrowFile) name() string { return k.title }

func (k arrowFile) can(_ *dataset, op string) bool {
	return op == opWrite || op == opScan || op == opOpen
}

func (k arrowFile) write(_ context.Context, path string, s *arrow.Schema, next source, _ int) error {
	return create(path, func(f *os.File) error {
		w, err := ipc.NewFileWriter(f, ipc.WithSchema(s), k.codec)
		if err != nil {
			return err
		}
		if err := next.each(w.Write); err != nil {
			return err
		}
		return w.Close()
	})
}

func (k arrowFile) read(ctx context.Context, path string, _ query, out *outcome) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := ipc.NewFileReader(f)
	if err != nil {
		return err
	}
	defer r.Close()
	for i := range r.NumRecords() {
		b, err := r.RecordBatchAt(i)
		if err != nil {
			return err
		}
		out.batch(b)
		b.Release()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
