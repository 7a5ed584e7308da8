package zoo

import (
	"fmt"
	"strings"
	"time"
)

var files = []Column{
	{Name: "path_unix", Group: "files", open: openUnixPath},
	{Name: "path_windows", Group: "files", HeldOut: true, open: openWindowsPath},
	{Name: "object_key", Group: "files", open: openObjectKey},
}

// folders is a tree of folders, by full path: a new one lies in one that is there, the later the likelier.
func (g *gen) folders(n int, roots []string, separator string) []string {
	names := g.vocabulary(strings.Fields("src lib test docs internal cmd pkg assets images build data config scripts node_modules vendor util common core api v1 v2 old tmp 2023 2024"), 2500)
	name := g.zipf(1.2, len(names))
	out := append(make([]string, 0, n), roots...)
	for len(out) < n {
		parent := one(g, out)
		if strings.Count(parent, separator) < 10 {
			out = append(out, parent+separator+names[name()])
		}
	}
	return out
}

// fileNames makes names of files with common extensions.
func (g *gen) fileNames() func(b []byte) []byte {
	words := g.vocabulary(strings.Fields("index main README test utils config data report image IMG photo invoice notes final backup package types model view controller"), 4000)
	word := g.zipf(1.15, len(words))
	ext := strings.Fields(".go .js .json .md .html .txt .png .jpg .css .py .java .xml .csv .log .pdf .docx .h .c .gz .yaml")
	return func(b []byte) []byte {
		b = append(b, words[word()]...)
		switch g.below(5) {
		case 0:
		case 1:
			b = append(append(b, '_'), words[word()]...)
		case 2:
			b = fmt.Appendf(b, "%d", g.below(10_000))
		case 3:
			b = fmt.Appendf(b, "-%04d%02d%02d", 2018+g.IntN(7), 1+g.IntN(12), 1+g.IntN(28))
		default:
			b = append(append(append(b, '-'), words[word()]...), "_test"...)
		}
		return append(b, skewed(g, ext)...)
	}
}

// openUnixPath lists a tree as find does: folder after folder.
func openUnixPath(g *gen) (next, error) {
	folders, file := g.folders(1+g.n/12, []string{"/data/projects", "/usr/share", "/var/lib", "/opt", "/srv/www"}, "/"), g.fileNames()
	folder, left := "", 0
	return func(b []byte) []byte {
		if left == 0 {
			folder, left = one(g, folders), 1+int(g.around(8, 0.8))
		}
		left--
		return file(append(append(b, folder...), '/'))
	}, nil
}

func openWindowsPath(g *gen) (next, error) {
	folders, file := g.folders(20_000, []string{`C:\Users\m.weber\Documents`, `C:\Program Files`, `C:\Windows\System32`, `D:\Projects`, `\\filer01\share$`}, `\`), g.fileNames()
	folder := g.zipf(1.1, len(folders))
	return func(b []byte) []byte { return file(append(append(b, folders[folder()]...), '\\')) }, nil
}

// openObjectKey makes the keys of a bucket, partitioned by day and hour.
func openObjectKey(g *gen) (next, error) {
	clock := g.clock(date(2024, 1, 1, 0, 0, 0), 20*time.Second)
	tables := strings.Fields("events clicks orders inventory sessions")
	return func(b []byte) []byte {
		t := clock.tick()
		b = fmt.Appendf(b, "warehouse/%s/dt=%s/hour=%02d/part-%05d-", skewed(g, tables), t.Format("2006-01-02"), t.Hour(), g.below(200))
		return append(g.appendUUID(b), ".c000.snappy.parquet"...)
	}, nil
}
