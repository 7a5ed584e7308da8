package shard_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/amudai/amudai-go/encoding"
	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stripe"
)

// Parts are the messages and buffers of a shard in a single file, for changes. Join builds a
// shard of them, and sets the references in the messages.
type Parts struct {
	Directory  *shardpb.ShardDirectory
	Schema     []byte
	Properties []byte   // nil: none
	Fields     [][]byte // descriptor messages by schema id, nil: none
	Stripes    []*Stripe
}

// Stripe is one stripe of [Parts].
type Stripe struct {
	Directory  *shardpb.StripeDirectory
	Properties []byte
	Fields     []*Field // by schema id, nil: none
}

// Field is one schema node of a [Stripe].
type Field struct {
	Desc    *shardpb.StripeFieldDescriptor
	Buffers []*Buffer
	Raw     []byte // replaces the whole message, if not nil
	// Edit, if not nil, changes the message after those of the buffers were added.
	Edit func(*shardpb.StripeFieldDescriptor)
}

// Buffer is one encoded buffer of a [Field].
type Buffer struct {
	Desc   *shardpb.EncodedBuffer
	Blocks []BlockPart
	Raw    []byte // of a buffer without a block map: its bytes
	Map    []byte // replaces the block map of Blocks, if not nil
	Single bool   // Blocks is one, without a block map
	// Edit, if not nil, changes the buffer's message after its references were set.
	Edit func(*shardpb.EncodedBuffer)
}

// BlockPart is one block: its number of values and all its bytes, of which the
// last four are a checksum if the buffer has checksums.
type BlockPart struct {
	N     int
	Bytes []byte
}

// Split splits a valid shard in a single file. It adds the parts that edition 2026 omits: block maps of single
// blocks, and the descriptors of a shard of one stripe. It drops the tree of checksums, which would betray every change.
func Split(b []byte) (*Parts, error) {
	ctx := context.Background()
	f, err := shardfile.Open(ctx, Location, shardfile.OpenOptions{Store: OneFile(b)})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	schema, err := f.Schema(ctx)
	if err != nil {
		return nil, err
	}
	s := splitter{b: b}
	p := &Parts{Directory: f.Directory(), Schema: schema.Bytes()}
	properties, err := f.Properties(ctx)
	s.fail(err)
	properties.StandardProperties = slices.DeleteFunc(properties.StandardProperties, func(p *commonpb.NameValuePair) bool {
		return p.Name == shardfile.PropertyChecksumTree || p.Name == shardfile.PropertyDescriptors
	})
	p.Properties = s.properties(properties)
	for id := range schema.IDCount() {
		m, err := f.FieldDescriptor(ctx, id)
		s.fail(err)
		var payload []byte
		if m != nil {
			payload = s.marshal(m)
		}
		p.Fields = append(p.Fields, payload)
	}
	for i := range f.NumStripes() {
		from := f.Stripe(i)
		m, err := from.Properties(ctx)
		s.fail(err)
		part := &Stripe{Directory: from.Directory(), Properties: s.properties(m)}
		for id := range schema.IDCount() {
			d, err := from.Descriptor(ctx, id)
			s.fail(err)
			part.Fields = append(part.Fields, s.field(d))
		}
		p.Stripes = append(p.Stripes, part)
	}
	return p, s.err
}

// splitter reads parts of a shard, and keeps the first error.
type splitter struct {
	b   []byte
	err error
}

func (s *splitter) fail(err error) {
	s.err = cmp.Or(s.err, err)
}

func (s *splitter) bytes(ref *commonpb.DataRef) []byte {
	start, end := ref.GetRange().GetStart(), ref.GetRange().GetEnd()
	if start > end || end > uint64(len(s.b)) || ref.GetUrl() != "" && !strings.Contains(ref.GetUrl(), "://") {
		s.fail(fmt.Errorf("reference %v of an artifact of %d bytes", ref, len(s.b)))
		return nil
	}
	return bytes.Clone(s.b[start:end])
}

func (s *splitter) marshal(m proto.Message) []byte {
	payload, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend([]byte{}, m)
	s.fail(err)
	return payload
}

// properties is a message that is not there without properties.
func (s *splitter) properties(m proto.Message) []byte {
	if proto.Size(m) == 0 {
		return nil
	}
	return s.marshal(m)
}

func (s *splitter) field(d *shardpb.StripeFieldDescriptor) *Field {
	if d == nil {
		return nil
	}
	f := &Field{Desc: d}
	for _, b := range stripe.Buffers(d) {
		f.Buffers = append(f.Buffers, s.buffer(b, d.Field))
	}
	return f
}

func (s *splitter) buffer(d *shardpb.EncodedBuffer, field *shardpb.FieldDescriptor) *Buffer {
	d.Checksums = nil
	out := &Buffer{Desc: d}
	b := s.bytes(d.Buffer)
	if stripe.IsSingleBlock(d) {
		n := int(field.PositionCount)
		switch {
		case d.Kind == shardpb.BufferKind_PRESENCE || field.GetBooleanStats() != nil:
			n = (n + 7) / 8
		case d.Kind == shardpb.BufferKind_OFFSETS && (n == 0 || field.TypeSpecific != nil): // unions have no statistics of their own
			n++
		}
		out.Blocks = []BlockPart{{n, b}}
		return out
	}
	if !stripe.HasBlocks(d) || len(b) == 0 {
		out.Raw = b
		return out
	}
	raw, at := d.InlineBlockMap, len(b)
	if d.BlockMap != nil {
		raw, at = s.bytes(d.BlockMap), int(d.BlockMap.GetRange().GetStart()-d.Buffer.GetRange().GetStart())
	}
	m, err := encoding.ParseBlockMap(raw, int64(at))
	if err != nil {
		s.fail(err)
		return out
	}
	for i := range m.Len() {
		_, n, offset, size := m.Block(i)
		out.Blocks = append(out.Blocks, BlockPart{n, b[offset : int(offset)+size : int(offset)+size]})
	}
	return out
}

// Buffer returns the buffer of a kind, nil if there is none.
func (f *Field) Buffer(kind shardpb.BufferKind) *Buffer {
	for _, b := range f.Buffers {
		if b.Desc.Kind == kind {
			return b
		}
	}
	return nil
}

// Join makes a shard of the parts: buffers, messages and references as a writer lays them out,
// with block maps and checksums of the current parts. It does not change the counts in
// directories and descriptors.
func (p *Parts) Join() []byte {
	j := joiner{out: bytes.Clone(container.Mark[:])}
	d := proto.CloneOf(p.Directory)
	d.SchemaRef = j.frame(p.Schema)
	list := &shardpb.StripeList{}
	for _, s := range p.Stripes {
		list.Stripes = append(list.Stripes, j.stripe(s))
	}
	d.StripeListRef = j.message(list)
	d.UrlListRef = j.message(&shardpb.UrlList{})
	var refs []*commonpb.DataRef
	for _, payload := range p.Fields {
		refs = append(refs, j.optional(payload))
	}
	d.FieldListRef = j.list(refs)
	d.PropertiesRef = j.optional(p.Properties)
	d.IndexesRef = nil
	payload, err := proto.MarshalOptions{Deterministic: true}.Marshal(d)
	if err != nil {
		panic(errors.Join(errors.New("directory"), err))
	}
	return container.AppendTail(j.out, payload)
}

type joiner struct{ out []byte }

func (j *joiner) frame(payload []byte) *commonpb.DataRef {
	start := len(j.out)
	j.out = container.AppendFrame(j.out, payload)
	return j.ref(start)
}

func (j *joiner) ref(start int) *commonpb.DataRef {
	return &commonpb.DataRef{Range: &commonpb.UInt64Range{Start: uint64(start), End: uint64(len(j.out))}}
}

func (j *joiner) optional(payload []byte) *commonpb.DataRef {
	if payload == nil {
		return nil
	}
	return j.frame(payload)
}

func (j *joiner) message(m proto.Message) *commonpb.DataRef {
	payload, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic(errors.Join(errors.New("message"), err))
	}
	return j.frame(payload)
}

func (j *joiner) list(refs []*commonpb.DataRef) *commonpb.DataRef {
	m := &commonpb.DataRefArray{}
	for _, r := range refs {
		m.Url = append(m.Url, r.GetUrl())
		m.Start = append(m.Start, r.GetRange().GetStart())
		m.End = append(m.End, r.GetRange().GetEnd())
	}
	return j.message(m)
}

func (j *joiner) stripe(s *Stripe) *shardpb.StripeDirectory {
	var refs []*commonpb.DataRef
	for _, f := range s.Fields {
		refs = append(refs, j.field(f))
	}
	d := proto.CloneOf(s.Directory)
	d.FieldListRef = j.list(refs)
	d.PropertiesRef = j.optional(s.Properties)
	d.IndexesRef = nil
	return d
}

func (j *joiner) field(f *Field) *commonpb.DataRef {
	if f == nil {
		return nil
	}
	if f.Raw != nil {
		return j.frame(f.Raw)
	}
	m := &shardpb.StripeFieldDescriptor{Field: f.Desc.Field}
	native := &shardpb.NativeDataEncoding{}
	for _, b := range f.Buffers {
		native.Buffers = append(native.Buffers, j.buffer(b))
	}
	m.Encodings = []*shardpb.DataEncoding{{Kind: &shardpb.DataEncoding_Native{Native: native}}}
	if f.Edit != nil {
		f.Edit(m)
	}
	return j.message(m)
}

func (j *joiner) buffer(b *Buffer) *shardpb.EncodedBuffer {
	d := proto.CloneOf(b.Desc)
	if b.Edit != nil {
		defer b.Edit(d)
	}
	j.pad(container.Alignment, 0)
	start := len(j.out)
	if b.Blocks == nil && b.Map == nil {
		j.out = append(j.out, b.Raw...)
		d.Buffer, d.BlockMap, d.InlineBlockMap = j.ref(start), nil, nil
		return d
	}
	var m encoding.BlockMapBuilder
	for _, p := range b.Blocks {
		from := len(j.out)
		j.out = append(j.out, p.Bytes...)
		if n := len(p.Bytes) - 4; d.BlockChecksums && n >= 0 {
			le.PutUint32(j.out[from+n:], container.Checksum(j.out[from:from+n]))
		}
		if p.N > 0 && len(p.Bytes) > 0 && !b.Single {
			m.Add(p.N, len(p.Bytes))
		}
	}
	inline := len(d.InlineBlockMap) > 0
	d.BlockMap, d.InlineBlockMap = nil, nil
	if b.Single {
		d.Buffer = j.ref(start)
		return d
	}
	raw := b.Map
	if raw == nil {
		raw = m.Append(nil)
	}
	if inline {
		d.Buffer, d.InlineBlockMap = j.ref(start), raw
		return d
	}
	j.pad(16, start)
	at := len(j.out)
	j.out = append(j.out, raw...)
	d.Buffer, d.BlockMap = j.ref(start), j.ref(at)
	return d
}

func (j *joiner) pad(n, from int) {
	for (len(j.out)-from)%n != 0 {
		j.out = append(j.out, 0)
	}
}
