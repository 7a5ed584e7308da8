package suite

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/shard"
)

// Shard is a shard, written with some options.
type Shard struct{ Options shard.WriterOptions }

// Name implements [Contender].
func (k Shard) Name() string {
	return "amudai " + k.Options.Edition.String() + " " + k.Options.Profile.String()
}

// Can implements [Contender].
func (k Shard) Can(*Dataset, string) bool { return true }

// Write implements [Contender].
func (k Shard) Write(ctx context.Context, path string, s *arrow.Schema, next Source, threads int) error {
	o := k.Options
	o.Overwrite, o.Parallelism = true, threads
	w, err := shard.Create(ctx, path, s, o)
	if err != nil {
		return err
	}
	return next.WriteTo(ctx, w)
}

// Read implements [Contender].
func (k Shard) Read(ctx context.Context, path string, q Query, out *Outcome) error {
	s, err := shard.Open(ctx, path, shard.OpenOptions{})
	if err != nil {
		return err
	}
	defer s.Close()
	where, err := q.filter()
	switch {
	case err != nil:
		return err
	case q.Take != nil:
		b, err := s.Take(ctx, q.Take, shard.TakeOptions{Columns: q.Columns})
		if err != nil {
			return err
		}
		out.Batch(b)
		b.Release()
		return nil
	case q.Count:
		out.Rows, err = s.Count(ctx, where)
		return err
	}
	for b, err := range s.Scan(ctx, q.scanOptions(where)) {
		if err != nil {
			return err
		}
		out.Batch(b)
	}
	return nil
}

func (q Query) scanOptions(where filter.Expr) shard.ScanOptions {
	o := shard.ScanOptions{Columns: q.Columns, Filter: where, BatchRows: BatchRows, Parallelism: q.Threads, Reuse: q.Reuse}
	if q.Views {
		o.Strings = shard.StringsView
	}
	return o
}
