// Package relocation knows all that the roots of a folder refer to: it copies and moves shards with it, and removes what nothing refers to.
package relocation

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/url"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard/internal/index"
	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// Artifact is an artifact that a shard refers to.
type Artifact struct {
	URL string // absolute
	// Bytes are those that are referred to, by use, and Referred is the number of all. Those of several uses count once in it.
	Bytes    [numUses]int64
	Referred int64
	Absolute bool   // a reference has the absolute URL, which stays when the shard is moved
	Past     bool   // only earlier versions refer to it
	index    string // type of an index that is in it
}

// maxNested is the number of shards within shards, as those of indexes are.
const maxNested = 4

// Artifacts are the artifacts that a shard refers to, the root first, the others by URL; and those that shards of its indexes refer to. All metadata is
// read for it, and what cannot be read is an error.
func Artifacts(ctx context.Context, f *shardfile.File, o shardfile.OpenOptions) ([]Artifact, error) {
	c := closure{o: o, byURL: map[string]*reached{}}
	if err := c.add(ctx, f, maxNested); err != nil {
		return nil, err
	}
	return c.artifacts(shardfile.URLOf(f.Root())), nil
}

// closure is all that some shards refer to.
type closure struct {
	o     shardfile.OpenOptions
	byURL map[string]*reached
	past  bool // earlier versions are added
}

type reached struct {
	Artifact
	ranges [numUses][]shardfile.Range
	opened bool // its shard was added
}

// add adds what a shard refers to, and each of several in its artifact.
func (c *closure) add(ctx context.Context, f *shardfile.File, depth int) error {
	all, err := f.Shards(ctx)
	if err != nil {
		return err
	}
	for _, d := range all[:len(all)-1] {
		o := c.o
		o.Directory = &d
		if err := c.open(ctx, f.Location(), o, depth); err != nil {
			return err
		}
	}
	if err := c.addOne(ctx, f, depth); err != nil || depth < maxNested {
		return err
	}
	return c.addVersions(ctx, f)
}

// addVersions adds the earlier versions of a shard that are kept, and what they refer to. Those that an earlier version kept itself may be gone.
func (c *closure) addVersions(ctx context.Context, f *shardfile.File) error {
	h, err := root.HistoryOf(ctx, f)
	if err != nil {
		return err
	}
	own := shardfile.URLOf(f.Root())
	c.past = true
	for _, v := range h.Before {
		url, err := container.Resolve(own, own, v.URL, container.Policy{})
		if err != nil {
			return fault.Of(err, f.Location())
		}
		if err := c.open(ctx, url, c.o, maxNested-1); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// open adds what the shard at location refers to.
func (c *closure) open(ctx context.Context, location string, o shardfile.OpenOptions, depth int) error {
	f, err := shardfile.Open(ctx, location, o)
	if err != nil {
		return err
	}
	if o.Directory != nil {
		err = c.addOne(ctx, f, depth)
	} else {
		err = c.add(ctx, f, depth)
	}
	return errors.Join(err, f.Close())
}

func (c *closure) addOne(ctx context.Context, f *shardfile.File, depth int) error {
	root := shardfile.URLOf(f.Root())
	end := f.Size()
	c.refer(reference{Use: Metadata, URL: root, Range: shardfile.Range{End: container.MarkSize}})
	c.refer(reference{Use: Metadata, URL: root, Range: shardfile.Range{Start: end - container.TailSize, End: end}})
	var nested []*reached
	err := references(ctx, f, func(r reference) error {
		a := c.refer(r)
		if r.Use == Indexes && r.URL != root && !a.opened {
			a.opened, a.index = true, r.Index
			nested = append(nested, a)
		}
		return ctx.Err()
	})
	for i := 0; i < len(nested) && err == nil; i++ {
		err = c.nested(ctx, f, nested[i], depth)
	}
	return err
}

func (c *closure) refer(r reference) *reached {
	a := c.byURL[r.URL]
	if a == nil {
		a = &reached{Artifact: Artifact{URL: r.URL, Past: c.past}}
		c.byURL[r.URL] = a
	}
	a.Absolute = a.Absolute || strings.Contains(r.Stored, "://")
	if r.Range.Start < r.Range.End {
		a.ranges[r.Use] = append(a.ranges[r.Use], r.Range)
		if len(a.ranges[r.Use]) >= 1<<12 && len(a.ranges[r.Use])&(len(a.ranges[r.Use])-1) == 0 { // shards may have millions
			a.ranges[r.Use] = joined(a.ranges[r.Use])
		}
	}
	return a
}

// nested adds what the shard in an artifact of an index refers to. Indexes of the reference are shards; those of unknown types may be. An artifact that is
// missing refers to nothing, and a shard is read without its indexes.
func (c *closure) nested(ctx context.Context, f *shardfile.File, a *reached, depth int) error {
	isShard := a.index == index.Inverted || a.index == index.Hashmap
	if index.ByType(a.index) != nil && !isShard {
		return nil
	}
	if depth == 0 {
		return fault.Of(fault.Limitf("more than %d shards within each other", maxNested), a.URL)
	}
	if !strings.HasPrefix(a.URL, container.Container(shardfile.URLOf(f.Root()))) {
		return fault.Of(fault.Unsupportedf("an index outside of the folder of the shard, which may refer to more"), a.URL)
	}
	err := c.open(ctx, a.URL, c.o, depth-1)
	if errors.Is(err, fs.ErrNotExist) || !isShard && fault.Is(err) && !errors.Is(err, fault.ErrLimit) {
		return nil
	}
	return err
}

// artifacts are those of the closure, one URL first.
func (c *closure) artifacts(first string) (all []Artifact) {
	for _, a := range c.byURL {
		for use := range a.ranges {
			a.Bytes[use] = total(a.ranges[use])
		}
		a.Referred = total(slices.Concat(a.ranges[:]...))
		all = append(all, a.Artifact)
	}
	slices.SortFunc(all, func(a, b Artifact) int {
		switch first {
		case a.URL:
			return -1
		case b.URL:
			return 1
		}
		return cmp.Compare(a.URL, b.URL)
	})
	return all
}

// total is the number of bytes in ranges.
func total(all []shardfile.Range) (n int64) {
	for _, r := range joined(all) {
		n += r.End - r.Start
	}
	return n
}

// joined are ranges in order, those that touch as one.
func joined(all []shardfile.Range) []shardfile.Range {
	slices.SortFunc(all, func(a, b shardfile.Range) int { return cmp.Compare(a.Start, b.Start) })
	n := 0
	for _, r := range all {
		if n > 0 && r.Start <= all[n-1].End {
			all[n-1].End = max(all[n-1].End, r.End)
		} else {
			all[n], n = r, n+1
		}
	}
	return all[:n]
}

// nameOf is a location or URL in a form that is the same for all spellings.
func nameOf(location string) (string, error) {
	u, err := storage.URL(location)
	if err != nil {
		return "", err
	}
	if name, err := url.PathUnescape(u); err == nil {
		return name, nil
	}
	return u, nil
}
