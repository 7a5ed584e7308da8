package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/amudai/amudai-go/storage"
)

// writers is the number of concurrent goroutines of a test.
const writers = 6

// whole is content that shows a mixture of two artifacts.
func whole(i int) string { return strings.Repeat(fmt.Sprintf("%03d.", i), 50_000) }

func isWhole(content string) bool {
	return len(content) == len(whole(0)) && content == strings.Repeat(content[:4], len(content)/4)
}

func testReplacedWhileRead(t *testing.T, s store) {
	ctx := t.Context()
	s.temporary("read", whole(1))
	r, err := s.s.Open(ctx, s.location("read"))
	require.NoError(t, err)
	defer r.Close()
	p := make([]byte, 4)
	require.NoError(t, r.ReadAt(ctx, p, 0))
	require.NoError(t, s.put(ctx, "read", whole(2), storage.CreateOptions{Overwrite: true}))
	switch err := r.ReadAt(ctx, p, 4000); {
	case err == nil:
		require.Equal(t, whole(1)[:4], string(p), "a reader mixes two versions")
	default:
		require.ErrorIs(t, err, storage.ErrChanged)
	}
}

// Of several writers without Overwrite one succeeds.
func testConcurrentCreates(t *testing.T, s store) {
	ctx := t.Context()
	var all []storage.Writer
	for i := range writers {
		all = append(all, s.begin("creates", whole(i), storage.CreateOptions{}))
	}
	won := atomic.Int64{}
	won.Store(-1)
	var g errgroup.Group
	for i, w := range all {
		g.Go(func() error {
			switch err := w.Publish(ctx); {
			case errors.Is(err, fs.ErrExist):
				return nil
			case err != nil:
				return err
			}
			if !won.CompareAndSwap(-1, int64(i)) {
				return errors.New("two writers have published")
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	require.NotEqualValues(t, -1, won.Load(), "no writer has published")
	s.removeLater("creates")
	s.requireContent("creates", whole(int(won.Load())))
}

// Readers see the whole artifact of one of the writers.
func testConcurrentOverwrites(t *testing.T, s store) {
	s.temporary("overwrites", whole(0))
	g, ctx := errgroup.WithContext(t.Context())
	for i := range writers {
		g.Go(func() error {
			for k := range 3 {
				if err := s.put(ctx, "overwrites", whole(1+3*i+k), storage.CreateOptions{Overwrite: true}); err != nil {
					return err
				}
				content, _, err := s.get(ctx, "overwrites")
				if err == nil && !isWhole(content) {
					err = errors.New("a reader sees a mixture of two artifacts")
				}
				if err != nil && !errors.Is(err, storage.ErrChanged) {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	content, _, err := s.get(t.Context(), "overwrites")
	require.NoError(t, err)
	require.True(t, isWhole(content))
}

// No edit is lost: writers that increment a number with IfMatch leave their number of
// increments.
func testConcurrentEdits(t *testing.T, s store) {
	const edits = 5
	s.temporary("edits", "1000")
	s.requireIfMatch("edits", s.version("edits"))
	g, ctx := errgroup.WithContext(t.Context())
	for range writers {
		g.Go(func() error {
			for done := 0; done < edits; {
				err := increment(ctx, s, "edits")
				if err != nil && !errors.Is(err, storage.ErrChanged) {
					return err
				}
				if err == nil {
					done++
				}
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	s.requireContent("edits", strconv.Itoa(1000+writers*edits))
}

func increment(ctx context.Context, s store, name string) error {
	content, v, err := s.get(ctx, name)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(content)
	if err != nil {
		return err
	}
	return s.put(ctx, name, strconv.Itoa(n+1), storage.CreateOptions{IfMatch: v})
}
