package root

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	shardpb "github.com/amudai/amudai-go/gen/amudai/shard"
	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard/internal/copying"
	"github.com/amudai/amudai-go/shard/internal/indexing"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
)

// Publish writes new shards at location, in one artifact, with copies of all data of one root or more. The options are those of the roots but
// Store, Layout and Overwrite.
func Publish(ctx context.Context, location string, o shardwriter.Options, roots ...Root) error {
	w, err := roots[0].create(ctx, location, o)
	if err != nil {
		return err
	}
	for i, r := range roots {
		if i > 0 {
			next, err := w.Follow(ctx, r.Schema.Bytes(), r.options(o))
			if err != nil {
				return errors.Join(err, w.Abort(context.WithoutCancel(ctx)))
			}
			w = next
		}
		if err := r.write(ctx, w, nil); err != nil {
			return errors.Join(err, w.Abort(context.WithoutCancel(ctx)))
		}
	}
	return w.Close(ctx)
}

// Refer writes a new shard at location that refers to the data of a root where they are. policy allows references to folders other than that of the
// new shard, which readers have to allow again. The options are those of the root but Store and Overwrite. size is that of the new shard, and
// outside are these folders. The root does not say that they are allowed, or a shard would grant itself what it wants to read.
func Refer(ctx context.Context, location string, o shardwriter.Options, policy container.Policy, r Root) (size int64, outside []string, err error) {
	if o.Store, err = storage.Of(o.Store, location); err != nil {
		return 0, nil, err
	}
	o.Layout = shardwriter.TwoLevel
	w, err := r.create(ctx, location, o)
	if err != nil {
		return 0, nil, err
	}
	var refused error
	allowed := map[string]bool{}
	names := r.secondNames(ctx, o.Store)
	err = r.write(ctx, w, &shardwriter.Links{URL: func(a storage.Reader) string {
		url, err := names(a)
		if err == nil && url == w.URL() {
			err = fmt.Errorf("%s cannot replace a shard that it refers to", location)
		}
		refused = cmp.Or(refused, err)
		if !allowed[url] {
			if _, err := container.Resolve(w.URL(), w.URL(), container.Relative(w.URL(), url), policy); err != nil {
				refused = cmp.Or(refused, err)
			}
			allowed[url] = true
		}
		return url
	}})
	for url := range allowed {
		if folder := container.Container(url); !strings.HasPrefix(folder, container.Container(w.URL())) && !slices.Contains(outside, folder) {
			outside = append(outside, folder)
		}
	}
	slices.Sort(outside)
	if errors.Is(refused, fault.ErrUnsupported) {
		refused = advice.WithHint(refused, "OpenOptions.Policy has to allow all folders of the shards; for the command: AMUDAI_ALLOW=%s", strings.Join(outside, ","))
	}
	if err = cmp.Or(err, refused); err != nil {
		return 0, nil, errors.Join(err, w.Abort(context.WithoutCancel(ctx)))
	}
	if err = w.Close(ctx); err == nil {
		if err = r.requireSources(ctx, w.URL(), o.Store); err != nil && !o.Overwrite {
			err = errors.Join(err, o.Store.Remove(context.WithoutCancel(ctx), location))
		}
	}
	return w.Size(), outside, err
}

// requireSources fails if a shard that the new one refers to is gone, and its data maybe with it. Whoever moves a shard removes its root first, and then looks for others
// that refer to the data: one of both sees the other.
func (r *Root) requireSources(ctx context.Context, own string, store storage.Store) error {
	var urls []string
	for _, s := range r.Stripes {
		if s.Of == nil {
			continue
		}
		if url := shardfile.URLOf(s.Of.File().Root()); container.SameScheme(own, url) {
			urls = append(urls, url)
		}
	}
	slices.Sort(urls)
	urls = slices.Compact(urls)
	return parallel.Each(ctx, len(urls), sourcesAtOnce, func(ctx context.Context, i int) error {
		err := copying.Find(ctx, store, urls[i])
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s was moved or removed meanwhile: %w", storage.Redact(urls[i]), storage.ErrChanged)
		}
		return err
	})
}

const sourcesAtOnce = 8

// secondNames returns the URL of an artifact that a new root refers to. Roots get their second name first, where the store has links, so that the data stay when
// such a root is changed.
func (r *Root) secondNames(ctx context.Context, store storage.Store) func(storage.Reader) (string, error) {
	roots, named := map[storage.Reader]*shardfile.File{}, map[storage.Reader]string{}
	add := func(f *shardfile.File) { roots[f.Root()] = f }
	for _, s := range r.Stripes {
		if s.Of != nil {
			add(s.Of.File())
		}
		for _, x := range s.Indexes {
			if x.File != nil {
				add(x.File)
			}
		}
	}
	return func(a storage.Reader) (string, error) {
		url := shardfile.URLOf(a)
		f := roots[a]
		if f == nil || copying.IsNamed(url) {
			return url, nil
		}
		if name, ok := named[a]; ok {
			return name, nil
		}
		name, err := DataName(ctx, a, f)
		if err == nil {
			name = container.Container(url) + name
			link := (&old{File: f, store: store, url: url}).linkOnly
			if r.Own {
				link = (&old{File: f, store: store, url: url}).link
			}
			err = link(ctx, name)
		}
		if errors.Is(err, errors.ErrUnsupported) {
			name, err = url, nil
		}
		named[a] = name
		return name, err
	}
}

// create begins a shard with the schema and the properties of the root.
func (r *Root) create(ctx context.Context, location string, o shardwriter.Options) (*shardwriter.Writer, error) {
	return shardwriter.Create(ctx, location, r.Schema.Bytes(), r.options(o))
}

// options are options with the properties of the root.
func (r *Root) options(o shardwriter.Options) shardwriter.Options {
	o.Edition, o.Standard, o.Properties = r.Edition, r.Standard, r.Custom
	o.CreationTime, o.CreationMax, o.Moved = r.Created[0], r.Created[1], r.Moved
	return o
}

// write writes the stripes and the indexes of the root. Without links, it copies what is stored.
func (r *Root) write(ctx context.Context, w *shardwriter.Writer, to *shardwriter.Links) error {
	if err := r.inherit(ctx, w, to); err != nil {
		return err
	}
	for _, s := range r.Stripes {
		if s.Stream != nil {
			if err := s.Stream(ctx, func(f *stripe.Finished, o shardwriter.StripeOptions) error {
				defer f.Release()
				return w.AppendStripe(ctx, f, o)
			}); err != nil {
				return err
			}
			continue
		}
		indexes, err := writeIndexes(ctx, w, s.Indexes, to)
		if err != nil {
			return err
		}
		if err := s.write(ctx, w, to, shardwriter.StripeOptions{Indexes: indexes}); err != nil {
			return err
		}
	}
	indexes, err := writeIndexes(ctx, w, r.Indexes, to)
	for _, d := range indexes {
		w.AddIndex(d)
	}
	return err
}

// write builds the fields that are not stored, and writes the stripe.
func (s *Stripe) write(ctx context.Context, w *shardwriter.Writer, to *shardwriter.Links, o shardwriter.StripeOptions) error {
	c := shardwriter.Composed{Of: s.Of, Fields: s.Fields, Deleted: s.Deleted}
	if s.Build != nil {
		var err error
		if c.New, err = s.Build(ctx); err != nil {
			return err
		}
		defer c.New.Release()
	}
	return w.AddStripe(ctx, c, to, o)
}

// inherit has those descriptors of the whole shard referred to that another shard of the same stripes has.
func (r *Root) inherit(ctx context.Context, w *shardwriter.Writer, to *shardwriter.Links) error {
	if to == nil || !to.Descriptors || len(r.Stripes) < 2 || r.Stripes[0].Of == nil {
		return nil
	}
	f := r.Stripes[0].Of.File()
	if f.NumStripes() != len(r.Stripes) {
		return nil
	}
	from := make([]uint32, r.Schema.IDCount())
	for id := range from {
		from[id] = uint32(id)
	}
	for i, s := range r.Stripes {
		if s.Of != f.Stripe(i) {
			return nil
		}
		for id, field := range s.Fields {
			if i == 0 && field.Stripe == s.Of {
				from[id] = field.ID
			}
			if field.Stripe != s.Of || field.ID != from[id] || field.Properties != nil {
				from[id] = shardwriter.Missing
			}
		}
	}
	return w.InheritFields(ctx, f, from, *to)
}

func writeIndexes(ctx context.Context, w *shardwriter.Writer, all []Index, to *shardwriter.Links) (out []*shardpb.IndexDescriptor, err error) {
	for _, x := range all {
		var d *shardpb.IndexDescriptor
		switch {
		case x.Build != nil:
			d, err = x.build(ctx, w)
		case to == nil:
			d, err = w.CopyIndex(ctx, x.File, x.Stripe, x.Descriptor)
		default:
			d, err = x.link(ctx, w, to)
		}
		if err != nil {
			return nil, err
		}
		if d != nil {
			out = append(out, d)
		}
	}
	return out, nil
}

func (x *Index) build(ctx context.Context, w *shardwriter.Writer) (*shardpb.IndexDescriptor, error) {
	a, err := x.Build(ctx)
	if a == nil || err != nil {
		return nil, err
	}
	d, err := writeIndex(ctx, w, a)
	return d, errors.Join(err, a.Close())
}

// link is the description of a stored index with references of the new root, or of a copy. An artifact that is missing stays so.
func (x *Index) link(ctx context.Context, w *shardwriter.Writer, to *shardwriter.Links) (*shardpb.IndexDescriptor, error) {
	d := proto.Clone(x.Descriptor).(*shardpb.IndexDescriptor)
	for _, a := range d.Artifacts {
		if a.DataRef == nil {
			continue
		}
		at, err := x.File.IndexArtifact(ctx, x.Stripe, a.DataRef)
		switch {
		case err == nil && to.Copy != nil && to.Copy(shardwriter.Field{}, at.Reader) != "":
			return w.CopyIndex(ctx, x.File, x.Stripe, x.Descriptor)
		case err == nil:
			a.DataRef.Url = container.Relative(w.URL(), to.URL(at.Reader))
		case a.DataRef.Url == "" || !errors.Is(err, fs.ErrNotExist) && !fault.Is(err):
			return nil, err
		}
	}
	return d, nil
}

// writeIndex writes the artifacts of an index, and returns its complete description.
func writeIndex(ctx context.Context, w *shardwriter.Writer, a *indexing.Built) (*shardpb.IndexDescriptor, error) {
	d, size := a.Descriptor, uint64(0)
	for i, s := range a.Spools {
		ref, err := w.WriteArtifact(ctx, s.Size(), func(out io.Writer) error {
			_, err := s.WriteTo(out)
			return err
		})
		if err != nil {
			return nil, err
		}
		d.Artifacts = append(d.Artifacts, &shardpb.IndexArtifact{Name: a.Names[i], DataRef: ref})
		size += uint64(s.Size())
	}
	d.IndexSize = &size
	return d, nil
}
