package object

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
)

// Copy implements [storage.Copier]: an upload in parts, whose bytes the server takes from the original.
func (s *Store) Copy(ctx context.Context, from string, v storage.Version, to string, o storage.CreateOptions) error {
	old, err := s.place(ctx, from, false)
	if err != nil {
		return err
	}
	original := Original{Client: old.client, Bucket: old.bucket, Key: old.key}
	if err := old.retry.Do(ctx, func(ctx context.Context) (err error) {
		original.Properties, err = old.client.Head(ctx, old.key)
		return err
	}); err != nil {
		return named(old.name, err)
	}
	if v != "" && v != original.Version {
		return named(old.name, storage.ErrChanged)
	}
	w, err := s.create(ctx, to, o)
	if err != nil {
		return err
	}
	if original.Size == 0 { // which has no parts
		return w.Publish(ctx)
	}
	w.size = original.Size
	if err := w.copy(ctx, original); err != nil {
		return errors.Join(err, w.Abort(ctx))
	}
	w.end()
	return nil
}

func (w *writer) copy(ctx context.Context, from Original) error {
	c, ok := w.client.(Copier)
	if !ok {
		return fmt.Errorf("%s: the store does not copy: %w", w.name, errors.ErrUnsupported)
	}
	if err := w.begin(ctx, func(ctx context.Context) (Upload, error) { return c.BeginCopy(ctx, from, w.key, w.token, w.c) }); err != nil {
		return w.failed(err)
	}
	n, size := w.upload.(Copy).Parts()
	if err := w.copyParts(ctx, n, size); err != nil {
		return err
	}
	if n > 0 {
		size = 0 // is there already
	}
	err := w.complete(ctx, size)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", storage.ErrChanged, err) // the original, or what was to be replaced
	}
	return err
}

// copyParts lets the server copy n parts. A caller that gives up ends them.
func (w *writer) copyParts(ctx context.Context, n int, size int64) error {
	stop := context.AfterFunc(ctx, w.cancel)
	defer stop()
	w.group.SetLimit(w.o.Parallel)
	for w.parts < n && w.sends.Err() == nil {
		i := w.parts
		w.parts++
		w.group.Go(func() (err error) {
			defer fault.RecoverInternal(&err)
			return w.retry.DoWithin(w.sends, size, func(ctx context.Context) error { return w.upload.Part(ctx, i, nil) })
		})
	}
	err := w.wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
