package command

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/command/usage"
	"github.com/amudai/amudai-go/internal/engine/aggregate"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/text"
)

// resultRows are the rows of a result: those that --having leaves, in the order of --sort.
type resultRows struct {
	having  *predicate.Bound // nil for all
	columns []int            // to sort by
	sorter  *order.Sorter
}

// newResultRows binds the flags to a query. limit is the number of rows, 0 for all. Close the sorter.
func newResultRows(f *aggFlags, q *aggregate.Query, memory, limit int64) (*resultRows, error) {
	keys, columns, err := resultOrder(f.sort, q)
	if err != nil {
		return nil, err
	}
	r := &resultRows{columns: columns}
	if f.having != "" {
		n, err := ast.Parse(named(f.having, q.Schema()))
		if err == nil {
			r.having, err = predicate.Bind(n, q.Schema())
		}
		if err != nil {
			return nil, usage.Errorf("the columns are "+columnNames(q.Schema()), "--having %s: %w", f.having, err)
		}
	}
	r.sorter, err = order.NewSorter(q.Schema(), keys, order.Options{Memory: memory / 4, Limit: limit})
	return r, err
}

// named puts names of columns of a result in quotes if they are calls, such as avg(delay).
func named(text string, s *arrow.Schema) string {
	var pairs []string
	for _, f := range s.Fields() {
		quoted := `"` + strings.ReplaceAll(f.Name, `"`, `""`) + `"`
		if strings.Contains(f.Name, "(") {
			pairs = append(pairs, quoted, quoted, f.Name, quoted)
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// add adds the rows of a batch of results.
func (r *resultRows) add(ctx context.Context, b arrow.RecordBatch) error {
	if r.having != nil {
		kept, err := r.having.Select(b)
		if err != nil {
			return err
		}
		rows := make([]int64, 0, kept.Len())
		for i := range kept.Rows() {
			rows = append(rows, i)
		}
		columns := make([]arrow.Array, b.NumCols())
		defer func() { arrowutil.ReleaseAll(columns) }()
		for i, c := range b.Columns() {
			if columns[i], err = arrowutil.Take(memory.DefaultAllocator, c, rows); err != nil {
				return err
			}
		}
		b = array.NewRecordBatch(b.Schema(), columns, int64(len(rows)))
		defer b.Release()
	}
	values := make([]arrow.Array, len(r.columns))
	for i, c := range r.columns {
		values[i] = b.Column(c)
	}
	return r.sorter.Add(ctx, b, values)
}

func columnNames(s *arrow.Schema) string {
	var names []string
	for _, f := range s.Fields() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// resultOrder is the order of the rows of a result: by the columns of --sort, then by the groups. Columns are by their number.
func resultOrder(text string, q *aggregate.Query) (keys []order.Key, columns []int, err error) {
	add := func(column int, descending bool) {
		if !slices.Contains(columns, column) {
			columns = append(columns, column)
			keys = append(keys, order.Key{Type: q.Schema().Field(column).Type, Descending: descending})
		}
	}
	if text != "" {
		for _, part := range splitValues(text) {
			name, descending := strings.CutPrefix(strings.TrimSpace(part), "-")
			column, err := resultColumn(strings.TrimSpace(name), q.Schema())
			if err != nil {
				return nil, nil, err
			}
			add(column, descending)
		}
	}
	for i := range q.Keys() {
		add(i, false)
	}
	for _, k := range keys {
		if err := order.Check(k.Type); err != nil {
			return nil, nil, usage.Errorf("", "--sort: %w", err)
		}
	}
	return keys, columns, nil
}

// resultColumn finds a column of a result by its name, or by a text that differs in spaces and case only.
func resultColumn(name string, s *arrow.Schema) (int, error) {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "")) }
	for _, same := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		func(a, b string) bool { return plain(a) == plain(b) || plain(a) == plain(b)+"()" },
	} {
		for i, f := range s.Fields() {
			if same(name, f.Name) {
				return i, nil
			}
		}
	}
	var names []string
	for _, f := range s.Fields() {
		names = append(names, f.Name)
	}
	return 0, usage.Errorf("the columns are "+columnNames(s), "--sort: the result has no column %s%s", name, text.Suggest(name, slices.Values(names)))
}
