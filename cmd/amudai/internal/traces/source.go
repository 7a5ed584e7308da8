package traces

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/cmd/amudai/internal/formats"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/traceql"
)

// ErrNoSpans is the error of a table without a row for each span.
var ErrNoSpans = errors.New("is no table of spans: it has no column trace:id")

// Source is an input with a row for each span. Close closes it.
type Source struct {
	traceql.Source
	Location string
	Close    func() error
}

// Open opens an input of any format. newOpener makes an opener, as each scan of a table opens its input anew.
func Open(ctx context.Context, location string, newOpener func() *formats.Opener) (Source, error) {
	in, f, err := newOpener().Input(ctx, location, "")
	if err != nil {
		return Source{}, err
	}
	if err := in.Close(); err != nil {
		return Source{}, err
	}
	switch f.Name {
	case formats.Blockpack:
		file, err := blockpack.Open(ctx, location, blockpack.Options{})
		return opened(ctx, location, file, err, traceql.BlockpackSource)
	case formats.Shard:
		file, err := newOpener().Shard(ctx, location, shard.OpenOptions{})
		return opened(ctx, location, file, err, traceql.ShardSource)
	}
	table, err := newOpener().Table(ctx, location, f.Name)
	return opened(ctx, location, table, err, traceql.TableSource)
}

// opened is the source of an open file, unless it could not be opened. It closes a file that has no spans.
func opened[F io.Closer, S traceql.Source](ctx context.Context, location string, file F, err error, source func(context.Context, F) (S, error)) (Source, error) {
	if err != nil {
		return Source{}, err
	}
	s, err := source(ctx, file)
	if err == nil && !slices.ContainsFunc(s.Schema().Fields(), isTraceID) {
		err = fmt.Errorf("%s %w", location, ErrNoSpans)
	}
	if err != nil {
		return Source{}, errors.Join(err, file.Close())
	}
	return Source{s, location, file.Close}, nil
}
