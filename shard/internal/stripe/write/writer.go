// Package write turns Arrow arrays into the encoded buffers of one stripe. Each kind of
// node has its file. A [Writer] yields buffers that its caller places.
package write

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sync/errgroup"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/arrowmap/convert"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/write/internal/buffers"
	"github.com/amudai/amudai-go/storage"
)

// History is the memory of how the stripes before were encoded.
type History = buffers.History

// NewHistory is the memory of no stripe.
func NewHistory() *History { return buffers.NewHistory() }

// Options are those of a [Writer].
type Options struct {
	Encoding    encoding.Options // profile and features; NoPresence is set where it belongs
	Parallelism int              // columns, and segments of them, encoded at a time; 0 means GOMAXPROCS
	Budget      *storage.Budget  // of staged bytes; beyond it buffers spill to temporary files
	TempDir     string           // of those files; empty means the system's
	Allocator   memory.Allocator // for conversions of arrays; nil means the default
	History     *History         // of the stripes before; nil for none
	// NullsApart gives numbers with nulls a PRESENCE buffer, so that filters of nulls need not read them.
	NullsApart bool
	// OffsetsApart gives strings and binary values without a dictionary an OFFSETS buffer, so that their lengths need not read them.
	OffsetsApart bool
	// Groups are columns that become packed groups, by their numbers. A struct alone in a group packs its children.
	Groups [][]int
	// Alternative are the options of a second encoding of each node, or nil.
	Alternative *Options
}

// Writer encodes one stripe. It is used by one goroutine at a time, and uses
// more itself: columns take their values side by side, and what is staged is
// encoded meanwhile, in a way that the bytes do not depend on how many there are.
type Writer struct {
	columns     []arrowmap.Column
	nodes       []nodeWriter
	features    *buffers.FeatureLog
	groups      []packedGroup
	parallelism int
	pool        *buffers.Pool
	rows        int64
	err         error
	other       *Writer // of the second encodings, or nil
}

// NewWriter makes a writer for the given columns, the children of the schema's root.
func NewWriter(columns []arrowmap.Column, o Options) (*Writer, error) {
	o.Allocator = cmp.Or(o.Allocator, memory.DefaultAllocator)
	o.Parallelism = cmp.Or(o.Parallelism, runtime.GOMAXPROCS(0))
	features := &buffers.FeatureLog{Allowed: o.Encoding.Features}
	features.AddColumns(columns)
	c := &buffers.Context{Features: features, Encoding: o.Encoding, Budget: o.Budget, TempDir: o.TempDir, Mem: o.Allocator, History: o.History, Pool: buffers.NewPool(o.Parallelism), Stage: buffers.StageOf(columns),
		NullsApart: o.NullsApart && o.Encoding.Features.Has(edition.NullsApart), OffsetsApart: o.OffsetsApart && o.Encoding.Features.Has(edition.OffsetsApart)}
	w := &Writer{columns: columns, features: features, nodes: make([]nodeWriter, len(columns)), parallelism: o.Parallelism, pool: c.Pool}
	contexts := slices.Repeat([]*buffers.Context{c}, len(columns))
	if o.Encoding.Features.Has(edition.PackedGroups) {
		w.groups = newGroups(c, columns, o.Groups, contexts)
	}
	for i := range columns {
		var err error
		if w.nodes[i], err = newNodeWriter(contexts[i], &columns[i]); err != nil {
			c.Pool.Close()
			return nil, err
		}
	}
	if o.Alternative != nil {
		var err error
		if w.other, err = NewWriter(columns, *o.Alternative); err != nil {
			w.Close()
			return nil, err
		}
	}
	return w, nil
}

// Write appends rows: one array for each column, all of the given length. It does not
// keep the arrays, which [arrowutil.Check] has checked. An error about a value names its
// column, and its row within this call. After an error the stripe cannot be finished.
func (w *Writer) Write(ctx context.Context, columns []arrow.Array, rows int) error {
	if w.err != nil {
		return w.err
	}
	if len(columns) != len(w.nodes) {
		return fmt.Errorf("%d columns, expected %d", len(columns), len(w.nodes))
	}
	for i, arr := range columns {
		if arr.Len() != rows {
			return fmt.Errorf("column %q has %d rows, expected %d", w.columns[i].Arrow.Name, arr.Len(), rows)
		}
	}
	w.err = w.each(ctx, func(i int) error { return w.nodes[i].write(columns[i]) })
	w.rows += int64(rows)
	if w.err == nil && w.other != nil {
		w.err = w.other.Write(ctx, columns, rows)
	}
	return w.err
}

// CheckBlockValues checks an option for the most values of a block; 0 is the default.
func CheckBlockValues(option string, n int) error {
	if n != 0 && (n < encoding.LeastBlockValues || n > encoding.MostBlockValues || n&(n-1) != 0) {
		return fmt.Errorf("%s: %d is not 8192, 16384, 32768 or 65536", option, n)
	}
	return nil
}

// Rows is the number of rows written.
func (w *Writer) Rows() int64 { return w.rows }

// each calls f for every column, on as many goroutines as allowed. Its error names
// the column.
func (w *Writer) each(ctx context.Context, f func(i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(w.parallelism, len(w.nodes)) {
		g.Go(func() error {
			w.pool.Acquire()
			defer w.pool.Release()
			for i := int(next.Add(1)) - 1; i < len(w.nodes); i = int(next.Add(1)) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := try(i, f); err != nil {
					return fault.InColumn(err, schema.Escape(w.columns[i].Arrow.Name))
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// RowOf is the row within the call of [Writer.Write] that an error of it is about. Errors in nested columns have the number of an item instead, and no row.
func RowOf(err error, columns []arrowmap.Column) (row int64, ok bool) {
	var value *stripe.ValueError
	var converted *convert.RowError
	switch {
	case errors.As(err, &value):
		row = value.Row
	case errors.As(err, &converted):
		row = int64(converted.Row)
	default:
		return 0, false
	}
	var in *fault.Error
	nested := errors.As(err, &in) && slices.ContainsFunc(columns, func(c arrowmap.Column) bool {
		return len(c.Children) > 0 && schema.Escape(c.Arrow.Name) == in.Column
	})
	return row, !nested
}

// try calls f, whose panic is an error.
func try(i int, f func(i int) error) (err error) {
	defer fault.RecoverInternal(&err)
	return f(i)
}

// Finish cuts the last blocks and gives the encoded stripe, which the caller
// must release. The writer is not used afterwards.
func (w *Writer) Finish(ctx context.Context) (*stripe.Finished, error) {
	if w.err != nil {
		return nil, w.err
	}
	results := make([][]stripe.Node, len(w.nodes))
	err := w.each(ctx, func(i int) (err error) {
		results[i], err = w.nodes[i].finish(nil)
		return err
	})
	for _, g := range w.groups {
		if err == nil {
			err = g.pack(uint64(w.rows), results)
		}
	}
	out := &stripe.Finished{Rows: w.rows, Features: w.features.Set(), Nodes: slices.Concat(results...)}
	for _, n := range out.Nodes {
		out.RawBytes += n.Field.GetRawDataSize()
	}
	if err == nil && w.other != nil {
		var other *stripe.Finished
		if other, err = w.other.Finish(ctx); err == nil {
			err = join(out, other)
		}
	}
	w.Close()
	if err != nil {
		out.Release()
		return nil, err
	}
	return out, nil
}

// Close drops staged values and ends the goroutines of the writer. After Finish it
// does nothing.
func (w *Writer) Close() {
	w.pool.Acquire()
	for _, n := range w.nodes {
		n.release()
	}
	w.pool.Release()
	w.pool.Close()
	w.pool, w.nodes = nil, nil
	if w.other != nil {
		w.other.Close()
	}
	w.err = errors.New("stripe writer is closed")
}

// CheckCoding checks an edition and a profile of options; name is put before the names of both.
func CheckCoding(name string, e edition.Edition, p encoding.Profile) error {
	if _, err := encoding.ParseProfile(p.String()); err != nil {
		return fmt.Errorf("%sProfile: %w", name, err)
	}
	if _, err := edition.Parse(e.String()); err != nil {
		return fmt.Errorf("%sEdition: %w", name, err)
	}
	return nil
}

// CheckSchema compares the names and types of a batch with those of a shard.
func CheckSchema(s, shard *arrow.Schema) error {
	if s.NumFields() != shard.NumFields() {
		return fmt.Errorf("batch has %d columns, the shard %d", s.NumFields(), shard.NumFields())
	}
	for i, want := range shard.Fields() {
		got := s.Field(i)
		if got.Name != want.Name || !arrow.TypeEqual(got.Type, want.Type) {
			return fmt.Errorf("column %d of the batch is %q %v, the shard has %q %v", i, got.Name, got.Type, want.Name, want.Type)
		}
	}
	return nil
}

// CheckBatch looks at the arrays of a batch before anything walks them, and for nulls where the schema of the shard allows none.
func CheckBatch(batch arrow.RecordBatch, shard *arrow.Schema) error {
	if err := arrowutil.CheckBatch(batch); err != nil {
		return err
	}
	for i, c := range batch.Columns() {
		if err := arrowutil.CheckNulls(shard.Field(i), c); err != nil {
			return err
		}
	}
	return nil
}
