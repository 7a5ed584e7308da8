// Package verify checks a ROOT file and the RNTuples in it: checksums, counts, references, overlaps, and
// whether all values can be decoded.
package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/parallel"
	"github.com/amudai/amudai-go/internal/verification"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/rntuple/internal/fields"
	"github.com/amudai/amudai-go/rntuple/internal/read"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/rntuple/internal/tree"
	"github.com/amudai/amudai-go/table/provider"
)

// options read strings as bytes: nothing says that they are UTF-8.
var options = read.Options{Fields: fields.Options{Binary: true}}

// checker is one verification.
type checker struct {
	*verification.Findings
	file  *rootfile.File
	path  string // of the only ntuple to check, or of an attribute set of it; or empty
	spans spans
}

// File checks a file, or of its ntuples only the one at path. Damage makes problems in the report. The
// error is one of reading.
func File(ctx context.Context, f *rootfile.File, path string, o provider.VerifyOptions) (*provider.Report, error) {
	found, err := verification.Begin(o, "object", "RNTuple", "envelope", "cluster", "field", "page", "field entry", "tree", "basket")
	if err != nil {
		return nil, err
	}
	c := &checker{Findings: found, file: f, path: path}
	return c.Report(c.all(ctx))
}

func (c *checker) all(ctx context.Context) error {
	if err := c.container(ctx); err != nil {
		return err
	}
	targets, trees := c.file.NTuples(), c.file.Trees()
	if one, ok := c.file.FindTree(c.path); ok {
		targets, trees = nil, []rootfile.Object{one}
	} else if c.path != "" {
		trees = nil
		one, _, err := read.Find(c.file, c.path)
		if err != nil {
			return err
		}
		targets = []rootfile.Object{one}
	}
	for _, object := range targets {
		if err := c.ntuple(ctx, object); err != nil {
			return err
		}
	}
	for _, object := range trees {
		if err := c.tree(ctx, object); err != nil {
			return err
		}
	}
	return c.overlaps()
}

// tree checks that all values of a tree can be read. Its bytes have no checksums.
func (c *checker) tree(ctx context.Context, object rootfile.Object) error {
	t, err := tree.Open(ctx, c.file, object, tree.Options{Binary: true})
	if err != nil {
		return c.failed(err)
	}
	for _, b := range t.Skipped() {
		c.Unchecked(fault.Of(fault.Unsupportedf("branch %q of tree %q: %s", b.Name, object.Path(), b.Reason), c.file.Name()))
	}
	c.Count("tree", 1)
	return t.Check(ctx, func(err error) error {
		c.Count("basket", 1)
		if err == nil {
			return nil
		}
		return c.found(err)
	})
}

// found sorts an error by kind: damage is a problem, what is not supported a note. Other errors, those of
// reading, are returned, and so is verification.ErrEnough.
func (c *checker) found(err error) error {
	switch {
	case errors.Is(err, read.ErrTooLarge), fault.Is(err) && (errors.Is(err, fault.ErrUnsupported) || errors.Is(err, fault.ErrLimit)):
		c.Unchecked(err)
		return nil
	}
	return c.failed(err)
}

// failed is found for what cannot be read at all, such as an ntuple or a page: that is a problem, even if
// a newer version may read it.
func (c *checker) failed(err error) error {
	if !fault.Is(err) {
		return err
	}
	return c.Problem(err)
}

func (c *checker) note(format string, args ...any) {
	c.Note(fault.Of(fmt.Errorf(format, args...), c.file.Name()))
}

// container checks the records that lead to objects, and the objects of other classes.
func (c *checker) container(ctx context.Context) error {
	f, h := c.file, c.file.Header()
	c.spans.add(0, h.Size(), "file header")
	if rest := f.Size() - h.End; rest > 0 {
		c.note("%d bytes behind the end that the file header names", rest)
	}
	k, _, err := f.StreamerInfo(ctx)
	if err := c.found(err); err != nil {
		return err
	}
	if k.Size > 0 {
		c.spans.add(k.Offset, k.Size, "streamer info")
	}
	segments, err := f.Free(ctx)
	if err := c.found(err); err != nil {
		return err
	}
	for i, s := range segments {
		if s.Begin < h.End && i < len(segments) {
			c.spans.add(s.Begin, min(s.End, h.End)-s.Begin, "free space")
		}
	}
	if h.SeekFree > 0 {
		c.spans.add(h.SeekFree, h.FreeSize, "free list")
	}
	for i := range f.Directories() {
		d := &f.Directories()[i]
		if d.SeekKeys > 0 {
			c.spans.add(d.SeekKeys, d.KeysSize, fmt.Sprintf("key list of directory %q", d.Path))
		}
		if d.Rest > 0 {
			err := fault.In(fault.Corruptf("%d bytes behind the last of %d keys", d.Rest, len(d.Keys)), fmt.Sprintf("key list of directory %q", d.Path), d.SeekKeys)
			if err := c.found(fault.Of(err, f.Name())); err != nil {
				return err
			}
		}
	}
	for _, o := range f.Objects() {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.Count("object", 1)
		c.spans.add(o.Key.Offset, o.Key.Size, fmt.Sprintf("object %q", o.Path()))
		if err := c.found(f.CheckKey(ctx, o.Key)); err != nil {
			return err
		}
	}
	c.note("the file header, the keys, the directories and the streamer info have no checksums: they are compared with each other")
	return nil
}

// ntuple checks one ntuple, and the attribute sets that it links.
func (c *checker) ntuple(ctx context.Context, object rootfile.Object) error {
	t, err := read.OpenObject(ctx, c.file, object, options)
	if err != nil {
		return c.failed(err)
	}
	return c.table(ctx, t, true)
}

func (c *checker) table(ctx context.Context, t *read.Table, linked bool) error {
	c.Count("RNTuple", 1)
	c.addEnvelopes(t)
	if err := t.Load(ctx); err != nil {
		return c.failed(err)
	}
	c.Count("cluster", int64(t.NumStripes()))
	c.Count("field", int64(len(t.Fields())))
	for _, s := range t.Skipped() {
		if err := c.found(fault.Of(fault.In(fault.Unsupportedf("%s", s.Reason), fmt.Sprintf("ntuple %q/field %q", t.Path(), s.Name), -1), c.file.Name())); err != nil {
			return err
		}
	}
	c.addPages(t)
	if !c.Options.MetadataOnly {
		if err := c.values(ctx, t); err != nil {
			return err
		}
	}
	if !linked {
		return nil
	}
	for _, a := range t.Footer().Attributes {
		set, err := t.OpenAttributes(ctx, a.Name, options)
		if err != nil {
			if err = c.failed(err); err != nil {
				return err
			}
			continue
		}
		c.spans.add(int64(a.Anchor.Offset), int64(a.Anchor.Size), fmt.Sprintf("anchor of attribute set %q", a.Name))
		if err := c.table(ctx, set, false); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) addEnvelopes(t *read.Table) {
	a := t.Anchor()
	add := func(l envelope.Link, name string) {
		c.Count("envelope", 1)
		if maxKey := a.MaxKeySize; maxKey == 0 || l.Size <= maxKey { // others are in several keys
			c.spans.add(int64(l.Offset), int64(l.Size), fmt.Sprintf("%s of ntuple %q", name, t.Path()))
		}
	}
	add(a.Header, "header")
	add(a.Footer, "footer")
	for i, g := range t.Footer().Groups {
		add(g.PageList, fmt.Sprintf("page list %d", i))
	}
}

// addPages adds the bytes of pages, those of several places once.
func (c *checker) addPages(t *read.Table) {
	seen := map[read.PageRange]bool{}
	bare := 0
	for i := range t.Clusters() {
		cluster := &t.Clusters()[i]
		for id := range cluster.Columns {
			for _, p := range cluster.Pages(uint32(id)) {
				key := read.PageRange{Page: p}
				key.Elements = 0 // the same bytes may be pages of columns of different widths
				if seen[key] {
					continue
				}
				seen[key] = true
				if !p.Checksum {
					bare++
				}
				if maxKey := t.Anchor().MaxKeySize; p.Check(c.file.Size(), maxKey) == nil && (maxKey == 0 || key.Stored() <= maxKey) {
					c.spans.add(int64(p.Offset), int64(key.Stored()), fmt.Sprintf("page of column %d in cluster %d of ntuple %q", id, i, t.Path()))
				}
			}
		}
	}
	if bare > 0 {
		c.note("%d of %d pages of ntuple %q have no checksum: damage of their values may go unnoticed", bare, len(seen), t.Path())
	}
}

// values reads every page, then decodes every field, cluster by cluster.
func (c *checker) values(ctx context.Context, t *read.Table) error {
	type task struct{ cluster, column, field int }
	var tasks []task
	for i := range t.Clusters() {
		for id := range t.Clusters()[i].Columns {
			tasks = append(tasks, task{i, id, -1})
		}
		for field := range t.Fields() {
			tasks = append(tasks, task{i, -1, field})
		}
	}
	var pages pageSet
	return parallel.Each(ctx, len(tasks), c.Options.Parallelism, func(ctx context.Context, i int) (err error) {
		if k := tasks[i]; k.column >= 0 {
			err = c.column(ctx, t, k.cluster, uint32(k.column), &pages)
		} else {
			err = c.field(ctx, t, k.cluster, k.field)
		}
		c.Done(len(tasks))
		return err
	})
}

func (c *checker) column(ctx context.Context, t *read.Table, cluster int, id uint32, pages *pageSet) error {
	n, err := t.CheckPages(ctx, cluster, id, pages.add, c.failed)
	c.Count("page", n)
	return err
}

func (c *checker) field(ctx context.Context, t *read.Table, cluster, field int) error {
	n, err := t.CheckField(ctx, cluster, field)
	c.Count("field entry", n)
	if errors.Is(err, fault.ErrChecksum) {
		return nil // the page is a problem already
	}
	if errors.Is(err, fault.ErrUnsupported) {
		return c.failed(err)
	}
	return c.found(err)
}

// pageSet is the pages that were checked.
type pageSet struct {
	lock sync.Mutex
	seen map[read.PageRange]bool
}

// add tells whether a page is new.
func (s *pageSet) add(p read.PageRange) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.seen[p] {
		return false
	}
	if s.seen == nil {
		s.seen = map[read.PageRange]bool{}
	}
	s.seen[p] = true
	return true
}

// span is a range of bytes of the file with one use.
type span struct {
	begin, end int64
	name       string
}

// spans are the parts of the file that something refers to.
type spans []span

func (s *spans) add(offset, size int64, name string) {
	if size > 0 {
		*s = append(*s, span{offset, offset + size, name})
	}
}

// overlaps finds bytes that have two uses. Pages and records of the same range are one use: pages of
// equal content share their bytes.
func (c *checker) overlaps() error {
	all := c.spans
	slices.SortStableFunc(all, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	var last span
	for _, s := range all {
		if s.begin < last.end && (s.begin != last.begin || s.end != last.end) {
			err := fault.In(fault.Corruptf("%d bytes are those of the %s, too, which ends at %d", min(last.end, s.end)-s.begin, last.name, last.end), s.name, s.begin)
			if err := c.found(fault.Of(err, c.file.Name())); err != nil {
				return err
			}
		}
		if s.end > last.end {
			last = s
		}
	}
	return nil
}
