package suite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// Dataset is a table in memory outside of Go's heap, so that the garbage collector works as in
// a program that holds only the data that it writes or reads.
type Dataset struct {
	Name      string
	Schema    *arrow.Schema
	Batches   []arrow.RecordBatch
	Rows      int64
	Project   []string // columns of the projection that is measured
	Questions []Question
	Wide      bool // very many columns: scans are not measured
	Text      bool // a column of texts: there is nothing to project
	Times     int  // if above 1, the batches are repeated, and only peaks are measured
	path      string
}

// Question selects rows of a data set.
type Question struct {
	Name  string
	Where string // the text of a filter
	Count bool   // measure counting, too
	Rows  int64  // number of matches, 0 if it is not known
}

// Map replaces the data set by that of an Arrow IPC file. The file stays mapped, and other
// processes read it. Data with dictionaries is in Go's heap, because arrow-go does not map it.
func (d *Dataset) Map(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := ipc.NewFileReader(f)
	if err == nil && !slices.ContainsFunc(r.Schema().Fields(), func(f arrow.Field) bool { return kinds.HasID(f.Type, arrow.DICTIONARY) }) {
		r.Close()
		var content []byte
		if content, err = mapFile(f); err == nil {
			r, err = ipc.NewMappedFileReader(content)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer r.Close()
	d.path, d.Rows = path, 0
	d.Schema, d.Batches = r.Schema(), make([]arrow.RecordBatch, r.NumRecords())
	for i := range d.Batches {
		if d.Batches[i], err = r.RecordBatchAt(i); err != nil {
			return fmt.Errorf("%s: batch %d: %w", path, i, err)
		}
		d.Rows += d.Batches[i].NumRows()
	}
	return nil
}

// Save writes the data set to an Arrow IPC file.
func (d *Dataset) Save(path string) error {
	return d.Write(context.Background(), ArrowFile{}, path, 1)
}

// Cut keeps only the first rows.
func (d *Dataset) Cut(rows int64) {
	if rows >= d.Rows {
		return
	}
	d.Rows, d.path = rows, "" // the file has more
	for i, b := range d.Batches {
		if rows <= b.NumRows() {
			d.Batches[i] = b.NewSlice(0, rows)
			d.Batches = d.Batches[:i+1]
			return
		}
		rows -= b.NumRows()
	}
}

// Input is an Arrow file of the data set, for other processes to read.
func (d *Dataset) Input(dir string) (string, error) {
	if d.path != "" {
		return d.path, nil
	}
	path := filepath.Join(dir, "input.arrow")
	err := d.Save(path)
	if err == nil {
		d.path = path
	}
	return path, err
}

// takeRows is the number of rows of a take.
const takeRows = 1000

// randomRows are different rows of the data set, the same in every run.
func (d *Dataset) randomRows() []int64 {
	rnd := rand.New(rand.NewPCG(1000, 7))
	rows := make([]int64, 0, takeRows)
	for len(rows) < takeRows && int64(len(rows)) < (d.Rows+1)/2 {
		row := rnd.Int64N(d.Rows)
		if at, found := slices.BinarySearch(rows, row); !found {
			rows = slices.Insert(rows, at, row)
		}
	}
	return rows
}
