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
	// a time. A larger trace is an error.
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
	ctx     context.Context
	q       *Query
	o       Options
	sources []*source
	fields  []resultField
	traces  *lower.Candidates
	counts  Run
}

func newSearch(ctx context.Context, q *Query, sources []Source, o Options) (*search, error) {
	if m := q.tree.Metrics(); m != nil {
		return nil, &Error{Text: q.String(), Pos: -1, Message: m.Func + "() makes time series, and finds no traces: they are asked for by Metrics"}
	}
	s := newExamination(ctx, q, o)
	var err error
	s.sources, err = newSources(sources, q, nil)
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
	s := &search{ctx: ctx, q: q, o: o, fields: resultFields(q.tree.Pipeline), traces: q.candidates}
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
	if s.o.Order == MostRecent {
		return s.mostRecent(yield)
	}
	left := s.o.Limit
	return s.examine(s.candidates(s.traces), func(m match) error {
		t, err := s.result(m)
		if err != nil {
			return err
		}
		if err := s.emit(t, yield); err != nil {
			return err
		}
		if left--; left == 0 {
			return errStop
		}
		return nil
	})
}

// found is a match whose spans are no longer in memory.
type found struct {
	id    string
	start int64
	trace *Trace // nil if it is to be read again
}

func latest(a, b found) int {
	return cmp.Or(cmp.Compare(b.start, a.start), cmp.Compare(a.id, b.id))
}

// latestOnly reports whether the traces with the latest starts are looked for, a limited number of them.
func (s *search) latestOnly() bool { return s.o.Order == MostRecent && s.o.Limit > 0 }

// mostRecent yields matches by their start. With a limit it keeps the latest results, otherwise only ids, and reads the traces again.
func (s *search) mostRecent(yield func(*Trace) bool) error {
	if s.latestOnly() {
		return s.latestTraces(yield)
	}
	var list []found
	err := s.examine(s.candidates(s.traces), func(m match) error {
		start, _ := m.trace.Times()
		list = append(list, found{id: m.id, start: start})
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(list, latest)
	ids := func(yield func(string, error) bool) {
		for _, f := range list {
			if !yield(f.id, nil) {
				return
			}
		}
	}
	return s.examine(ids, func(m match) error {
		t, err := s.result(m)
		if err != nil {
			return err
		}
		return s.emit(t, yield)
	})
}

func (s *search) emit(t *Trace, yield func(*Trace) bool) error {
	s.counts.Traces++
	if !yield(t) {
		return errStop
	}
	return nil
}

// latestTraces yields the matches with the latest starts. A trace does not begin later than a span of it: candidates are examined by the starts
// of the spans that made them candidates, until no other can be among the latest.
func (s *search) latestTraces(yield func(*Trace) bool) error {
	set, err := s.collect(s.traces, nil)
	if err != nil {
		return err
	}
	s.counts.Candidates += int64(len(set.order))
	candidates := make([]found, len(set.order))
	for i, id := range set.order {
		candidates[i] = found{id: id, start: set.starts[i]}
	}
	slices.SortFunc(candidates, latest)
	var list []found
	ids := func(yield func(string, error) bool) {
		for _, c := range candidates {
			full := len(list) == s.o.Limit
			if full && c.start < list[len(list)-1].start || !yield(c.id, nil) {
				return
			}
		}
	}
	err = s.examine(ids, func(m match) error {
		f := found{id: m.id}
		f.start, _ = m.trace.Times()
		at, _ := slices.BinarySearchFunc(list, f, latest)
		if at == s.o.Limit {
			return nil
		}
		var err error
		if f.trace, err = s.result(m); err != nil {
			return err
		}
		list = slices.Insert(list, at, f)
		list = list[:min(len(list), s.o.Limit)]
		return nil
	})
	if err != nil {
		return err
	}
	for _, f := range list {
		if err := s.emit(f.trace, yield); err != nil {
			return err
		}
	}
	return nil
}

// match is a trace that matches, while its spans are in memory.
type match struct {
	id    string
	trace *eval.Trace
	sets  []eval.Set
	work  *eval.Work
}

// lastGroup is the most traces that are read at a time. The first groups of a search with a limit are small, so that it ends soon.
const lastGroup = 4096

// examine reads candidates in groups, evaluates the query on each, and calls emit for those that match.
func (s *search) examine(ids iter.Seq2[string, error], emit func(match) error) error {
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
		if err := s.group(group, emit); err != nil {
			return err
		}
		group, size = group[:0], min(4*size, lastGroup)
	}
	return s.group(group, emit)
}

// group evaluates the query on some traces, in halves if they are too large for one.
func (s *search) group(ids []string, emit func(match) error) error {
	if len(ids) == 0 {
		return nil
	}
	traces, release, err := s.fetch(ids)
	if err == errTooLarge && len(ids) > 1 {
		half := len(ids) / 2
		if err := s.group(ids[:half], emit); err != nil {
			return err
		}
		return s.group(ids[half:], emit)
	}
	if err != nil {
		return s.tooLarge(err, ids[0])
	}
	defer release()
	var scratch eval.Scratch
	s.counts.Fetched += int64(len(ids))
	for i, list := range traces {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		t := eval.NewTrace(list, &scratch)
		s.counts.Spans += int64(len(t.Spans))
		work := eval.NewWork(s.ctx, s.o.MaxSteps)
		sets, err := s.q.program.Run(t, work)
		s.counts.Evaluated += t.Looks
		s.counts.Steps += work.Steps
		if err != nil {
			return fmt.Errorf("trace %x: %w", ids[i], err)
		}
		if len(sets) > 0 {
			if err := emit(match{ids[i], t, sets, work}); err != nil {
				return err
			}
		}
	}
	return nil
}
