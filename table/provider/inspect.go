package provider

import (
	"context"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// VerifyOptions are the options of [Format.Verify]. The zero value is the default.
type VerifyOptions struct {
	MetadataOnly bool // does not read the data
	// Quick compares bytes with checksums, and decodes no values, in formats that can do this: those of Amudai shards. Others check all.
	Quick       bool
	MaxFindings int                   // problems after which the verification ends; default 100
	Parallelism int                   // parts that are checked at the same time; default GOMAXPROCS
	TempDir     string                // for a pipe; default os.TempDir
	Progress    func(done, total int) // called by one goroutine at a time; may be nil
}

// DefaultMaxFindings is the default of [VerifyOptions.MaxFindings].
const DefaultMaxFindings = 100

// Report is the outcome of a verification. Its errors name their places.
type Report struct {
	Problems  []error // damage and contradictions
	Notes     []error // harmless peculiarities, and parts without protection or that could not be checked
	Unchecked int     // notes about parts that could not be checked
	Truncated bool    // there may be more problems than VerifyOptions.MaxFindings
	Checked   []Count // the parts that were checked
}

// OK reports whether the file is sound: there are no problems, and everything that was asked for could be checked. If there are no problems
// either way, it is not fully checked.
func (r *Report) OK() bool { return len(r.Problems) == 0 && r.Unchecked == 0 }

// Number is the number of parts with a name of Checked that were checked.
func (r *Report) Number(name string) (n int64) {
	for _, c := range r.Checked {
		if c.Name == name {
			n += c.N
		}
	}
	return n
}

// Count is the number of parts of one kind.
type Count struct {
	Name string // of one part: "page"
	N    int64
}

// InspectOptions are the options of [Format.Inspect]. The zero value gives an overview.
type InspectOptions struct {
	Detail  int      // 0: an overview; higher levels, up to 3, add smaller parts
	Columns []string // paths of columns; nil means all
	Groups  []int    // numbers of groups of rows, such as row groups or clusters; nil means all
	Hex     bool     // adds the bytes and their meaning
	Stats   bool     // only the sizes of columns; with a Detail, everything that is recorded of each
	Nodes   bool     // the tree of all parts in place of lists, in formats that have one
	TempDir string   // for a pipe; default os.TempDir
}

// Outline is the structure of a file as facts and lists, in the order of the output.
type Outline struct {
	Facts []Fact
	Lists []List
	Bytes []Region // in the order of the files
	Nodes *Nodes   // the tree of all parts

	// Closer closes what Bytes and Nodes read. It is to be closed before the input, and may be nil.
	Closer io.Closer
}

// Fact is the value of the first fact of a name, or nil.
func (o *Outline) Fact(name string) any {
	for _, f := range o.Facts {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}

// AddFact adds a fact.
func (o *Outline) AddFact(name string, value any) {
	o.Facts = append(o.Facts, Fact{Name: name, Value: value})
}

// AddList begins a list, whose rows are added by the result.
func (o *Outline) AddList(name string, columns ...string) func(cells ...any) {
	o.Lists = append(o.Lists, List{Name: name, Columns: columns})
	at := len(o.Lists) - 1
	return func(cells ...any) { o.Lists[at].Rows = append(o.Lists[at].Rows, cells) }
}

// Fact is one property of a file. The value is a string, a bool, an int64 or another integer, a float64, an [Estimate], a [Share], or
// []Fact for numbers of several kinds.
type Fact struct {
	Name  string
	Value any
}

// Estimate is a number that is not exact.
type Estimate uint64

// Share is a part of a whole, from 0 to 1.
type Share float64

// ShareOf is a part of a number of bytes.
func ShareOf[T int64 | uint64](part, whole T) Share {
	return Share(float64(part) / float64(max(whole, 1)))
}

// List is a list of parts of one kind, with the same properties.
type List struct {
	Name    string   // "clusters"
	Columns []string // names of the properties
	Rows    [][]any  // values as those of facts, one for each column; nil for none
}

// Nodes are parts of one kind, which are read when they are asked for. Several goroutines may use them.
type Nodes struct {
	Kind string // "blocks"
	Len  int
	Read func(ctx context.Context, from, to int) ([]Node, error) // by number
}

// Node is a part with its own parts. What is damaged of it is among its facts, or a node.
type Node struct {
	Name  string // "block 0"
	Facts []Fact
	Parts func(ctx context.Context) (*Nodes, error) // nil for a part without any
}

// Region is a range of bytes of a file with one meaning.
type Region struct {
	File         string // the name of a file, if the input may have several
	Offset, Size int64
	Name         string
	// Dump reads the bytes. It is nil if they have no known structure, as in free space.
	Dump func(ctx context.Context) (Dump, error)
}

// Dump is the content of a region and the meaning of its parts.
type Dump struct {
	Data   []byte // the bytes of the region, the first of them, or their unpacked content
	Packed bool   // Data is unpacked: offsets are relative to its start, otherwise to the start of the file
	Parts  []Part
	Text   []string // lines about the bytes, which follow these
}

// Part is a part of the content of a region. Parts are in order. Parts within another one follow it, with a greater
// Depth.
type Part struct {
	Offset, Size int // in Data
	Depth        int
	Text         string // meaning and value: "entries 1000"
}

// Statistics are what a file records of its rows and columns. If rows are hidden, numbers of columns may be too large, and
// bounds are not known.
type Statistics struct {
	Rows    int64 // that a scan shows
	Hidden  int64 // others, such as deleted ones, which the statistics of columns include
	Columns []ColumnStatistics
}

// ColumnStatistics are what a file records of a column, or of a field in a struct. The arrays are garbage collected and
// need no Release.
type ColumnStatistics struct {
	Path string
	Type arrow.DataType // in the schema of a source

	Nulls    int64 // rows without a value, those of enclosing structs included; -1: not known
	NaNs     int64 // -1: not known; 0 for types that have none
	Distinct int64 // values, nulls excluded; -1: not known
	// DistinctEstimated means that Distinct is not exact.
	DistinctEstimated bool

	// Min and Max are bounds of the values that are neither null nor NaN: arrays of one value of Type, of its value type for
	// dictionaries and runs. Either is nil if it is not known, or if there are no such values.
	Min, Max arrow.Array
	// Exact means that Min and Max are values of the column. Otherwise all values may lie further inside, because a bound was
	// shortened, for example.
	Exact bool

	Bytes int64 // stored, the parts of nested columns included; -1: not known without further reads
}

// PlainType is the type of the bounds of a column: its type without dictionaries and runs.
func (c *ColumnStatistics) PlainType() arrow.DataType { return kinds.Decoded(c.Type) }
