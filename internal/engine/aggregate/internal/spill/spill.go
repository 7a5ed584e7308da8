// Package spill keeps rows in temporary files, in partitions by the hash of their keys.
package spill

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/tempfile"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/column"
	"github.com/amudai/amudai-go/internal/engine/order"
)

const (
	partitions = 16
	MostDepth  = 12 // of partitions of partitions: 48 bits of hashes
	spillBytes = 64 << 10
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
	parts   [partitions]*Partition
	rows    [partitions][]int64
	code    []byte
}

// Partition is an Arrow IPC stream in a temporary file.
type Partition struct {
	o      Options
	file   *tempfile.File
	out    *bufio.Writer
	ipc    *ipc.Writer
	schema *arrow.Schema
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
			s.parts[i] = &Partition{o: s.o, file: f, out: bufio.NewWriterSize(f, spillBytes)}
		}
		if err := s.parts[i].add(columns, rows); err != nil {
			return fmt.Errorf("temporary file: %w", err)
		}
	}
	return nil
}

// add appends some rows of columns.
func (p *Partition) add(columns []arrow.Array, rows []int64) error {
	taken := make([]arrow.Array, len(columns))
	defer func() { arrowutil.ReleaseAll(taken) }()
	for i, c := range columns {
		var err error
		if taken[i], err = column.TakePlain(p.o.Allocator, c, rows); err != nil {
			return err
		}
	}
	if p.ipc == nil {
		fields := make([]arrow.Field, len(taken))
		for i, c := range taken {
			fields[i] = arrow.Field{Name: fmt.Sprint(i), Type: c.DataType(), Nullable: true}
		}
		p.schema = arrow.NewSchema(fields, nil)
		p.ipc = ipc.NewWriter(p.out, ipc.WithSchema(p.schema), ipc.WithAllocator(p.o.Allocator))
	}
	batch := array.NewRecordBatch(p.schema, taken, int64(len(rows)))
	defer batch.Release()
	return p.ipc.Write(batch)
}

// Each calls f for each partition, and removes it then.
func (s *Spill) Each(ctx context.Context, f func(p *Partition) error) error {
	for i, p := range s.parts {
		if p == nil {
			continue
		}
		if err := errors.Join(p.ipc.Close(), p.out.Flush()); err != nil {
			return fmt.Errorf("temporary file: %w", err)
		}
		p.out, p.ipc = nil, nil
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(p); err != nil {
			return err
		}
		s.parts[i] = nil
		if err := p.file.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Each calls f for each batch of a partition. The columns live until it returns.
func (p *Partition) Each(ctx context.Context, f func(columns []arrow.Array, rows int) error) error {
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("temporary file: %w", err)
	}
	r, err := ipc.NewReader(bufio.NewReaderSize(p.file, spillBytes), ipc.WithAllocator(p.o.Allocator))
	if err != nil {
		return fmt.Errorf("temporary file: %w", err)
	}
	defer r.Release()
	for r.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := r.RecordBatch()
		if err := f(b.Columns(), int(b.NumRows())); err != nil {
			return err
		}
	}
	if err := r.Err(); err != nil {
		return fmt.Errorf("temporary file: %w", err)
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
			p.file.Close()
		}
		s.parts[i] = nil
	}
}
