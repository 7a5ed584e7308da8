package search

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/amudai/amudai-go/internal/command/files"
	"github.com/amudai/amudai-go/internal/command/formats"
)

// Input is a file to be searched.
type Input struct {
	Location string
	Found    bool  // in a folder or by a pattern: it is left out if it is no text and no table
	Err      error // why there is nothing to search
}

// Inputs are the files of locations, in their order: files, URLs, stdin ("-"), the files of folders and of those below, by name, and
// what glob patterns match. Parts of shards are left out, because the shard is searched, and so are hidden files and links in folders.
func Inputs(locations []string) (all []Input) {
	for _, l := range locations {
		all = append(all, expand(l)...)
	}
	return all
}

func expand(location string) []Input {
	if location == "-" || files.IsURL(location) {
		return []Input{{Location: location}}
	}
	info, err := os.Stat(location)
	switch {
	case err == nil && info.IsDir():
		return walk(location)
	case err == nil && isPart(location):
		return nil
	case err == nil:
		return []Input{{Location: location}}
	}
	if file, path := formats.All.SplitTable(location); path != "" {
		if _, err := os.Stat(file); err == nil {
			return []Input{{Location: location}}
		}
	}
	if !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(location, "*?[") {
		return []Input{{Location: location, Err: files.Missing(location, err)}}
	}
	matches, err := filepath.Glob(location)
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
			all = append(all, Input{Location: path, Found: true})
		}
		return nil
	})
	return all
}

func isHidden(name string) bool { return strings.HasPrefix(name, ".") }

// isPart reports whether a file is a part of a shard of several files.
func isPart(path string) bool {
	for _, suffix := range formats.Parts {
		if strings.HasSuffix(path, suffix) {
			return true
		}
	}
	return false
}

// format is the name of the format to read an input in. Formats of text are searched line by line, unless columns are asked
// for. It is "" for an input that is neither text nor a table.
func (in Input) format(columns bool) (string, error) {
	name := strings.TrimSuffix(strings.TrimSuffix(in.Location, ".gz"), ".zst")
	file, _ := formats.All.SplitTable(name)
	if f, ok := formats.All.ByPath(file); ok {
		if formats.IsText(f) && !columns {
			return formats.Lines, nil
		}
		return f.Name, nil
	}
	if in.Location == "-" || name != in.Location {
		return formats.Lines, nil
	}
	head, err := head(in.Location)
	if err != nil {
		return "", err
	}
	isText := bytes.IndexByte(head, 0) < 0                                                                          // as every grep decides
	if f, ok := formats.All.Sniff(head); ok && !isText && !formats.IsText(f) && !(in.Found && f.Name == "arrows") { // four bytes of ones prove little
		return f.Name, nil
	}
	if in.Found && !isText && files.Compressed(head) == "" {
		return "", nil
	}
	return formats.Lines, nil
}

// head reads the first bytes of a file, and none of a URL.
func head(location string) ([]byte, error) {
	if files.IsURL(location) {
		return nil, nil
	}
	f, err := os.Open(location)
	if err != nil {
		return nil, files.Missing(location, err)
	}
	defer f.Close()
	buf := make([]byte, 4096)
	n, err := io.ReadFull(f, buf)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return buf[:n], err
}
