package table

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/engine/aggregate"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/sortkeys"
	"github.com/amudai/amudai-go/internal/text"
)

// resultRows are the rows of a result: those that Having leaves, in the order of Sort.
type resultRows struct {
	having  *predicate.Bound // nil for all
	columns []int            // to sort by
	counted int64            // rows of all groups, if their shares are wanted
	shares  bool
	sorter  *order.Sorter
}

// newResultRows binds options to a query. Close the sorter.
func newResultRows(o *groupQuery, q *aggregate.Query) (*resultRows, error) {
	keys, columns, err := resultOrder(o, q)
	if err != nil {
		return nil, err
	}
	r := &resultRows{columns: columns, shares: o.shares}
	if o.Having != "" {
		n, err := ast.Parse(named(o.Having, q.Schema()))
		if err == nil {
			r.having, err = predicate.Bind(n, q.Schema())
		}
		if err != nil {
			return nil, &OptionError{"Having", o.Having, err, "the columns are " + columnNames(q.Schema())}
		}
	}
	r.sorter, err = order.NewSorter(q.Schema(), keys, order.Options{Memory: o.Memory / 4, Limit: o.Limit})
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

// first tells which results may be among the first ones; nil if all are needed.
func (r *resultRows) first(q *aggregate.Query) *aggregate.First {
	if len(r.columns) == 0 || r.columns[0] < q.Keys() || r.shares {
		return nil
	}
	return &aggregate.First{Columns: r.columns, Wanted: r.sorter.Candidates}
}

// add adds the rows of a batch of results.
func (r *resultRows) add(ctx context.Context, b arrow.RecordBatch) error {
	if r.having != nil {
		kept, _, err := r.having.Filter(memory.DefaultAllocator, b, b)
		if kept == nil || err != nil {
			return err
		}
		b = kept
		defer b.Release()
	}
	if r.shares {
		for _, n := range b.Column(int(b.NumCols() - 1)).(*array.Int64).Int64Values() {
			r.counted += n
		}
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

// resultOrder is the order of the rows of a result: by the columns of Sort, then by the groups. Columns are by their number.
func resultOrder(o *groupQuery, q *aggregate.Query) (keys []order.Key, columns []int, err error) {
	add := func(column int, descending bool) {
		if !slices.Contains(columns, column) {
			columns = append(columns, column)
			keys = append(keys, order.Key{Type: q.Schema().Field(column).Type, Descending: descending})
		}
	}
	if o.shares {
		add(q.Keys(), true)
	}
	if o.Sort != "" {
		for _, part := range sortkeys.Split(o.Sort) {
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
			return nil, nil, &OptionError{"Sort", "", err, ""}
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
	err := fmt.Errorf("the result has no column %s%s", name, text.Suggest(name, text.Names(s)))
	return 0, &OptionError{"Sort", "", err, "the columns are " + columnNames(s)}
}
