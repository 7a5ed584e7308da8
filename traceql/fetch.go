package traceql

import (
	"bytes"
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

// newSources are the sources that have spans: files without any have no columns. more, if it is not nil, are further columns to read.
func newSources(sources []Source, q *Query, more func(*spans.Schema) []int) (list []*source, err error) {
	for i, src := range sources {
		if src.Schema().NumFields() == 0 {
			continue
		}
		own, err := newSource(src, i, func(s *spans.Schema) []int {
			need := traceColumns(s, q.tree.Pipeline)
			if more != nil {
				need = append(need, more(s)...)
			}
			return need
		})
		if err == nil {
			err = own.bind(q)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, own)
	}
	return list, nil
}

// traceColumns are the columns of whole traces that a query needs, as indexes in any order.
func traceColumns(s *spans.Schema, query lang.Stage) []int {
	need := columnsOf(s, query, spans.TraceID, spans.SpanID, spans.ParentID, spans.Name, spans.KindName, spans.Start, spans.End, spans.Duration)
	return append(need, s.Needs(&lang.Field{Scope: lang.ResourceScope, Name: "service.name"})...)
}

// columnsOf are the columns with some names, and those of the fields of a stage.
func columnsOf(s *spans.Schema, stage lang.Stage, names ...string) (need []int) {
	for _, name := range names {
		if c, ok := s.One(name); ok {
			need = append(need, c.Index)
		}
	}
	lang.Expressions(stage, func(e *lang.Expr) {
		if e.Op == lang.FieldOf {
			need = append(need, s.Needs(e.Field)...)
		}
	})
	return need
}

func newSource(src Source, index int, columns func(*spans.Schema) []int) (*source, error) {
	schema, err := spans.NewSchema(src.Schema())
	if err != nil {
		return nil, fmt.Errorf("source %d: %w", index, err)
	}
	s := &source{Source: src, index: index, schema: schema, need: columns(schema)}
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
	return s, nil
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

// batches are the rows of a scan, with the columns whose indexes are in need.
func (s *source) batches(ctx context.Context, need []int, f filter.Expr) iter.Seq2[*spans.Batch, error] {
	columns := make([]string, len(need))
	for k, i := range need {
		columns[k] = s.schema.Column(i).Path
	}
	return func(yield func(*spans.Batch, error) bool) {
		for rec, err := range s.Scan(ctx, columns, f) {
			var batch *spans.Batch
			if err == nil {
				batch, err = spans.NewBatch(s.schema, rec, need)
			}
			if !yield(batch, err) || err != nil {
				return
			}
		}
	}
}

// verdicts evaluates the spanset filters on a batch.
func (s *source) verdicts(ctx context.Context, rec arrow.RecordBatch) ([]spans.Verdict, error) {
	list := make([]spans.Verdict, len(s.filters))
	renamed := array.NewRecordBatch(s.arrow, rec.Columns(), rec.NumRows())
	defer renamed.Release()
	for i, f := range s.filters {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
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

// fetch reads all spans of some traces: a list for each. The spans are valid until release.
func (s *search) fetch(ids []string) (traces [][]eval.Span, release func(), err error) {
	f := fetched{place: make(map[string]int32, len(ids)), counts: make([]int, len(ids))}
	for i, id := range ids {
		f.place[id] = int32(i)
	}
	defer func() {
		if err != nil {
			f.release()
		}
	}()
	for _, src := range s.sources {
		for rec, err := range src.traces(s.ctx, ids) {
			if err == nil {
				err = f.add(s.ctx, src, rec)
			}
			if err == nil && f.size > s.o.MaxBytes {
				err = errTooLarge
			}
			if err != nil {
				return nil, nil, err
			}
		}
	}
	return f.traces(), f.release, nil
}

// fetched is spans of traces that were read.
type fetched struct {
	place   map[string]int32 // of a trace
	counts  []int            // of the spans of each trace
	batches []*spans.Batch
	of      [][]int32 // for each row of a batch its trace, or -1
	size    int64     // in bytes
}

const perSpan = 64

func (f *fetched) add(ctx context.Context, src *source, rec arrow.RecordBatch) error {
	batch, err := spans.NewBatch(src.schema, rec, src.need)
	if err != nil {
		return err
	}
	if batch.Verdicts, err = src.verdicts(ctx, rec); err != nil {
		return err
	}
	of := make([]int32, rec.NumRows())
	last, known := []byte(nil), int32(-1)
	for row := range of {
		if id := batch.TraceID(row); row == 0 || !bytes.Equal(id, last) {
			var ok bool
			if known, ok = f.place[string(id)]; !ok {
				known = -1
			}
			last = id
		}
		if of[row] = known; known >= 0 {
			f.counts[known]++
		}
	}
	rec.Retain()
	f.batches, f.of = append(f.batches, batch), append(f.of, of)
	f.size += batch.Size() + perSpan*rec.NumRows()
	return nil
}

func (f *fetched) release() {
	for _, b := range f.batches {
		b.Record.Release()
	}
}

// traces are the spans of each trace, in the order in which they were read.
func (f *fetched) traces() [][]eval.Span {
	total := 0
	for _, n := range f.counts {
		total += n
	}
	all, out := make([]eval.Span, total), make([][]eval.Span, len(f.counts))
	for i, n := range f.counts {
		out[i], all = all[:0:n], all[n:]
	}
	for k, batch := range f.batches {
		for row, i := range f.of[k] {
			if i >= 0 {
				out[i] = append(out[i], eval.Span{Batch: batch, Row: row, Start: batch.Start(row)})
			}
		}
	}
	return out
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
