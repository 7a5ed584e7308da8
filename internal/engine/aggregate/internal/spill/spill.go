// Package spill keeps rows in temporary files, in partitions by the hash of their keys.
package spill

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/tempfile"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/column"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/engine/rowfile"
)

const (
	partitions = 16
	MostDepth  = 12 // of partitions of partitions: 48 bits of hashes
)

// Options are the options of [New].
type Options struct {
	Allocator memory.Allocator
	TempDir   string // of temporary files; default os.TempDir
}

// Spill has rows that wait in temporary files, in partitions by the hash of their keys, so that each can be aggregated on its own
// later. The first columns are the keys.
type Spill struct {
	o       Options
	keys    int
	seed    uint64
	encoder *order.Encoder
	parts   [partitions]*rowfile.File
	rows    [partitions][]int64
	code    []byte
}

// New makes a spill of rows with keys of some types. Rows that are partitioned again, at a greater depth, have other hashes.
func New(o Options, keys []arrow.DataType, depth int) (*Spill, error) {
	s := &Spill{o: o, keys: len(keys), seed: uint64(depth)}
	orders := make([]order.Key, len(keys))
	for i, dt := range keys {
		orders[i].Type = dt
	}
	var err error
	s.encoder, err = order.NewEncoder(orders)
	return s, err
}

// Add adds some rows of columns.
func (s *Spill) Add(columns []arrow.Array, rows []int64) error {
	row := s.encoder.Rows(columns[:s.keys]...)
	for i := range s.rows {
		s.rows[i] = s.rows[i][:0]
	}
	for _, r := range rows {
		s.code = row(s.code[:0], int(r))
		p := xxh3.HashSeed(s.code, s.seed) % partitions
		s.rows[p] = append(s.rows[p], r)
	}
	for i, rows := range s.rows {
		if len(rows) == 0 {
			continue
		}
		if s.parts[i] == nil {
			f, err := tempfile.Create(s.o.TempDir)
			if err != nil {
				return err
			}
			s.parts[i] = rowfile.New(f, s.o.Allocator)
		}
		if err := s.addTo(s.parts[i], columns, rows); err != nil {
			return err
		}
	}
	return nil
}

// addTo appends some rows of columns to a partition.
func (s *Spill) addTo(part *rowfile.File, columns []arrow.Array, rows []int64) error {
	taken := make([]arrow.Array, len(columns))
	defer func() { arrowutil.ReleaseAll(taken) }()
	for i, c := range columns {
		var err error
		if taken[i], err = column.TakePlain(s.o.Allocator, c, rows); err != nil {
			return err
		}
	}
	return part.Write(taken, len(rows))
}

// Each calls f for each partition, and removes it then.
func (s *Spill) Each(ctx context.Context, f func(p *rowfile.File) error) error {
	for i, p := range s.parts {
		if p == nil {
			continue
		}
		if err := p.Finish(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(p); err != nil {
			return err
		}
		s.parts[i] = nil
		if err := p.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Close removes all files.
func (s *Spill) Close() {
	if s == nil {
		return
	}
	for i, p := range s.parts {
		if p != nil {
			p.Close()
		}
		s.parts[i] = nil
	}
}
