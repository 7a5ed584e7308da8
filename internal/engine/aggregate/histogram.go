package aggregate

import (
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/column"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/keys"
	"github.com/amudai/amudai-go/internal/engine/histogram"
)

// bindHistogram binds the numbers of values in bins. Those of lists are the values of their elements.
func bindHistogram(_ *plan, c *bound) error {
	var of [3]float64
	for i := range of {
		n := c.call.Args[1+i]
		v, err := strconv.ParseFloat(n.Lit.Text, 64)
		if err != nil || i == 2 && (v < 1 || v > histogram.MostBins || v != math.Trunc(v)) {
			return errorAt(n.Pos, "the bounds of hist are numbers, and there are 1 to %d bins: hist(%s, 0, 100, 50)", histogram.MostBins, c.arg.name)
		}
		of[i] = v
	}
	edges, ok := histogram.New(of[0], of[1], int(of[2]))
	if !ok {
		return errorAt(c.call.Args[1].Pos, "hist has no %v bins from %v to %v", of[2], of[0], of[1])
	}
	dt := c.plain()
	for kinds.Of(dt) == kinds.List && dt.ID() != arrow.MAP {
		dt = kinds.Unwrapped(kinds.Fields(dt)[0].Type)
	}
	if !isNumber(dt) {
		return refuse(c, "numbers, or lists of them")
	}
	c.need(needPlain)
	c.dt = histogram.Type
	c.make = func(a *Aggregator) builder {
		s := stateOf(a, c.call.Text, c, false, func() (*bins, error) { return &bins{mem: a.o.Allocator, edges: edges}, nil })
		return func(from, to int) (arrow.Array, error) { return edges.Array(a.o.Allocator, s.n[from:to]), nil }
	}
	return nil
}

// bins are the histograms of groups.
type bins struct {
	perGroup[[]int64]
	mem   memory.Allocator
	edges histogram.Bins
}

func (s *bins) size() int64 { return s.perGroup.size() + int64(len(s.n)*8*s.edges.Len()) }

func (s *bins) add(groups []uint32, arg *argument) error { return s.addColumn(groups, &arg.column) }

func (s *bins) addColumn(groups []uint32, c *column.Column) error {
	if list, ok := c.Array.(array.ListLike); ok {
		items, of := histogram.Elements(list, groups)
		defer items.Release()
		var inner column.Column
		if err := inner.Load(s.mem, items); err != nil {
			return err
		}
		defer inner.Release()
		return s.addColumn(of, &inner)
	}
	for i, x := range c.Reals() {
		if k, g := s.edges.Find(x), groups[i]; k >= 0 && g != keys.None {
			if s.n[g] == nil {
				s.n[g] = make([]int64, s.edges.Len())
			}
			s.n[g][k]++
		}
	}
	return nil
}
