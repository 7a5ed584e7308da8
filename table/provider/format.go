package provider

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/scan"
)

// Explanation describes how a scan finds its rows. Its String method is a page of text.
type Explanation = scan.Explanation

// ExplainOptions are the options of [Format.Explain]. The zero value explains a scan of everything.
type ExplainOptions struct {
	Columns []string // as in [ReadOptions]
	Filter  filter.Expr
	Limit   int64 // maximum number of rows; 0 for all
	Run     bool  // runs the scan, and describes its work, too
}

// Format reads and writes tables in one file format with certain options. Packages of formats have functions that
// return it.
type Format struct {
	Name       string   // for options: "csv"
	Title      string   // for texts: "CSV"
	Extensions []string // with the dot, in lower case

	// Sniff reports whether bytes that start with head are of this format. It is nil if the first bytes do not show
	// the format. Sixteen bytes suffice, but for tables of text: these need SniffBytes, or the whole of a shorter input.
	Sniff func(head []byte) bool
	// SniffLast is set if Sniff accepts the beginning of other formats, too, as that of JSON does. These are asked first.
	SniffLast bool

	// Reader and Writer implement [Format.Open] and [Format.Create]. Either may be nil. Reader applies Columns, by
	// [Project] unless the format has a projection of its own. It applies Schema only if Casts is set, Filter only if
	// Filters is set, and Rows only if Ranges is set: otherwise Open does. Open also enforces Limit.
	Reader func(ctx context.Context, in Input, o ReadOptions) (Source, error)
	Writer func(ctx context.Context, out Output, schema *arrow.Schema, o WriteOptions) (Sink, error)

	Casts   bool
	Filters bool
	Ranges  bool

	// Text means that a file is text for people, too, and Prose that it may be text without a table, such as a log: in folders
	// it is left out if there are other tables. Inferred means that types of columns come from a sample of their texts, so that
	// any column can be read as text.
	Text, Prose, Inferred bool
	// Certain means that no text begins with bytes that Sniff accepts, and Doubtful that other binary files may, so that a search takes a
	// file that it finds in a folder for this format only by its name.
	Certain, Doubtful bool

	// Parts are the ends of the names of files that belong to an input, which reads them. They are no inputs themselves.
	Parts []string
	// Folder has the names of files of a folder that is one input: the first is the input, the other one marks the folder.
	// It may be nil.
	Folder *Folder
	// Within is the name of the format of which files are as containers, and Claims reports whether one of these is of this
	// format; the error is one of reading. It does not close the input.
	Within string
	Claims func(ctx context.Context, in Input) (bool, error)

	// ExactRows means that sources know the number of their rows from the start, unless there is a filter. Others estimate it.
	ExactRows bool

	// KeepsBatches means that a sink uses batches after Write, so that their memory cannot be reused.
	KeepsBatches bool
	// Recovers means that what is undamaged of a file can be saved.
	Recovers bool

	// Sparse means that a file has the columns that have values in it, as attributes of spans are. A column that is
	// missing in one of several files is null there. Keys are the columns whose values rows are looked up by, such as the
	// id of a trace; a copy in a format with indexes may index them.
	Sparse bool
	// Messages means that what writes files of the format is a [MessageSink].
	Messages bool
	Keys     []string

	// Tables lists the tables of an input, of which Input.Table chooses one. It is nil for
	// formats of one table.
	Tables func(ctx context.Context, in Input) ([]Entry, error)

	// Verify checks an input for damage and contradictions. A damaged file is a report with
	// problems; an error means that the verification is incomplete. Inspect describes how an
	// input is built. Input.Table restricts both to a table. Either may be nil. The input stays
	// the caller's.
	Verify  func(ctx context.Context, in Input, o VerifyOptions) (*Report, error)
	Inspect func(ctx context.Context, in Input, o InspectOptions) (*Outline, error)

	// Statistics returns what a file records of the columns at paths, without reading their values; nil means all columns of which it
	// records something, and an empty list only the number of rows. The result has a column for each path, in order. With a path that names no column, it fails. The result is nil if the
	// input records nothing, or is a pipe, of which nothing is consumed. The input stays the caller's. Statistics may be nil.
	Statistics func(ctx context.Context, in Input, columns []string) (*Statistics, error)

	// Explain describes how a format that filters finds its rows. The input has a location. It may be nil.
	Explain func(ctx context.Context, in Input, o ExplainOptions) (*Explanation, error)
}

// SniffBytes is the number of first bytes that [Format.Sniff] looks at.
const SniffBytes = 32 << 10

// Folder is a folder that is one input of a format.
type Folder struct {
	Data string // name of the file that is the input
	Mark string // name of a file that such a folder has, too
}

// Entry is a table of an input that may hold several.
type Entry struct {
	Path string // its name for Input.Table
	Err  error  // the reason why it cannot be read, or nil
}

// Open opens an input for reading. The source closes the input. If Open fails, Open does.
func (f Format) Open(ctx context.Context, in Input, o ReadOptions) (Source, error) {
	if f.Reader == nil {
		return nil, errors.Join(fmt.Errorf("%s cannot be read", f.Title), in.Close())
	}
	if o.Choose != nil && (!f.Filters || f.castsLate(o)) {
		return f.openAll(ctx, in, o)
	}
	asked := o
	o.Columns = f.readColumns(o)
	read := o
	if f.filtersLate(o) {
		read.Filter = filter.Expr{}
	}
	if f.filtersLate(o) || f.skipsLate(o) {
		read.Limit = 0
	}
	src, err := f.Reader(ctx, in.whole(), read)
	if err != nil {
		return nil, err
	}
	if f.skipsLate(o) {
		src = newRowSource(src, o.Rows)
	}
	if f.castsLate(o) {
		src, err = newCastSource(src, in.Name, o)
	}
	if err == nil && (f.castsLate(o) || f.filtersLate(o)) {
		if !f.filtersLate(o) {
			asked.Filter = filter.Expr{}
		}
		src, err = Select(src, in.Name, asked)
	}
	if err != nil {
		return nil, err
	}
	return Limit(src, o.Limit), nil
}

// openAll opens all columns of an input, and chooses among them then.
func (f Format) openAll(ctx context.Context, in Input, o ReadOptions) (Source, error) {
	all := o
	all.Choose, all.Columns, all.Filter, all.Limit = nil, nil, filter.Expr{}, 0
	src, err := f.Open(ctx, in, all)
	if err != nil {
		return nil, err
	}
	if o, err = o.Chosen(src.Schema()); err != nil {
		return nil, errors.Join(err, src.Close())
	}
	if src, err = Select(src, in.Name, o); err != nil {
		return nil, err
	}
	return Limit(src, o.Limit), nil
}

// Create returns a sink for rows of a schema. Write refuses a batch of other columns, and one whose arrays refer to values that they do not
// have.
func (f Format) Create(ctx context.Context, out Output, schema *arrow.Schema, o WriteOptions) (Sink, error) {
	if f.Writer == nil {
		return nil, fmt.Errorf("%s cannot be written", f.Title)
	}
	s, err := f.Writer(ctx, out, schema, o)
	if err != nil {
		return nil, err
	}
	checked := checkedSink{s, schema}
	if m, ok := s.(MessageSink); ok {
		return checkedMessages{checked, m}, nil
	}
	if c, ok := s.(StripeCutter); ok {
		return checkedCutter{checked, c}, nil
	}
	return checked, nil
}

// Formats is a list of formats to choose from.
type Formats []Format

var (
	registryLock sync.Mutex
	registry     Formats
)

// Register adds a format to the result of [Registered]. Packages of formats call it when they are imported.
func Register(f Format) {
	registryLock.Lock()
	defer registryLock.Unlock()
	registry = append(registry, f)
}

// Registered returns the formats of all packages that the program imports, by name.
func Registered() Formats {
	registryLock.Lock()
	defer registryLock.Unlock()
	all := slices.Clone(registry)
	slices.SortFunc(all, func(a, b Format) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// With returns the list with some formats in the places of those of the same names.
func (fs Formats) With(instead ...Format) Formats {
	all := slices.Clone(fs)
	for _, f := range instead {
		if i := slices.IndexFunc(all, func(g Format) bool { return g.Name == f.Name }); i >= 0 {
			all[i] = f
		}
	}
	return all
}

// ByName returns the format of a name.
func (fs Formats) ByName(name string) (Format, error) {
	for _, f := range fs {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("unknown format %q: use one of %s", name, strings.Join(fs.Names(), ", "))
}

// ByPath returns the format with the extension of a path or URL.
func (fs Formats) ByPath(location string) (Format, bool) {
	name := strings.ToLower(path.Base(strings.ReplaceAll(location, `\`, "/")))
	best, length := -1, 0
	for i, f := range fs {
		for _, e := range f.Extensions {
			if strings.HasSuffix(name, e) && len(e) > length {
				best, length = i, len(e)
			}
		}
	}
	if best < 0 {
		return Format{}, false
	}
	return fs[best], true
}

// SplitTable splits a location of the form "file.root:dir/name" into that of the file and the path of a table in it.
// It splits only after the extension of a format with several tables in a file. Otherwise the path is empty. A file
// whose name is the whole location may exist, too.
func (fs Formats) SplitTable(location string) (file, table string) {
	best, end, from := -1, 0, 0
	if _, rest, ok := strings.Cut(location, "://"); ok { // a colon in a host is that of its port
		from = len(location) - len(rest) + max(strings.IndexByte(rest, '/'), 0)
	}
	for _, f := range fs {
		if f.Tables == nil {
			continue
		}
		for _, e := range f.Extensions {
			if i := strings.LastIndex(strings.ToLower(location[from:]), e+":"); i >= 0 && from+i > best {
				best, end = from+i, from+i+len(e)
			}
		}
	}
	if best < 0 {
		return location, ""
	}
	return location[:end], strings.TrimPrefix(location[end+1:], "/")
}

// Sniff returns the format of bytes that start with head, if they show it.
func (fs Formats) Sniff(head []byte) (Format, bool) {
	for _, last := range []bool{false, true} {
		for _, f := range fs {
			if f.Sniff != nil && f.SniffLast == last && f.Sniff(head) {
				return f, true
			}
		}
	}
	return Format{}, false
}

// Names returns the names of the formats.
func (fs Formats) Names() []string {
	names := make([]string, len(fs))
	for i, f := range fs {
		names[i] = f.Name
	}
	return names
}

// Extensions returns the extensions of all formats, sorted.
func (fs Formats) Extensions() []string {
	var all []string
	for _, f := range fs {
		all = append(all, f.Extensions...)
	}
	slices.Sort(all)
	return all
}

// checkedSink looks at batches before the sink of a format reads them.
type checkedSink struct {
	Sink
	schema *arrow.Schema
}

// checkedCutter is a checkedSink whose format stores rows in groups.
type checkedCutter struct {
	checkedSink
	cutter StripeCutter
}

// checkedMessages is a checkedSink whose format takes messages.
type checkedMessages struct {
	checkedSink
	messages MessageSink
}

func (s checkedSink) Write(ctx context.Context, batch arrow.RecordBatch) error {
	if n := len(s.schema.Fields()); int(batch.NumCols()) != n {
		return fmt.Errorf("batch has %d columns, the table %d", batch.NumCols(), n)
	}
	for i, f := range s.schema.Fields() {
		if got := batch.Column(i).DataType(); !arrow.TypeEqual(got, f.Type) {
			return fmt.Errorf("column %d of the batch is of type %v, column %q of the table of type %v", i, got, f.Name, f.Type)
		}
	}
	if err := arrowutil.CheckBatch(batch); err != nil {
		return err
	}
	return s.Sink.Write(ctx, batch)
}

func (s checkedCutter) CutStripe(ctx context.Context) error { return s.cutter.CutStripe(ctx) }

func (s checkedMessages) WriteMessage(ctx context.Context, message []byte) (int64, error) {
	return s.messages.WriteMessage(ctx, message)
}
