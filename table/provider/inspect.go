package provider

import "context"

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
	Hex     bool     // adds the bytes and their meaning; package shard dumps those of shards
	Stats   bool     // only the sizes of columns
	TempDir string   // for a pipe; default os.TempDir
}

// Outline is the structure of a file as facts and lists, in the order of the output.
type Outline struct {
	Facts []Fact
	Lists []List
	Bytes []Region // in the order of the file
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

// Fact is one property of a file. The value is a string, a bool, an int64 or another integer.
type Fact struct {
	Name  string
	Value any
}

// List is a list of parts of one kind, with the same properties.
type List struct {
	Name    string   // "clusters"
	Columns []string // names of the properties
	Rows    [][]any  // values as those of facts, one for each column; nil for none
}

// Region is a range of bytes of the file with one meaning.
type Region struct {
	Offset, Size int64
	Name         string
	// Dump reads the bytes. It is nil if they have no known structure, as in free space.
	Dump func(ctx context.Context) (Dump, error)
}

// Dump is the content of a region and the meaning of its parts.
type Dump struct {
	Data   []byte // the bytes of the region, or their unpacked content
	Packed bool   // Data is unpacked: offsets are relative to its start, otherwise to the start of the file
	Parts  []Part
}

// Part is a part of the content of a region. Parts are in order. Parts within another one follow it, with a greater
// Depth.
type Part struct {
	Offset, Size int // in Data
	Depth        int
	Text         string // meaning and value: "entries 1000"
}
