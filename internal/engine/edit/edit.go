// Package edit changes shards without rewriting their data: it publishes a new root that refers to the data of the old one.
//
// The data of a shard of the two-level layout are in files beside the root, which stay. The root of a single-file shard has the data itself. It gets a
// second name first (a hard link, [storage.Linker]), to which the new root refers:
//
//	before   logs.shard ──▶ [data, metadata]
//	after    logs.shard ──▶ [metadata]   3f0c….amudai.data ──▶ [data, metadata]
//
// The new root replaces the old one in one step, and only if that is still the version which was read. Whatever fails
// before leaves the shard as it was.
package edit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/zeebo/xxh3"
	"google.golang.org/protobuf/proto"

	commonpb "github.com/amudai/amudai-go/gen/amudai/common"
	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/shardfile"
	"github.com/amudai/amudai-go/internal/format/shardwriter"
	"github.com/amudai/amudai-go/storage"
)

// DataSuffix ends the second name of a root whose data a later root refers to.
const DataSuffix = ".amudai.data"

// Root is a new root in the making.
type Root struct {
	Old *shardfile.File
	// Writer writes the new root. Its stripes refer to those of Old.
	Writer *shardwriter.Writer
	// Indexes are those of the whole shard, and StripeIndexes those of each stripe. A change may replace them. Their references are those of the
	// new root.
	Indexes       []*shardpb.IndexDescriptor
	StripeIndexes [][]*shardpb.IndexDescriptor

	store storage.Store
	url   string // of the root
	data  string // URL of the second name of the root of Old
	uses  bool   // the new root refers to it
}

// Publish opens the shard at location, makes a new root with the same stripes, calls change, and replaces the old root. If another writer
// replaced it meanwhile, the error wraps [storage.ErrChanged].
func Publish(ctx context.Context, location string, o shardfile.OpenOptions, change func(*Root) error) (err error) {
	if o.Store == nil {
		if o.Store, err = storage.ForLocation(location); err != nil {
			return err
		}
	}
	f, err := shardfile.Open(ctx, location, o)
	if err != nil {
		return err
	}
	defer f.Close()
	r := &Root{Old: f, store: o.Store}
	if r.url, err = storage.URL(location); err != nil {
		return err
	}
	name, err := dataName(ctx, f.Root(), f.DirectoryRange())
	if err != nil {
		return err
	}
	r.data = container.Container(r.url) + name
	if err := r.begin(ctx, location); err != nil {
		return err
	}
	if err := r.write(ctx, change); err != nil {
		return errors.Join(err, r.Writer.Abort(context.WithoutCancel(ctx)))
	}
	return r.Writer.Close(ctx)
}

// begin creates the new root, under a hidden name so far.
func (r *Root) begin(ctx context.Context, location string) error {
	s, err := r.Old.Schema(ctx)
	if err != nil {
		return err
	}
	p, err := r.Old.Properties(ctx)
	if err != nil {
		return err
	}
	o := shardwriter.Options{Store: r.store, Layout: shardwriter.TwoLevel,
		Standard: shardfile.PropertiesFromProto(p.StandardProperties), Properties: shardfile.PropertiesFromProto(p.CustomProperties)}
	if o.Standard == nil {
		o.Standard = []shardfile.Property{}
	}
	if o.Edition, err = editionOf(o.Standard); err != nil {
		return err
	}
	if p.CreationMin.GetTicks() != 0 {
		o.CreationTime = shardfile.Time(p.CreationMin.GetTicks())
		o.CreationMax = shardfile.Time(max(p.CreationMax.GetTicks(), p.CreationMin.GetTicks()))
	}
	o.IfMatch, err = r.Old.Root().Version(ctx)
	if err == nil {
		r.Writer, err = shardwriter.Create(ctx, location, s.Bytes(), o)
	}
	if errors.Is(err, errors.ErrUnsupported) { // the last of several writers wins
		o.IfMatch, o.Overwrite = "", true
		r.Writer, err = shardwriter.Create(ctx, location, s.Bytes(), o)
	}
	return err
}

// editionOf is the edition that a shard says it is of, which is that of the reference if it says nothing.
func editionOf(standard []shardfile.Property) (edition.Edition, error) {
	for _, p := range standard {
		if p.Name == shardfile.PropertyEdition {
			name, _ := p.Value.(string)
			return edition.Parse(name)
		}
	}
	return edition.Reference, nil
}

// write writes all of the new root but its end.
func (r *Root) write(ctx context.Context, change func(*Root) error) error {
	moved := func(a storage.Reader) string {
		if a == r.Old.Root() {
			r.uses = true
			return r.data
		}
		return r.Old.ArtifactURL(a)
	}
	r.StripeIndexes = make([][]*shardpb.IndexDescriptor, r.Old.NumStripes())
	for i := range r.StripeIndexes {
		m, err := r.Old.Stripe(i).Indexes(ctx)
		if err != nil {
			return err
		}
		if r.StripeIndexes[i], err = r.relocate(ctx, m, i, moved); err != nil {
			return err
		}
	}
	m, err := r.Old.Indexes(ctx)
	if err != nil {
		return err
	}
	if r.Indexes, err = r.relocate(ctx, m, fault.None, moved); err != nil {
		return err
	}
	if err := change(r); err != nil {
		return err
	}
	for i, indexes := range r.StripeIndexes {
		if err := r.Writer.LinkStripe(ctx, r.Old.Stripe(i), moved, shardwriter.StripeOptions{Indexes: indexes}); err != nil {
			return err
		}
	}
	for _, d := range r.Indexes {
		r.Writer.AddIndex(d)
	}
	if !r.uses {
		return nil
	}
	return r.linkData(ctx, r.Old.Location())
}

// relocate returns descriptors of indexes with references of the new root.
func (r *Root) relocate(ctx context.Context, m *shardpb.IndexCollection, stripe int, moved func(storage.Reader) string) (out []*shardpb.IndexDescriptor, err error) {
	for _, d := range m.GetIndexDescriptors() {
		d := proto.Clone(d).(*shardpb.IndexDescriptor)
		for _, a := range d.Artifacts {
			if a.DataRef == nil {
				continue
			}
			if a.DataRef.Url, err = r.relocated(ctx, stripe, a.DataRef, moved); err != nil {
				return nil, err
			}
		}
		out = append(out, d)
	}
	return out, nil
}

// relocated is the reference of the new root to an artifact of an index. An artifact that is missing stays so.
func (r *Root) relocated(ctx context.Context, stripe int, ref *commonpb.DataRef, moved func(storage.Reader) string) (string, error) {
	at, err := r.Old.IndexArtifact(ctx, stripe, ref)
	if err != nil {
		if ref.Url != "" && (errors.Is(err, fs.ErrNotExist) || fault.Is(err)) {
			return ref.Url, nil
		}
		return "", err
	}
	return container.Relative(r.url, moved(at.Reader)), nil
}

// dataName is the second name of a root of so many bytes with a directory: two roots have the same one only if all that the
// directory refers to has the same checksums.
func dataName(ctx context.Context, root storage.Reader, directory shardfile.Range) (string, error) {
	size, err := root.Size(ctx)
	if err != nil {
		return "", err
	}
	b, err := storage.ReadRange(ctx, root, directory.Start, directory.End-directory.Start)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%016x%s", xxh3.HashSeed(b, uint64(size)), DataSuffix), nil
}

// linkData gives the old root its second name.
func (r *Root) linkData(ctx context.Context, location string) error {
	err := errors.ErrUnsupported
	if l, ok := r.store.(storage.Linker); ok {
		err = l.Link(ctx, location, r.data)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		err = r.copyData(ctx)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	linked, err := r.store.Open(ctx, r.data)
	if err != nil {
		return err
	}
	defer linked.Close()
	name, err := dataName(ctx, linked, r.Old.DirectoryRange())
	if err == nil && container.Container(r.url)+name != r.data {
		err = fmt.Errorf("%s: %w", location, storage.ErrChanged)
	}
	return err
}

// copyData copies the old root, where a store has no links.
func (r *Root) copyData(ctx context.Context) error {
	out, err := r.store.Create(ctx, r.data, storage.CreateOptions{})
	if err != nil {
		return err
	}
	all := shardfile.Range{End: r.Old.Size()}
	err = shardwriter.CopyRange(ctx, &storage.IOWriter{Context: ctx, Writer: out}, r.Old.Root(), all)
	if err != nil {
		return errors.Join(err, out.Abort(context.WithoutCancel(ctx)))
	}
	return out.Publish(ctx)
}
