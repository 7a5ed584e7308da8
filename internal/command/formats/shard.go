package formats

import (
	"context"

	"github.com/amudai/amudai-go/internal/command/files"
	"github.com/amudai/amudai-go/internal/engine/edit"
	"github.com/amudai/amudai-go/internal/format/shardfile"
	"github.com/amudai/amudai-go/internal/format/shardwriter"
	"github.com/amudai/amudai-go/shard"
)

// Parts end the names of files that belong to a shard, beside its root.
var Parts = []string{shardwriter.StripeSuffix, shardwriter.IndexSuffix, edit.DataSuffix}

// Shard opens a shard, with the types of the flags. For another kind of file, the error names its likely format.
func (p *Opener) Shard(ctx context.Context, location string, o shard.OpenOptions) (*shard.Shard, error) {
	if err := files.CheckShard(location); err != nil {
		return nil, err
	}
	o.Types = p.types
	s, err := shard.Open(ctx, location, o)
	if err != nil {
		return nil, wrongFormat(ctx, files.Missing(location, err), location, Shard)
	}
	return s, nil
}

// OpenFile opens the file of a shard, as [Opener.Shard] does.
func OpenFile(ctx context.Context, location string) (*shardfile.File, error) {
	if err := files.CheckShard(location); err != nil {
		return nil, err
	}
	f, err := shardfile.Open(ctx, location, shardfile.OpenOptions{})
	if err != nil {
		return nil, wrongFormat(ctx, files.Missing(location, err), location, Shard)
	}
	return f, nil
}
