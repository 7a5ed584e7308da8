package csv

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// slowReader returns at most 4 KiB at a time.
type slowReader struct{ strings.Reader }

func (r *slowReader) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 4096)]) }

// TestLinear counts the bytes that are searched for quotes and line ends. They are at most a few times the bytes of
// the input, however small the reads are.
func TestLinear(t *testing.T) {
	const n = 1 << 20
	for name, record := range map[string]string{
		"one field":         strings.Repeat("x", n),
		"one quoted field":  `"` + strings.Repeat("x", n) + `"`,
		"doubled quotes":    `"` + strings.Repeat(`""`, n/2) + `"`,
		"fields":            strings.Repeat("x,", n/2),
		"quoted fields":     strings.Repeat(`"x",`, n/4),
		"every other field": strings.Repeat(`"x",y,`, n/6),
		"lines in fields":   strings.Repeat("\"\n\",y,", n/6),
	} {
		t.Run(name, func(t *testing.T) {
			r := &slowReader{*strings.NewReader(record + "\n" + record)}
			s := newScanner(r, Options{}.fixed(','), 0)
			for range 2 {
				cells, err := s.next()
				require.NoError(t, err)
				size := 0
				for _, c := range cells {
					size += len(c.text)
				}
				require.Positive(t, size)
			}
			_, err := s.next()
			require.Equal(t, io.EOF, err)
			require.LessOrEqual(t, s.looked, 4*len(record))
		})
	}
}
