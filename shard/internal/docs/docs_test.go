// Package docs tests the documents in docs/: their examples against the code that writes and
// reads them, their tables against the code, and their links.
//
// Examples and some tables are made by these tests. After a change of the format:
//
//	go test ./shard/internal/docs -update
package docs

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what the code says into the documents")

const root = "../../.."

// read returns the text of a file, by its path from the root of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	require.NoError(t, err)
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}

// generated matches a mark and the code block or table that it makes the next lines be:
//
//	<!-- example: NAME | ARGUMENT -->    then a block between two lines of three backquotes
//	<!-- table: NAME -->                 then lines up to <!-- end -->
var (
	exampleMark = regexp.MustCompile("(?s)(<!-- example: ([^|\n]+?)(?: \\| ([^\n]*?))? -->\n\n?```text\n)(.*?)(```\n)")
	tableMark   = regexp.MustCompile(`(?s)(<!-- table: ([^\n]+?) -->\n\n)(.*?)(\n<!-- end -->\n)`)
)

// replace puts the text of produce between the first and the last group of every match of mark, or compares it with
// the present text.
func replace(t *testing.T, name string, mark *regexp.Regexp, produce func(t *testing.T, groups []string) string) (count int) {
	text := read(t, name)
	var out strings.Builder
	last := 0
	for _, at := range mark.FindAllStringSubmatchIndex(text, -1) {
		var groups []string
		for i := 0; i < len(at); i += 2 {
			group := ""
			if at[i] >= 0 {
				group = text[at[i]:at[i+1]]
			}
			groups = append(groups, group)
		}
		n := len(groups)
		t.Run(strings.TrimSpace(groups[2]), func(t *testing.T) {
			content := produce(t, groups)
			out.WriteString(text[last:at[0]] + groups[1] + content + groups[n-1])
			if !*update {
				require.Equal(t, content, groups[n-2], "%s: run go test ./shard/internal/docs -update", name)
			}
		})
		last = at[1]
		count++
	}
	if *update && !t.Failed() {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.WriteFile(path, []byte(out.String()+text[last:]), 0o644))
	}
	return count
}
