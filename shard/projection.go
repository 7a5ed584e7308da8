package shard

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
)

// projection is some columns of a shard, in the order of their names.
type projection struct {
	columns []arrowmap.Column
	schema  *arrow.Schema
}

// projections keeps those asked for last, so that small reads of an open shard do
// not work out Arrow types again and again.
type projections struct {
	mu     sync.Mutex
	byName map[string]*projection
}

const (
	maxProjections = 16
	maxKept        = 1024 // columns of one that is kept
)

// projectionKey is different for different lists of paths, whatever is in them.
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

func (p *projections) get(key string) *projection {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byName[key]
}

func (p *projections) put(key string, pr *projection) {
	if len(pr.columns) > maxKept {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byName == nil || len(p.byName) >= maxProjections {
		p.byName = map[string]*projection{}
	}
	p.byName[key] = pr
}

// project gives the columns at paths, all for nil. It refuses shards of which it
// would show too much.
func (s *Shard) project(ctx context.Context, paths []string) (*projection, error) {
	if n := s.file.Directory().DeletedRecordCount; n > 0 {
		return nil, fault.Of(fault.Unsupportedf("%d records are marked as deleted", n), s.Location())
	}
	key := projectionKey(paths)
	if p := s.projections.get(key); p != nil {
		return p, nil
	}
	var failed error
	columns, err := arrowmap.Project(s.schema, paths, s.types(ctx, &failed))
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	meta, err := s.metadata(ctx)
	if err != nil {
		return nil, err
	}
	fields := make([]arrow.Field, len(columns))
	for i := range columns {
		fields[i] = columns[i].Arrow
	}
	p := &projection{columns: columns, schema: arrow.NewSchema(fields, meta)}
	s.projections.put(key, p)
	return p, nil
}
