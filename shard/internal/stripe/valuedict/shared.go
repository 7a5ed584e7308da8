package valuedict

import (
	"context"
	"slices"
	"sync"

	"github.com/amudai/amudai-go/encoding/bytestring"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/storage"
)

// Shared is an OPAQUE_DICTIONARY buffer: what the blocks of a column share. It is read when it is first needed; a failure is tried again next
// time. It is safe for concurrent use.
type Shared struct {
	*buffer
	id uint32 // by which blocks refer to it

	mu   sync.Mutex
	raw  []byte // its bytes until they are parsed, nil if they have to be read
	dict *bytestring.Dictionary
}

// maxShared is the most bytes of such a buffer: 65,535 tokens of 16 bytes, a byte for each, and 8 more.
const maxShared = 8 + 17*0xffff

// OpenShared finds an OPAQUE_DICTIONARY buffer of a node; it reads nothing of it. prefetched may hold its bytes.
func OpenShared(ctx context.Context, src stripe.Source, node blocks.Node, b *shardpb.EncodedBuffer, prefetched storage.Prefetched) (*Shared, error) {
	found, err := openBuffer(ctx, src, node, b, "dictionary", maxShared)
	if err != nil {
		return nil, err
	}
	return &Shared{buffer: found, id: b.GetBufferId(), raw: slices.Clone(prefetched.Bytes(found.reader, found.start, found.size))}, nil
}

// Load returns the dictionary, nil of a nil s.
func (s *Shared) Load(ctx context.Context) (*bytestring.Dictionary, error) {
	if s == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dict != nil {
		return s.dict, nil
	}
	raw, err := s.raw, error(nil)
	if raw == nil {
		raw, err = storage.ReadRange(ctx, s.reader, s.start, s.size)
	}
	if err == nil {
		err = blocks.CheckWhole(raw, s.sum)
	}
	if err != nil {
		return nil, s.wrap(err)
	}
	d, err := bytestring.ParseDictionary(raw, s.id)
	if err != nil {
		return nil, s.wrap(err)
	}
	s.dict, s.raw = d, nil
	return d, nil
}
