package terminal

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseSize reads a number of bytes: 4096, 64KiB, 8 MB.
func ParseSize(s string) (int64, error) {
	number := strings.TrimRight(strings.TrimSpace(s), "KMGTiBkmgtb ")
	unit := strings.ToLower(strings.TrimSpace(strings.TrimSpace(s)[len(number):]))
	factor, ok := map[string]int64{"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30,
		"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}[unit]
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !ok || n < 0 || n*float64(factor) > 1<<60 {
		return 0, fmt.Errorf("%q is not a size such as 512KiB or 64MiB", s)
	}
	return int64(n * float64(factor)), nil
}
