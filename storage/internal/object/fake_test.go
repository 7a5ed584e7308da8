package object_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/internal/object"
)

// fake is a bucket in memory. Before and after each request it may fail.
type fake struct {
	mu       sync.Mutex
	objects  map[string]fakeObject
	uploads  map[*fakeUpload]bool
	version  int
	requests []string
	before   func(request string, n int) error // the request does not reach the bucket
	after    func(request string, n int) error // the answer is lost
}

type fakeObject struct {
	object.Properties
	bytes []byte
}

func newFake() *fake { return &fake{objects: map[string]fakeObject{}, uploads: map[*fakeUpload]bool{}} }

// store returns a store of the bucket with short pauses and parts of n bytes.
func (f *fake) store(n int) *object.Store {
	return object.New(object.Options{
		Scheme: "fake", PartBytes: n, Parallel: 3, Retry: object.Retry{Backoff: 1},
		Dial: func(context.Context, string) (object.Client, error) { return f, nil },
	})
}

// do runs a request. Requests are one after another.
func (f *fake) do(ctx context.Context, name string, request func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	f.requests = append(f.requests, name)
	n := len(f.requests)
	if f.before != nil {
		if err := f.before(name, n); err != nil {
			return err
		}
	}
	err := request()
	if f.after != nil && err == nil {
		err = f.after(name, n)
	}
	return err
}

func (f *fake) Get(ctx context.Context, key string, off, n int64, v storage.Version) (c object.Content, err error) {
	err = f.do(ctx, "get", func() error {
		o, ok := f.objects[key]
		switch {
		case !ok:
			return fs.ErrNotExist
		case v != "" && v != o.Version:
			return object.ErrCondition
		case o.Size == 0 || off >= o.Size:
			return object.ErrRange
		case off < 0:
			off = max(0, o.Size-n)
		}
		c = object.Content{Properties: o.Properties, Offset: off, Body: io.NopCloser(bytes.NewReader(o.bytes[off:min(off+n, o.Size)]))}
		return nil
	})
	return c, err
}

func (f *fake) Head(ctx context.Context, key string) (p object.Properties, err error) {
	err = f.do(ctx, "head", func() error {
		o, ok := f.objects[key]
		if p = o.Properties; !ok {
			return fs.ErrNotExist
		}
		return nil
	})
	return p, err
}

// put stores an object. The caller holds the lock.
func (f *fake) put(key string, body []byte, token string, c object.Condition) error {
	o, ok := f.objects[key]
	switch {
	case c.IfMatch != "" && !ok:
		return fs.ErrNotExist
	case c.Absent && ok, c.IfMatch != "" && c.IfMatch != o.Version:
		return object.ErrCondition
	}
	f.version++
	f.objects[key] = fakeObject{object.Properties{Size: int64(len(body)), Version: storage.Version(fmt.Sprint(f.version)), Token: token}, body}
	return nil
}

func (f *fake) Put(ctx context.Context, key string, body []byte, token string, c object.Condition) error {
	return f.do(ctx, "put", func() error { return f.put(key, bytes.Clone(body), token, c) })
}

func (f *fake) Delete(ctx context.Context, key string, v storage.Version) error {
	return f.do(ctx, "delete", func() error {
		if o, ok := f.objects[key]; !ok {
			return fs.ErrNotExist
		} else if v != "" && v != o.Version {
			return object.ErrCondition
		}
		delete(f.objects, key)
		return nil
	})
}

// List returns pages of two objects.
func (f *fake) List(ctx context.Context, prefix, page string) (all []object.Entry, next string, err error) {
	err = f.do(ctx, "list", func() error {
		for _, key := range slices.Sorted(maps.Keys(f.objects)) {
			if !strings.HasPrefix(key, prefix) || key <= page {
				continue
			}
			if len(all) == 2 {
				next = all[1].Key
				break
			}
			all = append(all, object.Entry{Key: key, Size: f.objects[key].Size, Version: f.objects[key].Version})
		}
		return nil
	})
	return all, next, err
}

type fakeUpload struct {
	f     *fake
	key   string
	token string
	c     object.Condition
	parts map[int][]byte
}

func (f *fake) Begin(ctx context.Context, key, token string, c object.Condition) (object.Upload, error) {
	u := &fakeUpload{f, key, token, c, map[int][]byte{}}
	err := f.do(ctx, "begin", func() error { f.uploads[u] = true; return nil })
	return u, err
}

var errNoUpload = errors.New("no such upload")

func (u *fakeUpload) Part(ctx context.Context, i int, body []byte) error {
	return u.f.do(ctx, "part", func() error {
		if !u.f.uploads[u] {
			return errNoUpload
		}
		u.parts[i] = bytes.Clone(body)
		return nil
	})
}

func (u *fakeUpload) Complete(ctx context.Context, n int) error {
	return u.f.do(ctx, "complete", func() error {
		if !u.f.uploads[u] {
			return errNoUpload
		}
		var all []byte
		for i := range n {
			part, ok := u.parts[i]
			if !ok {
				return fmt.Errorf("part %d is missing", i)
			}
			all = append(all, part...)
		}
		err := u.f.put(u.key, all, u.token, u.c)
		if err == nil {
			delete(u.f.uploads, u)
		}
		return err
	})
}

func (u *fakeUpload) Abort(ctx context.Context) error {
	return u.f.do(ctx, "abort", func() error { delete(u.f.uploads, u); return nil })
}

// fakeCopy is an upload of parts of 400,000 bytes of another object.
type fakeCopy struct {
	*fakeUpload
	from object.Original
}

const fakeCopyPart = 400_000

func (f *fake) BeginCopy(ctx context.Context, from object.Original, key, token string, c object.Condition) (object.Copy, error) {
	u, err := f.Begin(ctx, key, token, c)
	if err != nil {
		return nil, err
	}
	return fakeCopy{u.(*fakeUpload), from}, nil
}

func (u fakeCopy) Parts() (int, int64) {
	return int((u.from.Size + fakeCopyPart - 1) / fakeCopyPart), fakeCopyPart
}

func (u fakeCopy) Part(ctx context.Context, i int, _ []byte) error {
	return u.f.do(ctx, "copy part", func() error {
		o, ok := u.f.objects[u.from.Key]
		switch {
		case !ok || o.Version != u.from.Version:
			return storage.ErrChanged
		case !u.f.uploads[u.fakeUpload]:
			return errNoUpload
		}
		start := i * fakeCopyPart
		u.parts[i] = bytes.Clone(o.bytes[start:min(start+fakeCopyPart, len(o.bytes))])
		return nil
	})
}
