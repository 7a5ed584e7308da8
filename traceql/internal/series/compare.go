package series

import (
	"cmp"
	"maps"
	"slices"

	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Comparison counts the values of attributes in a selection of spans, and in the others.
type Comparison struct {
	f     *lang.Metrics
	w     Window
	limit int
	cells int
	sides [2]map[string]*attribute // of the baseline, of the selection
}

// attribute is the values of an attribute.
type attribute struct {
	totals []float64
	values map[string]*counted
}

type counted struct {
	value  value.Value
	counts []float64
	sum    float64
}

// NewComparison makes the series of compare(). limit bounds the values of all series before some are left out.
func NewComparison(f *lang.Metrics, w Window, limit int) *Comparison {
	return &Comparison{f: f, w: w, limit: limit, sides: [2]map[string]*attribute{{}, {}}}
}

// Add counts an attribute of a span in an interval of the window. Durations are not counted: nearly all differ.
func (c *Comparison) Add(selected bool, i int, name string, v value.Value) error {
	switch v.Kind() {
	case value.Nil, value.Duration, value.Other:
		return nil
	}
	side := c.sides[0]
	if selected {
		side = c.sides[1]
	}
	a := side[name]
	if a == nil {
		if err := take(&c.cells, c.w, c.limit); err != nil {
			return err
		}
		a = &attribute{totals: make([]float64, c.w.Len()), values: map[string]*counted{}}
		side[name] = a
	}
	key := v.Key()
	n := a.values[key]
	if n == nil {
		if err := take(&c.cells, c.w, c.limit); err != nil {
			return err
		}
		n = &counted{value: v.Clone(), counts: make([]float64, c.w.Len())}
		a.values[key] = n
	}
	a.totals[i]++
	n.counts[i]++
	n.sum++
	return nil
}

// Result are the most frequent values of each attribute on both sides, the totals, and a mark on the attributes with more values.
func (c *Comparison) Result() (list []Series) {
	many := map[string]bool{}
	add := func(label, kind, name string, v value.Value, counts []float64) {
		list = append(list, Series{Labels: []Label{{label, value.OfString(kind)}, {name, v}}, Values: counts})
	}
	for side, kind := range []string{"baseline", "selection"} {
		for _, name := range slices.Sorted(maps.Keys(c.sides[side])) {
			a := c.sides[side][name]
			add("__meta_type", kind+"_total", name, value.Value{}, a.totals)
			most := slices.SortedFunc(maps.Values(a.values), func(x, y *counted) int {
				return cmp.Or(cmp.Compare(y.sum, x.sum), cmp.Compare(x.value.Key(), y.value.Key()))
			})
			many[name] = many[name] || len(most) > c.f.Top
			for _, n := range most[:min(len(most), c.f.Top)] {
				add("__meta_type", kind, name, n.value, n.counts)
			}
		}
	}
	for name, yes := range many {
		if yes {
			add("__meta_error", "__too_many_values__", name, value.Value{}, nil)
		}
	}
	slices.SortStableFunc(list, func(a, b Series) int { return compareLabels(a.Labels, b.Labels) })
	return list
}
