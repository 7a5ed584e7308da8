package command

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/spf13/cobra"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/command/formats"
	"github.com/amudai/amudai-go/internal/command/terminal"
	"github.com/amudai/amudai-go/internal/command/usage"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/table"
)

// sortFlags are the flags of sort.
type sortFlags struct {
	catFlags
	by         string
	nullsFirst bool
	memory     string
}

func (a *app) sort() *cobra.Command {
	var f sortFlags
	cmd := &cobra.Command{
		Use:   "sort IN...",
		Short: "Print the rows of tables in order",
		Long: `sort prints rows in the order of the values of --by: columns, or expressions such as year(date), separated by
commas. A minus before one makes its order descending. Nulls are last, unless --nulls-first; NaN is greater than
all numbers; strings are compared by their bytes, lists and structs by their elements. Rows of equal values keep
their order. With --limit, only the first rows are kept in memory. Rows beyond --memory go to temporary files.`,
		Example: `  amudai sort flights.amudai.shard --by -delay,origin --limit 10
  amudai sort 'logs/*.csv' --by 'year(date), -size' --output sorted.parquet`,
		Args: wants(1, -1, "one or more tables"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runSort(cmd.Context(), args, f) },
	}
	f.register(cmd, -1, defaultFormats)
	cmd.Flags().StringVar(&f.by, "by", "", "values to sort by, separated by commas, such as \"-delay,origin\"")
	cmd.Flags().BoolVar(&f.nullsFirst, "nulls-first", false, "nulls come before all values")
	registerMemory(cmd, &f.memory)
	return cmd
}

// registerMemory adds the flag of the commands that move rows to temporary files.
func registerMemory(cmd *cobra.Command, memory *string) {
	cmd.Flags().StringVar(memory, "memory", "256MiB", "rows held in memory, up to 1GiB; the rest goes to temporary files")
}

// memoryOf parses the flag --memory.
func memoryOf(text string) (int64, error) {
	n, err := terminal.ParseSize(text)
	if err != nil || n <= 0 {
		return 0, usage.Errorf("", "--memory: %q is not a size such as 256MiB", text)
	}
	return n, nil
}

// sortKey is a value of --by.
type sortKey struct {
	node       *ast.Node
	descending bool
}

// parseSortKeys parses --by: value expressions separated by commas, each perhaps behind a minus.
func parseSortKeys(text string) ([]sortKey, error) {
	var keys []sortKey
	for _, part := range splitValues(text) {
		value, descending := strings.CutPrefix(strings.TrimSpace(part), "-")
		nodes, err := ast.ParseValues(value)
		if err == nil && len(nodes) != 1 {
			err = errors.New("a value is missing")
		}
		if err != nil {
			return nil, usage.Errorf("--by -delay,origin sorts by the greatest delay, then by origin", "--by %q: %w", text, err)
		}
		keys = append(keys, sortKey{nodes[0], descending})
	}
	return keys, nil
}

// splitValues splits a text at commas that are not within quotes or brackets.
func splitValues(text string) (parts []string) {
	depth, begin := 0, 0
	quote := rune(0)
	for i, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"' || r == '`':
			quote = r
		case r == '(' || r == '[':
			depth++
		case r == ')' || r == ']':
			depth--
		case r == ',' && depth <= 0:
			parts = append(parts, text[begin:i])
			begin = i + 1
		}
	}
	return append(parts, text[begin:])
}

// keyedSource reads rows to print, and the values to sort them by.
type keyedSource struct {
	src    table.Source
	rows   *table.Projection // of the rows to print
	values []*compute.Value
	keys   []order.Key
}

// openKeyed opens tables with the columns to print and those of the keys. The limit of the flags is not that of the inputs.
func (a *app) openKeyed(ctx context.Context, locations []string, t formats.TableFlags, by []sortKey, nullsFirst bool) (*keyedSource, error) {
	if _, err := t.Rows.Options(); err != nil {
		return nil, err
	}
	t.Rows.Limit = -1
	src, err := a.opener.Tables(ctx, locations, &t, formats.TablesOptions{Columns: withColumns(t.Read.Columns, by)})
	if err != nil {
		return nil, err
	}
	k := &keyedSource{src: src}
	k.rows, err = table.Project(src.Schema(), t.Read.Columns)
	for _, key := range by {
		var v *compute.Value
		if err == nil {
			v, err = compute.Bind(key.node, src.Schema())
		}
		if err == nil {
			err = order.Check(v.Type())
		}
		if err != nil {
			return nil, errors.Join(err, src.Close())
		}
		k.values = append(k.values, v)
		k.keys = append(k.keys, order.Key{Type: v.Type(), Descending: key.descending, NullsFirst: nullsFirst})
	}
	return k, nil
}

// withColumns adds the columns of keys to those to print. Nil means all columns. Names with a number, such as a#2, have a
// meaning only among all columns.
func withColumns(columns []string, by []sortKey) []string {
	if columns == nil {
		return nil
	}
	columns = slices.Clone(columns)
	for _, k := range by {
		columns = append(columns, k.node.Columns()...)
	}
	if slices.ContainsFunc(columns, func(path string) bool { return strings.Contains(path, "#") }) {
		return nil
	}
	return columns
}

// each calls f with the rows of each batch, and the values of the keys.
func (k *keyedSource) each(ctx context.Context, f func(rows arrow.RecordBatch, keys []arrow.Array) error) error {
	for {
		batch, err := k.src.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = k.one(batch, f)
			batch.Release()
		}
		if err != nil {
			return err
		}
	}
}

func (k *keyedSource) one(batch arrow.RecordBatch, f func(rows arrow.RecordBatch, keys []arrow.Array) error) error {
	keys := make([]arrow.Array, len(k.values))
	defer arrowutil.ReleaseAll(keys)
	for i, v := range k.values {
		var err error
		if keys[i], err = v.Eval(memory.DefaultAllocator, batch); err != nil {
			return err
		}
	}
	rows := k.rows.Of(batch)
	defer rows.Release()
	return f(rows, keys)
}

func (a *app) runSort(ctx context.Context, locations []string, f sortFlags) (err error) {
	if f.by == "" {
		return usage.Errorf("--by -delay,origin, for example", "sort needs --by")
	}
	by, err := parseSortKeys(f.by)
	if err != nil {
		return err
	}
	o := order.Options{Limit: max(f.Rows.Limit, 0)}
	if o.Memory, err = memoryOf(f.memory); err != nil {
		return err
	}
	create, _, err := a.printer(&f.print, "")
	if err != nil {
		return err
	}
	if f.Rows.Also, err = a.firstRows(ctx, locations, f, by); err != nil {
		return err
	}
	src, err := a.openKeyed(ctx, locations, f.TableFlags, by, f.nullsFirst)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.src.Close()) }()
	s, err := order.NewSorter(src.rows.Schema(), src.keys, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if f.Rows.Limit != 0 {
		if err := src.each(ctx, func(rows arrow.RecordBatch, keys []arrow.Array) error { return s.Add(ctx, rows, keys) }); err != nil {
			return err
		}
	}
	if err := s.Finish(ctx); err != nil {
		return err
	}
	return printRows(ctx, sorted{s}, create, -1)
}

// sorted is a sorter as a source.
type sorted struct{ *order.Sorter }

// Rows implements [table.Source].
func (sorted) Rows() (int64, bool) { return 0, false }
