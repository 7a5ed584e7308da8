package shardfile

import (
	"context"
	"io/fs"
	"iter"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/storage"
)

// OpenIn opens a shard of a single file that is part of another artifact, such as an index: the one in a range of bytes or, if no header begins
// the range, the one at the end of the artifact. The artifact belongs to the caller, who keeps it open. Options.Store is not used.
func OpenIn(ctx context.Context, at storage.ByteRange, o OpenOptions) (*File, error) {
	at, err := shardIn(ctx, at)
	if err != nil {
		return nil, fault.Of(err, at.Reader.Name())
	}
	o.Store = oneShard{at}
	return Open(ctx, partLocation, o)
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

// partLocation is the location of the shard in a [oneShard].
const partLocation = "mem://part"

// oneShard is a store of the shard in a range of bytes.
type oneShard struct{ at storage.ByteRange }

func (s oneShard) Open(_ context.Context, location string) (storage.Reader, error) {
	if location != partLocation {
		return nil, fault.Unsupportedf("shard of several files in a part of an artifact")
	}
	return part(s), nil
}

func (oneShard) Create(context.Context, string, storage.CreateOptions) (storage.Writer, error) {
	return nil, fs.ErrPermission
}

func (oneShard) Remove(context.Context, string) error { return fs.ErrPermission }

func (oneShard) List(context.Context, string) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) { yield(storage.Info{}, fs.ErrPermission) }
}

// part is a range of bytes as an artifact.
type part struct{ at storage.ByteRange }

func (p part) ReadAt(ctx context.Context, b []byte, off int64) error {
	if err := storage.CheckRange(off, int64(len(b)), p.at.Size); err != nil {
		return err
	}
	return p.at.Reader.ReadAt(ctx, b, p.at.Offset+off)
}

func (p part) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	size := min(int64(n), p.at.Size)
	tail, err := storage.ReadRange(ctx, p.at.Reader, p.at.Offset+p.at.Size-size, size)
	return tail, p.at.Size, err
}

func (p part) Size(context.Context) (int64, error) { return p.at.Size, nil }

func (p part) Version(ctx context.Context) (storage.Version, error) { return p.at.Reader.Version(ctx) }

func (p part) Name() string { return p.at.Reader.Name() }

func (p part) Capabilities() storage.Capabilities { return p.at.Reader.Capabilities() }

func (part) Close() error { return nil } // the artifact belongs to the caller of OpenIn
