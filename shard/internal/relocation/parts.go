package relocation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard/internal/copying"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/selection"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardtable"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/storage"
)

// The data of some columns or stripes go to another folder, and the root stays. A file with nothing else is copied as it is. The others share theirs:
//
//	before   x.shard ──▶ 1f.stripe [a b c]
//	after    x.shard ──▶ 7e.stripe [a b]     cold/90.stripe [c]
//
// Both new files are written, so that the old one can go. Metadata and indexes stay with the root: what they answer reads nothing elsewhere.

// Parts are columns and stripes of a shard whose data go to another folder.
type Parts struct {
	o        RelocateOptions
	f        *shardfile.File
	own      string // URL of the root
	folder   string // URL, with a slash at its end
	ids      map[uint32]bool
	stripes  map[int]bool
	keeps    bool // the shard keeps earlier versions
	files    map[string]*partFile
	progress progress
}

// partFile is a file with data of a shard.
type partFile struct {
	File
	artifact storage.Reader
	moves    []shardfile.Range // data of the parts
	stays    []shardfile.Range // data of others
	whole    bool              // it is copied as it is
}

// leaves reports whether the new root does not refer to the file any more.
func (x *partFile) leaves() bool { return x.Moved > 0 }

// Parts reports whether only parts of the shard are relocated.
func (o *RelocateOptions) Parts() bool {
	return o.Columns != nil || o.Stripes != nil || !o.Where.IsZero()
}

// folderURL is the URL of a folder, with a slash at its end.
func folderURL(location string) (string, error) {
	url, err := storage.URL(location)
	return strings.TrimSuffix(url, "/") + "/", err
}

// Allow is the policy that allows a folder, too.
func Allow(p container.Policy, folder string) (container.Policy, error) {
	url, err := folderURL(folder)
	return p.With(url), err
}

// NewParts plans the root of a shard whose parts are in a folder. It has copied the files with nothing else there, except in a dry run.
func NewParts(ctx context.Context, f *shardfile.File, t *shardtable.Table, r root.Root, folder string, o RelocateOptions) (_ *Parts, _ root.Root, err error) {
	p := &Parts{o: o, f: f, own: shardfile.URLOf(f.Root()), files: map[string]*partFile{}, progress: progress{call: o.Progress}}
	switch {
	case o.Layout != nil:
		return nil, r, errors.New("RelocateOptions.Layout is for whole shards, and not for columns or stripes of one")
	case !o.Where.IsZero() && o.Stripes != nil:
		return nil, r, errors.New("RelocateOptions.Stripes and Where both say which stripes are meant")
	case !o.Where.IsZero():
		where := selection.Rows{Where: o.Where}
		if o.Stripes, err = where.Stripes(ctx, t); err != nil {
			return nil, r, err
		}
	}
	if p.folder, err = folderURL(folder); err == nil {
		err = p.find(ctx, r, o.Columns, o.Stripes)
	}
	if err == nil && o.Move { // or say before anything is copied why that cannot be
		err = p.remove(ctx, true)
	}
	if err == nil && !o.DryRun {
		err = p.move(ctx, &r)
	}
	return p, r, err
}

// None reports whether the parts are there already.
func (p *Parts) None() bool { return len(p.leaving()) == 0 }

// Finish removes the files that the parts were in, if that is asked for, once the new root is there. It returns what became of all files.
func (p *Parts) Finish(ctx context.Context) (all []File, err error) {
	if p.o.Move && !p.o.DryRun {
		if err = p.remove(ctx, false); err != nil {
			err = fmt.Errorf("the parts are complete at %s, but not all of the old files could be removed: %w", storage.Redact(p.folder), err)
		}
	}
	return p.list(), err
}

// find finds the data of columns, by path, and stripes of a root; nil means all.
func (p *Parts) find(ctx context.Context, r root.Root, columns []string, stripes []int) error {
	if stripes != nil {
		p.stripes = map[int]bool{}
		for _, i := range stripes {
			if i < 0 || i >= len(r.Stripes) {
				return fmt.Errorf("RelocateOptions.Stripes: there is no stripe %d, but %d from 0 on", i, len(r.Stripes))
			}
			p.stripes[i] = true
		}
	}
	p.ids = map[uint32]bool{}
	for i := range r.Schema.NumFields() {
		n, err := r.Schema.Field(i)
		if err == nil && columns == nil && n.Internal() != schema.InternalDeleted {
			err = p.addColumn(n)
		}
		if err != nil {
			return err
		}
	}
	for _, path := range columns {
		n, err := r.Schema.Path(path)
		if err == nil {
			err = p.addColumn(n)
		}
		if err != nil {
			return err
		}
	}
	h, err := root.HistoryOf(ctx, p.f)
	if err != nil {
		return err
	}
	p.keeps = h.Keep > 0
	for _, s := range r.Stripes {
		for id := range r.Schema.IDCount() {
			if err := p.addField(ctx, s.Of, id); err != nil {
				return err
			}
		}
	}
	return p.measure(ctx)
}

func (p *Parts) addColumn(n schema.Node) error {
	p.ids[n.ID()] = true
	for i := range n.NumChildren() {
		c, err := n.Child(i)
		if err == nil {
			err = p.addColumn(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *Parts) has(stripe int, id uint32) bool {
	return (p.stripes == nil || p.stripes[stripe]) && p.ids[id]
}

// addField adds the data of a field.
func (p *Parts) addField(ctx context.Context, s *shardfile.Stripe, id uint32) error {
	d, err := s.Descriptor(ctx, id)
	if err != nil {
		return err
	}
	moves := p.has(s.Index(), id)
	for _, e := range d.GetEncodings() {
		if moves && e.GetParquet() != nil {
			return fault.InStripe(fault.Unsupportedf("field %d is in a Parquet file, which stays where it is", id), s.Index())
		}
		for _, b := range e.GetNative().GetBuffers() {
			at := shardfile.Range{Start: int64(b.GetBuffer().GetRange().GetStart()), End: int64(b.GetBuffer().GetRange().GetEnd())}
			if at.Start == at.End {
				continue
			}
			a, err := s.Artifact(ctx, id, b.Buffer)
			if err != nil {
				return err
			}
			url := shardfile.URLOf(a)
			x := p.files[url]
			if x == nil {
				x = &partFile{File: File{From: url, To: url, How: copying.Stays}, artifact: a}
				p.files[url] = x
			}
			if moves && container.Container(url) != p.folder {
				x.moves = append(x.moves, at)
			} else {
				x.stays = append(x.stays, at)
			}
		}
	}
	return nil
}

// measure says what becomes of each file.
func (p *Parts) measure(ctx context.Context) (err error) {
	for url, x := range p.files {
		if x.Size, err = x.artifact.Size(ctx); err != nil {
			return err
		}
		x.Referred = total(slices.Concat(x.moves, x.stays))
		if x.Moved = total(x.moves); x.Moved == 0 {
			continue
		}
		x.To, x.How = p.folder, copying.Rewritten
		p.progress.total += x.Referred
		// It has hardly more than the parts: padding, and few columns that were dropped.
		if x.whole = strings.HasSuffix(url, shardwriter.StripeSuffix) && copying.IsNamed(url) && len(x.stays) == 0 && x.Size-x.Moved <= x.Size/8+1<<10; !x.whole {
			continue
		}
		c, err := p.copier(url)
		if err != nil {
			return err
		}
		x.To, x.How = p.folder+url[len(container.Container(url)):], copying.Passed
		if c.Store() != nil {
			x.How = copying.Served
		}
	}
	return nil
}

func (p *Parts) copier(url string) (c copying.Copier, err error) {
	c = copying.Copier{Passed: true, Served: p.o.Verify, Progress: p.progress.add}
	if c.From, err = p.store(url); err == nil {
		c.To, err = p.store(p.folder)
	}
	return c, err
}

// store is the store of a URL that the shard may refer to.
func (p *Parts) store(url string) (storage.Store, error) {
	if !container.SameScheme(p.own, url) {
		return storage.ForLocation(url)
	}
	return storage.Of(p.o.Open.Store, url)
}

// list is all files with data of the shard, the root first.
func (p *Parts) list() []File {
	all := []File{{From: p.own, To: p.own, Size: p.f.Size(), How: copying.Rewritten}}
	for url, x := range p.files {
		if url == p.own {
			all[0] = x.File
		} else {
			all = append(all, x.File)
		}
	}
	slices.SortFunc(all[1:], func(a, b File) int { return strings.Compare(a.From, b.From) })
	return all
}

// leaving are the files that the new root does not refer to any more, by URL.
func (p *Parts) leaving() (all []*partFile) {
	for _, x := range p.files {
		if x.leaves() {
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b *partFile) int { return strings.Compare(a.From, b.From) })
	return all
}

// move makes the root refer to the parts where they will be. It copies files as they are, and has the rest copied when the root is written.
func (p *Parts) move(ctx context.Context, r *root.Root) error {
	all := p.leaving()
	r.Moved = map[string]string{}
	whole := slices.DeleteFunc(slices.Clone(all), func(x *partFile) bool { return !x.whole })
	err := parallel.Each(ctx, len(whole), p.o.parallelism(), func(ctx context.Context, i int) error {
		x := whole[i]
		c, err := p.copier(x.From)
		if err == nil {
			x.How, err = c.Copy(ctx, x.artifact, x.From, x.To, c.Like(storage.CreateOptions{Folders: true}, x.From))
		}
		return err
	})
	for _, x := range whole {
		r.Moved[x.From] = x.To
	}
	r.Copy = func(f shardwriter.Field, a storage.Reader) string {
		x := p.files[shardfile.URLOf(a)]
		switch {
		case x == nil || !x.leaves() || x.whole:
			return ""
		case f.Stripe != nil && p.has(f.Stripe.Index(), f.ID):
			return p.folder
		}
		return container.Container(x.From)
	}
	return err
}

// remove removes the files that the parts were in, unless another root in their folder, or in that of the shard, refers to them. In a dry run it only says so.
func (p *Parts) remove(ctx context.Context, dry bool) error {
	all := p.leaving()
	o := CollectOptions{Store: p.o.Open.Store, Policy: p.o.Open.Policy}
	own := container.Container(p.own)
	for _, x := range all {
		if folder := container.Container(x.From); folder != own && !slices.Contains(o.Roots, folder) {
			o.Roots = append(o.Roots, folder)
		}
	}
	except, err := "", error(nil)
	if dry {
		if except, err = nameOf(p.own); err != nil {
			return err
		}
	}
	_, needed, err := examine(ctx, own, o, time.Now().Add(-defaultAge), except)
	if err != nil {
		return err
	}
	for _, x := range all {
		needs, err := needed.needs(x.From)
		if err != nil {
			return err
		}
		x.Removed = copying.IsNamed(x.From) && !needs && (!dry || p.o.DryRun && !p.keeps)
		if dry || !x.Removed {
			continue
		}
		store, err := p.store(x.From)
		if err == nil {
			err = store.Remove(ctx, x.From)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
