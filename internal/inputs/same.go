package inputs

import (
	"net/url"
	"os"

	"github.com/amudai/amudai-go/storage"
)

// Same reports whether two locations are the same file.
func Same(a, b string) bool {
	if IsURL(a) || IsURL(b) {
		x, xerr := plainURL(a)
		y, yerr := plainURL(b)
		return a == b || xerr == nil && yerr == nil && x == y
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// plainURL is a location as a URL without escapes.
func plainURL(location string) (string, error) {
	u, err := storage.URL(location)
	if err != nil {
		return "", err
	}
	return url.PathUnescape(u)
}
