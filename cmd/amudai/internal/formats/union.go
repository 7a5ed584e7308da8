package formats

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// Union is inputs as one table, and the rows and columns that flags choose. Close it.
type Union struct {
	*table.Table
	Scan  table.ScanOptions
	Casts bool // the types of some columns are given
}

// Union finds the inputs of locations, and unites them. Of several, each is opened for its schema.
func (p *Opener) Union(ctx context.Context, locations []string, t *TableFlags) (*Union, error) {
	read, err := p.Use(ctx, &t.Read)
	if err != nil {
		return nil, err
	}
	scan, err := t.Rows.Options()
	if err != nil {
		return nil, err
	}
	p.strings, scan.Columns = t.Rows.strings, read.Columns
	if t.Rows.stripes != "" {
		if scan.Rows, err = p.stripeRows(ctx, locations, t); err != nil {
			return nil, err
		}
	}
	if t.Rows.Limit == 0 {
		scan.Rows = []table.RowRange{}
	}
	o := p.tableOptions(t.Read.From)
	o.Beside = t.Read.beside
	o.Schema, o.Columns, o.Notice, o.Warning = read.Schema, read.Columns, read.Notice, read.Warning
	o.Accept = func(formats []provider.Format) error { return p.Check(locations[0], formats...) }
	of, err := p.open(ctx, o, locations...)
	if err != nil {
		return nil, err
	}
	return &Union{of, scan, len(read.Schema) > 0}, nil
}

// Table opens one location for questions about it, in a format, or in any if its name is "", with types of some columns.
func (p *Opener) Table(ctx context.Context, location, format string, types ...arrow.Field) (*table.Table, error) {
	o := p.tableOptions(format)
	o.Schema = types
	return p.open(ctx, o, location)
}

// Joined opens locations as one table for questions about it.
func (p *Opener) Joined(ctx context.Context, locations []string, warning func(string)) (*table.Table, error) {
	o := p.tableOptions("")
	o.Warning = warning
	return p.open(ctx, o, locations...)
}

// open opens a table. Those of a session share what stays open, unless flags have shards read in another way.
func (p *Opener) open(ctx context.Context, o table.OpenOptions, locations ...string) (*table.Table, error) {
	if !reflect.ValueOf(p.types).IsZero() || p.at != (At{}) || p.IndexError != nil {
		ctx = inputs.WithKept(ctx, nil)
	}
	return table.OpenWith(ctx, o, locations...)
}

func (p *Opener) tableOptions(from string) table.OpenOptions {
	return table.OpenOptions{
		Format: from, Formats: p.formats(), Table: p.table, Stdin: p.stdin, Notice: p.notice, Allocator: p.Allocator, Versions: p.versions().Known(),
	}
}

// Untold is the error of a table of which something cannot be told, because of its only input.
func Untold(t *table.Table, what error) error {
	location := t.Locations()[0]
	name := storage.Redact(location)
	_, codec := inputs.Codec(location)
	switch {
	case location == "-":
		return usage.WithHint(fmt.Errorf("standard input %w", what), "save it to a file first")
	case !t.Rereadable():
		return usage.WithHint(fmt.Errorf("%s %w: it can be read only once", name, what), "save it to a file first")
	case codec != "":
		return usage.WithHint(fmt.Errorf("%s %w: it is compressed", name, what), "decompress it first")
	}
	return fmt.Errorf("%s %w: it is %s", name, what, t.Formats()[0].Title)
}

// Source is the answer to a question about the table, and the table, which it closes.
func (u *Union) Source(ctx context.Context, q table.Query) (provider.Source, error) {
	src, err := u.Reader(ctx, q)
	if err != nil {
		return nil, errors.Join(err, u.Close())
	}
	return unionSource{src, u}, nil
}

// unionSource is a source of a union of its own.
type unionSource struct {
	provider.Source
	u *Union
}

// Close closes the source, then its union.
func (s unionSource) Close() error { return errors.Join(s.Source.Close(), s.u.Close()) }

// TableFlags are the flags of commands that read several inputs as one table.
type TableFlags struct {
	Read ReadFlags
	Rows ScanFlags
}

// Register adds the flags, with a default for the limit.
func (t *TableFlags) Register(cmd *cobra.Command, limit int64) {
	t.Read.Register(cmd, true)
	t.Rows.Register(cmd, limit)
}

// Tables opens several inputs, folders and patterns as one table, with the rows and columns that the flags choose, and
// further options of the scan.
func (p *Opener) Tables(ctx context.Context, locations []string, t *TableFlags, o table.ScanOptions) (provider.Source, error) {
	u, err := p.Union(ctx, locations, t)
	if err != nil {
		return nil, err
	}
	if o.Columns != nil {
		u.Scan.Columns = o.Columns
	}
	u.Scan.Dictionaries, u.Scan.Decimals64, u.Scan.Reuse = o.Dictionaries, o.Decimals64, o.Reuse
	return u.Source(ctx, u.Scan)
}
