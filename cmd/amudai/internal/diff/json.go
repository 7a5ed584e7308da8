package diff

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/table"
)

// JSON prints differences for programs, an object in a line for each:
//
//	{"kind":"column","change":"type","column":"n","old":"int32","new":"int64"}
//	{"kind":"storage","old":{"bytes":5000},"new":{"bytes":4000}}
//	{"kind":"storage","field":"n","old":{"bytes":90,"encodings":[{"name":"Delta","bytes":90}]},"new":{"bytes":80,"encodings":[{"name":"FFOR","bytes":80}]}}
//	{"kind":"changed","row":12,"old":{"n":1},"new":{"n":2}}
//	{"kind":"removed","key":{"id":7},"old":{"id":7,"n":3}}
//	{"kind":"summary","changed":1,"removed":1,"added":0,"equal":998,"duplicate_keys":0}
type JSON struct {
	Out   *bufio.Writer
	Keys  []string // names of the values of the key
	Limit int64    // most rows that are printed, negative for all

	columns table.DiffColumns
	rows    int64
	keys    int64 // that several rows have
	line    []byte
}

// Columns implements [Printer].
func (j *JSON) Columns(c table.DiffColumns) error {
	j.columns = c
	for _, column := range c.All {
		if !column.Changed {
			continue
		}
		j.begin("column")
		change := "type"
		switch {
		case column.New == nil:
			change = "removed"
		case column.Old == nil:
			change = "added"
		}
		j.member("change", change)
		j.member("column", column.Name)
		if column.Old != nil {
			j.member("old", text.Type(column.Old))
		}
		if column.New != nil {
			j.member("new", text.Type(column.New))
		}
		if change == "type" && column.Common == nil {
			j.member("compared", false)
		}
		if err := j.end(); err != nil {
			return err
		}
	}
	if c.Ordered {
		return nil
	}
	old, new := c.Orders()
	j.begin("column order")
	j.member("old", old)
	j.member("new", new)
	return j.end()
}

// storedJSON is what a table stores of a field, or of all.
type storedJSON struct {
	Bytes     int64          `json:"bytes"`
	Encodings []encodingJSON `json:"encodings,omitempty"`
}

type encodingJSON struct {
	Name  string `json:"name"`
	Bytes any    `json:"bytes"`
}

// Stored implements [Printer]. The first line is about all files, the others are fields that differ.
func (j *JSON) Stored(s *table.DiffStored) error {
	j.begin("storage")
	j.member("old", storedJSON{Bytes: s.Old})
	j.member("new", storedJSON{Bytes: s.New})
	if err := j.end(); err != nil {
		return err
	}
	for _, f := range s.Fields {
		if storedAlike(f.Old, f.New) {
			continue
		}
		j.begin("storage")
		j.member("field", cmp.Or(f.Old, f.New).Path)
		j.stored("old", f.Old)
		j.stored("new", f.New)
		if err := j.end(); err != nil {
			return err
		}
	}
	return nil
}

func (j *JSON) stored(name string, f *table.StoredField) {
	if f == nil {
		return
	}
	x := storedJSON{Bytes: f.Bytes}
	for _, e := range f.Encodings {
		x.Encodings = append(x.Encodings, encodingJSON{e.Name, e.Value})
	}
	j.member(name, x)
}

// Row implements [Printer].
func (j *JSON) Row(r table.DiffRow) error {
	if r.Kind == table.RowDuplicate {
		return j.duplicate(r)
	}
	if j.rows++; j.Limit >= 0 && j.rows > j.Limit {
		return nil
	}
	j.begin([]string{"changed", "removed", "added"}[r.Kind])
	row := r.Old
	if r.Kind == table.RowAdded {
		row = r.New
	}
	if r.Position >= 0 {
		j.member("row", r.Position)
	} else {
		j.object("key", j.Keys, row.Keys, row.Index)
	}
	j.values("old", r.Old, r.Columns)
	j.values("new", r.New, r.Columns)
	return j.end()
}

func (j *JSON) duplicate(r table.DiffRow) error {
	if j.keys++; j.Limit >= 0 && j.keys > j.Limit {
		return nil
	}
	row, inNew := second(r)
	j.begin("duplicate key")
	j.member("table", map[bool]string{false: "old", true: "new"}[inNew])
	j.object("key", j.Keys, row.Keys, row.Index)
	return j.end()
}

// Summary implements [Printer].
func (j *JSON) Summary(s table.DiffSummary, _ bool) error {
	j.begin("summary")
	j.member("changed", s.Changed)
	j.member("removed", s.Removed)
	j.member("added", s.Added)
	j.member("equal", s.Equal)
	j.member("duplicate_keys", s.DuplicateKeys)
	if err := j.end(); err != nil {
		return err
	}
	return j.Out.Flush()
}

// begin begins an object.
func (j *JSON) begin(kind string) {
	j.line = append(j.line[:0], '{')
	j.member("kind", kind)
}

// end prints the object.
func (j *JSON) end() error {
	_, err := fmt.Fprintf(j.Out, "%s}\n", j.line)
	return err
}

func (j *JSON) name(name string) {
	if last := j.line[len(j.line)-1]; last != '{' {
		j.line = append(j.line, ',')
	}
	j.line = appendJSON(j.line, name)
	j.line = append(j.line, ':')
}

func (j *JSON) member(name string, value any) {
	j.name(name)
	j.line = appendJSON(j.line, value)
}

// appendJSON appends a value that is always valid JSON: texts, numbers and lists of texts.
func appendJSON(dst []byte, value any) []byte {
	b, err := json.Marshal(value)
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, b...)
}

// values appends the values of a row: of some columns, or of all.
func (j *JSON) values(name string, row table.DiffValues, columns []int) {
	if row.Arrays == nil {
		return
	}
	n := len(row.Arrays)
	if columns != nil {
		n = len(columns)
	}
	var names []string
	var arrays []arrow.Array
	for i := range n {
		if columns != nil {
			i = columns[i]
		}
		if row.Arrays[i] != nil {
			names = append(names, j.columns.All[i].Name)
			arrays = append(arrays, row.Arrays[i])
		}
	}
	j.object(name, names, arrays, row.Index)
}

func (j *JSON) object(name string, names []string, arrays []arrow.Array, row int) {
	j.name(name)
	j.line = append(j.line, '{')
	for i, a := range arrays {
		j.name(names[i])
		j.line = values.JSON(a)(j.line, row)
	}
	j.line = append(j.line, '}')
}
