// Package shardfile reads the file, or the files, of one shard: its root, its metadata and its stripes. It plans no reads,
// evaluates nothing, and leaves the bytes of buffers to package stripe. Package shardwriter writes such files.
//
// This is a root artifact in the single-file layout (docs/format.md §2.6), as shardwriter makes it. Messages are framed:
// u32 length, payload, u32 checksum. Buffers start at multiples of 64.
//
//	header            8 bytes, "amud" and the version
//	schema            FlatBuffers message
//	stripe 0          buffers, as package stripe orders them
//	  descriptors     one StripeFieldDescriptor for each schema node
//	  field list      DataRefArray: where the descriptors are
//	  properties      StripeProperties, if there are any
//	  recovery        recovery record; readers skip it (package recovery)
//	stripe 1          ...
//	stripe list       StripeList: where the field lists are
//	url list          UrlList: the other artifacts
//	descriptors       one FieldDescriptor for each schema node, of the whole shard
//	field list        DataRefArray
//	properties        ShardProperties
//	schema            again if it is small, so that one read from the end finds it
//	directory         ShardDirectory: where the lists, properties and schema are
//	length            u32, of the directory
//	footer            8 bytes, the same as the header
//
// In the two-level layout the buffers of a stripe are in a stripe file, between a header and a footer. Everything else is
// as above. Readers follow references, so that they can read artifacts in any other order.
package shardfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/message"
	"github.com/amudai/amudai-go/storage"
)

// File is an open shard. It may be used by many goroutines at once. The messages that it returns are shared and must not
// be changed. They keep fields that this version does not know.
type File struct {
	o              OpenOptions
	location       string
	root           *artifact
	directory      *shardpb.ShardDirectory
	directoryRange Range
	stripes        []*Stripe
	cache          *lru.Cache[cacheKey, any]
	reads          *reads

	mu        sync.Mutex
	artifacts map[string]*parallel.Once[*artifact] // by URL
	opened    []*artifact                          // until Close
	closed    bool
	owners    map[descriptorPlace]int // stripes whose field lists were read

	// What follows is read by several at once if they ask for it at the same time: reading one asks for others, and in a hostile shard for itself again.
	schema     atomic.Pointer[schema.Schema]
	properties atomic.Pointer[shardpb.ShardProperties] // of an unfinished shard, from its last recovery record
	tree       atomic.Pointer[*ChecksumTree]           // nil without one
	copies     parallel.Once[[][]byte]                 // the frames of the descriptors and the field list of each stripe, from the end of the root (docs/format.md §11.2)
	listSum    uint32                                  // checksum of the stripe list
}

// Location is the location that the shard was opened with.
func (f *File) Location() string { return f.location }

// Size is the number of bytes of the root artifact.
func (f *File) Size() int64 { return f.root.size }

// Directory is the shard's table of contents.
func (f *File) Directory() *shardpb.ShardDirectory { return f.directory }

// DirectoryRange is the range of the directory and its trailing length in the root artifact.
func (f *File) DirectoryRange() Range { return f.directoryRange }

// Rows is the number of records of all stripes, deleted ones included.
func (f *File) Rows() int64 { return int64(f.directory.GetTotalRecordCount()) }

// NumStripes is the number of stripes.
func (f *File) NumStripes() int { return len(f.stripes) }

// Stripe is stripe i of NumStripes.
func (f *File) Stripe(i int) *Stripe { return f.stripes[i] }

// Root is the root artifact. It belongs to the File.
func (f *File) Root() storage.Reader { return f.root }

// Schema reads the schema, once.
func (f *File) Schema(ctx context.Context) (*schema.Schema, error) {
	if s := f.schema.Load(); s != nil {
		return s, nil
	}
	bound, err := f.bound(ctx, func(t *ChecksumTree) uint32 { return t.Schema })
	if err != nil {
		return nil, err
	}
	payload, at, err := f.frame(ctx, f.root, f.directory.GetSchemaRef(), "schema", bound)
	if err != nil {
		return nil, err
	}
	s, err := schema.Parse(payload)
	if err != nil {
		return nil, at.in(err, "schema", f.directory.GetSchemaRef())
	}
	f.schema.CompareAndSwap(nil, s)
	return f.schema.Load(), nil
}

// Properties reads the properties of the shard; the message is empty if it has none.
func (f *File) Properties(ctx context.Context) (*shardpb.ShardProperties, error) {
	if m := f.properties.Load(); m != nil || isAbsent(f.directory.GetPropertiesRef()) {
		return cmp.Or(m, &shardpb.ShardProperties{}), nil
	}
	m := &shardpb.ShardProperties{}
	if _, err := f.message(ctx, f.root, f.directory.PropertiesRef, "properties", m, binding{}); err != nil {
		return nil, err
	}
	f.properties.Store(m)
	return m, nil
}

// Indexes reads the descriptions of the shard's indexes; the message is empty if it has none. Indexes of unknown types are
// included.
func (f *File) Indexes(ctx context.Context) (*shardpb.IndexCollection, error) {
	m := &shardpb.IndexCollection{}
	return m, f.optional(ctx, f.root, f.directory.GetIndexesRef(), "indexes", m, func(t *ChecksumTree) uint32 { return t.Indexes })
}

// IndexArtifact opens the artifact of an index of a stripe, or with fault.None of the shard. The artifact belongs to the File.
func (f *File) IndexArtifact(ctx context.Context, stripe int, ref *commonpb.DataRef) (storage.ByteRange, error) {
	anchor, list := f.root, f.directory.GetIndexesRef()
	if stripe != fault.None {
		anchor, list = f.stripes[stripe].anchor, f.stripes[stripe].directory.IndexesRef
	}
	holder, err := f.artifact(ctx, anchor, list.GetUrl())
	if err != nil {
		return storage.ByteRange{}, fault.Of(err, anchor.Name())
	}
	at, err := f.artifact(ctx, holder, ref.GetUrl())
	if err != nil {
		return storage.ByteRange{}, fault.Of(err, holder.Name())
	}
	start, end := ref.GetRange().GetStart(), ref.GetRange().GetEnd()
	if start > end || end > uint64(at.size) {
		return storage.ByteRange{}, fault.Of(fault.Corruptf("index from %d up to %d does not fit into %d bytes", start, end, at.size), at.Name())
	}
	return storage.ByteRange{Reader: at, Offset: int64(start), Size: int64(end - start)}, nil
}

// URLOf is the absolute URL of an artifact that a File has opened.
func URLOf(r storage.Reader) string { return r.(*artifact).url }

// URLs reads the list of the other artifacts of the shard, as they are stored.
func (f *File) URLs(ctx context.Context) ([]string, error) {
	var m shardpb.UrlList
	bound, err := f.bound(ctx, func(t *ChecksumTree) uint32 { return t.URLList })
	if err == nil {
		_, err = f.message(ctx, f.root, f.directory.GetUrlListRef(), "url list", &m, bound)
	}
	return m.Urls, err
}

type advising struct{} // the key of a context in which errors have no advice

// Outside are the folders, other than that of the root and those below it, of the artifacts in the shard's list, if it can be read, and of more URLs, sorted.
func (f *File) Outside(ctx context.Context, more ...string) (folders []string) {
	urls, _ := f.URLs(context.WithValue(ctx, advising{}, true)) // which may be where it must not be read
	for _, u := range append(urls, more...) {
		full, err := container.Resolve(f.root.url, f.root.url, u, container.Policy{Allow: func(string) error { return nil }})
		if folder := container.Container(full); err == nil && !strings.HasPrefix(folder, container.Container(f.root.url)) {
			folders = append(folders, folder)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(folders)))
}

// Artifact opens the artifact that a url of the shard's list refers to; "" is the root. It belongs to the File.
func (f *File) Artifact(ctx context.Context, url string) (storage.Reader, error) {
	a, err := f.artifact(ctx, f.root, url)
	if err != nil {
		return nil, fault.Of(fault.In(err, "url list", -1), f.root.Name())
	}
	return a, nil
}

// Close closes all artifacts.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	for _, a := range f.opened {
		err = errors.Join(err, a.r.Close())
	}
	f.opened, f.closed = nil, true
	clear(f.artifacts)
	return err
}

// isAbsent reports whether ref means that there is no message (docs/format.md §2.5).
func isAbsent(ref *commonpb.DataRef) bool {
	return ref.GetRange().GetStart() == ref.GetRange().GetEnd()
}

// optional is message for one that may be absent; m stays empty then. sum is its checksum.
func (f *File) optional(ctx context.Context, anchor *artifact, ref *commonpb.DataRef, element string, m proto.Message, sum func(*ChecksumTree) uint32) error {
	if isAbsent(ref) {
		return nil
	}
	bound, err := f.bound(ctx, sum)
	if err == nil {
		_, err = f.message(ctx, anchor, ref, element, m, bound)
	}
	return err
}

// message reads and parses the message that ref, found in anchor, refers to.
func (f *File) message(ctx context.Context, anchor *artifact, ref *commonpb.DataRef, element string, m proto.Message, bound binding) (*artifact, error) {
	payload, at, err := f.frame(ctx, anchor, ref, element, bound)
	if err != nil {
		return nil, err
	}
	if err := message.Decode(payload, m); err != nil {
		return nil, at.in(err, element, ref)
	}
	return at, fault.In(f.follow(ctx, at, m, payload), element, -1)
}

// frame reads the payload of the frame that ref refers to, and returns it with its artifact.
func (f *File) frame(ctx context.Context, anchor *artifact, ref *commonpb.DataRef, element string, bound binding) ([]byte, *artifact, error) {
	at, err := f.artifact(ctx, anchor, ref.GetUrl())
	if err != nil {
		return nil, nil, fault.Of(fault.In(err, element, -1), anchor.Name())
	}
	start, end, err := f.checkFrame(at, ref.GetRange().GetStart(), ref.GetRange().GetEnd())
	var b []byte
	if err == nil {
		b, err = at.read(ctx, start, end)
	}
	if err == nil {
		b, err = bound.parseFrame(b)
	}
	if err != nil {
		return nil, nil, at.in(err, element, ref)
	}
	return b, at, nil
}

// checkFrame checks that an artifact can contain a frame from start up to end.
func (f *File) checkFrame(a *artifact, start, end uint64) (int64, int64, error) {
	switch {
	case start > end:
		return 0, 0, fault.Corruptf("reference ends at %d, before its start at %d", end, start)
	case end > uint64(a.size):
		return 0, 0, fault.Corruptf("reference to %d up to %d lies past the end at %d", start, end, a.size)
	case end-start < container.FrameExtra:
		return 0, 0, fault.Corruptf("reference of %d bytes is too short for a message", end-start)
	case end-start > uint64(f.o.MaxMessageBytes):
		return 0, 0, fault.Limitf("message of %d bytes, OpenOptions.MaxMessageBytes is %d", end-start, f.o.MaxMessageBytes)
	}
	return int64(start), int64(end), nil
}

// artifact opens the artifact that a url in a message of anchor refers to (docs/format.md §2.5).
func (f *File) artifact(ctx context.Context, anchor *artifact, url string) (*artifact, error) {
	if url == "" {
		return anchor, nil
	}
	full, err := f.resolve(ctx, anchor, url)
	if err != nil {
		return nil, err
	}
	if full == f.root.url {
		return f.root, nil
	}
	f.mu.Lock()
	opened := f.artifacts[full]
	if opened == nil {
		opened = new(parallel.Once[*artifact])
		f.artifacts[full] = opened
	}
	f.mu.Unlock()
	return opened.Get(ctx, func() (*artifact, error) { return f.openArtifact(ctx, full) })
}

func (f *File) openArtifact(ctx context.Context, full string) (*artifact, error) {
	if f.o.Store == nil {
		return nil, fault.Unsupportedf("shard of several files in a part of an artifact")
	}
	r, err := OpenReferred(ctx, f.o.Store, f.root.url, full)
	if err != nil {
		return nil, err
	}
	a := &artifact{url: full, r: r, reads: f.reads, other: !slices.Contains([]string{".stripe", ".index", ".data"}, path.Ext(full))}
	if err := a.open(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, errors.Join(fmt.Errorf("the shard %s is closed", f.root.Name()), r.Close())
	}
	f.opened = append(f.opened, a)
	return a, nil
}

// resolve is the absolute URL of the artifact that a url in a message of anchor refers to, of all spellings one.
func (f *File) resolve(ctx context.Context, anchor *artifact, url string) (string, error) {
	if url == "" {
		return anchor.url, nil
	}
	full, err := container.Resolve(f.root.url, anchor.url, url, f.o.Policy)
	if name, other := storage.URL(full); err == nil && other == nil && strings.HasPrefix(name, "file:") {
		full = name
	}
	if errors.Is(err, fault.ErrUnsupported) && ctx.Value(advising{}) == nil {
		err = advice.WithHint(err, "OpenOptions.Policy has to allow all folders of the shard; for the command: AMUDAI_ALLOW=%s", strings.Join(f.Outside(ctx, url), ","))
	}
	return full, err
}

// URL is the absolute URL of an artifact of the shard's list; "" is the root.
func (f *File) URL(ctx context.Context, url string) (string, error) {
	return f.resolve(ctx, f.root, url)
}

// OpenReferred opens the artifact at an absolute URL that a shard with a root refers to, and its policy allows; one of another scheme in the registered store of that.
func OpenReferred(ctx context.Context, store storage.Store, root, url string) (storage.Reader, error) {
	if folder := container.Container(root); strings.HasPrefix(url, folder) {
		return storage.OpenIn(ctx, store, folder, url)
	}
	if !container.SameScheme(root, url) {
		var err error
		if store, err = storage.ForLocation(url); err != nil {
			return nil, err
		}
	}
	return store.Open(ctx, url)
}
