package command

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/shard"
)

// openShard opens a shard, and says what else a file is.
func openShard(ctx context.Context, location string, types arrowmap.ReadOptions) (*shard.Shard, error) {
	if err := checkShardFile(location); err != nil {
		return nil, err
	}
	s, err := shard.Open(ctx, location, shard.OpenOptions{Types: types})
	if err != nil {
		return nil, wrongFormat(missing(location, err), location, shardName)
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
