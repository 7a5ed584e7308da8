package shardfile

import (
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/shard/internal/message"
	"github.com/amudai/amudai-go/storage"
)

// MessageRef is the place of a framed message of the metadata.
type MessageRef struct {
	Stripe   int                      // number of the stripe, or fault.None for messages of the whole shard
	Element  string                   // name of the element, such as "field 7"
	Type     protoreflect.MessageType // nil for the schema, which is not protobuf
	Artifact storage.Reader           // the artifact of the message
	Range    Range                    // of the frame
	bound    binding
}

// Parse is the payload of the message, whose frame must be valid, and the one that the reference was written for.
func (m MessageRef) Parse(frame []byte) ([]byte, error) { return m.bound.parseFrame(frame) }

// Decode is Parse of a message that is no schema.
func (m MessageRef) Decode(frame []byte) (proto.Message, error) {
	payload, err := m.bound.parseFrame(frame)
	out := m.Type.New().Interface()
	if err == nil {
		err = message.Decode(payload, out)
	}
	return out, m.In(err)
}

// String names the message: "stripe 2/field 7".
func (m MessageRef) String() string {
	return (&fault.Error{Stripe: m.Stripe, Block: fault.None, Element: m.Element}).Place()
}

// In adds the message to err.
func (m MessageRef) In(err error) error {
	offset := int64(-1)
	if m.Artifact != nil {
		err, offset = fault.Of(err, m.Artifact.Name()), m.Range.Start
	}
	if err = fault.In(err, m.Element, offset); m.Stripe >= 0 {
		err = fault.InStripe(err, m.Stripe)
	}
	return err
}

// Messages calls visit for every message that the shard refers to, the directory first. err is an error of the
// reference itself, or of a list that is needed to find other messages. visit reads the messages, which are not
// checked yet. An error of visit ends the walk.
func (f *File) Messages(ctx context.Context, visit func(m MessageRef, err error) error) error {
	w := messageWalk{f, visit}
	d := f.directory
	if f.directoryRange.End > 0 {
		m := MessageRef{fault.None, "directory", typeOf[*shardpb.ShardDirectory](), f.root, Range{f.directoryRange.Start, f.directoryRange.End - lengthSize}, binding{}}
		if err := visit(m, nil); err != nil {
			return err
		}
	}
	properties := MessageRef{Stripe: fault.None, Element: "properties", Type: typeOf[*shardpb.ShardProperties]()}
	if err := w.ref(ctx, f.root, d.GetPropertiesRef(), properties); err != nil {
		return err
	}
	tree, err := f.checksumTree(ctx)
	if err != nil {
		if err := visit(properties, err); err != nil {
			return err
		}
	}
	copies, err := f.copiesRef(ctx)
	if err == nil { // else it was reported
		if err := w.ref(ctx, f.root, copies, MessageRef{Stripe: fault.None, Element: copiesElement}); err != nil {
			return err
		}
	}
	known := tree != nil
	if !known {
		tree = &ChecksumTree{Stripes: make([]StripeChecksums, len(f.stripes))}
	}
	if err := w.refs(ctx, f.root, fault.None, known, []messageEntry{
		{"schema", nil, d.GetSchemaRef(), tree.Schema},
		{"stripe list", typeOf[*shardpb.StripeList](), d.GetStripeListRef(), tree.StripeList},
		{"url list", typeOf[*shardpb.UrlList](), d.GetUrlListRef(), tree.URLList},
		{"indexes", typeOf[*shardpb.IndexCollection](), d.GetIndexesRef(), tree.Indexes},
		{"field list", typeOf[*commonpb.DataRefArray](), d.GetFieldListRef(), tree.FieldList},
	}); err != nil {
		return err
	}
	if !isAbsent(d.GetFieldListRef()) {
		list, err := f.fieldList(ctx)
		if err := w.list(ctx, list, err, fault.None); err != nil {
			return err
		}
	}
	for i, s := range f.stripes {
		if err := w.stripe(ctx, s, tree.Stripes[i], known); err != nil {
			return err
		}
	}
	return nil
}

func typeOf[M proto.Message]() protoreflect.MessageType {
	var m M
	return m.ProtoReflect().Type()
}

// messageWalk visits the messages of a file.
type messageWalk struct {
	f     *File
	visit func(MessageRef, error) error
}

// messageEntry is a message of a directory, and its checksum if there is a tree of them.
type messageEntry struct {
	name string
	kind protoreflect.MessageType
	ref  *commonpb.DataRef
	sum  uint32
}

func (w *messageWalk) refs(ctx context.Context, anchor *artifact, stripe int, known bool, entries []messageEntry) error {
	for _, e := range entries {
		if err := w.ref(ctx, anchor, e.ref, MessageRef{Stripe: stripe, Element: e.name, Type: e.kind, bound: binding{e.sum, known}}); err != nil {
			return err
		}
	}
	return nil
}

func (w *messageWalk) stripe(ctx context.Context, s *Stripe, sums StripeChecksums, known bool) error {
	if err := w.refs(ctx, s.anchor, s.index, known, []messageEntry{
		{"properties", typeOf[*shardpb.StripeProperties](), s.directory.PropertiesRef, sums.Properties},
		{"indexes", typeOf[*shardpb.IndexCollection](), s.directory.IndexesRef, sums.Indexes},
		{"field list", typeOf[*commonpb.DataRefArray](), s.directory.FieldListRef, sums.FieldList},
	}); err != nil {
		return err
	}
	list, err := s.fieldList(ctx)
	return w.list(ctx, list, err, s.index)
}

// list visits the descriptors of a field list, or reports why it cannot be read. In the list of the whole shard,
// absolute URLs mean the shard itself (docs/format.md §2.5).
func (w *messageWalk) list(ctx context.Context, l *fieldList, err error, stripe int) error {
	kind := typeOf[*shardpb.StripeFieldDescriptor]()
	if stripe == fault.None {
		kind = typeOf[*shardpb.FieldDescriptor]()
	}
	if err != nil {
		return w.visit(MessageRef{Stripe: stripe, Element: "field list"}, err)
	}
	for i := range l.Len() {
		if err := ctx.Err(); err != nil {
			return err
		}
		m := MessageRef{Stripe: stripe, Element: fieldElement(uint32(i)), Type: kind, bound: l.bound(i)}
		url, start, end := l.At(i)
		if stripe == fault.None && url != "" {
			if url, err = w.f.ownURL(url); err != nil {
				if err := w.visit(m, fault.Of(m.In(err), l.at.Name())); err != nil {
					return err
				}
				continue
			}
		}
		ref := &commonpb.DataRef{Url: url, Range: &commonpb.UInt64Range{Start: start, End: end}}
		if err := w.ref(ctx, l.at, ref, m); err != nil {
			return err
		}
	}
	return nil
}

// ref visits message m of the reference ref, found in anchor.
func (w *messageWalk) ref(ctx context.Context, anchor *artifact, ref *commonpb.DataRef, m MessageRef) error {
	if isAbsent(ref) {
		return nil
	}
	at, err := w.f.artifact(ctx, anchor, ref.GetUrl())
	if err != nil {
		return w.visit(m, fault.Of(m.In(err), anchor.Name()))
	}
	start, end, err := w.f.checkFrame(at, ref.GetRange().GetStart(), ref.GetRange().GetEnd())
	if err != nil {
		return w.visit(m, fault.Of(m.In(err), at.Name()))
	}
	m.Artifact, m.Range = at, Range{start, end}
	return w.visit(m, nil)
}

// FieldURL is the stored url of the reference from the shard's field list to the descriptor of a schema id.
func (f *File) FieldURL(ctx context.Context, id uint32) (string, error) {
	l, err := f.fieldList(ctx)
	if err != nil || uint64(id) >= uint64(l.Len()) {
		return "", err
	}
	url, _, _ := l.At(int(id))
	return url, nil
}
