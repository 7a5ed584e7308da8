package object_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/storage/internal/object"
)

// replaceVersion replaces the object that is there by bytes, as one that has read it.
func replaceVersion(ctx context.Context, s *object.Store, location string, b []byte) error {
	r, err := s.Open(ctx, location)
	if err != nil {
		return err
	}
	v, err := r.Version(ctx)
	if err != nil {
		return err
	}
	return createObject(ctx, s, location, b, storage.CreateOptions{IfMatch: v})
}

func createObject(ctx context.Context, s *object.Store, location string, b []byte, o storage.CreateOptions) error {
	w, err := s.Create(ctx, location, o)
	if err != nil {
		return err
	}
	if err := w.Write(ctx, b); err != nil {
		return errors.Join(err, w.Abort(ctx))
	}
	return w.Publish(ctx)
}

// The answer to a request that publishes is lost, and before it is sent again, others replace the object, each the one before. It was published, and nobody's
// object is replaced once more.
func TestReplacedAfterLostAnswer(t *testing.T) {
	ctx := t.Context()
	writes := map[string]func(s *object.Store, size int) error{
		"new": func(s *object.Store, size int) error {
			return createObject(ctx, s, "fake://bucket/a", make([]byte, size), storage.CreateOptions{})
		},
		"replaced": func(s *object.Store, size int) error {
			return replaceVersion(ctx, s, "fake://bucket/a", make([]byte, size))
		},
		"overwritten": func(s *object.Store, size int) error {
			return createObject(ctx, s, "fake://bucket/a", make([]byte, size), storage.CreateOptions{Overwrite: true})
		},
		"copied": func(s *object.Store, size int) error {
			if err := createObject(ctx, s, "fake://bucket/b", make([]byte, size), storage.CreateOptions{}); err != nil {
				return err
			}
			return s.Copy(ctx, "fake://bucket/b", "", "fake://bucket/a", storage.CreateOptions{})
		},
	}
	for name, write := range writes {
		for _, size := range []int{10, 1000} {
			for others := range 4 {
				f := newFake()
				s := f.store(400)
				if name == "replaced" || name == "overwritten" {
					require.NoError(t, createObject(ctx, s, "fake://bucket/a", []byte("first"), storage.CreateOptions{}))
				}
				lost := false
				f.after = func(request string, _ int) error {
					if lost || request != "put" && request != "complete" || f.objects["a"].Size != int64(size) {
						return nil
					}
					lost = true
					f.mu.Unlock()
					for i := range others {
						require.NoError(t, replaceVersion(ctx, s, "fake://bucket/a", fmt.Append(nil, "other ", i)))
					}
					f.mu.Lock()
					return object.Transient(errors.New("the answer is lost"))
				}
				require.NoError(t, write(s, size), "%s, %d bytes, %d others", name, size, others)
				require.True(t, lost)
				want := make([]byte, size)
				if others > 0 {
					want = fmt.Append(nil, "other ", others-1)
				}
				require.True(t, bytes.Equal(want, f.objects["a"].bytes), "%s, %d bytes, %d others", name, size, others)
			}
		}
	}
}

// A writer that lost is told so, whatever the winner has replaced before, and however often the request is sent.
func TestConflictAfterFaults(t *testing.T) {
	ctx := t.Context()
	for _, o := range []storage.CreateOptions{{}, {IfMatch: "1"}} {
		f := newFake()
		s := f.store(400)
		if o.IfMatch != "" {
			require.NoError(t, createObject(ctx, s, "fake://bucket/a", []byte("first"), storage.CreateOptions{}))
		}
		w, err := s.Create(ctx, "fake://bucket/a", o)
		require.NoError(t, err)
		require.NoError(t, createObject(ctx, s, "fake://bucket/a", []byte("winner"), o))
		require.NoError(t, w.Write(ctx, []byte("loser!")))
		n := 0
		f.before = func(request string, _ int) error {
			if n++; request == "put" && n == 1 {
				return object.Transient(errors.New("refused"))
			}
			return nil
		}
		err = w.Publish(ctx)
		if o.IfMatch == "" {
			require.ErrorIs(t, err, fs.ErrExist)
		} else {
			require.ErrorIs(t, err, storage.ErrChanged)
		}
		require.Equal(t, "winner", string(f.objects["a"].bytes))
	}
}

// An object that was removed after a lost answer may have been published before.
func TestRemovedAfterLostAnswer(t *testing.T) {
	ctx := t.Context()
	f := newFake()
	s := f.store(400)
	require.NoError(t, createObject(ctx, s, "fake://bucket/a", []byte("first"), storage.CreateOptions{}))
	f.after = func(request string, _ int) error {
		if request != "put" {
			return nil
		}
		delete(f.objects, "a")
		return object.Transient(errors.New("the answer is lost"))
	}
	err := replaceVersion(ctx, s, "fake://bucket/a", []byte("second"))
	require.ErrorContains(t, err, "whether it was published is not known")
	require.NotErrorIs(t, err, storage.ErrChanged)
}

// A version is removed once, whatever becomes of the answer, and no other one is.
func TestRemoveVersionWithFaults(t *testing.T) {
	ctx := t.Context()
	for _, replaced := range []bool{false, true} {
		for _, lost := range []bool{false, true} {
			for k := 1; k <= 2; k++ {
				f := newFake()
				s := f.store(400)
				require.NoError(t, createObject(ctx, s, "fake://bucket/a", []byte("first"), storage.CreateOptions{}))
				n := 0
				fault := func(request string, _ int) error {
					if n++; n != k {
						return nil
					}
					if replaced {
						require.NoError(t, f.put("a", []byte("second"), "", object.Condition{}))
					}
					return object.Transient(errors.New("fault"))
				}
				if f.before = fault; lost {
					f.before, f.after = nil, fault
				}
				err := storage.RemoveVersion(ctx, s, "fake://bucket/a", "1")
				if o, ok := f.objects["a"]; replaced {
					require.ErrorIs(t, err, storage.ErrChanged)
					require.Equal(t, "second", string(o.bytes))
				} else {
					require.NoError(t, err)
					require.False(t, ok)
				}
			}
		}
	}
}

// If no answer comes at all, the error does not say that nothing was published.
func TestNoAnswers(t *testing.T) {
	ctx := t.Context()
	f := newFake()
	w, err := f.store(400).Create(ctx, "fake://bucket/a", storage.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(ctx, []byte("a")))
	f.after = func(string, int) error { return object.Transient(errors.New("the answer is lost")) }
	err = w.Publish(ctx)
	require.ErrorContains(t, err, "whether it was published is not known")
	require.NotErrorIs(t, err, fs.ErrExist)
}
