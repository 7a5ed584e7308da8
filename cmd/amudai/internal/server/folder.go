package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/amudai/amudai-go/blockpack/serve"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/cmd/amudai/internal/traces"
	"github.com/amudai/amudai-go/internal/inputs"
)

// folder is the files of a tenant: those that a receiver writes, and any others with spans. Queries share open files.
type folder struct {
	dir      string
	receiver *serve.Server
	open     func(ctx context.Context, location string) (traces.Source, error)

	merging sync.RWMutex // held for writing while a merged file replaces others
	mu      sync.Mutex
	files   map[string]*file // by location and version
}

// file is an open file. It is closed when it is neither used nor listed any more, or when too many are open.
type file struct {
	source traces.Source // none of a file without spans
	users  int
	gone   bool
}

// idleFiles is the number of files that stay open for later queries.
const idleFiles = 128

// acquire opens all files with spans. release must be called once.
func (f *folder) acquire(ctx context.Context) (list []traces.Source, release func(), err error) {
	const attempts = 10 // files may be removed between list and open
	for range attempts {
		if list, release, err = f.acquireListed(ctx); !errors.Is(err, fs.ErrNotExist) {
			return list, release, err
		}
	}
	return list, release, err
}

func (f *folder) acquireListed(ctx context.Context) (list []traces.Source, release func(), err error) {
	var used []*file
	release = func() { f.release(used) }
	if f.receiver == nil { // nothing was ever sent
		return nil, release, nil
	}
	f.merging.RLock()
	defer f.merging.RUnlock()
	listed := map[string]bool{}
	for _, in := range inputs.Expand(ctx, []string{f.dir}, formats.All()) {
		if isLog(in.Location) {
			continue
		}
		info, err := os.Stat(in.Location)
		err = cmp.Or(in.Err, err)
		var one *file
		key := ""
		if err == nil {
			key = fmt.Sprintf("%s\x00%d\x00%d", in.Location, info.Size(), info.ModTime().UnixNano())
			one, err = f.use(ctx, key, in.Location)
		}
		if err != nil {
			release()
			return nil, nil, err
		}
		listed[key] = true
		used = append(used, one)
		if one.source.Source != nil {
			list = append(list, one.source)
		}
	}
	f.forget(listed)
	return list, release, nil
}

// isLog reports whether a file belongs to a receiver, and has spans that are in its files, too, or will be.
func isLog(location string) bool { return filepath.Base(filepath.Dir(location)) == serve.LogFolder }

// use opens a file, or finds it open.
func (f *folder) use(ctx context.Context, key, location string) (*file, error) {
	f.mu.Lock()
	known := f.files[key]
	if known != nil {
		known.users++
	}
	f.mu.Unlock()
	if known != nil {
		return known, nil
	}
	s, err := f.open(ctx, location)
	if errors.Is(err, traces.ErrNoSpans) || errors.Is(err, inputs.ErrUnknown) {
		s, err = traces.Source{}, nil
	}
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if known = f.files[key]; known != nil { // another query was faster
		known.users++
		closed(&file{source: s})
		return known, nil
	}
	f.files[key] = &file{source: s, users: 1}
	return f.files[key], nil
}

// forget marks the files that are not listed any more.
func (f *folder) forget(listed map[string]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, one := range f.files {
		if one.gone = !listed[key]; one.gone && one.users == 0 {
			closed(one)
			delete(f.files, key)
		}
	}
}

func (f *folder) release(used []*file) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range used {
		one.users--
	}
	for key, one := range f.files {
		if one.users == 0 && (one.gone || len(f.files) > idleFiles) {
			closed(one)
			delete(f.files, key)
		}
	}
}

// closed closes a file that was only read.
func closed(one *file) {
	if one.source.Source != nil {
		_ = one.source.Close()
	}
}

// end stores what waits, and closes all files.
func (f *folder) end(ctx context.Context) error {
	err := f.receiver.Close(ctx)
	f.forget(nil)
	return err
}

// tenants are the folders of the server.
type tenants struct {
	dir     string
	header  bool // a folder for each name in the header
	most    int
	receive func(ctx context.Context, dir string) (*serve.Server, error)
	open    func(ctx context.Context, location string) (traces.Source, error)

	mu      sync.Mutex
	folders map[string]*folder
}

// tenantHeader names the tenant of a request, as in Tempo. In gRPC it is in lower case.
const tenantHeader = "X-Scope-OrgID"

// of is the folder of a tenant, which is made if it is needed for the first time, and receives spans.
func (t *tenants) of(ctx context.Context, name string, receives bool) (*folder, error) {
	dir := t.dir
	switch {
	case !t.header:
		name = ""
	case !isTenant(name):
		return nil, badRequest{fmt.Sprintf("the header %s names no tenant: it has up to 64 letters, digits, - and _", tenantHeader)}
	default:
		dir = filepath.Join(t.dir, name)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.folders[name]; f != nil {
		return f, nil
	}
	if _, err := os.Stat(dir); err != nil && !receives {
		return &folder{dir: dir}, nil // nothing was sent
	}
	if len(t.folders) >= t.most {
		return nil, badRequest{fmt.Sprintf("there are %d tenants: no more are served", t.most)}
	}
	receiver, err := t.receive(context.WithoutCancel(ctx), dir)
	if err != nil {
		return nil, err
	}
	t.folders[name] = &folder{dir: dir, receiver: receiver, open: t.open, files: map[string]*file{}}
	return t.folders[name], nil
}

func isTenant(name string) bool {
	return name != "" && len(name) <= 64 && name != serve.LogFolder && !strings.ContainsFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
	})
}

// all are the folders that are in use.
func (t *tenants) all() (list []*folder) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.folders {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *folder) int { return strings.Compare(a.dir, b.dir) })
	return list
}

// tidy merges small files and removes old ones until ctx ends.
func (t *tenants) tidy(ctx context.Context, o tidyOptions, notice func(string)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(o.every):
		}
		for _, f := range t.all() {
			if err := tidy(ctx, f.dir, o, time.Now(), &f.merging); err != nil && ctx.Err() == nil {
				notice(fmt.Sprintf("files in %s were not merged: %v", f.dir, err))
			}
		}
	}
}
