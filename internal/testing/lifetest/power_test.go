package lifetest_test

import (
	"bytes"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/sys"
	"github.com/amudai/amudai-go/storage"
)

// powerFS is a file system that knows what a loss of power leaves of a folder: what was synced, and any part of what was not. Of the bytes of a file that were
// written since its last sync, a disk may have all, none, the first, or zeros in their place; of the names in a folder that were changed since its last sync, it has the
// first changes. So a name may arrive before the bytes of its file.
type powerFS struct {
	sys.FS
	dir    string
	before func()

	mu     sync.Mutex
	now    map[string]*node // by path in dir
	synced map[string]*node // what the disk has of each folder
	since  []naming         // changes of names since, in turn
}

// node is a file, or a folder.
type node struct {
	folder bool
	synced []byte
	since  []written
}

type written struct {
	off   int64
	bytes []byte
}

// naming gives names in a folder to nodes, nil to names that go.
type naming struct {
	folder string
	names  map[string]*node
}

// newPower is the file system of the machine as seen from a folder, whose files are on the disk. before is called before each step that changes files there.
func newPower(t testing.TB, dir string, before func()) *powerFS {
	p := &powerFS{FS: sys.OS{}, dir: dir, before: before, now: map[string]*node{}}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		n := &node{folder: d.IsDir()}
		if !n.folder {
			n.synced, err = os.ReadFile(path)
		}
		p.now[p.path(path)] = n
		return err
	}))
	p.synced = maps.Clone(p.now)
	return p
}

// local is a store of the local files of the file system.
func (p *powerFS) local() storage.Store { return storage.NewLocal(p) }

// cut writes what a loss of power may leave of the folder now to another one, of which there are as many cases as seeds.
func (p *powerFS) cut(t testing.TB, to string, seed uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	random := rand.New(rand.NewPCG(seed, 1))
	names, first := maps.Clone(p.synced), map[string]int{}
	for _, c := range p.since {
		first[c.folder]++
	}
	for _, folder := range slices.Sorted(maps.Keys(first)) {
		switch random.IntN(3) { // else all
		case 0:
			first[folder] = 0
		case 1:
			first[folder] = random.IntN(first[folder] + 1)
		}
	}
	for _, c := range p.since {
		if first[c.folder]--; first[c.folder] >= 0 {
			c.apply(names)
		}
	}
	require.NoError(t, os.MkdirAll(to, 0o700))
	for _, path := range slices.Sorted(maps.Keys(names)) { // folders before what is in them
		n, location := names[path], filepath.Join(to, path)
		if parent := names[filepath.Dir(path)]; filepath.Dir(path) != "." && parent == nil {
			continue // a file in a folder that is lost
		}
		if n.folder {
			require.NoError(t, os.Mkdir(location, 0o700))
			continue
		}
		require.NoError(t, os.WriteFile(location, n.left(random), 0o600))
	}
}

// left is what a loss of power leaves of a file.
func (n *node) left(random *rand.Rand) []byte {
	out, kept, zeros := bytes.Clone(n.synced), len(n.since), false
	switch random.IntN(4) { // else all
	case 0:
		kept = 0
	case 1:
		kept = random.IntN(len(n.since) + 1)
	case 2:
		zeros = true
	}
	for i, w := range n.since {
		switch {
		case zeros:
			w.bytes = make([]byte, len(w.bytes))
		case i == kept: // the first that did not arrive as a whole
			w.bytes = w.bytes[:random.IntN(len(w.bytes)+1)]
		case i > kept:
			continue
		}
		out = w.apply(out)
	}
	return out
}

func (w written) apply(to []byte) []byte {
	if end := int(w.off) + len(w.bytes); end > len(to) {
		to = append(to, make([]byte, end-len(to))...)
	}
	copy(to[w.off:], w.bytes)
	return to
}

func (c naming) apply(names map[string]*node) {
	for name, n := range c.names {
		if names[name] = n; n == nil {
			delete(names, name)
		}
	}
}

// path is the path of a file in the folder, "" for one outside.
func (p *powerFS) path(name string) string {
	path, err := filepath.Rel(p.dir, name)
	if err != nil || path == ".." || strings.HasPrefix(path, ".."+string(filepath.Separator)) {
		return ""
	}
	return path
}

// name does a step that gives names to nodes, which names returns.
func (p *powerFS) name(path string, step func() error, names func() map[string]*node) error {
	if path == "" {
		return step()
	}
	p.before()
	p.mu.Lock()
	defer p.mu.Unlock()
	c := naming{filepath.Dir(path), names()}
	if err := step(); err != nil {
		return err
	}
	c.apply(p.now)
	p.since = append(p.since, c)
	return nil
}

// Create implements [sys.FS].
func (p *powerFS) Create(name string, like fs.FileInfo) (f sys.File, err error) {
	path, n := p.path(name), &node{}
	err = p.name(path, func() error {
		f, err = p.FS.Create(name, like)
		return err
	}, func() map[string]*node { return map[string]*node{path: n} })
	if err != nil || path == "" {
		return f, err
	}
	return &powerFile{File: f, p: p, n: n}, nil
}

// Rename implements [sys.FS].
func (p *powerFS) Rename(from, to string, replace bool) error {
	return p.name(p.path(to), func() error { return p.FS.Rename(from, to, replace) }, func() map[string]*node {
		return map[string]*node{p.path(from): nil, p.path(to): p.now[p.path(from)]}
	})
}

// Link implements [sys.FS].
func (p *powerFS) Link(from, to string) error {
	return p.name(p.path(to), func() error { return p.FS.Link(from, to) }, func() map[string]*node { return map[string]*node{p.path(to): p.now[p.path(from)]} })
}

// Remove implements [sys.FS].
func (p *powerFS) Remove(name string) error {
	return p.name(p.path(name), func() error { return p.FS.Remove(name) }, func() map[string]*node { return map[string]*node{p.path(name): nil} })
}

// MakeFolder implements [sys.FS], for one folder.
func (p *powerFS) MakeFolder(name string) error {
	return p.name(p.path(name), func() error { return p.FS.MakeFolder(name) }, func() map[string]*node { return map[string]*node{p.path(name): {folder: true}} })
}

// SyncDir implements [sys.FS].
func (p *powerFS) SyncDir(name string) error {
	p.before()
	p.mu.Lock()
	defer p.mu.Unlock()
	folder := p.path(name)
	p.since = slices.DeleteFunc(p.since, func(c naming) bool {
		if c.folder == folder {
			c.apply(p.synced)
		}
		return c.folder == folder
	})
	return nil
}

type powerFile struct {
	sys.File
	p   *powerFS
	n   *node
	end int64
}

func (f *powerFile) StartWriteBack() {}

func (f *powerFile) Write(b []byte) (int, error) {
	f.note(b, f.end)
	f.end += int64(len(b))
	return f.File.Write(b)
}

func (f *powerFile) WriteAt(b []byte, off int64) (int, error) {
	f.note(b, off)
	return f.File.WriteAt(b, off)
}

func (f *powerFile) note(b []byte, off int64) {
	f.p.before()
	f.p.mu.Lock()
	defer f.p.mu.Unlock()
	f.n.since = append(f.n.since, written{off, bytes.Clone(b)})
}

func (f *powerFile) Sync() error {
	f.p.before()
	f.p.mu.Lock()
	defer f.p.mu.Unlock()
	for _, w := range f.n.since {
		f.n.synced = w.apply(f.n.synced)
	}
	f.n.since = nil
	return nil
}
