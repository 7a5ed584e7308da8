package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/encoding"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/option"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/indexing"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/shard/internal/stripe/write"
	"github.com/amudai/amudai-go/storage"
)

// Layout is the division of a shard into files (docs/format.md §2.6).
type Layout = shardwriter.Layout

// The layouts.
const (
	SingleFile = shardwriter.SingleFile // everything in one file; the default
	TwoLevel   = shardwriter.TwoLevel   // the data of each stripe in a file beside the root, named after its content
)

// Property is a name with a value, stored with a shard, a stripe or a field (docs/format.md §11).
//
//	type Property struct {
//		Name  string // case matters
//		Value any
//	}
//
// Value is nil, a bool, an int, int32, int64 or uint64, a float64, a string, a []byte, a [time.Time]
// or [time.Duration] (stored in steps of 100 ns), a []any or a []Property. Readers return int and
// int32 as int64.
type Property = shardfile.Property

// Defaults of [WriterOptions].
const (
	// DefaultStripeRows makes the fixed cost of a stripe (descriptors, and a request for each
	// column) negligible, and leaves enough stripes for selective statistics and for parallel
	// scans.
	DefaultStripeRows = 1 << 20
	// DefaultStripeBytes bounds the data that is staged for a stripe of long rows.
	DefaultStripeBytes = 512 << 20
	// DefaultMemoryBytes holds most of an encoded stripe of most tables. The rest goes to
	// temporary files.
	DefaultMemoryBytes = 16 << 20
)

// WriterOptions are the options of [Create] and [NewWriter]. The zero value is the default.
type WriterOptions struct {
	// Store receives the files. The default is the registered store of the location.
	Store     storage.Store
	Layout    Layout // SingleFile by default
	Overwrite bool   // permits the replacement of an existing shard
	// CreationTime is recorded in the shard, by default the time of Create. With a fixed
	// time, the same rows and options give the same bytes.
	CreationTime time.Time
	// Edition is the set of features that the shard may use. The default is Edition2026.
	// EditionReference is for exchange with the reference implementation in Rust.
	Edition Edition
	// Profile balances size against the time to write and read. The default is
	// encoding.Balanced.
	Profile encoding.Profile
	// BlockValues is the most values of a block: 8192, 16384, 32768, or 65536, which is the default. A block is read as a whole.
	// So small ones are for reading single rows, such as those that an index finds, over a network above all.
	BlockValues int
	// NullsApart stores the nulls of numbers and times in buffers of their own, so that "is null" and "is not null" read no values. Edition
	// reference ignores it.
	NullsApart bool
	// OffsetsApart stores the bytes of strings and binary values in one buffer, and where each ends in another, unless they have a dictionary.
	// The lengths of values are then read without them. Edition reference ignores it.
	OffsetsApart bool
	// Packed are groups of top-level columns that are read together: their blocks lie side by side, so that a read of whole rows is one of
	// bytes that follow each other. The name of a struct alone packs its children, and "*" stands for all columns that are in no other group. Only columns of
	// flat types are packed. Edition reference ignores it.
	Packed [][]string
	// Alternative has the stripes encoded a second time, so that each reader takes what it supports. One of edition reference comes first in
	// the file, and everything but the second encodings is then as in edition reference. Readers of this library take the first. A shard of
	// two encodings takes the space and the time to write of both, and filters decode its values. Packed excludes it.
	Alternative *Alternative
	// Times is the stored form of timestamps, dates and durations. The default is ticks of
	// 100 ns, but integers for nanoseconds, which ticks cannot hold in general.
	Times      TimeEncoding
	TimesOf    map[string]TimeEncoding // overrides Times for single columns, by their paths
	StripeRows int64                   // the maximum number of rows of a stripe, by default DefaultStripeRows
	// StripeBytes ends a stripe with the row that brings its size, without any encoding, to
	// this number of bytes. The default is DefaultStripeBytes.
	StripeBytes int64
	// MemoryBytes bounds the encoded data that is staged in memory, by default
	// DefaultMemoryBytes. The rest goes to temporary files in TempDir.
	MemoryBytes int64
	TempDir     string // the folder of temporary files, by default that of the system
	// Parallelism is the number of segments of columns that are encoded at the same time, by
	// default GOMAXPROCS. With more than 1, work continues between calls, and a call may
	// return the error of an earlier one. The bytes do not depend on Parallelism.
	Parallelism int
	Allocator   memory.Allocator // allocates memory for conversions of arrays, by default Arrow's
	Properties  []Property       // the custom properties of the shard
	// Indexes are built while rows are written, and attached by Close. [AddIndex] does it later.
	Indexes []IndexDefinition
	// IndexMemoryBytes bounds the memory for building each index, by default 64 MiB. The rest goes to temporary files.
	IndexMemoryBytes int64
	Program          string // recorded as the program that wrote the shard, by default this library
}

// Alternative are the options of second encodings, see [WriterOptions].
type Alternative struct {
	Edition Edition
	Profile encoding.Profile
}

func (o *WriterOptions) setDefaults() error {
	if err := cmp.Or(
		option.SetDefault("WriterOptions.StripeRows", &o.StripeRows, DefaultStripeRows),
		option.SetDefault("WriterOptions.StripeBytes", &o.StripeBytes, DefaultStripeBytes),
		option.SetDefault("WriterOptions.MemoryBytes", &o.MemoryBytes, DefaultMemoryBytes),
		option.SetDefault("WriterOptions.Parallelism", &o.Parallelism, 0), // the stripe's
	); err != nil {
		return err
	}
	if err := write.CheckCoding("WriterOptions.", o.Edition, o.Profile); err != nil {
		return err
	}
	if a := o.Alternative; a != nil {
		if len(o.Packed) > 0 {
			return errors.New("WriterOptions.Alternative: columns cannot be packed, too")
		}
		if err := write.CheckCoding("WriterOptions.Alternative.", a.Edition, a.Profile); err != nil {
			return err
		}
		if a.Edition == EditionReference && o.Edition != EditionReference {
			o.Alternative = &Alternative{o.Edition, o.Profile}
			o.Edition, o.Profile = a.Edition, a.Profile
		}
	}
	if err := write.CheckBlockValues("WriterOptions.BlockValues", o.BlockValues); err != nil {
		return err
	}
	o.Parallelism = cmp.Or(o.Parallelism, runtime.GOMAXPROCS(0))
	o.Allocator = cmp.Or(o.Allocator, memory.DefaultAllocator)
	return nil
}

// Writer writes one shard, which is invisible until Close. A Writer belongs to one goroutine and
// ends with Close or Abort.
type Writer struct {
	o       WriterOptions
	schema  *arrow.Schema
	checked *arrow.Schema // last batch schema that matched
	stored  *schema.Schema
	columns []arrowmap.Column
	out     *shardwriter.Writer
	budget  *storage.Budget
	memory  *write.History
	second  *write.History // of the alternative encodings
	groups  [][]int        // of columns that are packed

	cur        *write.Writer // current stripe, nil between stripes
	rows       int64         // rows of the finished stripes
	stripes    int           // number of finished stripes
	raw        int64         // raw bytes of the current stripe
	properties []Property    // properties of the current stripe
	pending    []Property    // properties of the shard that out does not have yet
	appending  chan error    // receives the result of the background append; nil if there is none
	stop       func()        // cancels the background append
	fields     map[uint32][]*commonpb.NameValuePair
	indexes    *root.Builders
	err        error
}

// Create begins a shard at location. The folder must exist. The caller must end the writer with
// Close or Abort.
//
// The error wraps [ErrUnsupported] and names the column if an Arrow type cannot be stored. It wraps
// [io/fs.ErrExist] if there is a shard already and o.Overwrite is false; another writer may still
// take the location first, and then Close returns that error.
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
		budget: storage.NewBudget(o.MemoryBytes), memory: write.NewHistory(), second: write.NewHistory(), fields: map[uint32][]*commonpb.NameValuePair{},
	}
	if w.groups, err = write.Groups(columns, o.Packed); err != nil {
		return nil, err
	}
	if w.stored, err = schema.Parse(message); err != nil {
		return nil, err
	}
	if w.indexes, err = root.NewBuilders(w.stored, s, o.Indexes, indexing.Options{Memory: o.IndexMemoryBytes, TempDir: o.TempDir}); err != nil {
		return nil, err
	}
	properties, err := root.WithArrowSchema(o.Properties, s)
	if err != nil {
		return nil, err
	}
	w.out, err = shardwriter.Create(ctx, location, message, shardwriter.Options{
		Store: o.Store, Layout: o.Layout, Overwrite: o.Overwrite, CreationTime: o.CreationTime,
		Edition: o.Edition, Properties: properties, Program: o.Program,
	})
	return w, err
}

// Schema is the Arrow schema that was given to Create.
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

// Size is the number of bytes of the root file so far. It waits for the stripe that is appended in
// the background.
func (w *Writer) Size(ctx context.Context) (int64, error) {
	err := w.waitAppend(ctx)
	return w.out.Size(), err
}

// Write appends the rows of a batch, and ends stripes that become full. The batch may have any
// number of rows. Its columns must have the names, types and order of the schema that was given to
// Create. The writer does not keep the batch.
//
// A value that cannot be stored exactly is an error with its column and row. A batch that does not
// match the schema is an error, and writing may go on. After any other error only Abort is useful.
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
			return w.fail(err)
		}
		from += n
	}
	return nil
}

// fail makes the writer refuse all calls except Abort.
func (w *Writer) fail(err error) error {
	w.err = fmt.Errorf("%w (the shard writer can only be aborted)", err)
	return err
}

// check compares the batch with the schema, and looks at its arrays before anything walks them.
func (w *Writer) check(batch arrow.RecordBatch) error {
	if s := batch.Schema(); s != w.checked {
		if err := write.CheckSchema(s, w.schema); err != nil {
			return err
		}
		w.checked = s
	}
	return write.CheckBatch(batch, w.schema)
}

// writeSome writes the rows [from, to), or fewer up to the end of the stripe, and returns their
// number.
func (w *Writer) writeSome(ctx context.Context, columns []arrow.Array, from, to int) (int, error) {
	if w.cur == nil {
		if err := w.begin(); err != nil {
			return 0, err
		}
	}
	to = int(min(int64(to), int64(from)+w.o.StripeRows-w.cur.Rows()))
	n, size, full := write.CutAt(columns, from, to, w.o.StripeBytes-w.raw)
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
	return n, w.finishInBackground(ctx)
}

func (w *Writer) writeSlice(ctx context.Context, columns []arrow.Array, from, to int) error {
	cut := write.Slice(columns, from, to)
	defer arrowutil.ReleaseAll(cut)
	first := w.Rows()
	err := w.cur.Write(ctx, cut, to-from)
	if row, ok := write.RowOf(err, w.columns); ok {
		return fmt.Errorf("row %d of the shard: %w", first+row, err)
	}
	if err == nil {
		err = w.indexes.Add(cut, w.rows, first, to-from)
	}
	return err
}

func (w *Writer) begin() (err error) {
	w.raw = 0
	o := write.Options{
		Encoding:    encoding.Options{Profile: w.o.Profile, Features: w.o.Edition.Features(), BlockValues: w.o.BlockValues},
		Parallelism: w.o.Parallelism, Budget: w.budget, TempDir: w.o.TempDir, Allocator: w.o.Allocator,
		History: w.memory, NullsApart: w.o.NullsApart, OffsetsApart: w.o.OffsetsApart, Groups: w.groups,
	}
	if a := w.o.Alternative; a != nil {
		second := o
		second.Encoding.Profile, second.Encoding.Features, second.History = a.Profile, a.Edition.Features(), w.second
		o.Alternative = &second
	}
	w.cur, err = write.NewWriter(w.columns, o)
	return err
}

// finish ends the stripe and appends it to the file.
func (w *Writer) finish(ctx context.Context) error {
	add, err := w.end(ctx)
	if err == nil {
		err = add(ctx)
	}
	return err
}

// finishInBackground ends the stripe and appends it to the file in the background, while the next
// stripe begins. A later call returns an error of the append.
func (w *Writer) finishInBackground(ctx context.Context) error {
	add, err := w.end(ctx)
	if err != nil {
		return err
	}
	ctx, w.stop = context.WithCancel(context.WithoutCancel(ctx)) // the append may outlive the call
	w.appending = make(chan error, 1)
	go func() {
		var err error
		defer func() { w.appending <- err }()
		defer fault.RecoverInternal(&err)
		err = add(ctx)
	}()
	return nil
}

// waitAppend waits for the stripe that is appended in the background. It cancels the append if ctx
// ends. Then it hands the pending properties to out, which no other goroutine uses now.
func (w *Writer) waitAppend(ctx context.Context) error {
	if w.appending != nil {
		defer context.AfterFunc(ctx, w.stop)()
		err := <-w.appending
		w.stop()
		w.appending, w.stop = nil, nil
		if err != nil {
			return w.fail(err)
		}
	}
	for _, p := range w.pending {
		if err := w.out.SetProperty(p.Name, p.Value); err != nil {
			return err
		}
	}
	w.pending = nil
	return nil
}

// end ends the stripe once all earlier ones are appended. The caller must call add, which appends
// it.
func (w *Writer) end(ctx context.Context) (add func(context.Context) error, err error) {
	if err := w.waitAppend(ctx); err != nil {
		return nil, err
	}
	f, err := w.cur.Finish(ctx)
	if err != nil {
		return nil, err
	}
	w.cur = nil
	built, err := w.indexes.Build(ctx, true, f.Rows)
	if err != nil {
		f.Release()
		return nil, err
	}
	w.rows += f.Rows
	w.stripes++
	for i := range f.Nodes {
		if p := w.fields[f.Nodes[i].ID]; p != nil {
			f.Nodes[i].Field.CustomProperties = p
		}
	}
	o := shardwriter.StripeOptions{Properties: w.properties, Features: f.Features}
	w.properties = nil
	return func(ctx context.Context) error {
		defer f.Release()
		var err error
		if o.Indexes, err = built.Write(ctx, w.out); err != nil {
			return err
		}
		return w.out.AppendStripe(ctx, f, o)
	}, nil
}

// CutStripe ends the current stripe, and returns when it is in the file. The next row begins another
// stripe. Without rows since the last stripe it does nothing.
func (w *Writer) CutStripe(ctx context.Context) error {
	if w.err != nil {
		return w.err
	}
	if w.cur == nil {
		return w.waitAppend(ctx)
	}
	if err := w.finish(ctx); err != nil {
		return w.fail(err)
	}
	return nil
}

// SetProperty sets a custom property of the shard, and replaces one of the same name. [Property]
// lists the types of values.
func (w *Writer) SetProperty(name string, value any) error {
	return addProperty(&w.pending, Property{Name: name, Value: value})
}

// SetStripeProperty adds a custom property to the current stripe, or to the next one if no row
// follows the last stripe yet.
func (w *Writer) SetStripeProperty(name string, value any) error {
	return addProperty(&w.properties, Property{Name: name, Value: value})
}

func addProperty(to *[]Property, p Property) error {
	_, err := shardfile.PropertiesToProto([]Property{p})
	if err == nil {
		*to = append(*to, p)
	}
	return err
}

// SetFieldProperty adds a custom property to the field at path, in the current stripe and all later
// ones.
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

// Close ends the last stripe, writes the metadata, and publishes the shard in one step. The shard is
// then complete and durable. After an error no new shard is visible and an old one is unchanged,
// with one exception: if the directory entry could not be made durable, the complete shard may
// remain.
func (w *Writer) Close(ctx context.Context) error {
	err := w.CutStripe(ctx)
	if err != nil {
		return errors.Join(err, w.Abort(context.WithoutCancel(ctx)))
	}
	if err := w.indexes.End(ctx, w.out, w.rows); err != nil {
		return errors.Join(err, w.Abort(context.WithoutCancel(ctx)))
	}
	w.err = shardwriter.ErrEnded
	return w.out.Close(ctx)
}

// Abort discards the shard. It releases memory and temporary files even if ctx has ended; to clean
// up in a store on a server, too, after a cancelled call, pass context.WithoutCancel(ctx). After
// Close, and after another Abort, it does nothing.
func (w *Writer) Abort(ctx context.Context) error {
	if w.cur != nil {
		w.cur.Close()
		w.cur = nil
	}
	if w.stop != nil {
		w.stop()
	}
	_ = w.waitAppend(ctx) // its error has no more meaning
	w.err = shardwriter.ErrEnded
	return errors.Join(w.indexes.Close(), w.out.Abort(ctx))
}
