package formats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/blockpack/tempo"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/command/files"
	"github.com/amudai/amudai-go/internal/command/usage"
	"github.com/amudai/amudai-go/internal/tables"
	"github.com/amudai/amudai-go/table"
)

// Union is inputs as one table. Close it.
type Union struct {
	*tables.Union
	Locations []string       // of the inputs
	Formats   []table.Format // of the inputs, once they were opened
	Read      table.ReadOptions
	Range     tables.Range
	Ranges    []table.RowRange // instead of Range, unless it is nil

	pipes []*table.Spooled
}

// Union finds the inputs of locations, and unites them. Of several, each is opened for its schema.
func (p *Opener) Union(ctx context.Context, locations []string, t *TableFlags) (u *Union, err error) {
	u = &Union{}
	if u.Read, err = p.Use(ctx, &t.Read); err != nil {
		return nil, err
	}
	if p.Scan, err = t.Rows.Options(); err != nil {
		return nil, err
	}
	u.Read.Filter, u.Read.Limit = p.Scan.Filter, p.Scan.Limit
	p.Scan.Filter, p.Scan.Limit = filter.Expr{}, 0
	if u.Range, err = t.Rows.Range(); err != nil {
		return nil, err
	}
	if t.Rows.Limit == 0 {
		u.Range = tables.Range{Ends: true}
	}
	if u.Locations, err = p.Inputs(ctx, locations, &t.Read); err != nil {
		return nil, err
	}
	if t.Rows.stripes != "" {
		if u.Ranges, err = p.stripeRows(ctx, u.Locations, t); err != nil {
			return nil, err
		}
	}
	opened := u
	defer func() {
		if err != nil {
			err = errors.Join(err, opened.Close())
		}
	}()
	u.Formats = make([]table.Format, len(u.Locations))
	parts := make([]tables.Part, len(u.Locations))
	for i := range parts {
		if parts[i], err = p.part(ctx, u, i, &t.Read); err != nil {
			return nil, err
		}
	}
	if u.Union, err = tables.New(ctx, parts, u.Read, rereadsText); err == nil && len(parts) > 1 {
		err = p.Check(u.Locations[0], u.Formats...)
	}
	return u, err
}

// rereadsText reports whether types of a format are inferred, so that any column can be read as text, too.
func rereadsText(f table.Format) bool { return f.Casts && f.Name != Lines }

// part is input i of a union.
func (p *Opener) part(ctx context.Context, u *Union, i int, r *ReadFlags) (tables.Part, error) {
	from, onlyLines := r.From, r.OnlyLines
	location, alone := u.Locations[i], len(u.Locations) == 1
	part := tables.Part{Name: location, Once: isPipe(location)}
	input := func(ctx context.Context) (table.Input, table.Format, error) { return p.Input(ctx, location, from) }
	if part.Once && !alone { // inputs are opened for their schemas first
		temp, err := p.spool(ctx, location)
		if err != nil {
			return part, err
		}
		u.pipes = append(u.pipes, temp)
		input = func(ctx context.Context) (table.Input, table.Format, error) {
			q := *p
			q.stdin = io.NewSectionReader(temp, 0, temp.Size())
			return q.Input(ctx, "-", from)
		}
	}
	part.Open = func(ctx context.Context, o table.ReadOptions) (table.Source, table.Format, error) {
		in, f, err := input(ctx)
		if err != nil {
			return nil, f, err
		}
		if u.Formats[i] = f; alone {
			if err := p.Check(location, f); err != nil {
				return nil, f, errors.Join(err, in.Close())
			}
		}
		if f.Name == Lines && onlyLines && o.Columns == nil {
			o.Columns = []string{"line"}
		}
		src, err := p.Open(ctx, in, f, location, o)
		return src, f, err
	}
	return part, nil
}

// isPipe reports whether a location can be read only once.
func isPipe(location string) bool {
	if location == "-" {
		return true
	}
	if files.IsURL(location) {
		return false
	}
	info, err := os.Stat(location)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// spool copies a pipe to a temporary file.
func (p *Opener) spool(ctx context.Context, location string) (*table.Spooled, error) {
	if location == "-" {
		return table.Spool(files.Interruptible(ctx, p.stdin), "")
	}
	f, err := os.Open(location)
	if err != nil {
		return nil, files.Missing(location, err)
	}
	temp, err := table.Spool(files.Interruptible(ctx, f), "")
	return temp, errors.Join(err, f.Close())
}

// Rereadable reports whether Open may be called again.
func (u *Union) Rereadable() bool { return len(u.Locations) > 1 || !isPipe(u.Locations[0]) }

// Open opens the rows and columns that the flags choose.
func (u *Union) Open(ctx context.Context, o TablesOptions) (table.Source, error) {
	return u.Union.Open(ctx, u.options(o))
}

// Source is Open, and gives the union to the source, which closes it.
func (u *Union) Source(ctx context.Context, o TablesOptions) (table.Source, error) {
	src, err := u.Open(ctx, o)
	if err != nil {
		return nil, errors.Join(err, u.Close())
	}
	return unionSource{src, u}, nil
}

// NumRows is the number of rows that the flags choose, if it is known without reading any.
func (u *Union) NumRows(ctx context.Context) (n int64, known bool, err error) {
	if !u.Rereadable() || !u.Read.Filter.IsZero() {
		return 0, false, nil
	}
	return u.Union.NumRows(ctx, u.options(TablesOptions{Silent: true}))
}

// Count returns the number of rows that the flags choose.
func (u *Union) Count(ctx context.Context) (int64, error) {
	return u.Union.Count(ctx, u.options(TablesOptions{}))
}

// AllRows reports whether rows of any position are read.
func (u *Union) AllRows() bool { return u.Range.IsAll() && u.Ranges == nil }

func (u *Union) options(o TablesOptions) tables.Options {
	ro := u.Read
	ro.Decimals64 = o.Decimals64
	if ro.Dictionaries = o.Dictionaries; o.Columns != nil {
		ro.Columns = o.Columns
	}
	if o.Silent {
		ro.Notice, ro.Warning = nil, nil
	}
	return tables.Options{ReadOptions: ro, Range: u.Range, Ranges: u.Ranges}
}

// Close removes temporary files.
func (u *Union) Close() (err error) {
	for _, p := range u.pipes {
		err = errors.Join(err, p.Close())
	}
	return err
}

// unionSource is a source of a union of its own.
type unionSource struct {
	table.Source
	u *Union
}

// Close closes the source, then its union.
func (s unionSource) Close() error { return errors.Join(s.Source.Close(), s.u.Close()) }

// Inputs finds the inputs of locations: of folders the files with extensions of tables. Lines of text there, such as
// a README, are left out if there are other tables.
func (p *Opener) Inputs(ctx context.Context, locations []string, r *ReadFlags) (all []string, err error) {
	for _, location := range locations {
		found := []Input{{Location: location}}
		if _, isBlock := blockOf(location); !isBlock {
			found = Inputs(ctx, []string{location})
		}
		chosen, left, err := chooseTables(found, r.From)
		if err != nil {
			return nil, err
		}
		switch len(left) {
		case 0:
		case 1:
			p.notice(left[0] + " is left out, because it is text beside tables: name it to read it")
		default:
			p.notice(fmt.Sprintf("%d files of text beside tables are left out, such as %s: name them to read them", len(left), left[0]))
		}
		if len(chosen) == 0 {
			return nil, usage.WithHint(fmt.Errorf("%s has no tables", location), "files in folders need an extension of a table, such as .csv or .parquet; name other files one by one")
		}
		all = append(all, chosen...)
	}
	for i, location := range all {
		if location == "-" && slices.Contains(all[:i], "-") {
			return nil, usage.Errorf("", "stdin can be only one of the inputs")
		}
	}
	return all, nil
}

// chooseTables chooses the tables among files. left are files of text in folders beside tables.
func chooseTables(found []Input, from string) (chosen, left []string, err error) {
	blocks := map[string]bool{} // folders that are blocks of Tempo
	inFolders := map[string]bool{}
	for _, in := range found {
		inFolders[in.Location] = in.InFolder
	}
	for _, in := range found {
		if in.Err != nil {
			return nil, nil, in.Err
		}
		if !in.InFolder {
			chosen = append(chosen, in.Location)
			continue
		}
		if dir, block, ok := tempoBlock(in.Location, inFolders); ok {
			if !blocks[dir] {
				blocks[dir] = true
				chosen = append(chosen, block)
			}
			continue
		}
		if strings.HasPrefix(filepath.Base(in.Location), "_") { // of Hive and Spark
			continue
		}
		name := strings.TrimSuffix(strings.TrimSuffix(in.Location, ".gz"), ".zst")
		switch f, ok := All.ByPath(name); {
		case ok && f.Name == Lines && from == "":
			left = append(left, in.Location)
		case ok:
			chosen = append(chosen, in.Location)
		}
	}
	if len(chosen) == 0 {
		return left, nil, nil
	}
	return chosen, left, nil
}

// tempoBlock returns the folder of a file and the location to read, if the folder is a block of Tempo.
func tempoBlock(location string, found map[string]bool) (dir, block string, ok bool) {
	if files.IsURL(location) {
		dir = location[:strings.LastIndexByte(location, '/')+1]
		block = dir + tempo.DataFile
		return dir, block, found[block] && found[dir+tempo.MetaFile]
	}
	dir = filepath.Dir(location)
	if _, ok = blockOf(dir); ok {
		_, err := os.Stat(filepath.Join(dir, tempo.MetaFile))
		ok = err == nil
	}
	return dir, dir, ok
}
