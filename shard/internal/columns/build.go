package columns

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute"
	"github.com/amudai/amudai-go/internal/engine/predicate"
	"github.com/amudai/amudai-go/internal/engine/rowset"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/text/cast"
	"github.com/amudai/amudai-go/shard/internal/indexing"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// source is where the values of a new column are from: an expression, a stored column, or a column of other rows.
type source struct {
	name   string // of the column, for errors
	value  *ast.Node
	stored uint32 // schema id, or root.Missing
	rows   *rows
	column int  // of rows
	stays  bool // it is the stored column, with another type
	casts  []arrow.DataType

	bound      *compute.Value
	of         *table.Column // the stored column
	at         []int         // the way to it in a batch
	id         uint32
	properties func([]*commonpb.NameValuePair) []*commonpb.NameValuePair
}

// builder builds new columns, stripe by stripe.
type builder struct {
	*Plan
	sources []*source // those of columns that are still there
	paths   []string  // that are read
	columns []arrowmap.Column
	budget  *storage.Budget
	history *write.History
	done    int64
}

// builder finds out what new columns are made of, and completes them in the tree.
func (p *Plan) builder(ctx context.Context) (*builder, error) {
	b := &builder{Plan: p, budget: storage.NewBudget(p.o.Memory), history: write.NewHistory()}
	var added []*root.Column
	for _, c := range root.All(p.columns) {
		if c.ID == root.Missing && c.Built != root.Missing {
			added, b.sources = append(added, c), append(b.sources, p.sources[c.Built])
		}
	}
	if len(added) == 0 {
		return b, nil
	}
	if err := b.bind(ctx); err != nil {
		return nil, err
	}
	fields := make([]arrow.Field, len(added))
	for i, s := range b.sources {
		fields[i] = s.field()
	}
	stored, columns, err := arrowmap.FromArrow(arrow.NewSchema(fields, nil), arrowmap.Options{Features: p.o.Encoding.Features})
	if err != nil {
		return nil, err
	}
	b.columns = columns
	for i, c := range root.NewColumns(stored) {
		s, at := b.sources[i], added[i]
		s.id, s.properties = c.Built, p.properties[placeOf{root.Missing, at.Built}]
		c.Field, c.Aliases = arrowmap.Named(c.Field, at.Name, arrowmap.ArrowName(&at.Field)), at.Aliases
		*at = c
	}
	return b, nil
}

// bind binds sources to what is read of the shard.
func (b *builder) bind(ctx context.Context) (err error) {
	b.paths = []string{}
	computed := false
	for _, s := range b.sources {
		switch {
		case s.value != nil:
			all, err := b.table.Project(ctx, nil)
			if err != nil {
				return err
			}
			if s.bound, err = compute.Bind(s.value, all.Schema); err != nil {
				return err
			}
			computed, b.paths = true, append(b.paths, s.bound.Columns()...)
			b.used = append(b.used, s.bound.Columns()...)
		case s.stored != root.Missing:
			path, err := indexing.PathOf(b.stored, s.stored)
			if err != nil {
				return err
			}
			b.paths = append(b.paths, path)
		}
	}
	if len(b.paths) > 0 {
		slices.Sort(b.paths)
		b.paths = slices.Compact(b.paths)
	}
	p, err := b.table.Project(ctx, b.paths)
	if err == nil && computed && slices.ContainsFunc(p.Columns, func(c table.Column) bool { return c.Arrow.Name != c.Stored.Name }) {
		b.paths = nil // names are unique only among all columns
		p, err = b.table.Project(ctx, nil)
	}
	if err != nil {
		return err
	}
	b.projection = p
	for _, s := range b.sources {
		switch {
		case s.value != nil:
			if s.bound, err = compute.Bind(s.value, p.Schema); err != nil {
				return err
			}
		case s.stored != root.Missing:
			s.at, s.of = WayTo(p.Columns, s.stored)
		}
	}
	return nil
}

// WayTo is the way to a column with a schema id; nil if there is none.
func WayTo(all []table.Column, id uint32) ([]int, *table.Column) {
	for i := range all {
		if all[i].ID == id {
			return []int{i}, &all[i]
		}
		if way, c := WayTo(all[i].Children, id); c != nil {
			return append([]int{i}, way...), c
		}
	}
	return nil, nil
}

// field is the field of the new column. Its name is for errors.
func (s *source) field() arrow.Field {
	f := arrow.Field{Nullable: true}
	switch {
	case s.value != nil:
		f.Type = s.bound.Type()
	case s.rows != nil:
		f = s.rows.src.Schema().Field(s.column)
	default:
		f = s.of.Arrow
	}
	if k := len(s.casts); k > 0 {
		f = arrowmap.Retyped(f, s.casts[k-1])
	}
	f.Name = s.name
	return f
}

// build builds the new columns of a stripe.
func (b *builder) build(s root.Stripe) root.Build {
	return func(ctx context.Context) (*stripe.Finished, error) {
		w, err := write.NewWriter(b.columns, write.Options{
			Encoding: b.o.Encoding, Parallelism: b.o.Parallelism, Budget: b.budget, TempDir: b.o.TempDir, History: b.history,
		})
		if err != nil {
			return nil, err
		}
		first := s.Of.Position()
		o := scan.Options{Columns: b.paths, Rows: []rowset.Range{{From: first, To: first + s.Of.Rows()}}, Parallelism: b.o.Parallelism, MemoryLimit: b.o.Memory, Reuse: true}
		err = seq.Each(scan.Scan(ctx, b.table, o), func(batch scan.Batch) error { return b.write(ctx, w, batch) })
		for i := 0; i < len(b.rows) && err == nil; i++ {
			err = b.rows[i].checkEnd(ctx, first+s.Of.Rows(), b.file.Rows())
		}
		if err != nil {
			w.Close()
			return nil, err
		}
		f, err := w.Finish(ctx)
		if err != nil {
			return nil, err
		}
		if err := b.describe(ctx, s, f); err != nil {
			f.Release()
			return nil, err
		}
		return f, nil
	}
}

// write computes and adds the values for a batch.
func (b *builder) write(ctx context.Context, w *write.Writer, batch scan.Batch) error {
	var all []arrow.Array
	defer func() { arrowutil.ReleaseAll(all) }()
	for _, r := range b.rows {
		if err := r.take(ctx, batch.NumRows()); err != nil {
			return err
		}
	}
	for _, s := range b.sources {
		arr, err := b.values(s, batch)
		var misfit *provider.ValueError
		if errors.As(err, &misfit) {
			return b.ofShown(ctx, batch, misfit.Row-1, err)
		}
		if err != nil {
			return err
		}
		all = append(all, arr)
	}
	err := w.Write(ctx, all, int(batch.NumRows()))
	if row, ok := write.RowOf(err, b.columns); ok {
		at := rowset.Row(batch.RowRanges(), row)
		return b.ofShown(ctx, batch, at, fmt.Errorf("row %d of the shard: %w", at, err))
	}
	if b.done += batch.NumRows(); b.o.Progress != nil {
		b.o.Progress(b.done, b.file.Rows())
	}
	return err
}

// ofShown is an error about the value of a row, or one without the value if the row is deleted. Deleted rows have values, too, as they may come back.
func (b *builder) ofShown(ctx context.Context, batch scan.Batch, row int64, err error) error {
	st := b.shown.Stripe(batch.Stripe)
	visible, failed := st.Visible(ctx)
	if failed != nil {
		return failed
	}
	if visible == nil || visible.Contains(row-st.Position()) {
		return err
	}
	return advice.WithHint(fmt.Errorf("row %d of %s is deleted, and a new column cannot have its value", row+1, b.file.Location()), "amudai compact drops deleted rows for good")
}

// values are the values of a new column for a batch. The caller releases them.
func (b *builder) values(s *source, batch scan.Batch) (arr arrow.Array, err error) {
	mem := memory.DefaultAllocator
	switch {
	case s.value != nil:
		if arr, err = s.bound.Eval(mem, batch); err != nil {
			return nil, b.failed(s, batch, err)
		}
	case s.rows != nil:
		arr = s.rows.taken[s.column]
		arr.Retain()
	default:
		if arr, err = predicate.Child(batch.Column(s.at[0]), s.at[1:]); err != nil {
			return nil, err
		}
	}
	for _, to := range s.casts {
		next, err := cast.Array(mem, arr, to)
		arr.Release()
		var m *cast.Misfit
		switch {
		case errors.As(err, &m):
			return nil, b.misfit(s.name+m.Path, m.Value, batch, m.Row, m.Err)
		case err != nil:
			return nil, fmt.Errorf("column %q: %w", s.name, err)
		}
		arr = next
	}
	return arr, nil
}

// failed is the error of an expression with the row whose value it is about.
func (b *builder) failed(s *source, batch scan.Batch, err error) error {
	for i := range batch.NumRows() {
		one := batch.NewSlice(i, i+1)
		arr, err := s.bound.Eval(memory.DefaultAllocator, one)
		one.Release()
		if err != nil {
			return b.misfit(s.name, "", batch, int(i), err)
		}
		arr.Release()
	}
	return err
}

func (b *builder) misfit(column, value string, batch scan.Batch, row int, err error) error {
	return &provider.ValueError{Column: column, Value: value, Row: rowset.Row(batch.RowRanges(), int64(row)) + 1, Input: b.file.Location(), Err: err}
}

// describe gives new fields their custom properties: those that the column had before in the stripe, as they were changed.
func (b *builder) describe(ctx context.Context, of root.Stripe, f *stripe.Finished) error {
	for _, s := range b.sources {
		var all []*commonpb.NameValuePair
		if s.stays {
			d, err := of.Of.Descriptor(ctx, s.stored)
			if err != nil {
				return err
			}
			all = d.GetField().GetCustomProperties()
		}
		if s.properties != nil {
			all = s.properties(all)
		}
		for i := range f.Nodes {
			if f.Nodes[i].ID == s.id {
				f.Nodes[i].Field.CustomProperties = all
			}
		}
	}
	for _, n := range f.Nodes {
		for _, buffer := range n.Buffers {
			b.written += buffer.Data.Size()
		}
	}
	return nil
}

// rows are the rows of a table that gives a shard columns.
type rows struct {
	src   provider.Source
	batch arrow.RecordBatch // what is left of the latest one; nil for nothing
	taken []arrow.Array
	n     int64 // rows so far
	ended bool
}

// take has the next n rows in taken.
func (r *rows) take(ctx context.Context, n int64) error {
	r.release()
	parts := make([][]arrow.Array, r.src.Schema().NumFields())
	defer func() {
		for _, p := range parts {
			arrowutil.ReleaseAll(p)
		}
	}()
	for n > 0 {
		if err := r.fill(ctx); err != nil {
			return err
		}
		if r.batch == nil {
			return fmt.Errorf("the new columns end before row %d of the shard (deleted rows count)", r.n+1)
		}
		k := min(n, r.batch.NumRows())
		for i, c := range r.batch.Columns() {
			parts[i] = append(parts[i], array.NewSlice(c, 0, k))
		}
		rest := r.batch.NewSlice(k, r.batch.NumRows())
		r.batch.Release()
		r.batch, n, r.n = rest, n-k, r.n+k
	}
	for _, p := range parts {
		arr, err := arrowutil.Concatenate(memory.DefaultAllocator, p)
		if err != nil {
			return err
		}
		r.taken = append(r.taken, arr)
	}
	return nil
}

// fill has the next batch with rows in batch, if there is one.
func (r *rows) fill(ctx context.Context) error {
	for !r.ended && (r.batch == nil || r.batch.NumRows() == 0) {
		if r.batch != nil {
			r.batch.Release()
		}
		var err error
		if r.batch, err = r.src.Next(ctx); err != nil {
			return err
		}
		if r.ended = r.batch == nil; r.ended {
			return nil
		}
		if err := arrowutil.CheckBatch(r.batch); err != nil {
			return err
		}
		for i, f := range r.src.Schema().Fields() {
			if c := r.batch.Column(i); !arrow.TypeEqual(c.DataType(), f.Type) {
				return fmt.Errorf("column %q of a batch is %s, its schema has %s", f.Name, c.DataType(), f.Type)
			} else if err := arrowutil.CheckNulls(f, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkEnd checks at the end of the shard, of which there are total rows, that there are no more.
func (r *rows) checkEnd(ctx context.Context, to, total int64) error {
	if to < total {
		return nil
	}
	err := r.fill(ctx)
	if err == nil && r.batch != nil && r.batch.NumRows() > 0 {
		err = fmt.Errorf("the new columns have more than the %d rows of the shard (deleted rows count)", total)
	}
	return err
}

func (r *rows) release() {
	arrowutil.ReleaseAll(r.taken)
	r.taken = nil
}

// Close releases what is left of the rows that the shard gets. Their sources stay the caller's.
func (p *Plan) Close() {
	for _, r := range p.rows {
		r.release()
		if r.batch != nil {
			r.batch.Release()
			r.batch = nil
		}
	}
}
