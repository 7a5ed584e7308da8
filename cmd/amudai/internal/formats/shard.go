package formats

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/amudai/amudai-go/cmd/amudai/internal/files"
	"github.com/amudai/amudai-go/cmd/amudai/internal/usage"
	"github.com/amudai/amudai-go/internal/inputs"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// Shard opens a shard, with the types of the flags. For another kind of file, the error names its likely format.
func (p *Opener) Shard(ctx context.Context, location string, o shard.OpenOptions) (*shard.Shard, error) {
	location, err := ShardIn(ctx, location, &o)
	if err != nil {
		return nil, err
	}
	o.Types, o.Policy = p.types, p.Policy
	if p.at != (At{}) {
		o.Version, o.AsOf = p.at.Version, p.at.Time
	}
	s, err := shard.Open(ctx, location, o)
	if err != nil {
		return nil, notShard(ctx, inputs.Missing(location, err), location)
	}
	return s, nil
}

// ShardIn is the file of a shard, of which FILE:0 is the first of several: the options then choose it.
func ShardIn(ctx context.Context, location string, o *shard.OpenOptions) (file string, err error) {
	err = files.CheckShard(location)
	file, name := All().SplitTable(location)
	if name == "" || err == nil && !inputs.IsURL(location) || files.CheckShard(file) != nil {
		return location, err
	}
	found, err := shard.Directories(ctx, file, name, *o)
	if err == nil {
		o.Directory = &found[0]
	}
	return file, err
}

// notShard describes a file that cannot be opened as a shard.
func notShard(ctx context.Context, err error, location string) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return err
	}
	head, ferr := inputs.Head(ctx, location, provider.SniffBytes)
	if ferr != nil {
		return err
	}
	location = storage.Redact(location)
	looks, known := All().Sniff(head)
	if foreign := provider.Foreign(location, head); foreign != nil && !known {
		return foreign
	}
	switch {
	case len(head) == 0:
		return fmt.Errorf("%s is empty", location)
	case !known:
		return fmt.Errorf("%s is not an Amudai shard: it starts with %q", location, head[:min(8, len(head))])
	case looks.Name != Shard:
		err = fmt.Errorf("%s is not an Amudai shard, it looks like %s", location, looks.Title)
		return usage.WithHint(err, "amudai convert %s OUT.amudai.shard makes a shard of it", location)
	}
	return err
}
