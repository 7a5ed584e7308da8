package table

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/amudai/amudai-go/internal/format/schema"
)

// Projections caches the latest projections of a table, so that small reads of an open file do not derive Arrow types
// again. The zero value is empty. It may be used concurrently.
type Projections struct {
	mu     sync.Mutex
	byName map[string]*Projection
}

const (
	maxProjections = 16
	maxKept        = 1024 // columns of the largest projection that is cached
)

// projectionKey is unique for each list of paths, whatever bytes these contain.
func projectionKey(paths []string) string {
	if paths == nil {
		return "all"
	}
	key := []byte("some")
	for _, p := range paths {
		key = append(binary.AppendUvarint(key, uint64(len(p))), p...)
	}
	return string(key)
}

// Get returns the projection to paths, or what resolve makes of them.
func (p *Projections) Get(paths []string, resolve func() (*Projection, error)) (*Projection, error) {
	key := projectionKey(paths)
	p.mu.Lock()
	known := p.byName[key]
	p.mu.Unlock()
	if known != nil {
		return known, nil
	}
	made, err := resolve()
	if err != nil || len(made.Columns) > maxKept {
		return made, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byName == nil || len(p.byName) >= maxProjections {
		p.byName = map[string]*Projection{}
	}
	p.byName[key] = made
	return made, nil
}

// ProjectTops is [Table.ProjectTops] of a table. unique reports whether exactly one top-level column has a name.
func ProjectTops(ctx context.Context, t Table, paths []string, unique func(name string) bool) (*Projection, error) {
	tops := []string{}
	for _, path := range paths {
		name := schema.SplitPath(path)[0]
		if !unique(name) {
			return t.Project(ctx, nil)
		}
		if top := schema.Escape(name); !slices.Contains(tops, top) {
			tops = append(tops, top)
		}
	}
	return t.Project(ctx, tops)
}
