package scan

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/table"
)

// measure makes lengths of the columns of the result that the options name, if these have any and no other one has the name.
func (sc *scanner) measure(p *table.Projection) {
	sc.lengths = make([]bool, len(p.Columns))
	fields := p.Schema.Fields()
	for _, name := range sc.o.Lengths {
		if at := p.Schema.FieldIndices(name); len(at) == 1 {
			fields[at[0]], sc.lengths[at[0]] = arrowutil.LengthsOf(fields[at[0]])
		}
	}
	if slices.Contains(sc.lengths, true) {
		meta := p.Schema.Metadata()
		sc.schema = arrow.NewSchema(fields, &meta)
	}
}

// readLengths returns the lengths of rows, of their values if the column tells none without them.
func readLengths(ctx context.Context, c table.ColumnReader, rows rowset.Set, o *table.ReadOptions) (arrow.Array, error) {
	if l, is := c.(table.LengthReader); is {
		if arr, err := l.Lengths(ctx, rows, o); arr != nil || err != nil {
			return arr, err
		}
	}
	values, err := c.Read(ctx, rows, o)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	return arrowutil.Lengths(o.Allocator, values)
}
