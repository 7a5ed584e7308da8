package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/scan"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/arrowmap/convert"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/internal/format/shardfile"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/stripe"
	"github.com/amudai/amudai-go/stripe/write"
)

// Layout says which files a shard consists of.
type Layout = shardfile.Layout

// The layouts.
const (
	SingleFile = shardfile.SingleFile // everything in one file; the default
	TwoLevel   = shardfile.TwoLevel   // each stripe's data in a file beside the root
)

// Property is a name with a value, kept with a shard, a stripe or a field; see
// [shardfile.Property] for the types that a value can have.
type Property = shardfile.Property

// Defaults of [WriterOptions].
const (
	// DefaultStripeRows is large enough that what a stripe costs (its
	// descriptors, and a request for each of its columns) does not matter, and
	// small enough that its statistics still tell stripes apart and that a few of
	// them keep all cores busy.
	DefaultStripeRows = 1 << 20
	// DefaultStripeBytes keeps what has to be staged for a stripe of long rows
	// within bounds.
	DefaultStripeBytes = 512 << 20
	// DefaultMemoryBytes holds most of an encoded stripe of most tables; what does
	// not fit goes to temporary files.
	DefaultMemoryBytes = 16 << 20
)

// WriterOptions are those of [Create]. The zero value is the default.
type WriterOptions struct {
	// Store takes the artifacts; by default the one that the location belongs to.
	Store storage.Store
	// Layout is SingleFile by default.
	Layout Layout
	// Overwrite allows to replace an existing shard, by default false.
	Overwrite bool
	// CreationTime is recorded in the shard, by default the time of Create. With a
	// fixed one, the same input and options give the same bytes.
	CreationTime time.Time
	// Edition says which features the shard may use: by default EditionReference,
	// what the reference implementation reads.
	Edition Edition
	// Profile says how the encoder weighs bytes against time, by default
	// encoding.Balanced.
	Profile encoding.Profile
	// Times says how timestamps, dates and durations are stored, and TimesOf the
	// same for single columns by their path. The default is 100-ns ticks, and
	// integers for nanoseconds: ticks cannot hold those.
	Times   TimeEncoding
	TimesOf map[string]TimeEncoding
	// StripeRows and StripeBytes end a stripe: it is full with that many rows, or
	// with the row that brings its raw size to that many bytes. By default
	// DefaultStripeRows and DefaultStripeBytes.
	StripeRows  int64
	StripeBytes int64
	// MemoryBytes bounds the encoded data that is staged in memory, by default
	// DefaultMemoryBytes. The rest goes to temporary files in TempDir, by default
	// the system's folder for them.
	MemoryBytes int64
	TempDir     string
	// Parallelism is how many columns and pieces of them are encoded at a time, by
	// default GOMAXPROCS. With more than 1 that goes on between the calls, and an
	// error of a file may come with a later one. The bytes do not depend on it.
	Parallelism int
	// Allocator is for conversions of arrays; by default Arrow's.
	Allocator memory.Allocator
	// Properties are the shard's custom properties.
	Properties []Property
	// Program is recorded as the writer of the shard, by default this library.
	Program string
}

func (o *WriterOptions) setDefaults() error {
	if err := cmp.Or(
		scan.SetDefault("WriterOptions.StripeRows", &o.StripeRows, DefaultStripeRows),
		scan.SetDefault("WriterOptions.StripeBytes", &o.StripeBytes, DefaultStripeBytes),
		scan.SetDefault("WriterOptions.MemoryBytes", &o.MemoryBytes, DefaultMemoryBytes),
		scan.SetDefault("WriterOptions.Parallelism", &o.Parallelism, 0), // the stripe's
	); err != nil {
		return err
	}
	if _, err := encoding.ParseProfile(o.Profile.String()); err != nil {
		return fmt.Errorf("WriterOptions.Profile: %w", err)
	}
	if _, err := edition.Parse(o.Edition.String()); err != nil {
		return fmt.Errorf("WriterOptions.Edition: %w", err)
	}
	if o.Parallelism == 0 {
		o.Parallelism = runtime.GOMAXPROCS(0)
	}
	if o.Allocator == nil {
		o.Allocator = memory.DefaultAllocator
	}
	return nil
}

// Writer makes one shard. It stays invisible until Close. A Writer belongs to one
// goroutine, and ends with Close or Abort.
type Writer struct {
	o       WriterOptions
	schema  *arrow.Schema
	checked *arrow.Schema // last batch schema that was found to fit
	stored  *schema.Schema
	columns []arrowmap.Column
	out     *shardfile.Writer
	budget  *storage.Budget
	memory  *write.History

	cur        *write.Writer // nil between stripes
	rows       int64         // of the stripes before
	stripes    int           // before
	raw        int64         // raw bytes in cur
	properties []Property    // of the stripe
	appending  chan error    // gets the result of the stripe that is appended beside; nil if there is none
	stop       func()        // ends appending
	fields     map[uint32][]*commonpb.NameValuePair
	err        error
}

// Create begins a shard at location. The folder must exist; the shard must not,
// unless options say so. What of the schema cannot be stored is an error that
// wraps [ErrUnsupported] and names the column.
func Create(ctx context.Context, location string, s *arrow.Schema, o WriterOptions) (*Writer, error) {
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	fields, columns, err := arrowmap.FromArrow(s, arrowmap.Options{Features: o.Edition.Features(), Times: o.Times, TimesOf: o.TimesOf})
	if err != nil {
		return nil, err
	}
	message, err := schema.Build(fields)
	if err != nil {
		return nil, err
	}
	w := &Writer{
		o: o, schema: s, checked: s, columns: columns,
		budget: storage.NewBudget(o.MemoryBytes), memory: write.NewHistory(), fields: map[uint32][]*commonpb.NameValuePair{},
	}
	if w.stored, err = schema.Parse(message); err != nil {
		return nil, err
	}
	properties, err := withArrowSchema(o.Properties, s)
	if err != nil {
		return nil, err
	}
	w.out, err = shardfile.Create(ctx, location, message, shardfile.WriterOptions{
		Store: o.Store, Layout: o.Layout, Overwrite: o.Overwrite, CreationTime: o.CreationTime,
		Edition: o.Edition, Properties: properties, Program: o.Program,
	})
	return w, err
}

// Schema is the Arrow schema given to Create.
func (w *Writer) Schema() *arrow.Schema { return w.schema }

// Rows is the number of rows written so far.
func (w *Writer) Rows() int64 {
	if w.cur != nil {
		return w.rows + w.cur.Rows()
	}
	return w.rows
}

// NumStripes is the number of finished stripes.
func (w *Writer) NumStripes() int { return w.stripes }

// Size is the number of bytes of the root artifact so far.
func (w *Writer) Size() int64 {
	_ = w.settle(context.Background()) // an error comes with the next call that can return it
	return w.out.Size()
}

// Write appends the rows of a batch, of any number, and ends stripes that become
// full. The batch has the columns of the schema given to Create, in their order;
// it is not kept.
//
// A value that cannot be stored exactly is an error that names its column and
// row. After an error the shard can only be aborted.
func (w *Writer) Write(ctx context.Context, batch arrow.RecordBatch) error {
	if w.err != nil {
		return w.err
	}
	if err := w.check(batch); err != nil {
		return err
	}
	rows := int(batch.NumRows())
	for from := 0; from < rows; {
		n, err := w.writeSome(ctx, batch.Columns(), from, rows)
		if err != nil {
			w.err = fmt.Errorf("%w (the shard writer can only be aborted)", err)
			return err
		}
		from += n
	}
	return nil
}

// check compares the batch with the schema.
func (w *Writer) check(batch arrow.RecordBatch) error {
	s := batch.Schema()
	if s != w.checked {
		if s.NumFields() != w.schema.NumFields() {
			return fmt.Errorf("batch has %d columns, the shard %d", s.NumFields(), w.schema.NumFields())
		}
		for i, want := range w.schema.Fields() {
			got := s.Field(i)
			if got.Name != want.Name || !arrow.TypeEqual(got.Type, want.Type) {
				return fmt.Errorf("column %d of the batch is %q %v, the shard has %q %v", i, got.Name, got.Type, want.Name, want.Type)
			}
		}
		w.checked = s
	}
	for i, c := range batch.Columns() {
		if f := w.schema.Field(i); !f.Nullable && arrowutil.NullN(c) > 0 && f.Type.ID() != arrow.NULL {
			return fmt.Errorf("column %q has %d nulls, but its field is not nullable", f.Name, arrowutil.NullN(c))
		}
	}
	return nil
}

// writeSome writes rows from row from on, up to the end of the stripe or to row
// to, and tells how many.
func (w *Writer) writeSome(ctx context.Context, columns []arrow.Array, from, to int) (int, error) {
	if w.cur == nil {
		if err := w.begin(); err != nil {
			return 0, err
		}
	}
	to = int(min(int64(to), int64(from)+w.o.StripeRows-w.cur.Rows()))
	n, size, full := cutAt(columns, from, to, w.o.StripeBytes-w.raw)
	if err := w.writeSlice(ctx, columns, from, from+n); err != nil {
		return 0, err
	}
	w.raw += size
	if !full && w.cur.Rows() < w.o.StripeRows {
		return n, nil
	}
	if w.o.Parallelism == 1 {
		return n, w.finish(ctx)
	}
	return n, w.finishBeside(ctx)
}

func (w *Writer) writeSlice(ctx context.Context, columns []arrow.Array, from, to int) error {
	cut := columns
	if len(columns) > 0 && (from != 0 || to != columns[0].Len()) {
		cut = make([]arrow.Array, len(columns))
		for i, c := range columns {
			cut[i] = array.NewSlice(c, int64(from), int64(to))
			defer cut[i].Release()
		}
	}
	first := w.Rows()
	err := w.cur.Write(ctx, cut, to-from)
	if row, ok := w.rowOf(err); ok {
		return fmt.Errorf("row %d of the shard: %w", first+row, err)
	}
	return err
}

// rowOf is the row, in what was written last, that an error is about. Errors in
// nested columns count items, which is no row.
func (w *Writer) rowOf(err error) (row int64, ok bool) {
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
	var in *Error
	nested := errors.As(err, &in) && slices.ContainsFunc(w.columns, func(c arrowmap.Column) bool {
		return len(c.Children) > 0 && schema.Escape(c.Arrow.Name) == in.Column
	})
	return row, !nested
}

func (w *Writer) begin() (err error) {
	w.raw = 0
	w.cur, err = write.NewWriter(w.columns, write.Options{
		Encoding:    encoding.Options{Profile: w.o.Profile, Features: w.o.Edition.Features()},
		Parallelism: w.o.Parallelism, Budget: w.budget, TempDir: w.o.TempDir, Allocator: w.o.Allocator,
		History: w.memory,
	})
	return err
}

// finish ends the stripe and appends it to the artifact.
func (w *Writer) finish(ctx context.Context) error {
	add, err := w.end(ctx)
	if err == nil {
		err = add(ctx)
	}
	return err
}

// finishBeside is finish that lets the next stripe begin while this one is
// appended. An error of that comes with a later call.
func (w *Writer) finishBeside(ctx context.Context) error {
	add, err := w.end(ctx)
	if err != nil {
		return err
	}
	ctx, w.stop = context.WithCancel(context.WithoutCancel(ctx)) // it may outlive the call
	w.appending = make(chan error, 1)
	go func() {
		var err error
		defer func() { w.appending <- err }()
		defer fault.RecoverInternal(&err)
		err = add(ctx)
	}()
	return nil
}

// settle waits for the stripe that is appended beside. If ctx ends it makes it stop.
func (w *Writer) settle(ctx context.Context) error {
	if w.appending == nil {
		return nil
	}
	defer context.AfterFunc(ctx, w.stop)()
	err := <-w.appending
	w.stop()
	w.appending, w.stop = nil, nil
	if err != nil {
		w.err = fmt.Errorf("%w (the shard writer can only be aborted)", err)
	}
	return err
}

// end ends the stripe, after those before are appended; add, which must be called,
// appends it.
func (w *Writer) end(ctx context.Context) (add func(context.Context) error, err error) {
	if err := w.settle(ctx); err != nil {
		return nil, err
	}
	f, err := w.cur.Finish(ctx)
	if err != nil {
		return nil, err
	}
	w.cur = nil
	w.rows += f.Rows
	w.stripes++
	for i := range f.Nodes {
		if p := w.fields[f.Nodes[i].ID]; p != nil {
			f.Nodes[i].Field.CustomProperties = p
		}
	}
	o := shardfile.StripeOptions{Properties: w.properties, Features: f.Features}
	w.properties = nil
	return func(ctx context.Context) error {
		defer f.Release()
		return w.out.AppendStripe(ctx, f, o)
	}, nil
}

// CutStripe ends the stripe that is being written; the next row begins another
// one. All stripes are in the artifact then. Without rows since the last cut it
// writes nothing.
func (w *Writer) CutStripe(ctx context.Context) error {
	if w.err != nil {
		return w.err
	}
	if w.cur == nil {
		return w.settle(ctx)
	}
	if err := w.finish(ctx); err != nil {
		w.err = fmt.Errorf("%w (the shard writer can only be aborted)", err)
		return err
	}
	return nil
}

// SetProperty sets a custom property of the shard; it replaces one of the same name.
func (w *Writer) SetProperty(name string, value any) error {
	if err := w.settle(context.Background()); err != nil {
		return err
	}
	return w.out.SetProperty(name, value)
}

// SetStripeProperty adds a custom property to the stripe that is being written,
// or that the next row begins.
func (w *Writer) SetStripeProperty(name string, value any) error {
	p := Property{Name: name, Value: value}
	if _, err := shardfile.PropertiesToProto([]Property{p}); err != nil {
		return err
	}
	w.properties = append(w.properties, p)
	return nil
}

// SetFieldProperty adds a custom property to the field at path, in all stripes
// that end from now on.
func (w *Writer) SetFieldProperty(path, name string, value any) error {
	n, err := w.stored.Path(path)
	if err != nil {
		return err
	}
	p, err := shardfile.PropertiesToProto([]Property{{Name: name, Value: value}})
	if err != nil {
		return err
	}
	w.fields[n.ID()] = append(w.fields[n.ID()], p...)
	return nil
}

// Close ends the last stripe, writes the shard's metadata and makes it visible,
// whole and durable. After an error nothing is left, and nothing that was there
// before has changed; only if making its name durable failed the complete shard
// may stand.
func (w *Writer) Close(ctx context.Context) error {
	err := w.CutStripe(ctx)
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	w.err = shardfile.ErrEnded
	return w.out.Close(ctx)
}

// Abort drops the shard. After Close, or a second time, it does nothing.
func (w *Writer) Abort() error {
	if w.cur != nil {
		w.cur.Close()
		w.cur = nil
	}
	if w.stop != nil {
		w.stop()
	}
	_ = w.settle(context.Background()) // its error has no more meaning
	w.err = shardfile.ErrEnded
	return w.out.Abort()
}
