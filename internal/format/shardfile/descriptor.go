package shardfile

import (
	"context"
	"slices"
	"sort"

	"golang.org/x/sync/errgroup"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/reflist"
	"github.com/amudai/amudai-go/internal/format/stats"
	"github.com/amudai/amudai-go/storage"
)

// lookback is how much in front of a stripe's field list is read with it: the
// stripe's last descriptors, and all of a stripe with few columns. Of what is read
// only that is kept.
const lookback = 64 << 10

// fieldList is a field list with what is needed to follow it.
type fieldList struct {
	*reflist.List
	at    *artifact // that holds the list
	start int64     // of its frame
	// window is what was read in front of the list, from windowOff on.
	window    []byte
	windowOff int64
}

// fieldList reads the stripe's field list. It may be shorter than the schema
// (docs/format.md §2.6), never longer.
func (s *Stripe) fieldList(ctx context.Context) (*fieldList, error) {
	key := cacheKey{cacheFieldList, s.index, 0}
	if l, ok := s.f.cache.Get(key); ok {
		return l.(*fieldList), nil
	}
	sch, err := s.f.Schema(ctx)
	if err != nil {
		return nil, err
	}
	l, err := s.f.readFieldList(ctx, s.anchor, s.directory.FieldListRef)
	if err != nil {
		return nil, fault.InStripe(err, s.index)
	}
	if uint64(l.Len()) > uint64(sch.IDCount()) {
		err := fault.Corruptf("%d entries for %d schema ids", l.Len(), sch.IDCount())
		offset := int64(s.directory.FieldListRef.GetRange().GetStart())
		return nil, fault.InStripe(fault.Of(fault.In(err, "field list", offset), l.at.Name()), s.index)
	}
	if err := s.f.checkOwner(l, s.index); err != nil {
		offset := int64(s.directory.FieldListRef.GetRange().GetStart())
		return nil, fault.InStripe(fault.Of(fault.In(err, "field list", offset), l.at.Name()), s.index)
	}
	s.f.cache.Put(key, l, int64(l.Size()+len(l.window)+64))
	return l, nil
}

// descriptorPlace is where a descriptor begins.
type descriptorPlace struct {
	url   string
	start uint64
}

// checkOwner checks that no other stripe has the descriptors of a field list: a sound list
// at the place of another one, where it came by accident, refers to those of its own stripe.
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

// first is where the first descriptor of the list begins, false if it has none.
func (l *fieldList) first() (descriptorPlace, bool) {
	for i := range l.Len() {
		url, start, end := l.At(i)
		if start == end {
			continue
		}
		if url == "" {
			url = l.at.url
		}
		return descriptorPlace{url, start}, true
	}
	return descriptorPlace{}, false
}

// ReadFieldLists reads the field lists of stripes at the same time, and the header of
// the root if that has not been looked at, so that what follows need not wait for one
// after the other. What is wrong with one that is not used yet may wait until it is.
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

// readFieldList reads the list and, in the same request, what stands before it.
func (f *File) readFieldList(ctx context.Context, anchor *artifact, ref *commonpb.DataRef) (*fieldList, error) {
	at, err := f.artifact(ctx, anchor, ref.GetUrl())
	if err != nil {
		return nil, fault.Of(fault.In(err, "field list", -1), anchor.Name())
	}
	l := &fieldList{at: at, start: int64(ref.GetRange().GetStart())}
	var b []byte
	start, end, err := f.checkFrame(at, ref.GetRange().GetStart(), ref.GetRange().GetEnd())
	if err == nil {
		before := start
		if at.held(start, end-start) == nil {
			before = max(start-lookback, 0)
		}
		if b, err = at.read(ctx, before, end); err == nil {
			err = l.parse(b, before, start)
		}
	}
	if err == nil { // what else was read goes
		if first := l.firstDescriptor(); first > l.windowOff {
			err = l.parse(slices.Clone(b[first-l.windowOff:]), first, start)
		}
	}
	if err != nil {
		return nil, fault.Of(fault.In(err, "field list", int64(ref.GetRange().GetStart())), at.Name())
	}
	return l, nil
}

// parse makes the list of bytes from offset on, with its frame from start up to their
// end. It keeps them.
func (l *fieldList) parse(b []byte, offset, start int64) error {
	l.window, l.windowOff = b[:start-offset], offset
	payload, err := container.ParseFrame(b[start-offset:])
	if err == nil {
		l.List, err = reflist.Parse(payload, start+lengthSize)
	}
	return err
}

// firstDescriptor is where the first descriptor of the window begins, its end if it has
// none.
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

// held is a range of an artifact if it lies in the window, else nil.
func (l *fieldList) held(a *artifact, start, end int64) []byte {
	if a == l.at && start >= l.windowOff && end <= l.windowOff+int64(len(l.window)) {
		return l.window[start-l.windowOff : end-l.windowOff]
	}
	return nil
}

// read gives bytes of an artifact, from the window if they lie there.
func (l *fieldList) read(ctx context.Context, a *artifact, start, end int64) ([]byte, error) {
	if b := l.held(a, start, end); b != nil {
		return b, nil
	}
	return a.read(ctx, start, end)
}

// HasField tells whether the stripe has a descriptor of a schema id.
func (s *Stripe) HasField(ctx context.Context, id uint32) (bool, error) {
	l, err := s.fieldList(ctx)
	if err != nil || uint64(id) >= uint64(l.Len()) {
		return false, err
	}
	_, start, end := l.At(int(id))
	return start != end, nil
}

// Descriptor implements stripe.Source: it reads the descriptor of a schema id, nil
// if the stripe lacks the field.
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
		err = checkOrder(url, end, l.start)
	}
	if err == nil {
		b, err = l.read(ctx, at, from, to)
	}
	var m *shardpb.StripeFieldDescriptor
	if err == nil {
		m, err = s.parseDescriptor(ctx, id, b, from)
	}
	if err != nil {
		return nil, s.inField(err, id, int64(start), at)
	}
	s.keepDescriptor(id, m, len(b))
	return m, nil
}

// inField adds to an error that it is about the descriptor of a schema id.
func (s *Stripe) inField(err error, id uint32, offset int64, at *artifact) error {
	return fault.InStripe(fault.Of(fault.In(err, fieldElement(id), offset), at.Name()), s.index)
}

// parseDescriptor parses the frame of the descriptor of a schema id, which begins at
// start in its artifact.
func (s *Stripe) parseDescriptor(ctx context.Context, id uint32, frame []byte, start int64) (*shardpb.StripeFieldDescriptor, error) {
	payload, err := container.ParseFrame(frame)
	if err != nil {
		return nil, err
	}
	m := &shardpb.StripeFieldDescriptor{}
	if err := decode(payload, m); err != nil {
		return nil, err
	}
	if err := checkDescriptor(m, start); err != nil {
		return nil, err
	}
	return m, s.checkRows(ctx, id, m)
}

// checkRows compares the count of a top-level field with that of the stripe: a sound
// descriptor of another stripe or of a nested field has another one, most likely.
func (s *Stripe) checkRows(ctx context.Context, id uint32, m *shardpb.StripeFieldDescriptor) error {
	top, err := s.f.isTopLevel(ctx, id)
	if err == nil && top && m.Field.PositionCount != uint64(s.Rows()) {
		err = fault.Corruptf("descriptor counts %d positions, the stripe %d records", m.Field.PositionCount, s.Rows())
	}
	return err
}

// isTopLevel tells whether a schema id is that of a top-level field. Their ids ascend.
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

// keepDescriptor caches a descriptor. In memory it takes several times its bytes.
func (s *Stripe) keepDescriptor(id uint32, m *shardpb.StripeFieldDescriptor, n int) {
	s.f.cache.Put(cacheKey{cacheDescriptor, s.index, id}, m, int64(6*n+512))
}

// descriptorArtifact is the artifact that holds the descriptor of a schema id.
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

// checkDescriptor checks what can be said without looking at data or schema. The
// descriptor begins at start in its artifact.
func checkDescriptor(m *shardpb.StripeFieldDescriptor, start int64) error {
	d := m.Field
	if d == nil {
		return fault.Corruptf("descriptor has no field")
	}
	if err := checkCounts(d); err != nil {
		return err
	}
	for _, e := range m.Encodings {
		for _, b := range e.GetNative().GetBuffers() {
			if err := checkBuffer(b, start); err != nil {
				return fault.In(err, b.Kind.String(), -1)
			}
		}
	}
	return nil
}

// checkOrder checks that a reference in a message that begins at start ends in front of
// it, if both are in one artifact. Writers append: a message that refers to what comes
// after it is one of another place.
func checkOrder(url string, end uint64, start int64) error {
	if url == "" && end > uint64(start) {
		return fault.Corruptf("reference up to %d, behind the message at %d that makes it", end, start)
	}
	return nil
}

// checkBuffer checks the ranges of a buffer, whose descriptor begins at start.
func checkBuffer(b *shardpb.EncodedBuffer, start int64) error {
	r := b.GetBuffer().GetRange()
	if b.Kind != shardpb.BufferKind_RANGE_INDEX { // a bad one is only not used
		if err := checkOrder(b.GetBuffer().GetUrl(), r.GetEnd(), start); err != nil {
			return err
		}
	}
	if r.GetStart() > r.GetEnd() {
		return fault.Corruptf("buffer ends at %d, before its start at %d", r.GetEnd(), r.GetStart())
	}
	if b.BlockMap == nil {
		return nil
	}
	m := b.BlockMap.GetRange()
	switch {
	case len(b.InlineBlockMap) > 0:
		return fault.Corruptf("two block maps")
	case b.BlockMap.Url != b.GetBuffer().GetUrl():
		return fault.Corruptf("block map is in %q, its buffer in %q", b.BlockMap.Url, b.GetBuffer().GetUrl())
	case m.GetStart() < r.GetStart() || m.GetEnd() > r.GetEnd() || m.GetStart() >= m.GetEnd():
		return fault.Corruptf("block map from %d up to %d is not inside its buffer, %d up to %d", m.GetStart(), m.GetEnd(), r.GetStart(), r.GetEnd())
	case (m.GetEnd()-m.GetStart())%8 != 0:
		return fault.Corruptf("block map has %d bytes, no multiple of 8", m.GetEnd()-m.GetStart())
	}
	return nil
}

// Prefetch reads the descriptors of several schema ids with as few requests as
// possible, so that Descriptor finds them in memory as long as the cache holds
// them. What is wrong with a descriptor is left for Descriptor to say.
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
		if err != nil || checkOrder(url, end, l.start) != nil {
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
		if m, err := s.parseDescriptor(ctx, r.id, frame, r.start); err == nil {
			s.keepDescriptor(r.id, m, len(frame))
		}
	}
	return nil
}

// descriptorRef is where a descriptor lies.
type descriptorRef struct {
	id         uint32
	at         *artifact
	start, end int64
}

// FieldDescriptor reads the descriptor of a schema id for the whole shard, nil if
// there is none. In a shard of one stripe, that of the stripe stands for it.
//
// Shards of the reference refer to these descriptors by the URL that they were
// written under (docs/format.md §2.5). An absolute URL is therefore taken for the shard
// itself, and the checksum decides.
func (f *File) FieldDescriptor(ctx context.Context, id uint32) (*shardpb.FieldDescriptor, error) {
	l, err := f.fieldList(ctx)
	if err != nil {
		return nil, err
	}
	if l.Len() == 0 {
		return f.onlyField(ctx, id)
	}
	if uint64(id) >= uint64(l.Len()) {
		return nil, fault.Of(fault.Corruptf("no schema id %d among %d", id, l.Len()), l.at.Name())
	}
	url, start, end := l.At(int(id))
	if start == end {
		return nil, nil
	}
	if err = checkOrder(url, end, l.start); err == nil {
		url, err = f.ownURL(url)
	}
	if err != nil {
		return nil, fault.Of(fault.In(err, fieldElement(id), -1), l.at.Name())
	}
	ref := &commonpb.DataRef{Url: url, Range: &commonpb.UInt64Range{Start: start, End: end}}
	m := &shardpb.FieldDescriptor{}
	at, err := f.message(ctx, l.at, ref, fieldElement(id), m)
	if err != nil {
		return nil, err
	}
	return m, fault.Of(fault.In(checkCounts(m), fieldElement(id), int64(start)), at.Name())
}

// onlyField is the descriptor of a shard that has none of its own, if it consists
// of one stripe.
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

func checkCounts(m *shardpb.FieldDescriptor) error {
	if m.NullCount != nil && *m.NullCount > m.PositionCount {
		return fault.Corruptf("%d nulls in %d positions", *m.NullCount, m.PositionCount)
	}
	return nil
}

// fieldList reads the shard's field list, which has one entry for each schema id or
// none at all.
func (f *File) fieldList(ctx context.Context) (*fieldList, error) {
	key := cacheKey{cacheFieldList, -1, 0}
	if l, ok := f.cache.Get(key); ok {
		return l.(*fieldList), nil
	}
	sch, err := f.Schema(ctx)
	if err != nil {
		return nil, err
	}
	ref := f.directory.GetFieldListRef()
	l, err := f.readFieldList(ctx, f.root, ref)
	if err != nil {
		return nil, err
	}
	if l.Len() > 0 && uint64(l.Len()) != uint64(sch.IDCount()) {
		err := fault.Corruptf("%d entries for %d schema ids", l.Len(), sch.IDCount())
		return nil, fault.Of(fault.In(err, "field list", int64(ref.GetRange().GetStart())), l.at.Name())
	}
	f.cache.Put(key, l, int64(l.Size()+len(l.window)+64))
	return l, nil
}
