package table

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/option"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/table/provider"
)

// DefaultMemory is the default of the option Memory, in bytes.
const DefaultMemory = 256 << 20

// SortOptions ask for rows in an order.
type SortOptions struct {
	// By are columns, or expressions such as year(date), separated by commas. A minus before one makes its order descending.
	// NaN is greater than all numbers; strings are compared by their bytes. Rows of equal values keep their order.
	By         string
	NullsFirst bool // nulls come before all values; by default they are last

	Columns []string // as in [ScanOptions]
	Filter  filter.Expr
	Rows    []RowRange
	Limit   int64 // maximum number of rows of the result, of which alone memory is taken; 0 for all
	Memory  int64 // bytes of rows held in memory, up to 1 GiB; the rest goes to temporary files; default DefaultMemory
}

// Sort returns rows in the order of By, as [Table.Scan] does.
func (t *Table) Sort(ctx context.Context, o SortOptions) iter.Seq2[arrow.RecordBatch, error] {
	return t.rows(ctx, o)
}

func (o SortOptions) open(ctx context.Context, t *Table) (_ provider.Source, err error) {
	by, err := parseSortKeys(o.By)
	if err != nil {
		return nil, err
	}
	if err := option.SetDefault("Memory", &o.Memory, DefaultMemory); err != nil {
		return nil, err
	}
	scan := ScanOptions{Columns: o.Columns, Filter: o.Filter, Rows: o.Rows}
	bound, err := o.firstRows(ctx, t, scan, by)
	if err != nil {
		return nil, err
	}
	if !bound.IsZero() {
		scan.Filter = filter.And(scan.Filter, bound)
	}
	src, err := t.openKeyed(ctx, scan, by, o.NullsFirst)
	if err != nil {
		return nil, err
	}
	s, err := order.NewSorter(src.rows.Schema(), src.keys, order.Options{Limit: o.Limit, Memory: o.Memory})
	if err != nil {
		return nil, errors.Join(err, src.src.Close())
	}
	if o.Rows == nil || len(o.Rows) > 0 {
		err = src.each(ctx, func(rows arrow.RecordBatch, keys []arrow.Array) error { return s.Add(ctx, rows, keys) })
	}
	if err == nil {
		err = s.Finish(ctx)
	}
	if err = errors.Join(err, src.src.Close()); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return sorted{s}, nil
}

// sorted is a sorter as a source.
type sorted struct{ *order.Sorter }

func (sorted) Rows() (int64, bool) { return 0, false }

// sortKey is a value of By.
type sortKey struct {
	node       *ast.Node
	descending bool
}

// parseSortKeys parses By: value expressions separated by commas, each perhaps behind a minus.
func parseSortKeys(text string) ([]sortKey, error) {
	var keys []sortKey
	for _, part := range splitValues(text) {
		value, descending := strings.CutPrefix(strings.TrimSpace(part), "-")
		nodes, err := ast.ParseValues(value)
		if err == nil && len(nodes) != 1 {
			err = errors.New("a value is missing")
		}
		if err != nil {
			return nil, &OptionError{"By", strconv.Quote(text), err, "--by -delay,origin sorts by the greatest delay, then by origin"}
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
	src    provider.Source
	rows   *provider.Projection // of the rows to print
	values []*compute.Value
	keys   []order.Key
}

// openKeyed opens the rows of a scan with the columns to return and those of the keys.
func (t *Table) openKeyed(ctx context.Context, o ScanOptions, by []sortKey, nullsFirst bool) (*keyedSource, error) {
	columns := o.Columns
	o.Columns, o.Limit = withColumns(columns, by), 0
	src, err := o.open(ctx, t)
	if err != nil {
		return nil, err
	}
	k := &keyedSource{src: src}
	k.rows, err = provider.Project(src.Schema(), columns)
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
	for batch, err := range provider.Batches(ctx, k.src) {
		if err == nil {
			err = k.one(batch, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
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
	rows, err := k.rows.Of(batch)
	if err != nil {
		return err
	}
	defer rows.Release()
	return f(rows, keys)
}
