package inputs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// Input is a file among the inputs.
type Input struct {
	Location string
	Found    bool  // in a folder or by a pattern
	InFolder bool  // in a folder
	Err      error // why there is nothing to read
}

// Expand lists the files of locations, in their order: files, objects, stdin ("-"), the files of folders and of those below, by name, and
// what glob patterns match. Parts of shards are left out, because the shard is read, and so are hidden files and links in folders.
func Expand(ctx context.Context, locations []string, formats provider.Formats) (all []Input) {
	e := expander{formats}
	for _, l := range locations {
		all = append(all, e.expand(ctx, l)...)
	}
	return all
}

// expander finds files of formats.
type expander struct{ formats provider.Formats }

func (e expander) expand(ctx context.Context, location string) []Input {
	switch {
	case location == "-":
		return []Input{{Location: location}}
	case !IsURL(location):
		return e.expandPath(location)
	case !strings.EqualFold(location[:min(7, len(location))], "file://"):
		return e.expandURL(ctx, location)
	}
	file, err := storage.Path(location)
	if err != nil {
		return []Input{{Location: location, Err: err}}
	}
	if info, err := os.Stat(file); err == nil && !info.IsDir() {
		return []Input{{Location: location}}
	}
	return e.expandPath(file)
}

func (e expander) expandPath(location string) []Input {
	info, err := os.Stat(location)
	switch {
	case err == nil && info.IsDir():
		return e.walk(location)
	case err == nil && e.isPart(location):
		return nil
	case err == nil:
		return []Input{{Location: location}}
	}
	pattern, path := e.formats.SplitTable(location)
	if path != "" {
		if _, err = os.Stat(pattern); err == nil {
			return []Input{{Location: location}}
		}
	}
	if !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(location, "*?[") {
		return []Input{{Location: location, Err: Missing(pattern, err)}}
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
			all = append(all, e.walk(m)...)
		} else if !e.isPart(m) {
			if path != "" {
				m += ":" + path
			}
			all = append(all, Input{Location: m, Found: true})
		}
	}
	return all
}

// walk lists the files of a folder.
func (e expander) walk(folder string) (all []Input) {
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error { // errors are in the list
		switch {
		case err != nil:
			all = append(all, Input{Location: path, Err: Missing(path, err)})
		case path != folder && isHidden(d.Name()):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && !e.isPart(path):
			all = append(all, Input{Location: path, Found: true, InFolder: true})
		}
		return nil
	})
	return all
}

func isHidden(name string) bool { return strings.HasPrefix(name, ".") }

// isPart reports whether a file is a part of a shard of several
func (e expander) isPart(path string) bool {
	return slices.ContainsFunc(e.formats, func(f provider.Format) bool {
		return slices.ContainsFunc(f.Parts, func(end string) bool { return strings.HasSuffix(path, end) })
	})
}
