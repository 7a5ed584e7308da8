package root

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard/internal/copying"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/storage"
)

// The data of a shard of the two-level layout are in files beside the root, which stay. The root of a single-file shard has the data itself. It gets a
// second name first (a hard link, [storage.Linker]), to which the new root refers:
//
//	before   logs.shard ──▶ [data, metadata]
//	after    logs.shard ──▶ [metadata]   3f0c….amudai.data ──▶ [data, metadata]
//
// The new root replaces the old one in one step, and only if that is still the version which was read. Whatever fails
// before leaves the shard as it was.

// DataSuffix ends the second name of a root whose data a later root refers to.
const DataSuffix = ".amudai.data"

// Replace opens the shard at location, and replaces its root by the one that a plan makes of it. Data are referred to where they are. If another writer
// replaced the root meanwhile, the error wraps [storage.ErrChanged].
func Replace(ctx context.Context, location string, o shardfile.OpenOptions, plan func(*shardfile.File, Root) (Root, error)) (err error) {
	if o.Store, err = storage.Of(o.Store, location); err != nil {
		return err
	}
	f, err := shardfile.Open(ctx, location, o)
	if err != nil {
		return err
	}
	defer f.Close()
	all, err := f.Shards(ctx)
	if err != nil {
		return err
	}
	if len(all) > 1 || o.Directory != nil {
		return fmt.Errorf("%s holds several shards, which can be changed only after each is copied to a file of its own", location)
	}
	r, err := Of(ctx, f)
	if err != nil {
		return err
	}
	if r, err = plan(f, r); err != nil {
		return err
	}
	name, err := DataName(ctx, f.Root(), f)
	if err != nil {
		return err
	}
	h, err := r.keep(ctx, f, name)
	if err != nil {
		return err
	}
	w, err := r.overwrite(ctx, f, o.Store)
	if err != nil {
		return err
	}
	if err := r.writeBeside(ctx, w, &old{File: f, store: o.Store, url: w.URL()}, name, len(h.Before) > 0); err != nil {
		return errors.Join(err, w.Abort(context.WithoutCancel(ctx)))
	}
	return w.Close(ctx)
}

// ErrNoChange ends a plan that has nothing to publish.
var ErrNoChange = errors.New("nothing changes")

// Change is [Replace] with several attempts: if another writer was faster, the plan is made anew of the root that this one left. A plan that then fails is one that the
// changes of both exclude, and the error wraps [storage.ErrChanged], too. Nothing is done for a plan that ends with [ErrNoChange].
func Change(ctx context.Context, location string, o shardfile.OpenOptions, attempts int, plan func(*shardfile.File, Root) (Root, error)) error {
	for attempt := 1; ; attempt++ {
		conflict := false
		err := Replace(ctx, location, o, func(f *shardfile.File, r Root) (Root, error) {
			r, err := plan(f, r)
			if err != nil && attempt > 1 && ctx.Err() == nil && !errors.Is(err, ErrNoChange) && !errors.Is(err, storage.ErrChanged) {
				conflict = true
				err = fmt.Errorf("%s: %w: after the change of another writer: %w", location, storage.ErrChanged, err)
			}
			return r, err
		})
		switch {
		case errors.Is(err, ErrNoChange):
			return nil
		case conflict || attempt >= attempts || !errors.Is(err, storage.ErrChanged):
			return err
		}
	}
}

// overwrite begins the new root, under a hidden name so far.
func (r *Root) overwrite(ctx context.Context, f *shardfile.File, store storage.Store) (w *shardwriter.Writer, err error) {
	o := shardwriter.Options{Store: store, Layout: shardwriter.TwoLevel}
	if o.IfMatch, err = f.Root().Version(ctx); err == nil {
		w, err = r.create(ctx, f.Location(), o)
	}
	if errors.Is(err, errors.ErrUnsupported) { // the last of several writers wins
		o.IfMatch, o.Overwrite = "", true
		w, err = r.create(ctx, f.Location(), o)
	}
	return w, err
}

// writeBeside writes the new root, and gives the old one its second name if that is used, or the new one refers to it.
func (r *Root) writeBeside(ctx context.Context, w *shardwriter.Writer, f *old, name string, uses bool) error {
	data := container.Container(f.url) + name
	links := shardwriter.Links{Descriptors: r.Copy == nil, Copy: r.Copy, URL: func(a storage.Reader) string {
		url := shardfile.URLOf(a)
		if url == f.url {
			uses = true
			return data
		}
		return cmp.Or(r.Moved[url], url)
	}}
	if err := r.write(ctx, w, &links); err != nil || !uses {
		return err
	}
	return f.link(ctx, data)
}

// old is a shard whose root is to be replaced.
type old struct {
	*shardfile.File
	store storage.Store
	url   string
}

// DataName is the second name of a root with the size and the directory of a shard: two roots have the same one only if their directories are equal, and
// the messages that tell them apart ([shardfile.File.Identity]).
func DataName(ctx context.Context, root storage.Reader, f *shardfile.File) (string, error) {
	size, err := root.Size(ctx)
	if err != nil {
		return "", err
	}
	ranges, err := f.Identity(ctx)
	if err != nil {
		return "", err
	}
	hash := xxh3.NewSeed(uint64(size))
	for _, r := range ranges {
		if r.End > size {
			return "", fmt.Errorf("%s: %w", root.Name(), storage.ErrChanged)
		}
		b, err := storage.ReadRange(ctx, root, r.Start, r.End-r.Start)
		if err != nil {
			return "", err
		}
		_, _ = hash.Write(b) // it does not fail
	}
	return fmt.Sprintf("%016x%s", hash.Sum64(), DataSuffix), nil
}

// link gives the old root its second name, the URL data.
func (f *old) link(ctx context.Context, data string) error {
	err := f.linkOnly(ctx, data)
	if errors.Is(err, errors.ErrUnsupported) {
		err = f.checkLink(ctx, data, f.copy(ctx, data))
	}
	return err
}

// linkOnly is link where the store has links, so that nothing is copied. Otherwise the error wraps errors.ErrUnsupported.
func (f *old) linkOnly(ctx context.Context, data string) error {
	l, ok := f.store.(storage.Linker)
	if !ok {
		return errors.ErrUnsupported
	}
	err := l.Link(ctx, f.Location(), data)
	if errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return f.checkLink(ctx, data, err)
}

// checkLink checks that data is the old root, after an attempt to make it so.
func (f *old) checkLink(ctx context.Context, data string, err error) error {
	made := err == nil
	if !made && !errors.Is(err, fs.ErrExist) {
		return err
	}
	linked, err := storage.OpenIn(ctx, f.store, container.Container(f.url), data)
	if err != nil {
		return err
	}
	defer linked.Close()
	name, err := DataName(ctx, linked, f.File)
	if err == nil && container.Container(f.url)+name != data || fault.Is(err) {
		err = fmt.Errorf("%s: %w", f.Location(), storage.ErrChanged)
		if made { // of the root of another writer, which has replaced the old one
			err = errors.Join(err, f.store.Remove(ctx, data))
		}
	}
	return err
}

// copy copies the old root, where a store has no links.
func (f *old) copy(ctx context.Context, data string) error {
	c := copying.Copier{From: f.store, To: f.store}
	_, err := c.Publish(ctx, f.Root(), f.Location(), data, storage.CreateOptions{Like: f.url})
	return err
}
