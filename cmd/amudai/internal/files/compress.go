package files

import (
	"context"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// compressedOutput compresses what is written to an output.
type compressedOutput struct {
	out provider.Output
	to  *storage.IOWriter
	enc io.WriteCloser
}

// compress puts a compressor before an output.
func compress(out provider.Output, extension string) (provider.Output, error) {
	o := &compressedOutput{out: out, to: &storage.IOWriter{Writer: out}}
	if extension == ".gz" {
		o.enc = gzip.NewWriter(o.to)
		return o, nil
	}
	enc, err := zstd.NewWriter(o.to, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, errors.Join(err, out.Abort(context.Background()))
	}
	o.enc = enc
	return o, nil
}

// Write implements [provider.Output].
func (o *compressedOutput) Write(ctx context.Context, p []byte) error {
	o.to.Context = ctx
	_, err := o.enc.Write(p)
	return err
}

// Publish implements [provider.Output].
func (o *compressedOutput) Publish(ctx context.Context) error {
	o.to.Context = ctx
	if err := o.enc.Close(); err != nil {
		return errors.Join(err, o.out.Abort(context.WithoutCancel(ctx)))
	}
	return o.out.Publish(ctx)
}

// Abort implements [provider.Output].
func (o *compressedOutput) Abort(ctx context.Context) error { return o.out.Abort(ctx) }
