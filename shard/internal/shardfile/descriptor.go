package shardfile

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"golang.org/x/sync/errgroup"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard/internal/message"
	"github.com/amudai/amudai-go/shard/internal/reflist"
	"github.com/amudai/amudai-go/shard/internal/stats"
	"github.com/amudai/amudai-go/storage"
)

// lookback is the number of bytes before a stripe's field list of some bytes that are read with it. They hold the last
// descriptors of the stripe, or all of a stripe with few columns, which have about half a kilobyte each. Other bytes among them
// are dropped.
func lookback(list int64) int64 { return min(4<<10+64*list, 64<<10) }

// fieldList is a field list, its place, and descriptors that were read with it.
type fieldList struct {
	*reflist.List
	at    *artifact // the artifact of the list
	start int64     // offset of its frame
	// window has the bytes before the list that were read with it. It begins at windowOff.
	window    []byte
	windowOff int64
}

// fieldList reads the stripe's field list. It may have fewer entries than the schema has nodes (docs/format.md
// §2.6), but not more.
func (s *Stripe) fieldList(ctx context.Context) (*fieldList, error) {
	sch, err := s.f.Schema(ctx)
	if err != nil {
		return nil, err
	}
	sum := func(t *ChecksumTree) uint32 { return t.Stripes[s.index].FieldList }
	l, err := s.f.cachedList(ctx, s.index, s.anchor, s.directory.FieldListRef, sum, func(l *fieldList) error {
		if uint64(l.Len()) > uint64(sch.IDCount()) {
			return fault.Corruptf("%d entries for %d schema ids", l.Len(), sch.IDCount())
		}
		return s.f.checkOwner(l, s.index)
	})
	return l, fault.InStripe(err, s.index)
}

// cachedList reads the field list of a stripe, or with fault.None of the whole shard, once. sum is its checksum.
func (f *File) cachedList(ctx context.Context, stripe int, anchor *artifact, ref *commonpb.DataRef, sum func(*ChecksumTree) uint32, check func(*fieldList) error) (*fieldList, error) {
	key := cacheKey{cacheFieldList, stripe, 0}
	if l, ok := f.cache.Get(key); ok {
		return l.(*fieldList), nil
	}
	bound, err := f.bound(ctx, sum)
	if err != nil {
		return nil, err
	}
	l, err := f.readFieldList(ctx, stripe, anchor, ref, bound)
	if err != nil {
		return nil, err
	}
	if err := check(l); err != nil {
		return nil, l.at.in(err, "field list", ref)
	}
	f.cache.Put(key, l, int64(l.Size()+len(l.window)+64))
	return l, nil
}

// descriptorPlace is the beginning of a descriptor.
type descriptorPlace struct {
	url   string
	start uint64
}

// checkOwner checks that no other stripe has the descriptors of a field list. A valid list that a reference points
// to by mistake has the descriptors of its own stripe.
func (f *File) checkOwner(l *fieldList, stripe int) error {
	place, ok := l.first()
	if !ok {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if owner, ok := f.owners[place]; ok && owner != stripe {
		return fault.Corruptf("stripe %d has the same descriptors", owner)
	}
	f.owners[place] = stripe
	return nil
}

// first returns the beginning of the first descriptor of the list, false if it has none.
func (l *fieldList) first() (descriptorPlace, bool) {
	for i := range l.Len() {
		url, start, end := l.At(i)
		if start == end {
			continue
		}
		url = cmp.Or(url, l.at.url)
		return descriptorPlace{url, start}, true
	}
	return descriptorPlace{}, false
}

// ReadFieldLists reads the field lists of stripes at the same time, and the header of the root if it was not
// checked yet, so that later reads wait for one request only. Errors in a list are reported when it is used.
func (f *File) ReadFieldLists(ctx context.Context, stripes []int) error {
	var readers errgroup.Group
	readers.Go(func() (err error) {
		defer fault.Recover(&err)
		return f.root.checkHeader(ctx)
	})
	for _, i := range stripes {
		readers.Go(func() (err error) {
			defer fault.Recover(&err)
			_, err = f.stripes[i].fieldList(ctx)
			return err
		})
	}
	return readers.Wait()
}

// readFieldList reads the list and, in the same request, the bytes before it.
func (f *File) readFieldList(ctx context.Context, stripe int, anchor *artifact, ref *commonpb.DataRef, bound binding) (*fieldList, error) {
	at, err := f.artifact(ctx, anchor, ref.GetUrl())
	if err != nil {
		return nil, fault.Of(fault.In(err, "field list", -1), anchor.Name())
	}
	copied, err := f.copyOf(ctx, at, stripe)
	if err != nil {
		return nil, err
	}
	l := &fieldList{at: at, start: int64(ref.GetRange().GetStart())}
	var b []byte
	start, end, err := f.checkFrame(at, ref.GetRange().GetStart(), ref.GetRange().GetEnd())
	if err == nil {
		before := start
		if n := int64(len(copied)); n >= end-start && n <= end {
			before, b = end-n, copied
		} else if at.held(start, end-start) == nil {
			before = max(start-lookback(end-start), 0)
		}
		if b == nil {
			b, err = at.read(ctx, before, end)
		}
		if err == nil {
			err = l.parse(b, before, start, bound)
		}
	}
	if err == nil { // drop all bytes but those of descriptors
		if first := l.firstDescriptor(); first > l.windowOff {
			err = l.parse(slices.Clone(b[first-l.windowOff:]), first, start, bound)
		}
	}
	if err != nil {
		return nil, at.in(err, "field list", ref)
	}
	return l, nil
}

// parse parses a list that was read with the bytes before it. The bytes begin at offset, the frame of the list at
// start. parse keeps the bytes.
func (l *fieldList) parse(b []byte, offset, start int64, bound binding) error {
	l.window, l.windowOff = b[:start-offset], offset
	payload, err := bound.parseFrame(b[start-offset:])
	if err == nil {
		l.List, err = reflist.Parse(payload, start+lengthSize)
	}
	return err
}

// firstDescriptor is the beginning of the first descriptor in the window, or the window's end if it has none.
func (l *fieldList) firstDescriptor() int64 {
	from := uint64(l.windowOff)
	first := from + uint64(len(l.window))
	for i := 0; i < l.Len() && first > from; i++ {
		if start, end := l.Range(i); start < end {
			first = max(min(first, start), from)
		}
	}
	return int64(first)
}

// held returns a range of an artifact if the window contains it, else nil.
func (l *fieldList) held(a *artifact, start, end int64) []byte {
	if a == l.at && start >= l.windowOff && end <= l.windowOff+int64(len(l.window)) {
		return l.window[start-l.windowOff : end-l.windowOff]
	}
	return nil
}

// read returns bytes of an artifact, from the window if it contains them.
func (l *fieldList) read(ctx context.Context, a *artifact, start, end int64) ([]byte, error) {
	if b := l.held(a, start, end); b != nil {
		return b, nil
	}
	return a.read(ctx, start, end)
}

// Descriptor implements stripe.Source. It reads the descriptor of a schema id, nil if the stripe lacks the field.
func (s *Stripe) Descriptor(ctx context.Context, id uint32) (*shardpb.StripeFieldDescriptor, error) {
	key := cacheKey{cacheDescriptor, s.index, id}
	if m, ok := s.f.cache.Get(key); ok {
		return m.(*shardpb.StripeFieldDescriptor), nil
	}
	l, err := s.fieldList(ctx)
	if err != nil {
		return nil, err
	}
	if uint64(id) >= uint64(l.Len()) {
		return nil, nil
	}
	url, start, end := l.At(int(id))
	if start == end {
		return nil, nil
	}
	at, err := s.f.artifact(ctx, l.at, url)
	if err != nil {
		return nil, s.inField(err, id, -1, l.at)
	}
	var b []byte
	from, to, err := s.f.checkFrame(at, start, end)
	if err == nil {
		err = message.CheckOrder(url, end, l.start)
	}
	if err == nil {
		b, err = l.read(ctx, at, from, to)
	}
	var m *shardpb.StripeFieldDescriptor
	if err == nil {
		m, err = s.parseDescriptor(ctx, id, b, at, from, l.bound(int(id)))
	}
	if err != nil {
		return nil, s.inField(err, id, int64(start), at)
	}
	s.keepDescriptor(id, m, len(b))
	return m, nil
}

// DescriptorRef is the place of a descriptor, and the checksum of the message there.
type DescriptorRef struct {
	Artifact storage.Reader // belongs to the File
	Range    Range          // of the frame
	Checksum uint32
}

// DescriptorRef is the place of the stripe's descriptor of a schema id; ok is false if there is none, or if its checksum is not known without reading it.
func (s *Stripe) DescriptorRef(ctx context.Context, id uint32) (ref DescriptorRef, ok bool, err error) {
	l, err := s.fieldList(ctx)
	if err != nil || uint64(id) >= uint64(l.Len()) {
		return ref, false, err
	}
	url, _, _ := l.At(int(id))
	at, err := s.f.artifact(ctx, l.at, url)
	if err != nil {
		return ref, false, s.inField(err, id, -1, l.at)
	}
	return l.ref(int(id), at)
}

// DescriptorRef is the place of the shard's descriptor of a schema id, as [Stripe.DescriptorRef].
func (f *File) DescriptorRef(ctx context.Context, id uint32) (ref DescriptorRef, ok bool, err error) {
	l, err := f.fieldList(ctx)
	if err != nil || uint64(id) >= uint64(l.Len()) {
		return ref, false, err
	}
	url, _, _ := l.At(int(id))
	if url, err = f.ownURL(url); err != nil {
		return ref, false, err
	}
	at, err := f.artifact(ctx, l.at, url)
	if err != nil {
		return ref, false, err
	}
	return l.ref(int(id), at)
}

// ref is the place of entry i in an artifact.
func (l *fieldList) ref(i int, at *artifact) (DescriptorRef, bool, error) {
	start, end := l.Range(i)
	sum, ok := l.Sum(i)
	if start > end || end > uint64(at.size) {
		return DescriptorRef{}, false, fault.Corruptf("descriptor %d from %d up to %d does not fit into %d bytes", i, start, end, at.size)
	}
	return DescriptorRef{at, Range{int64(start), int64(end)}, sum}, ok && start < end, nil
}

// inField adds the field of a descriptor to an error.
func (s *Stripe) inField(err error, id uint32, offset int64, at *artifact) error {
	return fault.InStripe(fault.Of(fault.In(err, fieldElement(id), offset), at.Name()), s.index)
}

// parseDescriptor parses the frame of the descriptor of a schema id. The frame begins at start in an artifact.
func (s *Stripe) parseDescriptor(ctx context.Context, id uint32, frame []byte, at *artifact, start int64, bound binding) (*shardpb.StripeFieldDescriptor, error) {
	payload, err := bound.parseFrame(frame)
	if err != nil {
		return nil, err
	}
	m := &shardpb.StripeFieldDescriptor{}
	if err := message.Decode(payload, m); err != nil {
		return nil, err
	}
	if err := message.CheckDescriptor(m, start); err != nil {
		return nil, err
	}
	if err := s.f.follow(ctx, at, m, payload); err != nil {
		return nil, err
	}
	return m, s.checkRows(ctx, id, m)
}

// checkRows compares the count of a top-level field with that of the stripe, which most likely differs in a
// descriptor of another stripe or of a nested field.
func (s *Stripe) checkRows(ctx context.Context, id uint32, m *shardpb.StripeFieldDescriptor) error {
	top, err := s.f.isTopLevel(ctx, id)
	if err == nil && top && m.Field.PositionCount != uint64(s.Rows()) {
		err = fault.Corruptf("descriptor counts %d positions, the stripe %d records", m.Field.PositionCount, s.Rows())
	}
	return err
}

// isTopLevel reports whether a schema id is that of a top-level field. The ids of top-level fields ascend.
func (f *File) isTopLevel(ctx context.Context, id uint32) (bool, error) {
	sch, err := f.Schema(ctx)
	if err != nil {
		return false, err
	}
	n := sch.NumFields()
	i := sort.Search(n, func(i int) bool {
		node, err := sch.Field(i)
		return err != nil || node.ID() >= id
	})
	if i == n {
		return false, nil
	}
	node, err := sch.Field(i)
	return err == nil && node.ID() == id, err
}

// keepDescriptor caches a descriptor. A parsed descriptor takes several times its encoded size.
func (s *Stripe) keepDescriptor(id uint32, m *shardpb.StripeFieldDescriptor, n int) {
	s.f.cache.Put(cacheKey{cacheDescriptor, s.index, id}, m, int64(6*n+512))
}

// descriptorArtifact opens the artifact that holds the descriptor of a schema id.
func (s *Stripe) descriptorArtifact(ctx context.Context, id uint32) (*artifact, error) {
	l, err := s.fieldList(ctx)
	if err != nil {
		return nil, err
	}
	if !l.HasURLs() || uint64(id) >= uint64(l.Len()) {
		return l.at, nil
	}
	url, _, _ := l.At(int(id))
	return s.f.artifact(ctx, l.at, url)
}

// Prefetch reads the descriptors of several schema ids with as few requests as possible. Descriptor then finds
// them in the cache, unless they were evicted. Errors in a descriptor are reported by Descriptor.
func (s *Stripe) Prefetch(ctx context.Context, ids []uint32) error {
	l, err := s.fieldList(ctx)
	if err != nil {
		return err
	}
	var wanted []descriptorRef
	var ranges []storage.ByteRange
	for _, id := range ids {
		if _, ok := s.f.cache.Get(cacheKey{cacheDescriptor, s.index, id}); ok || uint64(id) >= uint64(l.Len()) {
			continue
		}
		url, start, end := l.At(int(id))
		at, err := s.f.artifact(ctx, l.at, url)
		if err != nil {
			continue
		}
		from, to, err := s.f.checkFrame(at, start, end)
		if err != nil || message.CheckOrder(url, end, l.start) != nil {
			continue
		}
		wanted = append(wanted, descriptorRef{id, at, from, to})
		if l.held(at, from, to) == nil {
			ranges = append(ranges, storage.ByteRange{Reader: at, Offset: from, Size: to - from})
		}
	}
	read, err := storage.Prefetch(ctx, ranges, storage.DefaultCoalesce(l.at.Capabilities().Latency))
	if err != nil {
		return err
	}
	for _, r := range wanted {
		frame := l.held(r.at, r.start, r.end)
		if frame == nil {
			frame = read.Bytes(r.at, r.start, r.end-r.start)
		}
		if m, err := s.parseDescriptor(ctx, r.id, frame, r.at, r.start, l.bound(int(r.id))); err == nil {
			s.keepDescriptor(r.id, m, len(frame))
		}
	}
	return nil
}

// descriptorRef is the place of a descriptor.
type descriptorRef struct {
	id         uint32
	at         *artifact
	start, end int64
}

// FieldDescriptor reads the descriptor of a schema id for the whole shard, nil if there is none. A shard of one
// stripe without own descriptors has those of the stripe.
//
// Shards of the reference refer to these descriptors by the URL that the shard had when it was written
// (docs/format.md §2.5). An absolute URL is therefore read as the shard itself, and the checksum reports whether the
// bytes are those of the descriptor.
func (f *File) FieldDescriptor(ctx context.Context, id uint32) (*shardpb.FieldDescriptor, error) {
	l, err := f.fieldList(ctx)
	if err != nil {
		return nil, err
	}
	if l.Len() == 0 {
		return f.onlyField(ctx, id)
	}
	if uint64(id) >= uint64(l.Len()) {
		return nil, fault.Of(fault.Corruptf("schema id %d is not among %d", id, l.Len()), l.at.Name())
	}
	url, start, end := l.At(int(id))
	if start == end {
		return nil, nil
	}
	if err = message.CheckOrder(url, end, l.start); err == nil {
		url, err = f.ownURL(url)
	}
	if err != nil {
		return nil, fault.Of(fault.In(err, fieldElement(id), -1), l.at.Name())
	}
	ref := &commonpb.DataRef{Url: url, Range: &commonpb.UInt64Range{Start: start, End: end}}
	m := &shardpb.FieldDescriptor{}
	at, err := f.message(ctx, l.at, ref, fieldElement(id), m, l.bound(int(id)))
	if err != nil {
		return nil, err
	}
	return m, fault.Of(fault.In(message.CheckCounts(m), fieldElement(id), int64(start)), at.Name())
}

// onlyField makes the descriptor of a shard that has none of its own, if it has a single stripe.
func (f *File) onlyField(ctx context.Context, id uint32) (*shardpb.FieldDescriptor, error) {
	if len(f.stripes) != 1 {
		return nil, nil
	}
	d, err := f.stripes[0].Descriptor(ctx, id)
	if d == nil || err != nil {
		return nil, err
	}
	if m := stats.Merge(nil, d.Field); m != nil {
		return m, nil
	}
	return &shardpb.FieldDescriptor{}, nil
}

// ownURL is the url of an entry of the shard's field list, "" for the root.
func (f *File) ownURL(url string) (string, error) {
	full, err := container.ResolveSelf(f.root.url, url, f.o.Policy)
	if full == f.root.url {
		return "", err
	}
	return full, err
}

// fieldList reads the shard's field list. It has one entry for each schema id, or none at all.
func (f *File) fieldList(ctx context.Context) (*fieldList, error) {
	sch, err := f.Schema(ctx)
	if err != nil {
		return nil, err
	}
	sum := func(t *ChecksumTree) uint32 { return t.FieldList }
	return f.cachedList(ctx, fault.None, f.root, f.directory.GetFieldListRef(), sum, func(l *fieldList) error {
		if l.Len() > 0 && uint64(l.Len()) != uint64(sch.IDCount()) {
			return fault.Corruptf("%d entries for %d schema ids", l.Len(), sch.IDCount())
		}
		return nil
	})
}
