package shardfile

import (
	"context"
	"fmt"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/storage"
)

// Stripe is a stripe of a [File]: consecutive records whose columns are stored together. It implements
// stripe.Source, and may be used by many goroutines at once.
type Stripe struct {
	f         *File
	index     int
	directory *shardpb.StripeDirectory
	anchor    *artifact // that holds the stripe list
	position  int64
}

// File is the shard of the stripe.
func (s *Stripe) File() *File { return s.f }

// Index is the stripe's number in the shard.
func (s *Stripe) Index() int { return s.index }

// Rows is the number of records, deleted ones included.
func (s *Stripe) Rows() int64 { return int64(s.directory.TotalRecordCount) }

// Position is the number of the stripe's first record in the shard.
func (s *Stripe) Position() int64 { return s.position }

// Directory is the stripe's table of contents.
func (s *Stripe) Directory() *shardpb.StripeDirectory { return s.directory }

// Properties reads the properties of the stripe; the message is empty if it has none.
func (s *Stripe) Properties(ctx context.Context) (*shardpb.StripeProperties, error) {
	m := &shardpb.StripeProperties{}
	err := s.f.optional(ctx, s.anchor, s.directory.PropertiesRef, "properties", m, func(t *ChecksumTree) uint32 { return t.Stripes[s.index].Properties })
	return m, fault.InStripe(err, s.index)
}

// Indexes reads the descriptions of the stripe's indexes; the message is empty if it has none.
func (s *Stripe) Indexes(ctx context.Context) (*shardpb.IndexCollection, error) {
	m := &shardpb.IndexCollection{}
	err := s.f.optional(ctx, s.anchor, s.directory.IndexesRef, "indexes", m, func(t *ChecksumTree) uint32 { return t.Stripes[s.index].Indexes })
	return m, fault.InStripe(err, s.index)
}

// Artifact implements stripe.Source. It opens the artifact of ref, a reference in the descriptor of schema id id,
// and checks that the artifact contains the range.
func (s *Stripe) Artifact(ctx context.Context, id uint32, ref *commonpb.DataRef) (storage.Reader, error) {
	holder, err := s.descriptorArtifact(ctx, id)
	if err != nil {
		return nil, err
	}
	at, err := s.f.artifact(ctx, holder, ref.GetUrl())
	if err != nil {
		return nil, fault.Of(err, holder.Name())
	}
	start, end := ref.GetRange().GetStart(), ref.GetRange().GetEnd()
	if start > end || end > uint64(at.size) {
		err := fault.Corruptf("buffer from %d up to %d does not fit into %d bytes", start, end, at.size)
		return nil, at.Doubt(fault.Of(err, at.Name()))
	}
	if at == s.f.root {
		if err := at.checkHeader(ctx); err != nil {
			return nil, err
		}
	}
	return at, nil
}

// URL is the absolute URL of the artifact of ref, a reference in the descriptor of schema id id. The artifact is not opened.
func (s *Stripe) URL(ctx context.Context, id uint32, ref *commonpb.DataRef) (string, error) {
	holder, err := s.descriptorArtifact(ctx, id)
	if err != nil {
		return "", err
	}
	return s.f.resolve(ctx, holder, ref.GetUrl())
}

// Resolve is the absolute URL of an artifact other than the root that a url in a descriptor refers to.
func (s *Stripe) Resolve(url string) (string, error) {
	return container.Resolve(s.f.root.url, s.f.root.url, url, s.f.o.Policy)
}

func fieldElement(id uint32) string { return fmt.Sprintf("field %d", id) }

// cacheKey identifies an element of the cache of parsed metadata. Stripe -1 is the whole shard.
type cacheKey struct {
	kind   cacheKind
	stripe int
	id     uint32
}

type cacheKind uint8

const (
	cacheFieldList  cacheKind = iota // *fieldList
	cacheDescriptor                  // *shardpb.StripeFieldDescriptor
	cacheGroup                       // what Stripe.Group keeps
)

// Group is what open makes of the packed group of a node, or made of it before, which takes about size bytes. All its members need it.
func (s *Stripe) Group(id uint32, open func() (group any, size int64, err error)) (any, error) {
	key := cacheKey{cacheGroup, s.index, id}
	if g, ok := s.f.cache.Get(key); ok {
		return g, nil
	}
	g, size, err := open()
	if err == nil {
		s.f.cache.Put(key, g, size)
	}
	return g, err
}
