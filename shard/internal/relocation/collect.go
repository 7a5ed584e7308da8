package relocation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/shard/internal/copying"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/storage"
)

// CollectOptions are the options of [Collect]. The zero value is the default.
type CollectOptions struct {
	Store storage.Store // of all folders, by default those that their locations belong to
	// Policy allows references outside of the folders of roots to be followed. It is needed only for metadata there.
	Policy container.Policy
	// Roots are further folders, whose roots may refer to artifacts of the folder.
	Roots []string
	// OlderThan is the age up to which artifacts are kept, by default 24 hours: the root of a writer follows its stripes.
	OlderThan time.Duration
	// Remove removes; the default is to find only.
	Remove bool
	// Progress is called while roots are read and artifacts removed. It may be nil.
	Progress func(done, total int64)
}

const defaultAge = 24 * time.Hour

// Collected is what [Collect] has found.
type Collected struct {
	Roots        []string       // locations of roots
	Needed       []storage.Info // that roots refer to
	Young        []storage.Info // that no root refers to, but which a writer may need yet
	Unreferenced []storage.Info
	Removed      int // of Unreferenced, from the first on
}

// Collect finds the artifacts of writers in a folder, and the folders in it, that no root there refers to, and removes them if that is asked for. What is a
// root its content tells. A root that cannot be read, and a writer that is at work, is an error, and then nothing is removed.
func Collect(ctx context.Context, folder string, o CollectOptions) (c Collected, err error) {
	store, err := storage.Of(o.Store, folder)
	if err != nil {
		return c, err
	}
	before := time.Now().Add(-cmp.Or(o.OlderThan, defaultAge))
	found, m, err := examine(ctx, folder, o, before, "")
	if err != nil {
		return c, err
	}
	c.Roots = m.roots
	for _, info := range found.named {
		needed, err := m.needs(info.Location)
		switch {
		case err != nil:
			return c, err
		case needed:
			c.Needed = append(c.Needed, info)
		case !info.Modified.Before(before), info.Modified.IsZero():
			c.Young = append(c.Young, info)
		default:
			c.Unreferenced = append(c.Unreferenced, info)
		}
	}
	c.Unreferenced = append(c.Unreferenced, found.temporary...) // of writers that were killed
	if !o.Remove || len(c.Unreferenced) == 0 {
		return c, nil
	}
	again, err := found.again(ctx, folder, o, "")
	if err == nil {
		err = again.idle(before)
	}
	if err != nil {
		return c, err
	}
	still := map[storage.Info]bool{}
	for _, info := range append(again.named, again.temporary...) {
		still[untimed(info)] = true
	}
	c.Unreferenced = slices.DeleteFunc(c.Unreferenced, func(info storage.Info) bool { return !still[untimed(info)] }) // written again meanwhile
	for _, info := range c.Unreferenced {
		if err := store.Remove(ctx, info.Location); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return c, err
		}
		c.Removed++
		if o.Progress != nil {
			o.Progress(int64(c.Removed), int64(len(c.Unreferenced)))
		}
	}
	return c, nil
}

func untimed(info storage.Info) storage.Info {
	info.Modified = time.Time{}
	return info
}

// folderPrefix is the prefix of all locations in a folder.
func folderPrefix(folder string) string {
	if folder == "" || strings.HasSuffix(folder, "/") {
		return folder
	}
	return folder + "/"
}

// surveyed is what is in folders.
type surveyed struct {
	named      []storage.Info // artifacts of writers in the first folder
	roots      []storage.Info // what may be a root
	unfinished []storage.Info
	temporary  []storage.Info // of these, what writers have begun in the first folder
}

// examine surveys the folders of a collection, in which no artifact was written since a time, and marks what all roots there but one refer to.
func examine(ctx context.Context, folder string, o CollectOptions, since time.Time, except string) (s surveyed, m *marked, err error) {
	if s, err = survey(ctx, folder, o); err == nil {
		err = s.idle(since)
	}
	if err == nil {
		m, err = s.mark(ctx, o, except)
	}
	return s, m, err
}

// survey lists the folders of a collection.
func survey(ctx context.Context, folder string, o CollectOptions) (s surveyed, err error) {
	for i, f := range append([]string{folder}, o.Roots...) {
		store, err := storage.Of(o.Store, f)
		if err != nil {
			return s, err
		}
		for info, err := range store.List(ctx, folderPrefix(f)) {
			switch {
			case err != nil:
				return s, err
			case !copying.IsNamed(info.Location):
				s.roots = append(s.roots, info)
			case i == 0:
				s.named = append(s.named, info)
			}
		}
		if u, ok := store.(storage.UnfinishedLister); ok {
			for info, err := range u.Unfinished(ctx, folderPrefix(f)) {
				if err != nil {
					return s, err
				}
				s.unfinished = append(s.unfinished, info)
				if i == 0 && copying.IsTemporary(info.Location) {
					s.temporary = append(s.temporary, info)
				}
			}
		}
	}
	for _, all := range [][]storage.Info{s.named, s.roots, s.temporary} {
		slices.SortFunc(all, func(a, b storage.Info) int { return cmp.Compare(a.Location, b.Location) })
	}
	return s, nil
}

// again is another survey of the folders. It fails if there are other roots now, but for one that was removed, by its URL.
func (s *surveyed) again(ctx context.Context, folder string, o CollectOptions, removed string) (now surveyed, err error) {
	if now, err = survey(ctx, folder, o); err != nil {
		return now, err
	}
	before := slices.DeleteFunc(slices.Clone(s.roots), func(i storage.Info) bool {
		url, err := storage.URL(i.Location)
		return err == nil && url == removed
	})
	if !slices.Equal(before, now.roots) {
		err = fmt.Errorf("%s: roots were written meanwhile: %w", folder, storage.ErrChanged)
	}
	return now, err
}

// idle fails if an artifact was written since.
func (s *surveyed) idle(since time.Time) error {
	for _, info := range s.unfinished {
		if !info.Modified.Before(since) {
			return fmt.Errorf("%s: a writer is at work, or was killed, and may need what is here", info.Location)
		}
	}
	return nil
}

// marked are roots, and all that they refer to.
type marked struct {
	roots []string
	urls  map[string]bool // by nameOf
}

func (m *marked) needs(location string) (bool, error) {
	name, err := nameOf(location)
	return m.urls[name], err
}

// mark reads all roots but one.
func (s *surveyed) mark(ctx context.Context, o CollectOptions, except string) (*marked, error) {
	m := &marked{urls: map[string]bool{}}
	var unclear []error // of artifacts that may be damaged roots
	var unclearAt []string
	for i, info := range s.roots {
		name, err := nameOf(info.Location)
		if err != nil {
			return nil, err
		}
		if name == except {
			continue
		}
		store, err := storage.Of(o.Store, info.Location)
		if err != nil {
			return nil, err
		}
		open := shardfile.OpenOptions{Store: store, Policy: o.Policy}
		is, err := isRoot(ctx, store, info.Location)
		switch {
		case errors.Is(err, errNoDirectory):
			unclear, unclearAt = append(unclear, err), append(unclearAt, info.Location)
		case err != nil:
			return nil, unreadable(info.Location, err)
		case is:
			c := closure{o: open, byURL: map[string]*reached{}}
			if err := c.open(ctx, info.Location, open, maxNested); err != nil {
				return nil, unreadable(info.Location, err)
			}
			m.roots = append(m.roots, info.Location)
			for url := range c.byURL {
				if url, err = nameOf(url); err != nil {
					return nil, unreadable(info.Location, err)
				}
				m.urls[url] = true
			}
		}
		if o.Progress != nil {
			o.Progress(int64(i+1), int64(len(s.roots)))
		}
	}
	for i, err := range unclear { // but for those that are known as parts of shards of other writers
		if known, nameErr := m.needs(unclearAt[i]); !known || nameErr != nil {
			return nil, unreadable(unclearAt[i], err)
		}
	}
	return m, nil
}

func unreadable(location string, err error) error {
	return fmt.Errorf("what %s refers to cannot be read, so that nothing is removed: %w", storage.Redact(location), err)
}

// errNoDirectory is the error of an artifact without the directory of a root.
var errNoDirectory = errors.New("it has no directory of a shard")

// isRoot reports whether an artifact is a root: it begins or ends as one, or has the name of one. The error of one without a readable directory wraps
// errNoDirectory.
func isRoot(ctx context.Context, store storage.Store, location string) (is bool, err error) {
	r, err := store.Open(ctx, location)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	tail, size, err := r.ReadSuffix(ctx, container.TailSize)
	if err != nil {
		return false, err
	}
	head, err := storage.ReadRange(ctx, r, 0, min(size, container.MarkSize))
	if err != nil {
		return false, err
	}
	_, headErr := container.CheckMark(head, "header")
	_, tailErr := container.CheckMark(tail[max(0, len(tail)-container.MarkSize):], "footer")
	marks := headErr == nil || tailErr == nil || errors.Is(headErr, fault.ErrUnsupported) || errors.Is(tailErr, fault.ErrUnsupported)
	if !marks && !strings.HasSuffix(location, ".shard") {
		return false, nil
	}
	start, end, err := container.DirectoryRange(tail, size)
	if err == nil {
		var frame []byte
		if frame, err = storage.ReadRange(ctx, r, start, end-start); err == nil {
			_, err = container.ParseFrame(frame)
		}
	}
	if fault.Is(err) {
		err = fmt.Errorf("%w: %w", errNoDirectory, err)
	}
	return err == nil, err
}
