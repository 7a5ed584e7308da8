package shardfile

import (
	"cmp"
	"context"
	"encoding/binary"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
)

// ChecksumTree is the root of the tree of checksums of a shard (docs/format.md §11.1), the value of [PropertyChecksumTree]. It binds
// messages to the places that refer to them: a valid message, or a valid block, of another place is found.
//
//	properties: ChecksumTree ─ schema, stripe list, url list, indexes
//	                         ├ field list of the shard ─ descriptors
//	                         └ of each stripe: properties, indexes
//	                                         └ field list ─ descriptors ─ blocks of buffers
type ChecksumTree struct {
	Schema, StripeList, URLList, FieldList uint32
	Indexes                                uint32 // 0 if there is no such message, as also below
	Stripes                                []StripeChecksums
}

// StripeChecksums are the checksums of the messages that a StripeDirectory refers to.
type StripeChecksums struct{ FieldList, Properties, Indexes uint32 }

// Append appends the value of the property.
func (t *ChecksumTree) Append(dst []byte) []byte {
	for _, sum := range []uint32{t.Schema, t.StripeList, t.URLList, t.FieldList, t.Indexes} {
		dst = binary.LittleEndian.AppendUint32(dst, sum)
	}
	for _, s := range t.Stripes {
		for _, sum := range []uint32{s.FieldList, s.Properties, s.Indexes} {
			dst = binary.LittleEndian.AppendUint32(dst, sum)
		}
	}
	return dst
}

// parseChecksumTree parses the value of the property of a shard with a number of stripes.
func parseChecksumTree(b []byte, stripes int) (*ChecksumTree, error) {
	const root, stripe = 5 * 4, 3 * 4
	if len(b) != root+stripe*stripes {
		return nil, fault.Corruptf("%s of %d bytes for %d stripes", PropertyChecksumTree, len(b), stripes)
	}
	next := func() uint32 {
		sum := binary.LittleEndian.Uint32(b)
		b = b[4:]
		return sum
	}
	t := &ChecksumTree{Schema: next(), StripeList: next(), URLList: next(), FieldList: next(), Indexes: next()}
	for range stripes {
		t.Stripes = append(t.Stripes, StripeChecksums{FieldList: next(), Properties: next(), Indexes: next()})
	}
	return t, nil
}

// binding is the checksum that a reference to a message has beside it.
type binding struct {
	sum   uint32
	known bool // false in shards without a tree of checksums
}

// parseFrame is the payload of a frame, which must be the one that the reference was written for.
func (b binding) parseFrame(frame []byte) ([]byte, error) {
	payload, err := container.ParseFrame(frame)
	if err != nil {
		return nil, err
	}
	return payload, b.check(container.FrameChecksum(frame))
}

func (b binding) check(sum uint32) error {
	if b.known && sum != b.sum {
		return fault.Corruptf("a message of another place: its checksum is %#08x, that of its reference %#08x", sum, b.sum)
	}
	return nil
}

// bound is the binding of a message that has the checksum sum in the tree.
func (f *File) bound(ctx context.Context, sum func(*ChecksumTree) uint32) (binding, error) {
	t, err := f.checksumTree(ctx)
	if t == nil || err != nil {
		return binding{}, err
	}
	return binding{sum(t), true}, nil
}

// bound is the binding of the descriptor of entry i.
func (l *fieldList) bound(i int) binding {
	sum, known := l.Sum(i)
	return binding{sum, known}
}

// checksumTree reads the tree with the properties, once, and compares the stripe list, which was read before, with it. The tree is nil if the
// shard has none, as those of other writers.
func (f *File) checksumTree(ctx context.Context) (*ChecksumTree, error) {
	if tree := f.tree.Load(); tree != nil || f.directory == nil {
		return *cmp.Or(tree, new(*ChecksumTree)), nil
	}
	var tree *ChecksumTree
	p, err := f.Properties(ctx)
	if err != nil {
		return nil, err
	}
	for _, q := range p.StandardProperties {
		if q.GetName() != PropertyChecksumTree {
			continue
		}
		tree, err = parseChecksumTree(q.GetValue().GetBytesValue(), len(f.stripes))
		if err == nil {
			err = binding{tree.StripeList, true}.check(f.listSum)
		}
		if err != nil {
			return nil, fault.Of(fault.In(err, "properties", int64(f.directory.GetPropertiesRef().GetRange().GetStart())), f.root.Name())
		}
		break
	}
	f.tree.Store(&tree)
	return tree, nil
}

// Identity are the ranges of the root whose bytes tell the shard from others: its directory, which has no checksums, and the properties, which have those of all
// other messages. Of a shard without these, as of other writers, they are all messages that the directory refers to.
func (f *File) Identity(ctx context.Context) ([]Range, error) {
	tree, err := f.checksumTree(ctx)
	if err != nil {
		return nil, err
	}
	d := f.directory
	refs := []*commonpb.DataRef{d.GetPropertiesRef()}
	if tree == nil {
		refs = append(refs, d.GetSchemaRef(), d.GetStripeListRef(), d.GetUrlListRef(), d.GetFieldListRef(), d.GetIndexesRef())
	}
	ranges := []Range{f.directoryRange}
	for _, ref := range refs {
		if ref.GetUrl() != "" || ref.GetRange().GetStart() == ref.GetRange().GetEnd() {
			continue
		}
		start, end, err := f.checkFrame(f.root, ref.Range.Start, ref.Range.End)
		if err != nil {
			return nil, f.root.in(err, "directory", ref)
		}
		ranges = append(ranges, Range{start, end})
	}
	return ranges, nil
}
