package shardfile

import (
	"context"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/storage"
)

const partLocation = "mem://part" // of a shard that is part of another artifact

// OpenIn opens a shard of a single file that is part of another artifact, such as an index: the one in a range of bytes or, if no header begins
// the range, the one at the end of the artifact. The artifact belongs to the caller, who keeps it open. Options.Store is not used.
func OpenIn(ctx context.Context, at storage.ByteRange, o OpenOptions) (*File, error) {
	err := o.setDefaults(partLocation)
	if err == nil {
		at, err = shardIn(ctx, at)
	}
	if err != nil {
		return nil, fault.Of(err, at.Reader.Name())
	}
	o.Store = nil
	root := &artifact{url: partLocation, r: borrowed{at.Reader}, base: at.Offset, size: at.Size, tailOff: max(at.Size-int64(o.SuffixBytes), 0)}
	if root.tail, err = storage.ReadRange(ctx, at.Reader, at.Offset+root.tailOff, at.Size-root.tailOff); err != nil {
		return nil, fault.Of(err, at.Reader.Name())
	}
	return newFile(o, partLocation, root).loaded(ctx)
}

// shardIn is the bytes of a shard that a reference of an index means.
func shardIn(ctx context.Context, at storage.ByteRange) (storage.ByteRange, error) {
	if at.Size >= container.MarkSize {
		head, err := storage.ReadRange(ctx, at.Reader, at.Offset, container.MarkSize)
		if err != nil {
			return at, err
		}
		if _, err := container.CheckMark(head, "header"); err == nil {
			return at, nil
		}
	}
	size, err := at.Reader.Size(ctx)
	return storage.ByteRange{Reader: at.Reader, Size: size}, err
}

// borrowed is a reader that another owner closes.
type borrowed struct{ storage.Reader }

func (borrowed) Close() error { return nil }
