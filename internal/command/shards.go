package command

import (
	"context"
	"strings"

	"github.com/amudai/amudai-go/internal/command/files"
	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard"
)

// openShard opens a shard. For another kind of file, the error names its likely format.
func openShard(ctx context.Context, location string, types arrowmap.ReadOptions) (*shard.Shard, error) {
	if err := files.CheckShard(location); err != nil {
		return nil, err
	}
	s, err := shard.Open(ctx, location, shard.OpenOptions{Types: types})
	if err != nil {
		return nil, wrongFormat(files.Missing(location, err), location, shardName)
	}
	return s, nil
}

// typeHint adds the flag that reads values beyond the default types.
func typeHint(err error) error {
	switch text := err.Error(); {
	case strings.Contains(text, "does not fit decimal"):
		return withHint(err, "--decimals text can read all decimals")
	case strings.Contains(text, "cannot be held as"):
		return withHint(err, "--ticks raw can read all times")
	}
	return err
}
