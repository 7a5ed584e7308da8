package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOneVersion holds the versions of command, Python package and changelog together.
func TestOneVersion(t *testing.T) {
	places := map[string]string{
		"cmd/amudai/internal/app/version.go": `(?m)^const Version = "(.*)"$`,
		"python/src/amudai/__init__.py":      `(?m)^__version__ = "(.*)"$`,
		"CHANGELOG.md":                       `(?m)^## (\S+) \(`,
	}
	versions := map[string]bool{}
	for path, pattern := range places {
		text, err := os.ReadFile(filepath.Join(root, path))
		require.NoError(t, err)
		found := regexp.MustCompile(pattern).FindSubmatch(text)
		require.NotNil(t, found, "%s has no version", path)
		require.Regexp(t, `^\d+\.\d+\.\d+$`, string(found[1]), path)
		versions[string(found[1])] = true
	}
	require.Len(t, versions, 1, "command, Python package and changelog have different versions")
}
