package traceql

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/rowset"
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
	need    []int         // the columns of its spans that the evaluation reads, by index in the schema
	arrow   *arrow.Schema // of these columns, under the names of their paths
	details []int         // the columns of the spans of results; nil if the evaluation reads them, too
	rows    RowSource     // which details are read of
	filters []spansetFilter
}

// spansetFilter is the condition of a spanset filter, lowered for a source.
type spansetFilter struct {
	cond  lower.Cond
	bound *filter.Bound // nil if the filter excludes all spans, or none
}

// newSources are the sources that have spans: files without any have no columns. more, if it is not nil, are further columns to read, and those of
// results are read at once.
func newSources(sources []Source, q *Query, more func(*spans.Schema) []int) (list []*source, err error) {
	fields := lower.ResultFields(q.tree.Pipeline)
	for i, src := range sources {
		if src.Schema().NumFields() == 0 {
			continue
		}
		rows := numbered(src)
		own, err := newSource(src, i, func(s *spans.Schema) []int {
			need := lower.TraceColumns(s, q.tree.Pipeline)
			if more != nil {
				need = append(need, more(s)...)
			}
			if more != nil || rows == nil {
				need = append(need, lower.ResultColumns(s, fields)...)
			}
			return need
		})
		if err == nil && more == nil && rows != nil {
			own.rows, own.details = rows, lower.Sorted(lower.ResultColumns(own.schema, fields))
		}
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

func newSource(src Source, index int, columns func(*spans.Schema) []int) (*source, error) {
	schema, err := spans.NewSchema(src.Schema())
	if err != nil {
		return nil, fmt.Errorf("source %d: %w", index, err)
	}
	s := &source{Source: src, index: index, schema: schema, need: lower.Sorted(columns(schema))}
	fields := make([]arrow.Field, len(s.need))
	for k, i := range s.need {
		path := schema.Column(i).Path
		fields[k] = src.Schema().Field(i)
		fields[k].Name = unescaped(path)
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
	return func(yield func(*spans.Batch, error) bool) {
		for rec, err := range s.Scan(ctx, s.paths(need), f) {
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

func (s *source) paths(columns []int) []string {
	list := make([]string, len(columns))
	for k, i := range columns {
		list[k] = s.schema.Column(i).Path
	}
	return list
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

// fetch reads all spans of some traces. They are valid until release.
func (s *search) fetch(ids []string) (f *fetched, err error) {
	f = &fetched{place: make(map[string]int32, len(ids)), counts: make([]int, len(ids))}
	for i, id := range ids {
		f.place[id] = int32(i)
	}
	defer func() {
		if err != nil {
			f.release()
		}
	}()
	for _, src := range s.sources {
		for b, err := range src.scan(s.ctx, src.need, lower.In(src.traceID(), ids)) {
			if err != nil {
				return f, err
			}
			batch, err := spans.NewBatch(src.schema, b.RecordBatch, src.need)
			if err == nil {
				batch.Verdicts, err = src.verdicts(s.ctx, b.RecordBatch)
			}
			if err == nil && f.size > s.o.MaxBytes {
				err = errTooLarge
			}
			if err != nil {
				return f, err
			}
			f.add(part{batch, src, b.Numbers})
		}
	}
	if f.size > s.o.MaxBytes {
		return f, errTooLarge
	}
	return f, nil
}

// scan is the rows of a scan, with their numbers if details are read of the source.
func (s *source) scan(ctx context.Context, need []int, f filter.Expr) iter.Seq2[Rows, error] {
	if s.rows != nil {
		return s.rows.ScanRows(ctx, s.paths(need), f, nil)
	}
	return func(yield func(Rows, error) bool) {
		for b, err := range s.Scan(ctx, s.paths(need), f) {
			if !yield(Rows{RecordBatch: b}, err) {
				return
			}
		}
	}
}

// fetched is spans of traces that were read.
type fetched struct {
	place  map[string]int32 // of a trace
	counts []int            // of the spans of each trace
	parts  []part
	of     [][]int32 // for each row of a part its trace, or -1
	size   int64     // in bytes
}

// part is rows of a source.
type part struct {
	*spans.Batch
	source  *source
	numbers []rowset.Range
}

const perSpan = 64

func (f *fetched) add(p part) {
	of := make([]int32, p.Record.NumRows())
	last, known := []byte(nil), int32(-1)
	for row := range of {
		if id := p.TraceID(row); row == 0 || !bytes.Equal(id, last) {
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
	p.Record.Retain()
	f.parts, f.of = append(f.parts, p), append(f.of, of)
	f.size += p.Size() + perSpan*int64(len(of))
}

func (f *fetched) release() {
	for _, p := range f.parts {
		p.Record.Release()
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
	for k, p := range f.parts {
		for row, i := range f.of[k] {
			if i >= 0 {
				out[i] = append(out[i], eval.Span{Batch: p.Batch, Row: int32(row), Start: p.Start(row)})
			}
		}
	}
	return out
}
