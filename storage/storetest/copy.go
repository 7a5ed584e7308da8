package storetest

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/storage"
)

// A copy has the bytes of the original, and is published under the same conditions as what is written.
func testCopy(t *testing.T, s store) {
	ctx := t.Context()
	c, ok := s.s.(storage.Copier)
	if !ok {
		t.Skip("the store does not copy")
	}
	copied := func(ctx context.Context, from, to string, o storage.CreateOptions) error {
		return c.Copy(ctx, s.location(from), "", s.location(to), o)
	}
	content := strings.Repeat("some content ", 300_000)
	for name, content := range map[string]string{"copy-empty": "", "copy-original + ü": content} {
		s.temporary(name, content)
		err := copied(ctx, name, name+"-2", storage.CreateOptions{})
		if errors.Is(err, errors.ErrUnsupported) { // such as an emulator of Azure: copies are read and written then
			s.requireMissing(name + "-2")
			return
		}
		require.NoError(t, err)
		s.removeLater(name + "-2")
		s.requireContent(name+"-2", content)
		s.requireContent(name, content)
	}

	s.temporary("copy-new", "new")
	s.temporary("copy-old", "old")
	require.ErrorIs(t, copied(ctx, "copy-new", "copy-old", storage.CreateOptions{}), fs.ErrExist)
	require.ErrorIs(t, copied(ctx, "copy-missing", "copy-old", storage.CreateOptions{Overwrite: true}), fs.ErrNotExist)
	require.ErrorIs(t, copied(cancelled(ctx), "copy-new", "copy-old", storage.CreateOptions{Overwrite: true}), context.Canceled)
	s.requireContent("copy-old", "old")
	require.ErrorIs(t, copied(ctx, "copy-missing", "copy-3", storage.CreateOptions{}), fs.ErrNotExist)
	require.ErrorIs(t, copied(cancelled(ctx), "copy-new", "copy-3", storage.CreateOptions{}), context.Canceled)
	s.requireMissing("copy-3")
	require.NoError(t, copied(ctx, "copy-new", "copy-old", storage.CreateOptions{Overwrite: true}))
	s.requireContent("copy-old", "new")

	before := s.version("copy-old")
	require.NoError(t, c.Copy(ctx, s.location("copy-old"), before, s.location("copy-4"), storage.CreateOptions{}))
	s.removeLater("copy-4")
	require.NoError(t, s.put(ctx, "copy-old", "third", storage.CreateOptions{Overwrite: true}))
	require.ErrorIs(t, c.Copy(ctx, s.location("copy-old"), before, s.location("copy-5"), storage.CreateOptions{}), storage.ErrChanged)
	s.requireMissing("copy-5")
	err := copied(ctx, "copy-new", "copy-old", storage.CreateOptions{IfMatch: before})
	if errors.Is(err, errors.ErrUnsupported) {
		return
	}
	require.ErrorIs(t, err, storage.ErrChanged)
	require.NoError(t, copied(ctx, "copy-new", "copy-old", storage.CreateOptions{IfMatch: s.version("copy-old")}))
	s.requireContent("copy-old", "new")
}
