// Package profile describes the values of tables: counts, bounds, moments, quantiles, frequent values, histograms, and the kinds
// of texts. It reads batches once and holds a bounded amount of memory. Results do not depend on the sizes of batches or the number of goroutines.
//
// Counts, bounds, means and lengths are exact. Distinct and frequent values are exact up to a number of values, and the quantiles and histograms of
// columns with more different values are those of a sample; the result says which are estimates, and how wrong they may be.
package profile

import (
	"cmp"
	"context"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
)

// Options of a profile. The zero value is the default.
type Options struct {
	TopValues   int   // listed for each column; default 10
	Bins        int   // most ranges of a histogram; default 40
	Memory      int64 // bytes for all columns; default 512 MiB
	Parallelism int   // columns at the same time; default GOMAXPROCS
}

func (o Options) withDefaults() Options {
	o.TopValues = cmp.Or(max(o.TopValues, 0), 10)
	o.Bins = cmp.Or(max(o.Bins, 0), 40)
	o.Memory = cmp.Or(max(o.Memory, 0), 512<<20)
	o.Parallelism = cmp.Or(max(o.Parallelism, 0), runtime.GOMAXPROCS(0))
	return o
}

// limits bound the memory of a column.
type limits struct {
	distinct int // values that are counted exactly
	bytes    int // of texts of them
	sample   int
}

// limitsOf divides memory among columns: at most 64 Ki distinct values of 8 MiB and 128 Ki sampled numbers each.
func limitsOf(memory int64, columns int) limits {
	each := memory / int64(max(columns, 1))
	return limits{
		distinct: int(min(max(each/256, 64), 1<<16)),
		bytes:    int(min(max(each/2, 16<<10), 8<<20)),
		sample:   int(min(max(each/32, 1<<10), 1<<17)) &^ 1,
	}
}

// Profiler collects the values of a table. It is used by one goroutine.
type Profiler struct {
	o       Options
	rows    int64
	columns []*column
}

// New returns a profiler of tables with a schema.
func New(s *arrow.Schema, o Options) *Profiler {
	o = o.withDefaults()
	count := 0
	for _, f := range s.Fields() {
		count += nodesOf(f.Type)
	}
	p := &Profiler{o: o}
	l := limitsOf(o.Memory, count)
	names := arrowmap.UniqueNames(s.Fields())
	for i, f := range s.Fields() {
		p.columns = append(p.columns, newColumn(names[i], "", f.Type, 0, false, l))
	}
	return p
}

// Add adds the rows of a batch, which stays the caller's. It returns when all of its values were read.
func (p *Profiler) Add(ctx context.Context, b arrow.RecordBatch) error {
	err := parallel.Each(ctx, len(p.columns), p.o.Parallelism, func(_ context.Context, i int) error {
		return p.columns[i].add(b.Column(i), p.rows)
	})
	p.rows += b.NumRows()
	return cmp.Or(err, ctx.Err())
}

// Result describes the rows that were added. The profiler must not be used afterwards.
func (p *Profiler) Result() *Profile {
	out := &Profile{Rows: p.rows}
	for _, c := range p.columns {
		out.Columns = c.finish(out.Columns, p.o)
	}
	return out
}
