package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/blockpack/serve"
	"github.com/amudai/amudai-go/internal/base/seq"
	"github.com/amudai/amudai-go/internal/base/sys"
	"github.com/amudai/amudai-go/storage"
)

// tidyOptions say which files are merged, and which removed.
type tidyOptions struct {
	every     time.Duration // between looks at a folder
	fileBytes int64         // of files that are large enough
	age       time.Duration // files that end before are removed; 0: none
	bytes     int64         // of all files, beyond which the oldest are removed; 0: no limit
	memory    int64         // of a merge
}

const together = 8 // files of about the same size that become one

// tidy removes files that are too old or too many, and merges some small ones. Whoever lists files holds the lock, and so sees a merged file or the ones
// that it replaces, never both.
func tidy(ctx context.Context, dir string, o tidyOptions, now time.Time, lock sync.Locker) error {
	if err := finishMerge(dir); err != nil {
		return err
	}
	list, err := serve.Files(dir)
	if err != nil {
		return err
	}
	total := int64(0)
	for _, f := range list {
		total += f.Size
	}
	for len(list) > 0 && (o.age > 0 && list[0].Named.Before(now.Add(-o.age)) || o.bytes > 0 && total > o.bytes) {
		if err := os.Remove(list[0].Path); err != nil {
			return err
		}
		total -= list[0].Size
		list = list[1:]
	}
	if group := toMerge(list, o.fileBytes); group != nil {
		return mergeFiles(ctx, dir, group, o, lock)
	}
	return nil
}

// toMerge are neighbours of one class of sizes, each eight times the one before: what is merged is written again about as often as there are classes.
func toMerge(list []serve.File, large int64) []serve.File {
	class := func(f serve.File) (n int) {
		for size := f.Size; size < large; size *= together {
			n++
		}
		return n
	}
	begin := 0
	for i, f := range list {
		if class(f) != class(list[begin]) {
			begin = i
		}
		if class(f) > 0 && i-begin+1 == together {
			return list[begin : i+1]
		}
	}
	return nil
}

// mergeFiles merges files into one that is named after the last of them. A note of what is replaced is in the folder until the files are removed,
// so that none of them outlives a crash: the spans would be there twice.
func mergeFiles(ctx context.Context, dir string, group []serve.File, o tidyOptions, lock sync.Locker) (err error) {
	var opened []*blockpack.File
	defer func() { err = errors.Join(err, seq.CloseAll(opened)) }()
	merged := mergedPath(dir, group)
	lines := []string{filepath.Base(merged)}
	for _, s := range group {
		f, err := blockpack.Open(ctx, s.Path, blockpack.Options{CacheBytes: 1 << 20})
		if err != nil {
			return err
		}
		opened = append(opened, f)
		lines = append(lines, filepath.Base(s.Path))
	}
	hidden := filepath.Join(dir, serve.LogFolder, "merged"+filepath.Ext(merged))
	left, err := os.ReadDir(filepath.Dir(hidden))
	if err != nil {
		return err
	}
	for _, e := range left { // by a crash: to replace it, a writer needs the lock that the receiver has
		if strings.HasPrefix(strings.TrimPrefix(e.Name(), "."), "merge") {
			if err := os.Remove(filepath.Join(filepath.Dir(hidden), e.Name())); err != nil {
				return err
			}
		}
	}
	mo := blockpack.MergeOptions{MemoryBytes: o.memory}
	mo.Writer.Parallelism = 1
	if _, err := blockpack.Merge(ctx, hidden, opened, mo); err != nil {
		return err
	}
	if err := writeNote(ctx, dir, strings.Join(lines, "\n")+"\n"); err != nil {
		return err
	}
	lock.Lock()
	defer lock.Unlock()
	if err := (sys.OS{}).Rename(hidden, merged, false); err != nil {
		return errors.Join(err, os.Remove(notePath(dir)))
	}
	if err := (sys.OS{}).SyncDir(dir); err != nil {
		return err
	}
	return finishMerge(dir)
}

// writeNote writes the note so that it outlives a loss of power, which the merged file does.
func writeNote(ctx context.Context, dir, text string) error {
	w, err := storage.Local{}.Create(ctx, notePath(dir), storage.CreateOptions{})
	if err != nil {
		return err
	}
	if err := w.Write(ctx, []byte(text)); err != nil {
		return errors.Join(err, w.Abort(context.WithoutCancel(ctx)))
	}
	return w.Publish(ctx)
}

// mergedPath is a free name behind that of the last file.
func mergedPath(dir string, group []serve.File) string {
	for at := group[len(group)-1].Named; ; {
		at = at.Add(1)
		path := serve.FilePath(dir, at)
		if _, err := os.Lstat(path); err != nil {
			return path
		}
	}
}

func notePath(dir string) string { return filepath.Join(dir, serve.LogFolder, "merge") }

// finishMerge removes the files that a merged one replaces, if it is there, and the note of them.
func finishMerge(dir string) error {
	note, err := os.ReadFile(notePath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	names := strings.Split(strings.TrimSuffix(string(note), "\n"), "\n")
	switch _, err := os.Stat(filepath.Join(dir, names[0])); {
	case err == nil:
		for _, name := range names[1:] {
			if filepath.Base(name) != name || filepath.Ext(name) != filepath.Ext(names[0]) {
				return fmt.Errorf("%s names %q, which is no file of the folder", notePath(dir), name)
			}
			if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return os.Remove(notePath(dir))
}
