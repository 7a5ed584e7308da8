package compact

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/sortkeys"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
	"github.com/amudai/amudai-go/storage"
)

// builder reads rows and encodes them.
type builder struct {
	o        Options
	table    *shardtable.Table
	plan     *Plan
	edition  edition.Edition
	features edition.Set // of the stripes that there are
	keys     []sortkeys.Key

	columns []arrowmap.Column // of the new stripes; the last one is the marker of deleted records if the schema has it
	marked  bool
	source  *table.Projection // columns without the marker, and behind them those of the keys
	rows    *arrow.Schema     // of the former
	by      *sortkeys.Bound

	done int64 // rows
}

// raw are the types of columns without a recorded Arrow type, so that they hold every value that is stored.
var raw = arrowmap.ReadOptions{Decimals: arrowmap.DecimalsRaw, DateTimes: arrowmap.TicksRaw, TimeSpans: arrowmap.TicksRaw, Dynamics: arrowmap.DynamicsRaw}

// prepare finds the columns to read and to write, those included that a scan of all columns leaves out.
func (b *builder) prepare(ctx context.Context, s *schema.Schema) error {
	var marker *arrowmap.Column
	var fields []arrow.Field
	for i := range s.NumFields() {
		n, err := s.Field(i)
		if err != nil {
			return err
		}
		c, err := arrowmap.ColumnOf(n, raw)
		if err != nil {
			return err
		}
		if n.Internal() == schema.InternalDeleted {
			marker = &c
			continue
		}
		b.columns, fields = append(b.columns, c), append(fields, c.Arrow)
	}
	narrow := table.WithDecimals64(&table.Projection{Columns: b.columns, Schema: arrow.NewSchema(fields, nil)}, namesOf(fields)) // less to move
	b.columns, b.rows = narrow.Columns, narrow.Schema
	b.source = &table.Projection{Columns: slices.Clone(b.columns), Schema: b.rows}
	if marker != nil {
		b.columns, b.marked = append(b.columns, *marker), true
	}
	if len(b.keys) == 0 {
		return nil
	}
	p, err := b.table.Project(ctx, sortkeys.With([]string{}, b.keys)) // of the types that the user knows
	if err != nil {
		return err
	}
	b.source.Columns = append(b.source.Columns, p.Columns...)
	b.source.Schema = arrow.NewSchema(slices.Concat(b.rows.Fields(), p.Schema.Fields()), nil)
	b.by, err = sortkeys.Bind(b.keys, p.Schema, false)
	return err
}

func namesOf(fields []arrow.Field) (names []string) {
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names
}

// projected is a table whose columns are those of a projection.
type projected struct {
	*shardtable.Table
	p *table.Projection
}

func (t projected) Project(context.Context, []string) (*table.Projection, error) { return t.p, nil }

// stream builds stripes with rows that read gives to a writer. They have the properties that some stripes have in common.
func (b *builder) stream(r root.Root, from []int, read func(context.Context, *writer) error) func(context.Context, func(*stripe.Finished, shardwriter.StripeOptions) error) error {
	return func(ctx context.Context, add func(*stripe.Finished, shardwriter.StripeOptions) error) error {
		c, err := commonOf(ctx, r, from)
		if err != nil {
			return err
		}
		w := &writer{builder: b, budget: storage.NewBudget(b.o.Memory / 16), history: write.NewHistory(), add: func(f *stripe.Finished) error { return add(f, c.of(f)) }}
		defer w.close()
		if err := read(ctx, w); err != nil {
			return err
		}
		return w.end(ctx)
	}
}

func (b *builder) scan(ctx context.Context, o scan.Options, each func(arrow.RecordBatch) error) error {
	o.Parallelism, o.MemoryLimit, o.Reuse = b.o.Parallelism, b.o.Memory/8, b.by == nil
	return seq.Each(scan.Scan(ctx, projected{b.table, b.source}, o), func(batch scan.Batch) error { return each(batch) })
}

// evalKeys are the keys of rows of the source, which the caller releases.
func (b *builder) evalKeys(batch arrow.RecordBatch) ([]arrow.Array, error) {
	n := b.rows.NumFields()
	of := array.NewRecordBatch(arrow.NewSchema(b.source.Schema.Fields()[n:], nil), batch.Columns()[n:], batch.NumRows())
	defer of.Release()
	return b.by.Eval(of)
}

// sort sorts the rows of stripes by the keys, or along a curve of them. They have the first columns of the source.
func (b *builder) sort(ctx context.Context, stripes []int, columns *arrow.Schema) (*order.Sorter, error) {
	by, c := b.by.Keys, (*curve)(nil)
	if b.o.Cluster != "" {
		var err error
		if c, err = b.curveOf(ctx, stripes); err != nil {
			return nil, err
		}
		by = []order.Key{{Type: arrow.PrimitiveTypes.Uint64}}
	}
	s, err := order.NewSorter(columns, by, order.Options{Memory: b.o.Memory / 8, TempDir: b.o.TempDir})
	if err != nil {
		return nil, err
	}
	err = b.scan(ctx, scan.Options{Stripes: stripes}, func(batch arrow.RecordBatch) error {
		keys, err := b.evalKeys(batch)
		if err != nil {
			return err
		}
		if c != nil {
			places := c.places(keys, int(batch.NumRows()))
			arrowutil.ReleaseAll(keys)
			keys = []arrow.Array{places}
		}
		defer arrowutil.ReleaseAll(keys)
		rows := array.NewRecordBatch(columns, batch.Columns()[:columns.NumFields()], batch.NumRows())
		defer rows.Release()
		return s.Add(ctx, rows, keys)
	})
	if err == nil {
		err = s.Finish(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// sorted writes the rows of stripes in the order of the keys.
func (b *builder) sorted(ctx context.Context, stripes []int, w *writer) (err error) {
	s, err := b.sort(ctx, stripes, b.rows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for {
		batch, err := s.Next(ctx)
		if batch == nil || err != nil {
			return err
		}
		err = w.write(ctx, batch)
		batch.Release()
		if err != nil {
			return err
		}
	}
}

// writer divides rows into stripes, and encodes these.
type writer struct {
	*builder
	budget  *storage.Budget
	history *write.History
	add     func(*stripe.Finished) error
	cur     *write.Writer // nil between stripes
	raw     int64         // bytes of its rows
}

func (w *writer) write(ctx context.Context, batch arrow.RecordBatch) error {
	columns, rows := batch.Columns(), int(batch.NumRows())
	if w.marked {
		columns = append(slices.Clone(columns), notDeleted(rows))
	}
	for from := 0; from < rows; {
		if err := w.begin(); err != nil {
			return err
		}
		to := int(min(int64(rows), int64(from)+w.o.StripeRows-w.cur.Rows()))
		n, size, full := write.CutAt(columns, from, to, w.o.StripeBytes-w.raw)
		if err := w.writeSlice(ctx, columns, from, from+n); err != nil {
			return err
		}
		from, w.raw = from+n, w.raw+size
		if full || w.cur.Rows() == w.o.StripeRows {
			if err := w.end(ctx); err != nil {
				return err
			}
		}
	}
	if w.done += int64(rows); w.o.Progress != nil {
		w.o.Progress(w.done, w.plan.rows)
	}
	return nil
}

// notDeleted is the marker of rows that are not deleted.
func notDeleted(rows int) arrow.Array {
	bits := memory.NewBufferBytes(make([]byte, (rows+7)/8))
	return array.NewBooleanData(array.NewData(arrow.FixedWidthTypes.Boolean, rows, []*memory.Buffer{nil, bits}, nil, 0, 0))
}

func (w *writer) writeSlice(ctx context.Context, columns []arrow.Array, from, to int) error {
	cut := write.Slice(columns, from, to)
	defer arrowutil.ReleaseAll(cut)
	return w.cur.Write(ctx, cut, to-from)
}

// begin begins a stripe, unless there is one.
func (w *writer) begin() (err error) {
	if w.cur != nil {
		return nil
	}
	o := w.o.Encoding
	o.Features = w.edition.Features()
	w.raw = 0
	w.cur, err = write.NewWriter(w.columns, write.Options{
		Encoding: o, Parallelism: w.o.Parallelism, Budget: w.budget, TempDir: w.o.TempDir, History: w.history,
		NullsApart: w.features.Has(edition.NullsApart), OffsetsApart: w.features.Has(edition.OffsetsApart),
	})
	return err
}

// end ends the stripe, if there is one.
func (w *writer) end(ctx context.Context) error {
	if w.cur == nil {
		return nil
	}
	f, err := w.cur.Finish(ctx)
	w.cur = nil
	if err != nil {
		return err
	}
	for i := range f.Nodes {
		for _, b := range f.Nodes[i].Buffers {
			w.plan.written += b.Data.Size()
		}
	}
	w.plan.built++
	return w.add(f)
}

func (w *writer) close() {
	if w.cur != nil {
		w.cur.Close()
		w.cur = nil
	}
}
