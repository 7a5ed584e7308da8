// Package valuedict reads the value dictionary of a node: the distinct values that its codes stand for, as a table by code
// and as Arrow arrays.
package valuedict

import (
	"cmp"
	"context"
	"slices"

	"github.com/amudai/amudai-go/dictionary"
	"github.com/amudai/amudai-go/encoding/bytestring"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/shard/internal/stripe/blocks"
	"github.com/amudai/amudai-go/storage"
)

// buffer is a buffer without blocks that is not read yet.
type buffer struct {
	reader      storage.Reader
	kind        string
	start, size int64  // in bytes
	sum         []byte // checksum of the whole buffer; none in buffers of other writers
}

// openBuffer finds a buffer of a node, which name is for errors; it reads nothing of it. One of more than most bytes is an error.
func openBuffer(ctx context.Context, src stripe.Source, node blocks.Node, b *shardpb.EncodedBuffer, name string, most int64) (*buffer, error) {
	r, err := src.Artifact(ctx, node.ID, b.GetBuffer())
	if err != nil {
		return nil, err
	}
	size, err := r.Size(ctx)
	if err != nil {
		return nil, err
	}
	o := &buffer{reader: r, kind: b.GetKind().String(), sum: b.GetChecksums()}
	start, end, err := blocks.RangeOf(b.GetBuffer(), size)
	if err != nil {
		return nil, o.wrap(err)
	}
	if o.start, o.size = start, end-start; o.size > most {
		return nil, o.wrap(fault.Limitf("%s of %d bytes", name, o.size))
	}
	return o, nil
}

// wrap adds the buffer and its artifact to an error.
func (b *buffer) wrap(err error) error {
	return fault.Of(fault.InBuffer(err, b.kind, b.start), b.reader.Name())
}

// Size is the size of the buffer in bytes.
func (b *buffer) Size() int64 { return b.size }

// DefaultMaxBytes is the limit on the size of a dictionary if none is given.
const DefaultMaxBytes = 1 << 30

// Stored is a VALUE_DICTIONARY buffer that is not read yet.
type Stored struct {
	*buffer
	most      int64 // of its bytes, and of its values in memory
	node      blocks.Node
	fixed     uint32                    // bytes of every value, 0 if it varies
	key       func(value []byte) uint64 // of numbers, see dictionary.Dictionary
	positions uint64                    // of the node: there are no more entries, but for one of null
}

// Open finds a VALUE_DICTIONARY buffer of a node of so many positions; it reads nothing of it. One of more than
// maxBytes is an error; 0 means DefaultMaxBytes.
func Open(ctx context.Context, src stripe.Source, node blocks.Node, b *shardpb.EncodedBuffer, positions uint64, maxBytes int64) (*Stored, error) {
	most := cmp.Or(maxBytes, DefaultMaxBytes)
	found, err := openBuffer(ctx, src, node, b, "value dictionary", most)
	if err != nil {
		return nil, err
	}
	s := &Stored{buffer: found, most: most, node: node, fixed: node.FixedSize, positions: positions}
	if t, ok := stripe.NumberType(node.Type, node.Signed); ok {
		s.fixed, s.key = uint32(t.Size()), dictionary.NumberKey(t)
	}
	return s, nil
}

// Read reads and checks the dictionary, unless have are its bytes. raw are the bytes that were read, which may come with an error about their
// content.
func (s *Stored) Read(ctx context.Context, have []byte) (raw []byte, d *dictionary.Dictionary, err error) {
	raw, err = s.read(ctx, have, func(raw []byte) error {
		if d, err = dictionary.Parse(raw, byte(s.node.Type), s.fixed, s.most); err == nil {
			d.Key = s.key
		}
		return err
	})
	return raw, d, err
}

// Partial is [Stored.Read] of which single entries are decoded.
func (s *Stored) Partial(ctx context.Context, have []byte) (raw []byte, p *dictionary.Partial, err error) {
	raw, err = s.read(ctx, have, func(raw []byte) error {
		p, err = dictionary.ParsePartial(raw, byte(s.node.Type), s.fixed, s.most)
		return err
	})
	return raw, p, err
}

// read reads the bytes and parses them. Their start is checked before the rest is read, and memory grows with the bytes that arrive.
func (s *Stored) read(ctx context.Context, have []byte, parse func(raw []byte) error) (raw []byte, err error) {
	read := func(n int64) ([]byte, error) {
		if have != nil {
			return have[:min(n, int64(len(have)))], nil
		}
		return storage.ReadRange(ctx, s.reader, s.start, n)
	}
	if raw, err = read(min(s.size, dictionary.StartLen)); err != nil {
		return nil, s.wrap(err)
	}
	needed, err := s.checkStart(raw)
	if err != nil {
		return raw, s.wrap(err)
	}
	if raw, err = read(needed); err != nil {
		return nil, s.wrap(err)
	}
	if err = parse(raw); err == nil { // it may be valid, but not the one that was written here
		err = blocks.CheckWhole(raw, s.sum)
	}
	return raw, s.wrap(err)
}

// checkStart checks the first bytes, and returns the size of the whole dictionary.
func (s *Stored) checkStart(b []byte) (size int64, err error) {
	start, err := dictionary.ParseStart(b, s.size, byte(s.node.Type), s.fixed)
	if err == nil && uint64(start.Entries) > s.positions+1 {
		err = fault.Corruptf("value dictionary of %d entries for %d positions", start.Entries, s.positions)
	}
	if err == nil && len(s.sum) > 0 { // of the padding, too
		if s.size-start.Size > container.Alignment {
			return 0, fault.Corruptf("value dictionary of %d bytes in a buffer of %d", start.Size, s.size)
		}
		start.Size = s.size
	}
	return start.Size, err
}

// Shared is an OPAQUE_DICTIONARY buffer: what the blocks of a column share. It is read when it is first needed; a failure is tried again next
// time. It is safe for concurrent use.
type Shared struct {
	*buffer
	id uint32 // by which blocks refer to it

	raw  []byte // its bytes until they are parsed, nil if they have to be read
	dict parallel.Once[*bytestring.Dictionary]
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
	return s.dict.Get(ctx, func() (*bytestring.Dictionary, error) { return s.read(ctx) })
}

func (s *Shared) read(ctx context.Context) (*bytestring.Dictionary, error) {
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
	s.raw = nil
	return d, nil
}
