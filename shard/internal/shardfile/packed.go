package shardfile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
)

// Shards are the directory ranges of the shards in the artifact up to this one, which is the last. Each begins behind the one before.
func (f *File) Shards(ctx context.Context) (all []Range, err error) {
	p, err := f.Properties(ctx)
	if err != nil {
		return nil, err
	}
	start := int64(container.MarkSize)
	add := func(end int64) {
		all = append(all, Range{start, end})
		start = end
	}
	standard := PropertiesFromProto(p.StandardProperties)
	if i := slices.IndexFunc(standard, func(q Property) bool { return q.Name == PropertyShards }); i >= 0 {
		ends, ok := standard[i].Value.([]any)
		for _, v := range ends {
			end, isInt := v.(int64)
			ok = ok && isInt && end > start && end <= f.directoryRange.Start
			add(end)
		}
		if !ok {
			return nil, fault.Of(fault.Corruptf("property %s is not a list of ascending ends of shards: %.100v", PropertyShards, standard[i].Value), f.root.Name())
		}
	}
	add(f.directoryRange.End)
	return all, nil
}

// Directories are the directory ranges of the shards in an artifact: of all in order for an empty name, or of the one with a number from 0, or with the end
// of its range behind an @.
func Directories(ctx context.Context, location, name string, o OpenOptions) ([]Range, error) {
	if text, ok := strings.CutPrefix(name, "@"); ok {
		end, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not the end of a shard in %s", name, location)
		}
		return []Range{{End: end}}, nil
	}
	f, err := Open(ctx, location, o)
	if err != nil {
		return nil, err
	}
	all, err := f.Shards(ctx)
	if err = errors.Join(err, f.Close()); err != nil || name == "" {
		return all, err
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 0 || n >= len(all) {
		return nil, fmt.Errorf("there is no shard %q in %s, which has %d from 0", name, location, len(all))
	}
	return all[n : n+1], nil
}
