package storage

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestFileURL(t *testing.T) {
	for _, c := range []struct {
		path, url string
		windows   bool
	}{
		{"/data/a.shard", "file:///data/a.shard", false},
		{"/data/50% off/a.shard", "file:///data/50%25%20off/a.shard", false},
		{"/data/a%20b", "file:///data/a%2520b", false},
		{"/d/what?#;:\\", "file:///d/what%3F%23;:%5C", false},
		{"/d/\xff", "file:///d/%FF", false},
		{`C:\data\a b.shard`, "file:///C:/data/a%20b.shard", true},
		{`\\host\share\a.shard`, "file://host/share/a.shard", true},
	} {
		require.Equal(t, c.url, fileURL(c.path, c.windows))
		back, err := filePath(c.url, c.windows)
		require.NoError(t, err)
		require.Equal(t, c.path, back)
	}
}

func TestFilePathRefusesTricks(t *testing.T) {
	for _, u := range []string{
		"file:///a/../b", "file:///a/%2e%2E/b", "file:///a/./b", "file:///a%2fb", "file:///a%00", "file:///a?b", "file:///a#b",
		"file://host/a", "file://", "file://localhost", "file:///%zz", "file:///%",
	} {
		_, err := filePath(u, false)
		require.Error(t, err, u)
	}
	for _, u := range []string{"file:///C:/a%5Cb", "file:///C:/a:stream", "file:///C:/a%3Astream", "file:///C:/x/D:/y"} {
		_, err := filePath(u, true)
		require.Error(t, err, u)
	}
	got, err := filePath("file://localhost/a", false)
	require.NoError(t, err)
	require.Equal(t, "/a", got)
}

// Any path is the same after a conversion to a URL and back.
func TestPathsSurviveURLs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segment := rapid.StringMatching(`[^/\x00]{1,12}`).Filter(func(s string) bool { return s != "." && s != ".." })
		path := "/" + strings.Join(rapid.SliceOfN(segment, 1, 4).Draw(t, "segments"), "/")
		u, err := URL(path)
		require.NoError(t, err)
		back, err := Path(u)
		require.NoError(t, err)
		require.Equal(t, filepath.Clean(path), back)
		parsed, err := url.Parse(u)
		require.NoError(t, err)
		require.Equal(t, u, parsed.String())
		again, err := URL(u)
		require.NoError(t, err)
		require.Equal(t, u, again)
	})
}

// No URL leads to a file outside of the folders of its segments.
func FuzzPath(f *testing.F) {
	f.Add("file:///a/%2e%2e/b")
	f.Add("file:///C:/a")
	f.Add("file://\x00/")
	f.Add("file://../share/a")
	f.Add(`file://a\..\b/c`)
	f.Fuzz(func(t *testing.T, location string) {
		for _, windows := range []bool{false, true} {
			path, err := filePath(location, windows)
			if err == nil && strings.HasPrefix(location, "file://") {
				require.NotContains(t, strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' && windows }), "..")
				require.NotContains(t, path, "\x00")
			}
		}
		if u, err := URL(location); err == nil {
			again, err := URL(u)
			require.NoError(t, err)
			require.Equal(t, u, again)
		}
	})
}

func TestURLOfRemote(t *testing.T) {
	for in, want := range map[string]string{
		"HTTP://Host:80/a/b":                "http://host/a/b",
		"https://h:443/a/../b?sig=secret#x": "https://h/b",
		"https://u:p@h:8443":                "https://h:8443/",
		"http://h/a/":                       "http://h/a/",
		"http://h/a%20b%2Fc":                "http://h/a%20b%2Fc",
		"mem://box/a":                       "mem://box/a",
	} {
		got, err := URL(in)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"https://u:p@h/b?sig=secret": "https://h/b",
		"https://u:p@h:80/b#secret":  "https://h:80/b",
		"http://u:p%zz@h/b":          "http://h/b", // which does not parse
		"http://u:p@h@h/b":           "http://h/b",
		"http://u:pass/word@h/b":     "http://…",
		"http://u:pass?word@h/b":     "http://…",
		"http://[::1]:80/b?x":        "http://[::1]:80/b",
		"http://[fe80::a]/b":         "http://[fe80::a]/b",
		"http://h":                   "http://h",
		"HTTPS://h/a?b=c":            "HTTPS://h/a",
		"http://h/a@b":               "http://h/a@b",
		"s3://lake/a?.parquet":       "s3://lake/a?.parquet", // a pattern
		"az://a.blob.core.windows.net/c/x?sv=1&sig=secret": "az://a.blob.core.windows.net/c/x",
		"ftp://u:p@h/b": "ftp://h/b",
		"a/b?c=d@e":     "a/b?c=d@e",
		"file:///a?b=c": "file:///a?b=c",
		`C:\a@b`:        `C:\a@b`,
	} {
		require.Equal(t, want, Redact(in))
	}
	for _, location := range []string{"http://u:secret%zz@h/b?sig=secret", "http://u:secret/x@h/b", "http://h/%zz?sig=secret", "http://u:secret@ h/x"} {
		_, err := URL(location)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "secret")
	}
}
