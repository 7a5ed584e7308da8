package measure

import (
	"encoding/json"
	"fmt"
	"os"
)

// Result holds the figures of a table: one row for each contender, the base first. `go run
// ./internal/bench -compare` reads it.
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

// Save writes results to a file.
func Save[R any](path string, results []R) error {
	b, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
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
