package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/bench/suite"
	"github.com/amudai/amudai-go/internal/bench/zoo"
)

// zooPrefix begins the names of data sets of a single column of texts of package zoo.
const zooPrefix = "zoo/"

// zooSets are the data sets of some columns of package zoo.
func zooSets(columns []zoo.Column) (names []string) {
	for _, c := range columns {
		names = append(names, zooPrefix+c.Name)
	}
	return names
}

// makeZoo makes a column of package zoo, of as many values as were asked for, or all that it has.
func makeZoo(d *suite.Dataset, c config, name string) error {
	column, ok := zoo.Find(name)
	if !ok {
		return fmt.Errorf("the zoo has no column %q", name)
	}
	values, err := column.Make(zoo.Sources{Corpus: filepath.Join(c.shared, "corpus")}, int(cmp.Or(c.rows, zoo.MaxValues)))
	if err != nil {
		return err
	}
	d.Schema = arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String, Nullable: values.NullN() > 0}}, nil)
	whole := array.NewRecordBatch(d.Schema, []arrow.Array{values}, int64(values.Len()))
	d.Batches = nil
	for from := int64(0); from < whole.NumRows(); from += suite.BatchRows {
		d.Batches = append(d.Batches, whole.NewSlice(from, min(from+suite.BatchRows, whole.NumRows())))
	}
	return nil
}

// dumpZoo writes the columns of the zoo that are not held out to a folder, as Arrow IPC files.
func dumpZoo(c config, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, column := range zoo.Tuned() {
		d := &suite.Dataset{Name: column.Name}
		if err := makeZoo(d, c, column.Name); err != nil {
			return err
		}
		if err := d.Save(filepath.Join(dir, column.Name+".arrow")); err != nil {
			return err
		}
	}
	return nil
}
