package main

import (
	"fmt"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// save writes the data set to an Arrow IPC file.
func (d *dataset) save(path string) error {
	return create(path, func(f *os.File) error {
		w, err := ipc.NewFileWriter(f, ipc.WithSchema(d.schema))
		if err != nil {
			return err
		}
		for _, b := range d.batches {
			if err := w.Write(b); err != nil {
				return err
			}
		}
		return w.Close()
	})
}

// mapIPC makes the data set that of an Arrow IPC file. The file stays mapped.
func (d *dataset) mapIPC(path string) error {
	content, err := mapFile(path)
	if err != nil {
		return err
	}
	r, err := ipc.NewMappedFileReader(content)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer r.Close()
	d.schema, d.batches = r.Schema(), make([]arrow.RecordBatch, r.NumRecords())
	for i := range d.batches {
		if d.batches[i], err = r.RecordBatchAt(i); err != nil {
			return fmt.Errorf("%s: batch %d: %w", path, i, err)
		}
	}
	return nil
}
