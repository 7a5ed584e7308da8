// Package object is what the stores of cloud objects have in common: locations, readers
// pinned to one version, writers that upload in parts and publish conditionally, lists,
// retries. The requests of one cloud are behind [Client]; a package such as storage/s3
// implements it with that cloud's own library, whose retries it turns off.
package object

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/amudai/amudai-go/storage"
)

// Client sends requests about the objects of one bucket, each once: [Store] retries. Its
// methods may be called concurrently.
//
// An error wraps fs.ErrNotExist if there is no such object (or bucket), fs.ErrPermission,
// [ErrCondition] if the condition of the request does not hold, [ErrRange], or is
// [Transient] if another attempt may succeed. Other errors are final. Errors for people
// are of type [Failure]. They need not name the object.
type Client interface {
	Source
	// Put creates an object, and stores the token with it. It does not keep body.
	Put(ctx context.Context, key string, body []byte, token string, c Condition) error
	// Begin starts an upload in parts, which stores the token with the object.
	Begin(ctx context.Context, key, token string, c Condition) (Upload, error)
	// Delete removes an object, only that version if it is not empty.
	Delete(ctx context.Context, key string, v storage.Version) error
	// List returns a page of the objects whose keys begin with prefix, and the token of the
	// next page, "" after the last. The first page has the token "".
	List(ctx context.Context, prefix, page string) (objects []Entry, next string, err error)
}

// Source is what a [Reader] needs of a [Client].
type Source interface {
	// Get requests the n bytes from offset off on, or the last n if off is negative, of the
	// given version, or of any if it is empty. n > 0. A client without suffix ranges fails
	// with errors.ErrUnsupported.
	Get(ctx context.Context, key string, off, n int64, v storage.Version) (Content, error)
	// Head returns the properties of an object.
	Head(ctx context.Context, key string) (Properties, error)
}

// Upload is an object in the making. Nothing of it is visible before Complete.
type Upload interface {
	// Part sends part number i, counted from 0. Several parts may be sent concurrently, up
	// to [Options.Parallel], and the same part repeatedly. It does not keep body.
	Part(ctx context.Context, i int, body []byte) error
	// Complete publishes the n parts as the object, if the condition of Begin holds. It may be
	// called repeatedly.
	Complete(ctx context.Context, n int) error
	// Abort drops what was sent. An upload that does not exist any more is no error.
	Abort(ctx context.Context) error
}

// Copier is a [Client] of a server that copies objects by itself.
type Copier interface {
	// BeginCopy begins an upload whose parts are those of another object, which has bytes. It stores the token with the copy, as Begin does.
	BeginCopy(ctx context.Context, from Original, key, token string, c Condition) (Copy, error)
}

// Original is one version of an object that is copied.
type Original struct {
	Client      Client // of its bucket
	Bucket, Key string
	Properties
}

// Copy is an upload of bytes that the server has. Part ignores its body. If the original has changed, the error of a request wraps
// [storage.ErrChanged]; if the server cannot copy, errors.ErrUnsupported.
type Copy interface {
	Upload
	// Parts is the number of parts, and the size of each but the last in bytes.
	Parts() (n int, size int64)
}

// LostDropper is an [Upload] of a server that keeps uploads whose names nobody has learnt, because the answer to Begin was
// lost.
type LostDropper interface {
	// DropLost drops uploads of the same object without parts, which were begun no longer than the given time before.
	DropLost(ctx context.Context, within time.Duration) error
}

// Scheduler is a [Client] with attempts and delays of its own, by the settings of its cloud. Nil stands for those of [Options]. Attempts that a user has set
// are final: there is no [Retry.Patience] then.
type Scheduler interface {
	Schedule() (s Schedule, final bool)
}

// Condition is that of a write. At most one of its fields is set.
type Condition struct {
	Absent  bool            // there is no object
	IfMatch storage.Version // the object has this version
}

// Content is the answer to [Client.Get]: bytes of an object and its properties.
type Content struct {
	Properties
	Offset int64         // of the first byte of Body
	Body   io.ReadCloser // may be shorter than requested
}

// Properties are those of one version of an object.
type Properties struct {
	Size    int64
	Version storage.Version // an entity tag or a generation; never empty
	// Token is the token given to [Client.Put] or [Client.Begin], "" if unknown. [Client.Get] need not return it.
	Token string
}

// Entry is an object in a list.
type Entry struct {
	Key     string
	Size    int64
	Version storage.Version // empty if the list does not tell
	// Modified is when the object was published, zero if the list does not tell.
	Modified time.Time
}

// Errors of a [Client].
var (
	ErrCondition = errors.New("the condition of the request does not hold")
	ErrRange     = errors.New("the range lies past the end of the object")
)

// Failure is an error for people: one sentence, and a hint, which the command prints.
type Failure struct {
	Text, Advice string
	Err          error // what it wraps, or nil
}

// Error implements error.
func (f Failure) Error() string { return f.Text }

// Unwrap returns the wrapped error.
func (f Failure) Unwrap() error { return f.Err }

// Hint is the advice.
func (f Failure) Hint() string { return f.Advice }

// Options are the properties of a [Store].
type Options struct {
	// Scheme is that of locations, such as "s3".
	Scheme string
	// Bucket splits the part of a location after "://" into the bucket and the rest. By default a bucket ends at the first
	// slash.
	Bucket func(rest string) (bucket, key string)
	// Dial returns the client of a bucket. It is called once for each bucket, and again after an error.
	Dial func(ctx context.Context, bucket string) (Client, error)
	// Retry limits the attempts of each request.
	Retry Retry
	// PartBytes is the size of the parts of an upload, by default 16 MiB. Beyond 5000 parts it doubles with every further
	// thousand, because clouds limit the number of parts.
	PartBytes int
	// Parallel is the number of parts that are sent at a time, by default 4. A writer holds one part more in memory.
	Parallel int
}

// Store is a [storage.Store] of objects.
type Store struct {
	o    Options
	pace Pace

	mu      sync.Mutex
	clients map[string]Client // by bucket
}

// New returns a store. It sends no request.
func New(o Options) *Store {
	o.Retry = o.Retry.withDefaults()
	o.PartBytes = cmp.Or(max(o.PartBytes, 0), 16<<20)
	o.Parallel = cmp.Or(max(o.Parallel, 0), 4)
	if o.Bucket == nil {
		o.Bucket = func(rest string) (string, string) {
			bucket, key, _ := strings.Cut(rest, "/")
			return bucket, key
		}
	}
	return &Store{o: o, clients: map[string]Client{}}
}

// place is where an object lies: the client of its bucket and its key.
type place struct {
	client Client
	retry  Retry
	bucket string
	key    string
	name   string // location, for messages
}

// place finds the client of a location. The key of a prefix may be empty.
func (s *Store) place(ctx context.Context, location string, prefix bool) (place, error) {
	if err := ctx.Err(); err != nil {
		return place{}, err
	}
	bucket, key, err := s.parse(location)
	if err != nil {
		return place{}, err
	}
	if key == "" && !prefix {
		return place{}, Failure{
			Text:   fmt.Sprintf("%s names a bucket, and no object in it", storage.Redact(location)),
			Advice: fmt.Sprintf("write %s://%s/NAME", s.o.Scheme, bucket),
		}
	}
	c, err := s.client(ctx, bucket)
	if err != nil {
		return place{}, named(storage.Redact(location), err)
	}
	p := place{c, s.o.Retry, bucket, key, storage.Redact(location)}
	if own, ok := c.(Scheduler); ok {
		final := false
		if p.retry.Schedule, final = own.Schedule(); final {
			p.retry.Patience = 0
		}
	}
	return p, nil
}

// parse splits a location, in which the key is percent-encoded as in a file:// location.
func (s *Store) parse(location string) (bucket, key string, err error) {
	scheme, rest, ok := strings.Cut(location, "://")
	if !ok || !strings.EqualFold(scheme, s.o.Scheme) {
		return "", "", fmt.Errorf("%s is not an %s:// location", storage.Redact(location), s.o.Scheme)
	}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		return "", "", fmt.Errorf("%s has a query or fragment: write %s as %%%02X", storage.Redact(location), rest[i:i+1], rest[i])
	}
	bucket, escaped := s.o.Bucket(rest)
	if bucket == "" {
		return "", "", fmt.Errorf("%s names no bucket", storage.Redact(location))
	}
	if key, err = url.PathUnescape(escaped); err != nil {
		return "", "", fmt.Errorf("bad location %s: %w: write %% as %%25", storage.Redact(location), err)
	}
	return bucket, key, nil
}

// location is the inverse of parse.
func (s *Store) location(bucket, key string) string {
	return s.o.Scheme + "://" + bucket + "/" + (&url.URL{Path: key}).EscapedPath()
}

func (s *Store) client(ctx context.Context, bucket string) (Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.clients[bucket]; c != nil {
		return c, nil
	}
	c, err := s.o.Dial(ctx, bucket)
	if err == nil {
		s.clients[bucket] = c
	}
	return c, err
}

// named adds the location to an error, but not to that of a context.
func named(location string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var f Failure
	if errors.As(err, &f) {
		return Failure{location + ": " + f.Text, f.Advice, err}
	}
	return fmt.Errorf("%s: %w", location, err)
}

// Open implements [storage.Store]. It sends no request for an object: a missing one is an
// error of the first read.
func (s *Store) Open(ctx context.Context, location string) (storage.Reader, error) {
	p, err := s.place(ctx, location, false)
	if err != nil {
		return nil, err
	}
	return NewReader(p.client, p.retry, &s.pace, p.key, p.name), nil
}

// Remove implements [storage.Store].
func (s *Store) Remove(ctx context.Context, location string) error {
	return s.RemoveVersion(ctx, location, "")
}

// RemoveVersion implements [storage.VersionRemover]. It looks at the object first, because some servers do not know the condition.
func (s *Store) RemoveVersion(ctx context.Context, location string, v storage.Version) error {
	p, err := s.place(ctx, location, false)
	if err != nil {
		return err
	}
	if err := p.has(ctx, v); err != nil {
		return err
	}
	attempts := 0
	err = p.retry.Do(ctx, func(ctx context.Context) error {
		attempts++
		return p.client.Delete(ctx, p.key, v)
	})
	if errors.Is(err, ErrCondition) {
		err = p.has(ctx, v)
	}
	if attempts > 1 && errors.Is(err, fs.ErrNotExist) {
		return nil // removed by an attempt whose answer was lost
	}
	return named(p.name, err)
}

// has fails if the object is not that version. Any one is if v is empty.
func (p place) has(ctx context.Context, v storage.Version) error {
	if v == "" {
		return nil
	}
	err := p.retry.Do(ctx, func(ctx context.Context) error {
		now, err := p.client.Head(ctx, p.key)
		if err == nil && now.Version != v {
			err = storage.ErrChanged
		}
		return err
	})
	return named(p.name, err)
}

// List implements [storage.Store].
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		p, err := s.place(ctx, prefix, true)
		page := ""
		for err == nil {
			var objects []Entry
			var next string
			err = p.retry.Do(ctx, func(ctx context.Context) (err error) {
				objects, next, err = p.client.List(ctx, p.key, page)
				return err
			})
			page = next
			if err != nil {
				err = named(p.name, err)
				break
			}
			for _, o := range objects {
				if o.Size == 0 && strings.HasSuffix(o.Key, "/") {
					continue // consoles make such objects as folders
				}
				if !yield(storage.Info{Location: s.location(p.bucket, o.Key), Size: o.Size, Version: o.Version, Modified: o.Modified}, nil) {
					return
				}
			}
			if page == "" {
				return
			}
			err = ctx.Err()
		}
		yield(storage.Info{}, err)
	}
}
