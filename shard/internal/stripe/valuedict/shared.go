package valuedict

import (
	"context"
	"slices"
	"sync"

	"github.com/amudai/amudai-go/encoding/bytestring"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/storage"
)

// Shared is an OPAQUE_DICTIONARY buffer: what the blocks of a column share. It is read when it is first needed; a failure is tried again next
// time. It is safe for concurrent use.
type Shared struct {
	reader      storage.Reader
	start, size int64  // in bytes
	id          uint32 // by which blocks refer to it
	sum         []byte // as that of Stored

	mu   sync.Mutex
	raw  []byte // its bytes until they are parsed, nil if they have to be read
	dict *bytestring.Dictionary
}

// maxShared is the most bytes of such a buffer: 65,535 tokens of 16 bytes, a byte for each, and 8 more.
const maxShared = 8 + 17*0xffff

// OpenShared finds an OPAQUE_DICTIONARY buffer of a node; it reads nothing of it. prefetched may hold its bytes.
func OpenShared(ctx context.Context, src stripe.Source, node blocks.Node, b *shardpb.EncodedBuffer, prefetched storage.Prefetched) (*Shared, error) {
	r, err := src.Artifact(ctx, node.ID, b.GetBuffer())
	if err != nil {
		return nil, err
	}
	size, err := r.Size(ctx)
	if err != nil {
		return nil, err
	}
	s := &Shared{reader: r, id: b.GetBufferId(), sum: b.GetChecksums()}
	start, end, err := blocks.RangeOf(b.GetBuffer(), size)
	if err == nil && end-start > maxShared {
		err = fault.Limitf("dictionary of %d bytes", end-start)
	}
	if err != nil {
		return nil, s.wrap(err)
	}
	s.start, s.size = start, end-start
	s.raw = slices.Clone(prefetched.Bytes(r, s.start, s.size))
	return s, nil
}

// wrap adds the buffer and its artifact to an error.
func (s *Shared) wrap(err error) error {
	return fault.Of(fault.InBuffer(err, shardpb.BufferKind_OPAQUE_DICTIONARY.String(), s.start), s.reader.Name())
}

// Size is the size of the buffer in bytes.
func (s *Shared) Size() int64 { return s.size }

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
