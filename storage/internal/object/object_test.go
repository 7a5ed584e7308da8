package object_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/internal/object"
	"github.com/amudai/amudai-go/storage/storetest"
)

func TestStore(t *testing.T) {
	for _, partBytes := range []int{1000, 1 << 20} {
		f := newFake()
		storetest.TestStore(t, f.store(partBytes), "fake://bucket/50%25 off/ü/")
		require.Empty(t, f.uploads)
	}
}

// Objects up to the size of a part are one request after the check of the location.
func TestSmallObjectIsOnePut(t *testing.T) {
	f := newFake()
	require.NoError(t, write(t.Context(), f.store(1000), make([]byte, 1000), storage.CreateOptions{}))
	require.Equal(t, []string{"head", "put"}, f.requests)
	f.requests = nil
	require.NoError(t, write(t.Context(), f.store(1000), make([]byte, 1001), storage.CreateOptions{Overwrite: true}))
	require.Equal(t, []string{"begin", "part", "part", "complete"}, f.requests)
}

func TestOpenIsOneRequest(t *testing.T) {
	f := newFake()
	s := f.store(1000)
	require.NoError(t, write(t.Context(), s, []byte("some content"), storage.CreateOptions{}))
	f.requests = nil
	r, err := s.Open(t.Context(), "fake://b/a")
	require.NoError(t, err)
	tail, size, err := r.ReadSuffix(t.Context(), 7)
	require.NoError(t, err)
	require.Equal(t, "content", string(tail))
	require.EqualValues(t, 12, size)
	_, err = r.Version(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"get"}, f.requests)
}

func write(ctx context.Context, s storage.Store, content []byte, o storage.CreateOptions) error {
	w, err := s.Create(ctx, "fake://b/a", o)
	if err != nil {
		return err
	}
	if err := w.Write(ctx, content); err != nil {
		return errors.Join(err, w.Abort(ctx))
	}
	return w.Publish(ctx)
}

var errInjected = errors.New("injected fault")

// Whatever request fails, before it reaches the bucket or after, for a moment or for good: the object is there
// and whole, or there is an error and nothing is left. A lost answer to a conditional request is no conflict.
func TestFaultsOfWrites(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 500)
	for _, after := range []bool{false, true} {
		for _, transient := range []bool{false, true} {
			for _, size := range []int{900, 5000} {
				for k := 1; ; k++ {
					f := newFake()
					hook := func(request string, n int) error {
						switch {
						case n != k:
							return nil
						case transient:
							return object.Transient(errInjected)
						}
						return errInjected
					}
					if f.before = hook; after {
						f.before, f.after = nil, hook
					}
					err := write(t.Context(), f.store(1000), content[:size], storage.CreateOptions{})
					failed := len(f.requests) >= k
					f.before, f.after = nil, nil
					if transient {
						require.NoError(t, err, "request %d of %v", k, f.requests)
					}
					if err == nil {
						require.Equal(t, content[:size], f.objects["a"].bytes)
					} else {
						require.ErrorIs(t, err, errInjected)
						require.Empty(t, f.objects)
					}
					if !after || !slices.Contains(f.requests[k-1:min(k, len(f.requests))], "begin") { // nobody knows the name of that upload
						require.Empty(t, f.uploads, "request %d of %v", k, f.requests)
					}
					if !failed {
						break
					}
				}
			}
		}
	}
}

// Whatever request of a copy fails, before it reaches the bucket or after: the copy is there and whole, or there is an error and nothing is left.
func TestFaultsOfCopies(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 100_000) // three parts
	for _, after := range []bool{false, true} {
		for _, fault := range []error{errInjected, object.Transient(errInjected), storage.ErrChanged, errors.ErrUnsupported} {
			for k := 1; ; k++ {
				f := newFake()
				s := f.store(1 << 20)
				require.NoError(t, write(t.Context(), s, content, storage.CreateOptions{}))
				f.requests = nil
				hook := func(_ string, n int) error {
					if n == k {
						return fault
					}
					return nil
				}
				if f.before = hook; after {
					f.before, f.after = nil, hook
				}
				err := s.Copy(t.Context(), "fake://b/a", "", "fake://b/c", storage.CreateOptions{})
				failed := len(f.requests) >= k
				f.before, f.after = nil, nil
				c, copied := f.objects["c"]
				if err == nil {
					require.Equal(t, content, c.bytes)
				} else {
					require.False(t, object.IsTransient(fault), "request %d of %v: %v", k, f.requests, err)
					require.ErrorIs(t, err, fault)
					require.False(t, copied, "request %d of %v", k, f.requests)
				}
				if !after || f.requests[min(k, len(f.requests))-1] != "begin" {
					require.Empty(t, f.uploads, "request %d of %v", k, f.requests)
				}
				if !failed {
					require.NoError(t, err)
					require.Equal(t, []string{"head", "head", "begin", "copy part", "copy part", "copy part", "complete"}, f.requests)
					break
				}
			}
		}
	}
}

// An object that is replaced while it is copied is not mixed with its successor.
func TestChangedWhileCopied(t *testing.T) {
	f := newFake()
	s := f.store(1 << 20)
	require.NoError(t, write(t.Context(), s, bytes.Repeat([]byte("old"), 500_000), storage.CreateOptions{}))
	f.before = func(request string, _ int) error {
		if request == "copy part" {
			f.before = nil
			return f.put("a", bytes.Repeat([]byte("new"), 500_000), "", object.Condition{})
		}
		return nil
	}
	require.ErrorIs(t, s.Copy(t.Context(), "fake://b/a", "", "fake://b/c", storage.CreateOptions{}), storage.ErrChanged)
	require.NotContains(t, f.objects, "c")
	require.Empty(t, f.uploads)
}

// A writer that is cancelled leaves nothing, even if its caller passes the cancelled context on.
func TestCancelledWriteLeavesNothing(t *testing.T) {
	for k := 1; k < 9; k++ {
		f := newFake()
		ctx, cancel := context.WithCancel(t.Context())
		f.after = func(_ string, n int) error {
			if n == k {
				cancel()
			}
			return nil
		}
		err := write(ctx, f.store(1000), make([]byte, 5000), storage.CreateOptions{})
		cancel()
		require.Empty(t, f.uploads)
		if err == nil {
			require.Contains(t, f.objects, "a")
		} else {
			require.ErrorIs(t, err, context.Canceled)
			require.Empty(t, f.objects)
		}
	}
}

func TestFaultsOfReads(t *testing.T) {
	f := newFake()
	s := f.store(1000)
	content := bytes.Repeat([]byte("0123456789"), 500)
	require.NoError(t, write(t.Context(), s, content, storage.CreateOptions{}))
	f.requests = nil
	f.before = func(_ string, n int) error {
		if n%2 == 1 {
			return object.Transient(errInjected)
		}
		return nil
	}
	storetest.TestReader(t, s, "fake://b/a", content)
	for info, err := range s.List(t.Context(), "fake://b/") {
		require.NoError(t, err)
		require.Equal(t, "fake://b/a", info.Location)
	}
	f.requests, f.before = nil, func(string, int) error { return object.Transient(errInjected) }
	r, err := s.Open(t.Context(), "fake://b/a")
	require.NoError(t, err)
	require.ErrorIs(t, r.ReadAt(t.Context(), make([]byte, 5), 0), errInjected)
	require.Len(t, f.requests, 4)
}

func TestListIsComplete(t *testing.T) {
	f := newFake()
	s := f.store(1000)
	for _, name := range []string{"a", "b", "c d", "e%25", "f/g"} {
		w, err := s.Create(t.Context(), "fake://b/"+name, storage.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, w.Publish(t.Context()))
	}
	require.ElementsMatch(t, []string{"a", "b", "c d", "e%", "f/g"}, slices.Collect(maps.Keys(f.objects)))
	var got []string
	for info, err := range s.List(t.Context(), "fake://b") {
		require.NoError(t, err)
		got = append(got, info.Location)
	}
	want := []string{"fake://b/a", "fake://b/b", "fake://b/c%20d", "fake://b/e%25", "fake://b/f/g"}
	require.Equal(t, want, got)
	for k := range 3 { // a page that fails once is asked for again, and not the first one
		asked := 0
		f.before = func(string, int) error {
			if asked++; asked == k+1 {
				return object.Transient(errInjected)
			}
			return nil
		}
		got = got[:0]
		for info, err := range s.List(t.Context(), "fake://b") {
			require.NoError(t, err)
			got = append(got, info.Location)
		}
		require.Equal(t, want, got, "page %d fails", k)
	}
}

func TestBadLocations(t *testing.T) {
	s := newFake().store(1000)
	for _, location := range []string{"fake://", "fake://b", "fake://b/", "fake:///a", "fake://b/a?versionId=1", "fake://b/%zz", "/a", "s3://b/a"} {
		_, err := s.Open(t.Context(), location)
		require.Error(t, err, location)
		require.NotErrorIs(t, err, fs.ErrNotExist)
	}
}
