package traceql

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/traceql/internal/lang"
	"github.com/amudai/amudai-go/traceql/internal/lower"
	"github.com/amudai/amudai-go/traceql/internal/spans"
	"github.com/amudai/amudai-go/traceql/internal/value"
)

// Scope says where an attribute is: "span", "resource", "instrumentation", "event", "link", or "intrinsic" for the fields of spans.
type Scope string

// TagNames are the names in a scope.
type TagNames struct {
	Scope Scope
	Names []string // sorted, as queries write them after the scope
}

// Within are the sources that have a span which began in a time, both bounds included. The zero values are no bounds.
func Within(ctx context.Context, sources []Source, start, end time.Time) (within []Source, err error) {
	if start.IsZero() && end.IsZero() {
		return sources, nil
	}
	list, err := newSources(ctx, sources, everySpan, nil)
	if err != nil {
		return nil, err
	}
	for i, s := range list {
		from, to := bounds(start, end)
		some, err := s.has(ctx, lower.Within(s.schema, from, to).Filter())
		if err != nil {
			return nil, err
		}
		if some {
			within = append(within, sources[i])
		}
	}
	return within, nil
}

// has reports whether a condition is true for some row.
func (s *source) has(ctx context.Context, condition filter.Expr) (bool, error) {
	id, _ := s.schema.One(spans.TraceID)
	for batch, err := range s.batches(ctx, []int{id.Index}, condition) {
		if err != nil || batch.Record.NumRows() > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// maxNames bounds the names of a scope.
const maxNames = 1_000_000

// Names returns the names of attributes and intrinsics of sources, by scope; "" stands for all scopes. Those of events, links and arrays are
// read from their spans, the others from schemas.
func Names(ctx context.Context, sources []Source, scope Scope) ([]TagNames, error) {
	var out []TagNames
	list, err := newSources(ctx, sources, everySpan, nil)
	if err != nil {
		return nil, err
	}
	known := scope == "" || scope == "intrinsic"
	for _, s := range lang.Scopes {
		if scope != "" && scope != Scope(s.String()) {
			continue
		}
		known = true
		names := map[string]bool{}
		for _, src := range list {
			if err := src.names(ctx, s, names); err != nil {
				return nil, err
			}
		}
		out = append(out, TagNames{Scope(s.String()), slices.Sorted(maps.Keys(names))})
	}
	if !known {
		return nil, &Error{Text: string(scope), Message: "there is no such scope: scopes are span, resource, instrumentation, event, link and intrinsic"}
	}
	if scope == "" || scope == "intrinsic" {
		out = append(out, TagNames{"intrinsic", lang.Intrinsics()})
	}
	return out, nil
}

// everySpan is the query { }.
var everySpan = newQuery(&lang.Query{Pipeline: &lang.Pipeline{Stages: []lang.Stage{&lang.SpansetFilter{}}}})

// names adds the names of the attributes in a scope.
func (s *source) names(ctx context.Context, scope lang.Scope, names map[string]bool) error {
	if prefix := spans.Prefix(scope); prefix != "" {
		for _, column := range s.schema.Names() {
			if name, ok := strings.CutPrefix(column, prefix); ok {
				names[name] = true
			}
		}
	}
	c, ok := s.schema.Rest(scope)
	if spans.Prefix(scope) == "" {
		c, ok = s.schema.Lists(scope)
	}
	if !ok {
		return nil
	}
	for batch, err := range s.batches(ctx, []int{c.Index}, lower.NotNull(c)) {
		if err != nil {
			return err
		}
		for row := range int(batch.Record.NumRows()) {
			err := batch.AttributeNames(scope, row, func(name []byte) { names[string(name)] = true })
			if err != nil {
				return err
			}
		}
		if len(names) > maxNames {
			return fault.Limitf("there are more than %d names of attributes", maxNames)
		}
	}
	return nil
}

// ValuesOptions are the options of [Values].
type ValuesOptions struct {
	// Filter restricts the values to those of spans in its result. nil stands for all spans.
	Filter *Query
	// Limit is the maximum number of values, by default 1,000.
	Limit int
	// Start and End restrict the values: those of Filter to its traces with a span that began in this time, as in [Options], and without a Filter to
	// spans that began in it.
	Start, End time.Time
}

// Values returns the distinct values of an attribute or intrinsic, written as in queries: "resource.service.name", ".foo", "name". Those in
// arrays, events and links are listed one by one. They are sorted by kind and value. more is true if there are others than these.
func Values(ctx context.Context, sources []Source, attribute string, o ValuesOptions) (values []Value, more bool, err error) {
	f, err := lang.ParseField(attribute)
	if err != nil {
		return nil, false, err
	}
	set := valueSet{limit: cmp.Or(o.Limit, 1000), seen: map[string]bool{}, o: Options{Start: o.Start, End: o.End}}
	q := o.Filter
	if q == nil {
		q = everySpan
	}
	if q.String() != everySpan.String() || lower.OfTrace(f) {
		err = set.search(ctx, q.with(f), f, sources)
	} else {
		err = set.scan(ctx, f, sources)
	}
	if err == errStop {
		err = nil
	}
	slices.SortFunc(set.values, compareValues)
	return set.values, set.more, err
}

// with is the query with a field that is read, too.
func (q *Query) with(f *lang.Field) *Query {
	field := &lang.Expr{Op: lang.FieldOf, Field: f}
	tree := &lang.Query{Pipeline: &lang.Pipeline{Stages: append(slices.Clone(q.tree.Pipeline.Stages), &lang.Select{Fields: []*lang.Expr{field}})}}
	return newQuery(tree)
}

func compareValues(a, b Value) int {
	order, _ := value.Compare(a, b)
	return cmp.Or(cmp.Compare(a.Kind(), b.Kind()), order)
}

// valueSet is distinct values.
type valueSet struct {
	limit  int
	values []Value
	seen   map[string]bool
	more   bool
	o      Options // the time
}

// add adds a value, unless it could not be read.
func (s *valueSet) add(v Value, err error) error {
	if err != nil {
		return err
	}
	switch v.Kind() {
	case KindNil, KindOther:
		return nil
	case KindArray, KindAny:
		for _, e := range v.List() {
			if err := s.add(e, nil); err != nil {
				return err
			}
		}
		return nil
	}
	key := v.Key()
	if s.seen[key] {
		return nil
	}
	if len(s.values) == s.limit {
		s.more = true
		return errStop
	}
	s.seen[key] = true
	s.values = append(s.values, v.Clone())
	return nil
}

// search adds the values of the spans that a query finds.
func (s *valueSet) search(ctx context.Context, q *Query, f *lang.Field, sources []Source) error {
	run, err := newSearch(ctx, q, sources, s.o)
	if err != nil {
		return err
	}
	return run.examine(run.candidates(run.traces), func(list []match) error {
		return run.withDetails(list, func(m match) error { return s.addMatch(m, f) })
	})
}

func (s *valueSet) addMatch(m match, f *lang.Field) error {
	for _, set := range m.sets {
		for _, i := range set.Spans {
			if err := s.add(m.trace.Value(f, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// scan adds the values of all spans.
func (s *valueSet) scan(ctx context.Context, f *lang.Field, sources []Source) error {
	list, err := newSources(ctx, sources, everySpan, nil)
	if err != nil {
		return err
	}
	for _, src := range list {
		rows, all, err := s.rows(ctx, f, src)
		if err != nil {
			return err
		}
		done := false
		if all {
			if done, err = s.distinct(ctx, f, src); err != nil {
				return err
			}
		}
		if done {
			continue
		}
		if err := s.scanSource(ctx, f, src, rows); err != nil {
			return err
		}
	}
	return nil
}

// rows is the condition of the rows in the time that have a value; all is true if all rows are in the time.
func (s *valueSet) rows(ctx context.Context, f *lang.Field, src *source) (rows lower.Cond, all bool, err error) {
	rows = lower.Present(src.schema, f)
	if s.o.Start.IsZero() && s.o.End.IsZero() {
		return rows, true, nil
	}
	from, to := bounds(s.o.Start, s.o.End)
	within := lower.Within(src.schema, from, to)
	if within.All() {
		return rows, true, nil
	}
	others, err := src.has(ctx, filter.Not(within.Filter()))
	return lower.Both(rows, within), !others, err
}

func (s *valueSet) scanSource(ctx context.Context, f *lang.Field, src *source, cond lower.Cond) error {
	if cond.None() {
		return nil
	}
	for batch, err := range src.batches(ctx, src.schema.Needs(f), cond.Filter()) {
		if err != nil {
			return err
		}
		for row := range int(batch.Record.NumRows()) {
			if err := s.add(batch.Value(f, row)); err != nil {
				return err
			}
		}
	}
	return nil
}

// distinct adds the values that the source lists without a scan; done is false if it cannot.
func (s *valueSet) distinct(ctx context.Context, f *lang.Field, src *source) (done bool, err error) {
	known, ok := src.Source.(DistinctSource)
	need := src.schema.Needs(f)
	if !ok || len(need) != 1 || f.Intrinsic != lang.NoIntrinsic && f.Intrinsic != lang.SpanName {
		return false, nil
	}
	c := src.schema.Column(need[0])
	if c.Class != spans.Text && c.Class != spans.Integer {
		return false, nil
	}
	for arr, err := range known.Distinct(ctx, c.Path) {
		if err != nil {
			return true, err
		}
		for i := range arr.Len() {
			if err := s.add(spans.ValueAt(c, arr, i), nil); err != nil {
				return true, err
			}
		}
	}
	return true, nil
}
