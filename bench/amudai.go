package main

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/edition"
	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
)

// shardFile is a shard.
type shardFile struct {
	profile encoding.Profile
	edition edition.Edition
}

func (k shardFile) name() string { return "amudai " + k.edition.String() + " " + k.profile.String() }

// can leaves the operations of which there are many to the default profile, and
// wide data, too: that is about metadata.
func (k shardFile) can(d *dataset, op string) bool {
	if d.wide() {
		return k.profile == encoding.Balanced
	}
	return k.profile == encoding.Balanced || op == opWrite || op == opScan || op == opProject || op == opOpen
}

func (k shardFile) write(ctx context.Context, path string, s *arrow.Schema, next source, threads int) error {
	w, err := shard.Create(ctx, path, s, shard.WriterOptions{
		Profile: k.profile, Edition: k.edition, Overwrite: true, Parallelism: threads,
	})
	if err != nil {
		return err
	}
	defer w.Abort()
	if err := next.each(func(b arrow.RecordBatch) error { return w.Write(ctx, b) }); err != nil {
		return err
	}
	return w.Close(ctx)
}

func (k shardFile) read(ctx context.Context, path string, q query, out *outcome) error {
	s, err := shard.Open(ctx, path, shard.OpenOptions{})
	if err != nil {
		return err
	}
	defer s.Close()
	if q.take != nil {
		b, err := s.Take(ctx, q.take, shard.TakeOptions{Columns: q.columns})
		if err != nil {
			return err
		}
		out.batch(b)
		b.Release()
		return nil
	}
	o := shard.ScanOptions{Columns: q.columns, BatchRows: batchRows, Parallelism: q.threads, Reuse: q.reuse}
	if q.text != "" {
		if o.Filter, err = filter.Parse(q.text); err != nil {
			return err
		}
	}
	if q.count {
		out.rows, err = s.Count(ctx, o.Filter)
		return err
	}
	for b, err := range s.Scan(ctx, o) {
		if err != nil {
			return err
		}
		out.batch(b)
	}
	return nil
}
