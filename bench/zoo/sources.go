package zoo

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// goRoot is the folder of Go's own sources.
func (s Sources) goRoot() (string, error) {
	if s.Go != "" {
		return s.Go, nil
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// errEnough ends a walk.
var errEnough = fs.SkipAll

// goFiles calls f with the name and content of Go's own source files, in alphabetical order, until it returns errEnough.
func (s Sources) goFiles(f func(path, content string) error) error {
	root, err := s.goRoot()
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ".go" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return f(path, valid(string(content)))
	})
}

// lines are the lines of a file that are not empty.
func lines(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []string
	s := bufio.NewScanner(f)
	for s.Buffer(nil, 1<<20); s.Scan(); {
		if line := valid(s.Text()); line != "" {
			out = append(out, line)
		}
	}
	return out, s.Err()
}

// place is a row of the corpus' list of postal codes.
type place struct{ zip, city, state, county string }

func (s Sources) places() ([]place, error) {
	f, err := os.Open(filepath.Join(s.Corpus, "tables", "zipcodes.csv"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	out := make([]place, 0, len(rows))
	for _, r := range rows[1:] {
		out = append(out, place{zip: r[0], city: r[3], state: r[4], county: r[5]})
	}
	return out, nil
}

// titles are the titles of the corpus' list of films.
func (s Sources) titles() ([]string, error) {
	content, err := os.ReadFile(filepath.Join(s.Corpus, "tables", "movies.json"))
	if err != nil {
		return nil, err
	}
	var films []struct{ Title any }
	if err := json.Unmarshal(content, &films); err != nil {
		return nil, err
	}
	var out []string
	for _, f := range films {
		if t, ok := f.Title.(string); ok {
			out = append(out, t)
		}
	}
	return out, nil
}
