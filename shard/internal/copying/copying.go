// Package copying copies artifacts within a store and between stores, and knows the names that writers give to artifacts by themselves.
package copying

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"regexp"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/shard/internal/shardwriter"
	"github.com/amudai/amudai-go/storage"
)

// Copier copies artifacts of a store.
type Copier struct {
	From, To storage.Store
	Passed   bool              // what has passed through this process is read back
	Served   bool              // what the store has copied is read
	Progress func(bytes int64) // called by several goroutines; may be nil
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
	LeftOut   How = "left out"  // earlier versions need it, which the new layout does not have
)

// Store is the store if it may copy by itself.
func (c *Copier) Store() storage.Copier {
	s, ok := c.To.(storage.Copier)
	if !ok || !Same(c.From, c.To) {
		return nil
	}
	return s
}

// Same reports whether two stores are the same one, for all that is known.
func Same(a, b storage.Store) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// Copy publishes the artifact that r reads, which is at from, at to. An artifact there that has the same bytes stays.
func (c *Copier) Copy(ctx context.Context, r storage.Reader, from, to string, o storage.CreateOptions) (How, error) {
	how, err := c.Publish(ctx, r, from, to, o)
	if !errors.Is(err, fs.ErrExist) {
		return how, err
	}
	size, sizeErr := r.Size(ctx)
	if sizeErr == nil {
		sizeErr = c.compare(ctx, r, to, size, c.Served || c.Store() == nil || !IsNamed(from))
	}
	if errors.Is(sizeErr, ErrDiffers) {
		return "", fmt.Errorf("%s has other content: %w", to, err)
	}
	if sizeErr == nil {
		c.done(size)
	}
	return Present, sizeErr
}

// Like gives a copy the permissions of the original.
func (c *Copier) Like(o storage.CreateOptions, from string) storage.CreateOptions {
	if Same(c.From, c.To) {
		o.Like = from
	}
	return o
}

func (c *Copier) done(n int64) {
	if c.Progress != nil {
		c.Progress(n)
	}
}

// Publish is Copy, and fails if there is an artifact.
func (c *Copier) Publish(ctx context.Context, r storage.Reader, from, to string, o storage.CreateOptions) (How, error) {
	size, err := r.Size(ctx)
	if err != nil {
		return "", err
	}
	if s := c.Store(); s != nil {
		v, err := r.Version(ctx)
		if err == nil || errors.Is(err, errors.ErrUnsupported) {
			err = s.Copy(ctx, from, v, to, o)
		}
		if err == nil {
			c.done(size)
			return Served, c.compare(ctx, r, to, size, c.Served)
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			return "", err
		}
	}
	out, err := c.To.Create(ctx, to, o)
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
	if !c.Passed {
		return Passed, nil
	}
	if sum, err := c.sum(ctx, to, size); err != nil || sum != hash.Sum64() {
		return "", errors.Join(fmt.Errorf("%s: %w", to, ErrDiffers), err)
	}
	return Passed, nil
}

// counted is an io.Writer that counts bytes.
type counted func(n int64)

func (c counted) Write(p []byte) (int, error) {
	c(int64(len(p)))
	return len(p), nil
}

// ErrDiffers is the error of a copy that is not equal to the original.
var ErrDiffers = errors.New("the copy is not equal to the original")

// compare compares an artifact that is a copy with the original: its size, and its bytes if they are to be read.
func (c *Copier) compare(ctx context.Context, r storage.Reader, to string, size int64, read bool) error {
	if !read {
		there, err := c.To.Open(ctx, to)
		if err != nil {
			return err
		}
		n, err := there.Size(ctx)
		if err == nil && n != size {
			err = fmt.Errorf("%s has %d bytes, the original %d: %w", to, n, size, ErrDiffers)
		}
		return errors.Join(err, there.Close())
	}
	hash := xxh3.New()
	if err := shardwriter.CopyRange(ctx, hash, r, shardfile.Range{End: size}); err != nil {
		return err
	}
	sum, err := c.sum(ctx, to, size)
	if err == nil && sum != hash.Sum64() {
		err = fmt.Errorf("%s: %w", to, ErrDiffers)
	}
	return err
}

// sum is the checksum of the artifact at a location, which has so many bytes.
func (c *Copier) sum(ctx context.Context, location string, size int64) (uint64, error) {
	r, err := c.To.Open(ctx, location)
	if err != nil {
		return 0, err
	}
	n, err := r.Size(ctx)
	if err == nil && n != size {
		err = fmt.Errorf("%s has %d bytes, the original %d: %w", location, n, size, ErrDiffers)
	}
	hash := xxh3.New()
	if err == nil {
		err = shardwriter.CopyRange(ctx, hash, r, shardfile.Range{End: size})
	}
	return hash.Sum64(), errors.Join(err, r.Close())
}

// named matches the names that writers give artifacts by themselves. A root that a user has named so is none.
var named = regexp.MustCompile(`^[0-9a-f]{16}\.amudai\.(stripe|data|index)$`)

// IsNamed reports whether a writer has named an artifact by itself.
func IsNamed(location string) bool { return named.MatchString(lastOf(location)) }

// temporary matches the names of local files that a writer has begun.
var temporary = regexp.MustCompile(`^\..+\.[0-9a-f]{16}\.tmp$`)

// IsTemporary reports whether a location is that of a local file which a writer has begun, and has left if it was killed.
func IsTemporary(location string) bool { return temporary.MatchString(lastOf(location)) }

// lastOf is the last part of a location.
func lastOf(location string) string { return location[strings.LastIndexAny(location, `/\`)+1:] }

// Find fails if there is no artifact at a location, with an error that wraps fs.ErrNotExist. Stores may open what they do not have: the first read tells.
func Find(ctx context.Context, store storage.Store, location string) error {
	r, err := store.Open(ctx, location)
	if err == nil {
		_, err = r.Size(ctx)
		err = errors.Join(err, r.Close())
	}
	return err
}
