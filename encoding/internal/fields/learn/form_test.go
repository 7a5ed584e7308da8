package learn

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/encoding/internal/fields"
)

// requireEncode encodes lines, by patterns if these suit them, and compares what the result stands for. It returns the patterns for the next.
func requireEncode(t testing.TB, e *Encoder, lines []byte, p *Patterns) *Patterns {
	t.Helper()
	requireEncoded(t, e, lines, p, false)
	return requireEncoded(t, e, lines, p, true)
}

func requireEncoded(t testing.TB, e *Encoder, lines []byte, p *Patterns, all bool) *Patterns {
	t.Helper()
	var data []byte
	offsets := []int64{0}
	for line := range bytes.SplitSeq(lines, []byte("\n")) {
		data = append(data, line...)
		offsets = append(offsets, int64(len(data)))
	}
	p = e.Encode(data, offsets, p, all)
	texts := make([][]string, len(e.Columns))
	for i := range e.Columns {
		c := &e.Columns[i]
		require.NoError(t, c.Check())
		if c.Kind == fields.Text {
			for k := range len(c.Offsets) - 1 {
				texts[i] = append(texts[i], string(c.Text[c.Offsets[k]:c.Offsets[k+1]]))
			}
			continue
		}
		var b fields.Buffer
		f, err := fields.Format(&b, &c.Column, c.Numbers)
		require.NoError(t, err)
		for _, s := range f.Spans {
			texts[i] = append(texts[i], string(f.Text[s.At:s.At+s.Len]))
		}
	}
	for i, code := range e.Codes {
		v, at := "", 0
		pattern := &e.Patterns[code]
		for _, place := range pattern.Places {
			v += string(pattern.Text[at:at+int(place.Before)]) + texts[place.Column][0]
			at += int(place.Before)
			texts[place.Column] = texts[place.Column][1:]
		}
		require.Equal(t, string(data[offsets[i]:offsets[i+1]]), v+string(pattern.Text[at:]))
	}
	return p
}

// formLines are lines of blocks that follow each other: their fields keep their forms, or have others.
var formLines = [][]string{
	{"at 18:01:%02d took %d ms", "at 18:02:%02d took %d ms", "at 19:02:%02d took %d ms"},
	{"id %02d size %d", "id %03d size %d", "id %d size -%d", "id -%d size 0%d"},
	{"n -%d v %x", "n %d v %x", "n -0 v %d%x", "n -00%d v %X", "n %d99999999999999999999 v %x"},
	{"\"a-%d b\" %d", "\"a-%d b %d", "\"a-%d c\" %d", "a-%d \"b %d\""},
	{"%08x/%d.%d.%d", "%08X/%d.%d.%d", "%07x/%d.%d.%d", "%032x/%d..%d"},
	{"k=%d-q%d,", "k=%d-q%d", "k=%d-é%d", "k=%d-q", ""},
	{"2026-11-%02d %d", "2026-12-%02d %d", "9026-12-%02d9 %d"},
}

// Fields of later blocks come back whether or not they have the forms of earlier ones.
func TestForms(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	block := func(format string, n int) []byte {
		var lines []string
		for range n {
			args := make([]any, strings.Count(format, "%"))
			for i := range args {
				args[i] = rnd.IntN(60)
			}
			lines = append(lines, fmt.Sprintf(format, args...))
		}
		return []byte(strings.Join(lines, "\n"))
	}
	for _, formats := range formLines {
		var e Encoder
		var p *Patterns
		for i := range 4 * len(formats) {
			p = requireEncode(t, &e, block(formats[i%len(formats)], 400), p)
			mixed := append(block(formats[0], 300), '\n')
			p = requireEncode(t, &e, append(mixed, block(formats[rnd.IntN(len(formats))], 20)...), p)
		}
	}
}

// Fields of which there are few share a column, in their order.
func TestFewFields(t *testing.T) {
	var lines []string
	for i := range 4000 {
		line := fmt.Sprintf("at %d took %d ms", i, i%7)
		if i%300 == 7 {
			line = fmt.Sprintf("seldom %d then a%d or %d", i, i*i, 7*i)
		}
		lines = append(lines, line)
	}
	var e Encoder
	block := []byte(strings.Join(lines, "\n"))
	p := requireEncoded(t, &e, block, nil, false)
	require.GreaterOrEqual(t, e.few, int32(0), "no field is one of few")
	requireEncoded(t, &e, block, p, false)
}

// Fields at the beginning of values keep their form, whatever the value before ends with.
func TestFormsAfterQuotes(t *testing.T) {
	var lines []string
	for i := range 500 {
		lines = append(lines, fmt.Sprintf("10.%d.%d.7 \"a\"", i%3, i%250))
	}
	var e Encoder
	block := []byte(strings.Join(lines, "\n"))
	p := requireEncode(t, &e, block, nil)
	require.Same(t, p, requireEncode(t, &e, block, p), "no form is found anew")
}

// FuzzEncode encodes lines by the patterns and forms of others.
func FuzzEncode(f *testing.F) {
	f.Add([]byte("a 1\na 2\na 3"), []byte("a 4\na 05\na 6\na -7"))
	f.Add([]byte("\"x 1:02\" b\n\"x 2:03\" b"), []byte("\"x 1:04\" b\n\"x 1:04 b\n\"x 1:04\n"))
	f.Add([]byte("0af-9\n1bf-10"), []byte("0Af-9\n1bf--10\n1bf-10000000000000000000000\n-\n"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var e Encoder
		p := requireEncode(t, &e, first, nil)
		p = requireEncode(t, &e, second, p)
		requireEncode(t, &e, first, p)
	})
}
