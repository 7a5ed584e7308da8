// Package shardwriter writes and publishes the file, or the files, of one shard. Package shardfile draws the layout and
// reads it. The encoded buffers of stripes come from package stripe, or from another shard.
package shardwriter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// Layout says of which files a shard consists (docs/format.md §2.6).
type Layout uint8

const (
	// SingleFile puts everything into the root artifact. It is the default: there is one file to copy, and a small shard
	// is opened with one request.
	SingleFile Layout = iota
	// TwoLevel puts the buffers of each stripe into a stripe file beside the root, so that a later root can refer to
	// stripes of an earlier one. The name of a stripe file is the XXH3-64 of its content in hexadecimal, followed by
	// ".amudai.stripe". Stripes of the same content share a file. A writer therefore never removes one: the files of
	// complete stripes stay when it aborts, and another attempt finds them.
	TwoLevel
)

// String is the name of the layout.
func (l Layout) String() string {
	switch l {
	case SingleFile:
		return "SingleFile"
	case TwoLevel:
		return "TwoLevel"
	}
	return fmt.Sprintf("Layout(%d)", uint8(l))
}

// StripeSuffix ends the names of stripe files.
const StripeSuffix = ".amudai.stripe"

// Options are the options of [Create]. The zero value is the default.
type Options struct {
	// Store takes the artifacts; by default the one that the location belongs to.
	Store storage.Store
	// Layout is SingleFile by default.
	Layout Layout
	// Overwrite allows the writer to replace an existing shard, by default false. The stripe files of a replaced shard
	// stay, because readers may still use them.
	Overwrite bool
	// IfMatch allows the writer to replace this version of an existing shard, see [storage.CreateOptions].
	IfMatch storage.Version
	// CreationTime is recorded in the shard, by default the time of Create. Set it to get the same bytes for the same
	// input. CreationMax is when the newest data was written, by default CreationTime.
	CreationTime, CreationMax time.Time
	// Edition is recorded in the shard, by default edition.E2026.
	Edition edition.Edition
	// Standard are the shard's standard properties. By default these are Edition, the features that stripes use, and
	// Program. A copy of another shard can take over those of the original.
	Standard []shardfile.Property
	// Properties are the shard's custom properties.
	Properties []shardfile.Property
	// Moved are URLs of Parquet files by those that stored stripes refer to, where they are others from now on.
	Moved map[string]string
	// Program is recorded as the writer of the shard, by default [shardfile.DefaultWriter].
	Program string
}

// Writer writes one shard. Stripes are appended to an artifact that stays hidden until Close completes and publishes it.
// A Writer may be used by one goroutine at a time. It ends with Close or Abort.
type Writer struct {
	o        Options
	location string
	url      string // of the root
	out      storage.Writer
	ids      uint32
	order    []uint32 // schema ids in the order in which buffers are written
	roots    []uint32 // those of the top-level fields
	message  []byte   // the schema
	schema   frame    // of it, at the start
	tree     shardfile.ChecksumTree
	features edition.Set
	created  [2]uint64 // ticks of CreationTime and CreationMax

	before  []any // ends of the shards before this one in the artifact
	stripes []*shardpb.StripeDirectory
	indexes []*shardpb.IndexDescriptor
	rows    uint64
	urls    map[string]bool
	stored  stored
	fields  [][]byte // descriptor of each schema id so far, encoded
	// copies are the frames of the descriptors and the field list of each stripe, nil if they have more than message.MaxCopied bytes, which copied counts.
	copies [][]byte
	copied int
	// inherited are the descriptors of the shard that are stored already.
	inherited map[uint32]place
	unread    []node // stored fields of the first stripe that are not in fields yet
	buf       []byte
	ended     bool
	err       error // after which only Abort works
}

// ErrEnded is the error of a writer that is used after Close or Abort.
var ErrEnded = errors.New("the shard writer has ended")

// Create begins a shard at location, which stays invisible until Close. message is the schema as package schema builds it.
func Create(ctx context.Context, location string, message []byte, o Options) (*Writer, error) {
	w, err := newWriter(location, message, o)
	if err != nil {
		return nil, err
	}
	if w.out, err = w.o.Store.Create(ctx, location, storage.CreateOptions{Overwrite: o.Overwrite, IfMatch: o.IfMatch}); err != nil {
		return nil, err
	}
	if err := w.begin(ctx); err != nil {
		return nil, errors.Join(err, w.Abort(context.WithoutCancel(ctx)))
	}
	return w, nil
}

func newWriter(location string, message []byte, o Options) (*Writer, error) {
	var err error
	if o.Layout > TwoLevel {
		return nil, fmt.Errorf("WriterOptions.Layout is unknown: %v", o.Layout)
	}
	if o.Store, err = storage.Of(o.Store, location); err != nil {
		return nil, err
	}
	o.Program = cmp.Or(o.Program, shardfile.DefaultWriter)
	if o.CreationTime.IsZero() {
		o.CreationTime = time.Now()
	}
	if o.CreationMax.IsZero() {
		o.CreationMax = o.CreationTime
	}
	w := &Writer{o: o, location: location, message: message, urls: map[string]bool{},
		stored: stored{ranges: map[storage.Reader][]shardfile.Range{}, urls: map[storage.Reader]string{}}}
	for i, t := range []time.Time{o.CreationTime, o.CreationMax} {
		if w.created[i], err = shardfile.Ticks(t); err != nil {
			return nil, fmt.Errorf("WriterOptions.CreationTime: %w", err)
		}
	}
	for _, list := range [][]shardfile.Property{o.Properties, o.Standard} {
		if _, err := shardfile.PropertiesToProto(list); err != nil {
			return nil, fmt.Errorf("WriterOptions.Properties: %w", err)
		}
	}
	if w.url, err = storage.URL(location); err != nil {
		return nil, err
	}
	s, err := schema.Parse(message)
	if err != nil {
		return nil, err
	}
	w.ids = s.IDCount()
	w.fields = make([][]byte, w.ids)
	w.order, w.roots, err = postOrder(s)
	return w, err
}

// begin writes the header and the schema.
func (w *Writer) begin(ctx context.Context) (err error) {
	if err := w.out.Write(ctx, container.Mark[:]); err != nil {
		return err
	}
	w.schema, err = w.writeFrame(ctx, w.message)
	return err
}

// Follow completes the shard, and begins another one behind it in the same artifact (docs/format.md §2.8). Both are published when the last is
// closed. Of the options, those of the artifact do not count.
func (w *Writer) Follow(ctx context.Context, message []byte, o Options) (*Writer, error) {
	o.Store, o.Layout = w.o.Store, w.o.Layout
	next, err := newWriter(w.location, message, o)
	if err != nil {
		return nil, err
	}
	before := w.before
	w.before = nil // only the last shard has a list
	if err := cmp.Or(w.err, w.writeRoot(ctx, 0)); err != nil {
		return nil, err
	}
	w.ended = true
	next.out, next.before = w.out, append(before, w.out.Size())
	if next.schema, err = next.writeFrame(ctx, message); err != nil {
		return nil, errors.Join(err, next.Abort(context.WithoutCancel(ctx)))
	}
	return next, nil
}

// SetProperty sets a custom property of the shard; it replaces one of the same name.
func (w *Writer) SetProperty(name string, value any) error {
	if _, err := shardfile.PropertiesToProto([]shardfile.Property{{Name: name, Value: value}}); err != nil {
		return err
	}
	w.o.Properties = slices.Clone(w.o.Properties)
	if i := slices.IndexFunc(w.o.Properties, func(p shardfile.Property) bool { return p.Name == name }); i >= 0 {
		w.o.Properties[i].Value = value
	} else {
		w.o.Properties = append(w.o.Properties, shardfile.Property{Name: name, Value: value})
	}
	return nil
}

// URL is the absolute URL of the root.
func (w *Writer) URL() string { return w.url }

// Size is the number of bytes of the root artifact so far.
func (w *Writer) Size() int64 { return w.out.Size() }

// Close writes the metadata of the shard, makes everything durable, and publishes it. After an error nothing is left but
// stripe files (see [TwoLevel]), or a complete shard if only its name could not be made durable.
func (w *Writer) Close(ctx context.Context) error {
	if w.ended {
		return ErrEnded
	}
	err := w.err
	if err == nil {
		err = w.writeRoot(ctx, container.MarkSize)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return errors.Join(err, w.Abort(context.WithoutCancel(ctx)))
	}
	w.ended = true
	return w.out.Publish(ctx)
}

// Abort removes the unfinished shard, except stripe files (see [TwoLevel]). ctx is that of storage.Writer.Abort. After Close or
// Abort it does nothing.
func (w *Writer) Abort(ctx context.Context) error {
	if w.ended {
		return nil
	}
	w.ended = true
	return w.out.Abort(ctx)
}

// write appends bytes. After an error it only returns that error.
func (w *Writer) write(ctx context.Context, b []byte) error {
	if w.err == nil {
		w.err = w.out.Write(ctx, b)
	}
	return w.err
}

// frame is a framed message that was written.
type frame struct {
	shardfile.Range
	sum uint32 // of its payload
}

// ref refers to the message.
func (f frame) ref() *commonpb.DataRef { return selfRef(f.Range) }

// writeFrame appends a framed message.
func (w *Writer) writeFrame(ctx context.Context, payload []byte) (frame, error) {
	start := w.out.Size()
	w.buf = container.AppendFrame(w.buf[:0], payload)
	err := w.write(ctx, w.buf)
	return frame{shardfile.Range{Start: start, End: w.out.Size()}, container.FrameChecksum(w.buf)}, err
}

// writeMessage appends a message, and returns the reference to it. Its checksum becomes sum.
func (w *Writer) writeMessage(ctx context.Context, m proto.Message, sum *uint32) (*commonpb.DataRef, error) {
	payload, err := marshal.Marshal(m)
	if err != nil {
		return nil, err
	}
	f, err := w.writeFrame(ctx, payload)
	*sum = f.sum
	return f.ref(), err
}

// marshal encodes equal messages to the same bytes.
var marshal = proto.MarshalOptions{Deterministic: true}

// selfRef refers to bytes of the artifact that holds the reference.
func selfRef(r shardfile.Range) *commonpb.DataRef { return dataRef("", r) }

func dataRef(url string, r shardfile.Range) *commonpb.DataRef {
	return &commonpb.DataRef{Url: url, Range: &commonpb.UInt64Range{Start: uint64(r.Start), End: uint64(r.End)}}
}
