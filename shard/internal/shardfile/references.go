package shardfile

import (
	"context"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
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
	NumUses
)

// Reference is a reference of the metadata of a shard to bytes of an artifact.
type Reference struct {
	Use      Use
	URL      string // of the artifact, absolute
	Stored   string // as it is stored, "" for the artifact that the reference is in
	Range    Range  // no bytes if it is about the whole artifact
	Index    string // type of the index
	artifact *artifact
}

// References calls visit for all references of the shard, those outside of the folder of the root included, which need not be allowed. It reads all
// metadata. What cannot be read is an error: an artifact that is referred to is never missed. An error of visit ends the walk.
func (f *File) References(ctx context.Context, visit func(Reference) error) error {
	w := referenceWalk{f: f, visit: visit}
	return f.Messages(ctx, func(m MessageRef, err error) error {
		if err == nil {
			err = w.message(ctx, m)
		}
		return err
	})
}

// referenceWalk visits references.
type referenceWalk struct {
	f     *File
	visit func(Reference) error
	// window is bytes of an artifact that were read together: messages lie side by side.
	window      []byte
	at          *artifact
	windowStart int64
	follower    follower // of the present message
}

// windowBytes is the size of a read, in which many messages are.
const windowBytes = 256 << 10

func (w *referenceWalk) read(ctx context.Context, a *artifact, r Range) ([]byte, error) {
	if a != w.at || r.Start < w.windowStart || r.End > w.windowStart+int64(len(w.window)) {
		b, err := a.read(ctx, r.Start, max(r.End, min(r.Start+windowBytes, a.size)))
		if err != nil {
			return nil, err
		}
		w.window, w.at, w.windowStart = b, a, r.Start
	}
	return w.window[r.Start-w.windowStart : r.End-w.windowStart], nil
}

func (w *referenceWalk) message(ctx context.Context, ref MessageRef) error {
	at := ref.Artifact.(*artifact)
	own := Reference{Use: Metadata, URL: at.url, Range: ref.Range, artifact: at}
	if err := w.visit(own); err != nil {
		return err
	}
	if ref.Type == nil || ref.Type == typeOf[*commonpb.DataRefArray]() { // Messages has what a list refers to
		return nil
	}
	frame, err := w.read(ctx, at, ref.Range)
	if err != nil {
		return ref.In(err)
	}
	payload, err := ref.Parse(frame)
	m := ref.Type.New()
	if err == nil {
		err = decode(payload, m.Interface())
	}
	if err != nil {
		return ref.In(err)
	}
	w.follower = follower{file: w.f, values: maxValues, bytes: maxValueBytes}
	return w.parts(ctx, own, m, maxHops)
}

// parts visits the references in a message. What is known of the place is that of the reference to it.
func (w *referenceWalk) parts(ctx context.Context, in Reference, m protoreflect.Message, hops int) (err error) {
	switch part := m.Interface().(type) {
	case *shardpb.ShardDirectory, *shardpb.StripeDirectory: // whose messages Messages has
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
		err = eachMessage(m, func(part protoreflect.Message) error { return w.parts(ctx, in, part, hops) })
	}
	return err
}

func (w *referenceWalk) reference(in Reference, ref *commonpb.DataRef) error {
	r := Range{int64(ref.GetRange().GetStart()), int64(ref.GetRange().GetEnd())}
	if ref.Url == "" && r.Start == r.End {
		return nil // to no bytes
	}
	full, err := container.Resolve(w.f.root.url, in.artifact.url, ref.Url, container.Policy{Allow: func(string) error { return nil }})
	if err == nil && (r.Start < 0 || r.End < r.Start) {
		err = fault.Corruptf("reference from %d up to %d", r.Start, r.End)
	}
	if err != nil {
		return fault.Of(err, in.artifact.Name())
	}
	if name, err := storage.URL(full); err == nil && strings.HasPrefix(name, "file:") {
		full = name // of all spellings one, as for artifacts that are opened
	}
	in.URL, in.Stored, in.Range = full, ref.Url, r
	return w.visit(in)
}

// value visits the reference to a value elsewhere, and those in the value. One that the policy does not allow is not followed, as readers do
// not follow it.
func (w *referenceWalk) value(ctx context.Context, in Reference, ref *commonpb.DataRef, hops int) error {
	if err := w.reference(in, ref); err != nil {
		return err
	}
	there, at, err := w.follower.read(ctx, in.artifact, ref, hops)
	if there == nil {
		return err
	}
	in.artifact = at
	return w.parts(ctx, in, there.ProtoReflect(), hops-1)
}
