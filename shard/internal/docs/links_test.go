package docs

import (
	"io/fs"
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

// documents are the pages for readers, by their paths from the root.
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

// Links between the pages, and to files of the repository, have targets.
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

// anchors returns the headings of a page as they are written in links.
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

// elsewhere matches a citation of a section in another document.
var elsewhere = regexp.MustCompile(`\b(shard|encodings|corrections)\.md §|\bspecification §`)

var cited = regexp.MustCompile(`docs/format\.md §([0-9.]*[0-9])((?:,? (?:and )?§[0-9.]*[0-9])*)`)

// Sections that comments cite exist.
func TestCitations(t *testing.T) {
	sections := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(read(t, "docs/format.md"), -1) {
		number, _, _ := strings.Cut(m[1], " ")
		sections[number] = true
	}
	n := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		b, err := os.ReadFile(path)
		if elsewhere.Match(b) {
			t.Errorf("%s cites %q, which is not in the repository: cite docs/format.md", path, elsewhere.Find(b))
		}
		for _, m := range cited.FindAllStringSubmatch(string(b), -1) {
			for number := range strings.FieldsFuncSeq(m[1]+m[2], func(r rune) bool { return r != '.' && (r < '0' || r > '9') }) {
				if n++; !sections[number] {
					t.Errorf("%s cites docs/format.md §%s, which is not there", path, number)
				}
			}
		}
		return err
	})
	require.NoError(t, err)
	require.Greater(t, n, 30)
}
