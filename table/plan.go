package table

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// Plan is how a scan can be divided among several readers.
type Plan struct {
	Schema *arrow.Schema // of the rows of the scan
	Parts  []Part        // the inputs, in the order of [Table.Locations]
}

// Part is an input in a [Plan].
type Part struct {
	Location string
	Format   provider.Format
	Version  storage.Version // of its bytes, for [OpenOptions].Versions of the readers; "" if its store knows none
	Bytes    int64           // its size, or -1
	// Explanation has the stripes, each of which can be read alone by [ScanOptions].Rows, and the rows that the filter leaves of them. It is
	// nil if the input is read as a whole, as those in formats of text are, and compressed ones.
	Explanation *provider.Explanation
	// Statistics are what the input records of the columns of the scan. They are nil if it records nothing.
	Statistics *provider.Statistics
}

// plannedAtOnce is the number of inputs that are opened at the same time for a plan.
const plannedAtOnce = 8

// Plan tells how a scan would read each input. Only metadata and indexes are read, several inputs at once; of text, what tells the columns.
// The first error ends it. As in [Table.Explain], positions of rows cannot be planned.
func (t *Table) Plan(ctx context.Context, o ScanOptions) (p *Plan, err error) {
	if o.Rows != nil {
		return nil, errPositions
	}
	ctx = inputs.Question(ctx)
	src, err := t.Reader(ctx, o) // checks columns and filter
	if err != nil {
		return nil, err
	}
	p = &Plan{Schema: src.Schema(), Parts: make([]Part, len(t.locations))}
	if err := src.Close(); err != nil {
		return nil, err
	}
	return p, parallel.Each(ctx, len(p.Parts), plannedAtOnce, func(ctx context.Context, i int) (err error) {
		p.Parts[i], err = t.planPart(ctx, i, o)
		return err
	})
}

func (t *Table) planPart(ctx context.Context, i int, o ScanOptions) (Part, error) {
	p := Part{Location: t.locations[i], Bytes: -1}
	err := t.describe(ctx, i, func(in *provider.Input, f provider.Format) (err error) {
		p.Version, p.Bytes = in.Version, in.Size
		if p.Explanation, err = t.explain(ctx, *in, f, o, false); p.Explanation != nil && f.Statistics != nil {
			p.Statistics, err = f.Statistics(ctx, *in, o.Columns)
			if len(t.locations) > 1 && errors.Is(err, schema.ErrNoField) {
				p.Statistics, err = f.Statistics(ctx, *in, nil)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", in.Name, err)
		}
		return nil
	})
	p.Format = t.Formats()[i]
	return p, err
}

var errPositions = &OptionError{Option: "ScanOptions.Rows", Err: errors.New("a scan of rows by position cannot be explained")}

// explain tells how a scan finds the rows of an input, or returns nil if it reads everything. An input that lacks columns of the others, or has
// them in other types than the filter, is explained as it is read: with all its columns, and without the filter.
func (t *Table) explain(ctx context.Context, in provider.Input, f provider.Format, o ScanOptions, run bool) (*provider.Explanation, error) {
	if f.Explain == nil || in.Location == "" {
		return nil, nil
	}
	eo := provider.ExplainOptions{Columns: o.Columns, Filter: o.Filter, Limit: o.Limit, Run: run}
	if len(t.o.Schema) > 0 {
		eo.Filter = filter.Expr{}
	}
	x, err := f.Explain(ctx, in, eo)
	several := len(t.locations) > 1
	if several && errors.Is(err, schema.ErrNoField) {
		eo.Columns = nil
		x, err = f.Explain(ctx, in, eo)
	}
	var misfit *filter.Error
	if several && errors.As(err, &misfit) {
		eo.Filter = filter.Expr{}
		x, err = f.Explain(ctx, in, eo)
	}
	return x, err
}
