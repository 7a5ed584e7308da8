package table

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/lru"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/projection"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// Projections caches the latest projections of a table, so that small reads of an open file do not derive Arrow types
// again. It may be used concurrently.
type Projections struct {
	cache *lru.Cache[string, *Projection]
}

// NewProjections is an empty cache.
func NewProjections() Projections {
	return Projections{lru.New[string, *Projection](maxProjections)}
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
	key := append(make([]byte, 0, 64), "some"...)
	for _, p := range paths {
		key = append(binary.AppendUvarint(key, uint64(len(p))), p...)
	}
	return string(key)
}

// Get returns the projection to paths, or what resolve makes of them.
func (p Projections) Get(paths []string, resolve func() (*Projection, error)) (*Projection, error) {
	key := projectionKey(paths)
	if known, ok := p.cache.Get(key); ok {
		return known, nil
	}
	made, err := resolve()
	if err == nil && len(made.Columns) <= maxKept {
		p.cache.Put(key, made, 1)
	}
	return made, err
}

// ProjectFields is [Table.Project] of a table whose columns are the fields of a schema. column makes column i with a part of it.
func ProjectFields(s *arrow.Schema, paths []string, column func(i int, part *projection.Part) Column) (*Projection, error) {
	p, err := projection.New(s, paths)
	if err != nil {
		return nil, err
	}
	out := &Projection{Schema: p.Schema(), Columns: make([]Column, p.NumColumns())}
	for k := range out.Columns {
		out.Columns[k] = column(p.Index(k), p.Part(k))
	}
	return out, nil
}

// UniqueIn reports whether exactly one field of a schema has a name.
func UniqueIn(s *arrow.Schema) func(name string) bool {
	names := arrowmap.UniqueNames(s.Fields())
	return func(name string) bool {
		i := slices.Index(names, name)
		return i >= 0 && s.Field(i).Name == name
	}
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
