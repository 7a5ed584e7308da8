package traces

import (
	"context"
	"errors"
	"fmt"
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
func Open(ctx context.Context, location string, newOpener func() *formats.Opener) (s Source, err error) {
	in, f, err := newOpener().Input(ctx, location, "")
	if err != nil {
		return s, err
	}
	if err := in.Close(); err != nil {
		return s, err
	}
	s = Source{Location: location, Close: func() error { return nil }}
	switch f.Name {
	case formats.Blockpack:
		file, err := blockpack.Open(ctx, location, blockpack.Options{})
		if err != nil {
			return s, err
		}
		s.Close = file.Close
		s.Source, err = traceql.BlockpackSource(ctx, file)
		return s.checked(err)
	case formats.Shard:
		open, err := newOpener().Shard(ctx, location, shard.OpenOptions{})
		if err != nil {
			return s, err
		}
		s.Close = open.Close
		s.Source, err = traceql.ShardSource(ctx, open)
		return s.checked(err)
	}
	table, err := newOpener().Table(ctx, location, f.Name)
	if err != nil {
		return s, err
	}
	s.Close = table.Close
	s.Source, err = traceql.TableSource(ctx, table)
	return s.checked(err)
}

// checked is the source if it has spans and err is nil. Otherwise it closes the source.
func (s Source) checked(err error) (Source, error) {
	if err == nil && !slices.ContainsFunc(s.Schema().Fields(), isTraceID) {
		err = fmt.Errorf("%s %w", s.Location, ErrNoSpans)
	}
	if err != nil {
		return Source{}, errors.Join(err, s.Close())
	}
	return s, nil
}
