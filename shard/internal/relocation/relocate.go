package relocation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard/internal/copying"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/shard/internal/stripe"
	"github.com/amudai/amudai-go/storage"
)

// RelocateOptions are the options of [Relocate]. The zero value is the default.
type RelocateOptions struct {
	Open shardfile.OpenOptions // of the shard
	To   storage.Store         // of the new shard, by default the one that its location belongs to
	// Layout is that of the new shard. By default it has the same artifacts.
	Layout *shardwriter.Layout
	// Columns, by path, Stripes and Where say which parts of the shard go to another folder.
	Columns []string
	Stripes []int
	Where   filter.Expr
	// Overwrite permits the replacement of a shard, but not of one that another writer publishes after the call began: that may be a newer state of this one.
	Overwrite bool
	// Move removes the old root and the artifacts of writers that no other root in its folder refers to.
	Move bool
	// Verify reads what stores have copied by themselves, too.
	Verify bool
	// DryRun changes nothing.
	DryRun bool
	// Parallelism is the number of artifacts that are copied at the same time, by default 4.
	Parallelism int
	// Progress is called with bytes of artifacts, by several goroutines at once. It may be nil.
	Progress func(done, total int64)
}

func (o *RelocateOptions) parallelism() int { return cmp.Or(max(o.Parallelism, 0), 4) }

// File is a file of a shard that is relocated, and what becomes of it.
type File struct {
	From, To string      // URLs; To is that of the new root for a file that is rewritten, "" for one that is left out
	Size     int64       // bytes; 0 if it is outside of the folder of the shard
	Referred int64       // bytes that the shard refers to
	Moved    int64       // of these: bytes of the columns or stripes that are moved
	How      copying.How // "" in a dry run if that depends on what is done then
	Removed  bool        // from where it was
}

// relocated is an artifact of a shard that is relocated.
type relocated struct {
	Artifact
	File
}

// Relocate publishes a shard at another location, or says what that would do. It returns all artifacts that the shard refers to, the root first.
//
// Roots refer to artifacts by their names in the folder. With the same layout all are copied as they are, then the root; another layout is a new root with
// copies of the data, by [Publish]. Whatever fails before, there is no new root, and the old one stays.
func Relocate(ctx context.Context, from, to string, o RelocateOptions) (all []File, err error) {
	if o.Open.Store, err = storage.Of(o.Open.Store, from); err != nil {
		return nil, err
	}
	if o.To, err = storage.Of(o.To, to); err != nil {
		return nil, err
	}
	m := &relocation{o: o, from: from, to: to, progress: progress{call: o.Progress}}
	if o.Overwrite { // before the shard is read, so that what is published there from now on is no older
		if m.replaces, err = m.replacement(ctx); err != nil {
			return nil, err
		}
	}
	if m.f, err = shardfile.Open(ctx, from, o.Open); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.f.Close()) }()
	err = m.plan(ctx)
	if err == nil && o.Move { // or say before anything is copied why that cannot be
		err = m.remove(ctx, true)
	}
	switch {
	case err != nil || o.DryRun:
	case o.Layout != nil:
		err = m.rewrite(ctx)
	default:
		err = m.copy(ctx)
	}
	if err == nil && o.Move && !o.DryRun {
		if err = m.remove(ctx, false); err != nil {
			err = fmt.Errorf("the shard is complete at %s, but not all of the old one could be removed: %w", storage.Redact(to), err)
		}
	}
	for i := range m.all {
		all = append(all, m.all[i].File)
	}
	return all, err
}

// relocation is a shard that is relocated.
type relocation struct {
	o        RelocateOptions
	f        *shardfile.File
	from, to string
	own      string // URL of the old root
	replaces storage.CreateOptions
	all      []relocated
	progress progress
}

// progress counts bytes.
type progress struct {
	done  atomic.Int64
	total int64
	call  func(done, total int64) // may be nil
}

func (p *progress) add(n int64) {
	if now := p.done.Add(n); p.call != nil {
		p.call(now, p.total)
	}
}

// plan says what becomes of each artifact.
func (m *relocation) plan(ctx context.Context) error {
	target, err := storage.URL(m.to)
	if err != nil {
		return err
	}
	m.own = shardfile.URLOf(m.f.Root())
	if target == m.own && copying.Same(m.o.To, m.o.Open.Store) {
		return fmt.Errorf("%s is where the shard is", m.to)
	}
	found, err := Artifacts(ctx, m.f, m.o.Open)
	if err != nil {
		return err
	}
	for i, a := range found {
		rel, inside := strings.CutPrefix(a.URL, container.Container(m.own))
		if i > 0 && !inside && a.Referred == 0 { // only the list of URLs has it
			continue
		}
		r := relocated{Artifact: a, File: File{From: a.URL, Referred: a.Referred}}
		if inside {
			if err := m.size(ctx, i, &r); err != nil {
				return err
			}
		}
		if i == 0 {
			rel = ""
		}
		if err := m.place(&r, inside, target, rel); err != nil {
			return err
		}
		if r.How != copying.Stays && r.How != copying.LeftOut {
			m.progress.total += r.Size
		}
		m.all = append(m.all, r)
	}
	return nil
}

// place says where an artifact will be, of which rel is the name in the folder.
func (m *relocation) place(r *relocated, inside bool, target, rel string) error {
	folder := container.Container(target)
	sameFolder := folder == container.Container(m.own) && copying.Same(m.o.To, m.o.Open.Store)
	isFile := r.Bytes[External] > 0
	switch {
	case rel == "" && m.o.Layout != nil:
		r.To, r.How = target, copying.Rewritten
	case rel == "":
		r.To = target
	case r.How == copying.Stays, !inside, sameFolder && (m.o.Layout == nil || isFile):
		r.To, r.How = r.URL, copying.Stays
	case m.o.Layout != nil && r.Past:
		r.How = copying.LeftOut
	case m.o.Layout != nil && !isFile:
		r.To, r.How = target, copying.Rewritten
	case m.o.Layout == nil && r.Absolute:
		return fault.Unsupportedf("the shard refers to %s by its absolute URL, which a copy would have, too: a layout has to be chosen", r.URL)
	default:
		r.To = folder + rel
	}
	if m.o.DryRun && r.How == "" {
		r.How = copying.Passed
		if c := (&copying.Copier{From: m.o.Open.Store, To: m.o.To}); c.Store() != nil {
			r.How = copying.Served
		}
	}
	return nil
}

// size finds the size of an artifact. One of an index may be missing, and stays so.
func (m *relocation) size(ctx context.Context, i int, a *relocated) error {
	if i == 0 {
		a.Size = m.f.Size()
		return nil
	}
	r, err := m.open(ctx, a)
	if err == nil {
		a.Size, err = r.Size(ctx)
		err = errors.Join(err, r.Close())
	}
	if errors.Is(err, fs.ErrNotExist) && a.Bytes[Indexes] == a.File.Referred {
		a.How, err = copying.Stays, nil
	}
	return err
}

func (m *relocation) open(ctx context.Context, a *relocated) (storage.Reader, error) {
	return shardfile.OpenReferred(ctx, m.o.Open.Store, m.own, a.URL)
}

// copy copies all artifacts, and then the root.
func (m *relocation) copy(ctx context.Context) error {
	c := m.copier()
	if err := m.copyOthers(ctx, c); err != nil {
		return err
	}
	return m.publish(func(o storage.CreateOptions) (err error) {
		m.all[0].How, err = c.Copy(ctx, m.f.Root(), m.from, m.to, c.Like(o, m.from))
		return err
	})
}

// replacement permits the replacement of what is at the new location, and of nothing that is published there later.
func (m *relocation) replacement(ctx context.Context) (storage.CreateOptions, error) {
	v := storage.Version("")
	r, err := m.o.To.Open(ctx, m.to)
	if err == nil {
		v, err = r.Version(ctx)
		err = errors.Join(err, r.Close())
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return storage.CreateOptions{}, nil
	case errors.Is(err, errors.ErrUnsupported):
		return storage.CreateOptions{Overwrite: true}, nil
	}
	return storage.CreateOptions{IfMatch: v}, err
}

// publish creates the new root.
func (m *relocation) publish(create func(storage.CreateOptions) error) error {
	err := create(m.replaces)
	if m.replaces.IfMatch != "" && errors.Is(err, errors.ErrUnsupported) { // the last of several writers wins
		err = create(storage.CreateOptions{Overwrite: true})
	}
	if m.o.Overwrite && errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%w: %w", storage.ErrChanged, err)
	}
	return err
}

func (m *relocation) copier() *copying.Copier {
	return &copying.Copier{From: m.o.Open.Store, To: m.o.To, Passed: true, Served: m.o.Verify, Progress: m.progress.add}
}

// copyOthers copies the artifacts that are copied as they are, but for the root.
func (m *relocation) copyOthers(ctx context.Context, c *copying.Copier) error {
	others := m.all[1:]
	return parallel.Each(ctx, len(others), m.o.parallelism(), func(ctx context.Context, i int) (err error) {
		a := &others[i]
		if a.How == copying.Stays || a.How == copying.Rewritten || a.How == copying.LeftOut {
			return nil
		}
		r, err := m.open(ctx, a)
		if err != nil {
			return err
		}
		below := container.Container(a.To) != container.Container(m.all[0].To) // the folder of the root must exist, folders in it need not
		a.How, err = c.Copy(ctx, r, a.URL, a.To, c.Like(storage.CreateOptions{Folders: below}, a.URL))
		return errors.Join(err, r.Close())
	})
}

// rewrite publishes a root of another layout, with copies of the data, and those of Parquet files before it.
func (m *relocation) rewrite(ctx context.Context) error {
	if err := m.copyOthers(ctx, m.copier()); err != nil {
		return err
	}
	moved := map[string]string{}
	for _, a := range m.all {
		if a.Bytes[External] > 0 {
			moved[a.URL] = a.To
		}
	}
	ranges, err := m.f.Shards(ctx)
	if err != nil {
		return err
	}
	roots := make([]root.Root, len(ranges))
	for i := range ranges {
		f := m.f
		if i < len(ranges)-1 {
			o := m.o.Open
			o.Directory = &ranges[i]
			if f, err = shardfile.Open(ctx, m.from, o); err != nil {
				return err
			}
			defer f.Close()
		}
		if roots[i], err = root.Of(ctx, f); err != nil {
			return err
		}
		roots[i].Moved = moved
	}
	if err := m.publish(func(o storage.CreateOptions) error {
		return root.Publish(ctx, m.to, shardwriter.Options{Store: m.o.To, Layout: *m.o.Layout, Overwrite: o.Overwrite, IfMatch: o.IfMatch}, roots...)
	}); err != nil {
		return err
	}
	m.progress.add(m.progress.total - m.progress.done.Load())
	return m.compare(ctx, roots)
}

// compare compares the data of the new shards with those of the old ones.
func (m *relocation) compare(ctx context.Context, roots []root.Root) (err error) {
	o := m.o.Open
	o.Store = m.o.To
	f, err := shardfile.Open(ctx, m.to, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	ranges, err := f.Shards(ctx)
	if err == nil && len(ranges) != len(roots) {
		err = fmt.Errorf("%s: %w", m.to, copying.ErrDiffers)
	}
	for i := 0; i < len(roots) && err == nil; i++ {
		o.Directory = &ranges[i]
		err = compareShards(ctx, m.to, o, roots[i])
	}
	return err
}

func compareShards(ctx context.Context, location string, o shardfile.OpenOptions, r root.Root) (err error) {
	f, err := shardfile.Open(ctx, location, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if f.NumStripes() != len(r.Stripes) {
		return fmt.Errorf("%s: %w", location, copying.ErrDiffers)
	}
	for i, s := range r.Stripes {
		for id := range r.Schema.IDCount() {
			a, err := bufferSums(ctx, s.Of, id)
			if err != nil {
				return err
			}
			b, err := bufferSums(ctx, f.Stripe(i), id)
			if err == nil && !slices.Equal(a, b) {
				err = fmt.Errorf("%s, stripe %d: %w", location, i, copying.ErrDiffers)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// bufferSums are the checksums of the buffers of a field.
func bufferSums(ctx context.Context, s *shardfile.Stripe, id uint32) (sums []uint64, err error) {
	d, err := s.Descriptor(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, b := range stripe.Buffers(d) {
		ref := b.GetBuffer()
		if ref.GetRange().GetStart() == ref.GetRange().GetEnd() {
			continue
		}
		r, err := s.Artifact(ctx, id, ref)
		if err != nil {
			return nil, err
		}
		hash := xxh3.New()
		if err := shardwriter.CopyRange(ctx, hash, r, shardfile.Range{Start: int64(ref.Range.Start), End: int64(ref.Range.End)}); err != nil {
			return nil, err
		}
		sums = append(sums, hash.Sum64())
	}
	return sums, nil
}

// remove removes the old root, if it still is the one that was copied, and then what no root of its folder needs. Artifacts that others have made stay.
// In a dry run it only says so.
func (m *relocation) remove(ctx context.Context, dry bool) error {
	o := CollectOptions{Store: m.o.Open.Store, Policy: m.o.Open.Policy}
	except, err := nameOf(m.own)
	if err != nil {
		return err
	}
	found, needed, err := examine(ctx, container.Container(m.own), o, time.Now().Add(-defaultAge), except)
	if err != nil {
		return err
	}
	if needs, err := needed.needs(m.own); err != nil || needs {
		return errors.Join(err, fmt.Errorf("other shards in the folder refer to %s", storage.Redact(m.from)))
	}
	v, err := m.unchanged(ctx)
	if err != nil {
		return err
	}
	for i := range m.all {
		a := &m.all[i]
		a.Removed = false
		if i > 0 {
			if needs, err := needed.needs(a.URL); err != nil || needs || !copying.IsNamed(a.URL) || container.Container(a.URL) != container.Container(m.own) || m.keepsName(a) {
				continue
			}
		}
		if !dry {
			if err := storage.RemoveVersion(ctx, m.o.Open.Store, a.URL, v); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			v = "" // of the root
			if i == 0 {
				// Whoever refers to the data from now on finds the root gone: a writer looks for it after its own root is there.
				if _, err := found.again(ctx, container.Container(m.own), o, m.own); err != nil {
					a.Removed = true
					return err
				}
			}
		}
		a.Removed = !dry || m.o.DryRun
	}
	return nil
}

// keepsName reports whether the new root refers to an artifact where it is, which a dry run cannot see in the folder.
func (m *relocation) keepsName(a *relocated) bool {
	return a.To == a.URL && copying.Same(m.o.To, m.o.Open.Store)
}

// unchanged fails if another root has replaced the one that was copied. It returns the version of that, "" if the store has none.
func (m *relocation) unchanged(ctx context.Context) (v storage.Version, err error) {
	r, err := m.o.Open.Store.Open(ctx, m.from)
	if err != nil {
		return "", err
	}
	defer r.Close()
	now, err := root.DataName(ctx, r, m.f)
	if err != nil {
		return "", err
	}
	then, err := root.DataName(ctx, m.f.Root(), m.f)
	if err == nil && now != then {
		err = fmt.Errorf("%s: %w", m.from, storage.ErrChanged)
	}
	if err == nil {
		v, err = r.Version(ctx)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		v, err = "", nil
	}
	return v, err
}
