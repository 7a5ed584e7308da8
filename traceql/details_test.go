package traceql_test

import (
	"context"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/traceql"
)

// observed is a source that tells what is read of it.
type observed struct {
	traceql.Source
	whole   []string // columns of scans of all rows
	details []string // columns of scans of rows by their numbers
	rows    int64    // of the latter
	lose    bool     // those are no longer there
}

func (o *observed) Scan(ctx context.Context, columns []string, f filter.Expr, rows []table.RowRange) iter.Seq2[traceql.Rows, error] {
	if rows == nil {
		o.whole = append(o.whole, columns...)
		return o.Source.Scan(ctx, columns, f, nil)
	}
	o.details = append(o.details, columns...)
	for _, r := range rows {
		o.rows += r.To - r.From
	}
	if o.lose {
		rows = rows[:len(rows)-1]
	}
	return o.Source.Scan(ctx, columns, f, rows)
}

func traces(t *testing.T, query string, o traceql.Options, src traceql.Source) (list []*traceql.Trace) {
	q, err := traceql.Parse(query)
	require.NoError(t, err)
	for trace, err := range traceql.Search(t.Context(), q, []traceql.Source{src}, o) {
		require.NoError(t, err)
		list = append(list, trace)
	}
	return list
}

// What only results have is read for the spans that they show, and the root: three rows of each of two traces of fifty spans.
func TestDetails(t *testing.T) {
	var list []span
	for trace := range byte(3) {
		for id := range byte(50) {
			s := span{trace: trace + 1, id: id + 1, name: "name", service: "service", start: int64(id) + 1, end: 100}
			if id > 0 {
				s.parent = 1
			}
			list = append(list, s)
		}
	}
	memory := tableOfSpans(t, 7, list)
	for name, src := range map[string]traceql.Source{"blockpack": blockpackOf(t, list, blockpack.WriterOptions{BlockSpans: 20}), "shard": shardOf(t, memory), "arrow": arrowOf(t, memory), "memory": memory} {
		t.Run(name, func(t *testing.T) {
			o := &observed{Source: src}
			found := traces(t, `{ span:id != "1" } | select(name, resource.service.name)`, traceql.Options{Limit: 2, Spans: 2}, o)
			require.Len(t, found, 2)
			require.Equal(t, 49, found[0].Sets[0].Matched)
			require.Equal(t, "service", found[0].RootService)
			require.Equal(t, "name", found[0].Sets[0].Spans[1].Name)
			require.EqualValues(t, 6, o.rows)
			for _, column := range []string{"span:name", "resource\\.service\\.name"} {
				require.NotContains(t, o.whole, column)
				require.Contains(t, o.details, column)
			}
			o.lose = true
			err := searchError(t, `{ }`, traceql.Options{Spans: 2}, o)
			require.ErrorContains(t, err, "changed during the search")
			require.NoError(t, searchError(t, `{ name = "other" }`, traceql.Options{}, o))
		})
	}
}
