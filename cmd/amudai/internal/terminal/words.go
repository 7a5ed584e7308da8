package terminal

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/amudai/amudai-go/internal/text"
)

// Count is a number with separators: 3,000,000.
func Count[T int | int64 | uint64 | uint32 | int32](n T) string {
	s := fmt.Sprint(n)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Size is a number of bytes with its unit: 12.9 MiB.
func Size[T int | int64 | uint64](n T) string {
	v := float64(n)
	if math.Abs(v) < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	for _, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
		v /= 1024
		if math.Abs(v) < 1024 || unit == "TiB" {
			digits := 1
			if math.Abs(v) >= 100 {
				digits = 0
			}
			return strconv.FormatFloat(v, 'f', digits, 64) + " " + unit
		}
	}
	return ""
}

// Percent is a share: 12.3 %.
func Percent(part, whole float64) string {
	if whole == 0 {
		return "–"
	}
	return strconv.FormatFloat(100*part/whole, 'f', 1, 64) + " %"
}

// Bar draws a share with eighths of blocks.
func Bar(part, whole float64, width int) string {
	if whole <= 0 {
		return ""
	}
	eighths := int(math.Round(part / whole * float64(width) * 8))
	s := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		s += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return s
}

// Spark draws numbers from 0 to the greatest in a line. Those that are not above 0 are blanks.
func Spark(values []float64, ascii bool) string {
	levels := []rune("▁▂▃▄▅▆▇█")
	if ascii {
		levels = []rune("_.:-=+*#")
	}
	most := 0.0
	for _, v := range values {
		most = max(most, v)
	}
	line := make([]rune, len(values))
	for i, v := range values {
		line[i] = ' '
		if v > 0 {
			line[i] = levels[int(v/most*float64(len(levels)-1)+0.5)]
		}
	}
	return string(line)
}

// Plural is "1 row", "2 rows".
func Plural[T int | int64 | uint64](n T, one string) string {
	return Count(n) + " " + text.Plural(n, one)
}

// Duration is a time for people: 950 µs, 12.3 ms, 4.56 s, 2m03s.
func Duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1e3)
	case d < 2*time.Minute:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

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

// Wrap divides a text into lines at its blanks.
func Wrap(s string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Split(s, " ") {
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
