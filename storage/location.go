package storage

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// schemeOf returns the scheme of a URL in lower case, "" for a path. A single letter is a
// Windows drive.
func schemeOf(location string) string {
	scheme, _, ok := strings.Cut(location, "://")
	if !ok || len(scheme) < 2 {
		return ""
	}
	for i, c := range []byte(scheme) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(c))) {
			return ""
		}
	}
	return strings.ToLower(scheme)
}

// URL returns the normal form of a location: an absolute URL without credentials and
// query. References between artifacts are resolved against it. A path becomes a file://
// URL in which special bytes are percent-encoded, so that [Path] returns the same file.
//
//	/data/50% off/a.shard   file:///data/50%25%20off/a.shard
//	C:\data\a.shard         file:///C:/data/a.shard
//	\\host\share\a.shard    file://host/share/a.shard
func URL(location string) (string, error) {
	switch schemeOf(location) {
	case "":
		if strings.Contains(location, "\x00") {
			return "", fmt.Errorf("path %q contains a zero byte", location)
		}
		abs, err := filepath.Abs(location)
		if err != nil {
			return "", err
		}
		return fileURL(abs, runtime.GOOS == "windows"), nil
	case "file":
		path, err := Path(location)
		if err != nil {
			return "", err
		}
		return fileURL(path, runtime.GOOS == "windows"), nil
	}
	u, err := url.Parse(location)
	if err != nil {
		return "", badURL(location, err)
	}
	u.Scheme = strings.ToLower(u.Scheme)
	u.Host = strings.ToLower(u.Host)
	if port := u.Port(); u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	if u.Path == "" && u.Host != "" {
		u.Path = "/"
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.JoinPath().String(), nil
}

// badURL is the error of a location that does not parse, without what may be secret in it.
func badURL(location string, err error) error {
	if u := new(url.Error); errors.As(err, &u) {
		err = u.Err
	}
	if Redact(location) != location {
		return fmt.Errorf("bad location %s", Redact(location)) // the error may quote a password
	}
	return fmt.Errorf("bad location %s: %w", location, err)
}

func fileURL(abs string, windows bool) string {
	if windows {
		abs = strings.ReplaceAll(abs, `\`, "/")
		if host, ok := strings.CutPrefix(abs, "//"); ok {
			return "file://" + (&url.URL{Path: host}).EscapedPath()
		}
		if !strings.HasPrefix(abs, "/") {
			abs = "/" + abs
		}
	}
	return "file://" + (&url.URL{Path: abs}).EscapedPath()
}

// Path returns the path of a location on the local file system: a path unchanged, a
// file:// URL decoded. A URL segment that does not decode to a file name ("..", or one with
// a separator or NUL byte) is an error.
func Path(location string) (string, error) {
	switch schemeOf(location) {
	case "":
		if location == "" {
			return "", fmt.Errorf("empty location")
		}
		return location, nil
	case "file":
		return filePath(location, runtime.GOOS == "windows")
	}
	return "", fmt.Errorf("%s is not on the local file system", Redact(location))
}

func filePath(location string, windows bool) (string, error) {
	_, rest, _ := strings.Cut(location, "://")
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		return "", fmt.Errorf("file location %s has a query or fragment: write %s as %%%02X", location, rest[i:i+1], rest[i])
	}
	host, rest, ok := strings.Cut(rest, "/")
	if !ok {
		return "", fmt.Errorf("file location %s has no path", location)
	}
	segments := strings.Split(rest, "/")
	for i, s := range segments {
		name, err := url.PathUnescape(s)
		if err != nil {
			return "", fmt.Errorf("bad file location %s: %w", location, err)
		}
		drive := windows && i == 0 && len(name) == 2 && name[1] == ':'
		if name == "." || name == ".." || strings.ContainsAny(name, "/\x00") ||
			windows && !drive && strings.ContainsAny(name, `\:`) {
			return "", fmt.Errorf("bad file location %s: segment %q is not a name", location, s)
		}
		segments[i] = name
	}
	path := strings.Join(segments, "/")
	switch {
	case host != "" && !strings.EqualFold(host, "localhost"):
		if !windows {
			return "", fmt.Errorf("file location %s is on another host", location)
		}
		if !isHostName(host) {
			return "", fmt.Errorf("bad file location %s: %q is not a host name", location, host)
		}
		return `\\` + host + `\` + strings.ReplaceAll(path, "/", `\`), nil
	case windows:
		if len(path) < 2 || path[1] != ':' {
			path = "/" + path
		}
		return strings.ReplaceAll(path, "/", `\`), nil
	}
	return "/" + path, nil
}

// isHostName reports whether a host has no characters with another meaning in Windows
// paths.
func isHostName(host string) bool {
	for _, c := range []byte(host) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && !strings.ContainsRune("0123456789-._", rune(c)) {
			return false
		}
	}
	return strings.Trim(host, ".") != ""
}

// Redact returns a location for messages: without user name, password, query and fragment, as these may be credentials. It is
// for locations that do not parse, too. In those of clouds, a question mark is a part of a name or pattern, unless names and
// values follow it.
func Redact(location string) string {
	scheme := schemeOf(location)
	if scheme == "" || scheme == "file" {
		return location
	}
	start := strings.Index(location, "://") + len("://")
	rest := location[start:]
	if i := strings.IndexAny(rest, "?#"); i >= 0 && (strings.HasPrefix(scheme, "http") || strings.Contains(rest[i:], "=")) {
		rest = rest[:i]
	}
	host, path, slash := strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	if i := strings.LastIndexByte(host, ':'); i >= 0 && host[0] != '[' && strings.Trim(host[i+1:], "0123456789") != "" {
		return location[:start] + "…" // a password with a slash or a question mark
	}
	if slash {
		host += "/"
	}
	return location[:start] + host + path
}
