package storage

import (
	"context"
	"io"
)

// readerAt is a [Reader] of the size bytes of r, which need not be closed.
type readerAt struct {
	name    string
	r       io.ReaderAt
	size    int64
	version Version // "": none
}

func (r readerAt) ReadAt(ctx context.Context, p []byte, off int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := CheckRange(off, int64(len(p)), r.size); err != nil {
		return err
	}
	return readFull(r.r, p, off, r.size)
}

func (r readerAt) ReadSuffix(ctx context.Context, n int) ([]byte, int64, error) {
	tail := make([]byte, min(int64(max(n, 0)), r.size))
	err := r.ReadAt(ctx, tail, r.size-int64(len(tail)))
	return tail, r.size, err
}

func (r readerAt) Version(context.Context) (Version, error) {
	if r.version == "" {
		return "", noVersion(r.name)
	}
	return r.version, nil
}

func (r readerAt) Size(context.Context) (int64, error) { return r.size, nil }
func (r readerAt) Name() string                        { return r.name }
func (r readerAt) Capabilities() Capabilities          { return Capabilities{Latency: LatencyLow} }
func (r readerAt) Close() error                        { return nil }
