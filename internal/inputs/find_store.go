package inputs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/storage"
)

// expandURL finds the inputs at a URL as expandPath does, by the lists of its store. Stores have no folders: a location
// that ends in a slash, or has objects below it and is none itself, is taken for one. Without lists, as over HTTP, it is
// one file.
func (e expander) expandURL(ctx context.Context, location string) []Input {
	store, err := storage.ForLocation(location)
	if err != nil {
		return []Input{{Location: location, Err: err}}
	}
	file, table := e.formats.SplitTable(location)
	p := newPattern(file)
	if !p.magic && !p.folder {
		_, known := e.formats.ByPath(file)
		_, codec := Codec(file)
		if known || codec != "" || !isFolder(ctx, store, location) {
			return []Input{{Location: location}}
		}
		p.folder = true
	}
	all, err := p.list(ctx, store, e.isPart)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return []Input{{Location: location}}
	case err == nil && len(all) == 0 && p.magic:
		err = fmt.Errorf("no object matches %s", storage.Redact(location))
	case err == nil && len(all) == 0:
		err = fmt.Errorf("there is nothing in %s", storage.Redact(location))
	}
	if err != nil {
		return []Input{{Location: location, Err: Missing(location, err)}}
	}
	for i := range all {
		if table != "" && !all[i].InFolder {
			all[i].Location += ":" + table
		}
	}
	return all
}

// isFolder reports whether there are objects below a location, and none at it.
func isFolder(ctx context.Context, store storage.Store, location string) bool {
	for _, err := range store.List(ctx, location+"/") {
		if err != nil {
			return false // who reads the location learns of it
		}
		r, err := store.Open(ctx, location)
		if err == nil {
			_, err = r.Size(ctx)
			err = errors.Join(err, r.Close())
		}
		return errors.Is(err, fs.ErrNotExist)
	}
	return false
}

// pattern is a URL with *, ? and [ in names below the bucket. A character that is written as %2A and the like stands
// for itself.
type pattern struct {
	text   string
	prefix string   // of text, of all that match
	names  []string // patterns of [path.Match], of the bucket and the names in the key
	magic  bool
	folder bool // objects below are meant
}

func newPattern(text string) pattern {
	p := pattern{text: text, prefix: text}
	start := strings.Index(text, "://") + len("://")
	rest := text[start:]
	bucket, key, _ := strings.Cut(rest, "/")
	if i := strings.IndexAny(key, "*?["); i >= 0 {
		p.magic, p.prefix = true, text[:start+len(bucket)+1+i]
	}
	p.folder = key == "" || strings.HasSuffix(key, "/")
	for _, name := range strings.Split(strings.TrimSuffix(rest, "/"), "/") {
		p.names = append(p.names, namePattern(name))
	}
	return p
}

// namePattern is an escaped name as a pattern of [path.Match].
func namePattern(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i : i+1]
		if decoded, err := url.PathUnescape(name[i:min(i+3, len(name))]); c == "%" && err == nil {
			c, i = decoded, i+2
			if strings.ContainsAny(c, `*?[\`) {
				c = `\` + c
			}
		}
		b.WriteString(c)
	}
	return b.String()
}

// list returns the objects that match, by location.
func (p pattern) list(ctx context.Context, store storage.Store, isPart func(string) bool) (all []Input, err error) {
	prefix := p.prefix
	if p.folder && !p.magic {
		prefix = strings.TrimSuffix(prefix, "/") + "/"
	}
	for info, err := range store.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		if Same(info.Location, p.text) { // it has * and the like in its name
			return []Input{{Location: info.Location}}, nil
		}
		in, ok, err := p.match(info.Location)
		if err != nil {
			return nil, err
		}
		if ok && !isPart(info.Location) {
			all = append(all, in)
		}
	}
	slices.SortFunc(all, func(a, b Input) int { return cmp.Compare(a.Location, b.Location) })
	return all, nil
}

// match reports whether a location matches, or lies in a folder that does. Hidden names have to be named.
func (p pattern) match(location string) (in Input, ok bool, err error) {
	_, rest, _ := strings.Cut(location, "://")
	names := strings.Split(rest, "/")
	n := len(p.names)
	if len(names) < n || p.folder && len(names) == n {
		return in, false, nil
	}
	for i, name := range names {
		if name, err = url.PathUnescape(name); err != nil {
			return in, false, err
		}
		if i < n {
			if ok, err = path.Match(p.names[i], name); err != nil {
				err = fmt.Errorf("%s: %w: write %%5B for [", p.text, err)
			}
			if !ok {
				return in, false, err
			}
		}
		if isHidden(name) && (i >= n || i == n-1 && !isHidden(p.names[i])) {
			return in, false, nil
		}
	}
	return Input{Location: location, Found: true, InFolder: len(names) > n}, true, nil
}
