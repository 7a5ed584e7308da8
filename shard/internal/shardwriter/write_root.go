package shardwriter

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/shard/internal/message"
	"github.com/amudai/amudai-go/shard/internal/reflist"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// smallSchema is the largest schema, in bytes, that is written a second time at the end.
const smallSchema = 16 << 10

// copyShare is the largest share of a shard in one file that the copies of descriptors may be.
const copyShare = 1. / 64

// smallShard is the size of a shard, in bytes, up to which the first read of a reader includes the schema at its start.
const smallShard = 48 << 10

// writeRoot writes the metadata of the whole shard. The directory is last, followed by mark bytes of
// the mark: all of it at the end of the artifact, and none before a shard that follows.
func (w *Writer) writeRoot(ctx context.Context, mark int) error {
	d := &shardpb.ShardDirectory{TotalRecordCount: w.rows, StripeCount: uint64(len(w.stripes))}
	for _, s := range w.stripes {
		d.DeletedRecordCount += s.DeletedRecordCount
		if s.RawDataSize != nil {
			if d.RawDataSize == nil {
				d.RawDataSize = new(uint64)
			}
			*d.RawDataSize += *s.RawDataSize
		}
	}
	if err := w.listStored(ctx); err != nil {
		return err
	}
	copied, err := w.writeCopies(ctx, mark)
	if err != nil {
		return err
	}
	if d.StripeListRef, err = w.writeMessage(ctx, &shardpb.StripeList{Stripes: w.stripes}, &w.tree.StripeList); err != nil {
		return err
	}
	if d.UrlListRef, err = w.writeMessage(ctx, &shardpb.UrlList{Urls: slices.Sorted(maps.Keys(w.urls))}, &w.tree.URLList); err != nil {
		return err
	}
	if d.FieldListRef, err = w.writeFields(ctx); err != nil {
		return err
	}
	if len(w.indexes) > 0 {
		if d.IndexesRef, err = w.writeMessage(ctx, &shardpb.IndexCollection{IndexDescriptors: w.indexes}, &w.tree.Indexes); err != nil {
			return err
		}
	}
	w.tree.Schema = w.schema.sum
	properties, err := w.properties(append(copied, shardfile.Property{Name: shardfile.PropertyChecksumTree, Value: w.tree.Append(nil)})...)
	if err != nil {
		return err
	}
	var top uint32 // of the message with the tree, which is not in the tree
	if d.PropertiesRef, err = w.writeMessage(ctx, properties, &top); err != nil {
		return err
	}
	where := w.schema
	if len(w.message) <= smallSchema && (w.out.Size() > smallShard || w.o.Edition == edition.Reference) {
		if where, err = w.writeFrame(ctx, w.message); err != nil {
			return err
		}
	}
	d.SchemaRef = where.ref()
	directory, err := marshal.Marshal(d)
	if err != nil {
		return err
	}
	tail := container.AppendTail(nil, directory)
	return w.write(ctx, tail[:len(tail)-container.MarkSize+mark])
}

// copyFrame keeps the frame that was written last, for the copy of the descriptors of all stripes.
func (w *Writer) copyFrame() {
	if w.copied += len(w.buf); w.copied > message.MaxCopied {
		w.copies = nil
		return
	}
	last := &w.copies[len(w.copies)-1]
	*last = append(*last, w.buf...)
}

// writeCopies writes the descriptors of all stripes again, together: the first read of a reader has them, where it had to ask for those of each stripe. It
// returns the property that leads to them, none if there are no copies.
func (w *Writer) writeCopies(ctx context.Context, mark int) ([]shardfile.Property, error) {
	size := w.out.Size()
	if mark == 0 || len(w.copies) < 2 || w.o.Edition == edition.Reference || size <= smallShard {
		return nil, nil
	}
	payload, err := message.Pack(w.copies)
	if n := float64(len(payload)); err != nil || n > storage.RemoteGap || w.o.Layout == SingleFile && n > copyShare*float64(size) {
		return nil, err
	}
	f, err := w.writeFrame(ctx, payload)
	return []shardfile.Property{{Name: shardfile.PropertyDescriptors, Value: []any{f.Start, f.End}}}, err
}

// stored is where descriptors are that are referred to.
type stored struct {
	files  []*shardfile.File
	ranges map[storage.Reader][]shardfile.Range
	urls   map[storage.Reader]string // of artifacts
}

func (s *stored) add(f Field, at shardfile.DescriptorRef) {
	if file := f.Stripe.File(); !slices.Contains(s.files, file) {
		s.files = append(s.files, file)
	}
	s.ranges[at.Artifact] = append(s.ranges[at.Artifact], at.Range)
}

// scanBytes is about the size of the reads of listStored.
const scanBytes = 256 << 10

// listStored lists the artifacts that stored descriptors refer to. They are among those that the shards of these list, and are named in descriptors as there.
// Descriptors are searched for the names, but not parsed, and in artifacts with few of them first, until all names are found.
func (w *Writer) listStored(ctx context.Context) error {
	wanted := map[string]string{} // as it is named there and here
	for _, f := range w.stored.files {
		urls, err := f.URLs(ctx)
		if err != nil {
			return err
		}
		for _, u := range urls {
			full, err := f.Stripe(0).Resolve(u)
			if err == nil && !strings.HasSuffix(u, IndexSuffix) {
				wanted[u] = container.Relative(w.url, full)
			}
		}
	}
	byNumber := func(a, b storage.Reader) int { return cmp.Compare(len(w.stored.ranges[a]), len(w.stored.ranges[b])) }
	for _, a := range slices.SortedFunc(maps.Keys(w.stored.ranges), byNumber) {
		ranges := w.stored.ranges[a]
		slices.SortFunc(ranges, func(a, b shardfile.Range) int { return cmp.Compare(a.Start, b.Start) })
		for len(ranges) > 0 && len(wanted) > 0 {
			from, n := ranges[0].Start, 1
			for n < len(ranges) && ranges[n].End-from <= scanBytes {
				n++
			}
			b, err := storage.ReadRange(ctx, a, from, ranges[n-1].End-from)
			if err != nil {
				return err
			}
			for there, here := range wanted {
				if bytes.Contains(b, []byte(there)) {
					w.urls[here] = true
					delete(wanted, there)
				}
			}
			ranges = ranges[n:]
		}
	}
	return nil
}

// writeFields writes the descriptors of the whole shard and their list, which has an entry for every schema id. In editions
// that the reference does not read, a shard of one stripe has no descriptors of its own: those of the stripe say the same.
func (w *Writer) writeFields(ctx context.Context) (*commonpb.DataRef, error) {
	if len(w.stripes) == 1 && w.o.Edition != edition.Reference {
		return w.writeFieldList(ctx, nil, nil, &w.tree.FieldList)
	}
	if err := w.readFirst(ctx); err != nil {
		return nil, err
	}
	list, urls := make([]frame, w.ids), []string(nil)
	for id, payload := range w.fields {
		if p, ok := w.inherited[uint32(id)]; ok {
			if urls == nil {
				urls = make([]string, w.ids)
			}
			list[id], urls[id] = p.frame, p.url
			continue
		}
		if payload == nil {
			continue
		}
		if len(w.stripes) == 1 {
			var err error
			if payload, err = w.onlyField(uint32(id)); err != nil {
				return nil, err
			}
		}
		var err error
		if list[id], err = w.writeFrame(ctx, payload); err != nil {
			return nil, err
		}
	}
	return w.writeFieldList(ctx, list, urls, &w.tree.FieldList)
}

// InheritFields has descriptors of the whole shard referred to that another one has, whose stripes are those of this one. from is the schema id there
// of one here, or Missing. It comes before the first stripe, all of whose descriptors are then referred to, too. Where the
// other shard has none, nothing is inherited.
func (w *Writer) InheritFields(ctx context.Context, f *shardfile.File, from []uint32, to Links) error {
	if w.o.Edition == edition.Reference {
		return nil
	}
	w.inherited = map[uint32]place{}
	for id, old := range from {
		if old == Missing {
			continue
		}
		at, ok, err := f.DescriptorRef(ctx, old)
		if err != nil {
			return err
		}
		if url, beside := w.beside(at, to); ok && beside {
			w.inherited[uint32(id)] = place{url, frame{at.Range, at.Checksum}}
			w.urls[url] = true
		}
	}
	return nil
}

// beside is the url of a descriptor that is stored in the folder of the root.
func (w *Writer) beside(at shardfile.DescriptorRef, to Links) (url string, ok bool) {
	if at.Artifact == nil {
		return "", false
	}
	url, known := w.stored.urls[at.Artifact]
	if !known {
		url = container.Relative(w.url, to.URL(at.Artifact))
		w.stored.urls[at.Artifact] = url
	}
	return url, !strings.Contains(url, "/")
}

// writeFieldList writes the list of the descriptors of all schema ids; urls is nil if all are in the root. Its checksum becomes sum.
func (w *Writer) writeFieldList(ctx context.Context, list []frame, urls []string, sum *uint32) (*commonpb.DataRef, error) {
	starts, ends, sums := make([]uint64, len(list)), make([]uint64, len(list)), make([]uint32, len(list))
	for id, f := range list {
		starts[id], ends[id], sums[id] = uint64(f.Start), uint64(f.End), f.sum
	}
	f, err := w.writeFrame(ctx, reflist.Append(nil, urls, starts, ends, sums))
	*sum = f.sum
	return f.ref(), err
}

// onlyField is the descriptor of a shard of one stripe. It has the estimate of distinct values, but not their sketch, which
// is in the descriptor of the stripe.
func (w *Writer) onlyField(id uint32) ([]byte, error) {
	f, err := w.merged(id)
	if err != nil {
		return nil, err
	}
	if f.GetCardinality() != nil {
		f.Cardinality.HllSketch = nil
	}
	return marshal.Marshal(f)
}

// properties are the properties of the shard so far, and more standard ones.
func (w *Writer) properties(more ...shardfile.Property) (*shardpb.ShardProperties, error) {
	standard := slices.DeleteFunc(slices.Clone(w.o.Standard), func(p shardfile.Property) bool {
		return slices.Contains([]string{shardfile.PropertyChecksumTree, shardfile.PropertyDescriptors, shardfile.PropertyShards}, p.Name)
	})
	if standard == nil {
		standard = shardfile.WithFeatures([]shardfile.Property{{Name: shardfile.PropertyEdition, Value: w.o.Edition.String()}}, w.features)
		standard = append(standard, shardfile.Property{Name: shardfile.PropertyWriter, Value: w.o.Program})
	} else {
		standard = shardfile.WithFeatures(standard, w.features)
	}
	if len(w.before) > 0 {
		standard = append(standard, shardfile.Property{Name: shardfile.PropertyShards, Value: w.before})
	}
	standard = append(standard, more...)
	m := &shardpb.ShardProperties{
		CreationMin: &commonpb.DateTimeUtc{Ticks: w.created[0]},
		CreationMax: &commonpb.DateTimeUtc{Ticks: w.created[1]},
	}
	var err error
	if m.StandardProperties, err = shardfile.PropertiesToProto(standard); err != nil {
		return nil, err
	}
	m.CustomProperties, err = shardfile.PropertiesToProto(w.o.Properties)
	return m, err
}
