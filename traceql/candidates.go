package traceql

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/traceql/internal/lower"
	"github.com/amudai/amudai-go/traceql/internal/spans"
)

// candidates yields the ids of the traces that may match, each once.
func (s *search) candidates(c *lower.Candidates) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		err := s.eachCandidate(c, func(id string) error {
			s.counts.Candidates++
			if !yield(id, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && err != errStop {
			yield("", err)
		}
	}
}

// lateGroup is the number of candidates of the third group in which those of further conditions are looked for.
const lateGroup = 1024

// eachCandidate is candidates. With a limit, those of the first of several conditions are looked for, and among some of them those of the others, so that
// a search ends early.
func (s *search) eachCandidate(c *lower.Candidates, visit func(string) error) error {
	list := []*lower.Candidates{c}
	if c.And != nil && s.o.Limit > 0 && s.o.Order == AsStored {
		list = c.And
	}
	if list[0].Rows == nil && !list[0].All() {
		set, err := s.collect(c, nil)
		if err != nil {
			return err
		}
		return each(set.Order, visit)
	}
	seen, some, size := lower.NewIDs(), lower.NewIDs(), lateGroup/16
	others := func() (err error) {
		left := some
		for _, other := range list[1:] {
			rows := int64(1)
			if size == lateGroup { // more than a few are needed: there may be none
				rows, err = s.estimate(other)
			}
			if rows == 0 && err == nil {
				return errStop
			}
			if err == nil {
				left, err = s.collect(other, left)
			}
			if err != nil {
				return err
			}
		}
		left = some.Only(left)
		some, size = lower.NewIDs(), min(4*size, lastGroup)
		return each(left.Order, visit)
	}
	err := s.scanIDs(list[0], nil, func(id string, start int64) error {
		fresh, err := seen.Add(id, start, s.o.MaxTraces)
		switch {
		case err != nil || !fresh:
			return err
		case len(list) == 1:
			return visit(id)
		}
		if _, err = some.Add(id, start, size); err != nil || len(some.Order) < size {
			return err
		}
		return others()
	})
	if err != nil || len(list) == 1 {
		return err
	}
	return others()
}

func each(ids []string, visit func(string) error) error {
	for _, id := range ids {
		if err := visit(id); err != nil {
			return err
		}
	}
	return nil
}

// maxListed is the largest number of ids that are listed in a filter.
const maxListed = 4096

// scanIDs calls visit for the trace ids of rows that meet one of several conditions, or of all rows without any. They may repeat.
// Traces outside of within, if it is not nil, are left out. start is that of the row if the order of the search needs it.
func (s *search) scanIDs(c *lower.Candidates, within *lower.IDs, visit func(id string, start int64) error) error {
	for _, src := range s.sources {
		cond := src.condition(c)
		if cond.None() {
			continue
		}
		if err := src.scanIDs(s.ctx, cond.Filter(), within, s.latestOnly(), visit); err != nil {
			return err
		}
	}
	return nil
}

// condition is that of the rows of candidates in a source.
func (s *source) condition(c *lower.Candidates) lower.Cond {
	if c.All() {
		return lower.Lower(s.schema, nil, true)
	}
	conds := make([]lower.Cond, len(c.Rows))
	for i, r := range c.Rows {
		conds[i] = r.Cond(s.schema)
	}
	return lower.Or(conds...)
}

func (s *source) traceID() spans.Column {
	c, _ := s.schema.One(spans.TraceID)
	return c
}

// unknownStart is the start of a span that does not tell it.
const unknownStart = math.MaxInt64

func (s *source) scanIDs(ctx context.Context, f filter.Expr, within *lower.IDs, starts bool, visit func(id string, start int64) error) error {
	col := s.traceID()
	need := []int{col.Index}
	if c, ok := s.schema.One(spans.Start); ok && starts {
		need = append(need, c.Index)
	}
	if within != nil && len(within.Order) <= maxListed {
		f = filter.And(f, lower.In(col, within.Order))
	}
	last := ""
	for batch, err := range s.batches(ctx, need, f) {
		if err != nil {
			return err
		}
		for row := range int(batch.Record.NumRows()) {
			id := batch.TraceID(row)
			if len(id) == 0 || string(id) == last {
				continue
			}
			last = string(id)
			if within != nil && !within.Has(last) {
				continue
			}
			start := batch.Start(row)
			if start == 0 {
				start = unknownStart
			}
			if err := visit(last, start); err != nil {
				return err
			}
		}
	}
	return nil
}

// collect finds all candidates, or those within a set.
func (s *search) collect(c *lower.Candidates, within *lower.IDs) (*lower.IDs, error) {
	switch {
	case c.And != nil:
		return s.intersect(c.And, within)
	case c.Or != nil:
		set := lower.NewIDs()
		for _, below := range c.Or {
			part, err := s.collect(below, within)
			if err != nil {
				return nil, err
			}
			for i, id := range part.Order {
				if _, err := set.Add(id, part.Starts[i], s.o.MaxTraces); err != nil {
					return nil, err
				}
			}
		}
		return set, nil
	}
	set := lower.NewIDs()
	err := s.scanIDs(c, within, func(id string, start int64) error {
		_, err := set.Add(id, start, s.o.MaxTraces)
		return err
	})
	return set, err
}

// intersect finds the traces that are in all of several candidates, in the order of the first. The rarest are found first, and the
// others only among them.
func (s *search) intersect(list []*lower.Candidates, within *lower.IDs) (*lower.IDs, error) {
	order, err := s.byRows(list)
	if err != nil {
		return nil, err
	}
	sets := make([]*lower.IDs, len(list))
	left := within
	for _, i := range order {
		if sets[i], err = s.collect(list[i], left); err != nil {
			return nil, err
		}
		if left = sets[i]; len(left.Order) == 0 {
			return left, nil
		}
	}
	first := slices.IndexFunc(sets, func(s *lower.IDs) bool { return s != nil })
	if first < 0 {
		return s.collect(list[0], within)
	}
	return sets[first].Only(left), nil
}

// byRows orders candidates by the rows to look at, and leaves out those that all traces of all sources are.
func (s *search) byRows(list []*lower.Candidates) (order []int, err error) {
	rows := make([]int64, len(list))
	for i, c := range list {
		if rows[i], err = s.estimate(c); err != nil {
			return nil, err
		}
		if rows[i] != everything {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(max(rows[a]-rows[b], -1), 1)) })
	return order, nil
}

// everything is the estimate of a condition that excludes no row; unknown that of one whose source has none.
const (
	everything = 1<<62 - 1
	unknown    = 1 << 50
)

// estimate is the number of rows to look at for candidates.
func (s *search) estimate(c *lower.Candidates) (rows int64, err error) {
	if c.Rows == nil {
		for i, below := range slices.Concat(c.And, c.Or) {
			n, err := s.estimate(below)
			switch {
			case err != nil:
				return 0, err
			case i == 0:
				rows = n
			case c.And != nil:
				rows = min(rows, n)
			default:
				rows = min(rows+n, everything-1)
			}
		}
		return rows, nil
	}
	all := true
	for _, src := range s.sources {
		cond := src.condition(c)
		if cond.None() {
			all = false
			continue
		}
		all = all && cond.All()
		n, err := src.estimate(s.ctx, cond)
		if err != nil {
			return 0, err
		}
		rows = min(rows+n, everything-1)
	}
	if all {
		return everything, nil
	}
	return rows, nil
}

func (s *source) estimate(ctx context.Context, cond lower.Cond) (int64, error) {
	explained, ok := s.Source.(ExplainedSource)
	if !ok {
		return unknown, nil
	}
	_, rows, err := explained.ExplainScan(ctx, []string{s.traceID().Path}, cond.Filter())
	if rows < 0 {
		rows = unknown
	}
	return rows, err
}
