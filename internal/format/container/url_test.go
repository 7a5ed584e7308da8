package container_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
)

const (
	root   = "file:///data/set%20a/root.shard"
	anchor = "file:///data/set%20a/sub/x.stripe"
)

func TestResolve(t *testing.T) {
	for ref, want := range map[string]string{
		"":                               anchor,
		"ab.stripe":                      "file:///data/set%20a/ab.stripe", // not beside the artifact of the message
		"sub/ab.stripe":                  "file:///data/set%20a/sub/ab.stripe",
		"a b.stripe":                     "file:///data/set%20a/a%20b.stripe",
		"a%20b.stripe":                   "file:///data/set%20a/a%20b.stripe",
		"a//b":                           "file:///data/set%20a/a//b",
		"...":                            "file:///data/set%20a/...",
		"%2e%2ex":                        "file:///data/set%20a/%2e%2ex",
		"file:///data/set%20a/ab.stripe": "file:///data/set%20a/ab.stripe",
	} {
		got, err := container.Resolve(root, anchor, ref, container.Policy{})
		require.NoError(t, err, ref)
		require.Equal(t, want, got)
	}
	for _, ref := range []string{
		"/etc/passwd", "..", "../x", "a/../x", "a/./x", ".", "%2e%2e/x", "%2E./x", ".%2e/x", "a/%2e", "..%2fx", "a%2f..%2f..%2fx", "a%5cb",
		`a\..\x`, "x?y", "x#y", "a\tb", ".\t./x", "a%00", "%", "%zz", "%2", "file:x", "file:/etc/passwd", "FILE:///data/set%20a/x",
		"file:///data/set%20a/../x", "file:///data/set%20a/%2e%2e/x", "file:///data/set a/x", "http://user@h/x", "http://h/x?y", "http://H/x", "http://h",
		"data:text/plain,x",
	} {
		_, err := container.Resolve(root, anchor, ref, container.Policy{Allow: func(string) error { return nil }})
		require.ErrorIs(t, err, fault.ErrCorrupt, ref)
	}
}

func TestPolicy(t *testing.T) {
	for _, ref := range []string{"file:///data/other/x", "file:///data/set%20", "https://h/x", "file:///etc/passwd", "file:///data/set%20a%2Fx"} {
		_, err := container.Resolve(root, anchor, ref, container.Policy{})
		require.Error(t, err, ref)
	}
	_, err := container.Resolve(root, anchor, "https://h/x", container.Policy{})
	require.ErrorIs(t, err, fault.ErrUnsupported)
	asked := ""
	got, err := container.Resolve(root, anchor, "https://h/x", container.Policy{Allow: func(u string) error { asked = u; return nil }})
	require.NoError(t, err)
	require.Equal(t, "https://h/x", got)
	require.Equal(t, got, asked)
	no := errors.New("no")
	_, err = container.Resolve(root, anchor, "https://h/x", container.Policy{Allow: func(string) error { return no }})
	require.ErrorIs(t, err, no)
}

// Absolute URLs in the shard's field list mean the root.
func TestResolveSelf(t *testing.T) {
	for ref, want := range map[string]string{
		"": root, "file:///somewhere/else.shard": root, "file:///data/set%20a/old.shard": root, root: root, "x.shard": "file:///data/set%20a/x.shard",
	} {
		got, err := container.ResolveSelf(root, ref, container.Policy{})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := container.ResolveSelf(root, "../x", container.Policy{})
	require.Error(t, err)
}

func TestRelative(t *testing.T) {
	for target, want := range map[string]string{
		root: "", "file:///data/set%20a/ab": "ab", "file:///data/set%20a/s/ab": "s/ab",
		"file:///data/ab": "file:///data/ab", "https://h/x": "https://h/x", "file:///data/set%20a/x:y/z:": "x%3Ay/z:",
		"file:///data/set%20a/": "file:///data/set%20a/",
	} {
		require.Equal(t, want, container.Relative(root, target))
	}
	require.Equal(t, "https://h/", container.Container("https://h/a"))
	require.Equal(t, "https://h/", container.Container("https://h"))
	require.Equal(t, "https://h/a/", container.Container("https://h/a/"))
}

// Every accepted reference stays within the container. A relative URL of the writer resolves to its target.
func TestResolveStaysInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ref := rapid.StringMatching(`[a./%\\2eEfF:? \t-]{0,12}`).Draw(t, "ref")
		got, err := container.Resolve(root, root, ref, container.Policy{})
		if err != nil || ref == "" {
			return
		}
		u, err := url.Parse(got)
		require.NoError(t, err)
		clean := u.JoinPath()
		require.True(t, strings.HasPrefix(clean.Path, "/data/set a"), "%s", got)
	})
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[^/\x00-\x1f\x7f\\]{1,12}`).Filter(func(s string) bool { return s != "." && s != ".." }).Draw(t, "name")
		target := container.Container(root) + (&url.URL{Path: "/" + name}).EscapedPath()[1:]
		got, err := container.Resolve(root, anchor, container.Relative(root, target), container.Policy{})
		require.NoError(t, err)
		u, err := url.Parse(got)
		require.NoError(t, err)
		require.Equal(t, "/data/set a/"+name, u.Path)
	})
}

func FuzzResolve(f *testing.F) {
	f.Add("a/../b")
	f.Add("file:///x")
	f.Fuzz(func(t *testing.T, ref string) {
		got, err := container.Resolve(root, anchor, ref, container.Policy{})
		if err == nil && ref != "" {
			require.True(t, strings.HasPrefix(got, container.Container(root)))
		}
	})
}
