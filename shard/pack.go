package shard

import (
	"context"
	"errors"

	"github.com/amudai/amudai-go/shard/internal/root"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/storage"
)

// PackOptions are the options of [Pack]. The zero value is the default.
type PackOptions struct {
	Store     storage.Store // of the new artifact; by default the one that its location belongs to
	Overwrite bool
}

// Pack writes shards, of which there is at least one, to a new artifact, one behind the other. Encoded values are copied as they are, with their
// indexes and properties. [Open] opens the last one, and others by [OpenOptions.Directory]. Pack of one shard is a copy of it in a file of its own.
func Pack(ctx context.Context, location string, o PackOptions, shards ...*Shard) error {
	if len(shards) == 0 {
		return errors.New("there is no shard to pack")
	}
	roots := make([]root.Root, len(shards))
	for i, s := range shards {
		var err error
		if roots[i], err = root.Of(ctx, s.file); err != nil {
			return err
		}
	}
	return root.Publish(ctx, location, shardwriter.Options{Store: o.Store, Overwrite: o.Overwrite}, roots...)
}

// Directories are the directory ranges of the shards in an artifact, for [OpenOptions.Directory]: of all of them in order for an empty name, or of
// the one that is named by its number from 0, or by an @ and the end of its range, as in "@4096".
func Directories(ctx context.Context, location, name string, o OpenOptions) ([]ByteRange, error) {
	return shardfile.Directories(ctx, location, name, o.file())
}
