package command

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/schema"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/table"
)

// openShard opens a shard, and says what else a file is.
func openShard(ctx context.Context, location string, types arrowmap.ReadOptions) (*shard.Shard, error) {
	if err := checkShardFile(location); err != nil {
		return nil, err
	}
	s, err := shard.Open(ctx, location, shard.OpenOptions{Types: types})
	if err != nil {
		return nil, wrongFormat(missing(location, err), location, shardFormat())
	}
	return s, nil
}

// checkShardFile tells in plain words why a location cannot be opened as a shard.
func checkShardFile(location string) error {
	switch {
	case location == "-":
		return withHint(errors.New("a shard is read here and there, which standard input does not allow"), "save it to a file first")
	case isURL(location):
		return nil
	}
	info, err := os.Stat(location)
	if err != nil {
		return missing(location, err)
	}
	if info.IsDir() {
		return errors.New(location + " is a folder")
	}
	return nil
}

func shardFormat() table.Format {
	f, _ := formats.ByName(shardName)
	return f
}

// shardSource reads a shard as a source.
type shardSource struct {
	shard    *shard.Shard
	rows     array.RecordReader // nil until it is open
	filtered bool
	temp     *table.Spooled
}

// openShardSource opens a shard by location; one that comes through a pipe is
// kept in a temporary file meanwhile.
func (a *app) openShardSource(ctx context.Context, in table.Input, location string, o table.ReadOptions) (table.Source, error) {
	src := &shardSource{filtered: !a.shards.Filter.IsZero()}
	if in.At == nil {
		var err error
		if src.temp, err = table.Spool(in.Reader, o.TempDir); err != nil {
			return nil, errors.Join(err, in.Close())
		}
		location = src.temp.Name()
	}
	err := in.Close()
	if err == nil {
		src.shard, err = openShard(ctx, location, a.types)
	}
	if err == nil {
		err = src.scan(ctx, o, a.shards)
	}
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return src, nil
}

// scan prepares reading; the context is that of the whole command.
func (s *shardSource) scan(ctx context.Context, o table.ReadOptions, so shard.ScanOptions) error {
	so.Allocator, so.Columns = o.Allocator, o.Columns
	if !s.filtered {
		so.BatchRows = o.BatchRows // else rows to look at, which few may meet
	}
	var err error
	if s.rows, err = s.shard.Reader(ctx, so); errors.Is(err, schema.ErrNoField) {
		err = withHint(err, "amudai schema lists the columns")
	}
	return err
}

// Schema implements [table.Source].
func (s *shardSource) Schema() *arrow.Schema { return s.rows.Schema() }

// Rows implements [table.Source].
func (s *shardSource) Rows() (int64, bool) { return s.shard.NumRows(), !s.filtered }

// Next implements [table.Source].
func (s *shardSource) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !s.rows.Next() {
		if err := s.rows.Err(); err != nil {
			return nil, typeHint(err)
		}
		return nil, io.EOF
	}
	batch := s.rows.RecordBatch()
	batch.Retain() // the reader's own reference ends with the next step
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

// Close implements [table.Source].
func (s *shardSource) Close() error {
	if s.rows != nil {
		s.rows.Release()
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

// Write implements [table.Sink].
func (s *shardSink) Write(ctx context.Context, batch arrow.RecordBatch) error {
	return s.w.Write(ctx, batch)
}

// Close implements [table.Sink].
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

// Abort implements [table.Sink].
func (s *shardSink) Abort() error {
	err := s.w.Abort()
	if s.drop != nil {
		err = errors.Join(err, s.drop())
	}
	return err
}
