package shardwriter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"

	"github.com/zeebo/xxh3"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard/internal/message"
	"github.com/amudai/amudai-go/shard/internal/recovery"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/stats"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
)

// StripeOptions are properties and features of a stripe.
type StripeOptions struct {
	// Properties are the stripe's custom properties, Standard those that the format defines.
	Properties, Standard []shardfile.Property
	// Features that the stripe's buffers use beyond the reference.
	Features edition.Set
	// Indexes describe the indexes of the stripe. Their rows are those of the stripe.
	Indexes []*shardpb.IndexDescriptor
}

// node is the field of a stripe that is to be written.
type node struct {
	id        uint32
	field     *shardpb.FieldDescriptor
	encodings []encoding
	place     *place // of the descriptor that is stored already, instead of a field and encodings
	stored    Field  // which that describes
}

// place is the place of a descriptor in an artifact of the root's folder.
type place struct {
	url string
	frame
}

// encoding is an encoding of a field.
type encoding struct {
	buffers []part
	packed  bool                                 // with a packed group
	parquet *shardpb.ExternalParquetDataEncoding // instead of buffers
}

// part is a buffer that is to be written: data writes its bytes, of which there are size.
type part struct {
	desc      *shardpb.EncodedBuffer
	size      int64
	mapOffset int64 // of the block map, -1 if there is none
	data      io.WriterTo
	folder    string // URL of the folder that it is copied to, "" for that of the root
	url       string // of the artifact where it is placed, as the root refers to it
	placed    shardfile.Range
}

// AppendStripe writes a finished stripe: its buffers, its metadata and its recovery record. The caller releases f. After an
// error the shard can only be aborted.
func (w *Writer) AppendStripe(ctx context.Context, f *stripe.Finished, o StripeOptions) error {
	nodes := make([]node, len(f.Nodes))
	for i, n := range f.Nodes {
		nodes[i] = newNode(n)
	}
	if err := w.checkNodes(nodes, f.Rows); err != nil {
		return w.fail(err)
	}
	d := &shardpb.StripeDirectory{TotalRecordCount: uint64(f.Rows)}
	if raw := f.RawBytes; !slices.ContainsFunc(nodes, inParquet) { // Parquet files do not tell it
		d.RawDataSize = &raw
	}
	return w.appendStripe(ctx, nodes, d, o)
}

// newNode is a finished field.
func newNode(n stripe.Node) node {
	out := node{id: n.ID, field: n.Field}
	if n.Parquet != nil || len(n.Buffers) > 0 || len(n.Group) == 0 {
		out.encodings = append(out.encodings, encoding{buffers: partsOf(n.Buffers), parquet: n.Parquet})
	}
	if len(n.Alternative) > 0 {
		out.encodings = append(out.encodings, encoding{buffers: partsOf(n.Alternative)})
	}
	if len(n.Group) > 0 {
		out.encodings = append(out.encodings, encoding{buffers: partsOf(n.Group), packed: true})
	}
	return out
}

// inParquet reports whether an encoding of a field is in a Parquet file.
func inParquet(n node) bool {
	return slices.ContainsFunc(n.encodings, func(e encoding) bool { return e.parquet != nil })
}

func partsOf(buffers []stripe.Buffer) []part {
	parts := make([]part, 0, len(buffers))
	for _, b := range buffers {
		parts = append(parts, part{
			desc: b.Desc, size: b.Data.Size(), mapOffset: b.MapOffset,
			data: b.Data,
		})
	}
	return parts
}

// parts are the buffers of all encodings of nodes.
func parts(nodes []node) iter.Seq[*part] {
	return func(yield func(*part) bool) {
		for _, n := range nodes {
			for _, e := range n.encodings {
				for i := range e.buffers {
					if !yield(&e.buffers[i]) {
						return
					}
				}
			}
		}
	}
}

// checkNodes checks that a stripe has one descriptor of every schema node. The reference cannot read a stripe that lacks
// one (docs/format.md §2.6).
func (w *Writer) checkNodes(nodes []node, rows int64) error {
	if len(nodes) != int(w.ids) {
		return fmt.Errorf("stripe has %d nodes, the schema %d", len(nodes), w.ids)
	}
	positions := make([]uint64, w.ids)
	seen := make([]bool, w.ids)
	for _, n := range nodes {
		if n.id >= w.ids || seen[n.id] || n.field == nil {
			return fmt.Errorf("stripe has no or two descriptors of schema id %d", n.id)
		}
		seen[n.id] = true
		positions[n.id] = n.field.PositionCount
	}
	for _, id := range w.roots {
		if positions[id] != uint64(rows) {
			return fmt.Errorf("schema id %d has %d positions in a stripe of %d records", id, positions[id], rows)
		}
	}
	return nil
}

// usable is the error of a writer that has ended or failed.
func (w *Writer) usable() error {
	if w.ended {
		return ErrEnded
	}
	return w.err
}

// fail makes the writer refuse all calls except Abort.
func (w *Writer) fail(err error) error {
	w.err = cmp.Or(w.err, err)
	return err
}

// appendStripe writes the buffers of nodes, in their order, and the metadata.
func (w *Writer) appendStripe(ctx context.Context, nodes []node, d *shardpb.StripeDirectory, o StripeOptions) error {
	if err := w.usable(); err != nil {
		return err
	}
	if err := w.placeBuffers(ctx, nodes); err != nil {
		return w.fail(err)
	}
	for b := range parts(nodes) {
		setRefs(b)
	}
	return w.describeStripe(ctx, nodes, d, o)
}

// describeStripe writes the metadata of a stripe whose buffers have their places. It sets the references of d.
func (w *Writer) describeStripe(ctx context.Context, nodes []node, d *shardpb.StripeDirectory, o StripeOptions) (err error) {
	w.features |= o.Features
	if len(w.stripes) > 0 {
		if err := w.readFirst(ctx); err != nil {
			return w.fail(err)
		}
	}
	slices.SortFunc(nodes, func(a, b node) int { return cmp.Compare(a.id, b.id) })
	var sums shardfile.StripeChecksums
	if d.FieldListRef, err = w.writeDescriptors(ctx, nodes, &sums.FieldList); err != nil {
		return w.fail(err)
	}
	if len(o.Properties)+len(o.Standard) > 0 {
		m := &shardpb.StripeProperties{}
		if m.CustomProperties, err = shardfile.PropertiesToProto(o.Properties); err != nil {
			return w.fail(err)
		}
		if m.StandardProperties, err = shardfile.PropertiesToProto(o.Standard); err != nil {
			return w.fail(err)
		}
		if d.PropertiesRef, err = w.writeMessage(ctx, m, &sums.Properties); err != nil {
			return w.fail(err)
		}
	}
	if len(o.Indexes) > 0 {
		w.listURLs(o.Indexes...)
		if d.IndexesRef, err = w.writeMessage(ctx, &shardpb.IndexCollection{IndexDescriptors: o.Indexes}, &sums.Indexes); err != nil {
			return w.fail(err)
		}
	}
	d.ShardPosition = w.rows
	w.stripes, w.tree.Stripes = append(w.stripes, d), append(w.tree.Stripes, sums)
	w.rows += d.TotalRecordCount
	if err := w.writeRecovery(ctx, d); err != nil {
		return w.fail(err)
	}
	// A complete stripe must survive the end of the process.
	if err := w.out.Flush(ctx); err != nil {
		return w.fail(err)
	}
	return nil
}

// setRefs makes the descriptor of a buffer refer to the bytes that were written.
func setRefs(b *part) {
	if b.size == 0 {
		return
	}
	b.desc.Buffer = dataRef(b.url, b.placed)
	b.desc.BlockMap = nil
	if b.mapOffset >= 0 {
		b.desc.BlockMap = dataRef(b.url, shardfile.Range{Start: b.placed.Start + b.mapOffset, End: b.placed.End})
	}
}

// placeBuffers writes the buffers to the root, or to a stripe file in each of the folders that they go to.
func (w *Writer) placeBuffers(ctx context.Context, nodes []node) error {
	var folders []string
	in := map[string][]*part{}
	for b := range parts(nodes) {
		if b.size > 0 {
			if in[b.folder] == nil {
				folders = append(folders, b.folder)
			}
			in[b.folder] = append(in[b.folder], b)
		}
	}
	if w.o.Layout == SingleFile {
		return w.writeBuffers(ctx, &storage.IOWriter{Context: ctx, Writer: w.out}, w.out.Size(), in[""])
	}
	for _, folder := range folders {
		url, err := w.writeNamed(ctx, folder, StripeSuffix, framed(func(out io.Writer) error {
			return w.writeBuffers(ctx, out, container.MarkSize, in[folder])
		}))
		if err != nil {
			return err
		}
		for _, b := range in[folder] {
			b.url = url
		}
	}
	return nil
}

// tightAlignment is the alignment of buffers in editions that the reference does not read. Blocks consist of words of 8
// bytes.
const tightAlignment = 8

// contextWriter fails once its context has ended, even in the middle of a buffer.
type contextWriter struct {
	ctx context.Context
	io.Writer
}

func (w contextWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.Writer.Write(p)
}

// writeBuffers writes each buffer at a multiple of 64, or of tightAlignment. at is the position of out in its artifact.
func (w *Writer) writeBuffers(ctx context.Context, out io.Writer, at int64, buffers []*part) error {
	var zeros [container.Alignment]byte
	align := container.Alignment
	if w.o.Edition != edition.Reference {
		align = tightAlignment
	}
	out = contextWriter{ctx, out}
	for _, b := range buffers {
		pad := container.PadTo(at, align)
		if _, err := out.Write(zeros[:pad]); err != nil {
			return err
		}
		at += int64(pad)
		b.placed = shardfile.Range{Start: at, End: at + b.size}
		if _, err := b.data.WriteTo(out); err != nil {
			return err
		}
		at += b.size
	}
	return nil
}

// framed writes a header, content, and a footer.
func framed(content func(io.Writer) error) func(io.Writer) error {
	return func(out io.Writer) error {
		if _, err := out.Write(container.Mark[:]); err != nil {
			return err
		}
		if err := content(out); err != nil {
			return err
		}
		_, err := out.Write(container.Mark[:])
		return err
	}
}

// writeNamed writes a file that is named after its content to a folder, and returns the url by which the root refers to it. Stripes and shards with the same
// content share the file, so that even the writer that made it must not remove it. A file in a folder that is chosen is read again.
//
// content is called twice or more, because stores need the name before the first byte.
func (w *Writer) writeNamed(ctx context.Context, folder, suffix string, content func(io.Writer) error) (string, error) {
	hash := xxh3.New()
	if err := content(hash); err != nil {
		return "", err
	}
	n := namedFile{store: w.o.Store, folder: cmp.Or(folder, container.Container(w.url)), folders: folder != "", sum: hash.Sum64(), content: content}
	n.url = fmt.Sprintf("%s%016x%s", n.folder, n.sum, suffix)
	var err error
	if n.like = w.location; !container.SameScheme(n.folder, w.url) {
		if n.store, err = storage.ForLocation(n.folder); err != nil {
			return "", err
		}
		n.like = ""
	}
	err = n.publish(ctx, false)
	if errors.Is(err, fs.ErrExist) {
		err = n.compare(ctx)
		if err != nil && ctx.Err() == nil && suffix == IndexSuffix { // an index that is damaged, and built anew
			err = n.publish(ctx, true)
		}
	} else if err == nil && folder != "" {
		err = n.compare(ctx)
	}
	url := container.Relative(w.url, n.url)
	w.urls[url] = true
	return url, err
}

// namedFile is a file that is named after its content.
type namedFile struct {
	store       storage.Store
	folder, url string
	folders     bool   // the folder is created if it is missing
	like        string // location of a file whose permissions it gets, or ""
	sum         uint64
	content     func(io.Writer) error
}

// publish creates the file. Without overwrite, the error wraps fs.ErrExist if there is one.
func (n *namedFile) publish(ctx context.Context, overwrite bool) error {
	out, err := n.store.Create(ctx, n.url, storage.CreateOptions{Overwrite: overwrite, Like: n.like, Folders: n.folders})
	if err != nil {
		return err
	}
	hash := xxh3.New()
	err = n.content(io.MultiWriter(&storage.IOWriter{Context: ctx, Writer: out}, hash))
	if err == nil && hash.Sum64() != n.sum {
		err = fmt.Errorf("%s: what is copied changed meanwhile", out.Name())
	}
	if err != nil {
		return errors.Join(err, out.Abort(context.WithoutCancel(ctx)))
	}
	return out.Publish(ctx)
}

// compare checks that the file has the bytes that were to be written.
func (n *namedFile) compare(ctx context.Context) error {
	r, err := storage.OpenIn(ctx, n.store, n.folder, n.url)
	if err != nil {
		return err
	}
	defer r.Close()
	size, err := r.Size(ctx)
	if err != nil {
		return err
	}
	c := &comparer{ctx: ctx, r: r}
	if err := n.content(c); err != nil {
		return err
	}
	if c.off != size {
		return fmt.Errorf("%s exists with %d bytes instead of %d: %w", r.Name(), size, c.off, fs.ErrExist)
	}
	return nil
}

// comparer fails when the bytes written to it differ from those of r.
type comparer struct {
	ctx context.Context
	r   storage.Reader
	off int64
	buf [32 << 10]byte
}

func (c *comparer) Write(p []byte) (int, error) {
	for done := 0; done < len(p); {
		b := c.buf[:min(len(c.buf), len(p)-done)]
		if err := c.r.ReadAt(c.ctx, b, c.off); err != nil {
			return done, err
		}
		if string(b) != string(p[done:done+len(b)]) {
			return done, fmt.Errorf("%s exists with other content near offset %d: %w", c.r.Name(), c.off, fs.ErrExist)
		}
		done += len(b)
		c.off += int64(len(b))
	}
	return len(p), nil
}

// writeDescriptors writes the descriptors of nodes, which are sorted by schema id, and their list. It also merges them into
// those of the shard. Ids without a node have an empty entry. The checksum of the list becomes sum.
func (w *Writer) writeDescriptors(ctx context.Context, nodes []node, sum *uint32) (*commonpb.DataRef, error) {
	list, urls := make([]frame, w.ids), []string(nil)
	if w.copied <= message.MaxCopied {
		w.copies = append(w.copies, nil)
	}
	var field, payload []byte
	var messages encodingMessages
	for _, n := range nodes {
		if p := n.place; p != nil {
			if urls == nil {
				urls = make([]string, w.ids)
			}
			list[n.id], urls[n.id], w.urls[p.url] = p.frame, p.url, true
			if err := w.addStored(ctx, n); err != nil {
				return nil, err
			}
			continue
		}
		encodings := messages.of(n.encodings)
		var err error
		if field, err = marshal.MarshalAppend(field[:0], n.field); err != nil {
			return nil, err
		}
		payload = protowire.AppendTag(payload[:0], stripeFieldNumber, protowire.BytesType)
		if payload, err = marshal.MarshalAppend(protowire.AppendBytes(payload, field), encodings); err != nil {
			return nil, err
		}
		if list[n.id], err = w.writeFrame(ctx, payload); err != nil {
			return nil, err
		}
		w.copyFrame()
		if err := w.addField(n.id, n.field, field); err != nil {
			return nil, err
		}
	}
	ref, err := w.writeFieldList(ctx, list, urls, sum)
	w.copyFrame()
	return ref, err
}

// encodingMessages makes messages of encodings. Those of a field are used again for the next one, of which a stripe may have 50,000.
type encodingMessages struct {
	field shardpb.StripeFieldDescriptor
	used  []*encodingMessage
}

type encodingMessage struct {
	shardpb.DataEncoding
	native  shardpb.DataEncoding_Native
	parquet shardpb.DataEncoding_Parquet
}

// of are encodings as a descriptor without its statistics.
func (m *encodingMessages) of(all []encoding) *shardpb.StripeFieldDescriptor {
	m.field.Encodings = m.field.Encodings[:0]
	for i, e := range all {
		if i == len(m.used) {
			m.used = append(m.used, &encodingMessage{native: shardpb.DataEncoding_Native{Native: &shardpb.NativeDataEncoding{}}})
		}
		d := m.used[i]
		if d.Kind = &d.native; e.parquet != nil {
			d.parquet.Parquet = e.parquet
			d.Kind = &d.parquet
		}
		native := d.native.Native
		native.PackedGroup, native.Buffers = e.packed, native.Buffers[:0]
		for _, b := range e.buffers {
			native.Buffers = append(native.Buffers, b.desc)
		}
		m.field.Encodings = append(m.field.Encodings, &d.DataEncoding)
	}
	return &m.field
}

// stripeFieldNumber is the number of StripeFieldDescriptor.field, which comes first.
const stripeFieldNumber = 1

// addField merges a stripe's descriptor into that of the shard; encoded are its bytes. Descriptors of the shard stay
// encoded, because 50,000 of them as messages would take a multiple of the memory. The descriptor of the first stripe is
// stored as it is.
func (w *Writer) addField(id uint32, next *shardpb.FieldDescriptor, encoded []byte) error {
	if len(w.stripes) == 0 {
		w.fields[id] = append([]byte{}, encoded...) // not nil, even if encoded is empty
		return nil
	}
	acc, err := w.merged(id)
	if err != nil {
		return err
	}
	w.fields[id], err = marshal.MarshalAppend([]byte{}, stats.Merge(acc, next))
	return err
}

// addStored is addField for a field whose descriptor is stored. That of the first stripe is not read unless another stripe comes, because a shard of one
// stripe needs no descriptors of its own.
func (w *Writer) addStored(ctx context.Context, n node) error {
	if _, ok := w.inherited[n.id]; ok {
		return nil
	}
	if len(w.stripes) == 0 {
		w.unread = append(w.unread, n)
		return nil
	}
	d, err := n.stored.Stripe.Descriptor(ctx, n.stored.ID)
	if err != nil {
		return err
	}
	encoded, err := marshal.Marshal(d.Field)
	if err != nil {
		return err
	}
	return w.addField(n.id, d.Field, encoded)
}

// readFirst reads the descriptors of the first stripe that were not read so far.
func (w *Writer) readFirst(ctx context.Context) error {
	for _, n := range w.unread {
		d, err := n.stored.Stripe.Descriptor(ctx, n.stored.ID)
		if err == nil {
			w.fields[n.id], err = marshal.Marshal(d.Field)
		}
		if err != nil {
			return err
		}
	}
	w.unread = nil
	return nil
}

// merged is the shard's descriptor so far, nil if there is none.
func (w *Writer) merged(id uint32) (*shardpb.FieldDescriptor, error) {
	if len(w.fields[id]) == 0 {
		return nil, nil
	}
	acc := &shardpb.FieldDescriptor{}
	if err := proto.Unmarshal(w.fields[id], acc); err != nil || acc.PositionCount == 0 {
		return nil, err
	}
	acc.MembershipFilters, acc.DictionarySize = nil, nil // of the first stripe, which other stripes without the field may follow
	return acc, nil
}

// writeRecovery appends the recovery record of the stripe just written.
func (w *Writer) writeRecovery(ctx context.Context, d *shardpb.StripeDirectory) error {
	m, err := w.properties()
	if err != nil {
		return err
	}
	directory, err := marshal.Marshal(d)
	if err != nil {
		return err
	}
	properties, err := marshal.Marshal(m)
	if err != nil {
		return err
	}
	r := recovery.Record{
		Stripe: uint32(len(w.stripes) - 1), Position: w.out.Size(), SchemaStart: w.schema.Start, SchemaEnd: w.schema.End,
		Directory: directory, Properties: properties,
	}
	_, err = w.writeFrame(ctx, r.Append(nil))
	return err
}
