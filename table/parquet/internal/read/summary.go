package read

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/table/provider"
)

// Summary combines the statistics of the row groups for the column at a path.
func (t *Table) Summary(ctx context.Context, path string) (s provider.ColumnStatistics, err error) {
	p, err := t.Project(ctx, []string{path})
	if err != nil {
		return s, err
	}
	c := &p.Columns[0]
	s = provider.ColumnStatistics{Path: path, Nulls: -1, NaNs: -1, Distinct: -1}
	for g := range t.groups {
		for _, leaf := range (stripe{table: t, group: g}).leaves(c) {
			s.Bytes += max(t.meta().RowGroups[g].Columns[leaf].MetaData.TotalCompressedSize, 0)
		}
	}
	nodes := []*table.Column{c}
	for range len(schema.SplitPath(path)) - 1 {
		last := nodes[len(nodes)-1]
		if _, isStruct := last.Plain.(*arrow.StructType); !isStruct || len(last.Children) != 1 {
			s.Type = last.Arrow.Type
			return s, nil // the items of a list are not rows
		}
		nodes = append(nodes, &last.Children[0])
	}
	s.Type = nodes[len(nodes)-1].Arrow.Type
	if l, ok := t.leafOf(nodes); ok {
		t.summarize(&s, &l)
	}
	return s, nil
}

// summarize adds the statistics of a leaf.
func (t *Table) summarize(s *provider.ColumnStatistics, l *leaf) {
	s.Nulls, s.NaNs, s.Exact = 0, 0, true
	known := true
	for g := range t.groups {
		rows := t.groups[g].rows
		if rows == 0 {
			continue
		}
		nulls, nans := t.nulls(g, l.index)
		if !arrow.IsFloating(l.restore.ID()) {
			nans = 0
		}
		s.Nulls, s.NaNs = sum(s.Nulls, nulls), sum(s.NaNs, nans)
		if nulls == rows || nulls >= 0 && nans >= 0 && nulls+nans == rows {
			continue
		}
		b := t.bounds(g, l)
		if known = known && b.low != nil && b.high != nil; !known {
			continue
		}
		s.Exact = s.Exact && b.exact && !isZero(b.low) && !isZero(b.high)
		if s.Min, known = extreme(s.Min, b.low, -1); known {
			s.Max, known = extreme(s.Max, b.high, 1)
		}
	}
	if !known {
		s.Min, s.Max = nil, nil
	}
	s.Exact = s.Exact && s.Min != nil
}

// sum adds counts, of which -1 is not known.
func sum(a, b int64) int64 {
	if a < 0 || b < 0 {
		return -1
	}
	return a + b
}

// extreme is the lesser of two arrays of one value, or with sign 1 the greater. The first may be nil.
func extreme(a, b arrow.Array, sign int) (arrow.Array, bool) {
	if a == nil {
		return b, limitsOf(b)(0).IsKnown()
	}
	order, ok := limitsOf(a)(0).Compare(limitsOf(b)(0))
	if ok && order*sign < 0 {
		return b, true
	}
	return a, ok
}

// isZero reports whether a bound is a zero of floats: writers do not tell -0.0 from 0.0.
func isZero(a arrow.Array) bool {
	float := arrowutil.Floats(a)
	return float != nil && float(0) == 0
}
