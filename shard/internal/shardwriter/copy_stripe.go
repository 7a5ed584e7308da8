package shardwriter

import (
	"context"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// CopyStripe appends a stripe of another shard with the same schema: its buffers byte for byte, its descriptors with new
// references, and its properties. Fields that the stripe lacks stay missing. The bytes of buffers are not checked.
func (w *Writer) CopyStripe(ctx context.Context, src *shardfile.Stripe, o StripeOptions) error {
	nodes, d, err := w.readStripe(ctx, src, &o, func(id uint32, b *shardpb.EncodedBuffer) (part, error) { return copyBuffer(ctx, src, id, b) })
	if err != nil {
		return err
	}
	return w.appendStripe(ctx, nodes, d, o)
}

// LinkStripe appends a stripe of another shard with the same schema by reference: its metadata is written, and refers to the
// artifacts that hold its buffers. moved is the URL of such an artifact from now on. Buffers in artifacts that have another name
// by then are found as long as their bytes do not change.
func (w *Writer) LinkStripe(ctx context.Context, src *shardfile.Stripe, moved func(r storage.Reader) string, o StripeOptions) error {
	if err := w.usable(); err != nil {
		return err
	}
	nodes, d, err := w.readStripe(ctx, src, &o, func(id uint32, b *shardpb.EncodedBuffer) (part, error) {
		p := part{desc: proto.Clone(b).(*shardpb.EncodedBuffer)}
		for _, ref := range []*commonpb.DataRef{p.desc.Buffer, p.desc.BlockMap} {
			if ref.GetRange().GetStart() == ref.GetRange().GetEnd() {
				continue
			}
			r, err := src.Artifact(ctx, id, ref)
			if err != nil {
				return p, err
			}
			ref.Url = container.Relative(w.url, moved(r))
			w.urls[ref.Url] = true
		}
		return p, nil
	})
	if err != nil {
		return err
	}
	return w.describeStripe(ctx, nodes, d, o)
}

// readStripe reads the metadata of a stripe, in the order in which buffers are written. It adds the stripe's properties to o.
func (w *Writer) readStripe(ctx context.Context, src *shardfile.Stripe, o *StripeOptions, buffer func(id uint32, b *shardpb.EncodedBuffer) (part, error)) ([]node, *shardpb.StripeDirectory, error) {
	s, err := schema.Parse(w.message)
	if err != nil {
		return nil, nil, err
	}
	ids, err := postOrder(s)
	if err != nil {
		return nil, nil, err
	}
	var nodes []node
	for _, id := range ids {
		m, err := src.Descriptor(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		if m == nil {
			continue
		}
		n, err := w.readNode(src, id, m, buffer)
		if err != nil {
			return nil, nil, err
		}
		nodes = append(nodes, n)
	}
	properties, err := src.Properties(ctx)
	if err != nil {
		return nil, nil, err
	}
	o.Properties = append(shardfile.PropertiesFromProto(properties.CustomProperties), o.Properties...)
	o.Standard = append(shardfile.PropertiesFromProto(properties.StandardProperties), o.Standard...)
	return nodes, &shardpb.StripeDirectory{
		TotalRecordCount: src.Directory().TotalRecordCount, DeletedRecordCount: src.Directory().DeletedRecordCount,
		RawDataSize: src.Directory().RawDataSize,
	}, nil
}

func (w *Writer) readNode(src *shardfile.Stripe, id uint32, m *shardpb.StripeFieldDescriptor, buffer func(id uint32, b *shardpb.EncodedBuffer) (part, error)) (node, error) {
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
				p, err := buffer(id, b)
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
		if ref.FileRef.Url = container.Relative(w.url, url); ref.FileRef.Url == url && from != url { // which readers refuse
			return fault.Unsupportedf("the Parquet file %s is outside of the folder of the new shard", url)
		}
	}
	return nil
}

func copyBuffer(ctx context.Context, src *shardfile.Stripe, id uint32, b *shardpb.EncodedBuffer) (part, error) {
	p := part{desc: proto.Clone(b).(*shardpb.EncodedBuffer), mapOffset: -1}
	start, end := b.GetBuffer().GetRange().GetStart(), b.GetBuffer().GetRange().GetEnd()
	if start == end {
		return p, nil
	}
	r, err := src.Artifact(ctx, id, b.Buffer)
	if err != nil {
		return p, err
	}
	p.size = int64(end - start)
	if b.BlockMap != nil {
		p.mapOffset = int64(b.BlockMap.GetRange().GetStart() - start)
	}
	p.copy = func(out io.Writer) error {
		return CopyRange(ctx, out, r, shardfile.Range{Start: int64(start), End: int64(end)})
	}
	return p, nil
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
// §2.6).
func postOrder(s *schema.Schema) ([]uint32, error) {
	var ids []uint32
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
			return nil, err
		}
	}
	return ids, nil
}
