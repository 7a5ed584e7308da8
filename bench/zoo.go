package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/bench/zoo"
	"github.com/amudai/amudai-go/internal/bench/suite"
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

// valuesOf is the number of values of a column of texts.
func valuesOf(c config) int64 { return cmp.Or(c.rows, zoo.MaxValues) }

// makeZoo makes a column of package zoo, of as many values as were asked for, or all that it has.
func makeZoo(d *suite.Dataset, c config, name string) error {
	column, ok := zoo.Find(name)
	if !ok {
		return fmt.Errorf("the zoo has no column %q", name)
	}
	values, err := column.Make(zoo.Sources{Corpus: filepath.Join(c.shared, "corpus")}, int(valuesOf(c)))
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

// textQuestions are a whole value, the beginning of one and a part of one, each of the rarest of some values. They are left
// out if no value is long enough.
func textQuestions(d *suite.Dataset) (list []suite.Question) {
	values, name := d.Batches[len(d.Batches)/2].Column(0).(*array.String), d.Schema.Field(0).Name
	add := func(title, pattern string, needle func(v []rune) []rune, with func(string) cond) {
		if found := rarest(values, needle, with); found != "" {
			where := fmt.Sprintf(pattern, name, found)
			c := with(found)
			c.column = name
			byHand[where] = conds{c}
			list = append(list, suite.Question{Name: title, Where: where})
		}
	}
	add("=", "%s = '%s'", func(v []rune) []rune { return v }, func(s string) cond { return cond{equals: s} })
	add("prefix", "%s like '%s%%'", func(v []rune) []rune { return v[:min(len(v)/2, 12)] }, func(s string) cond { return cond{prefix: s} })
	add("contains", "%s like '%%%s%%'", func(v []rune) []rune { return v[len(v)/3:][:min(len(v)/2, 8)] }, func(s string) cond { return cond{contains: s} })
	return list
}

// candidates is the number of values from which a needle is taken.
const candidates = 64

// rarest is the needle in the fewest values, "" if there is none.
func rarest(values *array.String, needle func(v []rune) []rune, with func(string) cond) (found string) {
	fewest := values.Len() + 1
	for i := 0; i < values.Len(); i += 1 + values.Len()/candidates {
		s := string(needle([]rune(values.Value(i))))
		if values.IsNull(i) || len(s) < 3 || strings.ContainsAny(s, "'%_\\\n\t\"") {
			continue
		}
		keep, n := make([]bool, values.Len()), 0
		for k := range keep {
			keep[k] = true
		}
		with(s).keep(values, keep)
		for _, k := range keep {
			if k {
				n++
			}
		}
		if n < fewest {
			found, fewest = s, n
		}
	}
	return found
}
