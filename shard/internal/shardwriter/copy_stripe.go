package shardwriter

import (
	"context"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
)

// Composed is a stripe that is made of stored and of new fields.
type Composed struct {
	// Of is the stored stripe whose records, directory and properties the new one has; nil if all fields are new.
	Of *shardfile.Stripe
	// Fields says where the fields are, by schema id of the new shard. Nil means those of Of with the same ids.
	Fields []Field
	// New are fields that are not stored yet. The caller releases it. It may be nil.
	New *stripe.Finished
	// Deleted is the number of records that the marker of deleted records marks.
	Deleted uint64
}

// Field is the place of a field: a schema id of a stored stripe or, without one, of Composed.New. A stored stripe may lack the field, and Missing is in none:
// the values are null.
type Field struct {
	Stripe *shardfile.Stripe
	ID     uint32
	// Properties makes the custom properties of a stored field of those that it has; nil leaves them.
	Properties func([]*commonpb.NameValuePair) []*commonpb.NameValuePair
}

// Missing is the ID of a field without values.
const Missing = math.MaxUint32

// Links says how a new root refers to what is stored. Without them, data are copied.
type Links struct {
	// URL is the absolute URL of an artifact from now on. Buffers in artifacts that have another name by then are found as long as their bytes do
	// not change.
	URL func(r storage.Reader) string
	// Descriptors are referred to where they are, too, if that is in the folder of the new root: a change of one column of many writes little. Their
	// readers need one more artifact.
	Descriptors bool
	// Copy is the URL of the folder, with a slash at its end, to which bytes of a field in an artifact are copied instead; "" if they stay. Those of an index have no
	// field. It may be nil.
	Copy func(f Field, r storage.Reader) (folder string)
}

// AddStripe appends a stripe that is made of others: with copies of their buffers byte for byte, which are not checked, or with references to them.
func (w *Writer) AddStripe(ctx context.Context, c Composed, to *Links, o StripeOptions) error {
	if c.Of == nil {
		return w.AppendStripe(ctx, c.New, o)
	}
	if err := w.usable(); err != nil {
		return err
	}
	finished := map[uint32]*stripe.Node{}
	if c.New != nil {
		o.Features |= c.New.Features
		for i := range c.New.Nodes {
			finished[c.New.Nodes[i].ID] = &c.New.Nodes[i]
		}
	}
	d, err := c.directory(ctx, finished, &o)
	if err != nil {
		return err
	}
	var nodes []node
	for _, id := range w.order {
		n, err := w.fieldNode(ctx, c.field(id), finished, id, to)
		if err != nil {
			return err
		}
		if n != nil {
			nodes = append(nodes, *n)
		}
	}
	return w.appendStripe(ctx, nodes, d, o)
}

// directory is the directory of the stripe so far. It adds the properties of the stripe to o.
func (c *Composed) directory(ctx context.Context, finished map[uint32]*stripe.Node, o *StripeOptions) (*shardpb.StripeDirectory, error) {
	properties, err := c.Of.Properties(ctx)
	if err != nil {
		return nil, err
	}
	o.Properties = append(shardfile.PropertiesFromProto(properties.CustomProperties), o.Properties...)
	o.Standard = append(shardfile.PropertiesFromProto(properties.StandardProperties), o.Standard...)
	stored := c.Of.Directory()
	d := &shardpb.StripeDirectory{TotalRecordCount: stored.TotalRecordCount, DeletedRecordCount: c.Deleted, RawDataSize: stored.RawDataSize}
	if c.Fields != nil && d.RawDataSize != nil {
		d.RawDataSize, err = c.rawSize(ctx, finished, *d.RawDataSize)
	}
	return d, err
}

// rawSize is the size of the stripe before encoding: that of Of, without the fields that are left out and with those that come. It is nil if one of
// them does not tell it.
func (c *Composed) rawSize(ctx context.Context, finished map[uint32]*stripe.Node, size uint64) (*uint64, error) {
	used := map[uint32]bool{}
	known := true
	count := func(f *shardpb.FieldDescriptor, add bool) {
		switch {
		case f == nil:
		case f.RawDataSize == nil || !add && *f.RawDataSize > size:
			known = false
		case add:
			size += *f.RawDataSize
		default:
			size -= *f.RawDataSize
		}
	}
	for _, f := range c.Fields {
		switch {
		case f.Stripe == nil:
			if n := finished[f.ID]; n != nil {
				count(n.Field, true)
			}
		case f.Stripe == c.Of:
			used[f.ID] = true
		default:
			d, err := f.Stripe.Descriptor(ctx, f.ID)
			if err != nil {
				return nil, err
			}
			count(d.GetField(), true)
		}
	}
	sch, err := c.Of.File().Schema(ctx)
	if err != nil {
		return nil, err
	}
	for id := range sch.IDCount() {
		if used[id] {
			continue
		}
		d, err := c.Of.Descriptor(ctx, id)
		if err != nil {
			return nil, err
		}
		count(d.GetField(), false)
	}
	if !known {
		return nil, nil
	}
	return &size, nil
}

// field is the place of a field of the new stripe.
func (c *Composed) field(id uint32) Field {
	if c.Fields == nil {
		return Field{Stripe: c.Of, ID: id}
	}
	return c.Fields[id]
}

// fieldNode is the field of a schema id at a place, nil if its values are missing.
func (w *Writer) fieldNode(ctx context.Context, f Field, finished map[uint32]*stripe.Node, id uint32, to *Links) (*node, error) {
	if f.Stripe == nil {
		added := finished[f.ID]
		if added == nil {
			return nil, nil
		}
		n := newNode(*added)
		n.id = id
		return &n, nil
	}
	if to != nil && to.Descriptors && w.o.Edition != edition.Reference && f.Properties == nil {
		at, ok, err := f.Stripe.DescriptorRef(ctx, f.ID)
		if err != nil {
			return nil, err
		}
		if url, beside := w.beside(at, *to); ok && beside {
			w.stored.add(f, at)
			return &node{id: id, place: &place{url, frame{at.Range, at.Checksum}}, stored: f}, nil
		}
	}
	d, err := f.Stripe.Descriptor(ctx, f.ID)
	if d == nil || err != nil {
		return nil, err
	}
	n, err := w.readNode(f.Stripe, id, d, func(b *shardpb.EncodedBuffer) (part, error) {
		if to == nil {
			return copyBuffer(ctx, f, b, nil)
		}
		if to.Copy != nil {
			if p, err := copyBuffer(ctx, f, b, to.Copy); p.data == nil || p.folder != "" || err != nil {
				return p, err
			}
		}
		return w.linkBuffer(ctx, f, b, to.URL)
	})
	if f.Properties != nil && err == nil {
		n.field = proto.CloneOf(n.field)
		n.field.CustomProperties = f.Properties(n.field.CustomProperties)
	}
	return &n, err
}

// linkBuffer is a buffer of a field where it is.
func (w *Writer) linkBuffer(ctx context.Context, f Field, b *shardpb.EncodedBuffer, moved func(storage.Reader) string) (part, error) {
	p := part{desc: proto.Clone(b).(*shardpb.EncodedBuffer)}
	for _, ref := range []*commonpb.DataRef{p.desc.Buffer, p.desc.BlockMap} {
		if ref.GetRange().GetStart() == ref.GetRange().GetEnd() {
			continue
		}
		r, err := f.Stripe.Artifact(ctx, f.ID, ref)
		if err != nil {
			return p, err
		}
		ref.Url = container.Relative(w.url, moved(r))
		w.urls[ref.Url] = true
	}
	return p, nil
}

// readNode is the field of a schema id as a stored stripe describes it.
func (w *Writer) readNode(src *shardfile.Stripe, id uint32, m *shardpb.StripeFieldDescriptor, buffer func(b *shardpb.EncodedBuffer) (part, error)) (node, error) {
	n := node{id: id, field: m.Field}
	in := func(err error) error {
		return fault.InStripe(fault.In(err, fmt.Sprintf("field %d", id), -1), src.Index())
	}
	if len(m.Encodings) == 0 {
		n.encodings = []encoding{{}}
	}
	for _, stored := range m.Encodings {
		var e encoding
		switch native := stored.GetNative(); {
		case stored.GetParquet() != nil:
			e.parquet = proto.CloneOf(stored.GetParquet())
			if err := w.moveReferences(src, e.parquet); err != nil {
				return n, in(err)
			}
		case native == nil:
			return n, in(fault.Unsupportedf("an encoding that is neither native nor in a Parquet file cannot be copied"))
		default:
			e.packed = native.PackedGroup
			for _, b := range native.Buffers {
				p, err := buffer(b)
				if err != nil {
					return n, err
				}
				e.buffers = append(e.buffers, p)
			}
		}
		n.encodings = append(n.encodings, e)
	}
	return n, nil
}

// moveReferences makes the references of a field those of the new shard, to the same Parquet files.
func (w *Writer) moveReferences(src *shardfile.Stripe, p *shardpb.ExternalParquetDataEncoding) error {
	for _, ref := range p.FileColumnRefs {
		if ref.FileRef == nil {
			continue
		}
		from := ref.FileRef.Url
		url, err := src.Resolve(from)
		if err != nil {
			return err
		}
		if moved, ok := w.o.Moved[url]; ok {
			url = moved
		}
		if ref.FileRef.Url = container.Relative(w.url, url); ref.FileRef.Url == url && from != url { // which readers refuse
			return fault.Unsupportedf("the Parquet file %s is outside of the folder of the new shard", url)
		}
	}
	return nil
}

// copyBuffer is a buffer of a field, to be copied to the folder that choose says; nil means that of the root.
func copyBuffer(ctx context.Context, f Field, b *shardpb.EncodedBuffer, choose func(Field, storage.Reader) string) (part, error) {
	p := part{desc: proto.Clone(b).(*shardpb.EncodedBuffer), mapOffset: -1}
	start, end := b.GetBuffer().GetRange().GetStart(), b.GetBuffer().GetRange().GetEnd()
	if start == end {
		return p, nil
	}
	r, err := f.Stripe.Artifact(ctx, f.ID, b.Buffer)
	if err != nil {
		return p, err
	}
	p.size = int64(end - start)
	if b.BlockMap != nil {
		p.mapOffset = int64(b.BlockMap.GetRange().GetStart() - start)
	}
	if choose != nil {
		p.folder = choose(f, r)
	}
	p.data = copiedRange{ctx, r, shardfile.Range{Start: int64(start), End: int64(end)}}
	return p, nil
}

// copiedRange is a range of an artifact, to be copied.
type copiedRange struct {
	ctx  context.Context
	from storage.Reader
	shardfile.Range
}

func (c copiedRange) WriteTo(out io.Writer) (int64, error) {
	return c.End - c.Start, CopyRange(c.ctx, out, c.from, c.Range)
}

// CopyRange copies a range of an artifact. It fails soon after ctx ends.
func CopyRange(ctx context.Context, out io.Writer, r storage.Reader, from shardfile.Range) error {
	buf := make([]byte, min(from.End-from.Start, 256<<10))
	for at := from.Start; at < from.End; {
		b := buf[:min(int64(len(buf)), from.End-at)]
		if err := r.ReadAt(ctx, b, at); err != nil {
			return err
		}
		if _, err := out.Write(b); err != nil {
			return err
		}
		at += int64(len(b))
	}
	return nil
}

// postOrder lists the schema ids in the order in which buffers are written: children before their parent (docs/format.md
// §2.6). roots are those of the top-level fields.
func postOrder(s *schema.Schema) (ids, roots []uint32, err error) {
	ids = make([]uint32, 0, s.IDCount())
	budget := s.Budget()
	var walk func(n schema.Node, err error) error
	walk = func(n schema.Node, err error) error {
		if err == nil {
			err = budget.Spend(n)
		}
		for i := 0; err == nil && i < n.NumChildren(); i++ {
			err = walk(n.Child(i))
		}
		ids = append(ids, n.ID())
		return err
	}
	for i := range s.NumFields() {
		if err := walk(s.Field(i)); err != nil {
			return nil, nil, err
		}
		roots = append(roots, ids[len(ids)-1])
	}
	return ids, roots, nil
}
