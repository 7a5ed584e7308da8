package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	linkTarget = regexp.MustCompile(`\]\(([^)\s#]+)[^)\s]*\)`)
	notText    = regexp.MustCompile("(?s)```.*?```|`[^`]*`|<!--.*?-->")
)

// Links from a document to another, or to code, have targets.
func TestLinksResolve(t *testing.T) {
	for _, f := range textFiles(t) {
		if !strings.HasSuffix(f.path, ".md") {
			continue
		}
		for _, link := range linkTarget.FindAllSubmatch(notText.ReplaceAll(f.text, nil), -1) {
			target := string(link[1])
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, f.dir(), filepath.FromSlash(target))); err != nil {
				t.Errorf("%s links to %s, which is not there", f.path, target)
			}
		}
	}
}
