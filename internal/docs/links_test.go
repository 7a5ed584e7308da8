package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	fence   = regexp.MustCompile("(?s)```.*?```")
	comment = regexp.MustCompile(`(?s)<!--.*?-->`)
	odd     = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// documents are the pages for people, by their paths from the root.
func documents(t *testing.T) []string {
	var out []string
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		require.NoError(t, err)
		for _, f := range files {
			rel, err := filepath.Rel(root, f)
			require.NoError(t, err)
			out = append(out, filepath.ToSlash(rel))
		}
	}
	require.NotEmpty(t, out)
	return out
}

// Links between the pages, and to files of the repository, lead somewhere.
func TestLinks(t *testing.T) {
	for _, page := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(comment.ReplaceAllString(fence.ReplaceAllString(read(t, page), ""), ""), -1) {
			target := m[1]
			if strings.Contains(target, "://") {
				continue
			}
			path, anchor, _ := strings.Cut(target, "#")
			if path == "" {
				path = filepath.Base(page)
			}
			path = filepath.ToSlash(filepath.Join(filepath.Dir(page), path))
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(path))); err != nil {
				t.Errorf("%s: %s is not there", page, target)
				continue
			}
			if anchor != "" && !anchors(t, path)[anchor] {
				t.Errorf("%s: %s has no heading #%s", page, path, anchor)
			}
		}
	}
}

// anchors are the headings of a page as they are written in links.
func anchors(t *testing.T, page string) map[string]bool {
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(read(t, page), ""), -1) {
		text := strings.ToLower(strings.ReplaceAll(m[1], "`", ""))
		out[strings.ReplaceAll(odd.ReplaceAllString(text, ""), " ", "-")] = true
	}
	return out
}

// The index links every page in docs.
func TestIndexIsComplete(t *testing.T) {
	index := read(t, "docs/README.md")
	for _, page := range documents(t) {
		if name, ok := strings.CutPrefix(page, "docs/"); ok && name != "README.md" && !strings.Contains(index, "("+name+")") {
			t.Errorf("docs/README.md does not link %s", name)
		}
	}
}
