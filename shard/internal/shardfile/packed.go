package shardfile

import (
	"context"

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
	for _, q := range PropertiesFromProto(p.StandardProperties) {
		if q.Name != PropertyShards {
			continue
		}
		ends, ok := q.Value.([]any)
		for _, v := range ends {
			end, isInt := v.(int64)
			if !isInt || end <= start || end > f.directoryRange.Start {
				ok = false
				break
			}
			add(end)
		}
		if !ok {
			return nil, fault.Of(fault.Corruptf("property %s is not a list of ascending ends of shards: %.100v", PropertyShards, q.Value), f.root.Name())
		}
		break
	}
	add(f.directoryRange.End)
	return all, nil
}
