package traceql

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/traceql/internal/eval"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/lower"
	"github.com/amudai/amudai-go/traceql/internal/spans"
)

var (
	errStop     = errors.New("the caller has enough")
	errTooLarge = errors.New("the spans of the traces are too large")
)

func (s *search) tooLarge(err error, id string) error {
	if err == errTooLarge {
		return fault.Limitf("the spans of trace %x need more than %d bytes", id, s.o.MaxBytes)
	}
	return err
}

// source is a Source with what a query needs of it.
type source struct {
	Source
	index   int // in the sources of the search
	schema  *spans.Schema
	need    []int // the columns of its spans that are read, by index in the schema
	columns []string
	arrow   *arrow.Schema // of these columns, under the names of their paths
	filters []spansetFilter
}

// spansetFilter is the condition of a spanset filter, lowered for a source.
type spansetFilter struct {
	cond  lower.Cond
	bound *filter.Bound // nil if the filter excludes all spans, or none
}

// newSources are the sources that have spans: files without any have no columns.
func newSources(sources []Source, q *Query) (list []*source, err error) {
	for i, src := range sources {
		if src.Schema().NumFields() == 0 {
			continue
		}
		own, err := newSource(src, i, q)
		if err != nil {
			return nil, err
		}
		list = append(list, own)
	}
	return list, nil
}

func newSource(src Source, index int, q *Query) (*source, error) {
	schema, err := spans.NewSchema(src.Schema())
	if err != nil {
		return nil, fmt.Errorf("source %d: %w", index, err)
	}
	s := &source{Source: src, index: index, schema: schema}
	for _, name := range []string{spans.TraceID, spans.SpanID, spans.ParentID, spans.Name, spans.Start, spans.End, spans.Duration} {
		if c, ok := schema.One(name); ok {
			s.need = append(s.need, c.Index)
		}
	}
	s.need = append(s.need, schema.Needs(&lang.Field{Scope: lang.ResourceScope, Name: "service.name"})...)
	lang.Expressions(q.tree.Pipeline, func(e *lang.Expr) {
		if e.Op == lang.FieldOf {
			s.need = append(s.need, schema.Needs(e.Field)...)
		}
	})
	slices.Sort(s.need)
	s.need = slices.Compact(s.need)
	fields := make([]arrow.Field, len(s.need))
	for k, i := range s.need {
		path := schema.Column(i).Path
		fields[k] = src.Schema().Field(i)
		fields[k].Name = unescaped(path)
		s.columns = append(s.columns, path)
	}
	s.arrow = arrow.NewSchema(fields, nil)
	return s, s.bind(q)
}

func (s *source) bind(q *Query) (err error) {
	s.filters = make([]spansetFilter, len(q.program.Filters))
	for i, f := range q.program.Filters {
		own := &s.filters[i]
		own.cond = lower.Lower(s.schema, f.Cond, true)
		if own.cond.All() || own.cond.None() {
			continue
		}
		if own.bound, err = filter.Bind(own.cond.Filter(), s.arrow); err != nil {
			return fmt.Errorf("source %d: %s: %w", s.index, lang.Text(f), err)
		}
	}
	return nil
}

// verdicts evaluates the spanset filters on a batch.
func (s *source) verdicts(rec arrow.RecordBatch) ([]eval.Verdict, error) {
	list := make([]eval.Verdict, len(s.filters))
	renamed := array.NewRecordBatch(s.arrow, rec.Columns(), rec.NumRows())
	defer renamed.Release()
	for i, f := range s.filters {
		list[i].Exact = f.cond.Exact()
		switch {
		case f.cond.None():
			list[i].Bits = make([]byte, (rec.NumRows()+7)/8)
		case f.bound != nil:
			bits, err := f.bound.Select(renamed)
			if err != nil {
				return nil, err
			}
			list[i].Bits = bits
		}
	}
	return list, nil
}

// idSet is ids of traces in the order in which they were found.
type idSet struct {
	order []string
	has   map[string]bool
}

func newIDSet() *idSet { return &idSet{has: map[string]bool{}} }

func (s *idSet) add(id string, limit int) (fresh bool, err error) {
	if s.has[id] {
		return false, nil
	}
	if len(s.order) == limit {
		return false, fault.Limitf("more than %d traces may match: the query needs a narrower condition, or a higher limit", limit)
	}
	s.has[id] = true
	s.order = append(s.order, id)
	return true, nil
}

// maxListed is the largest number of ids that are listed in a filter.
const maxListed = 4096

// scanIDs calls visit for the trace ids of rows that meet one of several conditions, or of all rows without any. They may repeat.
// Traces outside of within, if it is not nil, are left out.
func (s *search) scanIDs(c *lower.Candidates, within *idSet, visit func(id string) error) error {
	for _, src := range s.sources {
		cond := src.condition(c)
		if cond.None() {
			continue
		}
		if err := src.scanIDs(s.ctx, cond.Filter(), within, visit); err != nil {
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

func (s *source) scanIDs(ctx context.Context, f filter.Expr, within *idSet, visit func(id string) error) error {
	col := s.traceID()
	if within != nil && len(within.order) <= maxListed {
		f = filter.And(f, in(col, within.order))
	}
	last := ""
	for rec, err := range s.Scan(ctx, []string{col.Path}, f) {
		if err != nil {
			return err
		}
		batch := spans.NewBatch(s.schema, rec, []int{col.Index})
		for row := range int(rec.NumRows()) {
			id := batch.Bytes(spans.TraceID, row)
			if len(id) == 0 || string(id) == last {
				continue
			}
			last = string(id)
			if within != nil && !within.has[last] {
				continue
			}
			if err := visit(last); err != nil {
				return err
			}
		}
	}
	return nil
}

// in is the condition that a trace has one of some ids.
func in(col spans.Column, ids []string) filter.Expr {
	width := -1
	if fixed, ok := col.Type.(*arrow.FixedSizeBinaryType); ok {
		width = fixed.ByteWidth
	}
	list := make([]any, 0, len(ids))
	for _, id := range ids {
		if width < 0 || len(id) == width { // ids of other sources may be longer
			list = append(list, []byte(id))
		}
	}
	return filter.In(filter.Col(col.Path), list...)
}

// fetch reads all spans of some traces: a list for each. The spans are valid until release.
func (s *search) fetch(ids []string) (traces [][]eval.Span, release func(), err error) {
	place := make(map[string]int, len(ids))
	for i, id := range ids {
		place[id] = i
	}
	traces = make([][]eval.Span, len(ids))
	var kept []arrow.RecordBatch
	free := func() {
		for _, rec := range kept {
			rec.Release()
		}
	}
	defer func() {
		if err != nil {
			free()
		}
	}()
	size := int64(0)
	for _, src := range s.sources {
		for rec, err := range src.traces(s.ctx, ids) {
			if err != nil {
				return nil, nil, err
			}
			rec.Retain()
			kept = append(kept, rec)
			n, err := src.add(traces, place, rec)
			if err != nil {
				return nil, nil, err
			}
			if size += n; size > s.o.MaxBytes {
				return nil, nil, errTooLarge
			}
		}
	}
	return traces, free, nil
}

// traces reads the spans of some traces, by an index of the source if it has one.
func (s *source) traces(ctx context.Context, ids []string) iter.Seq2[arrow.RecordBatch, error] {
	indexed, ok := s.Source.(TraceSource)
	if !ok || slices.ContainsFunc(ids, func(id string) bool { return len(id) != 16 }) {
		return s.Scan(ctx, s.columns, in(s.traceID(), ids))
	}
	list := make([][]byte, len(ids))
	for i, id := range ids {
		list[i] = []byte(id)
	}
	return indexed.Traces(ctx, list, s.columns)
}

// add appends the spans of a batch to their traces, and returns how many bytes they take.
func (s *source) add(traces [][]eval.Span, place map[string]int, rec arrow.RecordBatch) (int64, error) {
	verdicts, err := s.verdicts(rec)
	if err != nil {
		return 0, err
	}
	batch := spans.NewBatch(s.schema, rec, s.need)
	for row := range int(rec.NumRows()) {
		i, ok := place[string(batch.Bytes(spans.TraceID, row))]
		if !ok {
			continue
		}
		start, _ := batch.Number(spans.Start, row)
		traces[i] = append(traces[i], eval.Span{
			Batch: batch, Row: row, Verdicts: verdicts, ID: batch.Bytes(spans.SpanID, row), Parent: batch.Parent(row), Start: start,
		})
	}
	const perSpan = 128
	return batch.Size() + perSpan*rec.NumRows(), nil
}

// collect finds all candidates, or those within a set.
func (s *search) collect(c *lower.Candidates, within *idSet) (*idSet, error) {
	switch {
	case c.And != nil:
		return s.intersect(c.And, within)
	case c.Or != nil:
		set := newIDSet()
		for _, below := range c.Or {
			part, err := s.collect(below, within)
			if err != nil {
				return nil, err
			}
			for _, id := range part.order {
				if _, err := set.add(id, s.o.MaxTraces); err != nil {
					return nil, err
				}
			}
		}
		return set, nil
	}
	set := newIDSet()
	err := s.scanIDs(c, within, func(id string) error {
		_, err := set.add(id, s.o.MaxTraces)
		return err
	})
	return set, err
}

// intersect finds the traces that are in all of several candidates, in the order of the first. The rarest are found first, and the
// others only among them.
func (s *search) intersect(list []*lower.Candidates, within *idSet) (*idSet, error) {
	order, err := s.byRows(list)
	if err != nil {
		return nil, err
	}
	sets := make([]*idSet, len(list))
	left := within
	for _, i := range order {
		if sets[i], err = s.collect(list[i], left); err != nil {
			return nil, err
		}
		if left = sets[i]; len(left.order) == 0 {
			return left, nil
		}
	}
	first := slices.IndexFunc(sets, func(s *idSet) bool { return s != nil })
	if first < 0 {
		return s.collect(list[0], within)
	}
	sets[first].order = slices.DeleteFunc(sets[first].order, func(id string) bool { return !left.has[id] })
	return &idSet{sets[first].order, left.has}, nil
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
