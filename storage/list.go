package storage

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"
)

// List implements [Store].
func (s *Memory) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		start, err := URL(prefix)
		if err != nil {
			yield(Info{}, err)
			return
		}
		if schemeOf(prefix) == "" && strings.HasSuffix(filepath.ToSlash(prefix), "/") {
			start += "/" // which a path loses
		}
		for _, location := range s.Locations() {
			if err := ctx.Err(); err != nil {
				yield(Info{}, err)
				return
			}
			s.mu.Lock()
			o, ok := s.objects[location]
			s.mu.Unlock()
			if ok && strings.HasPrefix(location, start) && !yield(Info{location, int64(len(o.bytes)), o.Version(), o.modified}, nil) {
				return
			}
		}
	}
}

// List implements [Store]. It yields the paths of regular files. Symbolic links and the
// temporary files of unfinished artifacts are left out.
func (s Local) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return s.files(ctx, prefix, false)
}

// Unfinished implements [UnfinishedLister]: the temporary files.
func (s Local) Unfinished(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return s.files(ctx, prefix, true)
}

func (s Local) files(ctx context.Context, prefix string, temporary bool) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		path, err := Path(prefix)
		if err != nil {
			yield(Info{}, err)
			return
		}
		dir, start := filepath.Split(path)
		dir = cmp.Or(dir, ".")
		s.list(ctx, filepath.Clean(dir), start, temporary, yield)
	}
}

// list yields the files in dir whose name begins with start, and all files in such
// subfolders: temporary ones, or the others. It returns false once the iteration has ended.
func (s Local) list(ctx context.Context, dir, start string, temporary bool, yield func(Info, error) bool) bool {
	entries, err := s.sys().ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		yield(Info{}, err)
		return false
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir() && strings.HasPrefix(e.Name(), start) && !isTemp(e.Name()):
			if !s.list(ctx, path, "", temporary, yield) {
				return false
			}
		case e.Type().IsRegular() && isTemp(e.Name()) == temporary && strings.HasPrefix(nameOf(e.Name(), temporary), start):
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed since ReadDir
			}
			if err != nil {
				yield(Info{}, err)
				return false
			}
			if !yield(Info{path, info.Size(), fileVersion(info), info.ModTime()}, nil) {
				return false
			}
		}
	}
	return true
}

// nameOf is the name of a file that createTemp has given the name to.
func nameOf(name string, temporary bool) string {
	if temporary {
		return name[1:]
	}
	return name
}

// isTemp reports whether a file name has the form that createTemp gives.
func isTemp(name string) bool { return strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".tmp") }
