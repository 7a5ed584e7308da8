// Package browsing has the command browse: it opens the table that package browse shows.
package browsing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/cmd/amudai/internal/app"
	"github.com/amudai/amudai-go/cmd/amudai/internal/browse"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/inspect"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

type group struct{ *app.App }

// Commands make the commands of the package.
func Commands(a *app.App) []func() *cobra.Command { return []func() *cobra.Command{group{a}.browse} }

func (a group) browse() *cobra.Command {
	var read formats.ReadFlags
	where := ""
	cmd := &cobra.Command{
		Use:   "browse IN...",
		Short: "Look through a table on the whole terminal",
		Long: `browse shows a table on the whole terminal: its rows, its columns with their statistics, and the structure
of the file, down to the blocks of a shard. Rows are read when they are shown, so that large files open at once.
Several inputs, folders and patterns are one table. Press ? for the keys.`,
		Example: `  amudai browse flights.amudai.shard
  amudai browse flights.amudai.shard --where "origin = 'SFO' and delay > 300"
  amudai browse jan.csv feb.parquet`,
		Args: app.Wants(1, -1, "a table, or several as one"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runBrowse(cmd.Context(), args, &read, where)
		},
	}
	read.Register(cmd, true)
	cmd.Flags().StringVar(&where, "where", "", "only rows that match a condition, such as \"origin = 'SFO' and delay > 300\"")
	return cmd
}

// runBrowse shows a table until the user leaves.
func (a group) runBrowse(ctx context.Context, locations []string, read *formats.ReadFlags, where string) (err error) {
	out := app.TerminalOf(a.Stdout)
	if out == nil {
		return usage.Errorf("amudai cat prints the rows into a pipe or a file", "browse needs a terminal, and stdout is none")
	}
	if _, err := formats.Condition(where); err != nil {
		return err
	}
	name := locations[0]
	switch {
	case len(locations) > 1 && slices.Contains(locations, "-"):
		return usage.Errorf("save it to a file", "browse reads several inputs more than once, and stdin is one of them")
	case name == "-":
		location, err := a.saveStdin(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.Remove(location)) }()
		locations, name = []string{location}, "stdin"
	default:
		p := a.Opener.Silent(strings.NewReader(""))
		if _, err = p.Use(ctx, read); err != nil {
			return err
		}
		if locations, err = p.Inputs(ctx, locations, read); err != nil {
			return err
		}
		if len(locations) > 1 {
			name = fmt.Sprintf("%d inputs", len(locations))
		}
	}
	t := browsed{locations: locations, read: read, policy: a.Policy}
	defer func() { err = errors.Join(err, t.close()) }()
	shown, err := t.table(ctx, storage.Redact(name))
	if err != nil {
		return err
	}
	o := browse.Options{Where: where, Message: strings.Join(t.notices, "; "), Out: out, Environ: os.Environ()}
	if in := app.TerminalOf(a.Stdin); in != nil {
		o.In = in
	}
	err = browse.Run(ctx, shown, o)
	if errors.Is(err, context.Canceled) && ctx.Err() == nil { // Ctrl-C as a key
		return app.Printed{Code: app.ExitInterrupted, Text: "interrupted"}
	}
	return err
}

// saveStdin copies stdin to a temporary file, because a table that is browsed is read several times.
func (a group) saveStdin(ctx context.Context) (string, error) {
	f, err := os.CreateTemp("", "amudai-browse-*")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, inputs.Interruptible(ctx, a.Stdin))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// browsed is the table to browse. Its functions are called by several goroutines at once.
type browsed struct {
	locations []string
	read      *formats.ReadFlags
	policy    shard.Policy
	allRows   bool     // types of text are those of all rows
	notices   []string // of opening it for the first time

	lock sync.Mutex
	file *formats.Union // whose structure is shown; opened when it is asked for
}

// union opens the table. Openers are not for several goroutines.
func (t *browsed) union(ctx context.Context, notice func(string)) (*formats.Union, error) {
	p := formats.NewOpener(strings.NewReader(""), notice, notice)
	p.AllRows, p.Policy = t.allRows, t.policy
	var flags formats.TableFlags
	flags.Register(&cobra.Command{}, -1) // their defaults
	flags.Read = *t.read
	return p.Union(ctx, t.locations, &flags)
}

// open opens the table as options say.
func (t *browsed) open(ctx context.Context, o provider.ReadOptions) (provider.Source, error) {
	return t.openWith(ctx, o, func(string) {})
}

func (t *browsed) openWith(ctx context.Context, o provider.ReadOptions, notice func(string)) (provider.Source, error) {
	u, err := t.union(ctx, notice)
	if err != nil {
		return nil, err
	}
	u.Scan.Filter, u.Scan.Limit, u.Scan.BatchRows, u.Scan.Rows, u.Scan.Dictionaries = o.Filter, o.Limit, o.BatchRows, o.Rows, o.Dictionaries
	if o.Columns != nil {
		u.Scan.Columns = o.Columns
	}
	return u.Source(ctx, u.Scan)
}

// retype is a table with the types of all rows. All rows are read for them once, and not each time that the table is opened.
func (t *browsed) retype(ctx context.Context, shown browse.Table) (browse.Table, error) {
	all := browsed{locations: t.locations, read: t.read, policy: t.policy, allRows: true}
	src, err := all.open(ctx, provider.ReadOptions{BatchRows: 1})
	if err != nil {
		return shown, err
	}
	read := *t.read
	for _, f := range src.Schema().Fields() {
		if at := shown.Schema.FieldIndices(f.Name); len(at) == 0 || !arrow.TypeEqual(f.Type, shown.Schema.Field(at[0]).Type) {
			read.Types = append(slices.Clip(read.Types), f)
		}
	}
	if err := src.Close(); err != nil {
		return shown, err
	}
	typed := browsed{locations: t.locations, read: &read, policy: t.policy}
	return typed.table(ctx, shown.Name)
}

// table is what browse needs to know of the table.
func (t *browsed) table(ctx context.Context, name string) (_ browse.Table, err error) {
	src, err := t.openWith(ctx, provider.ReadOptions{BatchRows: 1}, func(s string) { t.notices = append(t.notices, s) })
	if err != nil {
		return browse.Table{}, err
	}
	schema := src.Schema()
	if err := src.Close(); err != nil {
		return browse.Table{}, err
	}
	shown := browse.Table{Name: name, Schema: schema, Rows: -1, Open: t.open, Export: t.export}
	shown.Retype = func(ctx context.Context) (browse.Table, error) { return t.retype(ctx, shown) }
	u, err := t.union(ctx, func(string) {})
	if err != nil {
		return browse.Table{}, err
	}
	defer func() { err = errors.Join(err, u.Close()) }()
	n, known, err := u.NumRows(ctx, u.Scan)
	if known {
		shown.Rows, shown.Seeks = n, !slices.ContainsFunc(u.Formats(), func(f provider.Format) bool { return !f.Ranges })
	}
	f := u.Formats()[0]
	if len(t.locations) > 1 || err != nil {
		return shown, err
	}
	if f.Statistics != nil {
		shown.Statistics = t.statistics
	}
	if f.Inspect != nil {
		shown.Structure = inspect.Inspect(t.outline).Nodes
	}
	if f.Name == formats.Shard && shown.Rows > 0 {
		shown.Encodings = func(ctx context.Context, column int) (string, error) {
			return inspect.Inspect(t.outline).Encodings(ctx, schema.Field(column).Name)
		}
	}
	return shown, nil
}

// statistics is what the file records of its columns.
func (t *browsed) statistics(ctx context.Context) (*provider.Statistics, error) {
	u, err := t.union(ctx, func(string) {})
	if err != nil {
		return nil, err
	}
	list, err := u.Statistics(ctx, t.read.Columns)
	return first(list), errors.Join(err, u.Close())
}

// outline is the structure of a file. What it reads stays open until the user leaves.
func (t *browsed) outline(ctx context.Context, o provider.InspectOptions) (*provider.Outline, error) {
	u, err := t.inspected(ctx)
	if err != nil {
		return nil, err
	}
	list, err := u.Inspect(ctx, o)
	return first(list), err
}

// inspected is the table whose structure is shown.
func (t *browsed) inspected(ctx context.Context) (*formats.Union, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	var err error
	if t.file == nil {
		t.file, err = t.union(context.WithoutCancel(ctx), func(string) {})
	}
	return t.file, err
}

func (t *browsed) close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

// first is the answer about the first input, if there is one.
func first[A any](list []*A) *A {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// export writes rows to a file, and returns their number.
func (t *browsed) export(ctx context.Context, file string, o provider.ReadOptions) (int64, error) {
	f, err := formats.Output(file, "")
	if err != nil {
		return 0, err
	}
	src, err := t.open(ctx, o)
	if err != nil {
		return 0, err
	}
	counted := &countedSource{Source: src}
	err = app.PrintRows(ctx, counted, func(ctx context.Context, s *arrow.Schema) (provider.Sink, error) {
		return formats.Create(ctx, nil, file, f, s, false, provider.WriteOptions{})
	})
	return counted.rows, err
}

// countedSource counts rows.
type countedSource struct {
	provider.Source
	rows int64
}

// Next implements [provider.Source].
func (s *countedSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	b, err := s.Source.Next(ctx)
	if b != nil {
		s.rows += b.NumRows()
	}
	return b, err
}
