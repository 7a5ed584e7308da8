package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/internal/beside"
	"github.com/amudai/amudai-go/table/internal/tables"
	"github.com/amudai/amudai-go/table/provider"
)

// OpenOptions are the options of [OpenWith]. The zero value is the default.
type OpenOptions struct {
	// Format is the name of the format of all inputs, such as "csv". By default it is found by names and first bytes.
	Format string
	// Formats replace the registered formats of the same names. They have options: text.CSV(text.CSVOptions{Delimiter: ';'}).
	Formats []provider.Format
	// Table is the path of the table in inputs that hold several, as the part of a location behind "file.root:" is.
	Table string
	// Beside are locations of further tables, one each, whose columns stand beside those of this one: rows of equal positions become one. All have equal numbers
	// of rows, and none has deleted ones. Of columns of one name that of the first table counts, with a notice. Format, Table and Schema are about the table of the locations alone.
	// Conditions are looked at when the rows are together, and nothing is known of such a table without reading it but its schema and perhaps its number of rows.
	Beside []string
	// Schema sets the types of these columns. Other columns have the types of the inputs, or inferred ones. A value that
	// its type cannot hold exactly is an error.
	Schema []arrow.Field
	// Columns are the columns that will be read, as far as this is known: messages about others are left out.
	Columns []string
	// Versions are those that inputs must have, by location, as a store tells them. Locations that are not named may have any,
	// but no input may change as long as the table is open.
	Versions map[string]storage.Version
	// Stdin is the input at the location "-". It is nil if there is none.
	Stdin io.Reader
	// Accept may refuse the formats of the inputs, before any row is read. It may be nil.
	Accept func(formats []provider.Format) error

	Notice    func(string)     // called with messages for the user, each once, perhaps by several goroutines; default: none
	Warning   func(string)     // called with messages that data may be misread; default: Notice
	Allocator memory.Allocator // of batches; default: Go's
	TempDir   string           // for pipes that are read more than once; default os.TempDir
}

// Table is one or several inputs as one table. Several goroutines may use it at the same time, unless its only input is a
// pipe, which can be read once. It holds temporary copies of pipes, what its outlines read, and if it is one shard, what
// was parsed of this, within the shard.OpenOptions.CacheBytes of its format. Each question asks the store once whether the only input is still the one that is open.
type Table struct {
	o         OpenOptions
	find      inputs.Finder
	locations []string
	union     *tables.Union
	pipes     []*provider.Spooled

	lock    sync.Mutex
	formats []provider.Format // of the locations, once they were opened
	schema  *arrow.Schema     // of all columns, once it was asked for
	kept    []io.Closer       // what outlines read, and the only input; nil ones are ignored
}

// Open opens the tables at locations as one, with default options.
func Open(ctx context.Context, locations ...string) (*Table, error) {
	return OpenWith(ctx, OpenOptions{}, locations...)
}

// OpenWith opens the tables at locations as one. Of several inputs, each is opened for its schema; a single one is opened when it
// is used. Close the table.
func OpenWith(ctx context.Context, o OpenOptions, locations ...string) (t *Table, err error) {
	t = &Table{o: o}
	say := tables.Once()
	t.o.Notice = say(o.Notice)
	if t.o.Warning = say(o.Warning); o.Warning == nil {
		t.o.Warning = t.o.Notice
	}
	t.find = inputs.Finder{Formats: provider.Registered().With(o.Formats...), Format: o.Format, Table: o.Table, Stdin: o.Stdin, Notice: t.o.Warning, Versions: inputs.NewVersions(o.Versions), Kept: inputs.KeptOf(ctx)}
	if t.find.Kept == nil {
		t.find.Kept = new(inputs.Kept)
		t.kept = append(t.kept, t.find.Kept)
	}
	if len(o.Beside) > 0 {
		if err := t.openBeside(ctx, locations); err != nil {
			return nil, errors.Join(err, t.Close())
		}
		o.Schema, t.o.Accept = nil, nil // its tables have them
	} else if t.locations, err = t.find.Find(ctx, locations); err != nil {
		return nil, err
	}
	t.find.One = len(t.locations) == 1
	if len(t.locations) == 0 {
		return nil, errors.New("no locations: there is nothing to open")
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Close())
			t = nil
		}
	}()
	t.formats = make([]provider.Format, len(t.locations))
	parts := make([]tables.Part, len(t.locations))
	for i := range parts {
		if parts[i], err = t.part(ctx, i); err != nil {
			return t, err
		}
	}
	ro := provider.ReadOptions{Allocator: o.Allocator, TempDir: o.TempDir, Schema: o.Schema, Columns: o.Columns, Notice: t.o.Notice, Warning: t.o.Warning}
	if t.union, err = tables.New(ctx, parts, ro); err == nil && len(parts) > 1 && t.o.Accept != nil {
		err = o.Accept(t.formats)
	}
	return t, err
}

// openBeside opens the tables that stand side by side, which are kept.
func (t *Table) openBeside(ctx context.Context, locations []string) error {
	o := t.o
	o.Beside = nil
	var all []beside.Table
	for i := range len(t.o.Beside) + 1 {
		if i > 0 { // these are about the first alone
			o.Schema, o.Table, o.Format, o.Columns, o.Accept = nil, "", "", nil, nil
			locations = t.o.Beside[i-1 : i]
		}
		if j := slices.IndexFunc(locations, inputs.IsPipe); j >= 0 {
			return fmt.Errorf("%s can be read only once, and not beside other tables", locations[j])
		}
		one, err := OpenWith(ctx, o, locations...)
		if err != nil {
			return err
		}
		t.kept = append(t.kept, one)
		b := beside.Table{Name: strings.Join(one.locations, ", "), Open: one.union.Open}
		if b.Rows, b.Hidden, b.Known, err = one.union.Positions(ctx); err == nil {
			b.Schema, err = one.Schema(ctx)
		}
		if err != nil {
			return err
		}
		all = append(all, b)
	}
	b, err := beside.New(all, t.o.Notice)
	if err == nil {
		f := b.Format()
		t.find.Only, t.locations = &f, []string{b.Name()}
	}
	return err
}

// part is input i of the union.
func (t *Table) part(ctx context.Context, i int) (tables.Part, error) {
	location, alone := t.locations[i], len(t.locations) == 1
	part := tables.Part{Name: location, Once: inputs.IsPipe(location)}
	from := location
	var temp *provider.Spooled
	if part.Once && !alone { // inputs are opened for their schemas first
		var err error
		if temp, err = inputs.Spool(ctx, location, t.o.Stdin, t.o.TempDir); err != nil {
			return part, err
		}
		t.pipes = append(t.pipes, temp)
		from = "-"
	}
	part.Open = func(ctx context.Context, o provider.ReadOptions) (provider.Source, provider.Format, error) {
		find := t.find
		if temp != nil {
			find.Stdin = io.NewSectionReader(temp, 0, temp.Size())
		}
		in, f, err := t.input(ctx, &find, i, from)
		if err != nil {
			return nil, f, err
		}
		if alone && t.o.Accept != nil {
			if err := t.o.Accept([]provider.Format{f}); err != nil {
				return nil, f, errors.Join(err, in.Close())
			}
		}
		src, err := find.Source(ctx, in, f, location, o)
		return src, f, err
	}
	return part, nil
}

// input opens input i, which is at a location of find, and keeps its format.
func (t *Table) input(ctx context.Context, find *inputs.Finder, i int, location string) (provider.Input, provider.Format, error) {
	in, f, err := find.Open(ctx, location)
	if err == nil {
		t.lock.Lock()
		defer t.lock.Unlock()
		t.formats[i] = f
	}
	return in, f, err
}

// Locations are those of the inputs: files of folders and those that patterns match, one by one.
func (t *Table) Locations() []string { return t.locations }

// Formats are those of the inputs, in the order of Locations. That of a single input is known once it was opened for any question.
func (t *Table) Formats() []provider.Format {
	t.lock.Lock()
	defer t.lock.Unlock()
	return append([]provider.Format(nil), t.formats...)
}

// Rereadable reports whether the table can be read more than once: its only input is no pipe.
func (t *Table) Rereadable() bool { return len(t.locations) > 1 || !inputs.IsPipe(t.locations[0]) }

// KeepGroups has groups of rows of inputs in some formats, such as stripes, be groups of the sources of later scans
// ([provider.Grouped]). Each input begins a group in any case.
func (t *Table) KeepGroups(of func(provider.Format) bool) { t.union.KeepGroups(of) }

// Close removes temporary files, and closes what outlines read, and the file or object that stays open.
func (t *Table) Close() (err error) {
	err = errors.Join(seq.CloseAll(t.kept), seq.CloseAll(t.pipes))
	t.kept, t.pipes = nil, nil
	return err
}
