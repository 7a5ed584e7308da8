package traceql

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/traceql/internal/eval"
	"github.com/amudai/amudai-go/traceql/internal/fetched"
	"github.com/amudai/amudai-go/traceql/internal/lower"
	"github.com/amudai/amudai-go/traceql/internal/spans"
)

var (
	errStop     = errors.New("the caller has enough")
	errTooLarge = fetched.ErrTooLarge
)

// tooLarge is the error of some traces, which names one that is too large alone.
func (s *search) tooLarge(err error, traces int, first string) error {
	if err == errTooLarge && traces == 1 {
		return fault.Limitf("the spans of trace %x need more than %d bytes", first, s.o.MaxBytes)
	}
	return err
}

// source is a Source with what a query needs of it.
type source struct {
	Source
	index, position int // in the sources of the search, and among those that have spans
	schema          *spans.Schema
	need            []int         // the columns of its spans that the evaluation reads, by index in the schema
	arrow           *arrow.Schema // of these columns, under the names of their paths
	details         []int         // the columns of the spans of results; nil if the evaluation reads them, too
	matches         *source       // the same for spans that match, of traces that the source summarizes; nil if the query looks at others, too
	matching        bool          // it is such a one
	placed          bool          // and the evaluation needs the places of spans in the trees of their traces
	filters         lower.Filters
}

// newSources are the sources that have spans: files without any have no columns. more, if it is not nil, are further columns to read, and those of
// results are read at once.
func newSources(ctx context.Context, sources []Source, q *Query, more func(*spans.Schema) []int) (list []*source, err error) {
	fields := lower.ResultFields(q.tree.Pipeline)
	for i, src := range sources {
		if src.Schema().NumFields() == 0 {
			continue
		}
		own, err := newSource(src, i, func(s *spans.Schema) []int {
			need := lower.TraceColumns(s, q.tree.Pipeline)
			if more != nil {
				need = append(append(need, more(s)...), lower.ResultColumns(s, fields)...)
			}
			return need
		})
		if err == nil && more == nil {
			own.details = lower.Sorted(lower.ResultColumns(own.schema, fields))
		}
		enough, placed := lower.ByMatches(q.tree.Pipeline)
		summarized, ok := src.(summarizedSource)
		if enough = enough && ok && more == nil; enough && placed && err == nil {
			enough, err = summarized.TracePlaces(ctx, nil, nil)
		}
		if enough && err == nil {
			own.matches, err = newSource(src, i, func(s *spans.Schema) []int { return lower.MatchColumns(s, q.tree.Pipeline, fields) })
			if err == nil {
				own.matches.matching, own.matches.position, own.matches.placed = true, len(list), placed
				err = own.matches.bind(q)
			}
		}
		if err == nil {
			own.position = len(list)
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
	if s.filters, err = lower.BindFilters(s.schema, s.arrow, q.program.Filters); err != nil {
		return fmt.Errorf("source %d: %w", s.index, err)
	}
	return nil
}

// batches are the rows of a scan, with the columns whose indexes are in need.
func (s *source) batches(ctx context.Context, need []int, f filter.Expr) iter.Seq2[*spans.Batch, error] {
	return func(yield func(*spans.Batch, error) bool) {
		for rec, err := range s.Scan(ctx, s.paths(need), f, nil) {
			var batch *spans.Batch
			if err == nil {
				batch, err = spans.NewBatch(s.schema, rec.RecordBatch, need)
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

// fewTraces are so few that reading their spans costs less than summaries of all. A variable for tests.
var fewTraces = 256

// fetch reads the spans of some traces, or of all: those that match where the rest is known, otherwise the whole traces. They are valid until release.
func (s *search) fetch(ids []string, all bool) (f *fetched.Group, err error) {
	f = fetched.New(s.o.MaxBytes, ids)
	if all {
		f.MaxTraces = s.o.MaxTraces
	}
	defer func() {
		if err != nil {
			f.Release()
		}
	}()
	whole := f.IDs
	if s.byMatches && (all || len(ids) >= fewTraces) {
		for _, src := range s.sources {
			cond := lower.Matches(src.schema, s.q.tree.Pipeline)
			if !all {
				cond = lower.Both(cond, lower.OneOf(src.traceID(), f.IDs))
			}
			if cond.None() {
				continue
			}
			if err := src.matches.read(s.ctx, cond.Filter(), f); err != nil {
				return f, err
			}
		}
		f.MaxTraces = 0
		if whole, err = s.summarize(f); err != nil {
			return f, err
		}
	}
	for _, src := range s.sources {
		if len(whole) == 0 {
			break
		}
		if err := src.read(s.ctx, lower.In(src.traceID(), whole), f); err != nil {
			return f, err
		}
	}
	return f, nil
}

// summarize finds the summaries of traces, and gives the ids of those of which all spans are to be read: several sources have spans of them, or
// none says enough.
func (s *search) summarize(f *fetched.Group) (whole []string, err error) {
	f.Summaries = make([]eval.Summary, len(f.IDs))
	sources := make([]int, len(f.IDs))
	for _, src := range s.sources {
		s.byMatches, err = src.Source.(summarizedSource).TraceSummaries(s.ctx, f.IDs, func(i, n int, start int64, d time.Duration, name, service string) {
			f.Summaries[i] = eval.Summary{Spans: n, Start: start, Duration: d, RootName: name, RootService: service}
			sources[i]++
		})
		if err != nil || !s.byMatches {
			break
		}
	}
	return f.Whole(func(trace int) bool { return sources[trace] == 1 && s.byMatches }), err
}

// read reads the rows of a scan.
func (s *source) read(ctx context.Context, cond filter.Expr, f *fetched.Group) error {
	for b, err := range s.Scan(ctx, s.paths(s.need), cond, nil) {
		if err != nil {
			return err
		}
		batch, err := spans.NewBatch(s.schema, b.RecordBatch, s.need)
		if err == nil {
			batch.Verdicts, err = s.filters.Verdicts(ctx, b.RecordBatch)
		}
		if err == nil && s.placed {
			batch.Places, err = s.places(ctx, b)
		}
		if err == nil {
			err = f.Add(fetched.Part{Batch: batch, Source: s.position, Matching: s.matching, Numbers: b.Numbers})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// places are those of the rows of a batch.
func (s *source) places(ctx context.Context, b Rows) ([]spans.Place, error) {
	list := make([]spans.Place, 0, b.NumRows())
	_, err := s.Source.(summarizedSource).TracePlaces(ctx, b.Numbers, func(left, right, parent uint32) {
		list = append(list, spans.Place{Left: left, Right: right, Parent: parent})
	})
	if err == nil && len(list) != int(b.NumRows()) {
		err = errChanged
	}
	return list, err
}
