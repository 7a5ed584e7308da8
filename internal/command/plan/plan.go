// Package plan tells an engine how to divide the reading of tables: their stripes, the rows and bytes that a condition
// leaves of each, and what is recorded of the columns. It reads metadata only.
package plan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"golang.org/x/sync/errgroup"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/command/formats"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table"
)

// Version is that of the JSON of a [Plan]. Fields may be added to it, not changed.
const Version = 1

// parallel is the number of inputs that are read at the same time.
const parallel = 8

// Plan describes the reading of inputs as one table. The names of its JSON are in docs/engines.md.
type Plan struct {
	Version     int     `json:"version"`
	Rows        *int64  `json:"rows"` // of all inputs; nil if one of them does not record them
	Bytes       *int64  `json:"bytes"`
	Schema      []Field `json:"schema"`
	ArrowSchema []byte  `json:"arrow_schema"` // an IPC stream without batches
	Inputs      []Input `json:"inputs"`
}

// Field is a column of the result.
type Field struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Nullable bool   `json:"nullable"`
}

// Input is one of the inputs.
type Input struct {
	Location   string   `json:"location"`
	Format     string   `json:"format"`
	Identity   string   `json:"identity,omitempty"` // of its bytes, as far as the store knows it
	Rows       *int64   `json:"rows"`
	Bytes      *int64   `json:"bytes"`
	Stripes    []Stripe `json:"stripes"`
	Statistics []Column `json:"statistics"`
}

// Stripe is a part of an input that can be read alone. A format without parts has one.
type Stripe struct {
	Stripe   int    `json:"stripe"`
	FirstRow int64  `json:"first_row"` // of the input
	Rows     *int64 `json:"rows"`
	// SelectedRows is the most rows that the condition leaves, SelectedBytes what the columns take that are read for them.
	SelectedRows  *int64 `json:"selected_rows"`
	SelectedBytes *int64 `json:"selected_bytes"`
}

// Column is what an input records of a column. Nil numbers are not recorded.
type Column struct {
	Column           string `json:"column"`
	Type             string `json:"type"`
	Nulls            *int64 `json:"nulls"`
	Distinct         *int64 `json:"distinct"`
	DistinctEstimate bool   `json:"distinct_is_estimate,omitempty"`
	Min              value  `json:"min"`
	Max              value  `json:"max"`
	Exact            bool   `json:"exact"` // min and max are values of the column, not only bounds
	Bytes            *int64 `json:"bytes"`
}

// value is the first value of an array as JSON.
type value struct{ arrow.Array }

// MarshalJSON implements [encoding/json.Marshaler].
func (v value) MarshalJSON() ([]byte, error) {
	if v.Array == nil {
		return []byte("null"), nil
	}
	return values.JSON(v.Array)(nil, 0), nil
}

// Options say which rows and columns are read.
type Options struct {
	From    string // name of the format; "" to recognize it
	Columns []string
	Filter  filter.Expr
	Casts   bool // columns are read with other types than those of the inputs, so that the filter is not theirs
}

// Of plans the reading of inputs, whose union has a schema.
func Of(ctx context.Context, p *formats.Opener, locations []string, united *arrow.Schema, o Options) (*Plan, error) {
	out := &Plan{Version: Version, Schema: []Field{}, Inputs: make([]Input, len(locations))}
	for _, f := range united.Fields() {
		out.Schema = append(out.Schema, Field{f.Name, text.Type(f.Type), f.Nullable})
	}
	var stream bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(united))
	if err := w.Close(); err != nil {
		return nil, err
	}
	out.ArrowSchema = stream.Bytes()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	var mu sync.Mutex // an opener is for one goroutine
	for i, location := range locations {
		g.Go(func() (err error) {
			defer fault.RecoverInternal(&err)
			out.Inputs[i], err = inputOf(ctx, p, &mu, location, o, len(locations) > 1)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out.sum()
	return out, nil
}

// sum adds up rows and bytes, if all are known.
func (p *Plan) sum() {
	rows, bytes := int64(0), int64(0)
	p.Rows, p.Bytes = &rows, &bytes
	for _, in := range p.Inputs {
		if in.Rows == nil {
			p.Rows = nil
		} else {
			rows += *in.Rows
		}
		if in.Bytes == nil {
			p.Bytes = nil
		} else {
			bytes += *in.Bytes
		}
	}
}

func inputOf(ctx context.Context, p *formats.Opener, mu *sync.Mutex, location string, o Options, united bool) (out Input, err error) {
	mu.Lock()
	in, f, err := p.Input(ctx, location, o.From)
	if err == nil {
		f = p.Configured(f)
	}
	mu.Unlock()
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out = Input{Location: location, Format: f.Name, Bytes: known(in.Size), Statistics: []Column{}}
	if in.Location == "" || f.Explain == nil {
		out.Stripes = []Stripe{{Rows: out.Rows, SelectedRows: out.Rows, SelectedBytes: out.Bytes}}
		return out, nil
	}
	if out.Identity, err = identity(ctx, in.Location); err != nil {
		return out, err
	}
	eo := table.ExplainOptions{Columns: o.Columns, Filter: o.Filter}
	if o.Casts {
		eo.Filter = filter.Expr{}
	}
	x, err := f.Explain(ctx, in, eo)
	if united && errors.Is(err, schema.ErrNoField) { // the input lacks columns of the others
		eo.Columns = nil
		x, err = f.Explain(ctx, in, eo)
	}
	var misfit *filter.Error
	if united && errors.As(err, &misfit) { // or has them with other types
		eo.Filter = filter.Expr{}
		x, err = f.Explain(ctx, in, eo)
	}
	if err != nil {
		return out, fmt.Errorf("%s: %w", in.Name, err)
	}
	out.explained(x)
	return out, out.describe(ctx, f, in, o.Columns, united)
}

// explained takes over the stripes of an explanation.
func (in *Input) explained(x *table.Explanation) {
	in.Rows, in.Bytes, in.Stripes = &x.Rows, &x.Bytes, []Stripe{}
	for i := range x.Stripes {
		s := &x.Stripes[i]
		left := s.Left()
		in.Stripes = append(in.Stripes, Stripe{s.Stripe, s.First, &s.Rows, &left, &s.Bytes})
	}
}

// describe adds what the input records of columns.
func (in *Input) describe(ctx context.Context, f table.Format, from table.Input, columns []string, united bool) error {
	if f.Statistics == nil {
		return nil
	}
	s, err := f.Statistics(ctx, from, columns)
	if united && errors.Is(err, schema.ErrNoField) {
		s, err = f.Statistics(ctx, from, nil)
	}
	if err != nil || s == nil {
		return err
	}
	for _, c := range s.Columns {
		in.Statistics = append(in.Statistics, Column{
			Column: c.Path, Type: text.Type(c.Type), Nulls: known(c.Nulls), Distinct: known(c.Distinct), DistinctEstimate: c.DistinctEstimated,
			Min: value{c.Min}, Max: value{c.Max}, Exact: c.Exact, Bytes: known(c.Bytes),
		})
	}
	return nil
}

// known is a number that is negative if it is not known.
func known(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

// identity is the version of the bytes at a location, or "" if the store has none.
func identity(ctx context.Context, location string) (v string, err error) {
	store, err := storage.ForLocation(location)
	if err != nil {
		return "", err
	}
	r, err := store.Open(ctx, location)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	version, err := r.Version(ctx)
	if errors.Is(err, errors.ErrUnsupported) {
		return "", nil
	}
	return string(version), err
}
