package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// Result holds the figures of a table: one row for each contender, the base first. `go run -C bench . -compare` reads it.
type Result struct {
	Set  string     `json:"set"`
	Rows int64      `json:"rows"`
	Ops  []string   `json:"ops"`
	Runs []*Figures `json:"runs"`
}

// Figures are the figures of one contender.
type Figures struct {
	Name   string               `json:"name"`
	Size   int64                `json:"size"`   // bytes of the file
	Values map[string][]float64 `json:"values"` // of every operation, one a round: seconds, or MiB ([IsPeak])
}

// Median is the median of an operation.
func (f *Figures) Median(op string) float64 { return Median(f.Values[op]) }

// Save writes results to a file, each on a line.
func Save[R any](path string, results []R) error {
	lines := make([][]byte, len(results))
	for i, r := range results {
		var err error
		if lines[i], err = json.Marshal(r); err != nil {
			return err
		}
	}
	return os.WriteFile(path, slices.Concat([]byte("[\n"), bytes.Join(lines, []byte(",\n")), []byte("\n]\n")), 0o644)
}

// Load reads a file of Save.
func Load[R any](path string) ([]R, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []R
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}
