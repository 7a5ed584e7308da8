package storage

import (
	"bufio"
	"context"
	"io"
)

const (
	// writeBuffer is the size of the buffer in front of a file.
	writeBuffer = 128 << 10
	// writeStep bounds the bytes written between two checks of the context.
	writeStep = 1 << 20
)

// buffer is a buffered writer with contexts. Its first error stays.
type buffer struct {
	buf  *bufio.Writer
	size int64 // bytes appended
	err  error
}

func newBuffer(w io.Writer) buffer { return buffer{buf: bufio.NewWriterSize(w, writeBuffer)} }

func (b *buffer) write(ctx context.Context, p []byte) error {
	for {
		if b.err == nil {
			b.err = ctx.Err()
		}
		if b.err != nil || len(p) == 0 {
			return b.err
		}
		var n int
		n, b.err = b.buf.Write(p[:min(len(p), writeStep)])
		b.size += int64(n)
		p = p[n:]
	}
}

func (b *buffer) flush(ctx context.Context) error {
	if b.err == nil {
		b.err = ctx.Err()
	}
	if b.err == nil {
		b.err = b.buf.Flush()
	}
	return b.err
}

// writeAt replaces bytes that were appended, in the file that they went to.
func (b *buffer) writeAt(ctx context.Context, f io.WriterAt, p []byte, off int64) error {
	if err := b.flush(ctx); err != nil {
		return err
	}
	if b.err = CheckRange(off, int64(len(p)), b.size); b.err == nil {
		_, b.err = f.WriteAt(p, off)
	}
	return b.err
}
