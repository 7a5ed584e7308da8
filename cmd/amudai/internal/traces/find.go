package traces

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/blockpack/otlp"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/traceql"
)

// Start is the column of the times at which spans began.
const Start = "span:start"

// Names of other columns that a tree needs.
const (
	traceID  = "trace:id"
	spanID   = "span:id"
	parentID = "span:parent_id"
)

func isTraceID(f arrow.Field) bool { return f.Name == traceID }

// Trace is the spans of a trace, in all inputs that have some.
type Trace struct {
	ID         string // 16 bytes
	Duplicates int    // spans that were there before, and were left out

	rows []row
	seen map[string][]row // by the ids of spans
}

// row is a span in a batch of spans.
type row struct {
	batch      arrow.RecordBatch
	number     int
	id, parent string // of the span
}

// Find looks for traces in inputs, which it opens some at a time. Traces are in the order of ids, those without spans too.
func Find(ctx context.Context, locations []string, ids []string, open func(context.Context, string) (Source, error)) ([]*Trace, error) {
	found := make([][]arrow.RecordBatch, len(locations))
	if err := parallel.Each(ctx, len(locations), runtime.GOMAXPROCS(0), func(ctx context.Context, i int) (err error) {
		s, err := open(ctx, locations[i])
		if err != nil || s.Source == nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		for b, err := range spansOf(ctx, s, ids) {
			if err != nil {
				return err
			}
			b.Retain()
			found[i] = append(found[i], b.RecordBatch)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	traces := make([]*Trace, len(ids))
	byID := map[string]*Trace{}
	for i, id := range ids {
		traces[i] = &Trace{ID: id, seen: map[string][]row{}}
		byID[id] = traces[i]
	}
	for _, b := range slices.Concat(found...) {
		if err := add(byID, b); err != nil {
			return nil, err
		}
	}
	return traces, nil
}

// spansOf are the rows of traces in a source.
func spansOf(ctx context.Context, s Source, ids []string) iter.Seq2[traceql.Rows, error] {
	var columns []string
	for _, f := range s.Schema().Fields() {
		columns = append(columns, schema.Escape(f.Name))
	}
	var literals []any
	for _, id := range ids {
		literals = append(literals, []byte(id))
	}
	return s.Scan(ctx, columns, filter.In(filter.Col(schema.Escape(traceID)), literals...), nil)
}

// add adds the rows of a batch to their traces. Of equal spans the first is kept. Different spans may have the same id, as
// both sides of a call have in Zipkin.
func add(traces map[string]*Trace, b arrow.RecordBatch) error {
	ids, err := binaryOf(b, traceID)
	spans, serr := binaryOf(b, spanID)
	parents, perr := binaryOf(b, parentID)
	if err := cmp.Or(err, serr, perr); err != nil {
		return err
	}
	for i := range int(b.NumRows()) {
		t := traces[string(ids(i))]
		if t == nil {
			return fmt.Errorf("a lookup returned the trace %x, which was not asked for", ids(i))
		}
		r := row{b, i, string(spans(i)), string(parents(i))}
		known, err := r.isAmong(t.seen[r.id])
		if err != nil {
			return err
		}
		if known {
			t.Duplicates++
			continue
		}
		t.seen[r.id] = append(t.seen[r.id], r)
		t.rows = append(t.rows, r)
	}
	return nil
}

// isAmong reports whether a span equals another one in all it has.
func (r row) isAmong(others []row) (bool, error) {
	if len(others) == 0 {
		return false, nil
	}
	own, err := otlp.AppendTraces(nil, r.batch, []int{r.number})
	if err != nil {
		return false, err
	}
	for _, o := range others {
		other, err := otlp.AppendTraces(nil, o.batch, []int{o.number})
		if err != nil || bytes.Equal(own, other) {
			return err == nil, err
		}
	}
	return false, nil
}

// Below drops all spans but one, by its id, and those below it. It reports whether there is such a span.
func (t *Trace) Below(id string) bool {
	children := map[string][]row{}
	var kept, stack []row
	for _, r := range t.rows {
		if r.id == id {
			stack = append(stack, r)
		} else {
			children[r.parent] = append(children[r.parent], r)
		}
	}
	for len(stack) > 0 {
		r := stack[len(stack)-1]
		stack, kept = append(stack[:len(stack)-1], children[r.id]...), append(kept, r)
		delete(children, r.id)
	}
	t.rows = kept
	return len(kept) > 0
}

// Spans are the spans of the trace as a tree shows them.
func (t *Trace) Spans() []Span {
	spans := make([]Span, len(t.rows))
	for i, r := range t.rows {
		spans[i] = Span{
			ID: hex.EncodeToString([]byte(r.id)), Parent: hex.EncodeToString([]byte(r.parent)),
			Name: r.text("span:name"), Service: r.text("resource.service.name"), Message: r.text("span:status_message"),
			Start: r.integer(Start), End: r.integer("span:end"), Failed: r.integer("span:status") == statusError,
		}
	}
	return spans
}

// statusError is the code of a failed span in OTLP.
const statusError = 2

// column is a column of the batch at a row where it is not null, or nil.
func (r row) column(name string) arrow.Array {
	for _, i := range r.batch.Schema().FieldIndices(name) {
		if c := r.batch.Column(i); c.IsValid(r.number) {
			return c
		}
	}
	return nil
}

func (r row) text(name string) string {
	if c := r.column(name); c != nil {
		return c.ValueStr(r.number)
	}
	return ""
}

func (r row) integer(name string) int64 {
	switch c := r.column(name).(type) {
	case *array.Timestamp:
		return int64(c.Value(r.number))
	case *array.Int64:
		return c.Value(r.number)
	case *array.Uint64:
		return int64(c.Value(r.number))
	}
	return 0
}

// binaryOf returns the values of a column of byte strings: none where they are null, or if there is no such column.
func binaryOf(b arrow.RecordBatch, name string) (func(row int) []byte, error) {
	at := b.Schema().FieldIndices(name)
	if len(at) == 0 {
		return func(int) []byte { return nil }, nil
	}
	c := b.Column(at[0])
	values, ok := c.(interface{ Value(int) []byte })
	if !ok {
		return nil, fmt.Errorf("column %s has values of the type %s instead of bytes", name, c.DataType())
	}
	return func(row int) []byte {
		if c.IsNull(row) {
			return nil
		}
		return values.Value(row)
	}, nil
}

// AppendOTLP appends the trace as an encoded TracesData.
func (t *Trace) AppendOTLP(dst []byte) ([]byte, error) {
	for from := 0; from < len(t.rows); {
		batch, to := t.rows[from].batch, from
		var numbers []int
		for ; to < len(t.rows) && t.rows[to].batch == batch; to++ {
			numbers = append(numbers, t.rows[to].number)
		}
		var err error
		if dst, err = otlp.AppendTraces(dst, batch, numbers); err != nil {
			return nil, err
		}
		from = to
	}
	return dst, nil
}
