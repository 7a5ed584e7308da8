package cli

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/arrowmap"
	"github.com/amudai/amudai-go/schema"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/tabular"
)

// openShard opens a shard, and says what else a file is.
func openShard(ctx context.Context, location string, types arrowmap.ReadOptions) (*shard.Shard, error) {
	if !isURL(location) {
		if info, err := os.Stat(location); err != nil {
			return nil, missing(location, err)
		} else if info.IsDir() {
			return nil, errors.New(location + " is a folder")
		}
	}
	s, err := shard.Open(ctx, location, shard.OpenOptions{Types: types})
	if err != nil {
		return nil, wrongFormat(missing(location, err), location, shardFormat())
	}
	return s, nil
}

func shardFormat() tabular.Format {
	f, _ := formats.ByName(shardName)
	return f
}

// shardSource reads a shard as a source.
type shardSource struct {
	shard    *shard.Shard
	schema   *arrow.Schema
	next     func() (arrow.RecordBatch, error, bool)
	stop     func()
	filtered bool
	temp     *tabular.Spooled
}

// openShardSource opens a shard by location; one that comes through a pipe is
// kept in a temporary file meanwhile.
func openShardSource(ctx context.Context, in tabular.Input, location string, o tabular.ReadOptions, types arrowmap.ReadOptions, so shard.ScanOptions) (tabular.Source, error) {
	src := &shardSource{}
	if in.At == nil {
		var err error
		if src.temp, err = tabular.Spool(in.Reader, o.TempDir); err != nil {
			return nil, errors.Join(err, in.Close())
		}
		location = src.temp.Name()
	}
	err := in.Close()
	if err == nil {
		src.shard, err = openShard(ctx, location, types)
	}
	if err == nil {
		err = src.scan(ctx, o, so)
	}
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return src, nil
}

// scan starts reading; the context is that of the whole command.
func (s *shardSource) scan(ctx context.Context, o tabular.ReadOptions, so shard.ScanOptions) error {
	so.Allocator, so.Columns = o.Allocator, o.Columns
	if s.filtered = !so.Filter.IsZero(); !s.filtered {
		so.BatchRows = o.BatchRows // else rows to look at, which few may meet
	}
	r, err := s.shard.Reader(ctx, so)
	if err != nil {
		if errors.Is(err, schema.ErrNoField) {
			return withHint(err, "amudai schema lists the columns")
		}
		return err
	}
	s.schema = r.Schema()
	r.Release()
	s.next, s.stop = iter.Pull2(s.shard.Scan(ctx, so))
	return nil
}

// Schema implements [tabular.Source].
func (s *shardSource) Schema() *arrow.Schema { return s.schema }

// Rows implements [tabular.Source].
func (s *shardSource) Rows() (int64, bool) { return s.shard.NumRows(), !s.filtered }

// Next implements [tabular.Source].
func (s *shardSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	batch, err, ok := s.next()
	if !ok {
		return nil, io.EOF
	}
	if err != nil {
		return nil, typeHint(err)
	}
	batch.Retain() // the scan's own reference ends with the next step
	return batch, nil
}

// typeHint names the flag that reads values which the default types cannot hold.
func typeHint(err error) error {
	switch text := err.Error(); {
	case strings.Contains(text, "does not fit decimal"):
		return withHint(err, "--decimals text reads every decimal")
	case strings.Contains(text, "cannot be held as"):
		return withHint(err, "--ticks raw reads every time")
	}
	return err
}

// Close implements [tabular.Source].
func (s *shardSource) Close() error {
	if s.stop != nil {
		s.stop()
	}
	var err error
	if s.shard != nil {
		err = s.shard.Close()
	}
	return errors.Join(err, s.temp.Close())
}

// shardSink writes a shard as a sink.
type shardSink struct {
	w    *shard.Writer
	copy func(ctx context.Context) error // after closing: where to bring the file
	drop func() error
}

// createShard makes the sink of a shard. One for stdout is made in a temporary
// file first, as a shard is not written front to back.
func (a *app) createShard(ctx context.Context, location string, s *arrow.Schema, o shard.WriterOptions) (*shardSink, error) {
	if location != "-" {
		w, err := shard.Create(ctx, location, s, o)
		if err != nil {
			return nil, creating(location, err)
		}
		return &shardSink{w: w}, nil
	}
	if o.Layout != shard.SingleFile {
		return nil, usagef("--layout single", "a shard of several files cannot go to stdout")
	}
	dir, err := os.MkdirTemp(o.TempDir, "amudai-stdout-*")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "stdout.amudai.shard")
	drop := func() error { return os.RemoveAll(dir) }
	w, err := shard.Create(ctx, path, s, o)
	if err != nil {
		return nil, errors.Join(err, drop())
	}
	return &shardSink{w: w, drop: drop, copy: func(context.Context) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(a.Stdout, f)
		return err
	}}, nil
}

// Write implements [tabular.Sink].
func (s *shardSink) Write(ctx context.Context, batch arrow.RecordBatch) error {
	return s.w.Write(ctx, batch)
}

// Close implements [tabular.Sink].
func (s *shardSink) Close(ctx context.Context) error {
	err := s.w.Close(ctx)
	if s.copy == nil {
		return err
	}
	if err == nil {
		err = s.copy(ctx)
	}
	return errors.Join(err, s.drop())
}

// Abort implements [tabular.Sink].
func (s *shardSink) Abort() error {
	err := s.w.Abort()
	if s.drop != nil {
		err = errors.Join(err, s.drop())
	}
	return err
}
