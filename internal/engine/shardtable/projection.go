package shardtable

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/engine/table"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// projections caches the latest projections, so that small reads of an open shard do not derive Arrow types again.
type projections struct {
	mu     sync.Mutex
	byName map[string]*table.Projection
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

func (p *projections) get(key string) *table.Projection {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byName[key]
}

func (p *projections) put(key string, pr *table.Projection) {
	if len(pr.Columns) > maxKept {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byName == nil || len(p.byName) >= maxProjections {
		p.byName = map[string]*table.Projection{}
	}
	p.byName[key] = pr
}

// Project returns the columns at paths, or all columns if paths is nil. It fails for a shard with deleted records,
// which a scan would show.
func (t *Table) Project(ctx context.Context, paths []string) (*table.Projection, error) {
	if n := t.file.Directory().DeletedRecordCount; n > 0 {
		return nil, fault.Of(fault.Unsupportedf("%d records are marked as deleted", n), t.file.Location())
	}
	key := projectionKey(paths)
	if p := t.projections.get(key); p != nil {
		return p, nil
	}
	var failed error
	columns, err := arrowmap.Project(t.schema, paths, t.types(ctx, &failed))
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	meta, err := t.metadata(ctx)
	if err != nil {
		return nil, err
	}
	fields := make([]arrow.Field, len(columns))
	for i := range columns {
		fields[i] = columns[i].Arrow
	}
	p := &table.Projection{Columns: columns, Schema: arrow.NewSchema(fields, meta)}
	t.projections.put(key, p)
	return p, nil
}

// ProjectTops implements [table.Table].
func (t *Table) ProjectTops(ctx context.Context, paths []string) (*table.Projection, error) {
	tops := []string{}
	for _, path := range paths {
		name := schema.SplitPath(path)[0]
		if n, err := t.schema.Count(name); n != 1 || err != nil {
			return t.Project(ctx, nil)
		}
		if top := schema.Escape(name); !slices.Contains(tops, top) {
			tops = append(tops, top)
		}
	}
	p, err := t.Project(ctx, tops)
	if err != nil || !slices.ContainsFunc(p.Columns, func(c table.Column) bool { return c.Arrow.Name != c.Stored.Name }) {
		return p, err
	}
	return t.Project(ctx, nil) // because names are unique only among all columns
}
