package jsonl

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// TestLinear counts the bytes that are searched for the end of a value: each once, however small the reads are.
func TestLinear(t *testing.T) {
	const n = 1 << 20
	for name, value := range map[string]string{
		"one string":   `{"a":"` + strings.Repeat("x", n) + `"}`,
		"escapes":      `{"a":"` + strings.Repeat(`\\`, n/2) + `"}`,
		"quotes":       `{"a":"` + strings.Repeat(`\"`, n/2) + `"}`,
		"short ones":   `["` + strings.Repeat(`ab","`, n/5) + `"]`,
		"no quote":     `[` + strings.Repeat(`1,`, n/2) + `1]`,
		"bare string":  `"` + strings.Repeat("x", n) + `"`,
		"bare number":  strings.Repeat("1", n),
		"deep, wide":   `[` + strings.Repeat(`[[]],`, n/5) + `[]]`,
		"white spaces": `[` + strings.Repeat(" ", n) + `]`,
	} {
		t.Run(name, func(t *testing.T) {
			end, length := valueEnd{}, 0
			for at := 0; length == 0 && at < len(value); {
				at = min(at+4096, len(value))
				var err error
				length, err = end.find([]byte(value[:at]))
				require.NoError(t, err)
			}
			if name != "bare number" { // it ends with the input
				require.Equal(t, len(value), length)
			}
			require.LessOrEqual(t, end.looked, len(value)+len(value)/1024)
		})
	}
}

// TestEscapesAcrossReads finds the ends of strings whose escapes are split between reads.
func TestEscapesAcrossReads(t *testing.T) {
	records := []string{`{"a":"x\\"}`, `{"a":"\""}`, `"\\\\\""`, `{"\\":"\\\"}"}`, `["\u0041\"]"]`}
	s := newScanner(iotest.OneByteReader(strings.NewReader(strings.Join(records, "\n"))), layout{lines: true}, 0)
	for _, want := range records {
		got, err := s.next()
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	_, err := s.next()
	require.Equal(t, io.EOF, err)
}
