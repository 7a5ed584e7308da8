package relocation

import (
	"context"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// Use is what a shard uses the bytes of a reference for.
type Use uint8

// The uses.
const (
	Metadata Use = iota // messages, and values that properties and statistics refer to
	Data                // buffers
	Indexes             // artifacts of indexes
	External            // Parquet files
	Listed              // in the list of URLs, which may be all that a later version of the format says of an artifact
	numUses
)

// reference is a reference of the metadata of a shard to bytes of an artifact.
type reference struct {
	Use    Use
	URL    string          // of the artifact, absolute
	Stored string          // as it is stored, "" for the artifact that the reference is in
	Range  shardfile.Range // no bytes if it is about the whole artifact
	Index  string          // type of the index
	at     storage.Reader
}

// references calls visit for all references of the shard, those outside of the folder of the root included, which need not be allowed. It reads all
// metadata. What cannot be read is an error: an artifact that is referred to is never missed. An error of visit ends the walk.
func references(ctx context.Context, f *shardfile.File, visit func(reference) error) error {
	w := referenceWalk{f: f, root: shardfile.URLOf(f.Root()), visit: visit}
	return f.Messages(ctx, func(m shardfile.MessageRef, err error) error {
		if err == nil {
			err = w.message(ctx, m)
		}
		return err
	})
}

// referenceWalk visits references.
type referenceWalk struct {
	f     *shardfile.File
	root  string // URL
	visit func(reference) error
	// window is bytes of an artifact that were read together: messages lie side by side.
	window      []byte
	at          storage.Reader
	windowStart int64
	values      int // references to values that the present message may have yet
}

// windowBytes is the size of a read, in which many messages are.
const windowBytes = 64 << 10

func (w *referenceWalk) read(ctx context.Context, a storage.Reader, r shardfile.Range) ([]byte, error) {
	if a != w.at || r.Start < w.windowStart || r.End > w.windowStart+int64(len(w.window)) {
		size, err := a.Size(ctx)
		if err != nil {
			return nil, err
		}
		b, err := storage.ReadRange(ctx, a, r.Start, max(r.End, min(r.Start+windowBytes, size))-r.Start)
		if err != nil {
			return nil, err
		}
		w.window, w.at, w.windowStart = b, a, r.Start
	}
	return w.window[r.Start-w.windowStart : r.End-w.windowStart], nil
}

func (w *referenceWalk) message(ctx context.Context, ref shardfile.MessageRef) error {
	own := reference{Use: Metadata, URL: shardfile.URLOf(ref.Artifact), Range: ref.Range, at: ref.Artifact}
	if err := w.visit(own); err != nil {
		return err
	}
	if ref.Type == nil || ref.Type.Descriptor() == (*commonpb.DataRefArray)(nil).ProtoReflect().Descriptor() {
		return nil // the walk over messages has what a list refers to
	}
	frame, err := w.read(ctx, ref.Artifact, ref.Range)
	if err != nil {
		return ref.In(err)
	}
	m, err := ref.Decode(frame)
	if err != nil {
		return err
	}
	w.values = maxValues
	return w.parts(ctx, own, m.ProtoReflect(), maxHops)
}

// Limits of the references of a message to values, and of those in values that they lead to.
const (
	maxHops   = 8
	maxValues = 1024
)

// parts visits the references in a message. What is known of the place is that of the reference to it.
func (w *referenceWalk) parts(ctx context.Context, in reference, m protoreflect.Message, hops int) (err error) {
	switch part := m.Interface().(type) {
	case *shardpb.ShardDirectory, *shardpb.StripeDirectory: // whose messages the walk over messages has
		return nil
	case *shardpb.UrlList:
		in.Use = Listed
		for i := 0; i < len(part.Urls) && err == nil; i++ {
			err = w.reference(in, &commonpb.DataRef{Url: part.Urls[i]})
		}
		return err
	case *shardpb.IndexDescriptor:
		in.Index = part.IndexType
	case *shardpb.EncodedBuffer:
		in.Use = Data
	case *shardpb.IndexArtifact:
		in.Use = Indexes
	case *shardpb.ExternalParquetDataEncoding:
		in.Use = External
	case *shardpb.ParquetColumnChunkRef:
		if part.FileUrl != nil {
			err = w.reference(in, &commonpb.DataRef{Url: *part.FileUrl})
		}
	case *commonpb.AnyValue:
		if part.GetDataRef() != nil {
			return w.value(ctx, in, part.GetDataRef(), hops)
		}
	case *commonpb.DataRef:
		return w.reference(in, part)
	}
	if err == nil {
		err = shardfile.EachMessage(m, func(part protoreflect.Message) error { return w.parts(ctx, in, part, hops) })
	}
	return err
}

func (w *referenceWalk) reference(in reference, ref *commonpb.DataRef) error {
	r := shardfile.Range{Start: int64(ref.GetRange().GetStart()), End: int64(ref.GetRange().GetEnd())}
	if ref.Url == "" && r.Start == r.End {
		return nil // to no bytes
	}
	full, err := container.Resolve(w.root, shardfile.URLOf(in.at), ref.Url, container.Policy{Allow: func(string) error { return nil }})
	if err == nil && (r.Start < 0 || r.End < r.Start) {
		err = fault.Corruptf("reference from %d up to %d", r.Start, r.End)
	}
	if err != nil {
		return fault.Of(err, in.at.Name())
	}
	if name, err := storage.URL(full); err == nil && strings.HasPrefix(name, "file:") {
		full = name // of all spellings one, as for artifacts that are opened
	}
	in.URL, in.Stored, in.Range = full, ref.Url, r
	return w.visit(in)
}

// value visits the reference to a value elsewhere, and those in the value. One that the policy does not allow is not followed, as readers do
// not follow it.
func (w *referenceWalk) value(ctx context.Context, in reference, ref *commonpb.DataRef, hops int) error {
	if err := w.reference(in, ref); err != nil {
		return err
	}
	if w.values--; hops == 0 || w.values < 0 {
		return fault.Of(fault.Limitf("more than %d references to values, or more than %d one behind the other", maxValues, maxHops), in.at.Name())
	}
	there, at, err := w.f.Value(ctx, in.at, ref)
	if there == nil {
		return err
	}
	in.at = at
	return w.parts(ctx, in, there.ProtoReflect(), hops-1)
}
