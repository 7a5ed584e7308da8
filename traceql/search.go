package traceql

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/amudai/amudai-go/traceql/internal/eval"
	"github.com/amudai/amudai-go/traceql/internal/fetched"
	"github.com/amudai/amudai-go/traceql/internal/lower"
)

// Order is the order of the traces of a search.
type Order uint8

const (
	// AsStored is the order of the first spans that may match, source by source. A search with a limit ends early.
	AsStored Order = iota
	// MostRecent begins with the latest start. Traces with equal starts are ordered by id. All candidates are looked for first; with a
	// limit, only those are read that may be among the latest. A query with the hint most_recent=true has this order, too.
	MostRecent
)

// Options are the options of [Search]. The zero value is the default.
type Options struct {
	// Limit is the maximum number of traces, by default all.
	Limit int
	// Spans is the maximum number of spans of each spanset in the result, the first ones by start; by default all. Spanset.Matched counts all.
	Spans int
	// Order is the order of the traces.
	Order Order
	// Start and End restrict the search to traces with a span that began in this time, both included. The other spans of such a trace are
	// looked at, too. The zero values are no bounds.
	Start, End time.Time
	// MaxTraces bounds the number of traces that are candidates, by default 1,000,000: their ids are in memory. More are an error.
	MaxTraces int
	// MaxBytes bounds the memory of the spans of a trace that is examined, by default 256 MiB. Smaller traces are examined many at
	// a time. A larger trace is an error. The columns that only results have may take as much again.
	MaxBytes int64
	// MaxSteps bounds the evaluation of the query on a trace, by default 2^30 steps, which take some seconds. A step is a look at a span, a
	// node of an expression, an element of an array, or 64 bytes of a text or an encoded event. More are an error.
	MaxSteps int64
}

const (
	defaultMaxTraces = 1_000_000
	defaultMaxBytes  = 256 << 20
	defaultMaxSteps  = 1 << 30
)

// Search returns the traces that match a query. An error ends the loop. A loop that is left early frees its memory.
//
// It is an error if there are more candidates than Options.MaxTraces, or if a trace needs more than Options.MaxBytes or Options.MaxSteps:
// nothing is left out in silence. The end of the context ends a search, also within the evaluation of a trace. Spans without a trace id belong to no trace, and are never found.
func Search(ctx context.Context, q *Query, sources []Source, o Options) iter.Seq2[*Trace, error] {
	return func(yield func(*Trace, error) bool) {
		s, err := newSearch(ctx, q, sources, o)
		if err == nil {
			err = s.run(func(t *Trace) bool { return yield(t, nil) })
		}
		if err != nil && err != errStop {
			yield(nil, err)
		}
	}
}

// search is a search that is under way.
type search struct {
	ctx       context.Context
	q         *Query
	o         Options
	sources   []*source
	fields    []lower.Field
	traces    *lower.Candidates
	counts    Run
	left      int  // matches that are still wanted; 0: all
	byMatches bool // spans that match are enough of traces that sources summarize
	scratch   eval.Scratch
}

func newSearch(ctx context.Context, q *Query, sources []Source, o Options) (*search, error) {
	if m := q.tree.Metrics(); m != nil {
		return nil, &Error{Text: q.String(), Pos: -1, Message: m.Func + "() makes time series, and finds no traces: they are asked for by Metrics"}
	}
	s := newExamination(ctx, q, o)
	var err error
	s.sources, err = newSources(ctx, sources, q, nil)
	s.byMatches = !slices.ContainsFunc(s.sources, func(src *source) bool { return src.matches == nil })
	return s, err
}

// newExamination is a search without sources.
func newExamination(ctx context.Context, q *Query, o Options) *search {
	o.MaxTraces = cmp.Or(o.MaxTraces, defaultMaxTraces)
	o.MaxBytes = cmp.Or(o.MaxBytes, defaultMaxBytes)
	o.MaxSteps = cmp.Or(o.MaxSteps, defaultMaxSteps)
	for _, h := range q.tree.Hints {
		if h.Name == "most_recent" && h.Value.Bool() {
			o.Order = MostRecent
		}
	}
	s := &search{ctx: ctx, q: q, o: o, fields: lower.ResultFields(q.tree.Pipeline), traces: q.candidates}
	if !o.Start.IsZero() || !o.End.IsZero() {
		s.traces = s.traces.Within(bounds(o.Start, o.End))
	}
	return s
}

// bounds are a time in nanoseconds since 1970. The zero values are no bounds.
func bounds(start, end time.Time) (from, to int64) {
	to = math.MaxInt64
	if !start.IsZero() {
		from = start.UnixNano()
	}
	if !end.IsZero() {
		to = end.UnixNano()
	}
	return from, to
}

// run calls yield for the traces of the result until it returns false, which is errStop.
func (s *search) run(yield func(*Trace) bool) error {
	first, err := s.matchesFirst()
	if err != nil {
		return err
	}
	if first {
		of, err := s.fetch(nil, true)
		if err == nil {
			s.counts.Candidates += int64(len(of.IDs))
			err = s.evaluated(of, s.visitResults(yield))
		}
		if err != errTooLarge {
			return err
		}
	}
	if s.o.Order == AsStored {
		return s.results(s.candidates(s.traces), s.o.Limit, yield)
	}
	list, err := s.mostRecent()
	if err != nil {
		return err
	}
	return s.results(func(yield func(string, error) bool) {
		for _, f := range list {
			if !yield(f.id, nil) {
				return
			}
		}
	}, 0, yield)
}

// rarer is how many times as many rows as the rarest condition leaves are read to know which traces meet all.
const rarer = 4

// matchesFirst reports whether all spans that match are read, without a look for candidates before: any of them makes a trace one, or no condition is so
// rare that few of them are needed.
func (s *search) matchesFirst() (bool, error) {
	c := s.traces
	switch {
	case !s.byMatches || s.o.Order != AsStored || s.o.Limit > 0 || c != s.q.candidates:
		return false, nil
	case c.And == nil && c.Or == nil && max(len(c.Rows), 1) == len(s.q.program.Filters):
		return true, nil
	}
	least, err := s.estimate(c)
	all := int64(0)
	for _, src := range s.sources {
		if cond := lower.Matches(src.schema, s.q.tree.Pipeline); err == nil && !cond.None() {
			var n int64
			n, err = src.estimate(s.ctx, cond)
			all = min(all+n, everything-1)
			if cond.All() {
				return false, nil
			}
		}
	}
	return all <= rarer*min(least, everything/rarer), err
}

// results yields the matches among candidates, in their order, up to a number of them.
func (s *search) results(ids iter.Seq2[string, error], limit int, yield func(*Trace) bool) error {
	s.left = limit
	return s.examine(ids, s.visitResults(yield))
}

// visitResults yields the results of matches.
func (s *search) visitResults(yield func(*Trace) bool) func([]match) error {
	return func(list []match) error {
		return s.withDetails(list, func(m match) error {
			t, err := s.result(m)
			if err != nil {
				return err
			}
			s.counts.Traces++
			if s.left--; !yield(t) || s.left == 0 {
				return errStop
			}
			return nil
		})
	}
}

// found is a trace, and its start or an earlier time.
type found struct {
	id    string
	start int64
}

func latest(a, b found) int {
	return cmp.Or(cmp.Compare(b.start, a.start), cmp.Compare(a.id, b.id))
}

// latestOnly reports whether the traces with the latest starts are looked for, a limited number of them.
func (s *search) latestOnly() bool { return s.o.Order == MostRecent && s.o.Limit > 0 }

// mostRecent are the matches by their start, up to the limit. A trace does not begin later than a span of it: with a limit, candidates are examined
// by the starts of the spans that made them candidates, until no other can be among the latest.
func (s *search) mostRecent() (list []found, err error) {
	ids := s.candidates(s.traces)
	if s.latestOnly() {
		set, err := s.collect(s.traces, nil)
		if err != nil {
			return nil, err
		}
		s.counts.Candidates += int64(len(set.Order))
		candidates := make([]found, len(set.Order))
		for i, id := range set.Order {
			candidates[i] = found{id, set.Starts[i]}
		}
		slices.SortFunc(candidates, latest)
		ids = func(yield func(string, error) bool) {
			for _, c := range candidates {
				full := len(list) == s.o.Limit
				if full && c.start < list[len(list)-1].start || !yield(c.id, nil) {
					return
				}
			}
		}
	}
	err = s.examine(ids, func(matches []match) error {
		for _, m := range matches {
			start, _ := m.trace.Times()
			list = append(list, found{m.id, start})
		}
		if s.o.Limit > 0 {
			slices.SortFunc(list, latest)
			list = list[:min(len(list), s.o.Limit)]
		}
		return nil
	})
	slices.SortFunc(list, latest)
	return list, err
}

// match is a trace that matches, while its spans are in memory.
type match struct {
	id    string
	group *fetched.Group // that it was read with
	trace *eval.Trace
	sets  []eval.Set
	work  *eval.Work
}

// lastGroup is the most traces that are read at a time. The first groups of a search with a limit are small, so that it ends soon.
const lastGroup = 4096

// examine reads candidates in groups, evaluates the query on each, and calls visit for those of a group that match.
func (s *search) examine(ids iter.Seq2[string, error], visit func([]match) error) error {
	size := lastGroup
	if s.o.Limit > 0 {
		size = min(max(s.o.Limit, 8), lastGroup)
	}
	var group []string
	for id, err := range ids {
		if err != nil {
			return err
		}
		group = append(group, id)
		if len(group) < size {
			continue
		}
		if err := s.group(group, visit); err != nil {
			return err
		}
		group, size = group[:0], min(4*size, lastGroup)
	}
	return s.group(group, visit)
}

// group evaluates the query on some traces.
func (s *search) group(ids []string, visit func([]match) error) error {
	return halved(ids, func(ids []string) error {
		of, err := s.fetch(ids, false)
		if err != nil {
			return s.tooLarge(err, len(ids), ids[0])
		}
		return s.evaluated(of, visit)
	})
}

// halved calls do with a list, or with its halves if it is too large.
func halved[T any](list []T, do func([]T) error) error {
	if len(list) == 0 {
		return nil
	}
	err := do(list)
	if err != errTooLarge || len(list) == 1 {
		return err
	}
	half := len(list) / 2
	if err := halved(list[:half], do); err != nil {
		return err
	}
	return halved(list[half:], do)
}

// evaluated evaluates the query on the traces of a group, which it releases.
func (s *search) evaluated(of *fetched.Group, visit func([]match) error) error {
	defer of.Release()
	s.counts.Fetched += int64(len(of.IDs))
	var list []match
	for i, spans := range of.Traces() {
		m, err := s.evaluate(match{id: of.IDs[i], group: of}, spans, of.Summary(i))
		if err != nil {
			return cmp.Or(visit(list), err) // what comes before it is in the result
		}
		if len(m.sets) == 0 {
			continue
		}
		if list = append(list, m); len(list) == s.left {
			break
		}
	}
	return visit(list)
}

// evaluate runs the query on the spans of a trace; without sets it does not match.
func (s *search) evaluate(m match, spans []eval.Span, whole *eval.Summary) (match, error) {
	if err := s.ctx.Err(); err != nil {
		return m, err
	}
	m.work = eval.NewWork(s.ctx, s.o.MaxSteps)
	if whole != nil {
		m.trace = s.q.program.NewSummarized(spans, whole, &s.scratch)
	} else {
		m.trace = s.q.program.NewTrace(spans, &s.scratch)
	}
	s.counts.Spans += int64(len(m.trace.Spans))
	var err error
	m.sets, err = s.q.program.Run(m.trace, m.work)
	s.counts.Evaluated += m.trace.Looks
	s.counts.Steps += m.work.Steps
	if err != nil {
		return m, fmt.Errorf("trace %x: %w", m.id, err)
	}
	return m, nil
}
