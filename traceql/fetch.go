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
func (s *source) verdicts(ctx context.Context, rec arrow.RecordBatch) ([]eval.Verdict, error) {
	list := make([]eval.Verdict, len(s.filters))
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
			n, err := src.add(s.ctx, traces, place, rec)
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
func (s *source) add(ctx context.Context, traces [][]eval.Span, place map[string]int, rec arrow.RecordBatch) (int64, error) {
	batch, err := spans.NewBatch(s.schema, rec, s.need)
	if err != nil {
		return 0, err
	}
	verdicts, err := s.verdicts(ctx, rec)
	if err != nil {
		return 0, err
	}
	for row := range int(rec.NumRows()) {
		i, ok := place[string(batch.Bytes(spans.TraceID, row))]
		if !ok {
			continue
		}
		start, _ := batch.Number(spans.Start, row)
		kind, _ := batch.Number(spans.KindName, row)
		traces[i] = append(traces[i], eval.Span{
			Batch: batch, Row: row, Verdicts: verdicts, ID: batch.Bytes(spans.SpanID, row), Parent: batch.Parent(row), Start: start, Kind: kind,
		})
	}
	const perSpan = 128
	return batch.Size() + perSpan*rec.NumRows(), nil
}
