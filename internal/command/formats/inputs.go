package formats

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/amudai/amudai-go/internal/command/files"
	"github.com/amudai/amudai-go/storage"
)

// Input is a file among the inputs of a command.
type Input struct {
	Location string
	Found    bool  // in a folder or by a pattern
	InFolder bool  // in a folder
	Err      error // why there is nothing to read
}

// Inputs are the files of locations, in their order: files, objects, stdin ("-"), the files of folders and of those below, by name, and
// what glob patterns match. Parts of shards are left out, because the shard is read, and so are hidden files and links in folders.
func Inputs(ctx context.Context, locations []string) (all []Input) {
	for _, l := range locations {
		all = append(all, expand(ctx, l)...)
	}
	return all
}

func expand(ctx context.Context, location string) []Input {
	switch {
	case location == "-":
		return []Input{{Location: location}}
	case !files.IsURL(location):
		return expandPath(location)
	case !strings.EqualFold(location[:min(7, len(location))], "file://"):
		return expandURL(ctx, location)
	}
	file, err := storage.Path(location)
	if err != nil {
		return []Input{{Location: location, Err: err}}
	}
	if info, err := os.Stat(file); err == nil && !info.IsDir() {
		return []Input{{Location: location}}
	}
	return expandPath(file)
}

func expandPath(location string) []Input {
	info, err := os.Stat(location)
	switch {
	case err == nil && info.IsDir():
		return walk(location)
	case err == nil && isPart(location):
		return nil
	case err == nil:
		return []Input{{Location: location}}
	}
	pattern, path := All.SplitTable(location)
	if path != "" {
		if _, err = os.Stat(pattern); err == nil {
			return []Input{{Location: location}}
		}
	}
	if !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(location, "*?[") {
		return []Input{{Location: location, Err: files.Missing(pattern, err)}}
	}
	matches, err := filepath.Glob(pattern)
	if err == nil && len(matches) == 0 {
		err = fmt.Errorf("no file matches %s", location)
	}
	if err != nil {
		return []Input{{Location: location, Err: err}}
	}
	var all []Input
	for _, m := range matches {
		if isHidden(filepath.Base(m)) && !isHidden(filepath.Base(location)) { // as shells do
			continue
		}
		if info, err := os.Stat(m); err == nil && info.IsDir() {
			all = append(all, walk(m)...)
		} else if !isPart(m) {
			if path != "" {
				m += ":" + path
			}
			all = append(all, Input{Location: m, Found: true})
		}
	}
	return all
}

// walk lists the files of a folder.
func walk(folder string) (all []Input) {
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error { // errors are in the list
		switch {
		case err != nil:
			all = append(all, Input{Location: path, Err: files.Missing(path, err)})
		case path != folder && isHidden(d.Name()):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && !isPart(path):
			all = append(all, Input{Location: path, Found: true, InFolder: true})
		}
		return nil
	})
	return all
}

func isHidden(name string) bool { return strings.HasPrefix(name, ".") }

// isPart reports whether a file is a part of a shard of several files.
func isPart(path string) bool {
	for _, suffix := range Parts {
		if strings.HasSuffix(path, suffix) {
			return true
		}
	}
	return false
}
