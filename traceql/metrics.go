package traceql

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/traceql/internal/eval"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/lower"
	"github.com/amudai/amudai-go/traceql/internal/series"
	"github.com/amudai/amudai-go/traceql/internal/spans"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

// MetricsOptions are the options of [Metrics]. The zero value is the default.
type MetricsOptions struct {
	// Start and End are the time whose spans count: those that begin after Start, up to End. By default it has all spans.
	Start, End time.Time
	// Step is the length of an interval, by default about the 240th part of the time. Start and End are moved outwards to multiples of it.
	Step time.Duration
	// Instant makes one sample of the whole time, whose bounds belong to it. Step has no meaning then.
	Instant bool
	// Exemplars is the maximum number of exemplars, by default none, or 100 by the hint exemplars=true.
	Exemplars int
	// MaxSamples bounds the samples of all time series before topk, bottomk and comparisons, by default 4 million. More are an error.
	MaxSamples int
	// Search has the limits MaxTraces, MaxBytes and MaxSteps.
	Search Options
}

// TimeSeries is numbers at times.
type TimeSeries struct {
	Labels    []Attribute // values of by(), "p" of a quantile, "__bucket" of a histogram, "__meta_type" of compare(); otherwise "__name__"
	Samples   []Sample    // by time; intervals without a value are left out
	Exemplars []Exemplar  // by time
	Instant   bool        // it has at most one sample, of the whole time
}

// Sample is a number for the interval that ends at a time. Those of durations are in seconds.
type Sample struct {
	Time  time.Time
	Value float64
}

// Exemplar is a span that a sample is made of.
type Exemplar struct {
	Time    time.Time // its start
	Value   float64   // its number, or the sample
	TraceID []byte
	Span    Span
}

const (
	defaultSamples   = 4 << 20
	defaultExemplars = 100
)

// IsMetrics reports whether the query ends in a function of time series, such as rate(), and is for [Metrics].
func (q *Query) IsMetrics() bool { return q.tree.Metrics() != nil }

// Metrics evaluates a query that ends in a function of time series: { } | rate(). docs/traceql.md describes the functions.
//
// A query that looks at each span alone reads the columns that it names; any other reads whole traces, as Search does. The same limits hold.
// A span that is stored several times counts once.
func Metrics(ctx context.Context, q *Query, sources []Source, o MetricsOptions) ([]TimeSeries, error) {
	m := &metrics{f: q.tree.Metrics(), search: newExamination(ctx, q, o.Search)}
	if m.f == nil {
		return nil, &Error{Text: q.String(), Pos: -1, Message: "the query finds traces: a function such as | rate() makes time series of their spans"}
	}
	if o.Exemplars == 0 {
		o.Exemplars = exemplarsOf(q)
	}
	m.exemplars, m.instant = o.Exemplars, o.Instant
	var err error
	if m.w, err = window(ctx, sources, &o); err != nil || m.w == (series.Window{}) {
		return nil, err
	}
	limit := cmp.Or(o.MaxSamples, defaultSamples)
	if m.f.Subset != nil {
		m.compared = series.NewComparison(m.f, m.w, limit)
		err = m.wholeTraces(sources)
		return m.results(m.compared.Result()), err
	}
	m.set = series.NewSet(m.f, m.w, limit)
	if lower.Alone(q.tree.Pipeline) {
		err = m.rows(sources)
	} else {
		err = m.wholeTraces(sources)
	}
	if err != nil {
		return nil, err
	}
	return m.results(m.set.Result(m.exemplars)), nil
}

func exemplarsOf(q *Query) int {
	for _, h := range q.tree.Hints {
		if h.Name == "exemplars" && h.Value.Bool() {
			return defaultExemplars
		}
		if h.Name == "exemplars" && h.Value.Kind() == KindInt {
			return int(max(h.Value.Int64(), 0))
		}
	}
	return 0
}

// window is the time that is asked for, or that of all spans; without spans it is empty.
func window(ctx context.Context, sources []Source, o *MetricsOptions) (w series.Window, err error) {
	start, end := o.Start.UnixNano(), o.End.UnixNano()
	if o.Start.IsZero() || o.End.IsZero() {
		first, last, err := extent(ctx, sources)
		if err != nil || first > last {
			return w, err
		}
		if o.Start.IsZero() {
			start = first - 1
		}
		if o.End.IsZero() {
			end = last
		}
	}
	step := int64(o.Step)
	switch {
	case end <= start:
		return w, fmt.Errorf("the time of the query ends at %s, before it begins", time.Unix(0, end).UTC().Format(time.RFC3339Nano))
	case step < 0:
		return w, fmt.Errorf("a step of %v is not above 0", o.Step)
	case o.Instant:
		step = 0
	case step == 0:
		step = int64(series.DefaultStep(time.Duration(end - start)))
	}
	return series.NewWindow(start, end, step), nil
}

// extent is the first and the last start of a span.
func extent(ctx context.Context, sources []Source) (first, last int64, err error) {
	first, last = math.MaxInt64, math.MinInt64
	list, err := newSources(ctx, sources, everySpan, nil)
	if err != nil {
		return 0, 0, err
	}
	for _, src := range list {
		c, ok := src.schema.One(spans.Start)
		if !ok {
			continue
		}
		for batch, err := range src.batches(ctx, []int{c.Index}, lower.NotNull(c)) {
			if err != nil {
				return 0, 0, err
			}
			for row := range int(batch.Record.NumRows()) {
				if start := batch.Start(row); start != 0 {
					first, last = min(first, start), max(last, start)
				}
			}
		}
	}
	return first, last, nil
}

// metrics is an evaluation that is under way.
type metrics struct {
	*search
	f         *lang.Metrics
	w         series.Window
	set       *series.Set
	compared  *series.Comparison // of compare(), instead of set
	exemplars int
	instant   bool

	schema     *spans.Schema // of the last span that was compared
	attributes []lower.Field // of the schema
}

// wholeTraces observes the spans of traces.
func (m *metrics) wholeTraces(sources []Source) (err error) {
	m.sources, err = newSources(m.ctx, sources, m.q, func(s *spans.Schema) (need []int) {
		if m.compared != nil {
			for _, f := range lower.ComparedFields(s) {
				need = append(need, s.Needs(f.Field)...)
			}
		}
		return need
	})
	if err != nil {
		return err
	}
	return m.examine(m.candidates(m.q.candidates.Within(m.w.Start, m.w.End)), func(list []match) error {
		for _, found := range list {
			if err := m.observe(found.trace, found.sets, found.work); err != nil {
				return err
			}
		}
		return nil
	})
}

func (m *metrics) observe(t *eval.Trace, sets []eval.Set, work *eval.Work) error {
	return m.q.program.Observe(t, sets, m.f, work, func(i int, by, of []value.Value, selected bool) error {
		s := &t.Spans[i]
		if m.compared != nil {
			return m.compare(t, i, selected)
		}
		o := series.Observation{Time: s.Start, By: by, Numbers: of}
		if m.exemplars > 0 {
			o.Of = func() (any, error) {
				span, err := m.span(t, i)
				return Exemplar{Time: span.Start, TraceID: []byte(strings.Clone(string(s.Batch.TraceID(int(s.Row))))), Span: span}, err
			}
		}
		return m.set.Add(o)
	})
}

// rows observes the spans for which a condition is true, without their traces.
func (m *metrics) rows(sources []Source) error {
	seen := eval.NewSpanSet()
	limit := int(m.o.MaxBytes / eval.BytesPerSeen)
	for i, src := range sources {
		if src.Schema().NumFields() == 0 {
			continue
		}
		own, cond, err := m.rowSource(src, i)
		if err != nil {
			return err
		}
		if cond.None() {
			continue
		}
		for batch, err := range own.batches(m.ctx, own.need, cond.Filter()) {
			if err != nil {
				return err
			}
			list := seen.Fresh(batch)
			if seen.Len() > limit {
				return fault.Limitf("more than %d spans match: the query needs a narrower condition or time, or a higher limit", limit)
			}
			if err := m.addRows(own, list, batch, cond.Exact()); err != nil {
				return err
			}
		}
	}
	return nil
}

// rowSource is a source with the columns that are needed of rows, and the condition of these.
func (m *metrics) rowSource(src Source, index int) (*source, lower.Cond, error) {
	var cond lower.Cond
	own, err := newSource(src, index, func(s *spans.Schema) []int {
		cond = lower.Both(lower.Rows(s, m.q.tree.Pipeline), lower.Within(s, m.w.Start, m.w.End))
		var read lang.Stage = m.f
		names := []string{spans.TraceID, spans.SpanID, spans.KindName, spans.Start}
		if m.exemplars > 0 {
			names = append(names, spans.Name, spans.Duration, spans.End)
		}
		if m.exemplars > 0 || !cond.Exact() {
			read = m.q.tree.Pipeline
		}
		return lower.Columns(s, read, names...)
	})
	if err == nil && !cond.Exact() {
		err = own.bind(m.q)
	}
	return own, cond, err
}

// addRows observes rows of a batch; matched says that all of them match.
func (m *metrics) addRows(own *source, list []eval.Span, batch *spans.Batch, matched bool) (err error) {
	work := eval.NewWork(m.ctx, m.o.MaxSteps)
	t := eval.Rows(list)
	var sets []eval.Set
	if matched {
		sets = []eval.Set{eval.All(t)}
	} else {
		if batch.Verdicts, err = own.filters.Verdicts(m.ctx, batch.Record); err != nil {
			return err
		}
		if sets, err = m.q.program.Run(t, work); err != nil {
			return err
		}
	}
	return m.observe(t, sets, work)
}

// results are time series as users see them.
func (m *metrics) results(list []series.Series) []TimeSeries {
	out := make([]TimeSeries, len(list))
	for k, x := range list {
		for _, l := range x.Labels {
			out[k].Labels = append(out[k].Labels, Attribute{l.Name, l.Value})
		}
		for i, v := range x.Values {
			if v == v {
				out[k].Samples = append(out[k].Samples, Sample{m.w.Time(i), v})
			}
		}
		for _, e := range x.Exemplars {
			own := e.Of.(Exemplar)
			own.Value = e.Value
			out[k].Exemplars = append(out[k].Exemplars, own)
		}
		out[k].Instant = m.instant
	}
	return out
}

func (m *metrics) compare(t *eval.Trace, i int, selected bool) error {
	s := &t.Spans[i]
	at := m.w.Index(s.Start)
	if at < 0 {
		return nil
	}
	if m.f.To != 0 {
		selected = selected && s.Start > m.f.From && s.Start <= m.f.To
	}
	if m.schema != s.Batch.Schema {
		m.schema, m.attributes = s.Batch.Schema, lower.ComparedFields(s.Batch.Schema)
	}
	for _, f := range m.attributes {
		v, err := t.Value(f.Field, i)
		if err != nil {
			return err
		}
		if err := m.compared.Add(selected, at, f.Name, v); err != nil {
			return err
		}
	}
	return nil
}
