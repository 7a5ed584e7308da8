package root

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/storage"
)

// copying copies artifacts of a store.
type copying struct {
	from, to storage.Store
	passed   bool              // what has passed through this process is read back
	served   bool              // what the store has copied is read
	progress func(bytes int64) // called by several goroutines; may be nil
}

// How says what becomes of an artifact of a shard that is relocated.
type How string

// What becomes of artifacts.
const (
	Served    How = "copied by the store" // without a byte in this process
	Passed    How = "copied"              // through this process, and read back
	Present   How = "there already"
	Rewritten How = "rewritten" // into the artifacts of the new layout
	Stays     How = "stays"     // where it is, and is referred to by its absolute URL
)

// copier is the store if it may copy by itself.
func (c *copying) copier() storage.Copier {
	s, ok := c.to.(storage.Copier)
	if !ok || !same(c.from, c.to) {
		return nil
	}
	return s
}

// same reports whether two stores are the same one, for all that is known.
func same(a, b storage.Store) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// copy publishes the artifact that r reads, which is at from, at to. An artifact there that has the same bytes stays.
func (c *copying) copy(ctx context.Context, r storage.Reader, from, to string, o storage.CreateOptions) (How, error) {
	how, err := c.publish(ctx, r, from, to, o)
	if !errors.Is(err, fs.ErrExist) {
		return how, err
	}
	size, sizeErr := r.Size(ctx)
	if sizeErr == nil {
		sizeErr = c.compare(ctx, r, to, size, c.served || c.copier() == nil || !isNamed(from))
	}
	if errors.Is(sizeErr, errDiffers) {
		return "", fmt.Errorf("%s has other content: %w", to, err)
	}
	if sizeErr == nil {
		c.done(size)
	}
	return Present, sizeErr
}

// like gives a copy the permissions of the original.
func (c *copying) like(o storage.CreateOptions, from string) storage.CreateOptions {
	if same(c.from, c.to) {
		o.Like = from
	}
	return o
}

func (c *copying) done(n int64) {
	if c.progress != nil {
		c.progress(n)
	}
}

func (c *copying) publish(ctx context.Context, r storage.Reader, from, to string, o storage.CreateOptions) (How, error) {
	size, err := r.Size(ctx)
	if err != nil {
		return "", err
	}
	if s := c.copier(); s != nil {
		v, err := r.Version(ctx)
		if err == nil || errors.Is(err, errors.ErrUnsupported) {
			err = s.Copy(ctx, from, v, to, o)
		}
		if err == nil {
			c.done(size)
			return Served, c.compare(ctx, r, to, size, c.served)
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			return "", err
		}
	}
	out, err := c.to.Create(ctx, to, o)
	if err != nil {
		return "", err
	}
	hash := xxh3.New()
	err = shardwriter.CopyRange(ctx, io.MultiWriter(counted(c.done), hash, &storage.IOWriter{Context: ctx, Writer: out}), r, shardfile.Range{End: size})
	if err != nil {
		return "", errors.Join(err, out.Abort(context.WithoutCancel(ctx)))
	}
	if err := out.Publish(ctx); err != nil {
		return "", err
	}
	if !c.passed {
		return Passed, nil
	}
	if sum, err := c.sum(ctx, to, size); err != nil || sum != hash.Sum64() {
		return "", errors.Join(fmt.Errorf("%s: %w", to, errDiffers), err)
	}
	return Passed, nil
}

// counted is an io.Writer that counts bytes.
type counted func(n int64)

func (c counted) Write(p []byte) (int, error) {
	c(int64(len(p)))
	return len(p), nil
}

// errDiffers is the error of a copy that is not equal to the original.
var errDiffers = errors.New("the copy is not equal to the original")

// compare compares an artifact that is a copy with the original: its size, and its bytes if they are to be read.
func (c *copying) compare(ctx context.Context, r storage.Reader, to string, size int64, read bool) error {
	if !read {
		there, err := c.to.Open(ctx, to)
		if err != nil {
			return err
		}
		n, err := there.Size(ctx)
		if err == nil && n != size {
			err = fmt.Errorf("%s has %d bytes, the original %d: %w", to, n, size, errDiffers)
		}
		return errors.Join(err, there.Close())
	}
	hash := xxh3.New()
	if err := shardwriter.CopyRange(ctx, hash, r, shardfile.Range{End: size}); err != nil {
		return err
	}
	sum, err := c.sum(ctx, to, size)
	if err == nil && sum != hash.Sum64() {
		err = fmt.Errorf("%s: %w", to, errDiffers)
	}
	return err
}

// sum is the checksum of the artifact at a location, which has so many bytes.
func (c *copying) sum(ctx context.Context, location string, size int64) (uint64, error) {
	r, err := c.to.Open(ctx, location)
	if err != nil {
		return 0, err
	}
	n, err := r.Size(ctx)
	if err == nil && n != size {
		err = fmt.Errorf("%s has %d bytes, the original %d: %w", location, n, size, errDiffers)
	}
	hash := xxh3.New()
	if err == nil {
		err = shardwriter.CopyRange(ctx, hash, r, shardfile.Range{End: size})
	}
	return hash.Sum64(), errors.Join(err, r.Close())
}
